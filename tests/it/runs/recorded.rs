//! Runs that are recorded on their tasks: once, at a version, with what stood there.

use heyaira::domain::run::Outcome;
use heyaira::error::{Code, Refusal};
use serde_json::{Value, json};

use super::{NATIVE, deliver, field, record, report, run_id, task_with_run};
use crate::house::{CLAUDE, House, rows, short, text};

fn conflict(house: &House, arguments: Value) -> Refusal {
    let refusal = house.person("tomas").call("run_record", arguments).expect_err("a conflict");
    assert_eq!(refusal.code, Code::VersionConflict, "{refusal}");
    refusal
}

#[test]
fn a_recorded_run_is_a_handoff_that_waits() {
    let house = House::new();
    let (task, report) = task_with_run(&house, Outcome::Succeeded);
    let answer = record(&house.person("tomas"), &report, 1);
    assert_eq!((&answer["version"], &answer["existing"]), (&json!(2), &json!(false)), "{answer}");
    assert_eq!(answer["line"], format!("handoff: {} v2", short(&task)));
    assert!(answer.get("warnings").is_none(), "{answer}");
    let read = house.client("maria").get(&task);
    assert_eq!(
        (&read["status"], &read["receipt"]["session_ref"]),
        (&json!("todo"), &json!(report.session_ref)),
        "{read}"
    );
    assert_eq!(
        read["receipt"]["tests"],
        "Run by `sh -c` in the worktree, 1/1 passed:\n`cargo test -p import`: exit code 0, 12 passed, 0 failed, 0 skipped (cargo test)"
    );
    assert_eq!((&read["receipt"]["harness"], &read["receipt"]["model"]), (&json!("codex 0.46.0"), &json!("gpt-6")));
    assert!(
        text(&read["handoff_next"]).starts_with("git -C /src/ledger log --stat 4c19e7a0b1c2..heyaira/run-one\n"),
        "{read}"
    );
    let pending = house.client("maria").ok("task_list", json!({"pending_handoff": true}));
    assert_eq!(pending["total"], 1);
    let shown = house.person("tomas").ok("run_show", json!({"run": report.run_id}));
    assert_eq!((&shown["recorded"]["version"], &shown["recorded"]["by"]), (&json!(2), &json!("tomas")), "{shown}");
    // The successor finds all of it.
    let packet = house.client("maria").ok("continuity_context", json!({"handoff": answer["line"]}));
    assert!(packet.get("unrecorded_runs").is_none(), "{packet}");
    assert_eq!(packet["receipt"]["branch"], "heyaira/run-one");
}

#[test]
fn the_words_of_the_model_are_marked_and_stand_in_the_receipt_alone() {
    let house = House::new();
    let (task, mut long) = task_with_run(&house, Outcome::Succeeded);
    long.run_id = run_id(2);
    long.said.final_message = Some(format!("first {}", "word ".repeat(1_000)));
    deliver(&house, &long);
    record(&house.person("tomas"), &report(1, Some(&task), Outcome::Succeeded), 1);
    let of_receipt = |name: &str| text(&house.client("maria").get(&task)["receipt"][name]).to_owned();
    let work = of_receipt("completed_work");
    assert!(
        work.starts_with("2 commits on `heyaira/run-one`, files changed: 3, lines added: 140, removed: 12.\n"),
        "{work}"
    );
    assert!(work.contains("The commits say (unchecked): \"Parse camt.053\"; \"Test the parser\""), "{work}");
    assert!(
        work.contains("The harness says (unchecked): \"I parsed it. All is deployed and verified in production!\""),
        "{work}"
    );
    assert!(work.contains("Tools that were refused: Bash (2)") && work.contains("cost: 0.4200 (prices) US$"), "{work}");
    for name in ["summary", "handoff_next", "handoff_completed"] {
        let told = field(&house, &task, name);
        assert!(!told.contains("parsed it") && !told.contains("camt"), "{name}: {told}");
    }
    record(&house.person("tomas"), &long, 2);
    let work = of_receipt("completed_work");
    assert!(work.ends_with("(cut: 2,000 of 5,005 characters; the rest: `heyaira run show 00000002`)"), "{work}");
}

#[test]
fn recording_twice_is_one_record() {
    let house = House::new();
    let (task, report) = task_with_run(&house, Outcome::Succeeded);
    let person = house.person("tomas");
    record(&person, &report, 1);
    house.client("maria").update(&task, 2, json!({}));
    // Whatever version is sent.
    for version in [1, 2, 3, 99] {
        let again = record(&person, &report, version);
        assert_eq!(
            (&again["existing"], &again["version"], &again["current_version"]),
            (&json!(true), &json!(2), &json!(3)),
            "{again}"
        );
    }
    assert_eq!((house.client("maria").version(&task), &house.client("maria").get(&task)["receipts"]), (3, &json!(1)));
    let other = house.client("maria").create("Another task");
    let arguments = json!({"run": report.run_id, "expected_version": 1, "task_id": other});
    person.refused("run_record", arguments, Code::NotAllowed, &["belongs to task"]);
}

#[test]
fn two_who_record_at_once_make_one_record() {
    let house = House::new();
    let (task, report) = task_with_run(&house, Outcome::Succeeded);
    let (one, other) = (house.person("tomas"), house.person("maria"));
    let arguments = || json!({"run": report.run_id, "expected_version": 1});
    let both = house.block_on(futures_util::future::join(
        one.asking("run_record", arguments()),
        other.asking("run_record", arguments()),
    ));
    let answers = [both.0.expect("recorded"), both.1.expect("recorded")];
    assert_eq!(answers.iter().filter(|answer| answer["existing"] == true).count(), 1, "{answers:?}");
    assert!(answers.iter().all(|answer| answer["version"] == 2), "{answers:?}");
    assert_eq!(house.client("maria").get(&task)["receipts"], 1);
}

#[test]
fn two_who_record_a_run_without_a_task_on_two_tasks_make_one_record() {
    let house = House::new();
    let tasks = ["one", "two"].map(|title| house.client("maria").create(title));
    let report = report(1, None, Outcome::Succeeded);
    deliver(&house, &report);
    let clients = [house.person("tomas"), house.person("maria")];
    let calls = clients.iter().zip(&tasks).map(|(client, task)| {
        client.asking("run_record", json!({"run": report.run_id, "expected_version": 1, "task_id": task}))
    });
    let answers = house.block_on(futures_util::future::join_all(calls));
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
    let receipts = tasks.iter().map(|task| house.client("maria").get(task)["receipts"].as_i64().expect("a number"));
    assert_eq!(receipts.sum::<i64>(), 1);
}

#[test]
fn a_conflict_shows_the_merge_and_the_call_for_it() {
    let house = House::new();
    let (task, report) = task_with_run(&house, Outcome::Succeeded);
    let maria = house.client("maria");
    let written = json!({"summary": "written meanwhile", "handoff_next": "make check\nThen the rest.\nPrevious session: label:maria"});
    maria.update(&task, 1, written);
    let refusal = conflict(&house, json!({"run": report.run_id, "expected_version": 1, "status": "in_progress"}));
    assert_eq!(rows(&refusal.details["changes"])[0]["v"], 2);
    assert!(refusal.message.contains("handoff_next"), "{refusal}");
    assert!(
        refusal
            .next
            .contains("heyaira run record 00000001 --expected-version 2 --status in_progress. Nothing was written."),
        "{refusal}"
    );
    let merge = &refusal.details["merge"];
    assert_eq!(merge["version"], 2);
    assert!(
        text(&merge["handoff_next"])
            .contains("\nSteps from before this run:\nmake check\nThen the rest.\nPrevious session: codex:"),
        "{merge}"
    );
    assert_eq!(maria.version(&task), 2);
    // The call as it is told writes what was shown.
    let call = &merge["call"];
    house.person("tomas").ok(text(&call["operation"]), call["arguments"].clone());
    let read = maria.get(&task);
    assert_eq!(
        (&read["version"], &read["handoff_next"], &read["status"]),
        (&json!(3), &merge["handoff_next"], &json!("in_progress"))
    );
    assert_eq!(read["handoff_completed"], text(&merge["handoff_completed_append"]));
}

#[test]
fn a_conflict_that_cannot_be_merged_shows_none() {
    let house = House::new();
    let (_, report) = task_with_run(&house, Outcome::Succeeded);
    let refusal = conflict(&house, json!({"run": report.run_id, "expected_version": 7}));
    assert!(refusal.next.contains("stop and tell the owner") && !refusal.details.contains_key("merge"), "{refusal}");
}

#[test]
fn who_took_the_task_over_meanwhile_is_named_first() {
    let house = House::new();
    let (task, report) = task_with_run(&house, Outcome::Succeeded);
    house.client("maria").take_over(&task, 1, CLAUDE);
    let refusal = conflict(&house, json!({"run": report.run_id, "expected_version": 1}));
    assert!(refusal.next.starts_with("Ask the owner first") && refusal.details.contains_key("merge"), "{refusal}");
}

#[test]
fn what_is_given_takes_the_place_of_what_is_made() {
    let house = House::new();
    let (task, report) = task_with_run(&house, Outcome::Failed);
    let arguments = json!({
        "run": short(&report.run_id),
        "expected_version": 1,
        "status": "blocked",
        "summary": "The parser waits for a sample.",
        "handoff_next": format!("make sample\nPrevious session: codex:{NATIVE}"),
        "handoff_blockers": "No sample file; Ines must send one; needed: camt.053 of October",
    });
    house.person("tomas").ok("run_record", arguments.clone());
    let read = house.client("maria").get(&task);
    for name in ["status", "summary", "handoff_next", "handoff_blockers"] {
        assert_eq!(read[name], arguments[name], "{name}");
    }
    assert_eq!(
        (&read["receipt"]["next_step"], &read["receipt"]["blockers"]),
        (&json!("make sample"), &arguments["handoff_blockers"])
    );
}

#[test]
fn only_what_was_given_is_refused_for_what_a_rule_finds() {
    let house = House::new();
    let rules = ["first-step-executable=refuse", "no-transcript=refuse", "blocker-three-parts=refuse"];
    house.owner().ok("project_set", json!({"project": "ledger", "rule": rules}));
    let (task, report) = task_with_run(&house, Outcome::NoWork);
    house.owner().ok("project_set", json!({"project": "ledger", "rule": ["no-transcript=warn"]}));
    let pasted = "user: do it\nassistant: done";
    house.client("maria").update(&task, 1, json!({"handoff_completed": pasted}));
    house.owner().ok("project_set", json!({"project": "ledger", "rule": ["no-transcript=refuse"]}));
    let person = house.person("tomas");
    let given = json!({"run": report.run_id, "expected_version": 2, "handoff_next": "think about it"});
    person.refused("run_record", given, Code::NotAllowed, &["first-step-executable"]);
    let answer = record(&person, &report, 2);
    assert!(answer["warnings"].to_string().contains("no-transcript"), "{answer}");
}

#[test]
fn a_finished_task_takes_no_run_and_the_refusal_says_what_to_do() {
    let house = House::new();
    let (task, report) = task_with_run(&house, Outcome::Succeeded);
    house.client("maria").update(&task, 1, json!({"status": "cancelled"}));
    let call = "heyaira run record 00000001 --expected-version 2 --receipt-only";
    let parts = ["is cancelled", "--status todo", call, "heyaira run dismiss 00000001"];
    let arguments = json!({"run": report.run_id, "expected_version": 2});
    let person = house.person("tomas");
    person.refused("run_record", arguments, Code::NotAllowed, &parts);
    assert_eq!(person.ok("run_show", json!({"run": report.run_id}))["next"], call, "what works is what is told");
    let mut other = report;
    (other.run_id, other.task_id) = (run_id(2), None);
    deliver(&house, &other);
    let named = json!({"run": other.run_id, "expected_version": 2, "task_id": task});
    let call = format!("heyaira run record 00000002 --task-id {} --expected-version 2 --receipt-only", short(&task));
    person.refused("run_record", named, Code::NotAllowed, &[&call]);
}

#[test]
fn the_receipt_alone_has_all_facts_and_leaves_a_task_as_it_is() {
    for status in ["cancelled", "in_progress"] {
        let house = House::new();
        let (task, report) = task_with_run(&house, Outcome::Succeeded);
        house.client("maria").update(&task, 1, json!({"status": status}));
        let before = house.client("maria").get(&task);
        let person = house.person("tomas");
        let alone = |more: Value| {
            let mut arguments = json!({"run": report.run_id, "expected_version": 2, "receipt_only": true});
            arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            arguments
        };
        let parts = ["summary cannot be given", "status cannot be given", "handoff_next cannot be given"];
        let more = json!({"status": "todo", "summary": "s", "handoff_next": "make check"});
        person.refused("run_record", alone(more), Code::InvalidArgument, &parts);
        let answer = person.ok("run_record", alone(json!({})));
        assert_eq!((&answer["version"], &answer["changed_fields"]), (&json!(3), &json!(["receipts"])), "{answer}");
        assert!(answer.get("warnings").is_none(), "{status}: {answer}");
        let read = house.client("maria").get(&task);
        for name in ["status", "summary", "handoff_next", "handoff_completed", "handoff_blockers", "owner"] {
            assert_eq!(read[name], before[name], "{status}: {name}");
        }
        let receipt = &read["receipt"];
        assert_eq!((&receipt["branch"], &receipt["model"]), (&json!("heyaira/run-one"), &json!("gpt-6")), "{read}");
        assert!(text(&receipt["tests"]).contains("12 passed"), "{read}");
        assert_eq!(person.ok("run_list", json!({"recorded": true}))["runs"][0]["recorded"], "v3");
        let again = person.ok("run_record", alone(json!({})));
        assert_eq!((&again["existing"], &again["version"]), (&json!(true), &json!(3)));
    }
}

#[test]
fn a_conflict_of_the_receipt_alone_shows_it_and_the_call_for_it() {
    let house = House::new();
    let (task, report) = task_with_run(&house, Outcome::Succeeded);
    house.client("maria").update(&task, 1, json!({"status": "cancelled"}));
    let refusal = conflict(&house, json!({"run": report.run_id, "expected_version": 1, "receipt_only": true}));
    let call = "heyaira run record 00000001 --expected-version 2 --receipt-only. Nothing was written.";
    assert!(refusal.next.contains(call), "{refusal}");
    let merge = &refusal.details["merge"];
    assert!(merge.get("summary").is_none() && merge["work_receipt"]["branch"] == "heyaira/run-one", "{merge}");
    let call = &merge["call"];
    house.person("tomas").ok(text(&call["operation"]), call["arguments"].clone());
    assert_eq!(house.client("maria").get(&task)["status"], "cancelled");
}

#[test]
fn a_run_without_a_task_needs_one_and_then_has_it() {
    let house = House::new();
    let task = house.client("maria").create("Import bank statements");
    let report = report(1, None, Outcome::Succeeded);
    assert_eq!(deliver(&house, &report)["next"], "heyaira run record 00000001 --task-id TASK --expected-version N");
    let person = house.person("tomas");
    let arguments = json!({"run": report.run_id, "expected_version": 1});
    person.refused("run_record", arguments, Code::InvalidArgument, &["task_id is missing"]);
    person.ok("run_record", json!({"run": report.run_id, "expected_version": 1, "task_id": short(&task)}));
    assert_eq!(person.ok("run_list", json!({"task": task}))["total"], 1);
    let part = json!({"run": "00000", "expected_version": 1});
    person.refused("run_record", part, Code::InvalidArgument, &["part of an id"]);
}

#[test]
fn a_receipt_that_names_the_session_records_its_runs_of_that_task() {
    let house = House::new();
    let tasks = ["one", "two", "three"].map(|title| house.client("maria").create(title));
    for (number, task) in (1..).zip(&tasks) {
        deliver(&house, &report(number, Some(task), Outcome::Succeeded));
    }
    let unrecorded = || house.person("tomas").ok("run_list", json!({"recorded": false}))["total"].clone();
    let receipt = |task: &str, session: String| {
        house.session("maria", CLAUDE).update(task, 1, json!({"work_receipt": {"session_ref": session}}));
    };
    receipt(&tasks[0], format!("codex:{NATIVE}"));
    assert_eq!(unrecorded(), 2);
    // A run of another task is none of this one's.
    receipt(&tasks[1], "run:00000003".to_owned());
    assert_eq!(unrecorded(), 2);
    house.client("maria").update(&tasks[1], 2, json!({"work_receipt": {"session_ref": "run:00000002"}}));
    receipt(&tasks[2], format!("run:{}", run_id(3)));
    assert_eq!(unrecorded(), 0);
    let shown = house.person("tomas").ok("run_show", json!({"run": run_id(3)}));
    assert_eq!((&shown["recorded"]["version"], &shown["recorded"]["by"]), (&json!(2), &json!(CLAUDE)), "{shown}");
    let again = record(&house.person("tomas"), &report(3, Some(&tasks[2]), Outcome::Succeeded), 1);
    assert_eq!((&again["existing"], &again["version"]), (&json!(true), &json!(2)));
}
