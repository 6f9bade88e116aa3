//! The same call by every way in gives the same JSON, and the same refusal.

use heyaira::operation::schema;
use heyaira::operations;
use serde_json::{Map, Value, json};

use super::served::{Client, Served, sentence, token};
use crate::bridge::Bridge;
use crate::dice::Dice;
use crate::program::{Place, Server};
use crate::secrets::set::drawn;

/// The five ways in, on one database, as one person.
struct Ways {
    place: Place,
    stdio: Server,
    bridge: Server,
    mcp: Client,
    http: Client,
    _served: Served,
}

const WAYS: [&str; 5] = ["stdio", "mcp", "http", "cli", "bridge"];

impl Ways {
    fn new() -> Self {
        let place = Place::new();
        let secret = token(&place, "maria", &["--project", "ledger"]);
        let served = Served::start(&place, &[]);
        let (mcp, http) = (served.client_with(&secret), served.client_with(&secret));
        let bridge = Bridge::to(&served.address).with_token(&secret).in_project("ledger").start(&place.write_context);
        Self { stdio: place.server(), bridge, mcp, http, place, _served: served }
    }

    /// The answer, or code, text and body of the refusal.
    fn ask(&mut self, way: &str, tool: &str, arguments: &Value) -> Result<Value, Refused> {
        match way {
            "stdio" => self.stdio.call(tool, arguments.clone()).map_err(Refused::Text),
            "bridge" => self.bridge.call(tool, arguments.clone()).map_err(Refused::Text),
            "mcp" => self.mcp.call(tool, arguments).expect("an answer").map_err(Refused::Text),
            "http" => {
                let reply = self.http.api(tool, arguments);
                if reply.status == 200 { Ok(reply.json()) } else { Err(Refused::Body(reply.json())) }
            }
            _ => self.command_line(tool, arguments),
        }
    }

    fn command_line(&self, tool: &str, arguments: &Value) -> Result<Value, Refused> {
        let entry = operations::named(tool).expect("a tool");
        let mut words: Vec<String> = entry.command.split(' ').map(str::to_owned).collect();
        for (name, value) in arguments.as_object().expect("arguments") {
            let field = schema::fields(&entry.schema).find(|(field, _)| *field == name).map(|(_, field)| field);
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let values = if let Value::Array(values) = value { values.clone() } else { vec![value.clone()] };
            for value in values {
                if field.is_some_and(|field| schema::has(field, "x-position")) {
                    words.push(text(&value));
                } else {
                    words.push(format!("--{}={}", name.replace('_', "-"), text(&value)));
                }
            }
        }
        words.push("--json".to_owned());
        let answer = self.place.cli(&words.iter().map(String::as_str).collect::<Vec<_>>());
        // A check that found something answers, and says so by its exit code as well.
        let is_answer = answer.code == 0 || answer.json().get("error").is_none();
        if is_answer { Ok(answer.json()) } else { Err(Refused::Body(answer.json())) }
    }

    fn context(&self) -> String {
        self.place.write_context.clone()
    }
}

#[derive(Debug)]
enum Refused {
    Text(String),
    Body(Value),
}

impl Refused {
    /// The sentence that an agent reads.
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Body(body) => sentence(body),
        }
    }
}

/// What differs between two equal acts: ids, times, ages.
fn masked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| {
                    let passing = ["age", "idle", "pending", "at", "created", "updated"].contains(&name.as_str());
                    (name.clone(), if passing { json!("…") } else { masked(value) })
                })
                .collect::<Map<_, _>>(),
        ),
        Value::Array(items) => items.iter().map(masked).collect(),
        Value::String(text) => json!(without_ids(text)),
        other => other.clone(),
    }
}

fn without_ids(text: &str) -> String {
    let mut shown = String::new();
    let mut word = String::new();
    for character in text.chars().chain(['\n']) {
        if character.is_ascii_hexdigit() || character == '-' {
            word.push(character);
            continue;
        }
        let is_id = word.len() >= 8 && word.contains(|one: char| one.is_ascii_hexdigit());
        shown.push_str(if is_id { "#" } else { &word });
        shown.push(character);
        word.clear();
    }
    shown.pop();
    shown
}

#[test]
fn every_tool_that_writes_answers_alike() {
    let mut ways = Ways::new();
    let context = ways.context();
    let mut answers: Vec<Vec<(&str, Value)>> = Vec::new();
    for way in WAYS {
        let mut told = Vec::new();
        let mut ask = |tool: &'static str, arguments: Value| {
            let answer = ways.ask(way, tool, &arguments).unwrap_or_else(|refused| panic!("{way} {tool}: {refused:?}"));
            told.push((tool, masked(&answer)));
            answer
        };
        let made = ask(
            "task_create",
            json!({"write_context": context, "title": "Import statements", "summary": "Agreed.", "priority": 1,
                "tags": ["bank", "import"], "description": "-- a text\nwith two lines", "completion_criteria": "- [ ] tests pass"}),
        );
        let id = made["task_id"].clone();
        ask(
            "task_update",
            json!({"task_id": id, "expected_version": 1, "write_context": context, "summary": "Half done.",
                "work_receipt": {"session_ref": "codex:one", "harness": "codex", "model": "m", "branch": "b",
                    "result_commit": "0a1b2c3d", "tests": "cargo test: 3 passed"},
                "handoff_next": "Run `cargo test`.\nPrevious session: codex:one", "handoff_completed": "Parsed."}),
        );
        ask(
            "task_takeover",
            json!({"task_id": id, "expected_version": 2, "write_context": context, "session_ref": "codex:two"}),
        );
        let memory = json!({"write_context": context, "kind": "decision", "summary": "Use CSV.", "task_id": id,
            "body": "Because the bank sends it."});
        ask("memory_add", memory);
        ask(
            "message_send",
            json!({"write_context": context, "to": id, "session_ref": "codex:one", "text": "One more file."}),
        );
        answers.push(told);
    }
    for (way, told) in WAYS.iter().zip(&answers).skip(1) {
        assert_eq!(told, &answers[0], "{way}");
    }
}

#[test]
fn every_tool_that_reads_answers_alike() {
    let mut ways = Ways::new();
    let context = ways.context();
    let made = ways
        .ask("stdio", "task_create", &json!({"write_context": context, "title": "Read me", "summary": "Ready."}))
        .expect("made");
    let id = made["task_id"].clone();
    let update = json!({"task_id": id, "expected_version": 1, "write_context": context, "summary": "Handed off.",
        "work_receipt": {"session_ref": "codex:one", "harness": "codex", "model": "m", "branch": "main"},
        "handoff_next": "Run `cargo test`.\nPrevious session: codex:one"});
    ways.ask("http", "task_update", &update).expect("updated");
    let memory = json!({"write_context": context, "kind": "fact", "summary": "Statements are CSV.", "task_id": id});
    ways.ask("mcp", "memory_add", &memory).expect("added");
    let line = format!("handoff: {} v2", &id.as_str().expect("an id")[..8]);
    for (tool, arguments) in [
        ("server_identity", json!({})),
        ("continuity_context", json!({})),
        ("continuity_context", json!({"handoff": line, "session_ref": "codex:two"})),
        ("task_list", json!({"status": "open", "limit": 5})),
        ("task_list", json!({"query": "read", "sort": "priority"})),
        ("task_get", json!({"task_id": id})),
        ("task_get", json!({"task_id": id, "version": 1})),
        ("task_get", json!({"task_id": id, "since_version": 1})),
        ("task_get", json!({"task_id": id, "field": "handoff_next", "offset": 3})),
        ("handoff_check", json!({"task_id": id})),
        ("memory_search", json!({"query": "statements"})),
        ("memory_search", json!({"kind": "fact", "task_id": id})),
    ] {
        let mut answers = WAYS.map(|way| {
            let answer = ways.ask(way, tool, &arguments);
            masked(&answer.unwrap_or_else(|refused| panic!("{way} {tool}: {refused:?}")))
        });
        if answers[3].get("role").is_some() {
            assert_eq!(answers[3]["role"], "admin", "the person at the machine");
            answers[3]["role"] = answers[0]["role"].clone();
        }
        for (way, answer) in WAYS.iter().zip(&answers).skip(1) {
            assert_eq!(answer, &answers[0], "{tool} {arguments} by {way}");
        }
    }
    let called: Vec<&str> = operations::all()
        .iter()
        .filter(|entry| entry.audience == heyaira::operation::Audience::Everyone)
        .map(|entry| entry.name)
        .collect();
    assert_eq!(called.len(), 11, "six are read here and five written above: {called:?}");
}

#[test]
fn every_refusal_says_the_same() {
    let mut ways = Ways::new();
    let context = ways.context();
    let foreign = "other@00000000#aaaaaaaaaaaaaaaa";
    let made = ways
        .ask("stdio", "task_create", &json!({"write_context": context, "title": "One", "summary": "s"}))
        .expect("made");
    let id = made["task_id"].as_str().expect("an id").to_owned();
    let ambiguous = ambiguous_prefix(&mut ways, &context);
    let key = drawn("token", &mut Dice::new(7));
    let update = |version: i64, more: Value| {
        let mut arguments =
            json!({"task_id": id, "expected_version": version, "write_context": context, "summary": "s"});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        arguments
    };
    for (code, tool, arguments) in [
        ("version_conflict", "task_update", update(9, json!({"priority": 3}))),
        ("identity_mismatch", "memory_add", json!({"write_context": foreign, "kind": "fact", "summary": "s"})),
        ("not_found", "task_get", json!({"task_id": "00000000"})),
        ("not_found", "continuity_context", json!({"handoff": format!("handoff: {} v9", &id[..8])})),
        ("ambiguous_id", "task_get", json!({"task_id": ambiguous})),
        ("invalid_argument", "task_update", update(1, json!({"status": "nonsense", "priority": 9}))),
        ("too_large", "task_update", update(1, json!({"description": "x".repeat(100_001)}))),
        ("secret_refused", "task_update", update(1, json!({"description": key}))),
        ("not_allowed", "task_update", update(1, json!({"status": "done"}))),
    ] {
        // Over the command line a text this long does not fit into one word of the system.
        let ways_here: Vec<&str> = WAYS.into_iter().filter(|way| !(code == "too_large" && *way == "cli")).collect();
        let refusals: Vec<Refused> =
            ways_here.iter().map(|way| ways.ask(way, tool, &arguments).expect_err("refused")).collect();
        for (way, refused) in ways_here.iter().zip(&refusals) {
            assert!(refused.text().starts_with(&format!("{code}: ")), "{way}: {refused:?}");
            assert_eq!(refused.text(), refusals[0].text(), "{tool} by {way}");
        }
        if let [_, _, Refused::Body(http), Refused::Body(cli), _] = refusals.as_slice() {
            assert_eq!(http, cli, "{tool}");
        }
    }
}

/// Four characters with which two tasks begin.
fn ambiguous_prefix(ways: &mut Ways, context: &str) -> String {
    let mut seen = std::collections::HashSet::new();
    for number in 0..5_000 {
        let arguments = json!({"write_context": context, "title": format!("task {number}"), "summary": "s"});
        let made = ways.ask("stdio", "task_create", &arguments).expect("made");
        let prefix = made["task_id"].as_str().expect("an id")[..4].to_owned();
        if !seen.insert(prefix.clone()) {
            return prefix;
        }
    }
    panic!("5,000 random ids with different first four characters");
}

/// What cannot be provoked from outside is said by the same two functions as everything else.
#[test]
fn the_text_of_every_code_is_its_body_in_a_sentence() {
    use heyaira::error::{Code, Refusal};
    for code in Code::ALL {
        let refusal = Refusal::new(code, "what is wrong", "What to do.").with("retry_after_seconds", 1);
        assert_eq!(Refused::Body(refusal.body()).text(), refusal.to_string());
        assert_eq!(refusal.body()["error"]["details"]["retry_after_seconds"], 1);
    }
}
