//! `heyaira receipt verify`: a receipt against a real repository, by the real git.

pub(crate) mod hostile;
mod recorded;
pub(crate) mod repository;
mod resumed;
pub(crate) mod situations;
mod untold;

use std::path::Path;

use serde_json::{Value, json};

use crate::program::{Answer, Place};

/// What a receipt says, without what this test has no need of.
fn receipt(branch: &str, base: &str, result: &str) -> Value {
    json!({"session_ref": "codex:1", "branch": branch, "base_commit": base, "result_commit": result})
}

/// A task whose last receipt says that.
fn task(place: &Place, receipt: &Value) -> String {
    let task = place.task("verified");
    let receipt = receipt.to_string();
    let words = ["--expected-version", "1", "--summary", "worked on", "--work-receipt", &receipt];
    place.ask(&[&["task", "update", &task], &words[..]].concat());
    task
}

/// `heyaira receipt verify` with further words.
fn verify(place: &Place, task: &str, folder: &Path, more: &[&str]) -> Answer {
    let mut command = place.command();
    repository::only_our_settings(&mut command);
    command.env("GIT_CEILING_DIRECTORIES", place.folder.path());
    command.args(["receipt", "verify", task, "--json", "--project", "ledger", "--repo"]).arg(folder).args(more);
    command.output().expect("the program runs").into()
}

/// The lines of an answer that weigh so much.
fn lines(answer: &Value, kind: &str) -> Vec<String> {
    let differences = answer["differences"].as_array().expect("differences");
    let such = differences.iter().filter(|one| one["kind"] == kind);
    such.map(|one| one["line"].as_str().expect("a line").to_owned()).collect()
}
