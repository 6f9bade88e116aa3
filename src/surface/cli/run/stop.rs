//! `heyaira run stop`: ends runs that go on, in a bounded time. Must never keep back what became of one because another one
//! cannot be ended.

use std::process::ExitCode;
use std::thread;

use clap::ArgMatches;
use serde_json::{Value, json};

use super::local::{self, Local};
use super::named::{self, Named};
use super::runs;
use crate::error::{Code, Refusal, Result};
use crate::run::ending;
use crate::surface::cli::{Session, answer};

/// `heyaira run stop RUN…`.
pub fn stop(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let unread = |error: std::io::Error| Refusal::internal(&format!("the runs cannot be read: {error}"));
    let all = local::all(&runs()?).map_err(unread)?;
    let names: Vec<&String> = matches.get_many("run").into_iter().flatten().collect();
    let Named { here: runs, gone } = named::find(session, &all, &names)?;
    // All at once, so that the bound of one is that of all.
    let mut rows: Vec<Value> = thread::scope(|scope| {
        let ending: Vec<_> = runs.iter().map(|run| scope.spawn(|| ended(run))).collect();
        ending.into_iter().zip(&runs).map(|(row, run)| row.join().unwrap_or_else(|_| lost(run))).collect()
    });
    rows.extend(gone.iter().map(over_and_gone));
    let is_all = rows.iter().all(|row| !row["outcome"].is_null());
    answer::print(&json!({"runs": rows}), session.json)?;
    Ok(if is_all { ExitCode::SUCCESS } else { ExitCode::from(Code::Unavailable.exit()) })
}

/// One that has nothing left here was over before that.
fn over_and_gone(shown: &Value) -> Value {
    let (_, next) = named::gone(shown);
    json!({"run_id": shown["run_id"], "outcome": shown["outcome"], "was_over": true, "gone": named::GONE, "next": next})
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
