//! What a person has told a client that it may do: trust a folder, call our tools without asking. Read from the client's
//! own files; must never change them, as that is the person's to say.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::client::Client;
use crate::client::place::Places;
use crate::client::setup::{edit_json, edit_toml};

/// True if the client starts what stands in this folder, as far as its files tell; a client that asks no such thing always
/// does. `variable` reads the environment.
pub fn trusts(client: Client, places: &Places, folder: &Path, variable: impl Fn(&str) -> Option<String>) -> bool {
    match client {
        Client::Gemini => {
            variable("GEMINI_CLI_TRUST_WORKSPACE").as_deref() == Some("true") || gemini_trusts(places, folder)
        }
        Client::Codex => codex_trusts(places, folder),
        Client::Copilot => copilot_trusts(places, folder),
        _ => true,
    }
}

/// The longest path that holds the folder decides; `TRUST_PARENT` speaks for the folder around its path.
fn gemini_trusts(places: &Places, folder: &Path) -> bool {
    let settings = json(&places.gemini.join("settings.json"));
    if settings.is_some_and(|settings| settings["security"]["folderTrust"]["enabled"] == false) {
        return true;
    }
    let Some(Value::Object(rules)) = json(&places.gemini.join("trustedFolders.json")) else { return false };
    let speaks = rules.iter().filter_map(|(path, word)| {
        let path = Path::new(path);
        let path = if word == "TRUST_PARENT" { path.parent()? } else { path };
        holds(path, folder).then(|| (path.components().count(), word != "DO_NOT_TRUST"))
    });
    speaks.max_by_key(|(length, _)| *length).is_some_and(|(_, trusted)| trusted)
}

fn codex_trusts(places: &Places, folder: &Path) -> bool {
    let text = fs::read_to_string(places.codex.join("config.toml")).unwrap_or_default();
    let Some(Value::Object(projects)) = edit_toml::entry(&text, &["projects".to_owned()]) else { return false };
    projects.iter().any(|(path, told)| told["trust_level"] == "trusted" && is_same(Path::new(path), folder))
}

fn copilot_trusts(places: &Places, folder: &Path) -> bool {
    let told = json(&places.copilot.join("config.json")).unwrap_or_default();
    let folders = told["trustedFolders"].as_array().cloned().unwrap_or_default();
    folders.iter().filter_map(Value::as_str).any(|path| holds(Path::new(path), folder))
}

/// True if the client asks before it calls a tool of ours, and can be told once not to.
pub fn asks_for_tools(client: Client, places: &Places, root: Option<&Path>) -> bool {
    match client {
        Client::ClaudeCode => {
            let of_person = places.claude.join("settings.json");
            let of_project = ["settings.json", "settings.local.json"];
            let of_project = root.into_iter().flat_map(|root| of_project.map(|name| root.join(".claude").join(name)));
            !of_project.chain([of_person]).filter_map(|path| json(&path)).any(|settings| allows(&settings))
        }
        Client::Gemini => {
            let of_project = root.map(|root| root.join(".gemini").join("settings.json"));
            let files = of_project.into_iter().chain([places.gemini.join("settings.json")]);
            !files.filter_map(|path| json(&path)).any(|settings| settings["mcpServers"]["heyaira"]["trust"] == true)
        }
        _ => false,
    }
}

/// True if Claude Code's settings let it call every tool of ours.
fn allows(settings: &Value) -> bool {
    let allowed = settings["permissions"]["allow"].as_array().cloned().unwrap_or_default();
    allowed.iter().any(|rule| rule == "mcp__heyaira" || rule == "mcp__heyaira__*")
}

fn json(path: &Path) -> Option<Value> {
    edit_json::value(&fs::read_to_string(path).ok()?)
}

fn holds(path: &Path, folder: &Path) -> bool {
    folder.starts_with(path) || real(folder).starts_with(real(path))
}

fn is_same(path: &Path, folder: &Path) -> bool {
    path == folder || real(path) == real(folder)
}

fn real(path: &Path) -> std::path::PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
