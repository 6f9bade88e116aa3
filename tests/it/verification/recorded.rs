//! `--record`: what came out is kept with the receipt, shown by whatever shows the receipt, and never a version.

use serde_json::{Value, json};

use super::repository::Repository;
use super::{receipt, task, verify};
use crate::ground::{Ground, text};
use crate::house::{CODEX, House, rows};
use crate::program::Place;

/// Facts of a repository in which a branch and a commit are, or are not.
fn facts(at: &str, branch: bool, result: bool) -> Value {
    let id = "9f3b2d1000000000000000000000000000000000";
    let local = if branch { json!(id) } else { Value::Null };
    let commit = if result {
        json!({"at": at, "found": "commit", "id": id, "candidates": 1})
    } else {
        json!({"at": at, "found": "missing"})
    };
    let relations = json!({"at": at, "on_branch": branch, "commits_after": 0, "pushed": true});
    let mut facts = json!({
        "at": at, "path": "/home/maria/ledger", "git": "2.47.3",
        "repository": {"at": at, "object_format": "sha1"},
        "branch": {"at": at, "is_name": true, "local": local},
        "result_commit": commit,
    });
    if result {
        facts["result"] = relations;
    }
    facts
}

/// A house with a task whose receipt names a branch and a commit.
fn handed_off(house: &House) -> String {
    let client = house.client("maria");
    let task = client.create("verified");
    let receipt = json!({"session_ref": CODEX, "branch": "feat/x", "result_commit": "9f3b2d1"});
    client.update(
        &task,
        1,
        json!({"work_receipt": receipt, "handoff_next": format!("go on\nPrevious session: {CODEX}")}),
    );
    task
}

fn record(house: &House, task: &str, facts: &Value) -> Value {
    let arguments = json!({"task_id": task, "receipt_version": 2, "facts": facts});
    house.person("tomas").ok("receipt_record", arguments)
}

#[test]
fn whatever_shows_the_receipt_shows_what_came_out() {
    let house = House::new();
    let task = handed_off(&house);
    let client = house.client("maria");
    let shown = || {
        let line = format!("handoff: {} v2", &task[..8]);
        let packet = client.ok("continuity_context", json!({"handoff": line}))["receipt"].clone();
        let got = client.get(&task)["receipt"].clone();
        let names = ["verified", "verified_at", "differences"];
        let of = |receipt: &Value| names.map(|name| receipt[name].clone());
        assert_eq!(of(&packet), of(&got));
        let row = client.ok("task_list", json!({}))["tasks"][0]["verified"].clone();
        (of(&got), row)
    };
    let nothing = [json!("unverified"), json!(null), json!(null)];
    assert_eq!(shown(), (nothing.clone(), json!(null)));

    let recorded = record(&house, &task, &facts("2026-11-25T08:00:00Z", true, true));
    assert_eq!((&recorded["verdict"], &recorded["differences"]), (&json!("verified"), &json!([])));
    assert_eq!(shown(), ([json!("verified"), json!("2026-11-25T08:00Z"), json!(null)], json!(null)));

    house.pass_minutes(5);
    record(&house, &task, &facts("2026-11-25T08:05:00Z", true, false));
    let told =
        "result_commit 9f3b2d1 does not exist here, and there is no remote to fetch it from: ask the previous session";
    let contradicted = ([json!("contradicted"), json!("2026-11-25T08:05Z"), json!([told])], json!("contradicted"));
    assert_eq!(shown(), contradicted);

    // One that cannot tell takes nothing away.
    house.pass_minutes(5);
    let blind =
        json!({"at": "2026-11-25T08:10:00Z", "path": "/tmp", "obstacle": {"kind": "no_repository", "told": "no"}});
    assert_eq!(record(&house, &task, &blind)["verdict"], "unverified");
    assert_eq!(shown(), contradicted);
    let all = house.person("tomas").ok("receipt_show", json!({"task_id": task}));
    let verdicts: Vec<&str> =
        rows(&all["verifications"]).iter().map(|row| row["verdict"].as_str().expect("a word")).collect();
    assert_eq!((verdicts, &all["total"]), (vec!["unverified", "contradicted", "verified"], &json!(3)));
    let history = house.person("tomas").ok("task_history", json!({"task_id": task}));
    assert_eq!((client.version(&task), &history["total"]), (2, &json!(2)), "no version was made");

    // Nobody has compared the next receipt yet.
    client.update(&task, 2, json!({"work_receipt": {"session_ref": CODEX, "tests": "3 passed"}}));
    assert_eq!(shown(), (nothing, json!(null)));
    assert_eq!(client.ok("task_get", json!({"task_id": task, "version": 2}))["receipt"]["verified"], "contradicted");
}

#[test]
fn a_search_shows_what_is_contradicted_too() {
    let house = House::new();
    let task = handed_off(&house);
    record(&house, &task, &facts("2026-11-25T08:05:00Z", true, false));
    for filter in [
        json!({"query": "verified"}),
        json!({"pending_handoff": true}),
        json!({"sort": "priority"}),
        json!({"sort": "created"}),
    ] {
        let found = house.client("maria").ok("task_list", filter.clone());
        assert_eq!(found["tasks"][0]["verified"], "contradicted", "{filter}: {found}");
    }
}

#[test]
fn the_same_key_records_once_whenever_it_was_looked() {
    let house = House::new();
    let task = handed_off(&house);
    let person = house.person("tomas");
    let call = |facts: &Value| {
        person.call(
            "receipt_record",
            json!({"task_id": task, "receipt_version": 2, "facts": facts, "idempotency_key": "k"}),
        )
    };
    let first = call(&facts("2026-11-25T08:00:00Z", true, true)).expect("recorded");
    house.pass_minutes(3);
    let again = call(&facts("2026-11-25T08:03:00Z", true, true)).expect("a replay");
    assert_eq!((&again["recorded"], &again["replayed"]), (&first["recorded"], &json!(true)));
    let other = call(&facts("2026-11-25T08:03:00Z", true, false)).expect_err("other facts");
    assert!(other.message.contains("was used for another receipt_record"), "{other}");
    assert_eq!(person.ok("receipt_show", json!({"task_id": task}))["total"], 1);
}

#[test]
fn what_is_no_fact_is_refused_and_nothing_is_kept() {
    let house = House::new();
    let task = handed_off(&house);
    let person = house.person("tomas");
    let refuse = |version: i64, facts: Value, part: &str| {
        let refusal =
            person.call("receipt_record", json!({"task_id": task, "receipt_version": version, "facts": facts}));
        let refusal = refusal.expect_err("refused");
        assert!(refusal.to_string().contains(part), "{refusal}");
    };
    refuse(1, facts("2026-11-25T08:00:00Z", true, true), "no receipt came with version 1");
    refuse(2, facts("yesterday", true, true), "a part whose time \"yesterday\" is no RFC 3339");
    refuse(2, json!({"at": "2026-11-25T08:00:00Z", "verdict": "verified"}), "facts.verdict is unknown");
    refuse(2, json!({"at": "2026-11-25T08:00:00Z", "branch": {"is_name": "perhaps"}}), "facts.branch.is_name");
    let agent = house.client("maria");
    assert!(agent.call("task_get", json!({"task_id": task})).expect("read")["receipt"]["verified"] == "unverified");
    assert_eq!(person.ok("receipt_show", json!({"task_id": task}))["total"], 0);
}

#[test]
fn long_lines_are_cut_and_can_be_read_on() {
    let ground = Ground::new();
    let task = ground.task(json!({"title": "long", "summary": "long"}));
    let branch = "ü".repeat(240);
    ground.update(&task, json!({"work_receipt": {"session_ref": CODEX, "branch": branch, "result_commit": "9f3b2d1", "base_commit": "1234567"}}));
    let mut facts = facts("2026-11-25T08:00:00Z", false, false);
    facts["base_commit"] = json!({"at": "2026-11-25T08:00:00Z", "found": "no_commit"});
    ground.ask("receipt_record", json!({"task_id": task, "receipt_version": 2, "facts": facts}));
    let receipt = ground.ask("task_get", json!({"task_id": task}))["receipt"].clone();
    assert_eq!(receipt["differences"].as_array().map(Vec::len), Some(3), "{receipt}");
    let rest = ground.follow(&text(&receipt["cut"]["differences"]["rest"]));
    let whole: Vec<String> = serde_json::from_str(&text(&rest["text"])).expect("a list");
    assert!(whole[0].contains(&branch), "{whole:?}");
}

#[test]
fn the_program_records_who_looked() {
    let place = Place::new();
    let repository = Repository::new(place.folder.path(), "one");
    let task = task(&place, &receipt("feat/x", "9876543210", "0123456789"));
    let answer = verify(&place, &task, &repository.folder, &["--record", "--idempotency-key", "-k"]);
    assert_eq!(answer.code, 9, "{answer:?}");
    let again = verify(&place, &task, &repository.folder, &["--record", "--idempotency-key", "-k"]);
    assert_eq!((again.code, &again.json()["replayed"]), (9, &json!(true)), "{again:?}");
    let shown = place.ask(&["receipt", "show", &task]);
    let row = &shown["verifications"][0];
    assert_eq!(
        (&row["caller"], &row["verdict"], &shown["total"]),
        (&json!("maria"), &json!("contradicted"), &json!(1))
    );
    let read = place.cli(&["receipt", "show", &task]);
    let differences = row["differences"].as_array().expect("differences");
    assert!(differences.len() > 1, "{row}");
    for one in differences {
        let line = format!("      - {}", one["line"].as_str().or(one.as_str()).expect("a line"));
        assert!(read.out.lines().any(|read| read == line), "a line of its own: {line} in {}", read.out);
    }
    let list = place.cli(&["task", "list"]);
    assert!(list.out.contains("verified: contradicted"), "{list:?}");
    let got = place.cli(&["task", "get", &task]);
    assert!(got.out.contains("verified: contradicted") && got.out.contains("does not exist here"), "{got:?}");
    assert_eq!(place.bare(&["verify"]).code, 0);
}
