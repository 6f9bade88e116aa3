//! Resume: one small packet from a pasted line, and the project at a glance without one.

use heyaira::error::Code;
use serde_json::{Value, json};

use crate::house::{CLAUDE, CODEX, Client, House, merged, rows, short, text};
use crate::sizes::tokens;

const ID: &str = "8e287857-4f0b-4c1d-9a77-51c2b0e6d9f4";

/// The packet that the contract shows.
fn typical() -> Value {
    serde_json::from_str(include_str!("answers/resume.json")).expect("JSON")
}

fn packet(client: &Client<'_>, line: &str) -> Value {
    client.ok("continuity_context", json!({"handoff": line}))
}

/// Plays the story of the contract's packet: handed off at v7, two changes by Tomas, read 14 hours later.
fn story(house: &House) {
    let told = typical();
    house.set_time("2026-11-20T09:12:33Z");
    house.next_ids(&[ID]);
    let client = house.client("maria");
    client.create_with(text(&told["title"]), json!({}));
    for (id, memory) in ["b7f03c1e", "41d9c8aa"].iter().zip(rows(&told["memories"])) {
        house.next_ids(&[&format!("{id}-0000-4000-8000-000000000000")]);
        client.ok("memory_add", json!({"kind": "decision", "summary": memory["summary"]}));
    }
    let lists = json!({
        "completion_criteria": "- [x] 208 files parse\n- [ ] 4 Raiffeisen files parse",
        "required_reviews": "- [ ] Tomas reviewed the migration",
    });
    client.update(ID, 1, lists);
    for version in 2..6 {
        client.update(ID, version, json!({}));
    }
    house.set_time("2026-11-24T17:02:11Z");
    let mut receipt = told["receipt"].clone();
    if let Some(fields) = receipt.as_object_mut() {
        fields.shift_remove("v");
        fields.shift_remove("verified");
        // The packet shows a receipt in short.
        fields.insert("completed_work".to_owned(), json!("parser, migration, endpoint"));
        fields.insert("next_step".to_owned(), json!("batch entries"));
    }
    let handoff = json!({
        "status": "in_progress",
        "summary": told["summary"],
        "handoff_next": told["handoff_next"],
        "handoff_completed": told["handoff_completed"],
        "work_receipt": receipt,
    });
    client.update(ID, 6, handoff);
    let tomas = house.person("tomas");
    house.set_time("2026-11-25T07:31:44Z");
    let reviews = "- [ ] Tomas reviewed the migration\n- [x] Ines read the documentation";
    tomas.ok("task_update", json!({"task_id": ID, "expected_version": 7, "required_reviews": reviews}));
    house.set_time("2026-11-25T07:58:02Z");
    tomas.ok("task_update", json!({"task_id": ID, "expected_version": 8, "priority": 1}));
    house.set_time("2026-11-25T08:00:00Z");
}

#[test]
fn the_typical_packet_is_the_one_of_the_contract() {
    let house = House::new();
    story(&house);
    assert_eq!(packet(&house.client("tomas"), "handoff: 8e287857 v7"), typical());
}

#[test]
fn identity_comes_first_and_the_next_step_before_what_is_done() {
    let house = House::new();
    story(&house);
    let found = packet(&house.client("tomas"), "handoff: 8e287857 v7");
    let names: Vec<&String> = found.as_object().expect("an object").keys().collect();
    let told = typical();
    assert_eq!(names, told.as_object().expect("an object").keys().collect::<Vec<_>>());
}

#[test]
fn a_typical_resume_costs_at_most_1500_tokens() {
    let house = House::new();
    story(&house);
    let client = house.client("tomas");
    let identity = client.ok("server_identity", json!({}));
    let found = packet(&client, "handoff: 8e287857 v7");
    let cost = tokens(&identity.to_string()) + tokens(&found.to_string());
    assert!(cost <= 1_500, "{cost} tokens");
}

#[test]
fn a_handoff_that_was_taken_over_says_to_ask_first() {
    let house = House::new();
    story(&house);
    house.client("ines").take_over(ID, 9, CODEX);
    house.pass_minutes(10);
    let found = packet(&house.client("tomas"), "handoff: 8e287857 v7");
    assert_eq!(found["taken_over"], json!({"by": CODEX, "v": 10, "age": "10m"}));
    assert_eq!(found["next"], "Another session has this task. Ask the owner before task_takeover (it needs force).");
    assert_eq!((&found["owner"], &found["idle"], found.get("pending")), (&json!(CODEX), &json!("10m"), None));
    assert_eq!(found["moved"]["to"], 10);
    house.pass_minutes(30);
    let found = packet(&house.client("tomas"), "handoff: 8e287857 v7");
    let next = text(&found["next"]);
    assert!(next.contains("Ask the owner before task_takeover") && !next.contains("force"), "{next}");
    let own = house.client("ines").ok("continuity_context", json!({"handoff": ID, "session_ref": CODEX}));
    assert_eq!((own.get("taken_over"), own.get("next")), (None, None));
    let own = packet(&house.session("ines", CODEX), ID);
    assert_eq!(own.get("taken_over"), None);
}

#[test]
fn a_task_handed_off_again_is_not_told_as_taken() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.hand_off(&task, 1, CLAUDE);
    client.take_over(&task, 2, CODEX);
    let answer = client.hand_off(&task, 3, CODEX);
    let found = packet(&client, text(&answer["line"]));
    assert_eq!((found.get("taken_over"), found.get("moved"), &found["pending"]), (None, None, &json!("0s")));
    assert_eq!(found["written_by"], CODEX);
}

#[test]
fn a_finished_task_says_how_to_reopen_it() {
    let house = House::new();
    let client = house.client("maria");
    for (status, more) in
        [("done", json!({"status": "done", "result": "r"})), ("cancelled", json!({"status": "cancelled"}))]
    {
        let task = client.create("Import bank statements");
        client.hand_off(&task, 1, CLAUDE);
        client.update(&task, 2, more);
        let found = packet(&client, &format!("handoff: {} v2", short(&task)));
        let next = text(&found["next"]);
        let call = format!("task_update task_id={} expected_version=3 status=todo", short(&task));
        assert!(next.contains(status) && next.contains(&call), "{next}");
        client.update(&task, 3, json!({"status": "todo"}));
    }
}

#[test]
fn what_moved_shows_the_last_three_changes() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    for version in 1..9 {
        client.update(&task, version, json!({"priority": version % 5}));
    }
    let moved = packet(&client, &format!("handoff: {} v3", short(&task)))["moved"].clone();
    let versions: Vec<&Value> = rows(&moved["changes"]).iter().map(|row| &row["v"]).collect();
    assert_eq!(versions, [7, 8, 9]);
    assert_eq!((&moved["from"], &moved["to"], &moved["earlier"]), (&json!(3), &json!(9), &json!(3)));
}

#[test]
fn rw_068_only_the_present_next_step_is_told() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Release");
    client.update(&task, 1, json!({"handoff_next": "migrate table users", "work_receipt": {"session_ref": CLAUDE}}));
    client.update(&task, 2, json!({"handoff_next": "write the release note", "work_receipt": {"session_ref": CLAUDE}}));
    let found = packet(&client, &format!("handoff: {} v2", short(&task)));
    assert_eq!(found["handoff_next"], "write the release note");
    assert!(!found.to_string().contains("migrate table users"), "{found}");
    assert!(!client.ok("continuity_context", json!({})).to_string().contains("migrate table users"));
}

#[test]
fn without_next_steps_the_description_is_shown() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create_with("Import", json!({"description": "What is to be done and why."}));
    let found = packet(&client, &task);
    assert_eq!((&found["description"], found.get("handoff_next")), (&json!("What is to be done and why."), None));
    client.update(&task, 1, json!({"handoff_next": "cargo test"}));
    let found = packet(&client, &task);
    assert_eq!((found.get("description"), &found["handoff_next"]), (None, &json!("cargo test")));
}

#[test]
fn open_boxes_are_always_shown() {
    let house = House::new();
    let client = house.client("maria");
    let lists =
        json!({"completion_criteria": "- [x] a\n1. [ ] b\n  + [ ] c", "required_reviews": "* [ ] d\n- [y] no box"});
    let task = client.create_with("Import", lists);
    assert_eq!(packet(&client, &task)["open_boxes"], json!(["b", "c", "d"]));
}

#[test]
fn memories_that_texts_name_come_with_what_supersedes_them() {
    let house = House::new();
    let client = house.client("maria");
    let add = |more: Value| text(&client.ok("memory_add", merged(json!({"kind": "decision"}), more))["id"]).to_owned();
    let old = add(json!({"summary": "MySQL", "body": "the old reasons"}));
    let new = add(json!({"summary": "PostgreSQL", "supersedes": old}));
    add(json!({"summary": "Named nowhere"}));
    let others: Vec<String> = (0..10).map(|number| add(json!({"summary": format!("Decision {number}")}))).collect();
    let task = client.create("Import bank statements");
    let more = json!({
        "handoff_next": format!("cargo test\nSee {old}.\nPrevious session: {CLAUDE}"),
        "handoff_completed": others.join(", "),
        "work_receipt": {"session_ref": CLAUDE},
    });
    client.update(&task, 1, more);
    let found = packet(&client, &task);
    let memories = rows(&found["memories"]);
    assert_eq!(memories.len(), 8);
    assert_eq!((&memories[0]["id"], &memories[0]["superseded_by"]), (&json!(old), &json!(new)));
    assert_eq!(memories[1]["id"], json!(new));
    assert!(!found.to_string().contains("the old reasons") && !found.to_string().contains("Named nowhere"));
    for left_out in &others[6..] {
        assert!(found.to_string().contains(left_out), "{left_out} is named");
    }
}

/// A handed-off task after so many updates and receipts, with memories of which two are named.
fn with_history(house: &House, updates: i64, memories: usize) -> String {
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let ids: Vec<String> = (0..memories)
        .map(|number| {
            let body = "the reasons of this decision ".repeat(10);
            let memory = json!({"kind": "decision", "summary": format!("Decision {number}"), "body": body});
            text(&client.ok("memory_add", memory)["id"]).to_owned()
        })
        .collect();
    let next = format!("cargo test -p import\nDecisions: {}, {}\nPrevious session: {CLAUDE}", ids[0], ids[1]);
    for version in 1..updates {
        let more = json!({
            "handoff_next": next,
            "handoff_completed": "Prepared: the parser. ".repeat(20),
            "work_receipt": {"session_ref": CLAUDE, "branch": "feat/import", "tests": "148 passed"},
            "replace": true,
        });
        client.update(&task, version, more);
    }
    task
}

#[test]
fn rw_071_a_resume_does_not_grow_with_the_history() {
    let measured = [(5, 2), (60, 25)].map(|(updates, memories)| {
        let house = House::new();
        let task = with_history(&house, updates, memories);
        for number in 0..memories {
            house.client("maria").create(&format!("Another task {number}"));
        }
        let client = house.client("tomas");
        let found = packet(&client, &task);
        assert_eq!(rows(&found["memories"]).len(), 2);
        assert_eq!(found["version"], updates);
        let overview = client.ok("continuity_context", json!({}));
        let read = client.get(&task);
        assert!(tokens(&overview.to_string()) + tokens(&read.to_string()) <= 4_000);
        found.to_string().len()
    });
    let [small, large] = measured;
    assert!(large <= small + 16, "{small} bytes after 5 versions, {large} after 60");
}

#[test]
fn a_new_project_at_a_glance() {
    let house = House::new();
    let expected = json!({
        "project": "ledger",
        "language": "en",
        "caller": "maria",
        "role": "write",
        "counts": {"todo": 0, "in_progress": 0, "blocked": 0, "done": 0, "cancelled": 0},
        "in_progress": [],
        "pending_handoffs": [],
        "blocked": [],
        "decisions": [],
        "messages": [],
        "next": "task_list, or continuity_context with a task id",
    });
    assert_eq!(house.client("maria").ok("continuity_context", json!({})), expected);
}

#[test]
fn a_project_at_a_glance_shows_what_goes_on_and_what_waits() {
    let house = House::new();
    let client = house.client("maria");
    let (working, waiting, blocked) = (client.create("Working"), client.create("Waiting"), client.create("Blocked"));
    client.take_over(&working, 1, CODEX);
    client.hand_off(&waiting, 1, CLAUDE);
    client.update(
        &blocked,
        1,
        json!({"status": "blocked", "handoff_blockers": "CI is down; ops moves next; a runner."}),
    );
    let id = client.ok("memory_add", json!({"kind": "decision", "summary": "Minor units."}))["id"].clone();
    house.pass_hours(14);
    let found = client.ok("continuity_context", json!({}));
    let expected = [
        (
            "in_progress",
            json!([{
                "id": short(&working), "v": 2, "title": "Working", "summary": "created", "owner": "codex:01a2f6de-5c1b", "age": "14h",
            }]),
        ),
        (
            "pending_handoffs",
            json!([{
                "line": format!("handoff: {} v2", short(&waiting)), "title": "Waiting", "summary": "state",
                "from": "claude-code:0d6a41c8", "age": "14h",
            }]),
        ),
        (
            "blocked",
            json!([{
                "id": short(&blocked), "v": 2, "title": "Blocked", "waits": "CI is down; ops moves next; a runner.", "age": "14h",
            }]),
        ),
        ("decisions", json!([{"id": id, "summary": "Minor units.", "age": "14h"}])),
        ("next", json!("continuity_context with one of these lines, or task_list")),
    ];
    for (name, value) in expected {
        assert_eq!(found[name], value, "{name}");
    }
}

#[test]
fn each_list_at_a_glance_is_capped_with_the_count_of_the_rest() {
    let house = House::new();
    let client = house.client("maria");
    for number in 0..7 {
        let (working, waiting, blocked) = (client.create("a"), client.create("b"), client.create("c"));
        client.update(&working, 1, json!({"status": "in_progress"}));
        client.hand_off(&waiting, 1, CLAUDE);
        client.update(&blocked, 1, json!({"status": "blocked", "handoff_blockers": "b"}));
        client.ok("memory_add", json!({"kind": "decision", "summary": format!("Decision {number}")}));
    }
    let found = client.ok("continuity_context", json!({}));
    let calls = [
        ("in_progress", "task_list status=in_progress"),
        ("pending_handoffs", "task_list pending_handoff=true"),
        ("blocked", "task_list status=blocked"),
        ("decisions", "memory_search kind=decision"),
    ];
    for (name, call) in calls {
        assert_eq!(rows(&found[name]).len(), 5, "{name}");
        assert_eq!(found["more"][name], json!({"count": 2, "next": call}));
    }
}

#[test]
fn every_line_at_a_glance_opens_its_task() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Waiting");
    client.hand_off(&task, 1, CLAUDE);
    client.update(&task, 2, json!({"priority": 0}));
    let found = client.ok("continuity_context", json!({}));
    let line = text(&found["pending_handoffs"][0]["line"]);
    assert_eq!(packet(&client, line)["task_id"], json!(task));
    let ghost = json!({"handoff": "handoff: ffffffff v1"});
    client.refused("continuity_context", ghost, Code::NotFound, &["ffffffff"]);
}
