//! An answer as text for a person: times in local time with their offset, hidden and control characters made visible.
//! Must never let stored text steer the terminal.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::domain::text::visible;

/// The whole answer.
pub fn render(answer: &Value) -> String {
    let mut text = String::new();
    match answer {
        Value::Object(fields) if fields.contains_key("shown") => table(fields, &mut text),
        Value::Object(fields) => block(fields, 0, &mut text),
        other => {
            let _ = writeln!(text, "{}", plain(other));
        }
    }
    text
}

fn table(fields: &Map<String, Value>, text: &mut String) {
    let rows = |list: &'_ Value| list.as_array().is_some_and(|rows| rows.iter().any(Value::is_object));
    let lists: Vec<(&String, &Value)> = fields.iter().filter(|(_, list)| rows(list)).collect();
    for (name, list) in &lists {
        // What is counted below is the last of several.
        if lists.len() > 1 {
            let _ = writeln!(text, "{name}:");
        }
        list.as_array().into_iter().flatten().filter_map(Value::as_object).for_each(|row| line(row, text));
    }
    let word = |name: &str| fields.get(name).map(plain).unwrap_or_default();
    let _ = writeln!(text, "showing {} of {}", word("shown"), word("total"));
    if let Some(cursor) = fields.get("next_cursor").and_then(Value::as_str) {
        let _ = writeln!(text, "the rest: the same command with --cursor {cursor}");
    }
    if let Some(rest) = fields.get("rest") {
        let _ = writeln!(text, "the rest: {}", plain(rest));
    }
}

/// One row: its short values first, its title or summary, then the rest.
fn line(row: &Map<String, Value>, text: &mut String) {
    let mut head: Vec<String> = Vec::new();
    let mut below: Vec<String> = Vec::new();
    for (name, value) in row {
        let shown = plain(value);
        match name.as_str() {
            _ if shown.is_empty() => {}
            _ if let Some(sentences) = sentences(value) => {
                below.push(format!("{name}:"));
                below.extend(sentences.iter().map(|one| format!("  - {}", plain(one))));
            }
            "id" | "line" | "project" | "status" | "kind" | "title" | "name" | "act" => head.push(shown),
            "v" => head.push(format!("v{shown}")),
            "p" => head.push(format!("p{shown}")),
            "summary" => below.push(shown),
            _ => head.push(format!("{name}: {shown}")),
        }
    }
    let _ = writeln!(text, "{}", head.join("  "));
    for one in below {
        let _ = writeln!(text, "    {one}");
    }
}

fn block(fields: &Map<String, Value>, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for (name, value) in fields {
        match value {
            Value::Null => {}
            Value::Array(items) if items.is_empty() => {}
            Value::String(one) if one.is_empty() => {}
            // Whole lines are what a person copies, and what a shell picks out.
            Value::String(secret) if name == "token" => {
                let _ = writeln!(text, "{indent}{name}:\n{}", visible(secret));
            }
            Value::String(several) if several.contains('\n') => {
                let _ = writeln!(text, "{indent}{name}:");
                for one in several.lines() {
                    let _ = writeln!(text, "{indent}  {}", visible(one));
                }
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                let _ = writeln!(text, "{indent}{name}:");
                for item in items.iter().filter_map(Value::as_object) {
                    let _ = write!(text, "{indent}  - ");
                    line(item, text);
                }
            }
            Value::Object(inner) if inner.is_empty() => {}
            Value::Object(inner) => {
                let _ = writeln!(text, "{indent}{name}:");
                block(inner, depth + 1, text);
            }
            list if let Some(sentences) = sentences(list) => {
                let _ = writeln!(text, "{indent}{name}:");
                for one in sentences {
                    let _ = writeln!(text, "{indent}  - {}", plain(one));
                }
            }
            other => {
                let _ = writeln!(text, "{indent}{name}: {}", plain(other));
            }
        }
    }
}

/// The items of a list of texts with spaces in them, which have a line each: between commas they would run together.
fn sentences(value: &Value) -> Option<&[Value]> {
    let items = value.as_array()?;
    let is_sentence = |item: &Value| item.as_str().is_some_and(|text| text.contains(' '));
    items.iter().any(is_sentence).then_some(items)
}

/// A value on one line.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => local_time(text).unwrap_or_else(|| visible(&text.replace('\n', " / "))),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let parts = fields.iter().map(|(name, value)| format!("{name} {}", plain(value)));
            parts.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// A time of an answer as local time with its offset: `2026-11-25 16:58:02 +09:00`.
pub fn local_time(text: &str) -> Option<String> {
    if !text.ends_with('Z')
        || !matches!(text.len(), 17 | 20)
        || !text.is_ascii()
        || text.as_bytes().get(10) != Some(&b'T')
    {
        return None;
    }
    let whole = if text.len() == 17 { format!("{}:00Z", &text[..16]) } else { text.to_owned() };
    let moment: jiff::Timestamp = whole.parse().ok()?;
    let local = moment.to_zoned_datetime(jiff::tz::TimeZone::system());
    let format = if text.len() == 17 { "%Y-%m-%d %H:%M %:z" } else { "%Y-%m-%d %H:%M:%S %:z" };
    Some(local.strftime(format).to_string())
}
