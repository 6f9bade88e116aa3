//! `heyaira hook CLIENT`: what happened in a client on standard input, what there is to say on standard output.
//!
//! Must never break the client: whatever fails here, the exit code is 0 and nothing is said, but a line in a log. Must
//! never write to the database, and never say what is stored there.

mod apart;
mod end;
mod received;
mod start;
mod turn;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::Value;

use crate::client::Client;
use crate::client::hook::{Answer, Event, Input, Problem};
use crate::client::state::State;
use crate::config::Config;
use crate::error::{Code, Refusal};
use crate::operation::Pinned;
use crate::operations::glance::{Glance, glance};
use crate::store::backend::{Store, work};
use crate::surface::cli::{Session, answer, commands, now, unattended};

/// How long others are waited for when nobody says, who lock the database or serve it, so that all of a hook stays below
/// 50 ms.
const WAIT: Duration = Duration::from_millis(35);
/// When a hook gives up whose own work does not come to its end, as on a machine that is overloaded: what a person still
/// does not notice, and no reason yet to let a handoff go unseen.
const LATEST: Duration = Duration::from_millis(500);
/// The longest wait that can be set: clients end a hook that takes longer.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// The parts of what hooks do, each of which can be left out.
pub(crate) const PARTS: [&str; 4] = ["start", "advice", "compaction", "drafts"];

/// The command and its flags.
pub fn command() -> Command {
    Command::new("hook")
        .about("Answer a hook of a client: what happened on standard input, what there is to say on standard output")
        .long_about(
            "Answer a hook of a client: what happened on standard input, what there is to say on standard output. Whatever \
             fails, the exit code is 0 and nothing is said; why stands in hooks.log in the state folder. HEYAIRA_HOOKS=off \
             turns all hooks off. See docs/hooks.md.",
        )
        .arg(
            Arg::new("client")
                .value_name("CLIENT")
                .required(true)
                .help("claude-code (or claude), codex, gemini, opencode, copilot, cursor, vscode"),
        )
        .arg(Arg::new("event").value_name("EVENT").help("What happened, for clients whose input does not say it"))
        .arg(
            Arg::new("block")
                .long("block")
                .action(ArgAction::SetTrue)
                .help("Stop a compaction once, for a handoff; the next one passes"),
        )
        .arg(
            Arg::new("without")
                .long("without")
                .value_name("PARTS")
                .value_delimiter(',')
                .action(ArgAction::Append)
                .help("Leave out parts: start, advice, compaction, drafts [env: HEYAIRA_HOOKS_WITHOUT]"),
        )
        .arg(Arg::new("verbose").long("verbose").action(ArgAction::SetTrue).help("Say on standard error what went wrong"))
}

/// True if the command line is a hook's. Then nothing else of it may be looked at first: it could fail.
pub fn is_meant(arguments: &[OsString]) -> bool {
    let is_flag = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
    arguments.iter().skip(1).find(|word| !is_flag(word)).is_some_and(|word| word == "hook")
}

/// The command in the list of commands, for completeness: [`run`] is entered before.
pub fn hook(_session: &Session, matches: &ArgMatches) -> crate::error::Result<ExitCode> {
    Ok(answered(matches))
}

/// Runs a hook's command line.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let root = Command::new("heyaira").subcommand(commands::with_globals(command()));
    match root.try_get_matches_from(arguments) {
        Ok(matches) => match matches.subcommand() {
            Some((_, inner)) => answered(inner),
            None => ExitCode::SUCCESS,
        },
        // A person is told; a client would take the exit code for an order.
        Err(error) if !error.use_stderr() || std::io::stdin().is_terminal() => answer::usage(&error, false),
        Err(error) => {
            received::drain();
            let failure = Failure(format!("the command line is wrong: {}", error.kind()));
            Log::new(false).note(&failure);
            ExitCode::SUCCESS
        }
    }
}

/// Why there is no answer.
struct Failure(String);

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let refusal = refusal.of_owner();
        Self(format!("{}: {}", refusal.code.as_str(), refusal.message))
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self(problem.0)
    }
}

/// Where failures go.
struct Log {
    state: Option<State>,
    is_verbose: bool,
    about: String,
}

impl Log {
    fn new(is_verbose: bool) -> Self {
        let is_verbose = is_verbose || std::env::var_os("RUST_LOG").is_some_and(|value| !value.is_empty());
        Self { state: State::find(|name| std::env::var_os(name)), is_verbose, about: "hook".to_owned() }
    }

    fn note(&self, failure: &Failure) {
        let line = format!("{} {}: {}", now().rfc3339(), self.about, failure.0);
        if let Some(state) = &self.state {
            state.log(&line);
        }
        if self.is_verbose {
            answer::note(&line);
        }
    }
}

fn answered(matches: &ArgMatches) -> ExitCode {
    let mut log = Log::new(matches.get_flag("verbose"));
    let of_panics = Log::new(log.is_verbose);
    std::panic::set_hook(Box::new(move |panic| {
        // Its words could hold anything.
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        of_panics.note(&Failure(format!("panic at {place}")));
    }));
    match catch_unwind(AssertUnwindSafe(|| answer_to(matches, &mut log))) {
        Ok(Ok(Some(answer))) => drop(answer::write(&format!("{answer}\n"))),
        Ok(Err(failure)) => log.note(&failure),
        Ok(Ok(None)) | Err(_) => {}
    }
    ExitCode::SUCCESS
}

fn answer_to(matches: &ArgMatches, log: &mut Log) -> Result<Option<Value>, Failure> {
    let received = received::all();
    // A run has its brief, and its report: it is told of nothing, and leaves no draft.
    if std::env::var_os("HEYAIRA_HOOKS").is_some_and(|value| value == "off") || unattended::current().is_some() {
        return Ok(None);
    }
    let named = matches.get_one::<String>("client").map(String::as_str).unwrap_or_default();
    let event = matches.get_one::<String>("event").map(String::as_str);
    let variable = |name: &str| std::env::var_os(name);
    named.clone_into(&mut log.about);
    let input = Input::of(&received?, Client::named(named)?, event, &variable)?;
    log.about = format!("{} {:?}", input.client.name(), input.event);
    if input.is_below || input.event == Event::Other {
        return Ok(None);
    }
    let hook = Hook::new(matches, input, log)?;
    let answer = match hook.input.event {
        Event::SessionStart => start::answer(&hook)?,
        Event::Prompt | Event::Stop => turn::answer(&hook)?,
        Event::Compaction => turn::before_compaction(&hook)?,
        Event::SessionEnd => end::answer(&hook)?,
        Event::Other => Answer::default(),
    };
    Ok(answer.rendered(&hook.input))
}

/// One call of a hook.
struct Hook<'h> {
    input: Input,
    session_ref: Option<String>,
    config: Config,
    left_out: Vec<String>,
    is_blocking: bool,
    wait: Duration,
    until: Instant,
    log: &'h Log,
}

impl<'h> Hook<'h> {
    fn new(matches: &ArgMatches, input: Input, log: &'h Log) -> Result<Self, Failure> {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let given = |name: &str| matches.get_one::<String>(name).cloned();
        let folder = input.folder.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
        let profile = given("profile").map(PathBuf::from);
        let config = Config::new(given("database"), given("project-name"), profile, folder, text)?;
        let mut left_out: Vec<String> = matches.get_many::<String>("without").into_iter().flatten().cloned().collect();
        left_out.extend(text("HEYAIRA_HOOKS_WITHOUT").iter().flat_map(|parts| parts.split(',')).map(str::to_owned));
        for part in &mut left_out {
            *part = part.trim().to_owned();
        }
        for unknown in left_out.iter().filter(|part| !PARTS.contains(&part.as_str())) {
            let unknown = crate::domain::text::quoted(unknown, 40);
            log.note(&Failure(format!("there is no part {unknown} to leave out: {}", PARTS.join(", "))));
        }
        let wait = text("HEYAIRA_HOOK_WAIT_MS").and_then(|wait| wait.parse().ok()).map_or(WAIT, Duration::from_millis);
        let wait = wait.min(WAIT_MAX);
        let is_blocking = matches.get_flag("block");
        let session_ref = input.session_ref();
        let until = Instant::now() + LATEST.max(wait);
        Ok(Self { input, session_ref, config, left_out, is_blocking, wait, until, log })
    }

    /// False for a part that the person left out.
    fn does(&self, part: &str) -> bool {
        !self.left_out.iter().any(|one| one == part)
    }

    fn state(&self) -> Option<&State> {
        self.log.state.as_ref()
    }

    /// The project of the session's folder; `None` where nothing names one.
    fn pinned(&self) -> Result<Option<Pinned>, Failure> {
        match self.config.pinned() {
            Ok(pinned) => Ok(Some(pinned)),
            Err(refusal) if refusal.code == Code::NoProject => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// False where the database would be a file that is not there: then its projects are elsewhere, or nowhere.
    fn has_database(&self) -> bool {
        self.config.database.file().is_none_or(Path::exists)
    }

    /// Has the database asked what waits in a project.
    fn glance(&self, pinned: Pinned) -> apart::Pending<crate::error::Result<Glance>> {
        let (database, wait, at) = (self.config.database.clone(), self.wait, now());
        let session_ref = self.session_ref.clone();
        // A server is away from the moment on at which it is waited for no longer, whatever its client still tries.
        let until = if database.file().is_some() { self.until } else { self.until.min(Instant::now() + wait) };
        apart::run(until, move || {
            let glance = work(move |transaction| {
                let (pinned, session_ref) = (pinned.clone(), session_ref.clone());
                Box::pin(async move { glance(transaction, &pinned, session_ref.as_deref(), at).await })
            });
            Store::peek(&database, wait, until, glance)
        })
    }

    /// Notes what could not be kept, and goes on.
    fn note_kept(&self, what: &str, kept: std::io::Result<()>) {
        if let Err(error) = kept {
            self.log.note(&Failure(format!("{what} cannot be kept: {error}")));
        }
    }

    /// The number of the client's process, where it tells its hooks.
    fn client_process(&self) -> Option<u32> {
        let told = (self.input.client == Client::ClaudeCode).then(|| std::env::var("CLAUDE_PID").ok()).flatten();
        told.and_then(|told| told.parse().ok())
    }
}
