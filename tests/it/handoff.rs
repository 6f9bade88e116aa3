//! Handoffs: when one is pending, the line that is pasted, what is checked and warned about.

mod any;
mod files;
mod fixtures;
mod grades;
mod hidden;
mod judged;
mod languages;
mod round_trip;
mod rules;
mod settings;
mod steps;

use heyaira::error::Code;
use serde_json::{Value, json};

use crate::house::{CLAUDE, CODEX, Client, House, merged, rows, rules, short, text};

const ID: &str = "1a2b3c4d-4f0b-4c1d-9a77-51c2b0e6d9f4";

fn next_of(session_ref: &str) -> Value {
    json!({"handoff_next": format!("cargo test -p import\nPrevious session: {session_ref}")})
}

fn receipt_of(session_ref: &str) -> Value {
    json!({"work_receipt": {"session_ref": session_ref}})
}

fn state(client: &Client<'_>, task: &str) -> Value {
    client.get(task)["handoff"]["state"].clone()
}

#[test]
fn next_steps_with_their_last_line_and_a_receipt_make_a_handoff() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, merged(next_of(CLAUDE), receipt_of(CLAUDE)));
    let expected = json!({"state": "pending", "version": 2, "at": "2026-11-25T08:00:00Z", "by": CLAUDE});
    assert_eq!(client.get(&task)["handoff"], expected);
}

#[test]
fn both_halves_may_come_in_several_updates() {
    let house = House::new();
    let client = house.client("maria");
    for halves in [[next_of(CLAUDE), receipt_of(CLAUDE)], [receipt_of(CLAUDE), next_of(CLAUDE)]] {
        let task = client.create("Import bank statements");
        let [first, second] = halves;
        client.update(&task, 1, first);
        assert_eq!(state(&client, &task), json!(null));
        client.update(&task, 2, json!({"summary": "between"}));
        client.update(&task, 3, second);
        assert_eq!(client.get(&task)["handoff"]["version"], 4);
    }
}

#[test]
fn half_a_handoff_is_none() {
    let house = House::new();
    let client = house.client("maria");
    let without_line = json!({"handoff_next": "cargo test", "work_receipt": {"session_ref": CLAUDE}});
    let line_not_last = json!({
        "handoff_next": format!("Previous session: {CLAUDE}\ncargo test"),
        "work_receipt": {"session_ref": CLAUDE},
    });
    let nobody = json!({"handoff_next": "cargo test\nPrevious session:", "work_receipt": {"session_ref": CLAUDE}});
    let finished = merged(merged(next_of(CLAUDE), receipt_of(CLAUDE)), json!({"status": "cancelled"}));
    for more in [next_of(CLAUDE), receipt_of(CLAUDE), without_line, line_not_last, nobody, finished] {
        let task = client.create("Import bank statements");
        client.update(&task, 1, more.clone());
        assert_eq!(state(&client, &task), json!(null), "{more}");
    }
}

#[test]
fn a_handoff_from_before_a_takeover_does_not_count_after_it() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.hand_off(&task, 1, CLAUDE);
    client.take_over(&task, 2, CODEX);
    client.update(&task, 3, receipt_of(CODEX));
    assert_eq!(state(&client, &task), "taken_over");
    client.update(&task, 4, next_of(CODEX));
    let handoff = client.get(&task)["handoff"].clone();
    assert_eq!((&handoff["state"], &handoff["version"]), (&json!("pending"), &json!(5)));
}

#[test]
fn clearing_the_next_steps_or_finishing_ends_a_pending_handoff() {
    let house = House::new();
    let client = house.client("maria");
    for more in [json!({"handoff_next": ""}), json!({"status": "done", "result": "r"}), json!({"status": "cancelled"})]
    {
        let task = client.create("Import bank statements");
        client.hand_off(&task, 1, CLAUDE);
        client.update(&task, 2, more);
        assert_eq!(state(&client, &task), json!(null));
    }
}

#[test]
fn a_write_by_another_session_continues_a_handoff_and_does_not_take_it() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.hand_off(&task, 1, CLAUDE);
    house.session("tomas", CODEX).update(&task, 2, json!({"summary": "went on"}));
    let packet = client.ok("continuity_context", json!({"handoff": task}));
    assert_eq!((packet.get("pending").is_some(), &packet["continued_by"]), (true, &json!(CODEX)));
    assert_eq!(state(&client, &task), "pending");
}

#[test]
fn rw_065_a_pasted_line_is_read_in_every_shape() {
    let house = House::new();
    house.next_ids(&[ID]);
    let (client, tomas) = (house.client("maria"), house.person("tomas"));
    let task = client.create("Import bank statements");
    for version in 1..5 {
        client.update(&task, version, json!({}));
    }
    tomas.ok("task_update", json!({"task_id": task, "expected_version": 5, "priority": 1}));
    let lines = [
        "handoff: 1a2b3c4d v5",
        "Handoff: 1A2B3C4D  v5.",
        "`handoff: 1a2b3c4d v5`",
        "handoff:\n1a2b3c4d\n  v5",
        "> **handoff:** `1a2b3c4d v5`",
        "Please continue with \"handoff: 1a2b3c4d v5\", thank you.",
        "handoff: 1a2b3c4d-4f0b-4c1d-9a77-51c2b0e6d9f4 v5",
        "1a2b3c4d v5",
    ];
    let change = json!({"v": 6, "who": "tomas", "at": "2026-11-25T08:00Z", "fields": ["priority"]});
    for line in lines {
        let packet = client.ok("continuity_context", json!({"handoff": line}));
        assert_eq!((&packet["task_id"], &packet["version"]), (&json!(ID), &json!(6)), "{line}");
        assert_eq!(packet["moved"], json!({"from": 5, "to": 6, "changes": [change]}), "{line}");
    }
    assert_eq!(client.ok("task_get", json!({"task_id": ID, "version": 5}))["priority"], 2);
    let packet = client.ok("continuity_context", json!({"handoff": "handoff: 1a2b3c4d"}));
    assert_eq!(packet.get("moved"), None);
    assert!(text(&packet["note"]).contains("no version"), "{packet}");
    let short_line = json!({"handoff": "handoff: 1a2b3c v5"});
    client.refused("continuity_context", short_line, Code::InvalidArgument, &["handoff", "all 8"]);
}

#[test]
fn rw_065_a_version_above_the_current_one_is_another_server_or_lost_data() {
    let house = House::new();
    house.next_ids(&["8e287857-4f0b-4c1d-9a77-51c2b0e6d9f4"]);
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    for version in 1..5 {
        client.update(&task, version, json!({}));
    }
    let told = client.refused("continuity_context", json!({"handoff": "handoff: 8e287857 v9"}), Code::NotFound, &[]);
    let expected = "not_found: task 8e287857 is at version 5, the line says v9. This is another server or data was \
        lost: stop and tell the owner.";
    assert_eq!(told, expected);
}

#[test]
fn what_is_no_line_is_an_argument_error() {
    let house = House::new();
    let client = house.client("maria");
    client.create("Import bank statements");
    let lines = [
        "handoff:",
        "handoff: v5",
        "handoff: nothing v5",
        "handoff: 1a2b3c4d v0",
        "handoff: 1a2b3c4d 5",
        "handoff: 1a2b3c4d v99999999999999999999",
        "1a2",
        "hello",
    ];
    for line in lines {
        client.refused("continuity_context", json!({"handoff": line}), Code::InvalidArgument, &["handoff"]);
    }
    client.refused("continuity_context", json!({"handoff": "handoff: ffffffff v1"}), Code::NotFound, &["ffffffff"]);
}

/// An update after which the present rules find nothing.
fn good() -> Value {
    json!({
        "status": "in_progress",
        "summary": "Importer works on staging for 208 of 212 pilot files.",
        "handoff_completed": "Repository acme/ledger.\nPrepared: the parser.\nTested: cargo test --workspace: 148 passed.\n\
            Deployed: nothing.\nVerified in production: nothing.",
        "handoff_next": format!("git switch feat/import && cargo test -p import\nPrevious session: {CLAUDE}"),
        "work_receipt": {
            "session_ref": CLAUDE,
            "harness": "claude-code 2.1.332",
            "model": "claude-opus-5-5",
            "branch": "feat/import",
            "base_commit": "4c19e7a",
            "result_commit": "9f3b2d1",
            "tests": "cargo test --workspace: 148 passed, 0 failed",
            "completed_work": "the parser",
            "next_step": "batch entries",
            "blockers": "none",
        },
    })
}

/// The receipt of a good update with some fields changed.
fn receipt(more: Value) -> Value {
    json!({"work_receipt": merged(good()["work_receipt"].clone(), more)})
}

#[test]
fn a_good_handoff_has_no_findings_and_no_warnings() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let answer = client.update(&task, 1, good());
    assert_eq!(answer.get("warnings"), None, "{answer}");
    let check = client.ok("handoff_check", json!({"task_id": short(&task)}));
    assert_eq!(check, json!({"task_id": task, "version": 2, "grade": "ready", "findings": []}));
}

#[test]
fn an_update_tells_what_it_saved() {
    let house = House::new();
    house.next_ids(&["8e287857-4f0b-4c1d-9a77-51c2b0e6d9f4"]);
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let answer = client.update(&task, 1, good());
    let (next, completed) = (good()["handoff_next"].clone(), good()["handoff_completed"].clone());
    let expected = json!({
        "task_id": "8e287857-4f0b-4c1d-9a77-51c2b0e6d9f4",
        "version": 2,
        "line": "handoff: 8e287857 v2",
        "changed_fields": ["status", "summary", "owner", "handoff_next", "handoff_completed", "receipts"],
        "saved": {
            "handoff_next": text(&next).chars().count(),
            "handoff_completed": text(&completed).chars().count(),
        },
    });
    assert_eq!(answer, expected);
}

#[test]
fn each_rule_finds_its_own_defect() {
    let house = House::new();
    let client = house.client("maria");
    let ids = |answer: &Value| text(&answer["id"]).to_owned();
    let old = ids(&client.ok("memory_add", json!({"kind": "decision", "summary": "MySQL"})));
    let new = ids(&client.ok("memory_add", json!({"kind": "decision", "summary": "PostgreSQL", "supersedes": old})));
    let naming = |id: &str| json!({"handoff_next": format!("cargo test\nSee {id}.\nPrevious session: {CLAUDE}")});
    let cases = [
        (json!({"summary": "import bank statements"}), "summary-one-sentence", "summary"),
        (json!({"handoff_next": format!("Previous session: {CLAUDE}")}), "first-step-executable", "handoff_next"),
        (json!({"handoff_next": "cargo test -p import"}), "previous-session-line", "handoff_next"),
        (
            json!({"handoff_next": "cargo test\nPrevious session: /tmp/claude/x.jsonl"}),
            "previous-session-line",
            "handoff_next",
        ),
        (naming("m-00000000"), "memories-exist", "handoff_next"),
        (naming(&old), "memories-exist", "handoff_next"),
        (json!({"handoff_blockers": "Needs a key from ops."}), "blocker-three-parts", "handoff_blockers"),
        (receipt(json!({"model": ""})), "receipt-complete", "work_receipt.model"),
        (receipt(json!({"result_commit": ""})), "branch-and-commit", "work_receipt.result_commit"),
    ];
    for (more, rule, field) in cases {
        let task = client.create("Import bank statements");
        let answer = client.update(&task, 1, merged(good(), more.clone()));
        assert_eq!(rules(&answer, "warnings"), [rule], "{more}");
        assert_eq!(answer["warnings"][0]["field"], field);
        assert!(!text(&answer["warnings"][0]["fix"]).is_empty());
        let check = client.ok("handoff_check", json!({"task_id": task}));
        assert_eq!(rules(&check, "findings"), [rule], "{more}");
        assert_ne!(check["grade"], "ready");
    }
    let task = client.create("Import bank statements");
    assert_eq!(client.update(&task, 1, merged(good(), naming(&new))).get("warnings"), None);
}

#[test]
fn a_superseded_memory_is_named_with_its_successor() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let add = |more: Value| text(&client.ok("memory_add", merged(json!({"kind": "decision"}), more))["id"]).to_owned();
    let old = add(json!({"summary": "MySQL"}));
    let new = add(json!({"summary": "PostgreSQL", "supersedes": old}));
    let more = json!({"handoff_next": format!("cargo test\n{old}\nPrevious session: {CLAUDE}")});
    let answer = client.update(&task, 1, merged(good(), more));
    let fix = text(&answer["warnings"][0]["fix"]);
    assert!(fix.contains(&old) && fix.contains(&new), "{fix}");
}

#[test]
fn a_decision_of_this_session_that_no_text_names_is_told() {
    let house = House::new();
    let client = house.session("maria", CLAUDE);
    let task = client.create("Import bank statements");
    let decision = json!({"kind": "decision", "summary": "Minor units.", "task_id": task});
    let id = text(&client.ok("memory_add", decision)["id"]).to_owned();
    let answer = client.update(&task, 1, good());
    assert_eq!(rules(&answer, "warnings"), ["memories-exist"]);
    assert!(text(&answer["warnings"][0]["fix"]).contains(&id));
}

#[test]
fn warnings_come_only_with_touched_handoff_fields() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"handoff_next": "no last line", "handoff_blockers": "contradicts"}));
    for more in [json!({"priority": 1}), json!({"title": "New title", "tags": ["a"]}), json!({"description": "d"})] {
        let version = client.version(&task);
        let answer = client.update(&task, version, more.clone());
        assert_eq!(answer.get("warnings"), None, "{more}");
    }
    let answer = client.update(&task, 5, json!({"handoff_completed": "Prepared: nothing."}));
    assert_eq!(answer.get("warnings"), None, "only on changed fields: {answer}");
}

#[test]
fn an_update_has_at_most_five_warnings() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create_with("t", json!({"description": "a long description ".repeat(40)}));
    let more = json!({
        "handoff_next": "m-00000000",
        "handoff_completed": "m-00000001",
        "handoff_blockers": "m-00000002",
        "description": "",
    });
    let answer = client.update(&task, 1, more);
    assert_eq!(rows(&answer["warnings"]).len(), 5, "{answer}");
    assert!(rules(&answer, "warnings").contains(&"text-dropped".to_owned()), "the loss is told: {answer}");
}

#[test]
fn a_draft_is_checked_without_being_saved() {
    let house = House::new();
    let person = house.person("tomas");
    let task = person.create("Import bank statements");
    let draft = merged(good(), json!({"handoff_next": "cargo test"}));
    let check = person.ok("handoff_check", json!({"task_id": task, "draft": draft}));
    assert_eq!(rules(&check, "findings"), ["previous-session-line"]);
    let check = person.ok("handoff_check", json!({"draft": good()}));
    assert_eq!(check["findings"], json!([]));
    assert_eq!(person.version(&task), 1);
}

#[test]
fn a_saved_task_without_a_handoff_is_thin() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let check = client.ok("handoff_check", json!({"task_id": task}));
    assert_eq!(check["grade"], "thin");
    for one in rows(&check["findings"]) {
        let fields = one.as_object().expect("an object").keys().collect::<Vec<_>>();
        assert_eq!(fields, ["rule", "level", "field", "fix"]);
        assert!(one["level"] == "error" || one["level"] == "warning");
    }
}

#[test]
fn an_update_that_completes_a_handoff_is_told_what_it_lacks() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let mut first = good();
    let next = first.as_object_mut().expect("an object").remove("handoff_next").expect("next steps");
    first["handoff_completed"] = json!("Prepared: parser in crates/import/src/camt.rs.");
    client.update(&task, 1, first);
    let answer = client.update(&task, 2, json!({"handoff_next": next}));
    let check = client.ok("handoff_check", json!({"task_id": task}));
    let of = |list: &Value| -> Vec<(String, String)> {
        rows(list).iter().map(|one| (text(&one["rule"]).to_owned(), text(&one["field"]).to_owned())).collect()
    };
    assert_eq!(of(&answer["warnings"]), of(&check["findings"]), "{answer}");
    assert!(rules(&answer, "warnings").contains(&"states-distinguished".to_owned()), "{answer}");
    // Another write to the handoff that waits is told of its own fields.
    let answer = client.update(&task, 3, json!({"handoff_blockers": ""}));
    assert_eq!(answer.get("warnings"), None, "{answer}");
}
