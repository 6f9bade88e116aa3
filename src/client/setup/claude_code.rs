//! Claude Code's files.

use serde_json::json;

use crate::client::setup::{AGENTS_FILE, Change, Request};

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

/// AGENTS.md, and its own document where the repository has one that does not take AGENTS.md in: then it reads that alone.
pub fn context_files(request: &Request<'_>) -> Vec<String> {
    let own = ["CLAUDE.md", "CLAUDE.local.md"];
    let texts = own.map(|name| (request.read)(&request.root().join(name)));
    let takes_in = texts.iter().flatten().any(|text| text.contains(&format!("@{AGENTS_FILE}")));
    let mut files = vec![AGENTS_FILE.to_owned()];
    let found = own.into_iter().zip(&texts).find(|(_, text)| text.is_some());
    files.extend(found.filter(|_| !takes_in).map(|(name, _)| name.to_owned()));
    files
}
