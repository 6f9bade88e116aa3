//! Transcripts of Claude Code: one line for each part of an answer, each with the tokens of the whole request so far, so
//! that the last line of a request counts. Subagents have files of their own beside it.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::client::Client;
use crate::client::place::Places;
use crate::client::transcript::find::{Environment, Found};
use crate::client::transcript::lines::{self, Reading, Told};
use crate::client::transcript::requests::Names;
use crate::client::transcript::{Part, entries, has_extension, moment};
use crate::economics::{Compaction, Lines, Request, Session, Usage};

/// What the client writes in the place of a model where it made an answer up itself.
const NO_MODEL: &str = "<synthetic>";

/// Where its transcripts are: a folder for each folder that was worked in.
pub fn places(environment: &Environment) -> Vec<PathBuf> {
    let folders = |places: Places| {
        // Some versions wrote there.
        let other = places.home.join(".config").join("claude");
        let is_named = places.claude != places.home.join(".claude");
        std::iter::once(places.claude).chain((!is_named).then_some(other))
    };
    environment.places().into_iter().flat_map(folders).map(|folder| folder.join("projects")).collect()
}

/// All of them; the name of a file is the id of its session.
pub fn list(environment: &Environment) -> Vec<Found> {
    let folders = places(environment).into_iter().flat_map(|place| entries(&place));
    let files = folders.flat_map(|folder| entries(&folder)).filter(|file| has_extension(file, "jsonl"));
    let found = files.filter_map(|file| {
        let id = file.file_stem()?.to_str()?.to_owned();
        // Older versions kept subagents beside the sessions.
        (!id.starts_with("agent-")).then(|| Found::at(Client::ClaudeCode, file, Some(id)))
    });
    found.collect()
}

/// True if the session worked in one of the folders: each has a name in which every other character is a dash.
pub fn is_of(path: &Path, folders: &[&Path]) -> bool {
    let dashed = |folder: &Path| -> String {
        folder.to_string_lossy().chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '-' }).collect()
    };
    let name = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    folders.iter().any(|folder| Some(dashed(folder).as_str()) == name)
}

/// Reads a session, with its subagents unless only the end is wanted.
pub fn read(path: &Path, part: Part) -> io::Result<Session> {
    let mut reader = Reader::default();
    let (lines, is_part) = lines::read(path, part, &mut reader)?;
    let (beside, is_without) = read_beside(path, part, &mut reader)?;
    let mut session = reader.session;
    session.client = Client::ClaudeCode.name();
    session.lines = lines.plus(beside);
    session.is_part = is_part || is_without;
    if session.id.is_none() {
        session.id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    }
    Ok(session)
}

/// Reads the subagents' files of a session; answers how, and whether some were left out.
fn read_beside(path: &Path, part: Part, reader: &mut Reader) -> io::Result<(Lines, bool)> {
    let folder = path.with_extension("").join("subagents");
    let mut files = entries(&folder);
    files.retain(|file| has_extension(file, "jsonl"));
    files.sort();
    let mut lines = Lines::default();
    if part != Part::All {
        return Ok((lines, !files.is_empty()));
    }
    reader.is_beside = true;
    for file in files {
        lines = lines.plus(lines::read(&file, Part::All, reader)?.0);
    }
    // A subagent that is still writing says nothing of the session's own file.
    lines.is_unfinished = false;
    Ok((lines, false))
}

#[derive(Default)]
struct Reader {
    session: Session,
    names: Names,
    /// True while a subagent's file is read.
    is_beside: bool,
    /// The lifetime that the last request of the conversation had.
    lifetime_seconds: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "type")]
    kind: Option<String>,
    subtype: Option<String>,
    timestamp: Option<String>,
    session_id: Option<String>,
    request_id: Option<String>,
    is_sidechain: Option<bool>,
    prompt_cache_requested: Option<String>,
    message: Option<Message>,
    compact_metadata: Option<CompactMetadata>,
    #[serde(rename = "totalCostUSD")]
    total_cost_usd: Option<f64>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    model: Option<String>,
    usage: Option<Counts>,
}

/// The tokens of an answer, and of a run.
#[derive(Deserialize)]
pub(in crate::client) struct Counts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
    speed: Option<String>,
}

#[derive(Deserialize)]
struct CacheCreation {
    ephemeral_1h_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CompactMetadata {
    trigger: Option<String>,
    pre_tokens: Option<u64>,
    post_tokens: Option<u64>,
}

impl Counts {
    /// True if none of the counts is there, which is not the same as counts of zero.
    fn is_empty(&self) -> bool {
        let counts =
            [self.input_tokens, self.output_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens];
        counts.iter().all(Option::is_none)
    }

    /// The tokens; those that are not told are none.
    pub(in crate::client) fn usage(&self) -> Usage {
        let written = self.cache_creation_input_tokens.unwrap_or(0);
        let long = self.cache_creation.as_ref().and_then(|written| written.ephemeral_1h_input_tokens).unwrap_or(0);
        let long = long.min(written);
        Usage {
            input: self.input_tokens.unwrap_or(0),
            cache_read: self.cache_read_input_tokens.unwrap_or(0),
            cache_write: written - long,
            cache_write_long: long,
            output: self.output_tokens.unwrap_or(0),
        }
    }
}

impl Reading for Reader {
    type Line = Line;
    const MARKS: &'static [&'static str] = &["\"usage\"", "\"compact_boundary\"", "\"totalCostUSD\""];

    fn take(&mut self, line: Line) -> Told {
        if self.session.id.is_none() && !self.is_beside {
            self.session.id.clone_from(&line.session_id);
        }
        match (line.kind.as_deref(), line.subtype.as_deref()) {
            (Some("assistant"), _) => self.answer(line),
            (Some("system"), Some("compact_boundary")) => self.compaction(&line),
            (Some("cost-state"), _) if !self.is_beside => {
                self.session.told_cost_usd = line.total_cost_usd.or(self.session.told_cost_usd);
                Told::Nothing
            }
            _ if line.message.is_some_and(|message| message.usage.is_some()) => Told::Unknown,
            _ => Told::Nothing,
        }
    }

    fn must_fit(kind: &str) -> bool {
        kind == "assistant" || kind == "cost-state"
    }
}

impl Reader {
    fn answer(&mut self, line: Line) -> Told {
        let is_beside = self.is_beside || line.is_sidechain == Some(true);
        let Some(Message { id, model: Some(model), usage: Some(tokens) }) = line.message else {
            return Told::Unknown;
        };
        if model == NO_MODEL {
            return Told::Nothing;
        }
        if tokens.is_empty() {
            return Told::Unknown;
        }
        let usage = tokens.usage();
        let lifetime = lifetime(line.prompt_cache_requested.as_deref(), usage);
        let lifetime = if is_beside { lifetime } else { lifetime.or(self.lifetime_seconds) };
        if !is_beside {
            self.lifetime_seconds = lifetime;
        }
        let at = moment(line.timestamp.as_deref());
        // A faster answer of the same model has a price of its own.
        let is_fast = tokens.speed.as_deref() == Some("fast");
        let model = self.session.model(&if is_fast { format!("{model} fast") } else { model });
        let request = Request { started: at, ended: at, lifetime_seconds: lifetime, model, is_beside, usage };
        let request_id = line.request_id.unwrap_or_default();
        let name = id.as_deref().map(|id| [id, request_id.as_str()]);
        self.names.put(&mut self.session, name.as_ref().map_or(&[], |name| name.as_slice()), request)
    }

    fn compaction(&mut self, line: &Line) -> Told {
        if self.is_beside || line.is_sidechain == Some(true) {
            return Told::Nothing;
        }
        let told = line.compact_metadata.as_ref();
        self.session.compactions.push(Compaction {
            at: moment(line.timestamp.as_deref()),
            after_requests: self.session.requests.len(),
            is_automatic: told.is_some_and(|told| told.trigger.as_deref() == Some("auto")),
            tokens_before: told.and_then(|told| told.pre_tokens),
            tokens_after: told.and_then(|told| told.post_tokens),
        });
        Told::Nothing
    }
}

/// How long the cache lives: as the request says, else as the tokens that it wrote are counted.
fn lifetime(requested: Option<&str>, usage: Usage) -> Option<u32> {
    match requested {
        Some("5m") => Some(300),
        Some("1h") => Some(3_600),
        _ if usage.cache_write_long > 0 => Some(3_600),
        _ if usage.cache_write > 0 => Some(300),
        _ => None,
    }
}
