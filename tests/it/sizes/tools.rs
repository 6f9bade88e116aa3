//! The list of tools as every client loads it: its size, its names, and schemas that no client chokes on.

use heyaira::operation::{Audience, Entry};
use heyaira::operations;
use serde_json::{Value, json};

use crate::ground::rows;
use crate::sizes::tokens;

/// The most tokens of the whole list.
const TOOLS_TOKENS: usize = 1_750;

/// The tools in their fixed order, each with its arguments: the required ones carry a `!`.
const TOOLS: [(&str, &str); 11] = [
    ("server_identity", ""),
    ("continuity_context", "handoff session_ref"),
    ("task_list", "status tag owner parent query ready pending_handoff stale sort limit cursor"),
    ("task_get", "task_id! version since_version field offset"),
    (
        "task_create",
        "write_context! title! summary! priority parent tags depends_on idempotency_key description completion_criteria required_reviews",
    ),
    (
        "task_update",
        "task_id! expected_version! write_context! summary! status replace title priority owner parent tags depends_on \
         idempotency_key work_receipt result handoff_next handoff_blockers handoff_completed handoff_completed_append \
         description completion_criteria required_reviews",
    ),
    ("task_takeover", "task_id! expected_version! write_context! session_ref force"),
    ("handoff_check", "task_id!"),
    ("memory_add", "write_context! kind! summary! task_id tags supersedes body"),
    ("memory_search", "query kind task_id tag ids include_superseded limit cursor"),
    ("message_send", "write_context! to session_ref ack text idempotency_key"),
];

/// Arguments that hold long texts; none of the others comes behind one of them.
const LONG: [&str; 12] = [
    "work_receipt",
    "result",
    "handoff_next",
    "handoff_blockers",
    "handoff_completed",
    "handoff_completed_append",
    "description",
    "completion_criteria",
    "required_reviews",
    "body",
    "text",
    "draft",
];

fn tools() -> impl Iterator<Item = &'static Entry> {
    operations::all().iter().filter(|entry| entry.audience == Audience::Everyone)
}

fn shown(entry: &Entry) -> Value {
    json!({"name": entry.name, "description": entry.description(), "inputSchema": entry.wire_schema()})
}

#[test]
fn the_list_of_tools_fits_its_budget() {
    let list: Vec<Value> = tools().map(shown).collect();
    for tool in &list {
        println!("{:>5} tokens  {}", tokens(&tool.to_string()), tool["name"]);
    }
    let total = tokens(&json!(list).to_string());
    println!("{total:>5} tokens  tools/list");
    assert!(total <= TOOLS_TOKENS, "tools/list has {total} tokens, at most {TOOLS_TOKENS}");
}

#[test]
fn names_arguments_and_order_are_fixed() {
    let found: Vec<(&str, String)> = tools().map(|entry| (entry.name, arguments(entry))).collect();
    let expected: Vec<(&str, String)> = TOOLS.iter().map(|(name, list)| (*name, (*list).to_owned())).collect();
    assert_eq!(found, expected);
}

fn arguments(entry: &Entry) -> String {
    let schema = Value::Object(entry.wire_schema());
    let required = schema.get("required").map(rows).unwrap_or_default();
    let properties = schema["properties"].as_object().expect("properties");
    let names = properties.keys().map(|name| {
        let mark = if required.iter().any(|one| one == name) { "!" } else { "" };
        format!("{name}{mark}")
    });
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn short_arguments_come_before_long_texts() {
    for (tool, arguments) in TOOLS {
        let names: Vec<&str> = arguments.split_whitespace().map(|name| name.trim_end_matches('!')).collect();
        let first_long = names.iter().position(|name| LONG.contains(name)).unwrap_or(names.len());
        let late: Vec<&&str> = names[first_long..].iter().filter(|name| !LONG.contains(name)).collect();
        // A key may stand last where the contract's table has it last.
        assert!(late.iter().all(|name| **name == "idempotency_key"), "{tool}: {late:?} behind a long text");
    }
}

#[test]
fn every_description_is_one_short_paragraph() {
    for entry in tools() {
        let words = entry.description();
        assert!(!words.is_empty() && words.len() <= 400, "{}: {} bytes", entry.name, words.len());
        assert!(!words.contains('\n'), "{}: {words}", entry.name);
    }
}

#[test]
fn schemas_hold_only_what_every_client_understands() {
    for entry in tools() {
        let schema = Value::Object(entry.wire_schema());
        assert_eq!(schema["type"], "object", "{}", entry.name);
        assert_eq!(schema["additionalProperties"], false, "{}", entry.name);
        check_schema(entry.name, &schema);
    }
}

fn check_schema(at: &str, schema: &Value) {
    let fields = schema.as_object().unwrap_or_else(|| panic!("{at}: {schema} is no object schema"));
    let allowed = ["type", "properties", "required", "additionalProperties", "description", "enum", "items"];
    for word in fields.keys() {
        assert!(allowed.contains(&word.as_str()), "{at}: {word}");
    }
    let kind = schema["type"].as_str().unwrap_or_else(|| panic!("{at}: no plain type"));
    assert!(["object", "array", "string", "integer", "boolean"].contains(&kind), "{at}: type {kind}");
    assert_eq!(kind == "array", fields.contains_key("items"), "{at}: items belong to arrays");
    assert_eq!(kind == "object", fields.contains_key("properties"), "{at}: properties belong to objects");
    if let Some(items) = fields.get("items") {
        check_schema(&format!("{at}[]"), items);
    }
    for (name, inner) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
        check_schema(&format!("{at}.{name}"), inner);
    }
    if let Some(words) = fields.get("enum") {
        assert!(!rows(words).is_empty() && rows(words).iter().all(Value::is_string), "{at}: {words}");
    }
}
