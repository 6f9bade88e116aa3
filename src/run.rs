//! Unattended runs: a harness in a worktree of its own, watched, ended whole, and reported on from what a machine saw.
//! Must never write to a task: who started a run records what came of it.
//!
//! A run has a folder. `heyaira run start` writes the [`folder::Plan`] into it and starts a second process, the watcher,
//! which outlives whoever asked for the run; only the watcher starts the harness and writes the report.

pub mod folder;
pub mod tests;
pub mod totals;
pub mod work;
