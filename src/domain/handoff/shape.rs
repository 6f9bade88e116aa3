//! Shapes that mean the same in every language: commands, files, branches, commits, pull requests, totals of tests.
//! Must never depend on a word of a language.

pub(super) mod command;
pub(super) mod git;
mod programs;
pub(super) mod reference;
pub(super) mod totals;
pub(super) mod typed;

use regex::Regex;

/// A pattern of ours. Each is compiled once, by the first text that is looked at.
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern that a test compiles")
}
