//! What no sane project holds: everything at its longest at once, hundreds of findings, boxes and memories.

use heyaira::domain::run::Outcome;
use serde_json::{Value, json};

use crate::ground::{Ground, rows, text};
use crate::sizes::answers::{
    LONG, TEXTS, assert_default_answers, assert_texts, long_receipt, messages, session, summary, title,
};
use crate::sizes::{ANSWER_BYTES, ANSWER_TOKENS, assert_small, for_every_script, for_few_scripts, tokens, whole_text};
use crate::texts::Script;

/// A label of the greatest length.
fn label(script: &Script) -> String {
    format!("label:{}", script.line(194, 3).trim())
}

/// One open box in each line.
fn boxes(script: &Script, count: u64, characters: usize) -> String {
    (0..count).map(|seed| format!("- [ ] {}\n", script.line(characters, seed))).collect()
}

/// Gives a task a receipt with the longest names, and records what contradicts all of them.
fn contradict(ground: &Ground, script: &Script, task_id: &str) {
    let name = |seed| json!(script.line(240, seed).trim());
    let receipt =
        json!({"session_ref": session(script), "branch": name(1), "base_commit": name(2), "result_commit": name(3)});
    let version = ground.update(task_id, json!({"work_receipt": receipt}))["version"].clone();
    let at = "2026-11-25T08:00:00Z";
    let commit = json!({"at": at, "found": "no_commit"});
    let facts = json!({"at": at, "path": script.line(240, 4), "repository": {"at": at},
        "branch": {"at": at, "is_name": true}, "base_commit": commit, "result_commit": commit});
    let recorded =
        ground.ask("receipt_record", json!({"task_id": task_id, "receipt_version": version, "facts": facts}));
    assert_eq!(recorded["verdict"], "contradicted");
    assert_small("receipt_show", &ground.ask("receipt_show", json!({"task_id": task_id})));
}

/// Brings in runs of a task whose names are as long as they can be.
fn unrecorded(ground: &Ground, script: &Script, task_id: &str) {
    let project = ground.ask("continuity_context", json!({}))["project"].clone();
    // An id is one of the whole instance.
    let first = u32::from_str_radix(&task_id[..7], 16).expect("hexadecimal digits");
    for number in 0..7 {
        let mut report = crate::runs::report(first + number, Some(task_id), Outcome::TestsFailed);
        text(&project).clone_into(&mut report.project);
        report.harness.name = script.line(200, 5);
        report.work.branch = Some(script.line(200, 6));
        ground.ask("run_report", json!({"report": report}));
    }
}

#[test]
fn everything_at_once() {
    for_every_script(|ground, script| {
        let tags: Vec<String> = (0..50).map(|number| format!("{number:02} {}", script.line(61, number))).collect();
        let first = ground.ask_all("task_create", (0..50).map(|_| json!({"title": "first", "summary": "first"})));
        let first: Vec<Value> = first.into_iter().map(|task| task["task_id"].clone()).collect();
        let task_id = ground.task(json!({"title": title(script, 1), "summary": summary(script, 2), "tags": tags,
            "depends_on": first, "required_reviews": boxes(script, 60, 150)}));
        long_receipt(ground, script, &task_id, 3_000);
        let mut texts = serde_json::Map::new();
        for (name, seed) in TEXTS.iter().zip(10..).take(5) {
            let text = script.text(LONG, seed);
            ground.update(&task_id, json!({"work_receipt": {"session_ref": session(script)}, *name: text}));
            texts.insert((*name).to_owned(), json!(text));
        }
        contradict(ground, script, &task_id);
        let version = ground.update(&task_id, json!({"owner": label(script)}))["version"].clone();
        messages(ground, script, &task_id, 7);
        unrecorded(ground, script, &task_id);
        assert_default_answers(ground, &task_id);
        let taken =
            json!({"task_id": task_id, "expected_version": version, "session_ref": label(script), "force": true});
        assert_small("task_takeover", &ground.ask("task_takeover", taken));
        assert_default_answers(ground, &task_id);

        texts.remove("handoff_completed");
        let answer = ground.ask("task_get", json!({"task_id": task_id}));
        assert_texts(ground, &answer, &texts);
        for (name, whole) in [("title", title(script, 1)), ("summary", summary(script, 2)), ("owner", label(script))] {
            assert_eq!(whole_text(ground, &answer[name], &answer["cut"][name]), whole, "{name}");
        }
    });
}

#[test]
fn four_long_texts_and_a_receipt_in_one_update() {
    for_every_script(|ground, script| {
        let task_id = ground.task(json!({"title": "Long", "summary": "created"}));
        let long = script.text(LONG, 1);
        let receipt = json!({"session_ref": session(script), "tests": long, "completed_work": long, "branch": long});
        let next = format!("{long}\nPrevious session: {}", session(script));
        ground.update(
            &task_id,
            json!({"handoff_next": next, "handoff_blockers": long, "handoff_completed": long,
            "description": long, "work_receipt": receipt}),
        );
        assert_default_answers(ground, &task_id);
        let piece = ground.ask("task_get", json!({"task_id": task_id, "field": "description"}));
        assert_small("task_get field", &piece);
    });
}

#[test]
fn many_findings_are_one_with_a_count() {
    let ground = Ground::new();
    let task_id = ground.task(json!({"title": "Findings", "summary": "created"}));
    let ghosts: Vec<String> = (0..400).map(|number| format!("m-{number:08x}")).collect();
    let answer = ground.update(&task_id, json!({"handoff_next": ghosts.join(" ")}));
    assert!(rows(&answer["warnings"]).len() <= 5);
    assert_small("task_update", &answer);
    let check = ground.ask("handoff_check", json!({"task_id": task_id}));
    assert_small("handoff_check", &check);
    let found: Vec<&Value> = rows(&check["findings"]).iter().filter(|one| one["rule"] == "memories-exist").collect();
    assert_eq!(found.len(), 1, "{check}");
    let fix = text(&found[0]["fix"]);
    assert!(fix.contains("m-00000000") && fix.contains("390 more"), "{fix}");
}

#[test]
fn hundreds_of_memories_are_counted_with_the_call_for_their_ids() {
    let ground = Ground::new();
    let kept =
        ground.ask_all("memory_add", (0..300).map(|number| json!({"kind": "fact", "summary": number.to_string()})));
    let ids: Vec<String> = kept.iter().map(|one| text(&one["id"])).collect();
    let task_id = ground.task(json!({"title": "Memories", "summary": "created"}));
    ground.update(&task_id, json!({"handoff_next": ids.join(" ")}));
    let packet = ground.ask("continuity_context", json!({"handoff": task_id}));
    assert_small("continuity_context", &packet);
    let shown = rows(&packet["memories"]).iter().map(|row| row["id"].clone());
    let named: Vec<Value> = shown.chain(rows(&packet["memories_more"]).iter().cloned()).collect();
    assert_eq!(json!(named), json!(ids[..named.len()]));
    let cut = &packet["cut"]["memories"];
    assert_eq!((&cut["shown"], &cut["of"]), (&json!(named.len()), &json!(300)));
    let whole: Value = serde_json::from_str(&whole_text(&ground, &json!(""), cut)).expect("the JSON of all ids");
    assert_eq!(whole, json!(ids));
}

#[test]
fn a_hundred_open_boxes_are_counted_with_the_call_for_their_labels() {
    for_every_script(|ground, script| {
        let criteria = boxes(script, 100, 300);
        let task_id = ground.task(json!({"title": "Boxes", "summary": "created", "completion_criteria": criteria}));
        let packet = ground.ask("continuity_context", json!({"handoff": task_id}));
        assert_small("continuity_context", &packet);
        let shown = rows(&packet["open_boxes"]).len();
        assert!(shown > 0 && packet["open_boxes_more"] == 100 - shown, "{packet}");
        let whole = whole_text(ground, &json!(""), &packet["cut"]["open_boxes"]);
        let labels: Vec<String> = serde_json::from_str(&whole).expect("the JSON of all labels");
        let written: Vec<&str> = criteria.lines().map(|line| line["- [ ] ".len()..].trim()).collect();
        assert_eq!(labels, written);
    });
}

#[test]
fn refusals_of_many_boxes_are_small() {
    for_few_scripts(|ground, script| {
        let lists = json!({"title": "Boxes", "summary": "created", "completion_criteria": boxes(script, 100, 300),
            "required_reviews": boxes(script, 70, 300)});
        let task_id = ground.task(lists);
        let changes = [
            json!({"status": "done"}),
            json!({"status": "done", "completion_criteria": "- [x] a", "required_reviews": "- [x] b", "replace": true}),
        ];
        for change in changes {
            let mut update = json!({"task_id": task_id, "expected_version": 1, "summary": "s"});
            crate::ground::merge(&mut update, change);
            let refusal = ground.call("task_update", update).expect_err("open boxes").to_string();
            assert!(refusal.len() <= ANSWER_BYTES && tokens(&refusal) <= ANSWER_TOKENS, "{} bytes", refusal.len());
            assert!(refusal.contains("100 open boxes") || refusal.contains("160 more"), "{refusal}");
        }
    });
}
