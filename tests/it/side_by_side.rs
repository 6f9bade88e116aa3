//! Calls that run at the same time, as those of several servers on one database do: whatever their order, the outcome is
//! one that calls after each other could have.

use futures_util::future::join_all;
use heyaira::error::{Code, Refusal};
use heyaira::store::backend::work;
use heyaira::store::verify::table_problems;
use serde_json::{Value, json};

use crate::house::{Client, House, rows, text};

type Outcome = Result<Value, Refusal>;

/// Asks all at once; answers in the same order.
fn at_once(house: &House, calls: Vec<(&Client<'_>, &str, Value)>) -> Vec<Outcome> {
    house.block_on(join_all(calls.into_iter().map(|(client, name, arguments)| client.asking(name, arguments))))
}

fn accepted(outcomes: &[Outcome]) -> Vec<&Value> {
    outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()).collect()
}

#[track_caller]
fn others_are(outcomes: &[Outcome], code: Code) {
    for refusal in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        assert_eq!(refusal.code, code, "{refusal}");
    }
}

fn problems(house: &House) -> Vec<String> {
    house.read(work(|transaction| Box::pin(table_problems(transaction))))
}

/// Half a circle each: accepted alone, refused after the other.
fn no_circle_of(field: &str, value: impl Fn(&str) -> Value) {
    let house = House::new();
    let (maria, tomas) = (house.client("maria"), house.client("tomas"));
    let pairs: Vec<(String, String)> = (0..12).map(|_| (maria.create("one"), maria.create("other"))).collect();
    let half = |of: &str, to: &str| Client::update_arguments(of, 1, json!({field: value(to)}));
    for (one, other) in &pairs {
        let calls = vec![(&maria, "task_update", half(one, other)), (&tomas, "task_update", half(other, one))];
        let outcomes = at_once(&house, calls);
        assert_eq!(accepted(&outcomes).len(), 1, "{outcomes:?}");
        others_are(&outcomes, Code::NotAllowed);
    }
    assert_eq!(problems(&house), Vec::<String>::new());
}

#[test]
fn two_halves_of_a_circle_of_parents_are_never_both_accepted() {
    no_circle_of("parent", |to| json!(to));
}

#[test]
fn two_halves_of_a_circle_of_dependencies_are_never_both_accepted() {
    no_circle_of("depends_on", |to| json!([to]));
}

#[test]
fn of_many_updates_of_one_version_one_is_accepted() {
    let house = House::new();
    let clients: Vec<Client<'_>> = (0..16).map(|number| house.client(&format!("agent-{number}"))).collect();
    let task = clients[0].create("Import bank statements");
    for version in 1..=5 {
        let update =
            |number: usize| Client::update_arguments(&task, version, json!({"summary": format!("by {number}")}));
        let calls = clients.iter().enumerate().map(|(number, client)| (client, "task_update", update(number)));
        let outcomes = at_once(&house, calls.collect());
        assert_eq!(accepted(&outcomes).len(), 1, "{outcomes:?}");
        others_are(&outcomes, Code::VersionConflict);
        assert_eq!(clients[0].version(&task), version + 1);
    }
}

#[test]
fn one_key_used_many_times_at_once_writes_once() {
    let house = House::new();
    let client = house.client("maria");
    let call = json!({"title": "Import bank statements", "summary": "new", "idempotency_key": "one-1"});
    let outcomes = at_once(&house, (0..16).map(|_| (&client, "task_create", call.clone())).collect());
    let answers = accepted(&outcomes);
    assert_eq!(answers.len(), 16, "{outcomes:?}");
    assert!(answers.iter().all(|answer| answer["task_id"] == answers[0]["task_id"]), "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.get("replayed").is_none()).count(), 1, "{answers:?}");
    assert_eq!(client.ok("task_list", json!({}))["total"], 1);
}

#[test]
fn of_many_memories_that_replace_the_same_one_is_accepted() {
    let house = House::new();
    let client = house.client("maria");
    let memory = |body: String| json!({"kind": "fact", "summary": "the port", "body": body});
    let old = text(&client.ok("memory_add", memory("8080".to_owned()))["id"]).to_owned();
    let successor = |number: usize| {
        let mut call = memory(format!("port {number}"));
        call["supersedes"] = json!(old);
        call
    };
    let outcomes = at_once(&house, (0..8).map(|number| (&client, "memory_add", successor(number))).collect());
    assert_eq!(accepted(&outcomes).len(), 1, "{outcomes:?}");
    others_are(&outcomes, Code::NotAllowed);
    assert_eq!(problems(&house), Vec::<String>::new());
}

#[test]
fn identical_memories_added_at_once_are_one() {
    let house = House::new();
    let client = house.client("maria");
    let memory = json!({"kind": "decision", "summary": "keep SQLite", "body": "one file"});
    let outcomes = at_once(&house, (0..16).map(|_| (&client, "memory_add", memory.clone())).collect());
    let answers = accepted(&outcomes);
    assert_eq!(answers.len(), 16, "{outcomes:?}");
    assert!(answers.iter().all(|answer| answer["id"] == answers[0]["id"]), "{answers:?}");
    assert_eq!(rows(&client.ok("memory_search", json!({"query": "file"}))["memories"]).len(), 1);
}

#[test]
fn counts_stay_exact_when_many_create_and_finish_at_once() {
    let house = House::new();
    let client = house.client("maria");
    let made = |number: usize| json!({"title": format!("task {number}"), "summary": "new", "tags": ["many"]});
    let outcomes = at_once(&house, (0..64).map(|number| (&client, "task_create", made(number))).collect());
    let answers = accepted(&outcomes);
    assert_eq!(answers.len(), 64, "{outcomes:?}");
    let cancel = |answer: &Value| {
        Client::update_arguments(text(&answer["task_id"]), 1, json!({"status": "cancelled", "summary": "not needed"}))
    };
    let cancelled =
        at_once(&house, answers[..40].iter().map(|answer| (&client, "task_update", cancel(answer))).collect());
    assert_eq!(accepted(&cancelled).len(), 40, "{cancelled:?}");
    assert_eq!(client.ok("task_list", json!({"status": "cancelled"}))["total"], 40);
    assert_eq!(client.ok("task_list", json!({"status": "todo"}))["total"], 24);
    assert_eq!(problems(&house), Vec::<String>::new());
}
