//! Retries: one call happens once, and two agents never both win.

use heyaira::domain::session::Observed;
use heyaira::error::Code;
use serde_json::{Value, json};

use crate::house::{CODEX, Client, House, merged, text};

fn creation(title: &str) -> Value {
    json!({"title": title, "summary": "s", "idempotency_key": "k-1"})
}

#[test]
fn rw_004_a_repeated_creation_with_a_key_makes_one_task() {
    let house = House::new();
    let first = house.client("maria").ok("task_create", creation("Add retry to uploader"));
    let again = house.client("maria").ok("task_create", creation("Add retry to uploader"));
    assert_eq!(again, merged(first, json!({"replayed": true, "current_version": 1})));
    let client = house.client("maria");
    assert_eq!(client.ok("task_list", json!({}))["total"], 1);
    client.refused("task_create", creation("Something else"), Code::NotAllowed, &["idempotency_key", "new key"]);
    assert_eq!(client.ok("task_list", json!({}))["total"], 1);
}

#[test]
fn a_replay_answers_the_original_with_the_current_version() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let keyed = Client::update_arguments(&task, 1, json!({"handoff_next": "one", "idempotency_key": "k"}));
    let first = client.ok("task_update", keyed.clone());
    client.update(&task, 2, json!({"handoff_next": "two"}));
    let again = house.client("maria").ok("task_update", keyed);
    assert_eq!(again, merged(first, json!({"replayed": true, "current_version": 3})));
    assert_eq!(client.get(&task)["handoff_next"], "two");
}

#[test]
fn a_key_belongs_to_its_caller_tool_and_project() {
    let house = House::new();
    house.add_project("other");
    let (maria, tomas) = (house.client("maria"), house.client("tomas"));
    let first = maria.ok("task_create", creation("One"));
    assert_ne!(tomas.ok("task_create", creation("One"))["task_id"], first["task_id"]);
    assert_eq!(tomas.ok("task_create", creation("One"))["replayed"], true);
    let elsewhere = house.client_in("other", "maria").ok("task_create", creation("One"));
    assert_ne!(elsewhere["task_id"], first["task_id"]);
    let task = text(&first["task_id"]).to_owned();
    assert_eq!(maria.update(&task, 1, json!({"idempotency_key": "k-1"}))["version"], 2);
    let message = json!({"to": task, "text": "hello", "idempotency_key": "k-1"});
    let sent = maria.ok("message_send", message.clone());
    assert_eq!(house.client("maria").ok("message_send", message)["id"], sent["id"]);
}

#[test]
fn a_key_holds_over_a_restart_and_every_door() {
    let house = House::new();
    let first = house.client("maria").ok("task_create", creation("One"));
    let house = house.restarted();
    let by_hand = house.person("maria").ok("task_create", creation("One"));
    assert_eq!((&by_hand["task_id"], &by_hand["replayed"]), (&first["task_id"], &json!(true)));
}

#[test]
fn keys_are_kept_for_thirty_days() {
    let house = House::new();
    let client = house.client("maria");
    let first = client.ok("task_create", creation("One"));
    house.pass_hours(30 * 24 - 1);
    client.ok("task_create", json!({"title": "t", "summary": "s", "idempotency_key": "k-2"}));
    assert_eq!(client.ok("task_create", creation("One"))["replayed"], true);
    house.pass_hours(2);
    let later = client.ok("task_create", creation("One"));
    assert_ne!(later["task_id"], first["task_id"]);
    assert_eq!(later.get("replayed"), None);
}

#[test]
fn the_order_of_arguments_and_their_leniency_do_not_make_other_content() {
    let house = House::new();
    let client = house.client("maria");
    let first = client.ok(
        "task_create",
        json!({"title": "t", "summary": "s", "priority": 1, "tags": ["a", "b"], "idempotency_key": "k"}),
    );
    let again =
        json!({"idempotency_key": "k", "tags": "a, b", "priority": "1", "parent": null, "summary": "s", "title": "t"});
    assert_eq!(client.ok("task_create", again)["task_id"], first["task_id"]);
}

#[test]
fn a_refused_call_uses_up_no_key() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update_refused(&task, 1, json!({"status": "done", "idempotency_key": "k"}), Code::NotAllowed, &[]);
    let answer = client.update(&task, 1, json!({"status": "cancelled", "idempotency_key": "k"}));
    assert_eq!((&answer["version"], answer.get("replayed")), (&json!(2), None));
}

#[test]
fn two_calls_at_once_with_one_key_happen_once() {
    let house = House::new();
    let (one, other) = (house.client("maria"), house.client("maria"));
    let both = futures_util::future::join(
        one.asking("task_create", creation("One")),
        other.asking("task_create", creation("One")),
    );
    let (first, second) = house.block_on(both);
    let (first, second) = (first.expect("accepted"), second.expect("accepted"));
    assert_eq!(first["task_id"], second["task_id"]);
    assert_eq!(one.ok("task_list", json!({}))["total"], 1);
}

#[test]
fn a_repetition_on_the_same_stdio_connection_is_a_replay() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let update = Client::update_arguments(&task, 1, json!({"handoff_completed_append": "Tested: 148 passed."}));
    let first = client.ok("task_update", update.clone());
    let again = client.ok("task_update", update.clone());
    assert_eq!(again, merged(first.clone(), json!({"replayed": true, "current_version": 2})));
    let third = client.ok("task_update", update);
    assert_eq!((&third["version"], &third["replayed"]), (&first["version"], &json!(true)));
    assert_eq!(client.get(&task)["handoff_completed"], "Tested: 148 passed.");
    let takeover = json!({"task_id": task, "expected_version": 2, "session_ref": CODEX});
    client.ok("task_takeover", takeover.clone());
    let again = client.ok("task_takeover", takeover);
    assert_eq!((&again["version"], &again["replayed"], &again["owner"]), (&json!(3), &json!(true), &json!(CODEX)));
}

#[test]
fn a_replay_is_only_right_after_its_own_success() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let update = Client::update_arguments(&task, 1, json!({"priority": 0}));
    client.ok("task_update", update.clone());
    client.update(&task, 2, json!({"priority": 1}));
    client.refused("task_update", update, Code::VersionConflict, &["is at version 3, you sent 1"]);
    let other = Client::update_arguments(&task, 2, json!({"priority": 2}));
    client.refused("task_update", other, Code::VersionConflict, &["is at version 3, you sent 2"]);
}

#[test]
fn another_write_in_between_ends_the_replay() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let update = Client::update_arguments(&task, 1, json!({"priority": 0}));
    client.ok("task_update", update.clone());
    client.ok("memory_add", json!({"kind": "fact", "summary": "s"}));
    client.refused("task_update", update, Code::VersionConflict, &["exactly these values"]);
}

#[test]
fn a_replay_is_never_for_another_connection_or_door() {
    let house = House::new();
    let task = house.client("maria").create("Import bank statements");
    let update = Client::update_arguments(&task, 1, json!({"status": "in_progress"}));
    house.session("maria", CODEX).ok("task_update", update.clone());
    house.session("maria", CODEX).refused("task_update", update.clone(), Code::VersionConflict, &["version 2"]);
    let person = house.person("maria");
    person.refused("task_update", update, Code::VersionConflict, &["version 2"]);
    let by_hand = Client::update_arguments(&task, 2, json!({"priority": 0}));
    person.ok("task_update", by_hand.clone());
    person.refused("task_update", by_hand, Code::VersionConflict, &["is at version 3, you sent 2"]);
}

#[test]
fn the_same_claim_by_two_agents_is_won_by_one() {
    let house = House::new();
    for round in 0..10 {
        let (one, other) = (house.client("maria"), house.client("maria"));
        let task = one.create(&format!("Task {round}"));
        let claim = Client::update_arguments(&task, 1, json!({"status": "in_progress", "summary": "claimed"}));
        let both = futures_util::future::join(
            one.asking("task_update", claim.clone()),
            other.asking("task_update", claim.clone()),
        );
        let (first, second) = house.block_on(both);
        assert_eq!(u8::from(first.is_ok()) + u8::from(second.is_ok()), 1, "{first:?} {second:?}");
        let lost = if first.is_ok() { second } else { first };
        crate::house::refused(lost, Code::VersionConflict, &["is at version 2, you sent 1"]);
    }
}

#[test]
fn role_and_write_context_are_checked_before_a_replay() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let keyed = Client::update_arguments(&task, 1, json!({"idempotency_key": "k"}));
    client.ok("task_update", keyed.clone());
    house.owner().ok("profile_rotate", json!({"project": "ledger"}));
    client.refused("task_update", keyed, Code::IdentityMismatch, &["pin"]);
}

/// Sub-agents share their client's connection: the same claim from another session is a second claim.
#[test]
fn two_sessions_on_one_connection_never_both_win_a_claim() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("claimed");
    let claim = json!({"task_id": task, "expected_version": 1});
    let of = |session: &str| Observed { session_ref: Some(session.to_owned()), ..Observed::default() };
    let first = client.observing(of("codex:s-1")).call("task_takeover", claim.clone()).expect("the first");
    assert_eq!(first["version"], 2);
    let again = client.observing(of("codex:s-1")).call("task_takeover", claim.clone()).expect("its own again");
    assert_eq!(again["replayed"], true);
    let second = client.observing(of("codex:s-2")).call("task_takeover", claim).expect_err("the second");
    assert_eq!(second.code, Code::VersionConflict);
}
