//! What is read from the target is what was read from the source, and everybody goes on there.

use heyaira::domain::run::Outcome;
use serde_json::{Value, json};

use super::{Scene, number};
use crate::database::TestDatabase;
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
    let facts = r#"{"at": "2026-11-25T08:00:00Z", "path": "/home/会議", "repository": {"at": "2026-11-25T08:00:00Z"},
        "branch": {"at": "2026-11-25T08:00:00Z", "is_name": true}}"#;
    let recorded = place.ask(&["receipt", "record", &tasks[0][..8], "--receipt-version", "3", "--facts", facts]);
    assert_eq!(recorded["verdict"], "contradicted");
    for (number, outcome) in [(1, Outcome::Succeeded), (2, Outcome::TimedOut)] {
        let report = serde_json::to_string(&crate::runs::report(number, tasks.last().map(String::as_str), outcome))
            .expect("JSON");
        place.ask(&["run", "report", "--report", &report]);
    }
    let version = place.ask(&["task", "get", tasks.last().expect("a task")])["version"].to_string();
    assert_eq!(place.ask(&["run", "record", "00000001", "--expected-version", &version])["existing"], false);
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
fn answers(scene: &Scene, database: &TestDatabase, tasks: &[String]) -> Vec<(String, Value)> {
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
        vec!["run", "list"],
        vec!["run", "show", "00000001"],
        vec!["run", "show", "00000002"],
    ];
    asked.extend(["plain", "会議", "one", "apos", "parser", "codex 1", "tag"].map(|word| vec!["task", "list", word]));
    asked.extend(["会議", "tab", "water wet"].map(|word| vec!["memory", "search", word]));
    for task in tasks {
        asked.push(vec!["task", "get", task]);
        asked.push(vec!["task", "get", task, "--version", "1"]);
        asked.push(vec!["task", "history", task]);
        asked.push(vec!["receipt", "show", task]);
    }
    let answer = |words: Vec<&str>| {
        let answer = scene.at(database, &[&words[..], &["--project", "ledger", "--json"]].concat());
        assert_eq!(answer.code, 0, "{words:?}: {answer:?}");
        (words.join(" "), timeless(answer.json()))
    };
    let mut answers: Vec<(String, Value)> = asked.into_iter().map(answer).collect();
    let profile = scene.at(database, &["profile", "ledger", "--json"]).json();
    answers.push(("profile".to_owned(), profile["write_context"].clone()));
    answers
}

#[test]
fn everything_reads_the_same_afterwards() {
    let scene = Scene::new();
    let place = &scene.place;
    let tasks = furnish(place);
    token(place, "reader", &["--project", "ledger", "--role", "read"]);
    token(place, "revoked", &["--all-projects"]);
    assert_eq!(place.bare(&["token", "revoke", "revoked"]).code, 0);
    let before = answers(&scene, scene.source(), &tasks);
    let told = scene.must_move();
    let counted = |name: &str| {
        let tables = told["tables"].as_array().expect("tables");
        tables.iter().find(|table| table["table"] == name).unwrap_or_else(|| panic!("no {name}"))["rows"].clone()
    };
    let counts = ["task", "memory", "message", "token"].map(counted);
    assert_eq!(counts, [4, 3, 2, 2].map(|count| json!(count)));
    for (database, what) in [(&scene.target, "the target"), (scene.source(), "the source, as before")] {
        for (old, new) in before.iter().zip(answers(&scene, database, &tasks)) {
            assert_eq!(*old, new, "{what}");
        }
    }
    scene.target_is_sound();
}

/// From a file to a server and back into a file, where the tests run on a server.
#[test]
fn there_and_back_again_nothing_has_changed() {
    let place = Place::on(TestDatabase::of_file);
    let target = TestDatabase::empty(place.folder.path().join("there.db"));
    let tasks = furnish(&place);
    token(&place, "reader", &["--project", "ledger", "--role", "read"]);
    let scene = Scene { place, target };
    let before = answers(&scene, scene.source(), &tasks);
    let there = scene.must_move();
    let file = scene.place.folder.path().join("back.db");
    let back = TestDatabase::of_file(file);
    let moved = scene.place.bare(&["move", "--json", "--from", scene.target.address(), "--to", back.address()]);
    assert_eq!(moved.code, 0, "{moved:?}");
    let told = moved.json();
    assert_eq!((&told["equal"], &told["tables"]), (&json!(true), &there["tables"]));
    for (old, new) in before.iter().zip(answers(&scene, &back, &tasks)) {
        assert_eq!(*old, new);
    }
    scene.server_at(&back).call("task_create", json!({"title": "t", "summary": "s"})).expect("in use");
    assert_eq!(scene.at(&back, &["verify"]).code, 0);
}

#[test]
fn profiles_tokens_and_keys_go_on_at_the_target() {
    let scene = Scene::new();
    let place = &scene.place;
    let tasks = furnish(place);
    let secret = token(place, "agent", &["--project", "ledger"]);
    let revoked = token(place, "gone", &["--project", "ledger"]);
    assert_eq!(place.bare(&["token", "revoke", "gone"]).code, 0);
    scene.must_move();
    let mut server = scene.server_at(&scene.target);
    let again = json!({
        "title": "plain 0", "summary": "plain", "tags": ["x", "tag 0"], "priority": 0, "depends_on": [],
        "description": "plain".repeat(40), "completion_criteria": "- [ ] done", "idempotency_key": "key 0",
    });
    let replayed = server.call("task_create", again).expect("the first answer");
    assert_eq!((&replayed["replayed"], &replayed["task_id"]), (&json!(true), &json!(tasks[0])), "{replayed}");
    let made = server.call("task_create", json!({"title": "new", "summary": "here"})).expect("the profile is valid");
    let change = json!({"task_id": tasks[0], "expected_version": 3, "summary": "goes on"});
    assert_eq!(server.call("task_update", change).expect("a change")["version"], 4);
    let known = server.call("memory_add", json!({"kind": "fact", "summary": "water is wet"})).expect("known");
    assert_eq!(known["existing"], true, "{known}");
    server.call("memory_add", json!({"kind": "fact", "summary": "fire is hot"})).expect("new");
    drop(server);
    let behind = "select max(task_key) - count(*) from task";
    assert_eq!(number(&scene.target, behind), 0, "a new key comes behind all that were moved: {made}");
    assert_eq!(scene.at(&scene.target, &["project", "create", "another"]).code, 0);
    assert_eq!(scene.at(&scene.target, &["token", "create", "another", "--all-projects"]).code, 0);
    let mut command = place.command();
    command.env("HEYAIRA_DATABASE", scene.target.address()).args(["serve", "--listen", "127.0.0.1:0", "--json"]);
    let served = Served::run(command);
    assert_eq!(served.client_with(&secret).api("task_list", &json!({})).status, 200);
    assert_eq!(served.client_with(&revoked).api("task_list", &json!({})).status, 401);
    scene.target_is_sound();
}

#[test]
fn a_dry_run_tells_and_changes_nothing() {
    let scene = Scene::new();
    furnish(&scene.place);
    let dry = || scene.run(&["--to", scene.target.address(), "--dry-run"]).json();
    let told = dry();
    assert_eq!((&told["moved"], told["rows"].as_u64() > Some(20)), (&json!(false), true), "{told}");
    assert_eq!(super::state(&scene.target), "empty");
    scene.place.task("still written here");
    scene.must_move();
    assert!(dry()["state"].as_str().expect("a state").starts_with("finished"));
}

#[test]
fn a_finished_move_says_so_and_proves_again() {
    let scene = Scene::new().with(5);
    let first = scene.must_move();
    let again = scene.must_move();
    assert_eq!((&first["finished_before"], &again["finished_before"]), (&json!(false), &json!(true)));
    assert_eq!(first["tables"], again["tables"]);
    scene.server_at(&scene.target).call("task_create", json!({"title": "t", "summary": "s"})).expect("in use");
    let after = scene.run_to_target().json();
    assert_eq!((&after["moved"], &after["equal"]), (&json!(true), &json!(false)), "{after}");
    assert!(after["differing"].as_array().expect("names").contains(&json!("task")), "{after}");
}

#[test]
fn a_move_back_goes_into_a_new_database() {
    let scene = Scene::new().with(3);
    let first = scene.must_move();
    let back = TestDatabase::empty(scene.place.folder.path().join("back.db"));
    let to = |to: &TestDatabase| {
        scene.place.bare(&["move", "--json", "--from", scene.target.address(), "--to", to.address()])
    };
    let into_old = to(scene.source());
    assert_eq!((into_old.code, into_old.json()["error"]["code"].as_str()), (2, Some("not_allowed")), "{into_old:?}");
    assert_eq!(to(&back).json()["tables"], first["tables"]);
    scene.server_at(&back).call("task_create", json!({"title": "t", "summary": "s"})).expect("in use");
    assert_eq!(scene.at(&back, &["verify"]).code, 0);
}
