//! One call of a sequence, written out: it can be made again alone, without whoever drew it.

use std::fmt;

use serde_json::{Map, Value, json};

use super::side::CLIENTS;

/// The only name in an argument that stands for an answer of an earlier step: each side has cursors of its own.
const CURSOR_OF: &str = "cursor_of_step";

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Which one in the sequence it was drawn as; its ids depend on it.
    pub(super) number: usize,
    /// When, in microseconds since 1970.
    pub(super) at: i64,
    /// By which of the clients.
    pub(super) client: usize,
    /// What is called.
    pub(super) operation: &'static str,
    /// With what.
    pub(super) arguments: Map<String, Value>,
}

impl Step {
    /// Stands in an argument for the cursor that a side was answered at that step.
    pub(super) fn cursor_of(number: usize) -> Value {
        json!({CURSOR_OF: number})
    }

    /// The arguments for a side, with its own cursors.
    pub(super) fn arguments_with(&self, cursor: impl Fn(usize) -> Option<String>) -> Value {
        let resolved = self.arguments.iter().map(|(name, value)| {
            let number = value.get(CURSOR_OF).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
            let own = number.map(|number| json!(cursor(number).unwrap_or_else(|| "c1:gone".to_owned())));
            (name.clone(), own.unwrap_or_else(|| value.clone()))
        });
        Value::Object(resolved.collect())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, at, client, operation, arguments } = self;
        let time = jiff::Timestamp::from_microsecond(*at).map_err(|_| fmt::Error)?;
        let who = &CLIENTS[*client];
        let place = who.project.unwrap_or("no project");
        write!(
            formatter,
            "#{number} {time} {:?} of {place:?} by {:?}: {operation} {}",
            who.caller,
            who.door,
            shortened(&Value::Object(arguments.clone()))
        )
    }
}

/// A value as text; of long strings only the beginning and the length.
pub(super) fn shortened(value: &Value) -> String {
    fn short(value: &Value) -> Value {
        const SHOWN: usize = 400;
        match value {
            Value::String(text) if text.chars().count() > SHOWN => {
                let head: String = text.chars().take(SHOWN).collect();
                json!(format!("{head}… ({} characters)", text.chars().count()))
            }
            Value::Array(items) => items.iter().map(short).collect(),
            Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), short(value))).collect(),
            other => other.clone(),
        }
    }
    short(value).to_string()
}
