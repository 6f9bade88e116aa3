//! Texts: limits, lengths, estimates and short quotations. Characters are Unicode scalar values everywhere.
//! Must never change a text on the way in.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::domain::hidden;
use crate::domain::secret::masked;

/// The longest long text, in characters.
pub const TEXT_MAX: usize = 100_000;
/// The longest summary, in characters.
pub const SUMMARY_MAX: usize = 280;
/// The longest title, in characters.
pub const TITLE_MAX: usize = 200;
/// The longest tag, in characters.
pub const TAG_MAX: usize = 64;
/// The most tags.
pub const TAGS_MAX: usize = 50;
/// The largest request, in bytes.
pub const REQUEST_MAX: usize = 1024 * 1024;

/// How many characters a text has.
pub fn length(text: &str) -> usize {
    text.chars().count()
}

/// A number with separators, as errors show it: `3,085`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut answer = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            answer.push(',');
        }
        answer.push(digit);
    }
    answer
}

/// `text` as a JSON string of at most `most` characters, for error texts: stored text stays data, and a secret in it is
/// not repeated. What is cut off would no longer be known for one, so it is taken out first. What a reader could not see is
/// written as code points.
pub fn quoted(text: &str, most: usize) -> String {
    let text = &*masked(text);
    if length(text) <= most {
        return visible(&json!(text).to_string());
    }
    let start: String = text.chars().take(most).collect();
    visible(&json!(format!("{start}…")).to_string())
}

/// Any value in short, for error texts.
pub fn quoted_value(value: &Value, most: usize) -> String {
    match value {
        Value::String(text) => quoted(text, most),
        other => {
            let text = visible(&masked(&other.to_string()));
            if length(&text) <= most {
                text
            } else {
                let start: String = text.chars().take(most).collect();
                format!("{start}…")
            }
        }
    }
}

/// The first `count` characters and how many bytes they are.
pub fn head(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

/// The text from character `offset` on; empty when the text is shorter.
pub fn tail(text: &str, offset: usize) -> &str {
    text.char_indices().nth(offset).map_or("", |(start, _)| &text[start..])
}

/// The last line that is not blank, without trailing white space.
pub fn last_line(text: &str) -> &str {
    text.trim_end().rsplit('\n').next().unwrap_or_default().trim_end()
}

/// Joins names as a sentence does: `a, b and c`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [start @ .., last] => format!("{} and {last}", start.join(", ")),
    }
}

/// The first `most` of several names and how many more there are: `a, b and 3 more`.
pub fn first_of(names: &[String], most: usize) -> String {
    match names.len().checked_sub(most) {
        None | Some(0) => names.join(", "),
        Some(rest) => format!("{} and {} more", names[..most].join(", "), grouped(rest)),
    }
}

/// Bytes as two small hexadecimal digits each.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text with what a reader could not see, and with what would steer a terminal, written as code points.
pub fn visible(text: &str) -> String {
    // No text is shown with a carriage return: what stands before it would be written over.
    hidden::shown(text).replace('\r', "\\u{d}")
}

/// The text with such characters written as their code points.
pub fn escaped(text: &str, such: fn(char) -> bool) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, character| {
        if such(character) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
        } else {
            shown.push(character);
        }
        shown
    })
}

/// True for a character that shows nothing itself and changes how others are shown, or breaks the line. Joiners
/// (U+200C, U+200D) stay: scripts and emoji need them.
pub fn is_hidden(character: char) -> bool {
    let control = character.is_control() && !matches!(character, '\n' | '\t');
    control
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// True for every character that shows nothing, those that scripts and emoji need among them: of two names that differ
/// in one of these nobody could say which is which.
pub fn is_unseen(character: char) -> bool {
    is_hidden(character)
        || matches!(character,
            '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200c}' | '\u{200d}'
            | '\u{2028}' | '\u{2029}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}')
}

/// The known name that is most like `name`, if one is near.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    // People misremember how a word ends more than how it starts: state is status rather than stale.
    let common = |known: &str| name.chars().zip(known.chars()).take_while(|(one, other)| one == other).count();
    let bonus = [0.0, 0.03, 0.06, 0.09, 0.12];
    let score = |known: &str| strsim::jaro_winkler(name, known) + bonus[common(known).min(4)];
    let best = known.iter().copied().max_by(|one, other| score(one).total_cmp(&score(other)))?;
    (score(best) >= 0.75).then_some(best)
}
