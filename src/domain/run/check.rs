//! Whether something is a report of a run: every problem of it at once. Must never repeat a value of one: it may be a secret
//! that somebody said.

use std::sync::LazyLock;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{Report, SCHEMA, SCHEMA_VERSION, schema};
use crate::domain::time::Timestamp;

/// How many problems are told.
const PROBLEMS: usize = 20;

static FORMAT: LazyLock<Value> = LazyLock::new(schema);

/// The report that a value is, or everything that is wrong with it. Fields that are not known are no problem: a later
/// version of the program may add some.
pub fn report(value: &Value) -> Result<Report, Vec<String>> {
    let format = |name: &str| value.get(name);
    if format("schema").and_then(Value::as_str) != Some(SCHEMA) {
        return Err(vec![format!("report.schema is not {SCHEMA}: this is no report of a run")]);
    }
    if format("schema_version").and_then(Value::as_i64) != Some(SCHEMA_VERSION) {
        return Err(vec![format!(
            "report.schema_version is not {SCHEMA_VERSION}: another version of heyaira made it, which must record it"
        )]);
    }
    let mut problems = Vec::new();
    look("report", &FORMAT, value, &mut problems);
    if problems.is_empty() {
        match serde_json::from_value::<Report>(value.clone()) {
            Ok(report) => problems.extend(meaning(&report)),
            // Nothing of the value is told.
            Err(_) => problems.push("report cannot be read".to_owned()),
        }
    }
    if !problems.is_empty() {
        let more = problems.len().saturating_sub(PROBLEMS);
        problems.truncate(PROBLEMS);
        problems.extend((more > 0).then(|| format!("and {more} more problems of the report")));
        return Err(problems);
    }
    serde_json::from_value(value.clone()).map_err(|_| vec!["report cannot be read".to_owned()])
}

/// What is wrong in the form of a value and all that is in it.
fn look(place: &str, format: &Value, value: &Value, problems: &mut Vec<String>) {
    let kinds = kinds(format);
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(kind, value)) {
        problems.push(format!("{place} is no {}", kinds.first().copied().unwrap_or_default()));
        return;
    }
    let words = words(format);
    if !words.is_empty() && !words.iter().any(|word| value == word) {
        problems.push(format!("{place} is none of {}", words.join(", ")));
        return;
    }
    match value {
        Value::Object(fields) => look_at_fields(place, format, fields, problems),
        Value::Array(items) => {
            let Some(format) = format.get("items") else { return };
            for (position, item) in items.iter().enumerate() {
                look(&format!("{place}[{position}]"), format, item, problems);
            }
        }
        _ => {}
    }
}

fn look_at_fields(place: &str, format: &Value, fields: &Map<String, Value>, problems: &mut Vec<String>) {
    let required = format.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let missing = required.iter().filter(|name| !fields.contains_key(**name));
    problems.extend(missing.map(|name| format!("{place}.{name} is missing")));
    let known = format.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, format) in known {
        // What may be left out may be null as well.
        let given = fields.get(name).filter(|value| !value.is_null() || required.contains(&name.as_str()));
        if let Some(value) = given {
            look(&format!("{place}.{name}"), alternatives(format), value, problems);
        }
    }
}

/// What may stand in a field beside nothing.
fn alternatives(format: &Value) -> &Value {
    let several = format.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    several.into_iter().find(|one| one.get("type").is_none_or(|kind| kind != "null")).unwrap_or(format)
}

/// The words that a value may be; a word with a comment has a format of its own.
fn words(format: &Value) -> Vec<&str> {
    let several = |name: &str| format.get(name).and_then(Value::as_array).into_iter().flatten();
    let commented = several("oneOf").flat_map(|one| {
        let words = one.get("enum").and_then(Value::as_array).into_iter().flatten();
        words.chain(one.get("const"))
    });
    several("enum").chain(commented).filter_map(Value::as_str).collect()
}

/// The types that a value may have, `null` last.
fn kinds(format: &Value) -> Vec<&str> {
    match format.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// What is wrong with what a report says.
fn meaning(report: &Report) -> Vec<String> {
    let mut problems = Vec::new();
    let mut check = |wrong: bool, problem: &str| problems.extend(wrong.then(|| format!("report.{problem}")));
    // As it is written: the commands that name it by its beginning compare letters.
    let is_whole = |id: &str| Uuid::try_parse(id).is_ok_and(|one| one.hyphenated().to_string() == id);
    check(!is_whole(&report.run_id), "run_id is no UUID in small letters with hyphens");
    check(
        report.task_id.as_deref().is_some_and(|id| !is_whole(id)),
        "task_id is no UUID in small letters with hyphens",
    );
    check(Timestamp::of_rfc3339(&report.started).is_none(), "started is no time of RFC 3339");
    check(Timestamp::of_rfc3339(&report.ended).is_none(), "ended is no time of RFC 3339");
    check(report.work.base_commit.trim().is_empty(), "work.base_commit is empty");
    problems
}
