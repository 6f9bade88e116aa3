//! From an operation's struct to its schema: the full one, and the one that agents see.
//! Must never hold a schema written by hand.
//!
//! The full schema may carry extensions beside JSON Schema's words; the wire schema drops them:
//! `x-wire` (the field's text for agents; without it the field has none on the wire), `x-check` (a named check), `x-items-check` (the same for each entry of a list),
//! `x-agents-must` (required of agents, optional for people), `x-people` (not for agents at all),
//! `x-clears` (an empty text clears the value), `x-caseless` (an enum in any letter case),
//! `x-open` (an object that is taken as it is, and checked by its operation),
//! `x-position` (a positional argument of the command line), `x-when` (a time at which something was looked at: calls
//! that differ in nothing else are the same).

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The full schema of an operation's arguments, in the order of its fields. Every field is settled: what may be null
/// is written as if it never were, and the entries of a list carry their own check.
pub fn full<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut root = match schema.to_value() {
        Value::Object(root) => root,
        _ => Map::new(),
    };
    root.remove("title");
    root.entry("properties").or_insert_with(|| json!({}));
    settle_fields(&mut root);
    root
}

fn settle_fields(schema: &mut Map<String, Value>) {
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    fields.into_iter().flat_map(Map::values_mut).for_each(settle);
}

/// Takes the `null` alternative of an optional field away, here and inside it.
fn settle(field: &mut Value) {
    let Value::Object(words) = field else { return };
    if let Some(Value::Array(alternatives)) = words.shift_remove("anyOf") {
        let is_null = |one: &Value| one.get("type").is_some_and(|kind| kind == "null");
        let real = alternatives.into_iter().find(|one| !is_null(one));
        let outer = std::mem::take(words);
        words.extend(real.and_then(|one| one.as_object().cloned()).unwrap_or_default());
        words.extend(outer);
    }
    if kind_of(words) == "array" {
        let check = words.get("x-items-check").cloned();
        let items = words.entry("items").or_insert_with(|| json!({"type": "string"}));
        settle(items);
        if let (Some(check), Some(items)) = (check, items.as_object_mut()) {
            items.insert("x-check".to_owned(), check);
        }
    }
    settle_fields(words);
}

/// The text of the whole schema for agents: the first paragraph of its description.
pub fn wire_text(schema: &Map<String, Value>) -> Option<&str> {
    let text = schema.get("description")?.as_str()?;
    Some(text.split("\n\n").next().unwrap_or(text))
}

/// The fields of a full schema, in order.
pub fn fields(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// True if the schema's extension `word` is set.
pub fn has(schema: &Value, word: &str) -> bool {
    schema.get(word).and_then(Value::as_bool).unwrap_or(false)
}

/// True if the field must be given; agents must give more than people.
pub fn is_required(schema: &Map<String, Value>, name: &str, field: &Value, by_person: bool) -> bool {
    let listed = schema.get("required").and_then(Value::as_array);
    let required = listed.is_some_and(|names| names.iter().any(|one| one == name));
    required || (!by_person && has(field, "x-agents-must"))
}

/// The JSON type of a field; an optional field's `null` is left out.
pub fn kind(field: &Value) -> &str {
    field.as_object().map_or("object", kind_of)
}

fn kind_of(field: &Map<String, Value>) -> &str {
    match field.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or("string")
        }
        _ => "object",
    }
}

/// The allowed words of a field, where it is an enum.
pub fn words(field: &Value) -> Vec<&str> {
    let values = field.get("enum").and_then(Value::as_array);
    values.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The schema that agents see: types, names, required and few words; nothing that a client might choke on.
pub fn wire(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, field) in fields(schema) {
        if has(field, "x-people") {
            continue;
        }
        if is_required(schema, name, field, false) {
            required.push(json!(name));
        }
        properties.insert(name.clone(), wire_field(field));
    }
    let mut answer = Map::new();
    answer.insert("type".to_owned(), json!("object"));
    answer.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        answer.insert("required".to_owned(), Value::Array(required));
    }
    answer.insert("additionalProperties".to_owned(), json!(false));
    answer
}

fn wire_field(field: &Value) -> Value {
    let kind = kind(field);
    let mut answer = Map::new();
    answer.insert("type".to_owned(), json!(kind));
    let words = words(field);
    if !words.is_empty() {
        answer.insert("enum".to_owned(), json!(words));
    }
    if kind == "array" {
        answer.insert("items".to_owned(), field.get("items").map(wire_field).unwrap_or_default());
    }
    if kind == "object" {
        let inner = field.get("properties").and_then(Value::as_object);
        let inner = inner.into_iter().flatten().map(|(name, field)| (name.clone(), wire_field(field)));
        answer.insert("properties".to_owned(), Value::Object(inner.collect()));
    }
    if let Some(text) = field.get("x-wire") {
        answer.insert("description".to_owned(), text.clone());
    }
    Value::Object(answer)
}
