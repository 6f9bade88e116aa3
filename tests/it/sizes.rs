//! What the tools and their answers cost a model, counted with the real tokenizer.

mod answers;
mod estimate;
mod extremes;
mod packet;
mod tools;

use std::panic::AssertUnwindSafe;

use serde_json::Value;

use crate::ground::{Ground, text};
use crate::texts::{SCRIPTS, Script, script};

/// The most bytes of a default answer.
const ANSWER_BYTES: usize = 10_240;
/// The most tokens of a default answer.
const ANSWER_TOKENS: usize = 4_000;

/// The o200k tokens of a text.
pub(crate) fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// Fails unless an answer keeps the limits of the contract.
fn assert_small(what: &str, answer: &Value) {
    let json = answer.to_string();
    assert!(json.len() <= ANSWER_BYTES, "{what}: {} bytes, at most {ANSWER_BYTES}", json.len());
    let tokens = tokens(&json);
    assert!(tokens <= ANSWER_TOKENS, "{what}: {tokens} tokens in {} bytes, at most {ANSWER_TOKENS}", json.len());
}

/// What is checked in a script: a fresh project, and its texts.
type Check = fn(&Ground, &Script);

/// Runs a check for each script, each in a project of its own, and tells all scripts that fail, not only the first.
fn for_every_script(check: Check) {
    for_scripts(SCRIPTS.iter(), check);
}

/// The same for the few that the estimate treats most differently, where every script would take too long.
fn for_few_scripts(check: Check) {
    for_scripts(["English", "Japanese", "emoji", "base64", "rare letters"].into_iter().map(script), check);
}

fn for_scripts<'s>(scripts: impl Iterator<Item = &'s Script>, check: Check) {
    let mut ground = Ground::new();
    let mut failed = Vec::new();
    for script in scripts {
        ground.enter(&script.name.to_lowercase().replace(' ', "-"));
        if std::panic::catch_unwind(AssertUnwindSafe(|| check(&ground, script))).is_err() {
            failed.push(script.name);
        }
    }
    assert!(failed.is_empty(), "fails for {failed:?}");
}

/// Joins a text that was cut with what its calls for the rest bring; each of these must be small too.
fn whole_text(ground: &Ground, shown: &Value, cut: &Value) -> String {
    let mut whole = text(shown);
    let mut rest = cut.get("rest").map(text);
    while let Some(call) = rest {
        let piece = ground.follow(&call);
        assert_small(&call, &piece);
        let part = text(&piece["text"]);
        assert!(!part.is_empty(), "{call} brings nothing");
        whole.push_str(&part);
        rest = piece.get("rest").map(text);
    }
    whole
}
