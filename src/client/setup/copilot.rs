//! Copilot CLI's files.

use serde_json::{Value, json};

use crate::client::setup::edit::Edit;
use crate::client::setup::{Change, Part, Request};

/// When it calls us.
pub const EVENTS: [&str; 5] = ["sessionStart", "userPromptSubmitted", "agentStop", "preCompact", "sessionEnd"];

/// What is written for it.
pub fn changes(request: &Request<'_>) -> Vec<Change> {
    let servers = request.either(|places| places.copilot.join("mcp-config.json"), &[".github", "mcp.json"]);
    let hooks = request
        .either(|places| places.copilot.join("hooks").join("heyaira.json"), &[".github", "hooks", "heyaira.json"]);
    let mut changes = request.shared_skills();
    let text = hooks_file(&request.server.hook(request.client.name()));
    changes.push(request.change(Part::Hooks, hooks, Edit::Whole { text, replaces: false }));
    let mut entry = request.server.typed_entry("local");
    entry["tools"] = json!(["*"]);
    changes.push(request.json(servers, "mcpServers", entry));
    changes
}

/// A file of hooks that is ours alone.
fn hooks_file(command: &str) -> String {
    let handler = json!([{"type": "command", "bash": command, "powershell": command, "timeoutSec": 10}]);
    let events: serde_json::Map<String, Value> =
        EVENTS.iter().map(|event| ((*event).to_owned(), handler.clone())).collect();
    let file = json!({"version": 1, "hooks": events});
    format!("{}\n", serde_json::to_string_pretty(&file).unwrap_or_default())
}
