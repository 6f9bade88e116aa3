//! Reports on their way into the database, and the runs that have none yet. Must never hold a report back because another
//! one cannot be delivered.

use serde_json::{Value, json};

use super::local::{self, Local};
use super::runs;
use crate::config::Config;
use crate::error::{Refusal, Result};
use crate::operations;
use crate::run::folder::{Plan, RunFolder};
use crate::surface::cli::{Session, answer, now, unattended};

/// Puts a report into the database that its run was started with.
pub(super) fn deliver(session: &Session, folder: &RunFolder, plan: &Plan) -> Result<()> {
    let unread = |error: std::io::Error| Refusal::internal(&error);
    let report = serde_json::to_value(folder.report().map_err(unread)?).map_err(|error| Refusal::internal(&error))?;
    let config = Config { project: Some(plan.project.clone()), profile: None, ..session.config.clone() };
    let session = Session { config, json: session.json, named_database: session.named_database.clone() };
    session.ask(operation("run_report")?, json!({"report": report}))?;
    let mut progress = folder.progress().unwrap_or_default();
    progress.is_delivered = true;
    folder.write_progress(&progress).map_err(unread)
}

fn operation(name: &str) -> Result<&'static crate::operation::Entry> {
    operations::named(name).ok_or_else(|| Refusal::internal(&format!("{name} is not listed")))
}

/// Reports on runs whose watcher is gone, and delivers what this database has not got yet. The runs of this machine that
/// were started with it; none within a run, which writes nothing.
pub fn settle(session: &Session) -> Result<Vec<Local>> {
    if unattended::current().is_some() {
        return Ok(Vec::new());
    }
    let Ok(runs) = runs() else { return Ok(Vec::new()) };
    let mut found = local::all(&runs).map_err(|error| {
        Refusal::internal(&format!("the runs in {} cannot be read: {error}", runs.path().display()))
    })?;
    if found.is_empty() {
        return Ok(found);
    }
    let identity = session.ask(operation("server_identity")?, json!({}))?;
    found.retain(|run| identity["instance"] == run.plan.instance.as_str());
    for run in found.iter().filter(|run| run.outcome.is_some() && !run.progress.is_delivered) {
        if let Err(refusal) = deliver(session, &run.folder, &run.plan) {
            answer::note(&format!("run {} is not in the database yet: {refusal}", run.short()));
        }
    }
    Ok(found)
}

/// The list of the database with the runs of its project that go on.
pub fn with_going_on(session: &Session, mut listed: Value, runs: &[Local]) -> Value {
    let project = session.config.pinned().map(|pinned| pinned.project).unwrap_or_default();
    let going = runs.iter().filter(|run| run.outcome.is_none() && run.plan.project == project);
    let rows: Vec<Value> = going.map(row).collect();
    if let (Some(fields), false) = (listed.as_object_mut(), rows.is_empty()) {
        fields.insert("going_on".to_owned(), Value::Array(rows));
    }
    listed
}

fn row(run: &Local) -> Value {
    let mut row =
        json!({"run": run.short(), "phase": run.phase(), "harness": run.plan.harness, "branch": run.plan.branch});
    if let Some(task) = run.plan.task_id.as_ref().and_then(|task| task.get(..8)) {
        row["task"] = json!(task);
    }
    let age = |micros: i64| crate::domain::time::Timestamp(micros).age(now());
    if run.progress.started_micros > 0 {
        row["age"] = json!(age(run.progress.started_micros));
        row["last_output"] = json!(age(run.progress.active_micros));
    }
    for (name, value) in [("tokens", json!(run.progress.tokens)), ("cost_usd", json!(run.progress.cost_usd))] {
        if !value.is_null() {
            row[name] = value;
        }
    }
    row
}
