//! Unattended runs: a harness in a worktree of its own, watched, ended whole, and reported on from what a machine saw.
//! Must never write to a task: who started a run records what came of it.
//!
//! A run has a folder. `heyaira run start` writes the [`folder::Plan`] into it and starts a second process, the watcher,
//! which outlives whoever asked for the run; only the watcher starts the harness and writes the report.

#[cfg(unix)]
pub mod claim;
#[cfg(unix)]
pub mod clean;
#[cfg(unix)]
pub mod ending;
#[cfg(unix)]
mod family;
mod file;
pub mod folder;
#[cfg(unix)]
pub mod log;
#[cfg(unix)]
pub mod output;
#[cfg(unix)]
pub mod process;
#[cfg(unix)]
pub mod recover;
#[cfg(unix)]
pub mod report;
#[cfg(unix)]
pub mod stop;
#[cfg(unix)]
pub mod tests;
pub mod totals;
#[cfg(unix)]
pub mod watch;
#[cfg(unix)]
pub mod watcher;
pub mod work;

/// The variable that says which run a process belongs to, by which every process of a run can be told.
pub const VARIABLE: &str = "HEYAIRA_RUN";

/// What its environment holds for every process of a run.
#[cfg(unix)]
fn mark(run_id: &str) -> String {
    format!("{VARIABLE}={run_id}")
}

/// The present moment, in microseconds since 1970.
#[cfg(unix)]
fn now() -> i64 {
    jiff::Timestamp::now().as_microsecond()
}
