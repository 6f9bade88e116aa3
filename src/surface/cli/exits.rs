//! The exit codes of the command line, as its help and the reference list them.
//! Must never name a code that no command ends with.

use std::fmt::Write as _;

use crate::error::Code;
use crate::surface::cli::handoff::{MISLEADING, THIN};
use crate::surface::cli::receipt::{CONTRADICTED, UNVERIFIED};
use crate::surface::cli::run;

/// What commands that were not refused end with.
const OUTCOMES: [(u8, &str); 10] = [
    (CONTRADICTED, "receipt verify: the repository contradicts the receipt"),
    (UNVERIFIED, "receipt verify: the repository does not say"),
    (THIN, "handoff check: thin, something is missing"),
    (MISLEADING, "handoff check: misleading, it contradicts itself or git"),
    (run::NO_WORK, "run start: no_work"),
    (run::FAILED, "run start: failed"),
    (run::TESTS_FAILED, "run start: tests_failed"),
    (run::BOUND, "run start: timed_out, silent, over_budget"),
    (run::INTERRUPTED, "run start: interrupted"),
    (run::HARNESS_ERROR, "run start: harness_error"),
];

/// Every exit code, in order, with what it says: of a refusal the words of its codes.
pub fn all() -> Vec<(u8, String)> {
    let mut codes: Vec<u8> = Code::ALL.iter().map(|code| code.exit()).collect();
    codes.sort_unstable();
    codes.dedup();
    let success = std::iter::once((0, "done; of a check: all is well".to_owned()));
    let refusals = codes.into_iter().map(|exit| (exit, words(exit)));
    let outcomes = OUTCOMES.into_iter().map(|(exit, meaning)| (exit, meaning.to_owned()));
    success.chain(refusals).chain(outcomes).collect()
}

/// The codes of the refusals that end with this exit code.
fn words(exit: u8) -> String {
    let codes = Code::ALL.into_iter().filter(|code| code.exit() == exit);
    codes.map(Code::as_str).collect::<Vec<_>>().join(", ")
}

/// The list for the help.
pub fn help() -> String {
    let mut text = String::from("Exit codes:\n");
    for (exit, meaning) in all() {
        let _ = writeln!(text, "  {exit:>2}  {meaning}");
    }
    text
}
