//! What is read from the target is what was read from the source, and everybody goes on there.

use std::path::Path;

use serde_json::{Value, json};

use super::{at, must_move, rows, server_at, target};
use crate::http::served::{Served, token};
use crate::program::{Place, with_profile};

/// Writes something of every kind; answers the ids of the tasks.
fn furnish(place: &Place) -> Vec<String> {
    assert_eq!(place.bare(&["project", "create", "archive", "--language", "ja"]).code, 0);
    assert_eq!(place.bare(&["project", "set", "ledger", "--resource", "https://tasks.example.org"]).code, 0);
    let mut server = place.server();
    let mut call = |tool: &str, arguments: Value| {
        server.call(tool, with_profile(tool, arguments, &place.write_context)).unwrap_or_else(|told| panic!("{told}"))
    };
    let texts = [
        "plain",
        "会議の記録 をまとめる",
        "line one\r\nline two\u{200d}🧑\u{200d}💻",
        "quote \" and \\n and 'apostrophe'",
    ];
    let mut tasks = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let parent = tasks.first().cloned();
        let made = json!({
            "title": format!("{text} {number}").replace("\r\n", " "), "summary": text, "tags": ["x", format!("tag {number}")],
            "priority": number, "parent": parent, "depends_on": tasks.clone(), "description": text.repeat(40),
            "completion_criteria": "- [ ] done", "idempotency_key": format!("key {number}"),
        });
        tasks.push(call("task_create", made)["task_id"].as_str().expect("an id").to_owned());
    }
    let receipt = json!({"session_ref": "codex:1", "harness": "codex", "branch": "main", "tests": "3 passed"});
    call("task_takeover", json!({"task_id": tasks[0], "expected_version": 1, "session_ref": "codex:1"}));
    call(
        "task_update",
        json!({
            "task_id": tasks[0], "expected_version": 2, "summary": "handed off", "work_receipt": receipt,
            "handoff_next": "go on with the parser\nPrevious session: codex:1",
        }),
    );
    call(
        "task_update",
        json!({"task_id": tasks[1], "expected_version": 1, "summary": "stopped", "status": "cancelled"}),
    );
    let old =
        call("memory_add", json!({"kind": "decision", "summary": "use tabs", "body": "because", "tags": ["style"]}));
    call(
        "memory_add",
        json!({
            "kind": "decision", "summary": "use spaces", "supersedes": old["memory_id"], "task_id": tasks[2], "body": "会議",
        }),
    );
    call("memory_add", json!({"kind": "fact", "summary": "water is wet"}));
    for text in ["look at the parser", "and at the lexer"] {
        call("message_send", json!({"to": tasks[0], "session_ref": "label:other", "text": text}));
    }
    let waiting = call("task_get", json!({"task_id": tasks[0]}));
    let message = waiting["messages"][0]["message_id"].as_str().or(waiting["messages"][0]["id"].as_str());
    call("message_send", json!({"ack": [message.unwrap_or_else(|| panic!("no message: {waiting}"))]}));
    assert_eq!(server.end(), Some(0));
    assert_eq!(place.bare(&["project", "archive", "archive"]).code, 0);
    tasks
}

/// Without what the moment of asking makes of it.
fn timeless(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(fields) => {
            fields.retain(|name, _| !["age", "idle", "pending"].contains(&name.as_str()));
            fields.values_mut().for_each(|value| *value = timeless(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| *value = timeless(value.take())),
        _ => {}
    }
    answer
}

/// The answers of all that can be read.
fn answers(place: &Place, database: &Path, tasks: &[String]) -> Vec<(String, Value)> {
    let mut asked: Vec<Vec<&str>> = vec![
        vec!["identity"],
        vec!["project", "list"],
        vec!["project", "show", "ledger"],
        vec!["project", "show", "archive"],
        vec!["token", "list"],
        vec!["task", "list"],
        vec!["task", "list", "--sort", "priority"],
        vec!["task", "list", "--tag", "tag 2"],
        vec!["task", "list", "--ready"],
        vec!["task", "list", "--pending-handoff"],
        vec!["task", "list", "--parent", &tasks[0]],
        vec!["memory", "search", "--include-superseded"],
        vec!["resume", &tasks[0]],
    ];
    asked.extend(["plain", "会議", "one", "apos", "parser", "codex 1", "tag"].map(|word| vec!["task", "list", word]));
    asked.extend(["会議", "tab", "water wet"].map(|word| vec!["memory", "search", word]));
    for task in tasks {
        asked.push(vec!["task", "get", task]);
        asked.push(vec!["task", "get", task, "--version", "1"]);
        asked.push(vec!["task", "history", task]);
    }
    let answer = |words: Vec<&str>| {
        let answer = at(place, database, &[&words[..], &["--project", "ledger", "--json"]].concat());
        assert_eq!(answer.code, 0, "{words:?}: {answer:?}");
        (words.join(" "), timeless(answer.json()))
    };
    let mut answers: Vec<(String, Value)> = asked.into_iter().map(answer).collect();
    let profile = at(place, database, &["profile", "ledger", "--json"]).json();
    answers.push(("profile".to_owned(), profile["write_context"].clone()));
    answers
}

#[test]
fn everything_reads_the_same_afterwards() {
    let place = Place::new();
    let tasks = furnish(&place);
    token(&place, "reader", &["--project", "ledger", "--role", "read"]);
    token(&place, "revoked", &["--all-projects"]);
    assert_eq!(place.bare(&["token", "revoke", "revoked"]).code, 0);
    let before = answers(&place, &place.database(), &tasks);
    let told = must_move(&place);
    let counted = |name: &str| {
        let tables = told["tables"].as_array().expect("tables");
        tables.iter().find(|table| table["table"] == name).unwrap_or_else(|| panic!("no {name}"))["rows"].clone()
    };
    assert_eq!(
        (counted("task"), counted("memory"), counted("message"), counted("token")),
        (json!(4), json!(3), json!(2), json!(2))
    );
    for (old, new) in before.iter().zip(answers(&place, &target(&place), &tasks)) {
        assert_eq!(*old, new);
    }
    for (old, new) in before.iter().zip(answers(&place, &place.database(), &tasks)) {
        assert_eq!(*old, new, "the source is read as before");
    }
    assert_eq!(at(&place, &target(&place), &["verify"]).code, 0);
}

#[test]
fn profiles_tokens_and_keys_go_on_at_the_target() {
    let place = Place::new();
    let tasks = furnish(&place);
    let secret = token(&place, "agent", &["--project", "ledger"]);
    let revoked = token(&place, "gone", &["--project", "ledger"]);
    assert_eq!(place.bare(&["token", "revoke", "gone"]).code, 0);
    must_move(&place);
    let mut server = server_at(&place, &target(&place));
    let again = json!({
        "title": "plain 0", "summary": "plain", "tags": ["x", "tag 0"], "priority": 0, "depends_on": [],
        "description": "plain".repeat(40), "completion_criteria": "- [ ] done", "idempotency_key": "key 0",
    });
    let replayed = server.call("task_create", again).expect("the first answer");
    assert_eq!((&replayed["replayed"], &replayed["task_id"]), (&json!(true), &json!(tasks[0])), "{replayed}");
    let made = server.call("task_create", json!({"title": "new", "summary": "here"})).expect("the profile is valid");
    let change = json!({"task_id": tasks[0], "expected_version": 3, "summary": "goes on"});
    assert_eq!(server.call("task_update", change).expect("a change")["version"], 4);
    let told = server.call("memory_add", json!({"kind": "fact", "summary": "water is wet"})).expect("known");
    assert_eq!(told["existing"], true, "{told}");
    drop(server);
    let keys = rows(&target(&place), "select max(task_key), count(*) from task");
    assert_eq!(keys[0][0], keys[0][1], "a new key comes behind all that were moved: {made}");
    let mut command = place.command();
    command.env("HEYAIRA_DATABASE", target(&place)).args(["serve", "--listen", "127.0.0.1:0", "--json"]);
    let served = Served::run(command);
    assert_eq!(served.client_with(&secret).api("task_list", &json!({})).status, 200);
    assert_eq!(served.client_with(&revoked).api("task_list", &json!({})).status, 401);
    assert_eq!(at(&place, &target(&place), &["verify"]).code, 0);
}

#[test]
fn a_dry_run_tells_and_changes_nothing() {
    let place = Place::new();
    furnish(&place);
    let told = super::moved(&place, &["--to", super::TARGET, "--dry-run"]).json();
    assert_eq!((&told["moved"], told["rows"].as_u64() > Some(20)), (&json!(false), true), "{told}");
    assert!(!target(&place).exists());
    place.task("still written here");
    must_move(&place);
    let told = super::moved(&place, &["--to", super::TARGET, "--dry-run"]).json();
    assert!(told["state"].as_str().expect("a state").starts_with("finished"), "{told}");
}

#[test]
fn a_finished_move_says_so_and_proves_again() {
    let place = super::place_with(5);
    let first = must_move(&place);
    let again = must_move(&place);
    assert_eq!((&first["finished_before"], &again["finished_before"]), (&json!(false), &json!(true)));
    assert_eq!(first["tables"], again["tables"]);
    server_at(&place, &target(&place)).call("task_create", json!({"title": "t", "summary": "s"})).expect("in use");
    let after = super::move_to_target(&place).json();
    assert_eq!((&after["moved"], &after["equal"]), (&json!(true), &json!(false)), "{after}");
    assert!(after["differing"].as_array().expect("names").contains(&json!("task")), "{after}");
}

#[test]
fn a_move_back_goes_into_a_new_database() {
    let place = super::place_with(3);
    let first = must_move(&place);
    let (from, back) = (target(&place), place.folder.path().join("back.db"));
    let words = |to: &Path| {
        let (from, to) = (from.display().to_string(), to.display().to_string());
        place.bare(&["move", "--json", "--from", &from, "--to", &to])
    };
    let into_old = words(&place.database());
    assert_eq!((into_old.code, into_old.json()["error"]["code"].as_str()), (2, Some("not_allowed")), "{into_old:?}");
    let told = words(&back).json();
    assert_eq!(told["tables"], first["tables"]);
    server_at(&place, &back).call("task_create", json!({"title": "t", "summary": "s"})).expect("in use");
    assert_eq!(at(&place, &back, &["verify"]).code, 0);
}
