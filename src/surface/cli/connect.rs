//! The lines that connect each client. Must never hold a token: a line that is copied ends in shell histories and chats.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::client::setup::server::shell_word;
use crate::store::backend::Database;

/// A client, and the command that connects it.
pub type Line = (&'static str, String);

/// Over standard input and output: the client starts the server itself. To be run in the repository.
pub fn stdio(project: &str, database: &Database) -> Vec<Line> {
    let database = named_file(database)
        .map(|path| format!(" --database {}", shell_word(&path.display().to_string())))
        .unwrap_or_default();
    let program = program();
    let set_up =
        |client: Client| (client.title(), format!("{program} setup {} --project {project}{database}", client.name()));
    let other = ("any other", format!("{program} mcp --project {project}{database}"));
    Client::ALL.into_iter().map(set_up).chain([other]).collect()
}

/// The file of the database, unless it is the default one.
///
/// A client starts the server with an environment of its own, so the file is named. A server's URL may hold a password, so
/// it is left to `HEYAIRA_DATABASE` in the client's environment.
pub fn named_file(database: &Database) -> Option<PathBuf> {
    let is_flag = |word: OsString| word.to_string_lossy().starts_with("--database");
    let named = std::env::var_os("HEYAIRA_DATABASE").is_some() || std::env::args_os().any(is_flag);
    database.file().filter(|_| named).and_then(|file| std::path::absolute(file).ok())
}

/// What must be there for those lines to lead to this database.
pub fn needed(database: &Database) -> Option<&'static str> {
    database.file().is_none().then_some(
        "These lines do not hold the URL of the database, which may have a password in it: set HEYAIRA_DATABASE in the \
         environment that the client starts its servers with. Without it they use the file of this machine.",
    )
}

/// Over HTTP: the token is read from its file when the line is run.
pub fn http(url: &str, token: &Path) -> Vec<Line> {
    let file = shell_word(&token.display().to_string());
    let header = format!("\"Authorization: Bearer $(cat {file})\"");
    vec![
        ("Claude Code", format!("claude mcp add --transport http heyaira {url} --header {header}")),
        (
            "Codex",
            format!(
                "codex mcp add heyaira --url {url} --bearer-token-env-var HEYAIRA_TOKEN   # with HEYAIRA_TOKEN=$(cat {file})"
            ),
        ),
        ("Gemini CLI", format!("gemini mcp add --transport http heyaira {url} --header {header}")),
        ("OpenCode", format!("opencode mcp add heyaira --url {url} --header \"Authorization=Bearer $(cat {file})\"")),
        ("any other", format!("{url} with the header {header}")),
    ]
}

/// The lines by client.
pub fn as_json(lines: &[Line]) -> Value {
    Value::Object(lines.iter().map(|(client, line)| ((*client).to_owned(), json!(line))).collect::<Map<_, _>>())
}

/// The lines to be read and copied.
pub fn as_text(lines: &[Line]) -> String {
    lines.iter().map(|(client, line)| format!("  {client}: {line}\n")).collect()
}

/// This program, as a shell finds it from anywhere.
pub fn program() -> String {
    std::env::current_exe().map_or_else(|_| "heyaira".to_owned(), |path| shell_word(&path.display().to_string()))
}
