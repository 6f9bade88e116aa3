//! The arguments of calls about tasks.

use heyaira::domain::text::{SUMMARY_MAX, TITLE_MAX};
use serde_json::{Value, json};

use super::Given;
use crate::twins::texts;

/// The text fields of a task.
const TEXTS: [&str; 6] =
    ["description", "completion_criteria", "required_reviews", "handoff_next", "handoff_blockers", "handoff_completed"];
const STATUSES: [&str; 5] = ["todo", "in_progress", "blocked", "done", "cancelled"];

pub(super) fn create(given: &mut Given<'_>) {
    let title = given.short(TITLE_MAX);
    given.put("title", title);
    given.maybe(97, "summary", |given| given.short(SUMMARY_MAX));
    given.maybe(50, "priority", |given| json!(given.draw.between(0, 4)));
    given.maybe(55, "tags", Given::tags);
    given.maybe(25, "parent", |given| json!(other_task(given)));
    given.maybe(20, "depends_on", other_tasks);
    for name in &TEXTS[..3] {
        given.maybe(25, name, Given::long);
    }
    key(given);
}

/// A word by which a repetition is known; the same few come again and again.
pub(super) fn key(given: &mut Given<'_>) {
    given.maybe(14, "idempotency_key", |given| match given.draw.below(12) {
        0 => json!(texts::odd(given.draw)),
        1 => json!("鍵".repeat(200 + given.draw.below(2))),
        _ => json!(format!("key {}", given.draw.below(60))),
    });
}

pub(super) fn other_task(given: &mut Given<'_>) -> String {
    match given.task() {
        Some((id, _)) => given.pointer(&id),
        None => "00000000".to_owned(),
    }
}

fn other_tasks(given: &mut Given<'_>) -> Value {
    let count = given.draw.below(4);
    (0..count).map(|_| other_task(given)).collect()
}

/// Names a task and the version that was read; answers the task's version.
fn task_at_version(given: &mut Given<'_>) -> i64 {
    let (id, version) = given.task().unwrap_or_else(|| ("00000000".to_owned(), 1));
    let (pointer, expected) = (given.pointer(&id), given.expected(version));
    given.put("task_id", pointer);
    given.put("expected_version", expected);
    version
}

pub(super) fn update(given: &mut Given<'_>) {
    task_at_version(given);
    given.maybe(97, "summary", |given| given.short(SUMMARY_MAX));
    match given.draw.below(10) {
        0..3 => hand_off(given),
        3 => finish(given),
        4 => block(given),
        _ => change(given),
    }
    given.maybe(35, "replace", |given| json!(given.draw.percent(80)));
    key(given);
}

fn hand_off(given: &mut Given<'_>) {
    given.maybe(70, "status", |_| json!("in_progress"));
    let session = given.session();
    let named = match given.draw.any(&crate::twins::world::World::of(&given.world.memories, given.project)) {
        Some(id) => format!("read {id}"),
        None => "read m-00000000".to_owned(),
    };
    let steps = texts::sentence(given.draw, 12);
    given.put("handoff_next", format!("cargo test -p import\n{steps}\n{named}\nPrevious session: {session}"));
    let receipt = receipt(given, &session);
    given.put("work_receipt", receipt);
    given.maybe(40, "handoff_completed_append", Given::long);
    given.maybe(10, "handoff_completed", Given::long);
    given.maybe(20, "handoff_blockers", |given| given.short(200));
}

fn receipt(given: &mut Given<'_>, session: &str) -> Value {
    let mut receipt = json!({});
    if given.draw.percent(80) {
        receipt["session_ref"] = json!(session);
    }
    for name in ["harness", "model", "branch", "base_commit", "result_commit", "tests", "completed_work", "next_step"] {
        if given.draw.percent(45) {
            receipt[name] = json!(texts::short(given.draw, 2_000));
        }
    }
    if given.draw.percent(5) {
        receipt["blockers"] = given.long();
    }
    receipt
}

pub(super) fn show_receipt(given: &mut Given<'_>) {
    given.task_id_to_read();
    given.maybe(30, "receipt_version", |given| json!(given.draw.between(1, 6)));
    given.maybe(30, "facts", facts);
}

pub(super) fn record_receipt(given: &mut Given<'_>) {
    let (id, version) = given.task().unwrap_or_else(|| ("00000000".to_owned(), 1));
    let pointer = given.pointer(&id);
    given.put("task_id", pointer);
    let last = given.draw.percent(70);
    let version = if last { version } else { given.draw.between(1, version.max(2)) };
    given.put("receipt_version", json!(version));
    let facts = facts(given);
    given.put("facts", facts);
    key(given);
}

/// What git could have said, or nobody's git.
fn facts(given: &mut Given<'_>) -> Value {
    let at = "2026-11-25T08:00:00Z";
    let commit = |given: &mut Given<'_>| {
        let found = *given.draw.pick(&["commit", "missing", "ambiguous", "no_commit", "no_hash"]);
        json!({"at": at, "found": found, "id": "4c19e7a0", "candidates": 2})
    };
    let mut facts = json!({
        "at": at,
        "path": texts::short(given.draw, 80),
        "repository": {"at": at, "shallow": given.draw.percent(20)},
        "branch": {"at": at, "is_name": given.draw.percent(90), "local": "4c19e7a0"},
        "base_commit": commit(given),
        "result_commit": commit(given),
        "result": {"at": at, "on_branch": given.draw.percent(60), "descends_from_base": given.draw.percent(70)},
    });
    if given.draw.percent(10) {
        facts["obstacle"] = json!({"kind": "no_git", "told": texts::short(given.draw, 80)});
    }
    facts
}

fn finish(given: &mut Given<'_>) {
    let status = if given.draw.percent(75) { "done" } else { "cancelled" };
    given.put("status", status);
    given.maybe(80, "result", Given::long);
    given.maybe(75, "completion_criteria", |given| json!(texts::boxes(given.draw).replace("[ ]", "[x]")));
    given.maybe(75, "required_reviews", |_| json!(""));
}

fn block(given: &mut Given<'_>) {
    given.put("status", "blocked");
    given.maybe(85, "handoff_blockers", |given| {
        json!(format!("the bank moves next {}", texts::sentence(given.draw, 6)))
    });
}

fn change(given: &mut Given<'_>) {
    given.maybe(15, "title", |given| given.short(TITLE_MAX));
    given.maybe(30, "status", |given| json!(given.draw.pick(&STATUSES)));
    given.maybe(20, "priority", |given| json!(given.draw.between(0, 4)));
    given.maybe(20, "tags", Given::tags);
    given.maybe(20, "parent", |given| if given.draw.percent(30) { json!("") } else { json!(other_task(given)) });
    given.maybe(20, "depends_on", other_tasks);
    given.maybe(12, "owner", |given| match given.draw.below(4) {
        0 => json!(""),
        1 => json!(texts::short(given.draw, 200)),
        _ => json!(given.session()),
    });
    for name in TEXTS {
        given.maybe(15, name, Given::long);
    }
    given.maybe(10, "handoff_completed_append", |given| given.short(2_000));
    given.maybe(8, "work_receipt", |given| {
        let session = given.session();
        receipt(given, &session)
    });
    given.maybe(5, "result", Given::long);
}

pub(super) fn takeover(given: &mut Given<'_>) {
    task_at_version(given);
    given.maybe(70, "session_ref", |given| json!(given.session()));
    given.maybe(45, "force", |given| json!(given.draw.percent(85)));
}

pub(super) fn get(given: &mut Given<'_>) {
    const FIELDS: [&str; 14] = [
        "title",
        "summary",
        "description",
        "completion_criteria",
        "required_reviews",
        "handoff_next",
        "handoff_blockers",
        "handoff_completed",
        "tags",
        "memories",
        "open_boxes",
        "receipt.tests",
        "receipt.completed_work",
        "nothing",
    ];
    let (id, version) = given.task().unwrap_or_else(|| ("00000000".to_owned(), 1));
    let reference = if given.draw.percent(60) { id } else { given.reference() };
    given.put("task_id", reference);
    let past = i64::from(given.draw.percent(5));
    let old = given.draw.between(1, version.max(1) + past);
    match given.draw.below(10) {
        0..3 => given.put("version", old),
        3..6 => given.put("since_version", old),
        _ => {}
    }
    let chance = if given.arguments.contains_key("since_version") { 4 } else { 30 };
    given.maybe(chance, "field", |given| {
        let messages = crate::twins::world::World::of(&given.world.messages, given.project);
        match given.draw.any(&messages) {
            Some(id) if given.draw.percent(15) => json!(format!("message.{id}")),
            _ => json!(given.draw.pick(&FIELDS)),
        }
    });
    if given.arguments.contains_key("field") {
        let far = given.draw.between(0, 300);
        let offset = *given.draw.pick(&[0, 1, far, far, 99_999, i64::MAX]);
        given.maybe(40, "offset", |_| json!(offset));
    }
}

pub(super) fn history(given: &mut Given<'_>) {
    given.task_id_to_read();
    given.limit();
    given.maybe(40, "before", |given| json!(*given.draw.pick(&[1, 2, 3, 5, 8, 13, i64::MAX])));
}

pub(super) fn revert(given: &mut Given<'_>) {
    let version = task_at_version(given);
    if given.draw.percent(40) {
        given.arguments.shift_remove("expected_version");
    }
    let past = i64::from(given.draw.percent(10));
    let to = given.draw.between(1, version + past);
    given.put("to", to);
}

pub(super) fn list(given: &mut Given<'_>) {
    given.maybe(40, "query", Given::query);
    if !given.arguments.contains_key("query") || given.draw.percent(40) {
        filters(given);
    }
    given.maybe(60, "sort", |given| json!(given.draw.pick(&["updated", "created", "priority"])));
    given.limit();
    given.maybe(2, "cursor", |given| json!(texts::odd(given.draw)));
}

fn filters(given: &mut Given<'_>) {
    given.maybe(
        30,
        "status",
        |given| {
            if given.draw.percent(35) { json!("open") } else { json!(given.draw.pick(&STATUSES)) }
        },
    );
    given.maybe(15, "tag", |given| match given.draw.any(&given.world.tags) {
        Some(tag) => json!(tag),
        None => json!("urgent"),
    });
    given.maybe(10, "owner", |given| match given.draw.any(&given.world.owners) {
        Some(owner) if given.draw.percent(70) => json!(owner),
        _ => json!(given.session()),
    });
    given.maybe(12, "parent", |given| json!(given.reference()));
    for (chance, name) in [(14, "ready"), (14, "pending_handoff"), (12, "stale")] {
        given.maybe(chance, name, |given| json!(given.draw.percent(70)));
    }
}
