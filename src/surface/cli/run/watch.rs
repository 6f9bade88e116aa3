//! `heyaira run watch`: the process that watches over one run. Must never end with the terminal or the process that asked
//! for the run.

use std::process::ExitCode;

use clap::ArgMatches;

use super::{deliver, exit_code, on_signals, runs};
use crate::error::{Refusal, Result};
use crate::run::process::stand_alone;
use crate::run::stop::Stop;
use crate::surface::cli::Session;
use crate::surface::cli::economics::prices;

/// `heyaira run watch RUN`.
pub fn watch(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let runs = runs()?;
    let named = matches.get_one::<String>("run").map(String::as_str).unwrap_or_default();
    let folder = runs.run(named);
    let failed = |error: std::io::Error| Refusal::internal(&format!("the run {named} cannot be watched: {error}"));
    stand_alone().map_err(failed)?;
    let stop = Stop::default();
    let asked = stop.clone();
    on_signals(move || {
        asked.ask();
        true
    })?;
    let report = crate::run::watch::watch(&runs, &folder, &prices(None)?, &stop).map_err(failed)?;
    let Some(report) = report else { return Ok(ExitCode::SUCCESS) };
    if let Err(refusal) = deliver::one(session, &folder) {
        // The report is kept, and the next command that looks at runs delivers it.
        tracing::warn!(%refusal, "the report is not in the database yet");
    }
    Ok(ExitCode::from(exit_code(report.outcome)))
}
