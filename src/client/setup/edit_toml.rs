//! A table put into a TOML file and taken out again. A new one is written behind all others, so that every byte of the
//! file stays; what changes an old one keeps comments and order. Must never write what does not parse to what was meant.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use crate::client::setup::edit::{Problem, by_hand, foreign};
use crate::client::setup::server::is_ours;

/// What is at a place.
pub fn entry(text: &str, at: &[String]) -> Option<Value> {
    lookup(&text.parse::<DocumentMut>().ok()?, at).map(value_of)
}

/// The text with the keys of `entry` in the table at `at`; other keys of it stay.
pub fn put(text: &str, at: &[String], entry: &Value, force: bool) -> Result<String, Problem> {
    let snippet = snippet(at, entry);
    let document = parse(text, &snippet)?;
    let present = lookup(&document, at).map(value_of);
    match &present {
        None => return append(text, at, entry, &snippet),
        Some(present) if says(present, entry) => return Ok(text.to_owned()),
        Some(present) if !(is_ours(present) || force) => return Err(foreign(&at.join("."))),
        Some(_) => {}
    }
    changed(text, document, &snippet, |document| {
        let Some(table) = table_at(document, at) else { return };
        // Of what is not ours nothing is kept: it would be half of each.
        if !present.as_ref().is_some_and(is_ours) {
            table.clear();
        }
        for (name, value) in entry.as_object().into_iter().flatten() {
            set(table, name, value);
        }
    })
}

/// The text without the table at `at`, or with the one that `before` had.
pub fn take_out(now: &str, at: &[String], before: Option<&str>) -> Result<String, Problem> {
    let document = parse(now, "")?;
    if lookup(&document, at).is_none() {
        return Ok(now.to_owned());
    }
    let before = before.and_then(|text| text.parse::<DocumentMut>().ok());
    if before.as_ref().is_none_or(|before| lookup(before, at).is_none())
        && let Some(rest) = cut(now, at, &document)
    {
        return Ok(rest);
    }
    let earlier = before.as_ref().and_then(|document| lookup(document, at)).cloned();
    let kept_parents = before
        .as_ref()
        .map_or(0, |document| (1..at.len()).filter(|depth| lookup(document, &at[..*depth]).is_some()).count());
    changed(now, document, "", |document| {
        if let (Some(earlier), Some(present)) = (earlier, lookup_mut(document, at)) {
            *present = earlier;
            return;
        }
        for depth in (1..=at.len()).rev() {
            let (name, way) = (&at[depth - 1], &at[..depth - 1]);
            let Some(parent) = table_at(document, way) else { return };
            let emptied = parent.get(name).and_then(Item::as_table_like).is_some_and(TableLike::is_empty);
            if depth == at.len() || (emptied && depth > kept_parents) {
                parent.remove(name);
            }
        }
    })
}

/// The text without the very lines that were put in, if they stand there as they were written.
fn cut(now: &str, at: &[String], document: &DocumentMut) -> Option<String> {
    let entry = lookup(document, at).map(value_of)?;
    let line_end = if now.contains("\r\n") { "\r\n" } else { "\n" };
    let written = snippet(at, &entry).replace('\n', line_end);
    let start = now.find(&written)?;
    let (head, tail) = (&now[..start], &now[start + written.len()..]);
    let head = head.strip_suffix(line_end).filter(|head| head.is_empty() || head.ends_with('\n')).unwrap_or(head);
    let rest = format!("{head}{tail}");
    let is_out = rest.parse::<DocumentMut>().is_ok_and(|document| lookup(&document, at).is_none());
    is_out.then_some(rest)
}

/// A new table at the end of the text, where the text allows one there.
fn append(text: &str, at: &[String], entry: &Value, snippet: &str) -> Result<String, Problem> {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let between = match text {
        "" => String::new(),
        _ if text.ends_with('\n') => line_end.to_owned(),
        _ => line_end.repeat(2),
    };
    let longer = format!("{text}{between}{}", snippet.replace('\n', line_end));
    let right = |text: &str| {
        text.parse::<DocumentMut>().is_ok_and(|document| lookup(&document, at).map(value_of).as_ref() == Some(entry))
    };
    if right(&longer) {
        return Ok(longer);
    }
    // The table around it is written on one line, or by dotted keys.
    let document = parse(text, snippet)?;
    let longer = changed(text, document, snippet, |document| {
        let Some((name, way)) = at.split_last() else { return };
        if let Some(table) = table_at(document, way) {
            table.insert(name, Item::Value(inline(entry)));
        }
    })?;
    if right(&longer) {
        Ok(longer)
    } else {
        Err(by_hand("has no place where the entry could be put in safely", snippet))
    }
}

/// The text after a change of its document, with its own line ends.
fn changed(
    text: &str,
    mut document: DocumentMut,
    snippet: &str,
    change: impl FnOnce(&mut DocumentMut),
) -> Result<String, Problem> {
    let windows = text.contains("\r\n");
    let kept = |document: &DocumentMut| {
        let written = document.to_string();
        if windows { written.replace('\n', "\r\n") } else { written }
    };
    if kept(&document) != text {
        return Err(by_hand("mixes two sorts of line ends, which an edit would not keep", snippet));
    }
    change(&mut document);
    Ok(kept(&document))
}

fn parse(text: &str, snippet: &str) -> Result<DocumentMut, Problem> {
    // The parser's own message quotes the line, and the line may hold somebody's token.
    text.parse::<DocumentMut>().map_err(|error| {
        let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        by_hand(format!("is no TOML (line {line})"), snippet)
    })
}

fn lookup<'d>(document: &'d DocumentMut, at: &[String]) -> Option<&'d Item> {
    at.iter().try_fold(document.as_item(), |inner, name| inner.as_table_like()?.get(name))
}

fn lookup_mut<'d>(document: &'d mut DocumentMut, at: &[String]) -> Option<&'d mut Item> {
    at.iter().try_fold(document.as_item_mut(), |inner, name| inner.as_table_like_mut()?.get_mut(name))
}

fn table_at<'d>(document: &'d mut DocumentMut, at: &[String]) -> Option<&'d mut dyn TableLike> {
    lookup_mut(document, at)?.as_table_like_mut()
}

/// Sets one key and keeps the comments around it.
fn set(table: &mut dyn TableLike, name: &str, wanted: &Value) {
    match table.get_mut(name) {
        Some(found) if value_of(found) == *wanted => {}
        Some(Item::Value(found)) => {
            let decor = found.decor().clone();
            *found = inline(wanted);
            *found.decor_mut() = decor;
        }
        _ => {
            table.insert(name, Item::Value(inline(wanted)));
        }
    }
}

fn says(present: &Value, wanted: &Value) -> bool {
    wanted.as_object().is_some_and(|members| members.iter().all(|(name, value)| present.get(name) == Some(value)))
}

/// An item as JSON, as far as entries of ours have it: texts, numbers, lists and tables.
fn value_of(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return Value::Object(
            table.iter().map(|(name, inner)| (name.to_owned(), value_of(inner))).collect::<Map<_, _>>(),
        );
    }
    item.as_value().map_or(Value::Null, plain)
}

fn plain(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(bit) => Value::from(*bit.value()),
        toml_edit::Value::Datetime(time) => Value::from(time.value().to_string()),
        toml_edit::Value::Array(values) => values.iter().map(plain).collect(),
        toml_edit::Value::InlineTable(members) => {
            Value::Object(members.iter().map(|(name, inner)| (name.to_owned(), plain(inner))).collect())
        }
    }
}

fn inline(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(bit) => (*bit).into(),
        Value::Number(number) => number.as_i64().map_or_else(|| number.as_f64().unwrap_or_default().into(), Into::into),
        Value::String(text) => text.as_str().into(),
        Value::Array(values) => values.iter().map(inline).collect::<Array>().into(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.as_str(), inline(value))).collect::<InlineTable>().into()
        }
        // TOML has none, and no entry of ours does.
        Value::Null => "".into(),
    }
}

/// The table as it is written at the end of a file.
fn snippet(at: &[String], entry: &Value) -> String {
    let mut table = Table::new();
    for (name, value) in entry.as_object().into_iter().flatten() {
        table.insert(name, Item::Value(inline(value)));
    }
    let mut whole = Table::new();
    whole.set_implicit(true);
    let mut item = Item::Table(table);
    for name in at.iter().skip(1).rev() {
        let mut outer = Table::new();
        outer.set_implicit(true);
        outer.insert(name, item);
        item = Item::Table(outer);
    }
    if let Some(first) = at.first() {
        whole.insert(first, item);
    }
    let mut document = DocumentMut::new();
    *document.as_table_mut() = whole;
    document.to_string()
}
