//! What a project does with what is found: told, not told, or refused with everything that is found and nothing written.

use heyaira::error::Code;
use serde_json::{Value, json};

use super::good;
use crate::house::{House, merged, rules};

fn set(house: &House, rules: &[&str]) {
    house.owner().ok("project_set", json!({"project": "ledger", "rule": rules}));
}

fn prose() -> Value {
    merged(good(), json!({"summary": "Import bank statements", "handoff_next": "Go on.\nPrevious session: label:x"}))
}

#[test]
fn a_rule_that_is_off_is_silent_everywhere() {
    let house = House::new();
    set(
        &house,
        &["summary-one-sentence=off", "first-step-executable=off", "same-session=off", "no-hidden-characters=off"],
    );
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let answer = client.update(&task, 1, prose());
    assert_eq!(answer.get("warnings"), None, "{answer}");
    let check = client.ok("handoff_check", json!({"task_id": task}));
    assert_eq!((&check["grade"], &check["findings"]), (&json!("ready"), &json!([])));
    let made = client.ok("task_create", json!({"title": "pay\u{200b}load", "summary": "new"}));
    assert_eq!(made.get("warnings"), None, "{made}");
}

#[test]
fn what_is_refused_is_told_whole_and_nothing_is_written() {
    let house = House::new();
    set(&house, &["first-step-executable=refuse", "same-session=refuse"]);
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let parts = ["first-step-executable", "handoff_next", "same-session", "Nothing was written"];
    client.update_refused(&task, 1, prose(), Code::NotAllowed, &parts);
    assert_eq!(client.version(&task), 1);
    assert_eq!(client.get(&task)["handoff_next"], "");
    let answer = client.update(&task, 1, good());
    assert_eq!(answer.get("warnings"), None, "{answer}");
    // What stands there already stops no other change.
    set(&house, &["first-step-executable=warn", "same-session=warn"]);
    client.update(&task, 2, prose());
    set(&house, &["first-step-executable=refuse"]);
    client.update(&task, 3, json!({"priority": 1}));
    let check = client.ok("handoff_check", json!({"task_id": task}));
    assert!(rules(&check, "findings").contains(&"first-step-executable".to_owned()), "a check refuses nothing");
}

#[test]
fn hidden_characters_can_be_refused_on_every_write() {
    let house = House::new();
    set(&house, &["no-hidden-characters=refuse"]);
    let client = house.client("maria");
    let parts = ["zero-width", "U+200B", "Nothing was written"];
    client.refused("task_create", json!({"title": "pay\u{200b}load", "summary": "s"}), Code::NotAllowed, &parts);
    client.refused("memory_add", json!({"kind": "fact", "summary": "s\u{200b}"}), Code::NotAllowed, &parts);
    let task = client.create("t");
    client.update_refused(&task, 1, json!({"description": "a\u{200b}"}), Code::NotAllowed, &parts);
    client.refused("message_send", json!({"to": task, "text": "a\u{200b}"}), Code::NotAllowed, &parts);
    assert_eq!(client.version(&task), 1);
}

#[test]
fn a_takeover_is_never_refused_for_what_another_session_wrote() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, prose());
    let all: Vec<String> = ["first-step-executable", "states-distinguished", "repository-named", "same-session"]
        .iter()
        .map(|rule| format!("{rule}=refuse"))
        .collect();
    set(&house, &all.iter().map(String::as_str).collect::<Vec<_>>());
    let line = json!({"handoff_completed_append": "Taken over by session codex:1 at 2026-11-25T08:00:00Z."});
    let answer = client.update(&task, 2, line);
    assert_eq!(answer["version"], 3);
}
