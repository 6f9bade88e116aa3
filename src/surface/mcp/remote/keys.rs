//! The keys under which a connection's writes are sent, so that sending one again never carries it out again.
//! Must never give two writes that the client means as two the same key.

use std::collections::VecDeque;

use serde_json::Value;
use uuid::Uuid;

use crate::operation::arguments::{Reading, fingerprint};
use crate::operation::{Effect, Entry};

/// How many writes without an answer are remembered.
const UNANSWERED: usize = 64;

/// A write as the server tells it from others: the operation, and a digest of arguments and session.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Write {
    operation: &'static str,
    fingerprint: [u8; 32],
}

/// The key of one call.
#[derive(Clone, Debug)]
pub struct Key {
    /// The word that is sent.
    pub text: String,
    /// True if no earlier call had it: then a replay is of this call.
    pub fresh: bool,
    /// `None` for arguments that will be refused.
    write: Option<Write>,
    repeats: bool,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was carried out.
    Done,
    /// It was refused.
    Refused,
    /// Nobody here knows.
    Unknown,
}

/// The keys of one connection.
#[derive(Debug, Default)]
pub struct Keys {
    /// The last write, if it was carried out.
    last: Option<(Write, String)>,
    unanswered: VecDeque<(Write, String)>,
}

impl Keys {
    /// The key for a call; `None` if it writes nothing.
    ///
    /// A change right after its own success is its repetition, as on a connection to the database itself. A call whose
    /// first sending had no answer is the same call again.
    pub fn key(&self, entry: &'static Entry, arguments: &Value, session: Option<&str>) -> Option<Key> {
        if entry.effect == Effect::Reads {
            return None;
        }
        let repeats = entry.effect == Effect::Changes;
        let reading = Reading { schema: &entry.schema, reads: false, by_person: false, whole: false };
        let Ok(checked) = reading.parse(arguments.clone(), |_| Vec::new()) else {
            return Some(Key { text: Uuid::new_v4().to_string(), fresh: true, write: None, repeats });
        };
        let write = Write { operation: entry.name, fingerprint: fingerprint(&entry.schema, &checked, session) };
        let own = checked.get("idempotency_key").and_then(Value::as_str).map(str::to_owned);
        let mut used = self.last.iter().filter(|_| repeats).chain(&self.unanswered);
        let known = own.or_else(|| used.find(|(one, _)| *one == write).map(|(_, key)| key.clone()));
        let fresh = known.is_none();
        let text = known.unwrap_or_else(|| Uuid::new_v4().to_string());
        Some(Key { text, fresh, write: Some(write), repeats })
    }

    /// Remembers how a write ended.
    pub fn ended(&mut self, key: Key, ending: Ending) {
        self.last = None;
        let Key { text, write: Some(write), repeats, .. } = key else {
            return;
        };
        self.unanswered.retain(|(one, _)| *one != write);
        match ending {
            Ending::Done if repeats => self.last = Some((write, text)),
            Ending::Unknown => {
                if self.unanswered.len() == UNANSWERED {
                    self.unanswered.pop_front();
                }
                self.unanswered.push_back((write, text));
            }
            Ending::Done | Ending::Refused => {}
        }
    }
}
