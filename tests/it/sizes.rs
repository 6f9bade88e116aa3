//! What the tools and their answers cost a model, counted with the real tokenizer.

mod answers;
mod estimate;
mod packet;
mod tools;

use serde_json::Value;

use crate::ground::{Ground, text};
use crate::texts::{SCRIPTS, Script, script};

/// The most bytes of a default answer.
const ANSWER_BYTES: usize = 10_240;
/// The most tokens of a default answer.
const ANSWER_TOKENS: usize = 4_000;

/// The o200k tokens of a text.
fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// Fails unless an answer keeps the limits of the contract.
fn assert_small(what: &str, answer: &Value) {
    let json = answer.to_string();
    assert!(json.len() <= ANSWER_BYTES, "{what}: {} bytes, at most {ANSWER_BYTES}", json.len());
    let tokens = tokens(&json);
    assert!(tokens <= ANSWER_TOKENS, "{what}: {tokens} tokens in {} bytes, at most {ANSWER_TOKENS}", json.len());
}

/// Runs a check for each script and tells all scripts that fail, not only the first.
fn for_every_script(check: fn(&Script)) {
    for_scripts(SCRIPTS.iter(), check);
}

/// The same for the four that the estimate treats most differently, where every script would take too long.
fn for_four_scripts(check: fn(&Script)) {
    for_scripts(["English", "Japanese", "emoji", "base64"].into_iter().map(script), check);
}

fn for_scripts<'s>(scripts: impl Iterator<Item = &'s Script>, check: fn(&Script)) {
    let failed = |script: &&Script| std::panic::catch_unwind(|| check(script)).is_err();
    let failed: Vec<&str> = scripts.filter(failed).map(|script| script.name).collect();
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
