//! Tasks: creating, changing, the rules of every status, texts that stay as they were written, ids.

use heyaira::domain::task::Content;
use heyaira::error::Code;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::house::{CLAUDE, CODEX, Client, House, rows, rules, short, text};

const ID: &str = "8e287857-4f0b-4c1d-9a77-51c2b0e6d9f4";

#[test]
fn a_new_task_is_todo_at_version_one_with_the_defaults() {
    let house = House::new();
    house.next_ids(&[ID]);
    let client = house.client("maria");
    let answer = client.ok("task_create", json!({"title": "Import bank statements", "summary": "Not begun."}));
    assert_eq!(answer, json!({"task_id": ID, "version": 1, "line": "handoff: 8e287857 v1"}));
    let expected = json!({
        "task_id": ID,
        "version": 1,
        "current_version": 1,
        "status": "todo",
        "priority": 2,
        "title": "Import bank statements",
        "summary": "Not begun.",
        "owner": null,
        "tags": [],
        "parent": null,
        "depends_on": [],
        "created": "2026-11-25T08:00:00Z",
        "updated": "2026-11-25T08:00:00Z",
        "written_by": "maria",
        "handoff_next": "",
        "handoff_blockers": "",
        "handoff_completed": "",
        "description": "",
        "completion_criteria": "",
        "required_reviews": "",
        "receipts": 0,
        "messages": [],
    });
    assert_eq!(client.get(ID), expected);
}

#[test]
fn task_ids_are_random_uuids_of_version_four() {
    let house = House::new();
    let id: Uuid = house.client("maria").create("One").parse().expect("a UUID");
    assert_eq!(id.get_version_num(), 4);
}

#[test]
fn an_id_whose_first_eight_are_taken_is_drawn_again_in_the_whole_instance() {
    let house = House::new();
    house.add_project("other");
    house.next_ids(&[ID, "8e287857-ffff-4000-8000-000000000002", "11111111-0000-4000-8000-000000000003"]);
    house.client("maria").create("First");
    assert_eq!(house.client_in("other", "oscar").create("Second"), "11111111-0000-4000-8000-000000000003");
}

#[test]
fn every_accepted_change_makes_exactly_one_version() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    for version in 1..6 {
        let answer = client.update(&task, version, json!({"summary": format!("step {version}")}));
        assert_eq!(answer["version"], version + 1);
        assert_eq!(answer["line"], format!("handoff: {} v{}", short(&task), version + 1));
        assert_eq!(answer["changed_fields"], json!(["summary"]));
    }
    assert_eq!(client.version(&task), 6);
}

#[test]
fn todo_clears_the_owner() {
    let house = House::new();
    let client = house.session("maria", CODEX);
    let task = client.create("Import bank statements");
    client.take_over(&task, 1, CODEX);
    assert_eq!(client.get(&task)["owner"], CODEX);
    let answer = client.update(&task, 2, json!({"status": "todo"}));
    assert_eq!(answer["changed_fields"], json!(["status", "summary", "owner"]));
    assert_eq!(client.get(&task)["owner"], json!(null));
}

#[test]
fn in_progress_without_an_owner_makes_the_writing_session_the_owner() {
    let house = House::new();
    let (observed, told, person) = (house.session("maria", CODEX), house.client("maria"), house.person("tomas"));
    let task = observed.create("By an observed session");
    observed.update(&task, 1, json!({"status": "in_progress"}));
    assert_eq!(observed.get(&task)["owner"], CODEX);
    let task = told.create("By a session in its receipt");
    told.update(&task, 1, json!({"status": "in_progress", "work_receipt": {"session_ref": CLAUDE}}));
    assert_eq!(told.get(&task)["owner"], CLAUDE);
    let task = person.create("By a person");
    person.update(&task, 1, json!({"status": "in_progress"}));
    assert_eq!(person.get(&task)["owner"], "tomas");
}

#[test]
fn in_progress_leaves_an_owner_and_update_can_assign_a_person() {
    let house = House::new();
    let client = house.session("maria", CODEX);
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"owner": "ines"}));
    client.update(&task, 2, json!({"status": "in_progress"}));
    assert_eq!(client.get(&task)["owner"], "ines");
    client.update(&task, 3, json!({"owner": ""}));
    assert_eq!(client.get(&task)["owner"], json!(null));
}

#[test]
fn blocked_needs_blockers_and_keeps_needing_them() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let parts = ["handoff_blockers", "Nothing was written."];
    for blockers in [json!(null), json!(""), json!(" \n")] {
        let more = json!({"status": "blocked", "handoff_blockers": blockers});
        client.update_refused(&task, 1, more, Code::NotAllowed, &parts);
    }
    client.update(&task, 1, json!({"status": "blocked", "handoff_blockers": "CI is down; ops moves next; a runner."}));
    client.update_refused(&task, 2, json!({"handoff_blockers": ""}), Code::NotAllowed, &parts);
    client.update(&task, 2, json!({"handoff_blockers": "", "status": "todo"}));
}

#[test]
fn rw_073_a_blocker_says_what_who_and_what_is_needed() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let none = json!({"status": "blocked", "handoff_blockers": ""});
    client.update_refused(&task, 1, none, Code::NotAllowed, &["blocked", "handoff_blockers"]);
    let released = json!({"status": "todo", "handoff_blockers": "Needs API key from ops (ops moves next)"});
    let answer = client.update(&task, 1, released);
    assert_eq!(rules(&answer, "warnings"), ["blocker-three-parts"], "a blocker on a task that is not blocked");
    let answer = client.update(&task, 2, json!({"status": "blocked", "handoff_blockers": "waiting"}));
    assert_eq!(rules(&answer, "warnings"), ["blocker-three-parts"], "one word says neither who nor what is needed");
}

/// A task with two boxes, one of them ticked, and one review.
fn with_boxes(client: &Client<'_>) -> String {
    let lists = json!({
        "completion_criteria": "- [x] parser written\n- [ ] tests pass",
        "required_reviews": "* [ ] Tomas",
    });
    client.create_with("Import bank statements", lists)
}

const ALL_TICKED: &str = "- [x] parser written\n- [X] tests pass";

#[test]
fn done_lists_everything_that_is_missing() {
    let house = House::new();
    let client = house.client("maria");
    let task = with_boxes(&client);
    let parts = ["status done needs", "completion_criteria (\"tests pass\")", "required_reviews (\"Tomas\")", "result"];
    client.update_refused(&task, 1, json!({"status": "done"}), Code::NotAllowed, &parts);
    let ticked = json!({"status": "done", "completion_criteria": ALL_TICKED, "required_reviews": "* [x] Tomas"});
    let told = client.update_refused(&task, 1, ticked.clone(), Code::NotAllowed, &["a result", "Nothing was written."]);
    assert!(!told.contains("tests pass"), "{told}");
    let answer = client.update(&task, 1, crate::house::merged(ticked, json!({"result": "212 files import."})));
    let read = client.get(&task);
    assert_eq!((&read["status"], &read["version"]), (&json!("done"), &json!(2)));
    let memory = client.ok("memory_search", json!({"ids": [answer["result"]]}))["memories"][0].clone();
    let kept = (&memory["kind"], &memory["summary"], &memory["body"], &memory["task_id"]);
    assert_eq!(kept, (&json!("result"), &json!("state"), &json!("212 files import."), &json!(task)));
}

#[test]
fn one_open_box_and_no_result_are_told_as_in_the_contract() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create_with("t", json!({"completion_criteria": "- [ ] tests pass"}));
    let part = "status done needs 1 open box ticked in completion_criteria (\"tests pass\") and a result";
    client.update_refused(&task, 1, json!({"status": "done"}), Code::NotAllowed, &[part, "memory_add kind=result"]);
}

#[test]
fn a_result_added_before_as_a_memory_is_enough_for_done() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.ok("memory_add", json!({"kind": "RESULT", "summary": "212 files import.", "task_id": task}));
    client.update(&task, 1, json!({"status": "done"}));
    assert_eq!(client.get(&task)["status"], "done");
}

#[test]
fn a_result_must_be_newer_than_the_last_reopening() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"status": "done", "result": "Everything imports."}));
    client.ok("memory_add", json!({"kind": "result", "summary": "While done.", "task_id": task}));
    client.update(&task, 2, json!({"status": "todo"}));
    client.update_refused(&task, 3, json!({"status": "done"}), Code::NotAllowed, &["result"]);
    client.ok("memory_add", json!({"kind": "result", "summary": "After it.", "task_id": task}));
    client.update(&task, 3, json!({"status": "done"}));
}

#[test]
fn a_result_of_another_task_does_not_count() {
    let house = House::new();
    let client = house.client("maria");
    let (task, other) = (client.create("One"), client.create("Other"));
    client.ok("memory_add", json!({"kind": "result", "summary": "s", "task_id": other}));
    client.ok("memory_add", json!({"kind": "result", "summary": "s"}));
    client.ok("memory_add", json!({"kind": "decision", "summary": "s", "task_id": task}));
    client.update_refused(&task, 1, json!({"status": "done"}), Code::NotAllowed, &["result"]);
    client.update_refused(&task, 1, json!({"status": "done", "result": " \n"}), Code::NotAllowed, &["result"]);
}

#[test]
fn the_update_that_sets_done_may_not_remove_boxes() {
    let house = House::new();
    let client = house.client("maria");
    let task = with_boxes(&client);
    let removed = json!({
        "status": "done",
        "result": "Everything imports.",
        "completion_criteria": "- [x] parser written",
        "required_reviews": "",
    });
    client.update_refused(&task, 1, removed, Code::NotAllowed, &["boxes", "tests pass", "Tomas"]);
    let reworded = json!({
        "status": "done",
        "result": "Everything imports.",
        "completion_criteria": "- [x] parser written\n- [x] no tests",
        "required_reviews": "* [x] Tomas",
    });
    client.update_refused(&task, 1, reworded, Code::NotAllowed, &["tests pass"]);
    assert_eq!(client.version(&task), 1);
}

#[test]
fn a_done_task_does_not_get_an_open_box_unnoticed() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"status": "done", "result": "Everything imports."}));
    let open = json!({"completion_criteria": "- [ ] one more"});
    client.update_refused(&task, 2, open, Code::NotAllowed, &["one more"]);
}

#[test]
fn cancelled_needs_nothing_and_is_reopened_by_todo() {
    let house = House::new();
    let client = house.client("maria");
    let task = with_boxes(&client);
    client.update(&task, 1, json!({"status": "cancelled"}));
    client.update(&task, 2, json!({"status": "todo"}));
    assert_eq!(client.get(&task)["status"], "todo");
}

#[test]
fn parents_and_dependencies_make_no_circle() {
    let house = House::new();
    let client = house.client("maria");
    let (top, middle, bottom) = (client.create("Top"), client.create("Middle"), client.create("Bottom"));
    client.update(&middle, 1, json!({"parent": short(&top), "depends_on": [top]}));
    client.update(&bottom, 1, json!({"parent": middle, "depends_on": [short(&middle)]}));
    for id in [&top, &middle, &bottom] {
        client.update_refused(&top, 1, json!({"parent": id}), Code::NotAllowed, &["parent", short(id)]);
        client.update_refused(&top, 1, json!({"depends_on": [id]}), Code::NotAllowed, &["depends_on", short(id)]);
    }
    assert_eq!(client.version(&top), 1);
    let read = client.get(&bottom);
    assert_eq!((&read["parent"], &read["depends_on"]), (&json!(middle), &json!([short(&middle)])));
    client.update(&middle, 2, json!({"parent": ""}));
    client.update(&top, 1, json!({"parent": bottom}));
}

#[test]
fn a_revert_makes_no_circle_either() {
    let house = House::new();
    let (client, person) = (house.client("maria"), house.person("tomas"));
    let (first, second) = (client.create("First"), client.create("Second"));
    client.update(&first, 1, json!({"parent": second, "depends_on": [second]}));
    client.update(&first, 2, json!({"parent": "", "depends_on": []}));
    client.update(&second, 1, json!({"parent": first, "depends_on": [first]}));
    person.refused("task_revert", json!({"task_id": first, "to": 2}), Code::NotAllowed, &["circle"]);
}

#[test]
fn rw_010_a_long_text_comes_back_whole_or_is_refused() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let long = "é".repeat(70_000);
    let answer = client.update(&task, 1, json!({"handoff_completed": long}));
    assert_eq!(answer["saved"]["handoff_completed"], 70_000);
    assert_eq!(whole(&client, &task, "handoff_completed"), long);
    let parts = ["this drops 69,989 of 70,000 characters of handoff_completed", "replace=true"];
    let shorter = json!({"handoff_completed": "short again"});
    client.update_refused(&task, 2, shorter, Code::NotAllowed, &parts);
    client.update(&task, 2, json!({"handoff_completed": "short again", "replace": true}));
    assert_eq!(client.get(&task)["handoff_completed"], "short again");
}

#[test]
fn a_task_at_the_limit_can_be_read_taken_over_and_made_shorter() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let full = "🔧".repeat(100_000);
    client.update(&task, 1, json!({"handoff_completed": full}));
    client.take_over(&task, 2, CODEX);
    let read = whole(&client, &task, "handoff_completed");
    assert_eq!(read, format!("{full}\nTaken over by session {CODEX} at 2026-11-25T08:00:00Z."));
    let more = json!({"handoff_completed_append": "one line more"});
    client.update_refused(&task, 3, more, Code::TooLarge, &["handoff_completed", "at most 100,000"]);
    client.update(&task, 3, json!({"handoff_completed": "🔧".repeat(60_000)}));
}

/// A text field put together from its parts, by the calls that each answer names.
fn whole(client: &Client<'_>, task: &str, field: &str) -> String {
    let mut found = String::new();
    let (mut offset, mut more) = (0, true);
    while more {
        let part = client.ok("task_get", json!({"task_id": task, "field": field, "offset": offset}));
        let shown = text(&part["text"]);
        assert_eq!(part["shown"], shown.chars().count());
        found.push_str(shown);
        offset += shown.chars().count();
        more = part["rest"].as_str().is_some_and(|rest| {
            assert_eq!(rest, format!("task_get task_id={} field={field} offset={offset}", short(task)));
            true
        });
    }
    found
}

#[test]
fn what_does_not_fit_is_named_with_the_call_for_the_rest() {
    let house = House::new();
    let client = house.client("maria");
    let description = (0..3_000).map(|line| format!("line {line}\n")).collect::<String>();
    let task = client.create_with("Long", json!({"description": description}));
    let read = client.get(&task);
    let shown = text(&read["description"]);
    let cut = &read["cut"]["description"];
    assert!(description.starts_with(shown) && !shown.is_empty());
    let count = shown.chars().count();
    assert_eq!((cut["shown"].as_u64(), cut["of"].as_u64()), (Some(count as u64), Some(description.len() as u64)));
    assert_eq!(cut["rest"], format!("task_get task_id={} field=description offset={count}", short(&task)));
    assert_eq!(whole(&client, &task, "description"), description);
}

#[test]
fn rw_028_text_comes_back_byte_for_byte() {
    let house = House::new();
    let client = house.client("maria");
    let titles = [
        "Fix login\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}",
        "Access GRANTED \u{202e}DENIED \u{645}",
        "pay\u{200b}load",
        "می\u{200c}خواهم",
        "👩\u{200d}💻 build",
    ];
    for title in titles {
        let task = client.create(title);
        assert_eq!(client.get(&task)["title"], title);
    }
    let texts = [
        "cd C:\\work\\new_app && .\\run.ps1\nWSL: /mnt/c/work/new_app",
        "one\r\ntwo\rthree\n\n  four\t \n",
        "e\u{301} \u{e9} \u{212b} \u{feff}bom \u{fffd}",
        "{\"json\": \"<b>&amp;</b>\"} $1 ?1 %s '; drop table task; --",
        " leading and trailing ",
        "شكرا 日本語 한국어 🇩🇪",
    ];
    let task = client.create("Texts");
    for (position, given) in texts.iter().enumerate() {
        let version = i64::try_from(position).expect("few") + 1;
        client.update(&task, version, json!({"handoff_next": given, "description": given, "handoff_completed": given}));
        let read = client.get(&task);
        for field in ["handoff_next", "description", "handoff_completed"] {
            assert_eq!(read[field], *given);
        }
    }
}

#[test]
fn dropping_most_of_a_long_text_needs_replace() {
    let house = House::new();
    house.next_ids(&[ID]);
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    for version in 1..6 {
        client.update(&task, version, json!({}));
    }
    client.update(&task, 6, json!({"handoff_completed": "x".repeat(3_085), "description": "y".repeat(1_001)}));
    let told = client.update_refused(&task, 7, json!({"handoff_completed": "z".repeat(85)}), Code::NotAllowed, &[]);
    let expected = "not_allowed: this drops 3,000 of 3,085 characters of handoff_completed. To record a takeover call \
        task_takeover task_id=8e287857 expected_version=7; to add lines use handoff_completed_append; to drop the text \
        send replace=true.";
    assert_eq!(told, expected);
    let cleared = json!({"description": ""});
    client.update_refused(&task, 7, cleared, Code::NotAllowed, &["1,001", "description", "replace"]);
    client.update(&task, 7, json!({"description": "y".repeat(501)}));
    let answer = client.update(&task, 8, json!({"handoff_completed": "short", "replace": true}));
    assert_eq!(answer["warnings"][0]["rule"], "text-dropped");
}

#[test]
fn all_four_guarded_texts_are_guarded() {
    let house = House::new();
    let client = house.client("maria");
    let long = "word ".repeat(300);
    let task =
        client.create_with("t", json!({"description": long, "completion_criteria": long, "required_reviews": long}));
    client.update(&task, 1, json!({"handoff_completed": long, "handoff_next": long}));
    for field in ["description", "completion_criteria", "required_reviews", "handoff_completed"] {
        client.update_refused(&task, 2, json!({field: "gone"}), Code::NotAllowed, &["1,500", field, "replace"]);
    }
    let answer = client.update(&task, 2, json!({"handoff_next": "cargo test"}));
    let loss = rows(&answer["warnings"]).iter().find(|one| one["rule"] == "text-dropped").expect("a warning");
    assert!(loss["field"] == "handoff_next" && text(&loss["fix"]).contains("v2"), "{loss}");
}

#[test]
fn a_smaller_loss_is_a_warning_that_names_the_old_version() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create_with("t", json!({"description": "a".repeat(900)}));
    client.update(&task, 1, json!({"handoff_completed": "b".repeat(1_400)}));
    for (version, field, new) in [(2, "description", ""), (3, "handoff_completed", "c")] {
        let answer = client.update(&task, version, json!({field: new.repeat(800)}));
        let warnings = rows(&answer["warnings"]);
        let loss = warnings.iter().find(|one| one["field"] == field).expect("a warning on the field");
        assert!(text(&loss["fix"]).contains(&format!("v{version}")), "{loss}");
        assert!(text(&loss["fix"]).contains(&format!("version={version} field={field}")), "{loss}");
    }
}

#[test]
fn replacing_a_handoff_by_another_longer_text_is_a_loss_too() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"handoff_completed": "Prepared: the parser. ".repeat(30)}));
    let answer = client.update(&task, 2, json!({"handoff_completed": "Something else entirely. ".repeat(40)}));
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("handoff_completed") && warnings.contains("v2"), "{answer}");
}

#[test]
fn lines_are_added_without_changing_what_stands() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"handoff_completed_append": "first"}));
    client.update(&task, 2, json!({"handoff_completed_append": "second\nthird\n"}));
    client.update(&task, 3, json!({"handoff_completed_append": "fourth"}));
    assert_eq!(client.get(&task)["handoff_completed"], "first\nsecond\nthird\nfourth");
}

#[test]
fn rw_013_a_prefix_that_fits_two_tasks_opens_neither() {
    let house = House::new();
    let ids = ["1a2b3c4d-0000-4000-8000-000000000001", "1a2b3c4d-ffff-4000-8000-000000000002"];
    let content = |title: &str| Content { title: title.to_owned(), priority: 2, ..Content::default() };
    let tasks = [("First", ids[0]), ("Second", ids[1])];
    let tasks = tasks.map(|(title, id)| (id.parse().expect("a UUID"), 3, content(title)));
    house.import("ledger", tasks.into());
    let client = house.client("maria");
    let both = [ids[0], ids[1], "v3", "\"First\"", "\"Second\""];
    client.refused("continuity_context", json!({"handoff": "handoff: 1a2b3c4d v3"}), Code::AmbiguousId, &both);
    client.refused("task_get", json!({"task_id": "1a2b3c4d"}), Code::AmbiguousId, &both);
    client.refused("task_get", json!({"task_id": "2b3c4d"}), Code::NotFound, &["2b3c4d"]);
    let more = json!({"status": "done"});
    client.update_refused("1a2b3c4d", 3, more, Code::AmbiguousId, &both);
    let takeover = json!({"task_id": "1a2b3c4d", "expected_version": 3});
    client.refused("task_takeover", takeover, Code::AmbiguousId, &both);
    assert_eq!(client.get("1a2b3c4d-f")["title"], "Second");
    client.update(ids[0], 3, json!({}));
    assert_eq!((client.version(ids[0]), client.version(ids[1])), (4, 3));
}

#[test]
fn rw_014_a_write_to_a_ghost_lands_nowhere() {
    let house = House::new();
    let (client, person) = (house.client("maria"), house.person("maria"));
    let task = client.create("Import bank statements");
    client.update_refused("00000000-0000-4000-8000-00000000dead", 1, json!({}), Code::NotFound, &["no task"]);
    assert_eq!(client.version(&task), 1);
    let by_prefix = person.ok("task_history", json!({"task_id": short(&task)}));
    assert_eq!(by_prefix, person.ok("task_history", json!({"task_id": task})));
    assert_eq!(rows(&by_prefix["versions"]).len(), 1);
    person.refused("task_history", json!({"task_id": "ffffffff"}), Code::NotFound, &["ffffffff"]);
}

#[test]
fn reads_take_four_characters_and_writes_the_first_eight_or_the_whole() {
    let house = House::new();
    house.next_ids(&[ID]);
    let client = house.client("maria");
    client.create("Import bank statements");
    for reference in ["8e28", "8E287857", "8e287857-4f", &ID[..23], ID, &ID.replace('-', "")] {
        assert_eq!(client.get(reference)["task_id"], ID, "{reference}");
    }
    for (version, reference) in [(1, "8e287857"), (2, ID), (3, "8E287857")] {
        client.update(reference, version, json!({}));
    }
    for reference in ["8e28", "8e2878574", "8e287857-4f0b"] {
        client.update_refused(reference, 4, json!({}), Code::InvalidArgument, &["task_id", "first 8"]);
    }
}

#[test]
fn rw_094_a_restart_changes_nothing_and_of_two_writers_one_wins() {
    let house = House::new();
    let task = house.client("maria").create("Import bank statements");
    house.client("maria").update(&task, 1, json!({"status": "in_progress"}));
    let before = house.client("maria").get(&task);
    house.pass_hours(100);
    let house = house.restarted();
    let (one, other) = (house.client("maria"), house.client("tomas"));
    assert_eq!(one.get(&task), before);
    let write = |tag: &str| Client::update_arguments(&task, 2, json!({"tags": [tag], "summary": tag}));
    let both = futures_util::future::join(
        one.asking("task_update", write("state:one")),
        other.asking("task_update", write("state:other")),
    );
    let (first, second) = house.block_on(both);
    assert_eq!(u8::from(first.is_ok()) + u8::from(second.is_ok()), 1);
    let winner = if first.is_ok() { "state:one" } else { "state:other" };
    let loser = if first.is_ok() { second } else { first };
    crate::house::refused(loser, Code::VersionConflict, &["at version 3, you sent 2"]);
    let read = one.get(&task);
    assert_eq!((&read["tags"], &read["summary"], &read["version"]), (&json!([winner]), &json!(winner), &json!(3)));
}

#[test]
fn rw_017_a_silent_owner_is_shown_as_stale_and_nothing_resets_itself() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let receipt = json!({"status": "in_progress", "work_receipt": {"session_ref": "codex:s-1"}});
    client.update(&task, 1, json!({"handoff_completed": "Prepared: the parser."}));
    client.update(&task, 2, receipt);
    house.pass_hours(24);
    assert_eq!(client.ok("task_list", json!({"stale": true}))["total"], 0);
    house.pass_hours(48);
    let row = client.ok("task_list", json!({"status": "in_progress"}))["tasks"][0].clone();
    let shown = (&row["age"], &row["owner"], &row["stale"], &row["v"]);
    assert_eq!(shown, (&json!("3d"), &json!("codex:s-1"), &json!(true), &json!(3)));
    assert_eq!(client.ok("task_list", json!({"stale": true}))["total"], 1);
    let line = "Taken over by session codex:s-2 (previous session codex:s-1 silent for 3 days)";
    client.update(&task, 3, json!({"handoff_completed": format!("Prepared: the parser.\n{line}")}));
    assert_eq!(client.get(&task)["owner"], "codex:s-2");
    let history = house.person("maria").ok("task_history", json!({"task_id": task})).to_string();
    assert!(history.contains("codex:s-1") && history.contains("codex:s-2"), "{history}");
}

#[test]
fn the_stale_time_is_a_setting_of_the_project() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.update(&task, 1, json!({"status": "in_progress"}));
    house.owner().ok("project_set", json!({"project": "ledger", "stale_hours": 2}));
    house.pass_minutes(119);
    assert_eq!(client.ok("task_list", json!({"stale": true}))["total"], 0);
    house.pass_minutes(2);
    let list: Value = client.ok("task_list", json!({"stale": true}));
    assert_eq!((&list["total"], &list["tasks"][0]["stale"]), (&json!(1), &json!(true)));
}
