//! The arguments of calls about runs.

use heyaira::domain::run::Outcome;
use heyaira::domain::text::SUMMARY_MAX;
use serde_json::{Value, json};

use super::Given;
use super::tasks::{key, other_task};
use crate::twins::texts;

/// How many runs there are: the same few come in again and again.
const RUNS: usize = 40;

fn run_id(given: &mut Given<'_>) -> String {
    format!("{:08x}-0000-4000-8000-00000000000a", given.draw.below(RUNS) * 0x0101_0101)
}

/// A run's id, or its beginning.
fn pointer(given: &mut Given<'_>) -> String {
    let id = run_id(given);
    match given.draw.below(10) {
        0..5 => id[..8].to_owned(),
        5 => id[..4].to_owned(),
        _ => id,
    }
}

pub(super) fn report(given: &mut Given<'_>) {
    let report = drawn(given);
    given.put("report", report);
    key(given);
}

fn drawn(given: &mut Given<'_>) -> Value {
    let outcome = *given.draw.pick(&Outcome::ALL);
    let commits = given.draw.below(3);
    let log = json!({"path": "/runs/output.log", "bytes": 7});
    let words = |given: &mut Given<'_>| texts::short(given.draw, 400);
    let tests: Vec<Value> = (0..given.draw.below(3))
        .map(|_| {
            let exit = json!({"code": given.draw.below(2)});
            json!({"command": texts::short(given.draw, 60), "exit": exit, "ms": 1_500, "log": log})
        })
        .collect();
    let session = given.session();
    let run_id = run_id(given);
    let mut report = json!({
        "schema": "heyaira.run-report",
        "schema_version": 1,
        "run_id": run_id,
        "project": given.project,
        "outcome": outcome.as_str(),
        "reason": words(given),
        "started": "2026-11-25T07:00:00Z",
        "ended": format!("2026-11-25T07:{:02}:00Z", given.draw.below(60)),
        "harness_ms": 60_000,
        "session_ref": session,
        "harness": {"name": "codex", "command": ["codex", "exec"]},
        "cost": {"usd": 0.25, "basis": "prices"},
        "exit": {"code": 0},
        "work": {
            "repository": "/src/ledger",
            "worktree": words(given),
            "branch": "heyaira/run",
            "base_commit": "4c19e7a0",
            "result_commit": "9f3b2d10",
            "commits": vec![json!({"commit": "9f3b2d10", "subject": words(given)}); commits],
            "commits_total": commits,
            "files_changed": commits,
            "insertions": 7,
            "deletions": 3,
            "uncommitted": [],
            "uncommitted_total": given.draw.below(2),
        },
        "tests": tests,
        "said": {"final_message": words(given)},
        "log": log,
        "ended_processes": 0,
    });
    if given.draw.percent(80)
        && let Some((id, _)) = given.task()
    {
        report["task_id"] = json!(id);
    }
    report
}

pub(super) fn list(given: &mut Given<'_>) {
    given.maybe(50, "recorded", |given| json!(given.draw.percent(50)));
    given.maybe(25, "task", |given| json!(other_task(given)));
    given.maybe(60, "limit", |given| json!(given.draw.between(1, 5)));
}

pub(super) fn show(given: &mut Given<'_>) {
    let there = given.world.runs.iter().filter(|(project, ..)| *project == given.project);
    let there: Vec<String> = there.map(|(_, run, _)| run.clone()).collect();
    let known = given.draw.any(&there).cloned().filter(|_| given.draw.percent(60));
    let run = known.unwrap_or_else(|| pointer(given));
    given.put("run", run);
}

pub(super) fn record(given: &mut Given<'_>) {
    let waiting: Vec<_> = given.world.runs.iter().filter(|(project, ..)| *project == given.project).cloned().collect();
    let known = given.draw.any(&waiting).cloned().filter(|_| given.draw.percent(80));
    let (run, task_id) = known.map_or_else(|| (pointer(given), None), |(_, run, task_id)| (run, task_id));
    given.put("run", run);
    let of_run = given.world.tasks.iter().find(|task| Some(&task.id) == task_id.as_ref());
    let of_run = of_run.map(|task| (task.id.clone(), task.version));
    let (id, version) = of_run.or_else(|| given.task()).unwrap_or_else(|| ("00000000".to_owned(), 1));
    let expected = given.expected(version);
    given.put("expected_version", expected);
    let named = if task_id.is_some() { 15 } else { 85 };
    given.maybe(named, "task_id", |given| json!(given.pointer(&id)));
    given.maybe(10, "receipt_only", |_| json!(true));
    given.maybe(15, "status", |given| json!(given.draw.pick(&["in_progress", "blocked", "todo"])));
    given.maybe(15, "summary", |given| given.short(SUMMARY_MAX));
    given.maybe(10, "handoff_next", Given::long);
    given.maybe(10, "handoff_blockers", |given| given.short(200));
    key(given);
}

pub(super) fn dismiss(given: &mut Given<'_>) {
    let waiting = given.world.runs.iter().filter(|(project, ..)| *project == given.project);
    let waiting: Vec<String> = waiting.map(|(_, run, _)| run.clone()).collect();
    let count = given.draw.between(1, 3);
    let runs: Vec<String> = (0..count)
        .map(|_| {
            let known = given.draw.any(&waiting).cloned().filter(|_| given.draw.percent(80));
            known.unwrap_or_else(|| pointer(given))
        })
        .collect();
    given.put("runs", json!(runs));
    key(given);
}
