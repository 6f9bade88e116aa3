//! A change of a file as a unified difference for people. Must never print what others keep in the file: of values that
//! are not ours not even the names are shown.

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
    /// A file of settings: of names and texts only these are shown.
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

/// A line of JSON, TOML or YAML with our names, our texts and its structure; everything else is hidden. A line is read by
/// itself, and may stand inside of a text or a comment of somebody's: so what looks like a name of theirs is hidden too.
fn settings(line: &str, ours: &[String]) -> String {
    let is_empty = line.chars().all(is_structure);
    let mut has_ours = false;
    let mut shown = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if is_structure(first) {
            shown.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let length = match first {
            '"' | '\'' => quoted_length(rest),
            _ => rest.find(|one: char| is_structure(one) || one == '"').unwrap_or(rest.len()),
        };
        let (word, behind) = rest.split_at(length);
        if is_comment(word) {
            let sign = if word.starts_with('#') { "#" } else { "//" };
            let _ = write!(shown, "{sign} {HIDDEN}");
            break;
        }
        let is_item = word == "-" && shown.trim().is_empty();
        let is_known = is_item || matches!(word, "true" | "false" | "null");
        let is_our_word = is_of(word, ours);
        has_ours |= is_our_word;
        shown.push_str(if is_known || is_our_word { word } else { hidden(word) });
        rest = behind;
    }
    if has_ours || is_empty {
        return shown;
    }
    let indent = line.len() - line.trim_start().len();
    format!("{}{HIDDEN}", &line[..indent])
}

fn is_structure(one: char) -> bool {
    one.is_whitespace() || "{}[]:,=".contains(one)
}

fn is_comment(word: &str) -> bool {
    word.starts_with("//") || word.starts_with("/*") || word.starts_with('#')
}

/// True if a word is one of our names or texts, or a way of them, as `mcp_servers.heyaira`.
fn is_of(word: &str, ours: &[String]) -> bool {
    let bare = word.trim_matches(['"', '\'']);
    let is_one = |bare: &str| ours.iter().any(|text| text == bare);
    is_one(bare)
        || bare.split('.').all(is_one)
        || ours.iter().any(|text| serde_json::to_string(text).is_ok_and(|text| text == word))
}

/// What stands for a word of others.
fn hidden(word: &str) -> &'static str {
    if word.starts_with(['"', '\'']) { "\"…\"" } else { HIDDEN }
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
