//! Texts: limits, lengths, estimates and short quotations. Characters are Unicode scalar values everywhere.
//! Must never change a text on the way in.

use serde_json::{Value, json};

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

/// `text` as a JSON string of at most `most` characters, for error texts: stored text stays data.
pub fn quoted(text: &str, most: usize) -> String {
    if length(text) <= most {
        return json!(text).to_string();
    }
    let start: String = text.chars().take(most).collect();
    json!(format!("{start}…")).to_string()
}

/// Any value in short, for error texts.
pub fn quoted_value(value: &Value, most: usize) -> String {
    match value {
        Value::String(text) => quoted(text, most),
        other => {
            let text = other.to_string();
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

/// What a text costs in o200k tokens, estimated from above without a tokenizer.
///
/// Measured classes: a run of lower-case letters takes about a token for every four letters, mixed case and digits
/// more, punctuation up to one each, and other scripts about one for each character; emoji take up to four.
pub fn estimated_tokens(text: &str) -> usize {
    // Counted in quarters of a token.
    let mut quarters = 0_usize;
    let mut previous = Class::Space;
    for character in text.chars() {
        let class = Class::of(character);
        quarters += match (class, previous == class) {
            (Class::Lower, true) => 1,
            (Class::Lower, false) => 2,
            (Class::Upper | Class::Digit, _) => 3,
            (Class::Space, _) => 1,
            (Class::Mark | Class::Letter, _) => 4,
            (Class::Ideograph, _) => 5,
            (Class::Symbol, _) => 14,
        };
        previous = class;
    }
    quarters.div_ceil(4)
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Space,
    Mark,
    Letter,
    Ideograph,
    Symbol,
}

impl Class {
    fn of(character: char) -> Self {
        match character {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            ' ' | '\n' | '\t' | '\r' => Self::Space,
            _ if character.is_ascii() => Self::Mark,
            '\u{3000}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{ff00}'..='\u{ffef}' => Self::Ideograph,
            _ if character.is_alphabetic() => Self::Letter,
            '\u{2010}'..='\u{2027}' | '\u{a0}'..='\u{ff}' => Self::Mark,
            _ => Self::Symbol,
        }
    }
}
