//! The transcripts that clients keep of their sessions: where they are, and the counts in them. Must never keep a word that
//! was said: of each line only counts, ids, times and names of models are taken out.

pub mod claude_code;
pub mod codex;
pub mod copilot;
pub mod find;
pub mod gemini;
pub mod kind;
pub mod lines;
pub mod opencode;
mod requests;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::domain::text::quoted;
use crate::domain::time::Timestamp;
use crate::economics::Session;
use crate::error::{Code, Refusal, Result};

pub use find::{Environment, Found, How, Wanted, all, find, unreadable_places, written_since};

/// How much of a transcript is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it, and of the files beside it.
    All,
    /// The last bytes of its file, for those who have no time: sums are then of that part, and say so.
    Tail {
        /// How many bytes at most.
        bytes: u64,
    },
}

/// Reads the counts of a session; of a database with several, the newest, and all of it whatever the part. What cannot be
/// understood is counted in [`Session::lines`] and is no failure.
pub fn read(client: Client, path: &Path, part: Part) -> Result<Session> {
    let session = match client {
        Client::ClaudeCode => claude_code::read(path, part),
        Client::Codex => codex::read(path, part),
        Client::Gemini => gemini::read(path, part),
        Client::OpenCode => opencode::read(path, None),
        Client::Copilot => copilot::read(path, part),
        _ => return Err(unreadable_client(client)),
    };
    let mut session = session.map_err(|error| unreadable(path, &error))?;
    session.id = session.id.filter(|id| id.len() <= LONGEST_ID);
    Ok(session)
}

/// No client has ids of more bytes, and whatever is longer is none.
const LONGEST_ID: usize = 200;

fn unreadable_client(client: Client) -> Refusal {
    Refusal::new(
        Code::InvalidArgument,
        format!("the transcripts of {} tell no tokens that HeyAira can read", client.title()),
        "Name a session of claude-code, codex, gemini, opencode or copilot.",
    )
}

fn unreadable(path: &Path, error: &std::io::Error) -> Refusal {
    Refusal::new(
        if error.kind() == std::io::ErrorKind::NotFound { Code::NotFound } else { Code::InvalidArgument },
        format!("the transcript {} cannot be read: {error}", quoted(&path.to_string_lossy(), 200)),
        "Name a file that this user may read, or the id of a session.",
    )
}

/// A moment as clients write it.
fn moment(text: Option<&str>) -> Option<Timestamp> {
    text?.parse::<jiff::Timestamp>().ok().map(|moment| Timestamp(moment.as_microsecond()))
}

/// The fields of a first line, in which some clients say where a session works.
fn first_line<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let mut line = Vec::new();
    BufReader::new(File::open(path).ok()?).take(FIRST_LINE).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

/// A first line may hold whole instructions.
const FIRST_LINE: u64 = 4 * 1024 * 1024;

/// What is in a folder, in order; nothing where it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension == wanted)
}
