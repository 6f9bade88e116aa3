//! What is remembered of one session: where it began, and what it was told. Must never let the same be said twice, nor
//! one session be taken for another.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{State, name_of};

/// Where the sessions are.
pub(super) const FOLDER: &str = "sessions";

/// A session, as its start left it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// `<harness>:<native id>`.
    pub session_ref: String,
    /// The id that Claude Desktop has for it, `desktop:local_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desktop: Option<String>,
    /// When it was first seen, as RFC 3339.
    pub began: String,
    /// The working tree that it began in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<PathBuf>,
    /// The commit that was checked out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
}

fn folder(session_ref: &str) -> PathBuf {
    Path::new(FOLDER).join(name_of(session_ref))
}

impl State {
    /// What is remembered of a session.
    pub fn session(&self, session_ref: &str) -> Option<Session> {
        self.read::<Session>(&folder(session_ref).join("session.json")).filter(|found| found.session_ref == session_ref)
    }

    /// Remembers a session.
    pub fn keep_session(&self, session: &Session) -> std::io::Result<()> {
        self.write(&folder(&session.session_ref).join("session.json"), session)
    }

    /// True the first time that this is to be said in a session. False, too, where that cannot be remembered: rather
    /// silent than a nag.
    pub fn is_first(&self, session_ref: &str, said: &'static str) -> bool {
        self.mark(&folder(session_ref).join(format!("said-{said}"))).unwrap_or(false)
    }

    /// Lets it be said once more.
    pub fn forget_said(&self, session_ref: &str, said: &'static str) {
        let _ = std::fs::remove_file(self.folder().join(folder(session_ref)).join(format!("said-{said}")));
    }
}
