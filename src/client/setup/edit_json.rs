//! An entry put into a JSON file and taken out again, on its concrete syntax: comments, order, indentation, line ends
//! and trailing commas stay. Must never touch a file that it cannot read whole.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Value, json};

use crate::client::setup::edit::{Problem, by_hand, foreign};
use crate::client::setup::server::is_ours;

/// JSON as clients write it: with comments and trailing commas, and nothing looser.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The text with the members of `entry` at `at`; members that it has besides stay.
pub fn put(text: &str, at: &[String], entry: &Value, force: bool) -> Result<String, Problem> {
    let snippet = snippet(at, entry);
    let (root, top) = parse(text, &snippet)?;
    let (last, way) = at.split_last().ok_or_else(|| by_hand("has no place for it", &snippet))?;
    let mut inner = top;
    for name in way {
        inner = member_object(&inner, name, &snippet)?;
    }
    let Some(found) = only(&inner, last, &snippet)? else {
        inner.append(last, input(entry));
        return Ok(root.to_string());
    };
    let present = found.to_serde_value().unwrap_or_default();
    if !(is_ours(&present) || force) {
        return Err(foreign(&at.join(".")));
    }
    match (found.object_value(), entry.as_object()) {
        // Of what is not ours nothing is kept: it would be half of each.
        (Some(object), Some(members)) if is_ours(&present) => {
            for (name, value) in members {
                set(&object, name, value);
            }
        }
        _ => found.set_value(input(entry)),
    }
    Ok(root.to_string())
}

/// The text without what is at `at`; the entry of `before` comes back, and objects that `before` did not have go.
pub fn take_out(now: &str, at: &[String], before: Option<&str>) -> Result<String, Problem> {
    let (root, top) = parse(now, "")?;
    let before = before.and_then(value).unwrap_or_default();
    let mut objects = vec![top];
    for name in at.iter().take(at.len().saturating_sub(1)) {
        let Some(inner) = objects.last().and_then(|object| object.object_value(name)) else {
            return Ok(now.to_owned());
        };
        objects.push(inner);
    }
    let (Some(last), Some(object)) = (at.last(), objects.last()) else { return Ok(now.to_owned()) };
    let Some(found) = object.get(last) else { return Ok(now.to_owned()) };
    if let Some(earlier) = lookup(&before, at) {
        found.set_value(input(earlier));
        return Ok(root.to_string());
    }
    found.remove();
    remove_emptied(&objects, at, &before);
    Ok(root.to_string())
}

/// Takes away, from the innermost outwards, the objects that are empty now and were not there before.
fn remove_emptied(objects: &[CstObject], at: &[String], before: &Value) {
    for depth in (1..objects.len()).rev() {
        if !objects[depth].properties().is_empty() || lookup(before, &at[..depth]).is_some() {
            return;
        }
        if let Some(member) = objects[depth - 1].get(&at[depth - 1]) {
            member.remove();
        }
    }
}

/// Reads a file of settings; an empty one is an empty object.
pub fn parse(text: &str, snippet: &str) -> Result<(CstRootNode, CstObject), Problem> {
    let broken = |what: String| by_hand(what, snippet);
    // The parser's own message may quote the file, and the file may hold others' tokens.
    let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| {
        broken(format!("is no JSON (line {}, column {})", error.line_display(), error.column_display()))
    })?;
    let top = if root.value().is_none() { Some(root.object_value_or_set()) } else { root.object_value() };
    let top = top.ok_or_else(|| broken("holds something else than an object".to_owned()))?;
    Ok((root, top))
}

/// The object under a name, made where there is none.
pub fn member_object(object: &CstObject, name: &str, snippet: &str) -> Result<CstObject, Problem> {
    match only(object, name, snippet)? {
        None => Ok(object.object_value_or_set(name)),
        Some(found) => found.object_value().ok_or_else(|| by_hand(format!("has {name}, which is no object"), snippet)),
    }
}

/// The member of that name. Of two, readers take the last and editors the first: neither is guessed.
pub fn only(object: &CstObject, name: &str, snippet: &str) -> Result<Option<CstObjectProp>, Problem> {
    let mut found = object.properties().into_iter().filter(|one| one.decoded_name().as_deref() == Some(name));
    match (found.next(), found.next()) {
        (first, None) => Ok(first),
        _ => Err(by_hand(format!("has {name} twice"), snippet)),
    }
}

/// Sets one member, without a touch where it says so already.
pub fn set(object: &CstObject, name: &str, value: &Value) {
    match object.get(name) {
        None => {
            object.append(name, input(value));
        }
        Some(found) if found.to_serde_value().as_ref() == Some(value) => {}
        Some(found) => found.set_value(input(value)),
    }
}

/// A file's value, if it is JSON.
pub fn value(text: &str) -> Option<Value> {
    CstRootNode::parse(text, &OPTIONS).ok()?.to_serde_value()
}

/// What is at a place.
pub fn lookup<'v>(value: &'v Value, at: &[String]) -> Option<&'v Value> {
    at.iter().try_fold(value, |inner, name| inner.get(name))
}

/// A value as the editor takes it.
pub fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(bit) => CstInputValue::Bool(*bit),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// True if a node is an object that `wanted` says everything of.
pub fn says(node: &CstNode, wanted: &Value) -> bool {
    let Some(found) = node.to_serde_value() else { return false };
    wanted.as_object().is_some_and(|members| members.iter().all(|(name, value)| found.get(name) == Some(value)))
}

/// The entry as a person would write it into an empty file.
fn snippet(at: &[String], entry: &Value) -> String {
    let whole = at.iter().rev().fold(entry.clone(), |inner, name| json!({ name: inner }));
    serde_json::to_string_pretty(&whole).unwrap_or_default()
}
