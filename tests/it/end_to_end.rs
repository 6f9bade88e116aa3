//! The main job with the real program: one session hands off, a fresh one takes over.

use serde_json::json;

use crate::http::served::{Served, Way};
use crate::program::{Agent, Place};

#[test]
fn one_session_hands_off_and_a_fresh_one_takes_over_in_three_calls() {
    let place = Place::new();
    let (mut first, mut second) = (place.server(), place.server());
    hand_over(&place, &mut first, &mut second);
    assert_eq!(first.end(), Some(0));
    assert_eq!(second.end(), Some(0));
}

#[test]
fn it_does_so_over_the_network() {
    let place = Place::new();
    let served = Served::open(&place);
    hand_over(&place, &mut served.agent(&place, Way::Mcp), &mut served.agent(&place, Way::Mcp));
}

#[test]
fn it_does_so_from_one_way_in_to_another() {
    let place = Place::new();
    let served = Served::open(&place);
    hand_over(&place, &mut place.server(), &mut served.agent(&place, Way::Plain));
    let place = Place::new();
    let served = Served::open(&place);
    hand_over(&place, &mut served.agent(&place, Way::Mcp), &mut place.server());
}

/// One profile for both, whatever their way in.
fn hand_over(place: &Place, first: &mut dyn Agent, second: &mut dyn Agent) {
    let identity = first.call("server_identity", json!({})).expect("identity");
    assert_eq!(identity["project"], "ledger");
    assert!(!identity.to_string().contains(&place.write_context));

    let made = first
        .call(
            "task_create",
            json!({"title": "Import statements", "summary": "Agreed.", "completion_criteria": "- [ ] tests pass"}),
        )
        .expect("created");
    let task = made["task_id"].as_str().expect("an id").to_owned();
    let taken = first
        .call("task_takeover", json!({"task_id": task, "expected_version": 1, "session_ref": "label:first session"}))
        .expect("taken");
    assert_eq!(taken["version"], 2);
    assert_eq!(taken["status"], "in_progress");

    let decision = first
        .call(
            "memory_add",
            json!({"kind": "decision", "summary": "Amounts are integers.", "body": "No rounding.", "task_id": task}),
        )
        .expect("kept");
    let memory = decision["id"].as_str().expect("an id").to_owned();
    let handed = first
        .call(
            "task_update",
            json!({
                "task_id": task, "expected_version": 2, "status": "in_progress",
                "summary": "The parser is prepared and tested.",
                "handoff_completed_append": "Repository acme/ledger, branch feat/import, head 9f3b2d1.\nTested: 12 passed.\n\
                    Deployed: nothing.\nVerified in production: nothing.",
                "handoff_next": format!("cargo test -p import\nDecision: {memory}\nPrevious session: label:first session"),
                "handoff_blockers": "",
                "work_receipt": {
                    "session_ref": "label:first session", "harness": "tests 1", "model": "none", "branch": "feat/import",
                    "base_commit": "4c19e7a", "result_commit": "9f3b2d1", "tests": "cargo test: 12 passed",
                    "completed_work": "the parser", "next_step": "batch entries", "blockers": "",
                },
            }),
        )
        .expect("handed off");
    let line = handed["line"].as_str().expect("a line").to_owned();
    assert_eq!(line, format!("handoff: {} v3", &task[..8]));
    assert_eq!(handed.get("warnings"), None, "{handed}");

    // The successor: a client of its own, and three calls.
    second.call("server_identity", json!({})).expect("identity");
    let packet = second.call("continuity_context", json!({"handoff": line})).expect("the packet");
    assert_eq!(packet["version"], 3);
    assert!(packet["handoff_next"].as_str().expect("a text").starts_with("cargo test -p import"));
    assert_eq!(packet["memories"][0]["id"], json!(memory));
    assert_eq!(packet["memories"][0]["body"], "No rounding.");
    assert_eq!(packet["receipt"]["result_commit"], "9f3b2d1");
    assert_eq!(packet["open_boxes"], json!(["tests pass"]));
    let taken = second
        .call("task_takeover", json!({"task_id": task, "expected_version": 3, "session_ref": "label:second session"}))
        .expect("taken");
    assert_eq!(taken["version"], 4);
    assert_eq!(taken["owner"], "label:second session");

    let refused = first
        .call("task_update", json!({"task_id": task, "expected_version": 3, "summary": "One more thing."}))
        .expect_err("the first session is late");
    assert!(refused.starts_with("version_conflict: "), "{refused}");
    assert!(refused.contains("at version 4, you sent 3"), "{refused}");
    assert!(refused.contains("session \"label:second session\" has taken it over"), "{refused}");

    let done = second
        .call(
            "task_update",
            json!({
                "task_id": task, "expected_version": 4, "status": "done", "summary": "Imported.",
                "completion_criteria": "- [x] tests pass", "result": "All files parse.",
            }),
        )
        .expect("done");
    assert_eq!(done["version"], 5);
    let seen = place.ask(&["task", "get", &task[..8]]);
    assert_eq!(seen["status"], "done");
    assert!(
        seen["handoff_completed"]
            .as_str()
            .expect("a text")
            .starts_with("Taken over by session label:first session at ")
    );
    let results = second.call("memory_search", json!({"kind": "result"})).expect("found");
    assert_eq!(results["total"], 1);
    assert_eq!(place.bare(&["verify"]).code, 0);
}
