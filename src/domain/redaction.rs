//! A passage that is to be taken out of everything stored, and what stands in its place. Must never show the passage.

use std::collections::HashSet;
use std::fmt;

use serde_json::Value;

use crate::domain::text::length;
use crate::error::{Refusal, Result};

/// What stands where the passage stood.
pub const REDACTED: &str = "[REDACTED]";
/// A shorter one would be found in words that nobody meant.
pub const PASSAGE_MIN: usize = 6;

/// Values of a task that are no text of anybody's; a passage that is also one of those words leaves them.
const NO_TEXT: [&str; 10] = [
    "status",
    "parent",
    "depends_on",
    "priority",
    "task_id",
    "run_id",
    "outcome",
    "version",
    "current_version",
    "line",
];

/// The list whose texts tell nothing twice: two that differed by the passage alone are one without it.
pub const TAGS: &str = "tags";

/// A passage that leaked.
#[derive(Clone)]
pub struct Passage {
    text: String,
    json: String,
}

impl fmt::Debug for Passage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Passage")
    }
}

impl Passage {
    /// Refuses one that would be found where nobody meant it.
    pub fn of(text: String) -> Result<Self> {
        if length(text.trim()) < PASSAGE_MIN {
            return Err(Refusal::argument(format!(
                "the passage is shorter than {PASSAGE_MIN} characters: give more of the text around it"
            )));
        }
        if REDACTED.contains(text.trim()) {
            return Err(Refusal::argument("the passage is part of what would stand in its place"));
        }
        let json = Value::String(text.clone()).to_string();
        let json = json[1..json.len() - 1].to_owned();
        Ok(Self { text, json })
    }

    /// As it stands in a text.
    pub fn as_text(&self) -> &str {
        &self.text
    }

    /// As it stands inside a string of JSON.
    pub fn as_json(&self) -> &str {
        &self.json
    }

    /// The text without it.
    pub fn taken_out_of(&self, text: &str) -> String {
        text.replace(&self.text, REDACTED)
    }

    /// Takes it out of every text in a value.
    pub fn take_out_of_json(&self, value: &mut Value) {
        match value {
            Value::String(text) if text.contains(&self.text) => *text = self.taken_out_of(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.take_out_of_json(item)),
            Value::Object(fields) => {
                let texts = fields.iter_mut().filter(|(name, _)| !NO_TEXT.contains(&name.as_str()));
                for (name, value) in texts {
                    self.take_out_of_json(value);
                    if name == TAGS {
                        leave_each_once(value);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Leaves the first of each text in a list.
pub fn leave_each_once(list: &mut Value) {
    if let Value::Array(items) = list {
        let mut seen = HashSet::new();
        items.retain(|item| item.as_str().is_none_or(|text| seen.insert(text.to_owned())));
    }
}
