//! The grade: kept with the write, shown where a handoff waits and is not ready, and gone with it.

use serde_json::{Value, json};

use super::good;
use crate::house::{House, merged, rows};

fn row(house: &House, task: &str) -> Value {
    let list = house.client("maria").ok("task_list", json!({}));
    rows(&list["tasks"]).iter().find(|row| row["id"] == task[..8]).expect("the row").clone()
}

fn thin() -> Value {
    let mut fields = good();
    fields["work_receipt"]["model"] = json!("");
    fields
}

fn misleading() -> Value {
    let mut fields = good();
    fields["work_receipt"]["branch"] = json!("feat/other");
    fields
}

#[test]
fn a_list_and_the_packet_tell_the_grade_of_a_handoff_that_is_not_ready() {
    let house = House::new();
    let client = house.client("maria");
    for (fields, grade) in [(good(), Value::Null), (thin(), json!("thin")), (misleading(), json!("misleading"))] {
        let task = client.create("Import bank statements");
        client.update(&task, 1, fields);
        let expected = grade.as_str().unwrap_or("ready");
        assert_eq!(client.ok("handoff_check", json!({"task_id": task}))["grade"], expected);
        assert_eq!(row(&house, &task)["grade"], grade);
        assert_eq!(client.ok("continuity_context", json!({"handoff": task}))["grade"], grade);
    }
}

#[test]
fn the_grade_follows_the_handoff() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, thin());
    client.update(&task, 2, json!({"priority": 1}));
    assert_eq!(row(&house, &task)["grade"], "thin", "another change leaves it");
    client.update(&task, 3, good());
    assert_eq!(row(&house, &task).get("grade"), None, "mended");
    client.update(&task, 4, json!({"handoff_blockers": "Needs a key from ops."}));
    assert_eq!(row(&house, &task)["grade"], "misleading", "a blocker on a task that is not blocked");
    let packet = client.take_over(&task, 5, "codex:1");
    assert_eq!(packet["version"], 6);
    assert_eq!(row(&house, &task).get("grade"), None, "no handoff waits");
    let house = house.restarted();
    assert_eq!(row(&house, &task).get("handoff"), None);
}

#[test]
fn a_title_or_a_summary_is_judged_while_a_handoff_waits() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, good());
    assert_eq!(row(&house, &task).get("grade"), None, "ready");
    client.update(&task, 2, json!({"summary": "first line\nsecond line"}));
    assert_eq!(row(&house, &task)["grade"], "thin", "a summary of two lines");
    client.update(&task, 3, json!({"summary": "Importer works on staging."}));
    assert_eq!(row(&house, &task).get("grade"), None, "mended");
    client.update(&task, 4, json!({"summary": "Importer works on staging.", "title": "Importer works on staging"}));
    assert_eq!(row(&house, &task)["grade"], "thin", "the summary says the title again");
    let hidden = client.update(&task, 5, json!({"title": "Import", "tags": ["a\u{2063}b"]}));
    assert!(hidden.to_string().contains("no-hidden-characters"), "{hidden}");
}

#[test]
fn a_server_that_knows_no_grades_leaves_none_that_is_old() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, misleading());
    client.update(&task, 2, merged(good(), json!({"summary": "Mended."})));
    // As if version 3 had been written by a program of before: the grade of version 2 is still there.
    house.database().damage("update task_grade set version = 2, grade = 'misleading'");
    assert_eq!(row(&house, &task).get("grade"), None);
    house.database().damage("update task_grade set version = 3");
    assert_eq!(row(&house, &task)["grade"], "misleading");
}

#[test]
fn what_git_contradicts_misleads_until_a_new_receipt_comes() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, good());
    let at = "2026-11-25T08:00:00Z";
    let facts = json!({
        "at": at, "path": "/home/maria/ledger", "git": "2.47.3",
        "repository": {"at": at, "object_format": "sha1"},
        "branch": {"at": at, "is_name": true, "local": "9f3b2d1000000000000000000000000000000000"},
        "result_commit": {"at": at, "found": "missing"},
    });
    let record = json!({"task_id": task, "receipt_version": 2, "facts": facts});
    let told = house.person("tomas").ok("receipt_record", record);
    assert_eq!(told["verdict"], "contradicted", "{told}");
    let checked = client.ok("handoff_check", json!({"task_id": task}));
    let missing =
        "result_commit 9f3b2d1 does not exist here, and there is no remote to fetch it from: ask the previous session";
    assert_eq!(
        (&checked["grade"], &checked["findings"], &checked["verified"], &checked["differences"]),
        (&json!("misleading"), &json!([]), &json!("contradicted"), &json!([missing])),
    );
    assert_eq!(row(&house, &task)["grade"], "misleading");
    assert_eq!(client.ok("continuity_context", json!({"handoff": task}))["grade"], "misleading");
    client.update(&task, 2, json!({"work_receipt": good()["work_receipt"]}));
    assert_eq!(client.ok("handoff_check", json!({"task_id": task}))["grade"], "ready");
    assert_eq!(row(&house, &task).get("grade"), None);
    assert_eq!(client.ok("continuity_context", json!({"handoff": task})).get("grade"), None);
}
