//! What lies in the database in the end: every version of every task, read past the program.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::chaos::client::{Log, whole};
use crate::chaos::nodes::Nodes;
use crate::linearizable::{Act, History, Outcome, violations};

/// A version of a task: its id, its number, and the fields that it changed, as JSON.
type Row = (String, i64, String);

/// All versions in a file.
pub fn in_file(path: &Path) -> Vec<Row> {
    let connection = rusqlite::Connection::open(path).expect("opened");
    let mut statement =
        connection.prepare("select hex(task_id), version, content from task_version").expect("prepared");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("asked");
    rows.collect::<Result<_, _>>().expect("read")
}

/// All versions on the primary, which are the same on the standby.
pub fn on_nodes(nodes: &Nodes) -> Vec<Row> {
    nodes.until_even();
    let sql = "select task_id, version, content from task_version order by task_id, version";
    let there = nodes.ask(sql).expect("the primary answers");
    assert!(nodes.ask_standby(sql).expect("the standby answers") == there, "primary and standby differ");
    let row = |line: &str| {
        let mut fields = line.splitn(3, '|').map(str::to_owned);
        let mut next = || fields.next().expect("three columns");
        (next(), next().parse().expect("a number"), next())
    };
    there.lines().map(row).collect()
}

/// What the check says of all tasks.
#[derive(Default)]
pub struct Verdict {
    /// What is wrong, in words.
    pub violations: Vec<String>,
    /// How many tasks.
    pub tasks: usize,
    /// How many versions, and the most that one task has.
    pub versions: (usize, usize),
    /// Of the writes that nobody could tell of: how many are stored, and how many are not.
    pub undecided: (usize, usize),
}

/// Compares what is stored with what the clients were told, task by task.
pub fn judge(log: &Log, rows: Vec<Row>) -> Verdict {
    let mut verdict = Verdict::default();
    let mut versions: BTreeMap<String, Vec<(i64, String)>> = BTreeMap::new();
    let mut titles: BTreeMap<String, String> = BTreeMap::new();
    for (id, version, content) in rows {
        let content: Value = serde_json::from_str(&content).expect("history is JSON");
        let text = |name: &str| content[name].as_str().unwrap_or_default().to_owned();
        if version == 1
            && let Some(other) = titles.insert(text("title"), id.clone())
        {
            verdict.violations.push(format!("created twice: {} is {other} and {id}", text("title")));
        }
        versions.entry(id).or_default().push((version, whole(&text("summary"), &text("description"))));
    }
    let mut histories: BTreeMap<&str, History> = BTreeMap::new();
    for (title, operation) in &log.operations {
        histories.entry(title).or_default().operations.push(operation.clone());
    }
    for (title, id) in &titles {
        histories.entry(title).or_default().stored = versions.remove(id).unwrap_or_default();
    }
    verdict.violations.extend(versions.keys().map(|id| format!("gap: task {id} has no first version")));
    for (title, history) in &histories {
        verdict.tasks += usize::from(!history.stored.is_empty());
        verdict.versions.0 += history.stored.len();
        verdict.versions.1 = verdict.versions.1.max(history.stored.len());
        verdict
            .violations
            .extend(violations(history).into_iter().map(|violation| format!("task {title}: {violation}")));
        for operation in &history.operations {
            if let Act::Write { mark, outcome: Outcome::Uncertain, .. } = &operation.act {
                let is_stored = history.stored.iter().any(|(_, kept)| kept == mark);
                *(if is_stored { &mut verdict.undecided.0 } else { &mut verdict.undecided.1 }) += 1;
            }
        }
    }
    verdict
}
