//! What a run has cost so far, by the transcript that the client keeps of its session. Only requests since the run began
//! count, so that a session that had begun before costs what this run adds. Must never tell 0 for a price that is unknown.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::client::Client;
use crate::client::harness::{Harness, Told};
use crate::client::transcript::{Environment, Found, Part, written_since};
use crate::domain::run::{Cost, Tokens};
use crate::domain::time::Timestamp;
use crate::economics::figures::cost;
use crate::economics::{Prices, Session, Usage};

/// What a run has cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// The tokens of this run.
    pub usage: Option<Usage>,
    /// US dollars; none where they are not known.
    pub cost_usd: Option<f64>,
    /// The model of the last request of the conversation.
    pub model: Option<String>,
    /// Where the money comes from: `prices`, `harness` or `unknown`.
    pub basis: &'static str,
}

impl Spent {
    /// The tokens as a report has them.
    pub fn tokens(&self) -> Option<Tokens> {
        let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        self.usage.map(|usage| Tokens {
            input: count(usage.input),
            cache_read: count(usage.cache_read),
            cache_write: count(usage.written()),
            output: count(usage.output),
        })
    }

    /// The money as a report has it.
    pub fn cost(&self) -> Cost {
        Cost { usd: self.cost_usd, basis: self.basis.to_owned() }
    }
}

/// Reads a variable of an environment.
pub type Variable = Box<dyn Fn(&str) -> Option<String> + Send>;

/// Where the client keeps its transcripts.
pub struct Place {
    /// The folder that it works in.
    pub folder: PathBuf,
    /// Its user's own folder.
    pub home: Option<PathBuf>,
    /// Reads a variable of its environment.
    pub variable: Variable,
}

impl Place {
    /// That of a client that is started from this process in a folder.
    pub fn here(folder: &Path) -> Self {
        let variable = Box::new(|name: &str| std::env::var(name).ok());
        Self { folder: folder.to_owned(), home: etcetera::home_dir().ok(), variable }
    }
}

/// Measures one run again and again. It reads nothing while nothing was written, and a long transcript less often.
pub struct Meter {
    client: Option<Client>,
    since: Timestamp,
    place: Place,
    prices: Prices,
    expected: Option<String>,
    found: Vec<Found>,
    seen: Vec<Option<(SystemTime, u64)>>,
    spent: Option<Spent>,
    rest: Option<Instant>,
}

impl fmt::Debug for Meter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Meter").field("client", &self.client).field("found", &self.found).finish_non_exhaustive()
    }
}

/// Times in transcripts are of whole milliseconds, and those of files of what the file system keeps.
const MILLISECOND: i64 = 1_000;
const FILE_TIME: Duration = Duration::from_secs(2);
/// Reading takes at most one part in so many of the time.
const SHARE: u32 = 10;

impl Meter {
    /// For a run of that harness, which began then.
    pub fn new(harness: Harness, since: Timestamp, place: Place, prices: Prices) -> Self {
        let client = if let Harness::Client(client) = harness { Some(client) } else { None };
        let (found, seen) = (Vec::new(), Vec::new());
        Self { client, since, place, prices, expected: None, found, seen, spent: None, rest: None }
    }

    /// The same, for a client that was asked to give its session that id. Whether it did, it or its transcript has to say.
    #[must_use]
    pub fn expecting(self, id: Option<String>) -> Self {
        Self { expected: id.filter(|id| !id.is_empty()), ..self }
    }

    /// The native id of the session: what the client said, else the one that was asked for where it has a transcript.
    pub fn native(&self, told: &Told) -> Option<String> {
        told.session_id.clone().or_else(|| self.expected.clone().filter(|_| !self.found.is_empty()))
    }

    /// What it has cost so far, as far as is known. Cheap enough to be asked every second.
    pub fn spent(&mut self, told: &Told) -> Option<Spent> {
        if self.rest.is_none_or(|rest| rest <= Instant::now()) {
            self.look(told);
        }
        self.known(told)
    }

    /// What it cost in all, once the client has ended.
    pub fn settled(&mut self, told: &Told) -> Option<Spent> {
        self.look(told);
        self.known(told)
    }

    /// What the transcript says; else what the client said.
    fn known(&self, told: &Told) -> Option<Spent> {
        let model = || told.model.clone();
        if let Some(spent) = &self.spent {
            return Some(Spent { model: spent.model.clone().or_else(model), ..spent.clone() });
        }
        self.client?;
        let is_anything = told.usage.is_some() || told.cost_usd.is_some();
        let basis = if told.cost_usd.is_some() { "harness" } else { "unknown" };
        is_anything.then(|| Spent { usage: told.usage, cost_usd: told.cost_usd, model: model(), basis })
    }

    fn look(&mut self, told: &Told) {
        let (Some(client), Some(id)) = (self.client, told.session_id.as_ref().or(self.expected.as_ref())) else {
            return;
        };
        let began = Instant::now();
        if self.found.is_empty() {
            let micros = u64::try_from(self.since.0).unwrap_or(0);
            let since = SystemTime::UNIX_EPOCH + Duration::from_micros(micros).saturating_sub(FILE_TIME);
            let Place { folder, home, variable } = &self.place;
            let environment = Environment { folder: folder.clone(), home: home.clone(), variable };
            self.found = written_since(client, id, since, &environment);
        }
        let seen: Vec<_> = self.found.iter().flat_map(files).map(|file| stamp(&file)).collect();
        if seen != self.seen {
            // A transcript that cannot be read now, because it is being written, says what it said before.
            let sessions: Option<Vec<Session>> = self.found.iter().map(|found| found.read(Part::All).ok()).collect();
            self.spent = sessions.and_then(|sessions| self.reckon(sessions)).or(self.spent.take());
            self.seen = seen;
        }
        self.rest = Some(Instant::now() + began.elapsed() * SHARE);
    }

    /// The sum of what was sent since the run began.
    fn reckon(&self, sessions: Vec<Session>) -> Option<Spent> {
        let since = Timestamp(self.since.0 - self.since.0.rem_euclid(MILLISECOND));
        let mut spent: Option<Spent> = None;
        for mut session in sessions {
            session.requests.retain(|request| request.started.or(request.ended).is_some_and(|at| at >= since));
            if session.requests.is_empty() {
                continue;
            }
            let reckoned = cost(&session, &self.prices, since);
            let is_known = reckoned.unknown_models.is_empty();
            let last = session.conversation().next_back().map(|(_, request)| session.model_of(request).to_owned());
            let before = spent.unwrap_or(Spent { cost_usd: Some(0.0), basis: "prices", ..Spent::default() });
            let usd = before.cost_usd.filter(|_| is_known).map(|usd| usd + reckoned.usd);
            spent = Some(Spent {
                usage: Some(before.usage.unwrap_or_default().plus(session.total())),
                cost_usd: usd,
                model: last.or(before.model),
                basis: if usd.is_some() { "prices" } else { "unknown" },
            });
        }
        spent
    }
}

/// The files that grow while a session is written: a database has one beside it, and subagents have their own.
fn files(found: &Found) -> Vec<PathBuf> {
    let mut log = found.path.clone().into_os_string();
    log.push("-wal");
    let beside = found.path.with_extension("").join("subagents");
    let entries = beside.read_dir().into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files.extend([found.path.clone(), log.into()]);
    files
}

fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = file.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
