//! A change of a file as a unified difference for people. Must never print what others keep in the file: of values that
//! are not ours only the names are shown.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use crate::domain::secret::masked;

/// Lines around a change.
const CONTEXT: usize = 3;
/// Stands for what is not shown.
const HIDDEN: &str = "…";

/// How the lines of a file are shown.
#[derive(Clone, Copy, Debug)]
pub enum Lines<'o> {
    /// A file of settings: of texts only these are shown.
    Settings(&'o [String]),
    /// A document, or a file of our own: shown but for secrets.
    Text,
}

/// The difference; empty if there is none.
pub fn unified(path: &str, before: Option<&str>, after: Option<&str>, lines: Lines<'_>) -> String {
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    if before == after {
        return String::new();
    }
    let name = |text: Option<&str>| if text.is_some() { path } else { "/dev/null" };
    let mut told = format!("--- {}\n+++ {}\n", name(before), name(after));
    let difference = TextDiff::from_lines(old, new);
    for hunk in difference.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let _ = writeln!(told, "{}", hunk.header());
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let line = change.value().trim_end_matches(['\r', '\n']);
            let shown = match lines {
                Lines::Settings(ours) => settings(line, ours),
                Lines::Text => masked(line).into_owned(),
            };
            let _ = writeln!(told, "{sign}{shown}");
        }
    }
    told
}

/// A line of JSON, TOML or YAML with its names, its structure and our texts; everything else is hidden.
fn settings(line: &str, ours: &[String]) -> String {
    let trimmed = line.trim_start();
    if trimmed.starts_with('[') && trimmed.trim_end().ends_with(']') && !trimmed.contains(',') && is_header(trimmed) {
        return line.to_owned();
    }
    let mut shown = String::new();
    let mut rest = line;
    // A name stands first, or behind a brace or the comma of what a brace opened.
    let mut may_be_name = true;
    while let Some(first) = rest.chars().next() {
        if is_structure(first) {
            shown.push(first);
            rest = &rest[first.len_utf8()..];
            let in_braces = first == ',' && (shown.contains('{') || rest.trim_start().starts_with('"'));
            may_be_name = first.is_whitespace() && may_be_name || first == '{' || in_braces;
            continue;
        }
        let length = match first {
            '"' | '\'' => quoted_length(rest),
            _ => rest.find(|one: char| is_structure(one) || one == '"').unwrap_or(rest.len()),
        };
        let (word, behind) = rest.split_at(length);
        if is_comment(word) {
            let sign = if word.starts_with('#') { "#" } else { "//" };
            return format!("{shown}{sign} {HIDDEN}");
        }
        let is_item = word == "-" && shown.trim().is_empty();
        let is_name = may_be_name && behind.trim_start().starts_with([':', '=']);
        shown.push_str(&if is_item { word.to_owned() } else { word_of(word, is_name, ours) });
        may_be_name = is_item;
        rest = behind;
    }
    shown
}

fn is_structure(one: char) -> bool {
    one.is_whitespace() || "{}[]:,=".contains(one)
}

/// `[mcp_servers.name]` of TOML.
fn is_header(text: &str) -> bool {
    let inner = text.trim_end().trim_start_matches('[').trim_end_matches(']');
    !inner.is_empty()
        && inner
            .split('.')
            .all(|word| !word.is_empty() && word.chars().all(|one| one.is_alphanumeric() || one == '_' || one == '-'))
}

fn is_comment(word: &str) -> bool {
    word.starts_with("//") || word.starts_with("/*") || word.starts_with('#')
}

/// A word as it is shown: names and our texts whole, of others that they are there.
fn word_of(word: &str, is_name: bool, ours: &[String]) -> String {
    let bare = word.trim_matches(['"', '\'']);
    let is_ours = ours.iter().any(|text| text == bare || serde_json::to_string(text).is_ok_and(|text| text == word));
    if is_ours || matches!(word, "true" | "false" | "null") || (is_name && is_plain_name(bare)) {
        return word.to_owned();
    }
    if word.starts_with(['"', '\'']) { format!("\"{HIDDEN}\"") } else { HIDDEN.to_owned() }
}

/// A name is shown if it is one: a word of a program, not a sentence or a key of somebody's.
fn is_plain_name(word: &str) -> bool {
    word.chars().count() <= 64 && masked(word) == word
}

/// The bytes of a quoted text with its quotes; one that is not closed goes to the end.
fn quoted_length(text: &str) -> usize {
    let quote = text.as_bytes()[0];
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        if escaped {
            escaped = false;
        } else if byte == b'\\' && quote == b'"' {
            escaped = true;
        } else if byte == quote {
            return index + 1;
        }
    }
    text.len()
}
