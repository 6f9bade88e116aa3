//! Claude Code's files.

use serde_json::json;

use crate::client::setup::{Change, Request};

/// When it calls us.
pub const EVENTS: [&str; 5] = ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"];

/// What is written for it.
pub fn changes(request: &Request<'_>) -> Vec<Change> {
    let settings = request.either(|places| places.claude.join("settings.json"), &[".claude", "settings.json"]);
    let servers = request.either(|places| places.claude_state.clone(), &[".mcp.json"]);
    let skills = request.either(|places| places.claude.join("skills"), &[".claude", "skills"]);
    let mut changes = request.skills(&skills);
    changes.push(request.hooks(settings, &EVENTS, &[("timeout", json!(10))]));
    // The three tools of a resume say themselves that they are always to be shown.
    changes.push(request.json(servers, "mcpServers", request.server.typed_entry("stdio")));
    changes
}
