//! The runs that a command names: those of this machine, and those of which the database alone has something left. Must never
//! let through one of several of which another is wrong.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::deliver::report_of;
use super::local::{self, Local};
use crate::error::{Code, Refusal, Result};
use crate::run::folder::Runs;
use crate::surface::cli::Session;

/// What there is to say of a run that has nothing left on this machine.
pub(super) const GONE: &str = "its folder was cleaned already, or is on another machine";

/// The runs that were named, each once.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Those that have a folder here.
    pub here: Vec<Local>,
    /// What `run_show` answers of those that have none: they were cleaned, or worked elsewhere.
    pub gone: Vec<Value>,
}

/// All of them, or everything that is wrong with any.
pub(super) fn find(session: &Session, all: &[Local], names: &[&String]) -> Result<Named> {
    let (mut named, mut refusals) = (Named::default(), Vec::new());
    let mut seen = BTreeSet::new();
    for name in names {
        match one(session, all, name) {
            Ok(One::Here(run)) if seen.insert(run.plan.run_id.clone()) => named.here.push(*run),
            Ok(One::Gone(shown)) if seen.insert(shown["run_id"].to_string()) => named.gone.push(shown),
            Ok(_) => {}
            Err(refusal) => refusals.push(refusal),
        }
    }
    match Refusal::together(refusals) {
        None => Ok(named),
        Some(refusal) => Err(refusal),
    }
}

enum One {
    Here(Box<Local>),
    Gone(Value),
}

fn one(session: &Session, all: &[Local], name: &str) -> Result<One> {
    let refusal = match local::find(all, name) {
        Ok(run) => return Ok(One::Here(Box::new(run))),
        Err(refusal) if refusal.code == Code::NotFound => refusal,
        Err(refusal) => return Err(refusal),
    };
    match report_of(session, name) {
        Ok(Some(shown)) => Ok(One::Gone(shown)),
        Ok(None) => Err(refusal),
        Err(other) if other.code == Code::AmbiguousId => Err(other),
        // Stopping and cleaning work without a database.
        Err(other) => {
            let message = format!("{}, and no report of it can be asked for: {}", refusal.message, other.message);
            Err(Refusal { message, ..refusal })
        }
    }
}

/// The refusal of a call about reports that are not there: of runs of this machine it says how far they are.
pub(super) fn without_report(session: &Session, runs: &Runs, names: &[String], refusal: Refusal) -> Refusal {
    let Ok(all) = local::all(runs) else { return refusal };
    let project = session.config.pinned().map(|pinned| pinned.project.clone()).unwrap_or_default();
    let is_meant = |run: &&Local| run.plan.project == project && names.iter().any(|name| run.is_named(name));
    let told: Vec<String> = all.iter().filter(is_meant).filter_map(why_none).collect();
    if told.is_empty() {
        return refusal;
    }
    // Of several, some may not be known at all.
    let before = if names.len() > 1 { format!("{}; ", refusal.message) } else { String::new() };
    let going: Vec<&str> = all.iter().filter(is_meant).filter(|run| run.outcome.is_none()).map(Local::short).collect();
    let next = if going.is_empty() {
        "heyaira run list puts it there, or says why that cannot be. Nothing was written.".to_owned()
    } else {
        format!(
            "Wait for its end: heyaira run list shows how far it is, heyaira run stop {} ends it. Nothing was written.",
            going.join(" ")
        )
    };
    Refusal::not_allowed(format!("{before}{}", told.join("; ")), next)
}

/// Why the database has no report of a run, where that is known here.
fn why_none(run: &Local) -> Option<String> {
    let name = run.short();
    if run.outcome.is_some() {
        let is_missing = !run.progress.is_delivered;
        return is_missing.then(|| format!("run {name} is over, and its report is not in the database yet"));
    }
    let trouble = run.trouble().map_or_else(String::new, |trouble| format!(", and its watcher {trouble}"));
    Some(format!("run {name} is {}, so that there is no report of it yet{trouble}", run.phase()))
}

/// The beginning of the id of a run that has nothing left here, and where its report is.
pub(super) fn gone(shown: &Value) -> (String, Value) {
    let name: String = shown["run_id"].as_str().unwrap_or_default().chars().take(8).collect();
    let next = json!(format!("heyaira run show {name} has its report"));
    (name, next)
}
