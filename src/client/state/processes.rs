//! Which session a client process is in now, as its hooks say. Must never name the session of another process, nor
//! choose between two.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{State, name_of};
use crate::client::Client;
use crate::client::process::Process;

/// Where the processes are.
pub(super) const FOLDER: &str = "processes";
/// By how many seconds two looks at one process may differ: the clock of the machine is set now and then.
const DRIFT: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Open {
    session_ref: String,
}

fn place(process: &Process, client: Client) -> PathBuf {
    Path::new(FOLDER).join(format!("{}-{}-{}", client.name(), process.id, process.began))
}

/// True for clients of which one process is in one session at a time: a new one ends the one before.
fn has_one(client: Client) -> bool {
    matches!(client, Client::ClaudeCode | Client::Gemini | Client::Copilot)
}

impl State {
    /// A client process is in this session now.
    pub fn open_session(&self, process: &Process, client: Client, session_ref: &str) -> std::io::Result<()> {
        let (folder, file) = (place(process, client), format!("{}.json", name_of(session_ref)));
        self.write(&folder.join(&file), &Open { session_ref: session_ref.to_owned() })?;
        if has_one(client) {
            let others = self.names(&folder).into_iter().filter(|name| *name != file);
            others.for_each(|name| drop(fs::remove_file(self.folder().join(&folder).join(name))));
        }
        Ok(())
    }

    /// It no longer is.
    pub fn close_session(&self, process: &Process, client: Client, session_ref: &str) {
        let file = place(process, client).join(format!("{}.json", name_of(session_ref)));
        let _ = fs::remove_file(self.folder().join(file));
    }

    /// The sessions that a client process is in; most have one.
    pub fn open_sessions(&self, process: &Process, client: Client) -> Vec<String> {
        let moments = process.began.saturating_sub(DRIFT)..=process.began.saturating_add(DRIFT);
        let folders = moments.map(|began| place(&Process { began, ..process.clone() }, client));
        let files = folders.flat_map(|folder| self.names(&folder).into_iter().map(move |name| folder.join(name)));
        let sessions = files.filter_map(|file| self.read::<Open>(&file)).map(|open| open.session_ref);
        // What was written by hand is of no use.
        let begins = format!("{}:", client.name());
        sessions.filter(|session| session.starts_with(&begins)).collect()
    }
}
