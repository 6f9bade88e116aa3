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
pub fn estimated_tokens(text: &str) -> usize {
    let mut estimate = TokenEstimate::default();
    text.chars().for_each(|character| estimate.push(character));
    estimate.tokens()
}

/// Estimates o200k tokens from above, character by character.
///
/// The tokenizer cuts before it merges: a word with the space or mark before it, three digits, a run of marks. The
/// costs are measured over such pieces; `tests/it/sizes.rs` compares them with the tokenizer itself.
#[derive(Debug)]
pub struct TokenEstimate {
    hundredths: usize,
    previous: Class,
    /// Characters of the class of `previous` in a row.
    run: usize,
    /// True inside a word that mixes digits or capitals into its middle, as hashes and encodings do.
    mixed: bool,
}

impl Default for TokenEstimate {
    fn default() -> Self {
        Self { hundredths: 0, previous: Class::Space, run: 0, mixed: false }
    }
}

impl TokenEstimate {
    /// Adds a character.
    pub fn push(&mut self, character: char) {
        let class = Class::of(character);
        let joins = class.is_word() && self.previous.is_word();
        let changes = class != self.previous;
        self.mixed = joins && (self.mixed || (changes && (class, self.previous) != (Class::Lower, Class::Upper)));
        self.run = if changes { 1 } else { self.run + 1 };
        self.hundredths += self.cost(class, changes, character);
        self.previous = class;
    }

    /// The tokens so far.
    pub fn tokens(&self) -> usize {
        self.hundredths.div_ceil(100)
    }

    fn cost(&self, class: Class, changes: bool, character: char) -> usize {
        match class {
            Class::Lower if self.previous == Class::Upper => 25,
            Class::Lower if self.previous == Class::Letter => 55,
            Class::Lower | Class::Upper if changes => 100,
            Class::Lower => {
                if self.mixed {
                    45
                } else {
                    16
                }
            }
            Class::Upper => 60,
            // A space in front of digits is a token of its own.
            Class::Digit if changes && self.previous == Class::Space => 200,
            Class::Digit => {
                if self.run % 3 == 1 {
                    100
                } else {
                    0
                }
            }
            Class::Space if changes && character == ' ' => 0,
            Class::Space => {
                if character == ' ' {
                    8
                } else {
                    100
                }
            }
            Class::Mark => {
                if changes {
                    102
                } else {
                    72
                }
            }
            Class::Letter if self.previous == Class::Lower => 60,
            Class::Letter => {
                if changes {
                    100
                } else {
                    45
                }
            }
            Class::Syllable => 60,
            Class::Dense => 120,
            Class::Joiner => 100,
            Class::Symbol => 270,
            Class::Rare => 100 * character.len_utf8(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Space,
    Mark,
    /// A letter of an alphabet other than the plain Latin one.
    Letter,
    /// A letter or sign of the scripts of South and South-East Asia.
    Syllable,
    /// About a character a token: Han, kana, hangul, Burmese, Khmer.
    Dense,
    /// What glues emoji together.
    Joiner,
    Symbol,
    /// What the tokenizer knows only byte by byte.
    Rare,
}

impl Class {
    fn of(character: char) -> Self {
        match character {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            ' ' | '\n' | '\t' | '\r' => Self::Space,
            '!'..='~' | '\u{a1}'..='\u{bf}' | '\u{2010}'..='\u{2027}' => Self::Mark,
            '\u{c0}'..='\u{6ff}' | '\u{10a0}'..='\u{10ff}' | '\u{1e00}'..='\u{1fff}' => Self::Letter,
            '\u{900}'..='\u{e7f}' => Self::Syllable,
            '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3000}'..='\u{30ff}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{ff00}'..='\u{ff60}' => Self::Dense,
            '\u{200c}' | '\u{200d}' | '\u{fe0f}' => Self::Joiner,
            '\u{2000}'..='\u{2fff}' | '\u{1f000}'..='\u{1faff}' => Self::Symbol,
            _ => Self::Rare,
        }
    }

    const fn is_word(self) -> bool {
        matches!(self, Self::Lower | Self::Upper | Self::Digit)
    }
}
