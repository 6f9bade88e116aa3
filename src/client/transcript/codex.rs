//! Transcripts of Codex, the rollouts: counters that go up with each request and are told more than once, beside the tokens
//! of the last request, whose input counts what was cached too.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::client::Client;
use crate::client::place::Places;
use crate::client::transcript::find::{Environment, Found};
use crate::client::transcript::lines::{self, Reading, Told};
use crate::client::transcript::{Part, entries, first_line, has_extension, moment};
use crate::economics::{Compaction, Request, Session, Usage};

/// The model where the part that was read does not tell it.
const NOT_TOLD: &str = "not told";

/// Where its transcripts are: by day, and those that were put away.
pub fn places(environment: &Environment) -> Vec<PathBuf> {
    let folders = |places: Places| [places.codex.join("sessions"), places.codex.join("archived_sessions")];
    environment.places().into_iter().flat_map(folders).collect()
}

/// All of them; the name of a file ends with the id of its session.
pub fn list(environment: &Environment) -> Vec<Found> {
    let mut folders = places(environment);
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in entries(&folder) {
            if entry.is_dir() {
                folders.push(entry);
            } else if let Some(id) = id_of(&entry) {
                found.push(Found::at(Client::Codex, entry, Some(id)));
            }
        }
    }
    found
}

/// `rollout-2026-11-29T11-44-12-01a2271e-b211-74b0-9172-7937c84f82ea.jsonl`.
fn id_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?.strip_prefix("rollout-").filter(|_| has_extension(path, "jsonl"))?;
    let id = stem.get(stem.len().checked_sub(36)?..)?;
    uuid::Uuid::try_parse(id).ok().map(|_| id.to_owned())
}

/// The folder that a session works in.
pub fn folder(path: &Path) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct First {
        payload: Place,
    }
    #[derive(Deserialize)]
    struct Place {
        cwd: PathBuf,
    }
    first_line::<First>(path).map(|first| first.payload.cwd)
}

/// Reads a session.
pub fn read(path: &Path, part: Part) -> io::Result<Session> {
    let is_end = matches!(part, Part::Tail { bytes } if path.metadata()?.len() > bytes);
    let mut reader = Reader { is_end, ..Reader::default() };
    let (lines, is_part) = lines::read(path, part, &mut reader)?;
    let id = reader.session.id.or_else(|| id_of(path));
    Ok(Session { client: Client::Codex.name(), id, lines, is_part, ..reader.session })
}

#[derive(Default)]
struct Reader {
    session: Session,
    model: Option<String>,
    /// The counters as they were last told.
    counters: Option<Counters>,
    /// True if the transcript is not read from its start.
    is_end: bool,
}

#[derive(Deserialize)]
struct Line {
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    payload: Option<Payload>,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    model: Option<String>,
    model_context_window: Option<u64>,
    info: Option<Info>,
    thread_id: Option<String>,
    usage: Option<Counters>,
    thread_token_usage: Option<Counters>,
}

#[derive(Deserialize)]
struct Info {
    total_token_usage: Option<Counters>,
    last_token_usage: Option<Counters>,
    model_context_window: Option<u64>,
}

/// Counters as Codex tells them everywhere: input counts what was cached too.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(in crate::client) struct Counters {
    #[serde(rename = "input_tokens")]
    input: u64,
    #[serde(rename = "cached_input_tokens")]
    cached: u64,
    #[serde(rename = "cache_write_input_tokens")]
    written: u64,
    #[serde(rename = "output_tokens")]
    output: u64,
}

impl Counters {
    /// The tokens.
    pub(in crate::client) fn usage(self) -> Usage {
        Usage {
            input: self.input.saturating_sub(self.cached).saturating_sub(self.written),
            cache_read: self.cached,
            cache_write: self.written,
            cache_write_long: 0,
            output: self.output,
        }
    }

    /// What was added since; all of it where the counters started anew.
    fn since(self, earlier: Self) -> Self {
        let added = || {
            Some(Self {
                input: self.input.checked_sub(earlier.input)?,
                cached: self.cached.checked_sub(earlier.cached)?,
                written: self.written.checked_sub(earlier.written)?,
                output: self.output.checked_sub(earlier.output)?,
            })
        };
        added().unwrap_or(self)
    }
}

impl Reading for Reader {
    type Line = Line;
    const MARKS: &'static [&'static str] = &[
        "\"token_count\"",
        "\"token_usage_record\"",
        "\"turn_context\"",
        "\"session_meta\"",
        "\"task_started\"",
        "\"compacted\"",
    ];

    fn take(&mut self, line: Line) -> Told {
        let Some(payload) = line.payload else {
            return Told::Nothing;
        };
        match (line.kind.as_deref(), payload.kind.as_deref()) {
            (Some("session_meta"), _) => {
                self.session.id = self.session.id.take().or(payload.id);
                Told::Nothing
            }
            (Some("turn_context"), _) => {
                self.model = payload.model.or(self.model.take());
                Told::Nothing
            }
            (Some("event_msg"), Some("task_started")) => self.window(payload.model_context_window),
            (Some("event_msg"), Some("token_count")) => self.event(line.timestamp.as_deref(), payload.info),
            (Some("token_usage_record"), _) => self.record(line.timestamp.as_deref(), &payload),
            (Some("compacted"), _) => {
                self.session.compactions.push(Compaction {
                    at: moment(line.timestamp.as_deref()),
                    after_requests: self.session.requests.len(),
                    is_automatic: false,
                    tokens_before: None,
                    tokens_after: None,
                });
                Told::Nothing
            }
            _ => Told::Nothing,
        }
    }

    fn must_fit(kind: &str) -> bool {
        kind == "event_msg" || kind == "token_usage_record"
    }
}

impl Reader {
    fn window(&mut self, told: Option<u64>) -> Told {
        self.session.window_tokens = told.or(self.session.window_tokens);
        Told::Nothing
    }

    /// An event of the counters; without counters it tells of limits alone.
    fn event(&mut self, timestamp: Option<&str>, info: Option<Info>) -> Told {
        let Some(info) = info else {
            return Told::Nothing;
        };
        self.window(info.model_context_window);
        match (info.total_token_usage, info.last_token_usage) {
            (None, None) => Told::Unknown,
            (total, last) => self.counted(timestamp, total, last),
        }
    }

    /// A record of one answer, which the event of the same request repeats.
    fn record(&mut self, timestamp: Option<&str>, payload: &Payload) -> Told {
        let of_other = payload.thread_id.is_some() && payload.thread_id != self.session.id && self.session.id.is_some();
        match payload.usage {
            // A session that was made from another's starts with what that one said.
            _ if of_other => Told::Nothing,
            None => Told::Unknown,
            usage => self.counted(timestamp, payload.thread_token_usage, usage),
        }
    }

    fn counted(&mut self, timestamp: Option<&str>, total: Option<Counters>, last: Option<Counters>) -> Told {
        if total.is_some() && total == self.counters {
            return Told::Again;
        }
        if self.is_end && self.counters.is_none() && last.is_none() {
            // What the session counted before the part that is read is no request of that part.
            self.counters = total;
            return Told::Nothing;
        }
        let added = total.map(|total| self.counters.map_or(total, |counters| total.since(counters)));
        self.counters = total.or(self.counters);
        let usage = last.or(added).unwrap_or_default().usage();
        if usage == Usage::default() {
            return Told::Nothing;
        }
        let at = moment(timestamp);
        let model = self.session.model(self.model.as_deref().unwrap_or(NOT_TOLD));
        let request = Request { started: at, ended: at, lifetime_seconds: None, model, is_beside: false, usage };
        self.session.requests.push(request);
        Told::Tokens
    }
}
