//! Takeovers: by `task_takeover`, and the textual way by one last line of `handoff_completed`.

use heyaira::error::Code;
use serde_json::{Value, json};

use crate::house::{CLAUDE, CODEX, Client, House, rows, short, text};

const ID: &str = "8e287857-4f0b-4c1d-9a77-51c2b0e6d9f4";
const DONE: &str = "Prepared: the parser.\nTested: cargo test: 148 passed.";

/// A task with a handoff by Claude Code, at version 2.
fn handed_off(client: &Client<'_>) -> String {
    let task = client.create("Import bank statements");
    let arguments = json!({
        "status": "in_progress",
        "handoff_completed": DONE,
        "handoff_next": format!("cargo test -p import\nPrevious session: {CLAUDE}"),
        "work_receipt": {"session_ref": CLAUDE},
    });
    client.update(&task, 1, arguments);
    task
}

#[test]
fn a_takeover_adds_one_line_and_makes_the_session_the_owner() {
    let house = House::new();
    house.next_ids(&[ID]);
    let client = house.client("maria");
    let task = handed_off(&client);
    let answer = client.take_over(&task, 2, CODEX);
    let expected = json!({
        "task_id": ID,
        "version": 3,
        "status": "in_progress",
        "owner": CODEX,
        "line": "handoff: 8e287857 v3",
        "messages": [],
    });
    assert_eq!(answer, expected);
    let read = client.get(&task);
    assert_eq!(read["handoff_completed"], format!("{DONE}\nTaken over by session {CODEX} at 2026-11-25T08:00:00Z."));
    let handoff = json!({"state": "taken_over", "version": 3, "at": "2026-11-25T08:00:00Z", "by": CODEX});
    assert_eq!(read["handoff"], handoff);
    assert_eq!(client.ok("task_list", json!({"pending_handoff": true}))["total"], 0);
}

#[test]
fn a_takeover_is_by_the_given_session_else_the_observed_one_else_the_caller() {
    let house = House::new();
    let observed = house.session("maria", CODEX);
    let cases = [(&observed, json!(CLAUDE), CLAUDE), (&observed, json!(null), CODEX)];
    for (client, given, owner) in cases {
        let task = client.create("Import bank statements");
        let arguments = json!({"task_id": task, "expected_version": 1, "session_ref": given});
        assert_eq!(client.ok("task_takeover", arguments)["owner"], owner);
    }
    let person = house.person("tomas");
    let task = person.create("Import bank statements");
    assert_eq!(person.ok("task_takeover", json!({"task_id": task, "expected_version": 1}))["owner"], "tomas");
}

#[test]
fn todo_becomes_in_progress_and_blocked_stays_blocked() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("New");
    assert_eq!(client.take_over(&task, 1, CODEX)["status"], "in_progress");
    let task = client.create("Blocked");
    client.update(&task, 1, json!({"status": "blocked", "handoff_blockers": "CI; ops; a runner."}));
    assert_eq!(client.take_over(&task, 2, CODEX)["status"], "blocked");
}

#[test]
fn finished_tasks_cannot_be_taken_over() {
    let house = House::new();
    let client = house.client("maria");
    for (status, more) in
        [("done", json!({"status": "done", "result": "r"})), ("cancelled", json!({"status": "cancelled"}))]
    {
        let task = client.create("Import bank statements");
        client.update(&task, 1, more);
        let parts = [&format!("is {status}"), "reopen", "status=todo", "Nothing was written."];
        let parts: Vec<&str> = parts.iter().map(|part| part as &str).collect();
        let arguments = json!({"task_id": task, "expected_version": 2, "force": true});
        client.refused("task_takeover", arguments, Code::NotAllowed, &parts);
        let line = json!({"handoff_completed_append": "Taken over by session codex:s-2"});
        client.update_refused(&task, 2, line, Code::NotAllowed, &parts);
    }
}

#[test]
fn a_live_owner_is_protected_and_named_with_the_exact_call() {
    let house = House::new();
    house.next_ids(&[ID]);
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    for version in 1..9 {
        client.update(&task, version, json!({}));
    }
    client.take_over(&task, 9, CODEX);
    house.pass_minutes(4);
    let arguments = json!({"task_id": task, "expected_version": 10, "session_ref": CLAUDE});
    let told = client.refused("task_takeover", arguments.clone(), Code::NotAllowed, &[]);
    let expected = "not_allowed: session codex:01a2f6de-5c1b has this task and wrote 4 minutes ago. Ask the owner; to take it \
        all the same: task_takeover task_id=8e287857 expected_version=10 force=true.";
    assert_eq!(told, expected);
    let current = text(&client.get(&task)["handoff_completed"]).to_owned();
    let by_line = json!({"handoff_completed": format!("{current}\nTaken over by session {CLAUDE}")});
    client.update_refused(&task, 10, by_line, Code::NotAllowed, &["codex:01a2f6de", "expected_version=10 force=true"]);
    assert_eq!(client.version(&task), 10);
    let forced = crate::house::merged(arguments, json!({"force": true}));
    assert_eq!(client.ok("task_takeover", forced)["owner"], CLAUDE);
}

#[test]
fn an_owner_is_live_for_less_than_thirty_minutes() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.take_over(&task, 1, CODEX);
    house.pass_minutes(29);
    let arguments = json!({"task_id": task, "expected_version": 2, "session_ref": CLAUDE});
    client.refused("task_takeover", arguments.clone(), Code::NotAllowed, &["29 minutes"]);
    house.pass_minutes(1);
    assert_eq!(client.ok("task_takeover", arguments)["owner"], CLAUDE);
}

#[test]
fn writing_keeps_an_owner_live() {
    let house = House::new();
    let session = house.session("maria", CODEX);
    let task = session.create("Import bank statements");
    session.update(&task, 1, json!({"status": "in_progress"}));
    house.pass_minutes(40);
    session.update(&task, 2, json!({"summary": "still at it"}));
    house.pass_minutes(5);
    let arguments = json!({"task_id": task, "expected_version": 3, "session_ref": CLAUDE});
    house.client("maria").refused("task_takeover", arguments, Code::NotAllowed, &["codex:01a2f6de", "5 minutes"]);
}

#[test]
fn a_session_that_took_over_stays_live_by_what_it_writes_on_that_connection() {
    let house = House::new();
    // A client that tells nothing about its session; only the takeover names it.
    let (owner, other) = (house.client("maria"), house.client("maria"));
    let task = owner.create("Import bank statements");
    owner.take_over(&task, 1, CODEX);
    house.pass_minutes(40);
    owner.update(&task, 2, json!({"summary": "still at it"}));
    house.pass_minutes(5);
    let arguments = json!({"task_id": task, "expected_version": 3, "session_ref": CLAUDE});
    other.refused("task_takeover", arguments, Code::NotAllowed, &["codex:01a2f6de", "5 minutes"]);
}

#[test]
fn another_who_writes_does_not_keep_the_owner_live() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.take_over(&task, 1, CODEX);
    house.pass_minutes(40);
    house.person("tomas").ok("task_update", json!({"task_id": task, "expected_version": 2, "priority": 1}));
    assert_eq!(client.take_over(&task, 3, CLAUDE)["owner"], CLAUDE);
}

#[test]
fn a_session_that_handed_off_is_not_protected() {
    let house = House::new();
    let client = house.client("maria");
    let task = handed_off(&client);
    assert_eq!(client.take_over(&task, 2, CODEX)["owner"], CODEX);
}

#[test]
fn a_session_never_needs_force_against_itself() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.take_over(&task, 1, CODEX);
    assert_eq!(client.take_over(&task, 2, CODEX)["version"], 3);
}

#[test]
fn the_textual_way_is_the_current_text_with_one_last_line() {
    let house = House::new();
    let cases = [
        ("Taken over by session codex:s-2", "codex:s-2"),
        ("Taken over by session codex:s-2.", "codex:s-2"),
        ("Taken over by session codex:s-2 at 2026-11-25T08:00:00Z.", "codex:s-2"),
        ("Taken over by session codex:s-2 (previous session silent for 3 days)", "codex:s-2"),
        ("Taken over by session B", "B"),
        ("Taken over by session codex 2.1 of maria. More words.", "codex 2.1 of maria"),
        ("Taken over by session codex:s-2   \n\n", "codex:s-2"),
    ];
    for (line, owner) in cases {
        let client = house.client("maria");
        let task = handed_off(&client);
        client.update(&task, 2, json!({"handoff_completed": format!("{DONE}\n{line}")}));
        let read = client.get(&task);
        assert_eq!((&read["owner"], &read["handoff"]["state"]), (&json!(owner), &json!("taken_over")), "{line}");
        assert_eq!(read["handoff_completed"], format!("{DONE}\n{line}"));
    }
}

#[test]
fn line_ends_and_trailing_white_space_do_not_matter() {
    let house = House::new();
    let client = house.client("maria");
    let texts = [
        format!("{}\r\nTaken over by session codex:s-2\r\n", DONE.replace('\n', "\r\n")),
        format!("{}  \n\nTaken over by session codex:s-2", DONE.replace('\n', "  \n")).replace("\n\n", "\n"),
    ];
    for given in texts {
        let task = handed_off(&client);
        client.update(&task, 2, json!({"handoff_completed": given}));
        assert_eq!(client.get(&task)["owner"], "codex:s-2", "{given:?}");
    }
}

#[test]
fn the_textual_way_by_adding_only_the_line() {
    let house = House::new();
    let client = house.client("maria");
    let task = handed_off(&client);
    let line = json!({"handoff_completed_append": "Taken over by session codex:s-2", "summary": "taken over"});
    let answer = client.update(&task, 2, line);
    assert_eq!(answer["changed_fields"], json!(["summary", "owner", "handoff_completed"]));
    let read = client.get(&task);
    assert_eq!(read["owner"], "codex:s-2");
    assert_eq!(read["handoff_completed"], format!("{DONE}\nTaken over by session codex:s-2"));
    let history = house.person("maria").ok("task_history", json!({"task_id": task}));
    assert_eq!(history["versions"][0]["act"], "takeover");
}

#[test]
fn the_textual_way_into_an_empty_text() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"handoff_completed": "Taken over by session codex:s-2"}));
    let read = client.get(&task);
    assert_eq!((&read["owner"], &read["status"]), (&json!("codex:s-2"), &json!("in_progress")));
}

#[test]
fn an_observed_or_given_session_goes_before_the_words() {
    let house = House::new();
    let client = house.session("maria", CODEX);
    let task = handed_off(&house.client("maria"));
    let line = json!({"handoff_completed_append": "Taken over by session of this afternoon"});
    client.update(&task, 2, line.clone());
    assert_eq!(client.get(&task)["owner"], CODEX);
    let task = handed_off(&house.client("maria"));
    let given = json!({"work_receipt": {"session_ref": "codex:other"}});
    client.update(&task, 2, crate::house::merged(line, given));
    assert_eq!(client.get(&task)["owner"], "codex:other");
}

#[test]
fn an_owner_by_the_textual_way_is_live_too() {
    let house = House::new();
    let client = house.client("maria");
    let task = handed_off(&client);
    client.update(&task, 2, json!({"handoff_completed_append": "Taken over by session codex:s-2"}));
    house.pass_minutes(4);
    let arguments = json!({"task_id": task, "expected_version": 3, "session_ref": CLAUDE});
    house.client("tomas").refused("task_takeover", arguments, Code::NotAllowed, &["codex:s-2", "4 minutes"]);
}

#[test]
fn the_same_words_again_are_a_takeover_again() {
    let house = House::new();
    let client = house.client("maria");
    let task = handed_off(&client);
    let line = "Taken over by session codex:s-2";
    client.update(&task, 2, json!({"handoff_completed": format!("{DONE}\n{line}")}));
    client.hand_off(&task, 3, "codex:s-2");
    assert_eq!(client.get(&task)["handoff"]["state"], "pending");
    client.update(&task, 4, json!({"handoff_completed": format!("{DONE}\n{line}\n{line}")}));
    let handoff = client.get(&task)["handoff"].clone();
    assert_eq!((&handoff["state"], &handoff["version"]), (&json!("taken_over"), &json!(5)));
}

#[test]
fn a_new_last_line_beside_other_changes_is_refused_with_the_exact_call() {
    let house = House::new();
    let client = house.client("maria");
    let call = |task: &str| format!("task_takeover task_id={} expected_version=2", short(task));
    let line = "Taken over by session codex:s-2";
    let texts = [
        json!({"handoff_completed": line}),
        json!({"handoff_completed": format!("Prepared: nothing.\n{line}")}),
        json!({"handoff_completed": format!("{DONE}\nTested: more.\n{line}")}),
        json!({"handoff_completed_append": format!("Tested: more.\n{line}")}),
    ];
    for more in texts {
        let task = handed_off(&client);
        client.update_refused(&task, 2, more, Code::NotAllowed, &[&call(&task)]);
        assert_eq!(client.version(&task), 2);
    }
}

#[test]
fn rw_062_such_words_elsewhere_mean_nothing() {
    let house = House::new();
    let client = house.client("maria");
    let quoted = "Quoted from the manual:\nTaken over by session s-99\n---\nstatus: done\n## handoff_next\n\
        <!-- SECTION:NOTES:END -->\nreal end";
    let texts = [
        json!({"handoff_completed": format!("{DONE}\n{quoted}")}),
        json!({"handoff_completed_append": quoted}),
        json!({"handoff_completed_append": "The task was Taken over by session s-99"}),
        json!({"handoff_completed_append": "taken over by session s-99"}),
        json!({"handoff_next": format!("Taken over by session s-99\nPrevious session: {CLAUDE}")}),
        json!({"description": "Taken over by session s-99"}),
        json!({"summary": "Taken over by session s-99"}),
    ];
    for more in texts {
        let task = handed_off(&client);
        client.update(&task, 2, more.clone());
        let read = client.get(&task);
        let state = (&read["status"], &read["owner"], &read["handoff"]["state"]);
        assert_eq!(state, (&json!("in_progress"), &json!(CLAUDE), &json!("pending")), "{more}");
    }
    let task = handed_off(&client);
    client.update(&task, 2, texts_whole(quoted));
    assert_eq!(client.get(&task)["handoff_completed"], format!("{DONE}\n{quoted}"));
}

fn texts_whole(quoted: &str) -> Value {
    json!({"handoff_completed": format!("{DONE}\n{quoted}")})
}

#[test]
fn keeping_an_old_takeover_line_last_is_no_new_takeover() {
    let house = House::new();
    let client = house.client("maria");
    let task = handed_off(&client);
    client.take_over(&task, 2, CODEX);
    let line = format!("Taken over by session {CODEX} at 2026-11-25T08:00:00Z.");
    client.update(&task, 3, json!({"handoff_completed": format!("{DONE}\nTested: more.\n{line}")}));
    let read = client.get(&task);
    assert_eq!((&read["owner"], &read["handoff"]["version"]), (&json!(CODEX), &json!(3)));
}

#[test]
fn rw_064_of_two_successors_one_learns_that_the_other_has_it() {
    let house = House::new();
    let (first, second) = (house.client("maria"), house.client("tomas"));
    let task = handed_off(&first);
    house.pass_hours(14);
    let pending = first.ok("continuity_context", json!({}))["pending_handoffs"][0].clone();
    assert_eq!((&pending["age"], &pending["from"]), (&json!("14h"), &json!("claude-code:0d6a41c8")));
    let take = |client: &Client<'_>, name: &str| {
        let line = format!("{DONE}\nTaken over by session {name}");
        let more = json!({"handoff_completed": line, "summary": name});
        client.call("task_update", Client::update_arguments(&task, 2, more))
    };
    assert_eq!(take(&first, "B").expect("the first wins")["version"], 3);
    crate::house::refused(take(&second, "C"), Code::VersionConflict, &["version 3", "B has taken it over"]);
    let handoff = second.get(&task)["handoff"].clone();
    assert_eq!((&handoff["by"], &handoff["version"]), (&json!("B"), &json!(3)));
    assert_eq!(rows(&first.ok("continuity_context", json!({}))["pending_handoffs"]).len(), 0);
}

#[test]
fn an_owner_from_a_line_stays_short_in_lists() {
    let house = House::new();
    let client = house.client("maria");
    let task = handed_off(&client);
    let line = format!("Taken over by session {}", "x".repeat(20_000));
    // It may be refused or shown short; it may not fill every list.
    let _ = client.call("task_update", Client::update_arguments(&task, 2, json!({"handoff_completed_append": line})));
    for (name, arguments) in [("task_list", json!({})), ("task_get", json!({"task_id": task}))] {
        let size = client.ok(name, arguments).to_string().len();
        assert!(size <= 10_240, "{name}: {size} bytes");
    }
}

#[test]
fn a_text_over_the_limit_after_a_takeover_can_still_be_updated() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Long");
    client.update(&task, 1, json!({"handoff_completed": "a".repeat(99_990)}));
    client.ok("task_takeover", json!({"task_id": task, "expected_version": 2, "session_ref": "label:next"}));
    client.update(&task, 3, json!({"summary": "only the summary", "title": "Longer"}));
    let added =
        client.call("task_update", Client::update_arguments(&task, 4, json!({"handoff_completed_append": "more"})));
    assert_eq!(added.expect_err("over the limit").code, Code::TooLarge);
}

#[test]
fn a_takeover_line_does_not_go_with_status_todo() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Both");
    let both = json!({"status": "todo", "handoff_completed_append": "Taken over by session label:me at now."});
    let refused = client.call("task_update", Client::update_arguments(&task, 1, both)).expect_err("contradicts");
    assert_eq!(refused.code, Code::NotAllowed);
    assert_eq!(client.version(&task), 1);
}

#[test]
fn a_live_owner_is_protected_also_from_the_handoff_of_another() {
    let house = House::new();
    let (a, b, c) = (house.client("ann"), house.client("ben"), house.client("cid"));
    let task = a.create("Owned");
    a.ok("task_takeover", json!({"task_id": task, "expected_version": 1, "session_ref": "label:a"}));
    let foreign = json!({
        "handoff_next": "cargo test\nPrevious session: label:b", "work_receipt": {"session_ref": "label:b", "branch": "main"},
    });
    b.update(&task, 2, foreign);
    let claim = json!({"task_id": task, "expected_version": 3, "session_ref": "label:c"});
    assert_eq!(c.call("task_takeover", claim).expect_err("a is live").code, Code::NotAllowed);
}

#[test]
fn a_released_task_is_held_by_nobody() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Released");
    client.ok("task_takeover", json!({"task_id": task, "expected_version": 1, "session_ref": "label:a"}));
    client.update(&task, 2, json!({"status": "todo"}));
    let packet =
        house.client("ben").ok("continuity_context", json!({"handoff": format!("handoff: {} v3", &task[..8])}));
    assert_eq!((packet.get("taken_over"), packet.get("next")), (None, None), "{packet}");
    assert_eq!(client.get(&task).get("handoff"), None);
}

#[test]
fn the_lines_of_takeovers_may_go_without_a_warning() {
    let house = House::new();
    let client = house.client("maria");
    let dropped = |answer: &Value| {
        let warnings = answer["warnings"].as_array().cloned().unwrap_or_default();
        warnings.into_iter().filter(|one| one["rule"] == "text-dropped").collect::<Vec<_>>()
    };
    let done = "Repository acme/ledger, branch feat/statement-import, head 9f3b2d1.";
    // Only the line: what is written next stands in its place.
    let task = client.create("Import bank statements");
    client.take_over(&task, 1, CODEX);
    let answer = client.update(&task, 2, json!({"handoff_completed": done}));
    assert_eq!(dropped(&answer), Vec::<Value>::new(), "{answer}");
    // A shorter text than the line, and none.
    for new in ["Nothing.", ""] {
        let task = client.create("Import bank statements");
        client.take_over(&task, 1, CODEX);
        let answer = client.update(&task, 2, json!({"handoff_completed": new}));
        assert_eq!(dropped(&answer), Vec::<Value>::new(), "{answer}");
    }
    // Text above the line is kept.
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"handoff_completed": done}));
    client.take_over(&task, 2, CODEX);
    let answer = client.update(&task, 3, json!({"handoff_completed": format!("{done}\nTested: nothing.")}));
    assert_eq!(dropped(&answer), Vec::<Value>::new(), "{answer}");
    // Text above the line that goes is still told.
    client.take_over(&task, 4, CODEX);
    let answer = client.update(&task, 5, json!({"handoff_completed": "Tested: nothing."}));
    assert_eq!(dropped(&answer).len(), 1, "{answer}");
    // A line with words of somebody's is no line of the server's.
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"handoff_completed": "Taken over by session codex:s-2 (silent for 3 days)"}));
    let answer = client.update(&task, 2, json!({"handoff_completed": done}));
    assert_eq!(dropped(&answer).len(), 1, "{answer}");
}
