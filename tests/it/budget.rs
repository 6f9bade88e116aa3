//! Budgets: every default answer is at most 10 KB and 4,000 tokens, whatever is stored, in any script.

use serde_json::{Value, json};

use crate::house::{CLAUDE, Client, House, rows, short};

/// Texts that cost much in one measure or the other.
const SCRIPTS: [(&str, &str); 7] = [
    ("English", "The importer parses every file of the pilot banks. "),
    ("code", "if (x[i] != y->z) { return \"\\\\n\\t%d\"; } "),
    ("hashes", "9f3b2d1c4e19e7a8b6d5 "),
    ("base64", "aGV5YWlyYTp0aGlzL2lz+bm90YVNlY3JldA== "),
    ("Japanese", "銀行明細の取り込みは冪等でなければならない。"),
    ("emoji", "🔧🪛🧑‍🚀🏴󠁧󠁢󠁥󠁮󠁧󠁿🫠"),
    ("rare", "𠮷𡈽𪚥ᚠᛇᚻ𝕬𝖇"),
];

/// How many tokens a text has in o200k.
pub(crate) fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// The answers that were over the budget; all of them are told at the end.
#[derive(Default)]
struct Over(Vec<String>);

impl Over {
    fn check(&mut self, name: &str, script: &str, answer: &str) {
        let (bytes, cost) = (answer.len(), tokens(answer));
        if bytes > 10_240 || cost > 4_000 {
            self.0.push(format!("{name} in {script}: {bytes} bytes, {cost} tokens"));
        }
    }

    #[track_caller]
    fn none(self) {
        assert!(self.0.is_empty(), "\n{}", self.0.join("\n"));
    }
}

/// So many characters of a script.
fn filled(script: &str, characters: usize) -> String {
    script.chars().cycle().take(characters).collect()
}

/// The default answers about a task, each with what it was asked by.
fn answers(client: &Client<'_>, task: &str) -> Vec<(&'static str, Value)> {
    let asked = [
        ("task_get", json!({"task_id": task})),
        ("task_list", json!({})),
        ("continuity_context", json!({})),
        ("continuity_context", json!({"handoff": format!("handoff: {} v1", short(task))})),
        ("memory_search", json!({})),
        ("handoff_check", json!({"task_id": task})),
    ];
    asked.into_iter().map(|(name, arguments)| (name, client.ok(name, arguments))).collect()
}

#[test]
fn long_texts_stay_within_the_budget() {
    let mut over = Over::default();
    for (script, sample) in SCRIPTS {
        let house = House::new();
        let client = house.client("maria");
        let task = client.create("Long");
        let text = filled(sample, 30_000);
        let more = json!({
            "handoff_next": format!("{text}\nPrevious session: {CLAUDE}"),
            "handoff_blockers": text,
            "handoff_completed": text,
            "description": text,
            "work_receipt": {"session_ref": CLAUDE, "tests": text, "completed_work": text, "branch": text},
        });
        client.update(&task, 1, more);
        for (name, answer) in answers(&client, &task) {
            over.check(name, script, &answer.to_string());
        }
        let part = client.ok("task_get", json!({"task_id": task, "field": "description"}));
        over.check("task_get field", script, &part.to_string());
    }
    over.none();
}

#[test]
fn full_titles_and_summaries_stay_within_the_budget() {
    let mut over = Over::default();
    for (script, sample) in SCRIPTS {
        let house = House::new();
        let client = house.client("maria");
        let (title, summary) = (filled(sample, 200), filled(sample, 280));
        let mut last = String::new();
        for number in 0..6 {
            let create = || client.create_with("replaced", json!({"title": title, "summary": summary}));
            let (working, waiting, blocked) = (create(), create(), create());
            client.update(&working, 1, json!({"status": "in_progress", "summary": summary}));
            client.hand_off(&waiting, 1, CLAUDE);
            client.update(&waiting, 2, json!({"summary": summary}));
            let blockers = filled(sample, 2_000);
            client.update(&blocked, 1, json!({"status": "blocked", "handoff_blockers": blockers, "summary": summary}));
            let decision = format!("{number}{}", filled(sample, 279));
            client.ok("memory_add", json!({"kind": "decision", "summary": decision}));
            last = waiting;
        }
        for (name, answer) in answers(&client, &last) {
            over.check(name, script, &answer.to_string());
        }
    }
    over.none();
}

#[test]
fn full_tags_stay_within_the_budget() {
    let mut over = Over::default();
    for (script, sample) in SCRIPTS {
        let house = House::new();
        let client = house.client("maria");
        let tags: Vec<String> = (0..50).map(|number| format!("{number:02}{}", filled(sample, 62))).collect();
        let task = client.create_with("Tags", json!({"tags": tags}));
        over.check("task_get", script, &client.get(&task).to_string());
    }
    over.none();
}

#[test]
fn long_messages_stay_within_the_budget() {
    let mut over = Over::default();
    for (script, sample) in SCRIPTS {
        let house = House::new();
        let client = house.client("maria");
        let task = client.create("Messages");
        for _ in 0..8 {
            client.ok("message_send", json!({"to": task, "text": filled(sample, 2_000)}));
        }
        let more = json!({"task_id": task, "expected_version": 1});
        over.check("task_takeover", script, &client.ok("task_takeover", more).to_string());
        for (name, answer) in answers(&client, &task) {
            over.check(name, script, &answer.to_string());
        }
    }
    over.none();
}

#[test]
fn changes_of_many_long_fields_stay_within_the_budget() {
    let mut over = Over::default();
    for (script, sample) in SCRIPTS {
        let house = House::new();
        let client = house.client("maria");
        let task = client.create("Changes");
        for version in 1..3 {
            let text = format!("{version}{}", filled(sample, 900));
            let more = json!({
                "handoff_next": text,
                "handoff_completed": text,
                "handoff_blockers": text,
                "description": text,
                "completion_criteria": text,
                "required_reviews": text,
            });
            client.update(&task, version, more);
        }
        let since = client.ok("task_get", json!({"task_id": task, "since_version": 2}));
        over.check("task_get since_version", script, &since.to_string());
    }
    over.none();
}

#[test]
fn many_findings_stay_within_the_budget() {
    let mut over = Over::default();
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Findings");
    let ghosts: Vec<String> = (0..400).map(|number| format!("m-{number:08x}")).collect();
    let answer = client.update(&task, 1, json!({"handoff_next": ghosts.join(" ")}));
    assert!(rows(&answer["warnings"]).len() <= 5);
    over.check("handoff_check", "English", &client.ok("handoff_check", json!({"task_id": task})).to_string());
    over.none();
}

#[test]
fn many_open_boxes_stay_within_the_budget() {
    let mut over = Over::default();
    for (script, sample) in SCRIPTS {
        let house = House::new();
        let client = house.client("maria");
        let boxes = format!("- [ ] {}\n", filled(sample, 300)).repeat(100);
        let task = client.create_with("Boxes", json!({"completion_criteria": boxes}));
        let line = json!({"handoff": short(&task)});
        over.check("continuity_context", script, &client.ok("continuity_context", line).to_string());
    }
    over.none();
}

#[test]
fn a_refusal_of_many_open_boxes_stays_within_the_budget() {
    let mut over = Over::default();
    for (script, sample) in SCRIPTS {
        let house = House::new();
        let client = house.client("maria");
        let boxes = format!("- [ ] {}\n", filled(sample, 300)).repeat(100);
        let task = client.create_with("Boxes", json!({"completion_criteria": boxes}));
        let refusal = client.call("task_update", Client::update_arguments(&task, 1, json!({"status": "done"})));
        over.check("task_update", script, &refusal.expect_err("open boxes").to_string());
    }
    over.none();
}
