//! `heyaira run stop`: ends runs that go on, in a bounded time. Must never keep back what became of one because another one
//! cannot be ended.

use std::process::ExitCode;
use std::thread;

use clap::ArgMatches;
use serde_json::{Value, json};

use super::local::{self, Local};
use super::runs;
use crate::error::{Code, Refusal, Result};
use crate::run::ending;
use crate::surface::cli::{Session, answer};

/// `heyaira run stop RUN…`.
pub fn stop(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let unread = |error: std::io::Error| Refusal::internal(&format!("the runs cannot be read: {error}"));
    let all = local::all(&runs()?).map_err(unread)?;
    let named = matches.get_many::<String>("run").into_iter().flatten();
    let mut runs = every(named.map(|named| local::find(&all, named)).collect())?;
    let mut seen = std::collections::BTreeSet::new();
    runs.retain(|run| seen.insert(run.plan.run_id.clone()));
    // All at once, so that the bound of one is that of all.
    let rows: Vec<Value> = thread::scope(|scope| {
        let ending: Vec<_> = runs.iter().map(|run| scope.spawn(|| ended(run))).collect();
        ending.into_iter().zip(&runs).map(|(row, run)| row.join().unwrap_or_else(|_| lost(run))).collect()
    });
    let is_all = rows.iter().all(|row| !row["outcome"].is_null());
    answer::print(&json!({"runs": rows}), session.json)?;
    Ok(if is_all { ExitCode::SUCCESS } else { ExitCode::from(Code::Unavailable.exit()) })
}

/// All of them, or everything that is wrong with any.
pub(super) fn every(found: Vec<Result<Local>>) -> Result<Vec<Local>> {
    match Refusal::together(found.iter().filter_map(|one| one.as_ref().err().cloned())) {
        Some(refusal) => Err(refusal),
        None => Ok(found.into_iter().flatten().collect()),
    }
}

/// Ends it, and says what came of that.
fn ended(run: &Local) -> Value {
    let (run_id, was_over) = (&run.plan.run_id, run.outcome.is_some());
    match ending::end(&run.folder) {
        Ok(report) => {
            let mut row = json!({"run_id": run_id, "outcome": report.outcome, "was_over": was_over});
            if !was_over && !report.problems.is_empty() {
                row["problems"] = json!(report.problems);
            }
            row
        }
        Err(keeps) => not_ended(run, &format!("the run {keeps}")),
    }
}

fn lost(run: &Local) -> Value {
    not_ended(run, "what became of it is not known")
}

fn not_ended(run: &Local, problem: &str) -> Value {
    let next = format!("Call heyaira run stop {} again; nothing of it is lost.", run.short());
    json!({"run_id": run.plan.run_id, "outcome": null, "was_over": false, "problem": problem, "next": next})
}
