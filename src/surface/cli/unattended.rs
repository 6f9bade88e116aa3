//! What the command line may do within an unattended run: read. Must never let a run write to a task.

use crate::error::Result;
use crate::operation::right;
use crate::run::VARIABLE;

/// The commands that are no operations and write nothing, by their words.
const READING: [&str; 12] = [
    "completions",
    "context",
    "doctor",
    "handoff check",
    "handoff draft",
    "hook",
    "mcp",
    "receipt verify",
    "resume",
    "verify",
    "run list",
    "run show",
];

/// The run that this process belongs to.
pub fn current() -> Option<String> {
    std::env::var_os(VARIABLE).filter(|run| !run.is_empty()).map(|run| run.to_string_lossy().into_owned())
}

/// Refuses a command that is no operation and writes, where this process belongs to a run.
pub fn check_command(words: &str) -> Result<()> {
    match current() {
        Some(run) if !READING.contains(&words) => Err(right::refused(&run, words)),
        _ => Ok(()),
    }
}
