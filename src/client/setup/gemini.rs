//! Gemini CLI's files.

use serde_json::{Value, json};

use crate::client::setup::{AGENTS_FILE, Change, Request, edit_json};

/// When it calls us. Not before it compresses: it says so with every turn, and does not let itself be kept from it.
pub const EVENTS: [&str; 4] = ["SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"];

/// What is written for it.
pub fn changes(request: &Request<'_>) -> Vec<Change> {
    let settings = settings(request);
    let mut entry = request.server.entry();
    // It takes what looks like a credential out of a server's environment, unless the entry names it.
    for name in &request.server.variables {
        entry["env"][name] = json!(format!("${name}"));
    }
    let mut changes = request.shared_skills();
    changes.push(request.hooks(settings.clone(), &EVENTS, &[("name", json!("heyaira")), ("timeout", json!(10_000))]));
    changes.push(request.json(settings, "mcpServers", entry));
    changes
}

fn settings(request: &Request<'_>) -> std::path::PathBuf {
    request.either(|places| places.gemini.join("settings.json"), &[".gemini", "settings.json"])
}

/// AGENTS.md for everyone, and what it reads itself: GEMINI.md, unless its settings name others.
pub fn context_files(request: &Request<'_>) -> Vec<String> {
    let of_project = request.root().join(".gemini").join("settings.json");
    let texts = [of_project, request.places.gemini.join("settings.json")];
    let named = texts.iter().find_map(|path| named_in(&edit_json::value(&(request.read)(path)?)?));
    let named = named.unwrap_or_else(|| vec!["GEMINI.md".to_owned()]);
    let mut files = vec![AGENTS_FILE.to_owned()];
    if !named.iter().any(|name| name == AGENTS_FILE) {
        files.extend(named.into_iter().next());
    }
    files
}

/// `context.fileName`, a name or a list of them.
fn named_in(settings: &Value) -> Option<Vec<String>> {
    let named = settings.get("context")?.get("fileName")?;
    let names = named.as_array().cloned().unwrap_or_else(|| vec![named.clone()]);
    // A name alone: a path would lead out of the repository.
    let names: Vec<String> =
        names.iter().filter_map(Value::as_str).filter(|name| !name.contains(['/', '\\'])).map(str::to_owned).collect();
    (!names.is_empty()).then_some(names)
}
