//! A hook's input, whichever client gave it. Must never refuse what is new: an unknown field or event is none of ours.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{Variable, which};
use crate::client::Client;
use crate::domain::session::session_ref_problem;

/// The longest id of a session that is believed, in characters.
const ID_MAX: usize = 100;

/// What happened in the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session begins, goes on, or was cleared or compacted.
    SessionStart,
    /// A person sent something.
    Prompt,
    /// The agent has answered.
    Stop,
    /// The conversation is about to be compacted.
    Compaction,
    /// A session ends.
    SessionEnd,
    /// Anything else.
    Other,
}

/// What a resumed session costs whose cache is gone, as its client reckons.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cold {
    /// The tokens of the conversation.
    pub context_tokens: u64,
    /// The seconds since the last answer.
    pub seconds: u64,
    /// What writing the cache again costs, in US dollars.
    pub write_usd: Option<f64>,
}

/// What a hook was given.
#[derive(Clone, Debug)]
pub struct Input {
    /// The client that really gave it.
    pub client: Client,
    /// What happened.
    pub event: Event,
    /// The event's name in the client, for an answer that repeats it.
    pub event_name: String,
    /// The session's id in the client.
    pub session: Option<String>,
    /// The session's folder.
    pub folder: Option<PathBuf>,
    /// The session's transcript.
    pub transcript: Option<PathBuf>,
    /// Why the session starts: `startup`, `resume`, `clear`, `compact`, `fork`.
    pub source: Option<String>,
    /// Told of a resumed session whose cache has likely expired.
    pub cold: Option<Cold>,
    /// True for a compaction that a person asked for.
    pub is_manual: bool,
    /// True for what happens in an agent below the session's own.
    pub is_below: bool,
}

/// Why an input is of no use. It has no word of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem(pub String);

impl Input {
    /// Reads an input. `named` is the client that the hook was set up for, `event` the event, for inputs that do not say it.
    pub fn of(bytes: &[u8], named: Client, event: Option<&str>, variable: Variable<'_>) -> Result<Self, Problem> {
        let fields = match serde_json::from_slice(bytes) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err(Problem("the input is no JSON object".to_owned())),
            // The parser's own words may quote the input.
            Err(error) => {
                let (line, column) = (error.line(), error.column());
                return Err(Problem(format!(
                    "the input of {} bytes is no JSON (line {line}, column {column})",
                    bytes.len()
                )));
            }
        };
        let client = which::client(&fields, named, variable);
        let event_name = text(&fields, &["hook_event_name", "hookEventName"]).or(event);
        let event_name = event_name.or_else(|| event_of_shape(&fields)).unwrap_or_default().to_owned();
        Ok(Self {
            client,
            event: event_of(&event_name),
            session: text(&fields, &["session_id", "sessionId", "sessionID", "conversation_id"])
                .filter(|id| is_id(client, id))
                .map(str::to_owned),
            folder: folder(&fields, variable),
            transcript: text(&fields, &["transcript_path", "transcriptPath"]).map(PathBuf::from),
            source: text(&fields, &["source"]).map(str::to_owned),
            cold: cold(&fields),
            is_manual: text(&fields, &["trigger"]) == Some("manual"),
            is_below: text(&fields, &["agent_id"]).is_some(),
            event_name,
        })
    }

    /// How tasks, receipts and messages name the session.
    pub fn session_ref(&self) -> Option<String> {
        self.session.as_ref().map(|id| format!("{}:{id}", self.client.name()))
    }

    /// True for a session that starts because of that.
    pub fn starts_by(&self, source: &str) -> bool {
        self.event == Event::SessionStart && self.source.as_deref() == Some(source)
    }
}

/// The first of these fields that is a text and not empty.
pub(super) fn text<'f>(fields: &'f Map<String, Value>, names: &[&str]) -> Option<&'f str> {
    names.iter().find_map(|name| fields.get(*name)?.as_str().filter(|text| !text.is_empty()))
}

/// Only what every id of every client is made of: it goes into a model's context and into a shell's file.
fn is_id(client: Client, id: &str) -> bool {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    id.len() <= ID_MAX && id.chars().all(plain) && session_ref_problem(&format!("{}:{id}", client.name())).is_none()
}

/// The event of a name in any client's spelling.
fn event_of(name: &str) -> Event {
    let letters: String =
        name.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect();
    match letters.as_str() {
        "sessionstart" => Event::SessionStart,
        "userpromptsubmit" | "userpromptsubmitted" | "beforeagent" | "beforesubmitprompt" => Event::Prompt,
        "stop" | "agentstop" | "afteragent" => Event::Stop,
        "precompact" | "precompress" => Event::Compaction,
        "sessionend" => Event::SessionEnd,
        _ => Event::Other,
    }
}

/// The event of an input of Copilot, which does not name it.
fn event_of_shape(fields: &Map<String, Value>) -> Option<&'static str> {
    let shapes = [
        ("toolName", "preToolUse"),
        ("source", "sessionStart"),
        ("stopReason", "agentStop"),
        ("trigger", "preCompact"),
        ("prompt", "userPromptSubmitted"),
        ("reason", "sessionEnd"),
    ];
    let found = shapes.into_iter().find(|(field, _)| fields.contains_key(*field));
    found.filter(|_| fields.contains_key("sessionId")).map(|(_, name)| name)
}

/// Where the session is: as it says itself, else as its environment says.
fn folder(fields: &Map<String, Value>, variable: Variable<'_>) -> Option<PathBuf> {
    let roots = fields.get("workspace_roots").and_then(|roots| roots.get(0)).and_then(Value::as_str);
    let told = text(fields, &["cwd", "directory"]).or(roots).map(PathBuf::from);
    let variables = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "COPILOT_PROJECT_DIR"];
    told.or_else(|| variables.iter().find_map(|name| variable(name)).map(PathBuf::from))
        .filter(|folder| folder.is_absolute())
}

fn cold(fields: &Map<String, Value>) -> Option<Cold> {
    let is_cold = fields.get("prompt_cache_likely_expired") == Some(&Value::Bool(true));
    let number = |name: &str| fields.get(name).and_then(Value::as_u64);
    let usd = fields.get("estimated_cache_write_usd").and_then(Value::as_f64);
    is_cold.then(|| Cold {
        context_tokens: number("context_tokens").unwrap_or_default(),
        seconds: number("seconds_since_last_response").unwrap_or_default(),
        write_usd: usd.filter(|usd| usd.is_finite() && *usd >= 0.0),
    })
}
