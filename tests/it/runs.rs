//! The reports of unattended runs: how they come in, what is made of them, and how they are recorded on their tasks.

mod dismissed;
mod handoff;
mod recorded;
mod reports;
mod unrecorded;

use heyaira::domain::run::{
    Commit, Cost, Denied, Exit, Log, Outcome, Program, Report, SCHEMA, SCHEMA_VERSION, Said, Test, Tokens, Totals, Work,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::house::{Client, House, text};

/// The native session of the runs here.
pub(crate) const NATIVE: &str = "01a2f6de-5c1b-7a80-9f44-3b7d20c9e815";
const BASE: &str = "4c19e7a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6";
const RESULT: &str = "9f3b2d10c4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9";

/// An id of a run: the number stands in front.
pub(crate) fn run_id(number: u32) -> String {
    Uuid::from_u128(u128::from(number) << 96 | 0x4000_8000_0000_0000_0001).hyphenated().to_string()
}

fn test(command: &str, code: i64, totals: Option<(i64, i64)>) -> Test {
    let totals = totals.map(|(passed, failed)| Totals { runner: "cargo test".to_owned(), passed, failed, skipped: 0 });
    let log = Log { path: "/runs/1/test-1.log".to_owned(), bytes: 900, left_out: 0 };
    Test {
        command: command.to_owned(),
        exit: Exit { code: Some(code), signal: None },
        ms: 1_200,
        totals,
        log,
        ..Test::default()
    }
}

fn work() -> Work {
    let commit = |subject: &str| Commit { commit: RESULT.to_owned(), subject: subject.to_owned() };
    Work {
        repository: "/src/ledger".to_owned(),
        remote: Some("https://github.com/acme/ledger".to_owned()),
        worktree: "/src/ledger-runs/one".to_owned(),
        branch: Some("heyaira/run-one".to_owned()),
        base_commit: BASE.to_owned(),
        result_commit: Some(RESULT.to_owned()),
        commits: vec![commit("Parse camt.053"), commit("Test the parser")],
        commits_total: Some(2),
        files_changed: Some(3),
        insertions: Some(140),
        deletions: Some(12),
        uncommitted_total: Some(0),
        ..Work::default()
    }
}

/// A report that ended like that, with what is usual for it.
pub(crate) fn report(number: u32, task: Option<&str>, outcome: Outcome) -> Report {
    let tests = match outcome {
        Outcome::Succeeded => vec![test("cargo test -p import", 0, Some((12, 0)))],
        Outcome::TestsFailed => {
            vec![test("cargo test -p import", 101, Some((11, 1))), test("make check", 0, None)]
        }
        _ => Vec::new(),
    };
    let nothing = Work {
        commits: Vec::new(),
        commits_total: Some(0),
        files_changed: Some(0),
        insertions: Some(0),
        deletions: Some(0),
        result_commit: Some(BASE.to_owned()),
        ..work()
    };
    let work = match outcome {
        Outcome::NoWork | Outcome::HarnessError => nothing,
        Outcome::TimedOut => Work { uncommitted: vec!["src/a.rs".to_owned()], uncommitted_total: Some(1), ..work() },
        _ => work(),
    };
    Report {
        schema: SCHEMA.to_owned(),
        schema_version: SCHEMA_VERSION,
        run_id: run_id(number),
        project: "ledger".to_owned(),
        task_id: task.map(str::to_owned),
        task_version: task.map(|_| 1),
        outcome,
        reason: "what a machine saw of its end".to_owned(),
        started: "2026-11-25T07:00:00Z".to_owned(),
        ended: "2026-11-25T07:30:00Z".to_owned(),
        harness_ms: 1_800_000,
        session_ref: format!("codex:{NATIVE}"),
        native_session_id: Some(NATIVE.to_owned()),
        is_resumed: false,
        harness: Program {
            name: "codex".to_owned(),
            version: Some("0.46.0".to_owned()),
            command: vec!["codex".to_owned()],
        },
        model: Some("gpt-6".to_owned()),
        usage: Some(Tokens { input: 10, cache_read: 20, cache_write: 0, output: 30 }),
        cost: Cost { usd: Some(0.42), basis: "prices".to_owned() },
        exit: Exit { code: Some(0), signal: None },
        work,
        tests,
        said: Said {
            final_message: Some("I parsed it. All is deployed and verified in production!".to_owned()),
            denied_tools: vec![Denied { tool: "Bash".to_owned(), times: 2 }],
            errors: Vec::new(),
        },
        log: Log { path: "/runs/1/output.log".to_owned(), bytes: 4_000, left_out: 0 },
        ended_processes: 0,
        problems: Vec::new(),
    }
}

/// Brings a report in.
#[track_caller]
pub(crate) fn deliver(house: &House, report: &Report) -> Value {
    house.person("tomas").ok("run_report", json!({"report": report}))
}

/// Records a run.
#[track_caller]
pub(crate) fn record(client: &Client<'_>, report: &Report, version: i64) -> Value {
    client.ok("run_record", json!({"run": report.run_id, "expected_version": version}))
}

/// A task with a run that is not recorded yet.
fn task_with_run(house: &House, outcome: Outcome) -> (String, Report) {
    let task = house.client("maria").create("Import bank statements");
    let report = report(1, Some(&task), outcome);
    deliver(house, &report);
    (task, report)
}

/// A field of a task.
fn field(house: &House, task: &str, name: &str) -> String {
    text(&house.client("maria").get(task)[name]).to_owned()
}
