//! Claude Desktop's own ids of the sessions in its Code tab, which are Claude Code's under another name. Must never read
//! more of its files than the two ids.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::Deserialize;

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

/// The app's folder on this platform.
fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || path("HOME");
    let folder = if cfg!(target_os = "macos") {
        home()?.join("Library").join("Application Support")
    } else if cfg!(windows) {
        path("APPDATA")?
    } else {
        path("XDG_CONFIG_HOME").or_else(|| home().map(|home| home.join(".config")))?
    };
    Some(folder.join("Claude").join("claude-code-sessions"))
}

/// `desktop:local_…` of the session that Claude Code knows by this id, if the app's files say so.
pub fn session_of(id: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries(folder(variable)?).flat_map(|account| entries(account.path()));
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
