//! Codex's files.

use serde_json::json;

use crate::client::setup::edit::Edit;
use crate::client::setup::{AGENTS_FILE, Change, Part, Request, server};

/// When it calls us, once the person has trusted the hooks.
pub const EVENTS: [&str; 5] = ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"];

/// What is written for it.
pub fn changes(request: &Request<'_>) -> Vec<Change> {
    let hooks = request.either(|places| places.codex.join("hooks.json"), &[".codex", "hooks.json"]);
    let config = request.either(|places| places.codex.join("config.toml"), &[".codex", "config.toml"]);
    // Its models defer the tools of servers: they see the first line of the instructions, and look the tools up. Showing
    // them at once, by `omit_tools_from`, more than doubles what every session reads.
    let mut entry = request.server.entry();
    // It hands servers none of its environment by itself.
    if !request.server.variables.is_empty() {
        entry["env_vars"] = json!(request.server.variables);
    }
    let at = vec!["mcp_servers".to_owned(), server::NAME.to_owned()];
    let mut changes = request.shared_skills();
    // It cuts a longer one to this at the end of a session, and says so in every session.
    changes.push(request.hooks(hooks, &EVENTS, &[("timeout", json!(3))]));
    changes.push(request.change(Part::Server, config, Edit::Toml { at, entry }));
    changes
}

/// AGENTS.md, and what goes before it where the repository has one: then it reads that alone.
pub fn context_files(request: &Request<'_>) -> Vec<String> {
    const OVERRIDE: &str = "AGENTS.override.md";
    let is_there = (request.read)(&request.root().join(OVERRIDE)).is_some();
    std::iter::once(AGENTS_FILE).chain(is_there.then_some(OVERRIDE)).map(str::to_owned).collect()
}
