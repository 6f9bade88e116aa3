//! Transcripts of Gemini CLI: messages, each told again when it grows, and changes of the session's state, which may hold
//! whole messages. Input counts what was cached too.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::client::Client;
use crate::client::transcript::find::{Environment, Found};
use crate::client::transcript::lines::{self, Reading, Told};
use crate::client::transcript::requests::Names;
use crate::client::transcript::{Part, entries, first_line, has_extension, moment};
use crate::domain::text::hex;
use crate::economics::{Lines, Request, Session, Usage};

/// Where its transcripts are: a folder for each project.
pub fn places(environment: &Environment) -> Vec<PathBuf> {
    environment.places().into_iter().map(|places| places.gemini.join("tmp")).collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    session_id: Option<String>,
    project_hash: Option<String>,
    kind: Option<String>,
}

/// All sessions of people; those of subagents are none.
pub fn list(environment: &Environment) -> Vec<Found> {
    let projects = places(environment).into_iter().flat_map(|place| entries(&place));
    let files = projects.flat_map(|project| entries(&project.join("chats")));
    let found = files.filter_map(|file| {
        let header = first_line::<Header>(&file)?;
        let is_main = header.kind.is_none_or(|kind| kind == "main");
        is_main.then(|| Found::at(Client::Gemini, file, header.session_id))
    });
    found.collect()
}

/// True if the session worked in one of the folders: its project says which, by the folder itself or a digest of it.
pub fn is_of(path: &Path, folders: &[&Path]) -> bool {
    let project = path.parent().and_then(Path::parent);
    let root = project.and_then(|project| std::fs::read_to_string(project.join(".project_root")).ok());
    let digest = first_line::<Header>(path).and_then(|header| header.project_hash);
    folders.iter().any(|folder| {
        let folder = folder.to_string_lossy();
        let is_root = root.as_ref().is_some_and(|root| root.trim_end() == folder);
        is_root || digest.as_ref().is_some_and(|digest| *digest == hex(&Sha256::digest(folder.as_bytes())))
    })
}

/// Reads a session: lines, or one document as older versions wrote it.
pub fn read(path: &Path, part: Part) -> io::Result<Session> {
    let mut reader = Reader::default();
    let (lines, is_part) =
        if has_extension(path, "json") { document(path, &mut reader)? } else { lines::read(path, part, &mut reader)? };
    Ok(Session { client: Client::Gemini.name(), lines, is_part, ..reader.session })
}

fn document(path: &Path, reader: &mut Reader) -> io::Result<(Lines, bool)> {
    let line: Line = serde_json::from_reader(BufReader::new(File::open(path)?))?;
    let counted = u64::try_from(line.messages.iter().flatten().count()).unwrap_or(u64::MAX);
    reader.take(line);
    Ok((Lines { read: 1, counted, ..Lines::default() }, false))
}

#[derive(Default)]
struct Reader {
    session: Session,
    names: Names,
}

/// A message, a header, or a change of the session's state.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "sessionId")]
    session_id: Option<String>,
    messages: Option<Vec<Message>>,
    #[serde(rename = "$set")]
    set: Option<Change>,
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    timestamp: Option<String>,
    model: Option<String>,
    tokens: Option<Tokens>,
}

#[derive(Deserialize)]
struct Change {
    messages: Option<Vec<Message>>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    timestamp: Option<String>,
    model: Option<String>,
    tokens: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    input: Option<u64>,
    output: Option<u64>,
    cached: Option<u64>,
    thoughts: Option<u64>,
    tool: Option<u64>,
}

impl Tokens {
    fn usage(&self) -> Usage {
        let cached = self.cached.unwrap_or(0);
        Usage {
            input: self.input.unwrap_or(0).saturating_sub(cached).saturating_add(self.tool.unwrap_or(0)),
            cache_read: cached,
            output: self.output.unwrap_or(0).saturating_add(self.thoughts.unwrap_or(0)),
            ..Usage::default()
        }
    }
}

impl Reading for Reader {
    type Line = Line;
    const MARKS: &'static [&'static str] = &["\"tokens\"", "\"sessionId\""];

    fn take(&mut self, line: Line) -> Told {
        self.session.id = self.session.id.take().or(line.session_id);
        let Line { kind, id, timestamp, model, tokens, .. } = line;
        let whole = Message { kind, id, timestamp, model, tokens };
        let inner = line.messages.into_iter().chain(line.set.and_then(|set| set.messages)).flatten();
        inner.chain([whole]).map(|message| self.message(message)).fold(Told::Nothing, Told::or)
    }

    fn must_fit(kind: &str) -> bool {
        kind == "gemini"
    }
}

impl Reader {
    fn message(&mut self, message: Message) -> Told {
        let Some(tokens) = message.tokens else {
            return Told::Nothing;
        };
        let (Some("gemini"), Some(model)) = (message.kind.as_deref(), message.model) else {
            return Told::Unknown;
        };
        let at = moment(message.timestamp.as_deref());
        let model = self.session.model(&model);
        let usage = tokens.usage();
        let request = Request { started: at, ended: at, lifetime_seconds: None, model, is_beside: false, usage };
        let name = message.id.as_deref();
        self.names.put(&mut self.session, name.as_slice(), request)
    }
}
