//! The floor: the statements that the server sends for one call, taken from the database's own log, sent by pgbench.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::cluster::{Cluster, said};

/// The version of the task that is called for while it is listened: no other number of a call is like it.
pub(crate) const VERSION: u64 = 7_000_001;

/// A script for pgbench.
pub(crate) struct Script {
    text: String,
    /// Values of its variables.
    values: Vec<(String, String)>,
}

/// What one client of pgbench does first: it takes a task of its own.
const FIRST: &str = "\\if :known = 0
select task_id::text as id, version as v from task order by task_key offset :client_id limit 1 \\gset
\\set known 1
\\endif
\\set w :v + 1
";

impl Script {
    /// All statements of a call.
    pub(crate) fn of(statements: &[Sent], task: Uuid) -> Self {
        let mut script = Self { text: FIRST.to_owned(), values: vec![("known".to_owned(), "0".to_owned())] };
        for (number, sent) in statements.iter().enumerate() {
            script.add(number, sent, task);
        }
        script.text.push_str("\\set v :w\n");
        script
    }

    fn add(&mut self, number: usize, sent: &Sent, task: Uuid) {
        let mut text = sent.sql.replace('\n', " ");
        // From the last one on, so that $1 is not taken for the beginning of $10.
        for (place, value) in sent.values.iter().enumerate().rev() {
            let variable = match value {
                None => "null".to_owned(),
                // No variable of pgbench is empty.
                Some(value) if value.is_empty() => "''".to_owned(),
                Some(value) if *value == task.to_string() => ":id".to_owned(),
                Some(value) if *value == VERSION.to_string() => ":v".to_owned(),
                Some(value) if *value == (VERSION + 1).to_string() => ":w".to_owned(),
                Some(value) => {
                    let name = format!("s{number}_{place}");
                    self.values.push((name.clone(), value.clone()));
                    format!(":{name}")
                }
            };
            text = text.replace(&format!("${}", place + 1), &variable);
        }
        // Only the simple protocol takes several statements at once.
        for one in text.split("; ") {
            let _ = writeln!(self.text, "{one};");
        }
    }

    /// Has so many clients run it for so long; answers how often in a second.
    pub(crate) fn run(&self, cluster: &Cluster, database: &str, clients: usize, length: Duration) -> f64 {
        let file = std::env::temp_dir().join(format!("heyaira-pgbench-{}.sql", std::process::id()));
        std::fs::write(&file, &self.text).expect("a script");
        let mut command = cluster.program("pgbench");
        command.args(["-n", "-M", "prepared", "-f"]).arg(&file);
        let (clients, seconds) = (clients.to_string(), length.as_secs().max(1).to_string());
        command.args(["-c", &clients, "-T", &seconds]);
        for (name, value) in &self.values {
            command.args(["-D", &format!("{name}={value}")]);
        }
        let told = said(command.arg(cluster.url(database)).output().expect("pgbench runs"));
        let _ = std::fs::remove_file(&file);
        let rate = told.lines().find_map(|line| line.strip_prefix("tps = ")?.split_whitespace().next()?.parse().ok());
        // None is told when the clients were still connecting at the end.
        rate.unwrap_or_default()
    }
}

/// A statement as the database was sent it.
#[derive(Debug)]
pub(crate) struct Sent {
    /// Its text.
    pub(crate) sql: String,
    values: Vec<Option<String>>,
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
        sent.retain(|one| !one.sql.starts_with("SHOW ") && !one.sql.starts_with("set idle"));
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
