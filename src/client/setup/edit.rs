//! One change of a text: what is put in, how it is taken out again, and what is refused instead. Pure: texts in, texts
//! out. Must never lose a comment, a key or an order that it did not write.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client::setup::{block, edit_hooks, edit_json, edit_toml, edit_yaml};

/// What is put into a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Edit {
    /// An entry of a JSON file, with or without comments.
    Json {
        /// The names on the way to it; the last is its own.
        at: Vec<String>,
        /// The members that are ours; others that it has stay.
        entry: Value,
    },
    /// Hooks in a JSON file, in the shape that Claude Code, Codex and Gemini CLI share.
    Hooks {
        /// By event: the one handler that is ours.
        events: Vec<(String, Value)>,
    },
    /// A table of a TOML file.
    Toml {
        /// The names on the way to it.
        at: Vec<String>,
        /// The keys that are ours.
        entry: Value,
    },
    /// An entry of a YAML file.
    Yaml {
        /// The mapping at the top that it belongs to.
        list: String,
        /// Its name there.
        name: String,
        /// The members that are ours.
        entry: Value,
    },
    /// A marked block of a Markdown file.
    Block {
        /// What stands between the marks.
        text: String,
    },
    /// A file of our own.
    Whole {
        /// All of it.
        text: String,
        /// True if whoever planned it has made sure that what is there may be replaced.
        replaces: bool,
    },
}

/// What a file holds now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Present<'t> {
    /// Its text without a byte order mark, or nothing if there is none.
    pub text: Option<&'t str>,
    /// True if it is as an earlier set-up left it.
    pub ours: bool,
    /// True if something of another origin under our name may be replaced.
    pub force: bool,
}

/// Why a file is left alone, and what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, behind the file's name.
    pub what: String,
    /// What to do.
    pub next: String,
}

impl Problem {
    /// A problem.
    pub fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), next: next.into() }
    }
}

/// Asks for an entry that cannot be put in to be put in by hand.
pub fn by_hand(what: impl Into<String>, snippet: &str) -> Problem {
    Problem::new(what, format!("Mend the file, or put this in by hand:\n{snippet}"))
}

/// What somebody else's entry under our name is answered with.
pub fn foreign(place: &str) -> Problem {
    Problem::new(
        format!("has {place} already, and it does not start heyaira mcp"),
        "Rename or remove it, or have it replaced with --force.",
    )
}

impl Edit {
    /// The text with this in it; the same text if it is there already.
    pub fn put(&self, present: Present<'_>) -> Result<String, Problem> {
        let text = present.text.unwrap_or_default();
        match self {
            Self::Json { at, entry } => edit_json::put(text, at, entry, present.force),
            Self::Hooks { events } => edit_hooks::put(text, events),
            Self::Toml { at, entry } => edit_toml::put(text, at, entry, present.force),
            Self::Yaml { list, name, entry } => edit_yaml::put(text, list, name, entry, present.force),
            Self::Block { text: inner } => block::put(text, inner),
            Self::Whole { text: whole, replaces } => {
                let free = present.text.is_none_or(|now| now == whole) || *replaces || present.ours || present.force;
                let next = "Move it away, or have it replaced with --force.";
                if free { Ok(whole.clone()) } else { Err(Problem::new("is there with other content", next)) }
            }
        }
    }

    /// The text without this; what `before` had in its place comes back. `None`: nothing is left of the file.
    pub fn take_out(&self, now: &str, before: Option<&str>) -> Result<Option<String>, Problem> {
        let rest = match self {
            Self::Json { at, .. } => edit_json::take_out(now, at, before)?,
            Self::Hooks { .. } => edit_hooks::take_out(now, before)?,
            Self::Toml { at, .. } => edit_toml::take_out(now, at, before)?,
            Self::Yaml { list, name, .. } => edit_yaml::take_out(now, list, name, before)?,
            Self::Block { .. } => block::take_out(now)?,
            Self::Whole { text, .. } if now == text => return Ok(before.map(str::to_owned)),
            Self::Whole { .. } => {
                return Err(Problem::new(
                    "was changed since",
                    "It is left as it is: remove it by hand if you do not want it.",
                ));
            }
        };
        let empty = matches!(rest.trim(), "" | "{}");
        Ok(if empty && before.is_none() { None } else { Some(rest) })
    }

    /// Every name and text of ours that a file shows for it, to be told from what others wrote.
    pub fn texts(&self) -> Vec<String> {
        let mut found = Vec::new();
        match self {
            Self::Json { at, entry } | Self::Toml { at, entry } => {
                found.extend(at.iter().cloned());
                texts_of(entry, &mut found);
            }
            Self::Yaml { list, name, entry } => {
                found.extend([list.clone(), name.clone()]);
                texts_of(entry, &mut found);
            }
            Self::Hooks { events } => {
                found.push(edit_hooks::HOOKS.to_owned());
                for (event, handler) in events {
                    found.push(event.clone());
                    texts_of(handler, &mut found);
                }
            }
            Self::Block { .. } | Self::Whole { .. } => {}
        }
        found
    }
}

fn texts_of(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| texts_of(value, found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            found.push(name.clone());
            texts_of(value, found);
        }),
        Value::Number(number) => found.push(number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}
