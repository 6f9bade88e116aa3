//! `heyaira run list`, `show`, `record` and `dismiss`: what the operations of that name answer, once every report of this machine is in
//! the database. Must never deliver anything for what belongs to a run: that reads alone.

use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::Value;

#[cfg(unix)]
use super::deliver::{all, working};
#[cfg(not(unix))]
use super::elsewhere::{all, without_report, working};
#[cfg(unix)]
use super::named::without_report;
use super::{operation, runs};
use crate::error::{Code, Result};
use crate::surface::cli::{Session, answer, flags, unattended};

/// What the operation of that name answers, once every report is delivered. The list begins with the runs of this machine
/// that are not over; of one that is named and has no report yet, it is said how far it is.
fn then_ask(session: &Session, matches: &ArgMatches, name: &str) -> Result<ExitCode> {
    let entry = operation(name)?;
    let arguments = flags::arguments(entry, matches)?;
    // What belongs to a run reads alone; where there is no home folder, this machine has no runs.
    let runs = if unattended::current().is_none() { runs().ok() } else { None };
    if let Some(runs) = &runs {
        all(session, runs)?;
    }
    let named = named_in(&arguments);
    let asked = session.ask(entry, arguments);
    let mut answer = asked.map_err(|refusal| match &runs {
        Some(runs) if refusal.code == Code::NotFound => without_report(session, runs, &named, refusal),
        _ => refusal,
    })?;
    if let (Some(runs), "run_list", Some(fields)) = (&runs, name, answer.as_object_mut()) {
        let working = working(session, runs)?;
        if !working.is_empty() {
            fields.shift_insert(0, "working".to_owned(), Value::Array(working));
        }
    }
    answer::print(&answer, session.json)
}

/// The runs that a call names.
fn named_in(arguments: &Value) -> Vec<String> {
    let words = |value: &Value| -> Vec<String> {
        match value {
            Value::Array(several) => several.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            // One word may hold several.
            Value::String(word) => word.split(',').map(|one| one.trim().to_owned()).collect(),
            _ => Vec::new(),
        }
    };
    ["run", "runs"].into_iter().flat_map(|name| words(&arguments[name])).collect()
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

/// `heyaira run dismiss`.
pub fn dismiss(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    then_ask(session, matches, "run_dismiss")
}
