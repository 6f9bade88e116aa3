//! The arguments of calls about memories, messages, handoffs and the packet.

use heyaira::domain::text::SUMMARY_MAX;
use serde_json::{Value, json};

use super::tasks::key;
use super::{Arguments, Given};
use crate::twins::texts;
use crate::twins::world::World;

const KINDS: [&str; 6] = ["decision", "result", "fact", "convention", "Decision", "FACT"];

fn memory(given: &mut Given<'_>) -> String {
    let known = World::of(&given.world.memories, given.project);
    match given.draw.any(&known) {
        Some(id) if given.draw.percent(92) => (*id).clone(),
        Some(id) if given.draw.percent(50) => id.to_uppercase(),
        _ if given.draw.percent(70) => "m-00000000".to_owned(),
        _ => texts::odd(given.draw),
    }
}

/// A memory; often one that was there before.
pub(super) fn add(given: &mut Given<'_>) {
    let kind = *given.draw.pick(&KINDS);
    given.put("kind", kind);
    if given.draw.percent(25) {
        // Few enough to be the same again.
        let number = given.draw.below(6);
        given.put("kind", "fact");
        given.put("summary", format!("amounts are cents, said {number} times"));
    } else {
        let summary = given.short(SUMMARY_MAX);
        given.put("summary", summary);
        given.maybe(60, "body", Given::long);
    }
    given.maybe(45, "task_id", |given| {
        let id = given.task().map_or_else(|| "00000000".to_owned(), |(id, _)| id);
        json!(given.pointer(&id))
    });
    given.maybe(35, "tags", Given::tags);
    given.maybe(22, "supersedes", |given| json!(memory(given)));
}

pub(super) fn search(given: &mut Given<'_>) {
    given.maybe(50, "query", Given::query);
    given.maybe(25, "kind", |given| json!(given.draw.pick(&KINDS)));
    given.maybe(20, "task_id", |given| json!(given.reference()));
    given.maybe(15, "tag", |given| match given.draw.any(&given.world.tags) {
        Some(tag) => json!(tag),
        None => json!("urgent"),
    });
    given.maybe(15, "ids", |given| {
        let count = given.draw.below(6);
        (0..count).map(|_| memory(given)).collect()
    });
    given.maybe(40, "include_superseded", |given| json!(given.draw.percent(60)));
    given.limit();
    given.maybe(2, "cursor", |given| json!(texts::odd(given.draw)));
}

pub(super) fn send(given: &mut Given<'_>) {
    given.maybe(92, "to", |given| {
        if given.draw.percent(45) {
            return json!(given.session());
        }
        let id = given.task().map_or_else(|| "00000000".to_owned(), |(id, _)| id);
        json!(given.pointer(&id))
    });
    given.maybe(94, "text", |given| json!(texts::long(given.draw, 2_000)));
    given.maybe(20, "session_ref", |given| json!(given.session()));
    given.maybe(20, "ack", |given| {
        let known = World::of(&given.world.messages, given.project);
        let count = 1 + given.draw.below(3);
        let id = |given: &mut Given<'_>| match given.draw.any(&known) {
            Some(id) if given.draw.percent(95) => (*id).clone(),
            _ => "msg-00000000".to_owned(),
        };
        (0..count).map(|_| id(given)).collect()
    });
    key(given);
}

pub(super) fn check(given: &mut Given<'_>) {
    given.maybe(90, "task_id", |given| json!(given.reference()));
    given.maybe(15, "draft", |given| {
        let mut draft = Arguments::new();
        draft.insert("summary".to_owned(), given.short(SUMMARY_MAX));
        let id = memory(given);
        draft.insert("handoff_next".to_owned(), json!(format!("cargo test\nread {id}\nPrevious session: codex:1")));
        Value::Object(draft)
    });
}

pub(super) fn context(given: &mut Given<'_>) {
    given.maybe(65, "handoff", |given| {
        let Some((id, version)) = given.task() else {
            return json!("handoff: 00000000 v1");
        };
        let (short, at) = (&id[..8], given.expected(version));
        match given.draw.below(10) {
            0..6 => json!(format!("handoff: {short} v{at}")),
            6 => json!(id),
            7 => json!(format!("please go on: **HANDOFF:** `{short}` v{at}\nthanks")),
            8 => json!(given.reference()),
            _ => json!(texts::odd(given.draw)),
        }
    });
    given.maybe(30, "session_ref", |given| json!(given.session()));
}
