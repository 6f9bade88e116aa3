//! Work receipts: what a session says it did, what its client told, what is carried from its previous receipt.

use heyaira::domain::session::Observed;
use heyaira::error::Code;
use serde_json::{Value, json};

use crate::house::{CLAUDE, CODEX, House};

fn told(session_ref: Option<&str>) -> Observed {
    Observed {
        harness: Some("claude-code 2.1.332".to_owned()),
        model: Some("claude-opus-5-5".to_owned()),
        session_ref: session_ref.map(str::to_owned),
    }
}

/// The receipt of an answer without its version and verification.
fn facts(task: &Value) -> Value {
    let mut receipt = task["receipt"].clone();
    if let Some(fields) = receipt.as_object_mut() {
        fields.shift_remove("v");
        fields.shift_remove("verified");
    }
    receipt
}

#[test]
fn a_receipt_is_kept_with_the_version_that_it_came_with() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let whole = json!({
        "session_ref": CODEX,
        "harness": "codex 0.99",
        "model": "gpt-6",
        "branch": "feat/import",
        "base_commit": "4c19e7a",
        "result_commit": "9f3b2d1",
        "tests": "cargo test: 148 passed",
        "completed_work": "the parser",
        "next_step": "batch entries",
        "blockers": "none",
    });
    let answer = client.update(&task, 1, json!({"work_receipt": whole}));
    assert_eq!(answer["changed_fields"], json!(["summary", "receipts"]));
    client.update(&task, 2, json!({}));
    let read = client.get(&task);
    assert_eq!((&read["receipts"], &read["receipt"]["v"]), (&json!(1), &json!(2)));
    assert_eq!(read["receipt"]["verified"], "unverified");
    assert_eq!(facts(&read), whole);
}

#[test]
fn what_the_client_tells_fills_what_is_missing_and_is_marked() {
    let house = House::new();
    let client = house.client("maria").observed(told(Some(CLAUDE)));
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"work_receipt": {"branch": "main", "model": "claude-haiku-5"}}));
    let expected = json!({
        "session_ref": CLAUDE,
        "harness": "claude-code 2.1.332",
        "model": "claude-haiku-5",
        "branch": "main",
        "observed": ["session_ref", "harness"],
    });
    assert_eq!(facts(&client.get(&task)), expected);
}

#[test]
fn a_session_is_missing_only_if_it_is_neither_given_nor_observed() {
    let house = House::new();
    let client = house.client("maria").observed(told(None));
    let task = client.create("Import bank statements");
    let parts = ["work_receipt.session_ref is missing", "label:<words>"];
    for receipt in [json!({"branch": "main"}), json!({}), json!({"session_ref": ""})] {
        client.update_refused(&task, 1, json!({"work_receipt": receipt}), Code::InvalidArgument, &parts);
    }
    assert_eq!(client.version(&task), 1);
    client.update(&task, 1, json!({"work_receipt": {"session_ref": "label:afternoon"}}));
}

#[test]
fn a_session_reference_has_its_harness_in_front_and_is_no_path() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let wrong = [
        "0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31",
        "claude-code:",
        ":0d6a",
        "Claude Code:0d6a",
        "claude-code:/home/maria/.claude/projects/x.jsonl",
        "claude-code:C:\\temp\\x",
        "codex:a\nb",
    ];
    for session_ref in wrong {
        let receipt = json!({"work_receipt": {"session_ref": session_ref}});
        client.update_refused(&task, 1, receipt, Code::InvalidArgument, &["work_receipt.session_ref"]);
        let takeover = json!({"task_id": task, "expected_version": 1, "session_ref": session_ref});
        client.refused("task_takeover", takeover, Code::InvalidArgument, &["session_ref"]);
    }
    let right = [CLAUDE, CODEX, "desktop:local_1f", "run:2026-11-25-night", "label:night run / batch 2"];
    for (version, session_ref) in (1..).zip(right) {
        client.update(&task, version, json!({"work_receipt": {"session_ref": session_ref}}));
    }
}

#[test]
fn later_receipts_carry_what_the_same_session_said_before() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let first = json!({"session_ref": CODEX, "branch": "feat/import", "base_commit": "4c19e7a", "tests": "12 passed"});
    client.update(&task, 1, json!({"work_receipt": first}));
    let second = json!({"session_ref": CODEX, "result_commit": "9f3b2d1", "tests": "148 passed"});
    client.update(&task, 2, json!({"work_receipt": second}));
    let expected = json!({
        "session_ref": CODEX,
        "branch": "feat/import",
        "base_commit": "4c19e7a",
        "result_commit": "9f3b2d1",
        "tests": "148 passed",
        "carried": ["branch", "base_commit"],
    });
    let read = client.get(&task);
    assert_eq!(facts(&read), expected);
    assert_eq!(read["receipts"], 2);
    client.update(&task, 3, json!({"work_receipt": {"session_ref": CODEX, "branch": "", "blockers": "ci"}}));
    let read = client.get(&task);
    assert_eq!(read["receipt"]["carried"], json!(["base_commit", "result_commit", "tests"]));
    assert_eq!(read["receipt"].get("branch"), None);
}

#[test]
fn nothing_is_carried_from_another_session_or_over_a_takeover() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"work_receipt": {"session_ref": CODEX, "branch": "feat/import"}}));
    client.update(&task, 2, json!({"work_receipt": {"session_ref": CLAUDE, "tests": "none"}}));
    assert_eq!(facts(&client.get(&task)), json!({"session_ref": CLAUDE, "tests": "none"}));
    client.take_over(&task, 3, CLAUDE);
    client.update(&task, 4, json!({"work_receipt": {"session_ref": CLAUDE, "branch": "main"}}));
    assert_eq!(facts(&client.get(&task)), json!({"session_ref": CLAUDE, "branch": "main"}));
}

#[test]
fn a_session_carries_from_its_own_previous_receipt_past_that_of_another() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"work_receipt": {"session_ref": CODEX, "branch": "feat/import"}}));
    client.update(&task, 2, json!({"work_receipt": {"session_ref": CLAUDE, "tests": "review only"}}));
    client.update(&task, 3, json!({"work_receipt": {"session_ref": CODEX, "tests": "148 passed"}}));
    let expected = json!({"session_ref": CODEX, "branch": "feat/import", "tests": "148 passed", "carried": ["branch"]});
    assert_eq!(facts(&client.get(&task)), expected);
}

#[test]
fn a_receipt_that_came_with_the_takeover_is_carried() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let takeover = json!({
        "handoff_completed_append": format!("Taken over by session {CODEX}"),
        "work_receipt": {"session_ref": CODEX, "branch": "feat/import"},
    });
    client.update(&task, 1, takeover);
    let next = json!({"handoff_next": format!("cargo test\nPrevious session: {CODEX}")});
    let told = client.update(&task, 2, next).to_string();
    assert!(!told.contains("send work_receipt"), "it came: {told}");
    client.update(&task, 3, json!({"work_receipt": {"session_ref": CODEX, "tests": "148 passed"}}));
    let expected = json!({"session_ref": CODEX, "branch": "feat/import", "tests": "148 passed", "carried": ["branch"]});
    assert_eq!(facts(&client.get(&task)), expected);
}

#[test]
fn an_old_version_shows_the_receipt_of_its_time() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"work_receipt": {"session_ref": CODEX, "branch": "one"}}));
    client.update(&task, 2, json!({"work_receipt": {"session_ref": CODEX, "branch": "two"}}));
    let old = client.ok("task_get", json!({"task_id": task, "version": 2}));
    assert_eq!((&old["receipts"], &old["receipt"]["branch"]), (&json!(1), &json!("one")));
    let first = client.ok("task_get", json!({"task_id": task, "version": 1}));
    assert_eq!((&first["receipts"], first.get("receipt")), (&json!(0), None));
}

#[test]
fn long_fields_of_a_receipt_are_cut_with_the_call_for_the_rest() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let tests = (0..2_000).map(|number| format!("test {number} ok\n")).collect::<String>();
    client.update(&task, 1, json!({"work_receipt": {"session_ref": CODEX, "tests": tests}}));
    let read = client.get(&task);
    let cut = &read["receipt"]["cut"]["tests"];
    assert_eq!(cut["of"], tests.len());
    let mut whole = read["receipt"]["tests"].as_str().expect("text").to_owned();
    while whole.len() < tests.len() {
        let rest = json!({"task_id": task, "field": "receipt.tests", "offset": whole.len()});
        whole.push_str(client.ok("task_get", rest)["text"].as_str().expect("text"));
    }
    assert_eq!(whole, tests);
}
