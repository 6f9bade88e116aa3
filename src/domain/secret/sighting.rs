//! Where secrets stand in what was sent, and what becomes of the call. Must never hold or tell a value.

use serde_json::{Value, json};

use super::scan::{Found, scan};
use crate::domain::rule::Setting;
use crate::domain::text::grouped;
use crate::error::{Code, Refusal, Result};

/// How many sightings are told one by one; the rest is counted.
const SHOWN: usize = 20;
/// How names that are not ours are told.
const NAME: &str = "a name of an argument";
/// The argument that is a secret of ours by right.
const WRITE_CONTEXT: &str = "write_context";

/// One secret: where it stands and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sighting {
    field: String,
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    sort: &'static str,
}

/// Everything that was found in one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sightings {
    /// The first of them.
    shown: Vec<Sighting>,
    count: usize,
    has_own: bool,
}

impl Sightings {
    /// What stands in arguments, names included. `write_context` may be one and hold no other; the argument of the name
    /// `may_be_one` may hold any.
    pub fn in_arguments(arguments: &Value, may_be_one: Option<&str>) -> Self {
        let mut sightings = Self::default();
        match arguments {
            Value::Object(fields) => {
                for (name, value) in fields {
                    sightings.add(NAME, name, &scan(name));
                    match value.as_str() {
                        Some(text) if name == WRITE_CONTEXT => sightings.add_in_write_context(text),
                        _ if may_be_one == Some(name) => {}
                        _ => sightings.look(name, value),
                    }
                }
            }
            other => sightings.look("the arguments", other),
        }
        sightings
    }

    /// What stands in one text.
    pub fn in_text(field: &str, text: &str) -> Self {
        let mut sightings = Self::default();
        sightings.add(field, text, &scan(text));
        sightings
    }

    /// True if nothing was found.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Refuses if anything was found.
    pub fn refuse(&self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(self.refusal()) }
    }

    /// What the project says to it: a refusal, or the warnings for the answer. Our own are refused whatever it says.
    pub fn judge(&self, setting: Setting) -> Result<Vec<Value>> {
        match setting {
            _ if self.has_own => Err(self.refusal()),
            Setting::Refuse => self.refuse().map(|()| Vec::new()),
            Setting::Warn => Ok(self.shown.iter().map(Sighting::warning).collect()),
            Setting::Off => Ok(Vec::new()),
        }
    }

    fn look(&mut self, field: &str, value: &Value) {
        match value {
            Value::String(text) => {
                self.add(field, text, &scan(text));
                // An object that was sent as JSON text may write characters out.
                if text.contains("\\u")
                    && let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
                {
                    self.look(field, &inner);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.look(field, item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.add(NAME, name, &scan(name));
                    self.look(&format!("{field}.{name}"), value);
                }
            }
            _ => {}
        }
    }

    /// Its own argument may hold a `write_context`; anything else there is a secret like everywhere.
    fn add_in_write_context(&mut self, text: &str) {
        let mut found = scan(text);
        found.retain(|one| one.sort != super::own::WRITE_CONTEXT);
        self.add(WRITE_CONTEXT, text, &found);
    }

    fn add(&mut self, field: &str, text: &str, found: &[Found]) {
        self.count += found.len();
        self.has_own |= found.iter().any(|one| one.is_own);
        let room = SHOWN.saturating_sub(self.shown.len());
        self.shown.extend(found.iter().take(room).map(|one| Sighting::of(field, text, one)));
    }

    fn refusal(&self) -> Refusal {
        let told: Vec<String> = self.shown.iter().map(Sighting::told).collect();
        let mut message = told.join("; ");
        let more = self.count - self.shown.len();
        if more > 0 {
            message = format!("{message}; and {} more", grouped(more));
        }
        let mends: Vec<String> = self.shown.iter().fold(Vec::new(), |mut mends, one| {
            let mend = mend(one.sort);
            if !mends.contains(&mend) {
                mends.push(mend);
            }
            mends
        });
        let what = if self.count == 1 { "it" } else { "them" };
        let next = format!("Remove {what} or write {}. Nothing was written.", mends.join(", "));
        let details: Vec<Value> = self.shown.iter().map(Sighting::detail).collect();
        Refusal::new(Code::SecretRefused, message, next).with("secrets", json!(details))
    }
}

impl Sighting {
    fn of(field: &str, text: &str, found: &Found) -> Self {
        let before = &text[..found.range.start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        // A field's name is the sender's where the schema knows none.
        Self { field: super::masked(field).into_owned(), line, column, sort: found.sort }
    }

    fn told(&self) -> String {
        let Self { field, line, column, sort } = self;
        format!("{field} line {line} column {column} looks like {sort}")
    }

    fn detail(&self) -> Value {
        let Self { field, line, column, sort } = self;
        json!({"field": field, "line": line, "column": column, "sort": sort})
    }

    fn warning(&self) -> Value {
        let fix = format!(
            "line {} column {} looks like {} and is stored: write {} and have it withdrawn",
            self.line,
            self.column,
            self.sort,
            mend(self.sort)
        );
        json!({"rule": "secrets", "field": self.field, "fix": fix})
    }
}

/// What to write in place of a secret: `a GitHub token` makes `[REDACTED:github-token]`.
pub fn mend(sort: &str) -> String {
    let name = sort.split_once(' ').map_or(sort, |(_, name)| name).to_lowercase();
    let plain = |one: char| if one.is_ascii_alphanumeric() { one } else { '-' };
    format!("[REDACTED:{}]", name.chars().map(plain).collect::<String>().trim_matches('-'))
}
