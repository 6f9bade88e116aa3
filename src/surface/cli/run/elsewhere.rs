//! What stands for runs where they cannot be watched: ending a harness whole takes process groups and signals. Must never
//! start anything that it could not end.

use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::Value;

use crate::error::{Refusal, Result};
use crate::run::folder::Runs;
use crate::surface::cli::Session;

fn refused() -> Refusal {
    Refusal::not_allowed(
        "unattended runs are not there on this operating system",
        "Start them on Linux or macOS; on Windows, in the Windows Subsystem for Linux. Reports of runs can be listed, shown and \
         recorded here.",
    )
}

/// `heyaira run start`, refused.
pub fn start(_session: &Session, _matches: &ArgMatches) -> Result<ExitCode> {
    Err(refused())
}

/// `heyaira run stop`, refused.
pub fn stop(_session: &Session, _matches: &ArgMatches) -> Result<ExitCode> {
    Err(refused())
}

/// `heyaira run clean`, refused.
pub fn clean(_session: &Session, _matches: &ArgMatches) -> Result<ExitCode> {
    Err(refused())
}

/// `heyaira run watch`, refused.
pub fn watch(_session: &Session, _matches: &ArgMatches) -> Result<ExitCode> {
    Err(refused())
}

/// There is no report of this machine to be delivered.
#[expect(clippy::unnecessary_wraps, reason = "it stands for what delivers reports elsewhere")]
pub(super) fn all(_session: &Session, _runs: &Runs) -> Result<()> {
    Ok(())
}

/// There is no run of this machine.
#[expect(clippy::unnecessary_wraps, reason = "it stands for what reads runs elsewhere")]
pub(super) fn working(_session: &Session, _runs: &Runs) -> Result<Vec<Value>> {
    Ok(Vec::new())
}

/// No run of this machine goes on.
pub(super) fn without_report(_session: &Session, _runs: &Runs, _names: &[String], refusal: Refusal) -> Refusal {
    refusal
}
