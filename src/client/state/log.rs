//! The log of the hooks: what went wrong, as nobody sees it otherwise. Must never grow without end.

use std::fs;
use std::path::Path;

use super::State;
use crate::domain::secret::masked;
use crate::domain::text::{head, visible};

/// The log's name in the folder.
pub const FILE: &str = "hooks.log";
/// Where it is moved to when it is full.
const OLDER: &str = "hooks.log.1";
/// When it is full, in bytes.
const FULL: u64 = 256 * 1024;
/// How much of a line is kept, in characters.
const LINE: usize = 600;

impl State {
    /// Adds a line. It is one, whatever is in the text, and it holds no secret.
    pub fn log(&self, text: &str) {
        let line = visible(head(&masked(text).replace(['\n', '\r'], " "), LINE));
        if let Ok(false) = self.append(Path::new(FILE), &line, FULL) {
            // Of two that do it at once the later one moves a short log: that is a few lines.
            let _ = fs::rename(self.folder().join(FILE), self.folder().join(OLDER));
            let _ = self.append(Path::new(FILE), &line, FULL);
        }
    }
}
