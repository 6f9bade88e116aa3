//! Transcripts of Copilot CLI: an event for each request, whose input counts what was cached too, and sums by model when a
//! session ends, which are all that older versions tell.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::client::Client;
use crate::client::transcript::find::{Environment, Found};
use crate::client::transcript::lines::{self, Reading, Told};
use crate::client::transcript::requests::Names;
use crate::client::transcript::{Part, entries, first_line, moment};
use crate::economics::{Compaction, Request, Session, Usage};

/// What the client calls a request of the conversation itself.
const CONVERSATION: &str = "conversation-agent";

/// Where its transcripts are: a folder for each session.
pub fn places(environment: &Environment) -> Vec<PathBuf> {
    environment.places().into_iter().map(|places| places.copilot.join("session-state")).collect()
}

/// All of them; the name of a folder is the id of its session.
pub fn list(environment: &Environment) -> Vec<Found> {
    let folders = places(environment).into_iter().flat_map(|place| entries(&place));
    let found = folders.filter_map(|folder| {
        let id = folder.file_name()?.to_str()?.to_owned();
        let file = folder.join("events.jsonl");
        file.is_file().then(|| Found::at(Client::Copilot, file, Some(id)))
    });
    found.collect()
}

/// The folder that a session works in.
pub fn folder(path: &Path) -> Option<PathBuf> {
    first_line::<Line>(path)?.data?.context?.cwd
}

/// Reads a session.
pub fn read(path: &Path, part: Part) -> io::Result<Session> {
    let mut reader = Reader::default();
    let (lines, is_part) = lines::read(path, part, &mut reader)?;
    Ok(Session { client: Client::Copilot.name(), lines, is_part, ..reader.session })
}

#[derive(Default)]
struct Reader {
    session: Session,
    names: Names,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: Option<String>,
    timestamp: Option<String>,
    data: Option<Data>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    session_id: Option<String>,
    context: Option<Context>,
    usage: Option<RequestUsage>,
    model_metrics: Option<BTreeMap<String, Metrics>>,
    pre_compaction_tokens: Option<u64>,
    post_compaction_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Context {
    cwd: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestUsage {
    model: Option<String>,
    interaction_type: Option<String>,
    max_prompt_tokens: Option<u64>,
    api_call_id: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Metrics {
    usage: RequestUsage,
}

impl RequestUsage {
    fn usage(&self) -> Usage {
        let (read, written) = (self.cache_read_tokens.unwrap_or(0), self.cache_write_tokens.unwrap_or(0));
        Usage {
            input: self.input_tokens.unwrap_or(0).saturating_sub(read).saturating_sub(written),
            cache_read: read,
            cache_write: written,
            cache_write_long: 0,
            output: self.output_tokens.unwrap_or(0),
        }
    }
}

impl Reading for Reader {
    type Line = Line;
    const MARKS: &'static [&'static str] =
        &["\"session.usage_record\"", "\"session.shutdown\"", "\"session.start\"", "\"session.compaction_complete\""];

    fn take(&mut self, line: Line) -> Told {
        let Some(data) = line.data else {
            return Told::Nothing;
        };
        match line.kind.as_deref() {
            Some("session.start") => {
                self.session.id = data.session_id.or(self.session.id.take());
                Told::Nothing
            }
            Some("session.usage_record") => self.request(line.timestamp.as_deref(), data.usage),
            Some("session.shutdown") => {
                // Each end tells the sums of the whole session so far.
                let sums = data.model_metrics.unwrap_or_default().into_iter();
                self.session.told_totals = sums.map(|(model, metrics)| (model, metrics.usage.usage())).collect();
                Told::Nothing
            }
            Some("session.compaction_complete") => {
                self.session.compactions.push(Compaction {
                    at: moment(line.timestamp.as_deref()),
                    after_requests: self.session.requests.len(),
                    is_automatic: false,
                    tokens_before: data.pre_compaction_tokens,
                    tokens_after: data.post_compaction_tokens,
                });
                Told::Nothing
            }
            _ => Told::Nothing,
        }
    }

    fn must_fit(kind: &str) -> bool {
        kind == "session.usage_record" || kind == "session.shutdown"
    }
}

impl Reader {
    fn request(&mut self, timestamp: Option<&str>, told: Option<RequestUsage>) -> Told {
        let Some(told) = told else {
            return Told::Unknown;
        };
        let Some(model) = &told.model else {
            return Told::Unknown;
        };
        let is_beside = told.interaction_type.as_ref().is_some_and(|kind| kind != CONVERSATION);
        if !is_beside {
            self.session.window_tokens = told.max_prompt_tokens.or(self.session.window_tokens);
        }
        let at = moment(timestamp);
        let model = self.session.model(model);
        let usage = told.usage();
        let request = Request { started: at, ended: at, lifetime_seconds: None, model, is_beside, usage };
        let name = told.api_call_id.as_deref();
        self.names.put(&mut self.session, name.as_slice(), request)
    }
}
