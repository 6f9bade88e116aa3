//! Whose transcript a file is, by how it starts. Must never guess by a file's name, which anybody can give.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use memchr::memmem::find;

use crate::client::Client;

/// As much as tells: the first line of some clients has whole instructions in it, and these words before them.
const START: u64 = 64 * 1024;

/// The client that wrote the file.
pub fn of(path: &Path) -> Option<Client> {
    let mut start = Vec::new();
    File::open(path).ok()?.take(START).read_to_end(&mut start).ok()?;
    let has = |mark: &str| find(&start, mark.as_bytes()).is_some();
    // Each mark is a JSON string of its client alone; inside of a text its quotation marks are escaped.
    let marks: [(Client, &[&str]); 5] = [
        (Client::OpenCode, &["SQLite format 3\0"]),
        (Client::Codex, &["\"session_meta\""]),
        (Client::Copilot, &["\"session.start\""]),
        (Client::Gemini, &["\"projectHash\""]),
        (Client::OpenCode, &["\"info\"", "\"projectID\""]),
    ];
    let known = marks.into_iter().find(|(_, all)| all.iter().all(|mark| has(mark))).map(|(client, _)| client);
    known.or_else(|| (has("\"sessionId\"") || has("\"file-history-snapshot\"")).then_some(Client::ClaudeCode))
}
