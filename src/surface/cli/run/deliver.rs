//! Puts reports into the database that are not there yet, and tells of the runs that have none. Must never lose a report
//! that cannot be put there now.

use serde_json::{Value, json};

use super::local::{self, Local};
use super::operation;
use crate::error::{Code, Refusal, Result};
use crate::run::folder::{RunFolder, Runs};
use crate::surface::cli::{Session, answer, now};

/// Puts the report of a run into the database; what `run_report` answers.
pub(super) fn one(session: &Session, folder: &RunFolder) -> Result<Value> {
    let unread = |error: std::io::Error| Refusal::internal(&error);
    let report = serde_json::to_value(folder.report().map_err(unread)?).map_err(|error| Refusal::internal(&error))?;
    let answer = session.ask(operation("run_report")?, json!({"report": report}))?;
    let mut progress = folder.progress().unwrap_or_default();
    progress.is_delivered = true;
    // Whoever cleaned it away meanwhile wants none of it back.
    if folder.path().exists() {
        folder.write_progress(&progress).map_err(unread)?;
    }
    Ok(answer)
}

/// What the database has of a run, if it has its report.
pub(super) fn report_of(session: &Session, named: &str) -> Result<Option<Value>> {
    match session.ask(operation("run_show")?, json!({"run": named})) {
        Ok(shown) => Ok(Some(shown)),
        Err(refusal) if refusal.code == Code::NotFound => Ok(None),
        Err(refusal) => Err(refusal),
    }
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

/// The project's runs of this machine that are not over.
pub(super) fn working(session: &Session, runs: &Runs) -> Result<Vec<Value>> {
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
