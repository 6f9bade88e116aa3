//! Claude Desktop's own ids of the sessions in its Code tab, which are Claude Code's under another name. Must never read
//! more of its files than the two ids.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::Deserialize;

use crate::client::place::Places;

/// How many files are looked at, the newest first.
const FILES: usize = 200;
/// The largest of them, in bytes.
const FILE_MAX: u64 = 256 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mapping {
    session_id: String,
    cli_session_id: String,
}

/// `desktop:local_…` of the session that Claude Code knows by this id, if the app's files say so.
pub fn session_of(id: &str, places: &Places) -> Option<String> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let folders =
        entries(places.claude_desktop().join("claude-code-sessions")).flat_map(|account| entries(account.path()));
    let mut files: Vec<(SystemTime, PathBuf)> = folders
        .flat_map(|organization| entries(organization.path()))
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("local_"))
        .filter_map(|entry| {
            let found = entry.metadata().ok().filter(|found| found.len() <= FILE_MAX)?;
            Some((found.modified().unwrap_or(SystemTime::UNIX_EPOCH), entry.path()))
        })
        .collect();
    files.sort_unstable_by(|one, other| other.cmp(one));
    let mappings = files.into_iter().take(FILES);
    let mut mappings = mappings.filter_map(|(_, file)| serde_json::from_slice::<Mapping>(&fs::read(file).ok()?).ok());
    let mapping = mappings.find(|mapping| mapping.cli_session_id == id)?;
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    let is_id = mapping.session_id.starts_with("local_") && mapping.session_id.len() <= 100;
    (is_id && mapping.session_id.chars().all(plain)).then(|| format!("desktop:{}", mapping.session_id))
}
