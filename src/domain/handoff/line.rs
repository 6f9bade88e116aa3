//! The handoff line that is pasted into the next session, and the last line of a handoff. Must never guess an id: a line has
//! all 8 characters, or is refused.

use uuid::Uuid;

use crate::domain::task::short_id;
use crate::domain::text;

/// How the last line of a handoff starts.
pub(super) const PREVIOUS_SESSION: &str = "Previous session:";

/// A pasted handoff line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The id or its beginning, in lower case.
    pub id: String,
    /// The version, where the line has one.
    pub version: Option<i64>,
}

/// `handoff: 8e287857 v7`.
pub fn line(task_id: Uuid, version: i64) -> String {
    format!("handoff: {} v{version}", short_id(task_id))
}

/// Reads a pasted line: also wrapped, in backticks or quotes, in other letter case, inside a sentence, without a
/// version, or only an id.
///
/// The error is what is wrong, to follow the field's name.
pub fn parse_line(pasted: &str) -> Result<Line, String> {
    let shown = text::quoted(pasted.trim(), 60);
    let lower = pasted.to_ascii_lowercase();
    let (rest, is_line) = match lower.find("handoff:") {
        Some(start) => (&lower[start + "handoff:".len()..], true),
        None => (lower.as_str(), false),
    };
    let rest = rest.trim_start_matches(|character: char| !character.is_alphanumeric());
    let id: String =
        rest.chars().take_while(|character| character.is_ascii_alphanumeric() || *character == '-').collect();
    let after = rest[id.len()..].trim_start_matches(|character: char| !character.is_alphanumeric());
    let id = id.trim_end_matches('-').to_owned();
    let hex = id.chars().filter(char::is_ascii_hexdigit).count();
    if id.is_empty() || id.chars().any(|character| !(character.is_ascii_hexdigit() || character == '-')) || hex > 32 {
        return Err(format!("{shown} is no handoff line: it looks like handoff: 8e287857 v7"));
    }
    let least = if is_line { 8 } else { 4 };
    if hex < least {
        return Err(format!("{shown} has only {hex} characters of the task id: a line needs all 8"));
    }
    let digits = after.strip_prefix('v').map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    let version = match digits.filter(|digits| !digits.is_empty()) {
        None if after.starts_with(|character: char| character.is_ascii_digit()) && is_line => {
            return Err(format!("{shown} has a version without its v: it looks like handoff: 8e287857 v7"));
        }
        None => None,
        Some(digits) => match digits.parse::<i64>() {
            Ok(version) if version > 0 => Some(version),
            _ => return Err(format!("{shown} has no possible version")),
        },
    };
    Ok(Line { id, version })
}

/// What is wrong with a pasted line, if anything is; to follow the field's name.
pub fn line_problem(pasted: &str) -> Option<String> {
    parse_line(pasted).err()
}

/// The session named in the last line of `handoff_next`.
pub fn previous_session(handoff_next: &str) -> Option<&str> {
    let rest = text::last_line(handoff_next).trim_start().strip_prefix(PREVIOUS_SESSION)?;
    Some(rest.trim()).filter(|named| !named.is_empty())
}
