//! `OpenCode`'s files.

use std::path::PathBuf;

use serde_json::json;

use crate::client::setup::edit::Edit;
use crate::client::setup::{Change, Part, Request, Scope};
use crate::client::skills;

/// What is written for it.
pub fn changes(request: &Request<'_>) -> Vec<Change> {
    let plugin = request
        .either(|places| places.opencode.join("plugin").join("heyaira.js"), &[".opencode", "plugin", "heyaira.js"]);
    let command: Vec<String> = std::iter::once(request.server.program.clone()).chain(request.server.words()).collect();
    let mut changes = request.shared_skills();
    let text = skills::opencode_plugin(&request.server.hook_words(request.client.name()));
    changes.push(request.change(Part::Hooks, plugin, Edit::Whole { text, replaces: false }));
    changes.push(request.json(config(request), "mcp", json!({"type": "local", "command": command, "enabled": true})));
    changes
}

/// It reads both spellings; the one that is there is used.
fn config(request: &Request<'_>) -> PathBuf {
    let folder = request.either(|places| places.opencode.clone(), &[]);
    let usual = if request.scope == Scope::User { "opencode.jsonc" } else { "opencode.json" };
    let found =
        ["opencode.jsonc", "opencode.json"].into_iter().find(|name| (request.read)(&folder.join(name)).is_some());
    folder.join(found.unwrap_or(usual))
}
