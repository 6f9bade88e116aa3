//! `heyaira run list`, `show` and `record`: what the operations of that name answer, once every report of this machine is in
//! the database. Must never deliver anything for what belongs to a run: that reads alone.

use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::Value;

#[cfg(unix)]
use super::deliver::{all, working};
#[cfg(not(unix))]
use super::elsewhere::{all, working};
use super::{operation, runs};
use crate::error::Result;
use crate::surface::cli::{Session, answer, flags, unattended};

/// `heyaira run list`, `show` and `record`: what the operations of that name answer, once every report is delivered. The
/// list begins with the runs of this machine that are not over.
fn then_ask(session: &Session, matches: &ArgMatches, name: &str) -> Result<ExitCode> {
    let entry = operation(name)?;
    let arguments = flags::arguments(entry, matches)?;
    // What belongs to a run reads alone; where there is no home folder, this machine has no runs.
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
