//! An entry put into a block mapping of a YAML file, line by line, and taken out again. Both are proven by parsing before
//! and after; what cannot be proven is refused. Must never write a file that says anything else than before but for ours.

use saphyr::{LoadableYamlNode, Yaml};
use serde_json::{Map, Value, json};

use crate::client::setup::edit::{Problem, by_hand, foreign};
use crate::client::setup::server::is_ours;

/// What is under a list and a name.
pub fn entry(text: &str, list: &str, name: &str) -> Option<Value> {
    value(text).map(|mut whole| whole[list][name].take()).filter(|entry| !entry.is_null())
}

/// The text with `entry` under `list` and `name`. Of an older entry of ours other members stay, comments in it do not.
pub fn put(text: &str, list: &str, name: &str, entry: &Value, force: bool) -> Result<String, Problem> {
    let snippet = format!("{list}:\n{}", lines(name, entry, "  ").join("\n"));
    let before = match Yaml::load_from_str(text) {
        Err(error) => return Err(by_hand(format!("is no YAML (line {})", error.marker().line()), &snippet)),
        Ok(_) => value(text).ok_or_else(|| by_hand("is not one YAML mapping", &snippet))?,
    };
    let present = &before[list][name];
    let mut wanted = entry.clone();
    let mut rest = text.to_owned();
    if !present.is_null() {
        if says(present, entry) {
            return Ok(text.to_owned());
        }
        if !(is_ours(present) || force) {
            return Err(foreign(&format!("{list}.{name}")));
        }
        if is_ours(present) {
            wanted = merged(present, entry);
        }
        rest = without(text, list, name)
            .ok_or_else(|| by_hand(format!("has {list}.{name} in a form that cannot be edited safely"), &snippet))?;
    }
    if holds_other(&wanted) {
        return Err(by_hand(format!("has in {list}.{name} what cannot be written as it is"), &snippet));
    }
    let mut after = before;
    if !after[list].is_object() {
        after[list] = json!({});
    }
    after[list][name] = wanted.clone();
    let longer = inserted(&rest, list, name, &wanted);
    if value(&longer).as_ref() == Some(&after) {
        return Ok(longer);
    }
    Err(by_hand(format!("has {list} in a form that cannot be edited safely"), &snippet))
}

/// The text without the entry, or with the one that `before` had.
pub fn take_out(now: &str, list: &str, name: &str, before: Option<&str>) -> Result<String, Problem> {
    let unsafe_form = || Problem::new("has our entry in a form that cannot be edited safely", "Remove it by hand.");
    let present = value(now).ok_or_else(unsafe_form)?;
    if present[list][name].is_null() {
        return Ok(now.to_owned());
    }
    let earlier = before.and_then(value).unwrap_or_default();
    let rest = without(now, list, name).ok_or_else(unsafe_form)?;
    if !earlier[list][name].is_null() {
        return put(&rest, list, name, &earlier[list][name], true);
    }
    let is_empty = value(&rest).is_some_and(|rest| rest[list].is_null());
    if is_empty && earlier[list].is_null() {
        let header = format!("{list}:");
        return Ok(rest.split_inclusive('\n').filter(|line| line.trim_end() != header).collect());
    }
    Ok(rest)
}

/// The text with the lines of the entry in front of the others of its list.
fn inserted(text: &str, list: &str, name: &str, entry: &Value) -> String {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let whole =
        |indent: &str| lines(name, entry, indent).iter().map(|line| format!("{line}{line_end}")).collect::<String>();
    let Some(header) = header(text, list) else {
        let between = if text.is_empty() || text.ends_with('\n') { "" } else { line_end };
        return format!("{text}{between}{list}:{line_end}{}", whole("  "));
    };
    let (head, tail) = text.split_at(header.1);
    let next = tail.lines().find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let indent = next.map_or("", |line| &line[..line.len() - line.trim_start().len()]);
    let indent = if indent.is_empty() { "  " } else { indent };
    let between = if head.ends_with('\n') { "" } else { line_end };
    format!("{head}{between}{}{tail}", whole(indent))
}

/// The text without the lines of the entry.
fn without(text: &str, list: &str, name: &str) -> Option<String> {
    let mut wanted = value(text)?;
    wanted[list].as_object_mut()?.shift_remove(name)?;
    if wanted[list].as_object().is_some_and(Map::is_empty) {
        wanted[list] = Value::Null;
    }
    let (_, start) = header(text, list)?;
    let (head, tail) = text.split_at(start);
    let mut indent = None;
    let mut rest = String::new();
    for line in tail.split_inclusive('\n') {
        let depth = line.len() - line.trim_start().len();
        let is_blank = line.trim().is_empty();
        match indent {
            None if line.trim_end().trim_start() == format!("{name}:") && depth > 0 => indent = Some(depth),
            Some(outer) if depth > outer && !is_blank => {}
            _ => {
                // Behind the entry nothing is ours.
                indent = indent.map(|_| usize::MAX);
                rest.push_str(line);
            }
        }
    }
    let rest = format!("{head}{rest}");
    (value(&rest)? == wanted).then_some(rest)
}

/// Where the line of a list starts and ends, if it stands alone at the left.
fn header(text: &str, list: &str) -> Option<(usize, usize)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let rest = line.strip_prefix(list).and_then(|rest| rest.strip_prefix(':')).map(str::trim);
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#')) {
            return Some((start, start + line.len()));
        }
        start += line.len();
    }
    None
}

/// The entry as lines; texts and lists are written as JSON, which is YAML too.
fn lines(name: &str, entry: &Value, indent: &str) -> Vec<String> {
    let members = entry.as_object().into_iter().flatten().map(|(key, value)| format!("{indent}{indent}{key}: {value}"));
    std::iter::once(format!("{indent}{name}:")).chain(members).collect()
}

fn says(present: &Value, wanted: &Value) -> bool {
    wanted.as_object().is_some_and(|members| members.iter().all(|(name, value)| present.get(name) == Some(value)))
}

fn merged(present: &Value, wanted: &Value) -> Value {
    let mut whole = present.clone();
    for (name, value) in wanted.as_object().into_iter().flatten() {
        whole[name] = value.clone();
    }
    whole
}

/// A document of one mapping, or an empty one; anything else is none.
fn value(text: &str) -> Option<Value> {
    match Yaml::load_from_str(text).ok()?.as_slice() {
        [] => Some(json!({})),
        [one] => match plain(one) {
            Value::Null => Some(json!({})),
            found => found.is_object().then_some(found),
        },
        _ => None,
    }
}

/// What a text for something that JSON has not begins with: no text of YAML does.
const OTHER: char = '\0';

/// True where a value holds something that JSON has not, and that could not be written as it was.
fn holds_other(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with(OTHER),
        Value::Array(values) => values.iter().any(holds_other),
        Value::Object(members) => members.iter().any(|(name, value)| name.starts_with(OTHER) || holds_other(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A node as JSON; what JSON has not is compared by what it is printed as.
fn plain(node: &Yaml<'_>) -> Value {
    if node.is_null() {
        return Value::Null;
    }
    if let Some(members) = node.as_mapping() {
        let name = |key: &Yaml<'_>| key.as_str().map_or_else(|| format!("{OTHER}{key:?}"), str::to_owned);
        return Value::Object(members.iter().map(|(key, value)| (name(key), plain(value))).collect());
    }
    if let Some(values) = node.as_sequence() {
        return values.iter().map(plain).collect();
    }
    let scalar = node.as_bool().map(Value::from).or_else(|| node.as_integer().map(Value::from));
    scalar.or_else(|| node.as_str().map(Value::from)).unwrap_or_else(|| Value::from(format!("{OTHER}{node:?}")))
}
