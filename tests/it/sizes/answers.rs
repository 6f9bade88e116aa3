//! The largest default answers in every script: within the limits, and what they leave out comes with the calls they name.

use std::collections::BTreeMap;

use heyaira::error::Code;
use serde_json::{Map, Value, json};

use crate::ground::{Ground, merge, rows, text};
use crate::sizes::{assert_small, for_every_script, for_few_scripts, whole_text};
use crate::texts::Script;

/// The longest text of a task.
const LONGEST: usize = 100_000;
/// A text that no answer shows whole; as good as the longest one, which takes time to write in every script.
pub(crate) const LONG: usize = 12_000;
/// The long texts of a task.
pub(crate) const TEXTS: [&str; 6] =
    ["handoff_next", "handoff_blockers", "handoff_completed", "description", "completion_criteria", "required_reviews"];
/// The texts of a receipt that have no limit of their own.
const RECEIPT_TEXTS: [&str; 9] =
    ["harness", "model", "branch", "base_commit", "result_commit", "tests", "completed_work", "next_step", "blockers"];

pub(crate) fn title(script: &Script, seed: u64) -> String {
    script.line(200, seed)
}

pub(crate) fn summary(script: &Script, seed: u64) -> String {
    script.line(280, seed)
}

pub(crate) fn session(script: &Script) -> String {
    format!("label:{}", script.line(190, 3))
}

/// Fails unless every default answer that a task can be in is small.
pub(crate) fn assert_default_answers(ground: &Ground, task_id: &str) {
    let asked = [
        ("task_get", json!({"task_id": task_id})),
        ("task_list", json!({})),
        ("continuity_context", json!({})),
        ("continuity_context", json!({"handoff": format!("handoff: {} v1", &task_id[..8])})),
        ("memory_search", json!({})),
        ("handoff_check", json!({"task_id": task_id})),
        ("task_get", json!({"task_id": task_id, "since_version": 1})),
    ];
    for (operation, arguments) in asked {
        assert_small(&format!("{operation} {arguments}"), &ground.ask(operation, arguments));
    }
}

/// So many tasks with the longest titles, summaries and owners; their ids with their titles.
fn tasks(ground: &Ground, script: &Script, count: u64, change: impl Fn(u64) -> Value) -> BTreeMap<String, String> {
    let new = |seed| json!({"title": title(script, seed), "summary": summary(script, seed + 1_000), "priority": 1});
    let made = ground.ask_all("task_create", (0..count).map(new));
    let updates = made.iter().zip(0..).map(|(task, seed)| {
        let mut update =
            json!({"task_id": task["task_id"], "expected_version": 1, "summary": summary(script, seed + 1_000)});
        merge(&mut update, change(seed));
        update
    });
    ground.ask_all("task_update", updates);
    made.iter().zip(0..).map(|(task, seed)| (text(&task["task_id"])[..8].to_owned(), title(script, seed))).collect()
}

/// All rows of a list, page by page at the default size; each page must be small.
fn pages(ground: &Ground, operation: &str, arguments: &Value, list: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let mut call = arguments.clone();
        merge(&mut call, json!({"cursor": cursor}));
        let page = ground.ask(operation, call);
        assert_small(operation, &page);
        assert!(!rows(&page[list]).is_empty(), "an empty page: {page}");
        all.extend_from_slice(rows(&page[list]));
        match page.get("next_cursor") {
            None => return all,
            Some(next) => cursor = next.clone(),
        }
    }
}

#[test]
fn task_list() {
    for_every_script(|ground, script| {
        let owner = |_| json!({"status": "in_progress", "owner": script.line(200, 7)});
        let made = tasks(ground, script, 45, owner);
        ground.wait_minutes(3_000);
        let found = pages(ground, "task_list", &json!({}), "tasks");
        let titles: BTreeMap<String, String> =
            found.iter().map(|row| (text(&row["id"]), text(&row["title"]))).collect();
        assert_eq!(found.len(), made.len(), "{}: a row twice or not at all", script.name);
        assert_eq!(titles, made, "{}", script.name);
    });
}

/// A task whose six texts are as long as can be.
fn long_task(ground: &Ground, script: &Script, length: usize) -> (String, Map<String, Value>) {
    let task_id = ground.task(json!({"title": title(script, 1), "summary": summary(script, 2)}));
    let texts = TEXTS.iter().zip(10..).map(|(name, seed)| ((*name).to_owned(), json!(script.text(length, seed))));
    let texts: Map<String, Value> = texts.collect();
    for (name, text) in &texts {
        ground.update(&task_id, json!({name.as_str(): text}));
    }
    (task_id, texts)
}

/// The texts of an answer, each with what its call for the rest brings.
pub(crate) fn assert_texts(ground: &Ground, answer: &Value, texts: &Map<String, Value>) {
    for (name, original) in texts.iter().filter(|(name, _)| answer.get(name.as_str()).is_some()) {
        let whole = whole_text(ground, &answer[name.as_str()], &answer["cut"][name.as_str()]);
        assert!(json!(whole) == *original, "{name} does not come back as it was");
    }
}

#[test]
fn task_get_with_six_long_texts() {
    for_every_script(|ground, script| {
        let length = if ["English", "Japanese"].contains(&script.name) { LONGEST } else { LONG };
        let (task_id, texts) = long_task(ground, script, length);
        let answer = ground.ask("task_get", json!({"task_id": task_id}));
        assert_small("task_get", &answer);
        assert!(TEXTS.iter().all(|name| answer.get(*name).is_some()), "{answer}");
        assert_texts(ground, &answer, &texts);
        let old = ground.ask("task_get", json!({"task_id": task_id, "version": 6}));
        assert_small("task_get version", &old);
        let described = whole_text(ground, &old["description"], &old["cut"]["description"]);
        assert!(texts["description"] == described.as_str(), "an old version's text does not come back as it was");
    });
}

#[test]
fn task_get_with_fifty_long_tags_and_dependencies() {
    for_every_script(|ground, script| {
        let first = ground
            .ask_all("task_create", (0..50).map(|number| json!({"title": number.to_string(), "summary": "first"})));
        let first: Vec<Value> = first.into_iter().map(|task| task["task_id"].clone()).collect();
        let tags: Vec<String> = (0..50).map(|number| format!("{number:02} {}", script.line(61, number))).collect();
        let task_id = ground.task(json!({"title": title(script, 1), "summary": summary(script, 2), "tags": tags,
            "depends_on": first, "description": script.text(LONG, 3)}));
        let answer = ground.ask("task_get", json!({"task_id": task_id}));
        assert_small("task_get", &answer);
        assert_eq!(rows(&answer["depends_on"]).len(), 50);
        let shown = rows(&answer["tags"]);
        assert_eq!(json!(shown), json!(tags[..shown.len()]), "{}", script.name);
        let cut = &answer["cut"]["tags"];
        assert_eq!((&cut["shown"], &cut["of"]), (&json!(shown.len()), &json!(50)), "{}", script.name);
        let whole = whole_text(ground, &json!(""), cut);
        let found: Value = serde_json::from_str(&whole).expect("the JSON of all tags");
        assert_eq!(found, json!(tags), "{}", script.name);
    });
}

/// Gives a task a receipt all of whose texts are long; the second update adds to those that the first one gave.
pub(crate) fn long_receipt(ground: &Ground, script: &Script, task_id: &str, length: usize) -> Map<String, Value> {
    let fields =
        RECEIPT_TEXTS.iter().zip(30..).map(|(name, seed)| ((*name).to_owned(), json!(script.text(length, seed))));
    let fields: Map<String, Value> = fields.collect();
    for half in 0..2 {
        let mut receipt = json!({"session_ref": session(script)});
        let given = fields.clone().into_iter().enumerate().filter(|(position, _)| position % 2 == half);
        merge(&mut receipt, Value::Object(given.map(|(_, field)| field).collect()));
        ground.update(task_id, json!({"work_receipt": receipt}));
    }
    fields
}

#[test]
fn task_get_with_a_long_receipt() {
    for_few_scripts(|ground, script| {
        let task_id = ground.task(json!({"title": title(script, 1), "summary": summary(script, 2),
            "description": script.text(LONG, 3)}));
        let fields = long_receipt(ground, script, &task_id, LONG);
        let answer = ground.ask("task_get", json!({"task_id": task_id}));
        assert_small("task_get", &answer);
        for name in ["harness", "tests", "blockers"] {
            let whole = whole_text(ground, &answer["receipt"][name], &answer["receipt"]["cut"][name]);
            assert!(fields[name] == whole.as_str(), "receipt.{name} does not come back as it was");
        }
    });
}

/// Sends a task so many messages of the greatest length; answers their texts by id.
pub(crate) fn messages(ground: &Ground, script: &Script, task_id: &str, count: u64) -> BTreeMap<String, String> {
    let texts: Vec<String> = (0..count).map(|seed| script.text(2_000, seed + 50)).collect();
    let calls = texts.iter().map(|text| json!({"to": task_id, "session_ref": session(script), "text": text}));
    let sent = ground.ask_all("message_send", calls);
    sent.iter().map(|message| text(&message["id"])).zip(texts).collect()
}

/// The messages of an answer, whole; acknowledging those makes room for the next ones.
fn read_messages(ground: &Ground, answer: &Value) -> BTreeMap<String, String> {
    let shown = rows(&answer["messages"]).iter().filter(|message| message.get("id").is_some());
    shown.map(|message| (text(&message["id"]), whole_text(ground, &message["text"], &message["cut"]))).collect()
}

fn assert_messages(ground: &Ground, operation: &str, arguments: &Value, sent: &BTreeMap<String, String>) {
    let mut read = BTreeMap::new();
    while read.len() < sent.len() {
        let answer = ground.ask(operation, arguments.clone());
        assert_small(operation, &answer);
        let shown = read_messages(ground, &answer);
        assert!(!shown.is_empty(), "no message in {answer}");
        ground.ask("message_send", json!({"ack": shown.keys().collect::<Vec<_>>()}));
        read.extend(shown);
    }
    assert_eq!(&read, sent);
}

#[test]
fn task_get_with_long_messages() {
    for_every_script(|ground, script| {
        let task_id = ground.task(json!({"title": title(script, 1), "summary": summary(script, 2),
            "description": script.text(LONG, 3), "completion_criteria": script.text(LONG, 4)}));
        let sent = messages(ground, script, &task_id, 7);
        assert_messages(ground, "task_get", &json!({"task_id": task_id}), &sent);
    });
}

#[test]
fn overview_with_long_messages() {
    for_every_script(|ground, script| {
        let made = tasks(ground, script, 6, |_| json!({"status": "in_progress"}));
        let task_id = made.keys().next().expect("a task");
        let sent = messages(ground, script, task_id, 7);
        assert_messages(ground, "continuity_context", &json!({}), &sent);
    });
}

#[test]
fn takeover_with_long_messages() {
    for_every_script(|ground, script| {
        let task_id = ground.task(json!({"title": title(script, 1), "summary": summary(script, 2)}));
        messages(ground, script, &task_id, 7);
        let answer = ground
            .ask("task_takeover", json!({"task_id": task_id, "expected_version": 1, "session_ref": session(script)}));
        assert_small("task_takeover", &answer);
        assert_default_answers(ground, &task_id);
    });
}

#[test]
fn overview() {
    for_every_script(|ground, script| {
        tasks(ground, script, 8, |_| json!({"status": "in_progress", "owner": script.line(200, 7)}));
        tasks(ground, script, 8, |seed| json!({"status": "blocked", "handoff_blockers": script.text(20_000, seed)}));
        let handoff = |seed| {
            json!({"work_receipt": {"session_ref": session(script)},
                "handoff_next": format!("{}\nPrevious session: {}", script.text(900, seed), session(script).trim())})
        };
        tasks(ground, script, 8, handoff);
        let decisions = (0..8)
            .map(|seed| json!({"kind": "decision", "summary": summary(script, seed), "body": script.text(900, seed)}));
        ground.ask_all("memory_add", decisions);
        let answer = ground.ask("continuity_context", json!({}));
        assert_small("continuity_context", &answer);
        for (list, count) in [("in_progress", 8), ("pending_handoffs", 8), ("blocked", 8), ("decisions", 8)] {
            let shown = rows(&answer[list]).len();
            assert!(shown > 0, "{list} is empty: {answer}");
            assert_eq!(answer["more"][list]["count"], count - shown, "{list}");
            let rest = ground.follow(&text(&answer["more"][list]["next"]));
            assert_eq!(rest["total"], count, "{list}");
        }
        let line = text(&answer["pending_handoffs"][0]["line"]);
        assert_default_answers(ground, &line["handoff: ".len()..][..8]);
    });
}

#[test]
fn resume_packet() {
    for_every_script(|ground, script| {
        let boxes = |seed: u64| {
            (0..40).map(|number| format!("- [ ] {}\n", script.line(500, seed + number))).collect::<String>()
        };
        let task_id = ground.task(
            json!({"title": title(script, 1), "summary": summary(script, 2), "description": script.text(LONG, 3),
            "completion_criteria": boxes(100), "required_reviews": boxes(200)}),
        );
        let named: Vec<String> = (0..12)
            .map(|seed| {
                let memory = json!({"kind": "decision", "summary": summary(script, seed), "body": script.text(9_000, seed), "task_id": task_id});
                text(&ground.ask("memory_add", memory)["id"])
            })
            .collect();
        long_receipt(ground, script, &task_id, 3_000);
        let mut texts = Map::new();
        for (name, seed) in [("handoff_next", 11), ("handoff_blockers", 12), ("handoff_completed", 13)] {
            let start = format!("{} ", named.join(" "));
            let long = format!("{start}{}", script.text(LONG - start.len(), seed));
            ground.update(&task_id, json!({name: long}));
            texts.insert(name.to_owned(), json!(long));
        }
        messages(ground, script, &task_id, 7);
        let line = format!("handoff: {} v2", &task_id[..8]);
        let answer = ground.ask("continuity_context", json!({"handoff": line}));
        assert_small("continuity_context", &answer);
        assert!(
            answer["handoff_next"].as_str().is_some_and(|next| next.chars().count() >= 300),
            "the next steps are gone: {answer}"
        );
        assert_texts(ground, &answer, &texts);
        let shown = rows(&answer["memories"]).iter().map(|row| text(&row["id"]));
        let more = answer.get("memories_more").map(rows).unwrap_or_default().iter().map(text);
        assert_eq!(shown.chain(more).collect::<Vec<_>>(), named);
        let boxes = rows(&answer["open_boxes"]).len();
        assert_eq!(boxes as u64 + answer["open_boxes_more"].as_u64().unwrap_or(0), 80);
    });
}

#[test]
fn memory_search() {
    for_every_script(|ground, script| {
        let memories = (0..45).map(|seed| json!({"kind": "fact", "summary": summary(script, seed), "body": format!("body {seed}"), "tags": [script.line(64, seed)]}));
        let made: Vec<Value> =
            ground.ask_all("memory_add", memories).iter().map(|memory| memory["id"].clone()).collect();
        let found = pages(ground, "memory_search", &json!({}), "memories");
        let mut ids: Vec<Value> = found.iter().map(|row| row["id"].clone()).collect();
        assert_eq!(ids.len(), made.len(), "{}: a row twice or not at all", script.name);
        ids.sort_by_key(text);
        let mut made = made;
        made.sort_by_key(text);
        assert_eq!(ids, made);
    });
}

/// A page of whole memories after the other, by the cursor; each must be small. Answers bodies and tags by id, in order.
fn whole_memories(ground: &Ground, ids: &[Value]) -> Vec<(Value, String, Vec<Value>)> {
    let mut found: Vec<(Value, String, Vec<Value>)> = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let answer = ground.ask("memory_search", json!({"ids": ids, "cursor": cursor}));
        assert_small("memory_search ids", &answer);
        assert_eq!(answer["total"], ids.len());
        for row in rows(&answer["memories"]) {
            if found.last().is_none_or(|(id, ..)| *id != row["id"]) {
                found.push((row["id"].clone(), String::new(), Vec::new()));
            }
            let (_, body, tags) = found.last_mut().expect("a memory");
            let offset = row.get("body_offset").map_or(Some(0), Value::as_u64).expect("a number");
            assert_eq!(body.chars().count() as u64, offset);
            body.push_str(&text(&row["body"]));
            tags.extend(row.get("tags").map(rows).unwrap_or_default().iter().cloned());
        }
        match answer.get("next_cursor") {
            None => return found,
            Some(next) => cursor = next.clone(),
        }
    }
}

#[test]
fn memory_search_reads_long_bodies() {
    for_few_scripts(|ground, script| {
        let kept = [5, 4_000, 0, LONGEST, 3_000, 3_000].into_iter().zip(0..).map(|(length, seed)| {
            let tags: Vec<String> = (0..50).map(|tag| format!("{tag:02} {}", script.line(61, tag + seed))).collect();
            let tags = if seed % 3 == 0 { tags } else { Vec::new() };
            json!({"kind": "fact", "summary": summary(script, seed), "body": script.text(length, seed + 5).trim(), "tags": tags})
        });
        let kept: Vec<Value> = kept.collect();
        let ids: Vec<Value> = kept.iter().map(|one| ground.ask("memory_add", one.clone())["id"].clone()).collect();
        let found = whole_memories(ground, &ids);
        assert_eq!(found.iter().map(|(id, ..)| id).collect::<Vec<_>>(), ids.iter().collect::<Vec<_>>());
        for ((_, body, tags), kept) in found.iter().zip(&kept) {
            assert!(kept["body"] == body.as_str(), "a body does not come back as it was");
            assert_eq!(kept["tags"], json!(tags));
        }
        let page = ground.ask("memory_search", json!({"ids": ids}));
        let other = json!({"ids": [ids[0]], "cursor": page["next_cursor"]});
        assert_eq!(ground.refused("memory_search", other), Code::InvalidArgument, "a cursor of other ids");
    });
}

#[test]
fn since_version() {
    for_every_script(|ground, script| {
        let task_id = ground.task(json!({"title": "t", "summary": "s"}));
        for seed in 0..12 {
            let mut change = json!({"title": title(script, seed), "summary": summary(script, seed), "tags": [script.line(64, seed)]});
            for (name, number) in TEXTS.iter().zip(0..) {
                merge(&mut change, json!({*name: script.text(900, seed * 10 + number)}));
            }
            ground.update(&task_id, change);
        }
        let mut versions = Vec::new();
        let mut rest = Some(format!("task_get task_id={task_id} since_version=1"));
        while let Some(call) = rest {
            let answer = ground.follow(&call);
            assert_small(&call, &answer);
            assert!(!rows(&answer["changes"]).is_empty(), "no change: {answer}");
            versions.extend(rows(&answer["changes"]).iter().map(|row| row["v"].as_u64().expect("a version")));
            rest = answer.get("more").map(|more| text(&more["rest"]));
        }
        assert_eq!(versions, (2..=13).collect::<Vec<u64>>());
    });
}

#[test]
fn since_version_with_fifty_long_tags() {
    for_every_script(|ground, script| {
        let task_id = ground.task(json!({"title": "t", "summary": "s"}));
        let tags: Vec<String> = (0..50).map(|number| format!("{number:02} {}", script.line(61, number))).collect();
        ground.update(&task_id, json!({"tags": tags}));
        assert_small("since_version", &ground.ask("task_get", json!({"task_id": task_id, "since_version": 1})));
    });
}
