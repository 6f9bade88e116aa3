//! Puts reports into the database that are not there yet, and the commands that look there. Must never lose a report that
//! cannot be put there now.

use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::{Value, json};

use super::local::{self, Local};
use super::runs;
use crate::error::{Refusal, Result};
use crate::operation::Entry;
use crate::operations;
use crate::run::folder::{RunFolder, Runs};
use crate::surface::cli::{Session, answer, flags, now, unattended};

/// Puts the report of a run into the database.
pub(super) fn one(session: &Session, folder: &RunFolder) -> Result<()> {
    let unread = |error: std::io::Error| Refusal::internal(&error);
    let report = serde_json::to_value(folder.report().map_err(unread)?).map_err(|error| Refusal::internal(&error))?;
    session.ask(operation("run_report")?, json!({"report": report}))?;
    let mut progress = folder.progress().unwrap_or_default();
    progress.is_delivered = true;
    // Whoever cleaned it away meanwhile wants none of it back.
    if folder.path().exists() { folder.write_progress(&progress).map_err(unread) } else { Ok(()) }
}

fn operation(name: &str) -> Result<&'static Entry> {
    operations::named(name).ok_or_else(|| Refusal::internal(&format!("{name} is not listed")))
}

/// Puts every report of the session's project there that is not yet, those of lost watchers too. One that is refused
/// stays in its folder, and is told on standard error.
pub(super) fn all(session: &Session, runs: &Runs) -> Result<()> {
    let unread = |error: std::io::Error| Refusal::internal(&format!("the runs cannot be read: {error}"));
    let pinned = session.config.pinned()?;
    let is_waiting = |run: &Local| run.outcome.is_some() && !run.progress.is_delivered;
    let mut waiting = local::all(runs).map_err(unread)?;
    waiting.retain(|run| is_waiting(run) && run.plan.project == pinned.project);
    if waiting.is_empty() {
        return Ok(());
    }
    // A project of the same name in another database is another project.
    let identity = session.ask(operation("server_identity")?, json!({}))?;
    for run in waiting.iter().filter(|run| identity["instance"] == run.plan.instance.as_str()) {
        if let Err(refusal) = one(session, &run.folder) {
            let name = run.short();
            answer::note(&format!("the report of run {name} is not in the database: {}", refusal.of_owner()));
        }
    }
    Ok(())
}

/// `heyaira run list`, `show` and `record`: what the operations of that name answer, once every report is delivered. The
/// list begins with the runs of this machine that are not over.
fn then_ask(session: &Session, matches: &ArgMatches, name: &str) -> Result<ExitCode> {
    let entry = operation(name)?;
    let arguments = flags::arguments(entry, matches)?;
    // What belongs to a run reads alone.
    let runs = if unattended::current().is_none() { runs().ok() } else { None };
    if let Some(runs) = &runs {
        all(session, runs)?;
    }
    let mut answer = session.ask(entry, arguments)?;
    if let (Some(runs), "run_list", Some(fields)) = (&runs, name, answer.as_object_mut()) {
        let working = working(session, runs)?;
        if !working.is_empty() {
            fields.shift_insert(0, "working".to_owned(), Value::Array(working));
        }
    }
    answer::print(&answer, session.json)
}

/// The project's runs of this machine that are not over.
fn working(session: &Session, runs: &Runs) -> Result<Vec<Value>> {
    let pinned = session.config.pinned()?;
    let all = local::all(runs).map_err(|error| Refusal::internal(&error))?;
    let going = all.iter().filter(|run| run.outcome.is_none() && run.plan.project == pinned.project);
    let row = |run: &Local| {
        let mut row = json!({"run": run.short(), "phase": run.phase(), "harness": run.plan.harness});
        if let Some(task) = run.plan.task_id.as_ref().and_then(|task| task.get(..8)) {
            row["task"] = json!(task);
        }
        row["branch"] = json!(run.plan.branch);
        if !run.progress.waits_for.is_empty() {
            row["waits_for"] = json!(shorts(&run.progress.waits_for));
        }
        if let Some(trouble) = run.trouble() {
            row["watcher"] = json!(trouble);
            row["next"] = json!(format!("heyaira run stop {}", run.short()));
        }
        if run.progress.started_micros > 0 {
            let at = crate::domain::time::Timestamp(run.progress.started_micros);
            row["age"] = json!(at.age(now()));
        }
        if let Some(cost) = run.progress.cost_usd {
            row["cost_usd"] = json!(cost);
        }
        row
    };
    Ok(going.map(row).collect())
}

/// The beginnings of the ids of runs.
pub(super) fn shorts(runs: &[String]) -> Vec<&str> {
    runs.iter().map(|run| run.get(..8).unwrap_or(run)).collect()
}

/// `heyaira run list`.
pub fn list(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    then_ask(session, matches, "run_list")
}

/// `heyaira run show`.
pub fn show(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    then_ask(session, matches, "run_show")
}

/// `heyaira run record`.
pub fn record(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    then_ask(session, matches, "run_record")
}
