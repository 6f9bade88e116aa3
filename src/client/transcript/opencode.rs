//! Transcripts of `OpenCode`: a database with all sessions in it, opened to be read only, and the document that
//! `opencode export` writes of one. Subagents are sessions of their own, below the one that started them.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, Row};
use serde::Deserialize;

use crate::client::Client;
use crate::client::transcript::find::{Environment, Found};
use crate::domain::time::Timestamp;
use crate::economics::{Lines, Request, Session, Usage};

/// How each file of `SQLite` starts.
const DATABASE: &[u8] = b"SQLite format 3\0";
/// How long a write of the client is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where its database is.
pub fn places(environment: &Environment) -> Vec<PathBuf> {
    environment.places().into_iter().map(|places| places.opencode_data.join("opencode.db")).collect()
}

/// Why the database cannot be read, if it is there and cannot.
pub fn problem(path: &Path) -> Option<String> {
    sessions(path).err().map(|error| error.to_string())
}

/// All sessions of people in it; none where it cannot be read, which [`problem`] tells.
pub fn list(environment: &Environment) -> Vec<Found> {
    let places = places(environment).into_iter().filter(|place| place.is_file());
    places.flat_map(|place| sessions(&place).unwrap_or_default()).collect()
}

const SESSIONS: &str = "select id, directory, time_updated from session where parent_id is null";

fn sessions(path: &Path) -> rusqlite::Result<Vec<Found>> {
    let connection = open(path)?;
    let mut statement = connection.prepare(SESSIONS)?;
    let rows = statement.query_map([], |row| {
        let changed = row.get::<_, i64>(2).ok().and_then(|millis| u64::try_from(millis).ok());
        let changed = changed.map(|millis| UNIX_EPOCH + Duration::from_millis(millis));
        let folder = Some(PathBuf::from(row.get::<_, String>(1)?));
        Ok(Found { folder, changed, ..Found::at(Client::OpenCode, path.to_owned(), Some(row.get(0)?)) })
    })?;
    rows.collect()
}

/// Reads a session of a database, the newest if none is named; or an exported one.
pub fn read(path: &Path, id: Option<&str>) -> io::Result<Session> {
    let mut start = Vec::new();
    File::open(path)?.take(u64::try_from(DATABASE.len()).unwrap_or(16)).read_to_end(&mut start)?;
    if start != DATABASE {
        return exported(path);
    }
    stored(path, id).map_err(|error| match error {
        rusqlite::Error::QueryReturnedNoRows => io::Error::new(io::ErrorKind::NotFound, "it has no such session"),
        other => io::Error::other(other),
    })
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

const NEWEST: &str = "select id from session where parent_id is null order by time_updated desc limit 1";
const COST: &str = "select sum(cost) from session where id = ?1 or parent_id = ?1";
/// Only the counts come out of the database; the texts of a message are in another table.
const MESSAGES: &str = "
    select session_id <> ?1, data ->> '$.modelID', data ->> '$.time.created', data ->> '$.time.completed',
        data ->> '$.tokens.input', data ->> '$.tokens.output', data ->> '$.tokens.reasoning',
        data ->> '$.tokens.cache.read', data ->> '$.tokens.cache.write'
    from message
    where session_id in (select id from session where id = ?1 or parent_id = ?1)
        and json_valid(data) and data ->> '$.role' = 'assistant'
    order by session_id <> ?1, data ->> '$.time.created', id";

fn stored(path: &Path, id: Option<&str>) -> rusqlite::Result<Session> {
    let connection = open(path)?;
    let id: String = match id {
        Some(id) => id.to_owned(),
        None => connection.query_one(NEWEST, [], |row| row.get(0))?,
    };
    let mut session = Session { client: Client::OpenCode.name(), ..Session::default() };
    session.told_cost_usd = connection.query_one(COST, [&id], |row| row.get(0))?;
    let mut statement = connection.prepare(MESSAGES)?;
    let mut rows = statement.query([&id])?;
    while let Some(row) = rows.next()? {
        session.lines.read += 1;
        match answer(row) {
            Ok(answer) => add(&mut session, answer),
            Err(_) => session.lines.broken += 1,
        }
    }
    session.id = Some(id);
    Ok(session)
}

fn answer(row: &Row) -> rusqlite::Result<Answer> {
    Ok(Answer {
        is_beside: row.get(0)?,
        model: row.get(1)?,
        time: Times { created: row.get(2)?, completed: row.get(3)? },
        tokens: Some(Tokens {
            input: count(row, 4)?,
            output: count(row, 5)?,
            reasoning: count(row, 6)?,
            cache: Cache { read: count(row, 7)?, write: count(row, 8)? },
        }),
    })
}

fn count(row: &Row, column: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.and_then(|count| u64::try_from(count).ok()))
}

#[derive(Deserialize)]
struct Export {
    info: Info,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Info {
    id: Option<String>,
    cost: Option<f64>,
}

#[derive(Deserialize)]
struct Message {
    info: MessageInfo,
}

#[derive(Deserialize)]
struct MessageInfo {
    role: Option<String>,
    #[serde(rename = "modelID")]
    model: Option<String>,
    #[serde(default)]
    time: Times,
    tokens: Option<Tokens>,
}

/// Milliseconds since 1970.
#[derive(Clone, Copy, Default, Deserialize)]
struct Times {
    created: Option<i64>,
    completed: Option<i64>,
}

/// The tokens of an answer; the output that it reasoned is told beside the rest.
#[derive(Clone, Copy, Deserialize)]
pub(in crate::client) struct Tokens {
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    #[serde(default)]
    cache: Cache,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct Cache {
    read: Option<u64>,
    write: Option<u64>,
}

impl Tokens {
    /// The tokens; those that are not told are none.
    pub(in crate::client) fn usage(&self) -> Usage {
        Usage {
            input: self.input.unwrap_or(0),
            cache_read: self.cache.read.unwrap_or(0),
            cache_write: self.cache.write.unwrap_or(0),
            cache_write_long: 0,
            output: self.output.unwrap_or(0).saturating_add(self.reasoning.unwrap_or(0)),
        }
    }
}

/// An answer of a model, wherever it was told.
struct Answer {
    is_beside: bool,
    model: Option<String>,
    time: Times,
    tokens: Option<Tokens>,
}

fn exported(path: &Path) -> io::Result<Session> {
    let export: Export = serde_json::from_reader(BufReader::new(File::open(path)?))?;
    let mut session = Session {
        client: Client::OpenCode.name(),
        id: export.info.id,
        told_cost_usd: export.info.cost,
        lines: Lines { read: 1, ..Lines::default() },
        ..Session::default()
    };
    let answers = export.messages.into_iter().filter(|message| message.info.role.as_deref() == Some("assistant"));
    for Message { info: MessageInfo { model, time, tokens, .. } } in answers {
        add(&mut session, Answer { is_beside: false, model, time, tokens });
    }
    Ok(session)
}

fn add(session: &mut Session, answer: Answer) {
    let (Some(model), Some(tokens)) = (answer.model, answer.tokens) else {
        session.lines.unknown += 1;
        return;
    };
    let usage = tokens.usage();
    // An answer that failed, or is only starting, has no tokens yet.
    if usage == Usage::default() {
        return;
    }
    let at = |millis: i64| Timestamp(millis.saturating_mul(1_000));
    let started = answer.time.created.map(at);
    let model = session.model(&model);
    session.lines.counted += 1;
    session.requests.push(Request {
        started,
        ended: answer.time.completed.map(at).or(started),
        lifetime_seconds: None,
        model,
        is_beside: answer.is_beside,
        usage,
    });
}
