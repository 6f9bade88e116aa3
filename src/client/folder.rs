//! Where a client works, when it starts its servers somewhere else. Must never guess: what the client says of this very
//! session, or nothing.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use crate::client::place::Places;

/// The folder of the session that started this process, if its client says one; `variable` reads the environment of the
/// person whose clients keep their files in these places.
pub fn of_session(variable: impl Fn(&str) -> Option<OsString>, places: Option<&Places>) -> Option<PathBuf> {
    let said = variable("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    said.filter(|folder| folder.is_dir()).or_else(|| of_copilot(&variable, places?).filter(|folder| folder.is_dir()))
}

/// Copilot CLI starts the servers of a plugin in the plugin's folder and tells them the session's id alone; the folder
/// stands in its own file of that session.
fn of_copilot(variable: &impl Fn(&str) -> Option<OsString>, places: &Places) -> Option<PathBuf> {
    variable("COPILOT_PLUGIN_ROOT")?;
    let session = variable("COPILOT_AGENT_SESSION_ID")?.into_string().ok()?;
    if session.is_empty() || !session.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-') {
        return None;
    }
    let file = places.copilot.join("session-state").join(session).join("workspace.yaml");
    let text = fs::read_to_string(file).ok()?;
    // A path that YAML has to quote is not read: half of it would be another folder.
    text.lines().find_map(|line| line.strip_prefix("cwd: ")).map(PathBuf::from)
}
