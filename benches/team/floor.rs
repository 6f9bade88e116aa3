//! The floor: the statements that the server sends for one call, taken from the database's own log, sent by pgbench.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::cluster::{Cluster, said};

/// What the task has that is called for while it is listened, and the number in the words it is given: no other number
/// of a call is like one of these.
pub(crate) const VERSION: u64 = 7_000_001;
pub(crate) const KEY: u64 = 7_000_004;
pub(crate) const NUMBER: usize = 7_000_007;

/// How long pgbench warms up before it is counted, and for how many clients that takes longer: until all of them are
/// connected and have prepared their statements.
const WARM: Duration = Duration::from_secs(1);
const WARM_MANY: Duration = Duration::from_secs(3);
const MANY: usize = 32;

/// The call that was listened to.
pub(crate) struct Call {
    /// The task it was for.
    pub(crate) task: Uuid,
    /// When it began, in microseconds since 1970.
    pub(crate) begun: u64,
}

/// A script for pgbench.
pub(crate) struct Script {
    text: String,
    /// Values of its variables.
    values: Vec<(String, String)>,
}

/// How fast it was run.
pub(crate) struct Pace {
    /// How often in a second, once warm.
    pub(crate) rate: f64,
    /// How often altogether.
    pub(crate) calls: f64,
}

/// What one client of pgbench does first: it takes a task of its own, by id, version and key, and looks at the clock.
const FIRST: &str = "\\if :known = 0
select task_id::text as id, version as v, task_key as key, \
(extract(epoch from clock_timestamp()) * 1000000)::bigint as t \
from task order by task_key offset :client_id limit 1 \\gset
\\set known 1
\\endif
\\set w :v + 1
\\set t :t + 1
";

impl Script {
    /// All statements of a call; in pipelines where the server does not wait for answers either.
    pub(crate) fn of(statements: &[Sent], call: &Call) -> Self {
        let mut script = Self { text: FIRST.to_owned(), values: vec![("known".to_owned(), "0".to_owned())] };
        let mut is_in_pipeline = false;
        for (number, sent) in statements.iter().enumerate() {
            let is_put_off = sent.is_put_off(statements.get(number + 1));
            if !is_in_pipeline && is_put_off {
                script.text.push_str("\\startpipeline\n");
                is_in_pipeline = true;
            }
            script.add(number, sent, call);
            if is_in_pipeline && !is_put_off {
                script.text.push_str("\\endpipeline\n");
                is_in_pipeline = false;
            }
        }
        if is_in_pipeline {
            script.text.push_str("\\endpipeline\n");
        }
        script.text.push_str("\\set v :w\n");
        script
    }

    fn add(&mut self, number: usize, sent: &Sent, call: &Call) {
        let mut text = sent.sql.replace('\n', " ");
        // From the last one on, so that $1 is not taken for the beginning of $10.
        for (place, value) in sent.values.iter().enumerate().rev() {
            let variable = match value {
                None => "null".to_owned(),
                // No variable of pgbench is empty.
                Some(value) if value.is_empty() => "''".to_owned(),
                Some(value) => self.variable(&format!("s{number}_{place}"), value, call),
            };
            text = text.replace(&format!("${}", place + 1), &variable);
        }
        // Only the simple protocol takes several statements at once.
        for one in text.split("; ") {
            let _ = writeln!(self.text, "{one};");
        }
    }

    /// What stands for a value: what differs from call to call differs here too, or else no index would change.
    fn variable(&mut self, name: &str, value: &str, call: &Call) -> String {
        let changing = [(call.task.to_string(), ":id"), (KEY.to_string(), ":key"), (VERSION.to_string(), ":v")];
        let next = [((VERSION + 1).to_string(), ":w")];
        if let Some((_, variable)) = changing.iter().chain(&next).find(|(known, _)| known == value) {
            return (*variable).to_owned();
        }
        if value.len() == call.begun.to_string().len() && value.parse().is_ok_and(|time: u64| time >= call.begun) {
            return ":t".to_owned();
        }
        self.values.push((name.to_owned(), value.to_owned()));
        let number = NUMBER.to_string();
        if value.contains(&number) { format!("replace(:{name}, '{number}', :w)") } else { format!(":{name}") }
    }

    /// Has so many clients run it for so long once they are warm.
    pub(crate) fn run(&self, cluster: &Cluster, database: &str, clients: usize, length: Duration) -> Pace {
        let file = std::env::temp_dir().join(format!("heyaira-pgbench-{}.sql", std::process::id()));
        std::fs::write(&file, &self.text).expect("a script");
        let mut command = cluster.program("pgbench");
        command.args(["-n", "-M", "prepared", "-P", "1", "-f"]).arg(&file);
        // Its time runs from before it connects, and what it did in the last second is told only if that was whole.
        let warm = if clients < MANY { WARM } else { WARM_MANY };
        let (clients, seconds) = (clients.to_string(), (length + warm).as_secs().to_string());
        command.args(["-c", &clients, "-T", &seconds]);
        for (name, value) in &self.values {
            command.args(["-D", &format!("{name}={value}")]);
        }
        let output = command.arg(cluster.url(database)).output().expect("pgbench runs");
        let _ = std::fs::remove_file(&file);
        let progress = String::from_utf8_lossy(&output.stderr).into_owned();
        // It fails when one of its clients gave up.
        let told = said(output);
        assert!(told.contains("failed transactions: 0 "), "clients were in each other's way: {told}");
        let rate = warm_rate(&progress, warm).unwrap_or_else(|| panic!("nothing was measured: {progress}\n{told}"));
        let calls = told.lines().find_map(|line| line.strip_prefix("number of transactions actually processed: "));
        Pace { rate, calls: calls.and_then(|calls| calls.parse().ok()).expect("how many there were") }
    }
}

/// The rate behind the warming up, of lines like `progress: 2.0 s, 512.3 tps, …`.
fn warm_rate(progress: &str, warm: Duration) -> Option<f64> {
    let lines: Vec<(f64, f64)> = progress.lines().filter_map(progressed).collect();
    // A line comes a little late, and never early.
    let first = lines.iter().position(|(at, _)| *at >= warm.as_secs_f64())?;
    let counted = lines[first..].windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[1].1));
    let (length, done) = counted.fold((0.0, 0.0), |(length, done), (time, rate)| (length + time, done + time * rate));
    (length > 0.0).then(|| done / length)
}

/// The time and the rate of one such line.
fn progressed(line: &str) -> Option<(f64, f64)> {
    let (at, rest) = line.strip_prefix("progress: ")?.split_once(" s, ")?;
    Some((at.parse().ok()?, rest.split_once(" tps")?.0.parse().ok()?))
}

/// A statement as the database was sent it.
#[derive(Debug)]
pub(crate) struct Sent {
    /// Its text.
    pub(crate) sql: String,
    values: Vec<Option<String>>,
}

impl Sent {
    /// True if the server sends it together with the next one instead of waiting for its answer: what it answers is of
    /// no interest, or both are asked together, as all is that the calls of this benchmark ask in their transactions.
    fn is_put_off(&self, next: Option<&Self>) -> bool {
        let starts = |sent: &Self, words: &[&str]| words.iter().any(|word| sent.sql.starts_with(word));
        let asks = |sent: &Self| starts(sent, &["select "]) && !sent.sql.contains(" from token ");
        let is_together = asks(self) && next.is_some_and(asks);
        is_together || starts(self, &["begin", "with changed as", "insert", "update", "delete"])
    }
}

/// What a server sends while `call` runs, whose database logs all statements.
pub(crate) fn listen(cluster: &Cluster, call: impl FnOnce()) -> Vec<Sent> {
    let before = std::fs::metadata(cluster.log()).map_or(0, |log| log.len());
    call();
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let log = std::fs::read(cluster.log()).expect("a log");
        let mut sent = read(&String::from_utf8_lossy(&log[usize::try_from(before).unwrap_or_default()..]));
        // The end of the call before, and what a new connection is set to, are none of this one.
        let first = sent.iter().position(|one| one.sql.starts_with("select ")).unwrap_or(sent.len());
        sent.drain(..first);
        sent.retain(|one| !one.sql.starts_with("SHOW ") && !one.sql.starts_with("set "));
        // A read is answered before its transaction ends.
        let last = sent.last().map_or("", |last| last.sql.as_str());
        if last.starts_with("rollback") || last.ends_with("commit") {
            return sent;
        }
        assert!(Instant::now() < deadline, "the call did not end: {sent:?}");
        std::thread::yield_now();
    }
}

/// The statements of a log whose lines begin with the prefix; what servers tell each other is left out.
fn read(log: &str) -> Vec<Sent> {
    let mut sent: Vec<Sent> = Vec::new();
    for entry in log.split("@@") {
        if let Some(parameters) = entry.strip_prefix("DETAIL:  parameters: ") {
            if let Some(last) = sent.last_mut() {
                last.values = values(parameters);
            }
        } else if let Some(statement) = entry.strip_prefix("LOG:  ") {
            let execute = statement.strip_prefix("execute ").and_then(|rest| rest.split_once(": "));
            let simple = statement.strip_prefix("statement: ");
            if let Some(sql) = execute.map(|(_, sql)| sql).or(simple) {
                sent.push(Sent { sql: sql.trim().to_owned(), values: Vec::new() });
            }
        }
    }
    sent.retain(|one| !one.sql.to_lowercase().contains("notify") && !one.sql.starts_with("listen"));
    sent
}

/// The values behind `$1 = '…', $2 = NULL, …`.
fn values(parameters: &str) -> Vec<Option<String>> {
    let mut values = Vec::new();
    let mut rest = parameters;
    while let Some((_, value)) = rest.split_once(" = ") {
        if let Some(quoted) = value.strip_prefix('\'') {
            let mut text = String::new();
            let mut characters = quoted.char_indices().peekable();
            let mut end = quoted.len();
            while let Some((at, one)) = characters.next() {
                if one == '\'' && characters.next_if(|(_, next)| *next == '\'').is_none() {
                    end = at + 1;
                    break;
                }
                text.push(one);
            }
            values.push(Some(text));
            rest = &quoted[end..];
        } else {
            values.push(None);
            rest = value.strip_prefix("NULL").unwrap_or(value);
        }
    }
    values
}
