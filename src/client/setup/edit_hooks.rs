//! Our handlers put among the hooks of a JSON file, in the shape that Claude Code, Codex and Gemini CLI share:
//! `hooks.<event>[].hooks[]`. Must never touch the handler of somebody else.

use jsonc_parser::cst::{CstArray, CstNode, CstObject};
use serde_json::{Value, json};

use crate::client::setup::edit::{Problem, by_hand};
use crate::client::setup::edit_json::{input, lookup, member_object, only, parse, says, set, value};
use crate::client::setup::server::{is_our_hook, with_own_words};

/// The member that holds them.
pub const HOOKS: &str = "hooks";

/// The text with one handler of ours for each event, and none for others.
pub fn put(text: &str, events: &[(String, Value)]) -> Result<String, Problem> {
    let groups: Value = events
        .iter()
        .map(|(event, handler)| (event.clone(), json!([group(handler)])))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let snippet = serde_json::to_string_pretty(&json!({ HOOKS: groups })).unwrap_or_default();
    let (root, top) = parse(text, &snippet)?;
    let hooks = member_object(&top, HOOKS, &snippet)?;
    for (event, handler) in events {
        put_one(&hooks, event, handler, &snippet)?;
    }
    for (event, array) in arrays(&hooks) {
        if !events.iter().any(|(wanted, _)| *wanted == event) {
            remove_ours(&array);
            remove_if_empty(&hooks, &event);
        }
    }
    Ok(root.to_string())
}

fn put_one(hooks: &CstObject, event: &str, handler: &Value, snippet: &str) -> Result<(), Problem> {
    if only(hooks, event, snippet)?.is_some_and(|found| found.array_value().is_none()) {
        return Err(by_hand(format!("has {HOOKS}.{event}, which is no list"), snippet));
    }
    let array = hooks.array_value_or_set(event);
    let mut ours = handlers(&array).into_iter().map(|(_, _, node)| node).filter(is_handler_of_ours);
    let first = ours.next();
    let handler = &first.as_ref().map_or_else(|| handler.clone(), |found| kept_words(found, handler));
    match first {
        Some(found) if says(&found, handler) => {}
        Some(found) => {
            if let (Some(object), Some(members)) = (found.as_object(), handler.as_object()) {
                members.iter().for_each(|(name, value)| set(&object, name, value));
            }
        }
        None => {
            array.append(input(&group(handler)));
        }
    }
    // A second one of ours would tell everything twice.
    ours.for_each(CstNode::remove);
    Ok(())
}

/// The handler with what a person added to the command of ours that is there.
fn kept_words(found: &CstNode, handler: &Value) -> Value {
    let present = found.to_serde_value().unwrap_or_default();
    let mut whole = handler.clone();
    if let (Some(present), Some(wanted)) = (present["command"].as_str(), handler["command"].as_str()) {
        whole["command"] = with_own_words(present, wanted).into();
    }
    whole
}

/// Where our handlers are, as Codex calls them: `session_start:0:0`, by event, group and place in the group.
pub fn places(text: &str) -> Vec<String> {
    let Some(whole) = value(text) else { return Vec::new() };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for (event, groups) in whole[HOOKS].as_object().into_iter().flatten() {
        for (group, inner) in list(groups).iter().enumerate() {
            for (place, handler) in list(&inner[HOOKS]).iter().enumerate() {
                if handler["command"].as_str().is_some_and(is_our_hook) {
                    found.push(format!("{}:{group}:{place}", snake_case(event)));
                }
            }
        }
    }
    found
}

/// `SessionStart` is `session_start`.
fn snake_case(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push('_');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// A group of one handler, for whatever started the event.
fn group(handler: &Value) -> Value {
    json!({ HOOKS: [handler] })
}

/// The text without handlers of ours; lists and objects that are empty by it, and were not there before, go too.
pub fn take_out(now: &str, before: Option<&str>) -> Result<String, Problem> {
    let (root, top) = parse(now, "")?;
    let Some(hooks) = top.object_value(HOOKS) else { return Ok(now.to_owned()) };
    let before = before.and_then(value).unwrap_or_default();
    let was_there =
        |names: &[&str]| lookup(&before, &names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).is_some();
    for (event, array) in arrays(&hooks) {
        if remove_ours(&array) && !was_there(&[HOOKS, &event]) {
            remove_if_empty(&hooks, &event);
        }
    }
    if hooks.properties().is_empty()
        && !was_there(&[HOOKS])
        && let Some(member) = top.get(HOOKS)
    {
        member.remove();
    }
    Ok(root.to_string())
}

fn arrays(hooks: &CstObject) -> Vec<(String, CstArray)> {
    let named = hooks.properties().into_iter();
    named.filter_map(|member| Some((member.decoded_name()?, member.array_value()?))).collect()
}

/// Every handler of an event with its group's list and its group.
fn handlers(array: &CstArray) -> Vec<(CstObject, CstArray, CstNode)> {
    let groups = array.elements().into_iter().filter_map(|group| group.as_object());
    let lists = groups.filter_map(|group| group.array_value(HOOKS).map(|list| (group, list)));
    lists
        .flat_map(|(group, list)| list.elements().into_iter().map(move |node| (group.clone(), list.clone(), node)))
        .collect()
}

fn is_handler_of_ours(node: &CstNode) -> bool {
    let found = node.to_serde_value();
    found.and_then(|handler| handler.get("command")?.as_str().map(is_our_hook)).unwrap_or(false)
}

/// Takes our handlers out, with a group that has no other; true if there was one.
fn remove_ours(array: &CstArray) -> bool {
    let ours: Vec<_> = handlers(array).into_iter().filter(|(_, _, node)| is_handler_of_ours(node)).collect();
    for (group, list, node) in &ours {
        node.clone().remove();
        if list.elements().is_empty() {
            group.clone().remove();
        }
    }
    !ours.is_empty()
}

fn remove_if_empty(hooks: &CstObject, event: &str) {
    if let Some(member) = hooks.get(event)
        && member.array_value().is_some_and(|array| array.elements().is_empty())
    {
        member.remove();
    }
}
