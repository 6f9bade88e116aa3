//! Where a client works, when it starts its servers somewhere else. Must never guess: what the client says of this very
//! session, or nothing.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// The folder of the session that started this process, if its client says one; `variable` reads the environment.
pub fn of_session(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let said = variable("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    said.filter(|folder| folder.is_dir()).or_else(|| of_copilot(&variable).filter(|folder| folder.is_dir()))
}

/// Copilot CLI starts the servers of a plugin in the plugin's folder and tells them the session's id alone; the folder
/// stands in its own file of that session.
fn of_copilot(variable: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    variable("COPILOT_PLUGIN_ROOT")?;
    let session = variable("COPILOT_AGENT_SESSION_ID")?.into_string().ok()?;
    if session.is_empty() || !session.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-') {
        return None;
    }
    let home = match variable("COPILOT_HOME") {
        Some(home) => PathBuf::from(home),
        None => PathBuf::from(variable("HOME").or_else(|| variable("USERPROFILE"))?).join(".copilot"),
    };
    let file = home.join("session-state").join(session).join("workspace.yaml");
    let text = fs::read_to_string(file).ok()?;
    // A path that YAML has to quote is not read: half of it would be another folder.
    text.lines().find_map(|line| line.strip_prefix("cwd: ")).map(PathBuf::from)
}
