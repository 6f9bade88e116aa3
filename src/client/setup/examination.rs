//! How a client's set-up stands, by its files: what is there, what is older than this program, what is there twice.
//! Must never change a file, nor tell what others keep in one.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::client::Client;
use crate::client::place::Places;
use crate::client::setup::edit::{Edit, Present};
use crate::client::setup::server::{command_of, is_ours};
use crate::client::setup::{Change, Part, edit_hooks, edit_json, edit_toml, edit_yaml};

/// How one part stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Nothing of it is there.
    Absent,
    /// It is there, and a set-up would change it.
    Older,
    /// It is there as a set-up would write it.
    Current,
}

/// A part of the set-up as it stands.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which part.
    pub part: Part,
    /// The worst of its files.
    pub standing: Standing,
    /// The first of its files.
    pub path: PathBuf,
    /// The command of the entry that starts the server, if it is ours.
    pub command: Vec<String>,
}

/// The parts of a plan as they stand now.
pub fn examine(changes: &[Change]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for change in changes {
        let text = fs::read_to_string(&change.path).ok();
        let text = text.as_deref().map(|text| text.trim_start_matches('\u{feff}'));
        let standing = standing(&change.edit, text);
        let command = text.map(|text| our_command(&change.edit, text)).unwrap_or_default();
        match found.iter_mut().find(|one| one.part == change.part) {
            Some(one) => one.standing = one.standing.min(standing),
            None => found.push(Found { part: change.part, standing, path: change.path.clone(), command }),
        }
    }
    found
}

fn standing(edit: &Edit, text: Option<&str>) -> Standing {
    let Some(text) = text else { return Standing::Absent };
    if edit.put(Present { text: Some(text), ..Present::default() }).is_ok_and(|put| put == text) {
        return Standing::Current;
    }
    match edit {
        Edit::Whole { .. } => Standing::Older,
        // What can be taken out is there.
        _ if edit.take_out(text, None).is_ok_and(|rest| rest.as_deref() != Some(text)) => Standing::Older,
        _ => Standing::Absent,
    }
}

/// The command that an entry starts, if it starts `heyaira mcp`.
fn our_command(edit: &Edit, text: &str) -> Vec<String> {
    let entry = match edit {
        Edit::Json { at, .. } => edit_json::value(text).and_then(|whole| edit_json::lookup(&whole, at).cloned()),
        Edit::Toml { at, .. } => edit_toml::entry(text, at),
        Edit::Yaml { list, name, .. } => edit_yaml::entry(text, list, name),
        Edit::Hooks { .. } | Edit::Block { .. } | Edit::Whole { .. } => None,
    };
    let ours = entry.filter(is_ours);
    ours.iter().flat_map(|entry| command_of(entry)).map(str::to_owned).collect()
}

/// Our plugin, as a client says that it is installed in it.
#[derive(Clone, Debug)]
pub struct Plugin {
    /// Where the client says so.
    pub path: PathBuf,
    /// Its version, where that stands there too.
    pub version: Option<String>,
    /// The command that takes it out.
    pub removal: String,
}

/// Our plugin in a client, if it is installed there.
pub fn plugin(client: Client, places: &Places) -> Option<Plugin> {
    let (path, way): (PathBuf, &[&str]) = match client {
        Client::ClaudeCode => (places.claude.join("plugins").join("installed_plugins.json"), &["plugins"]),
        Client::Copilot => (places.copilot.join("settings.json"), &["enabledPlugins"]),
        Client::Codex => (places.codex.join("config.toml"), &["plugins"]),
        Client::Gemini => {
            let folder = places.gemini.join("extensions").join("heyaira");
            return folder.is_dir().then(|| extension(folder));
        }
        _ => return None,
    };
    let way: Vec<String> = way.iter().map(|&name| name.to_owned()).collect();
    let text = fs::read_to_string(&path).ok()?;
    let list = match client {
        Client::Codex => edit_toml::entry(&text, &way)?,
        _ => edit_json::lookup(&edit_json::value(&text)?, &way)?.clone(),
    };
    let is_off = |value: &Value| *value == false || value["enabled"] == false;
    let installed = |(name, value): (&String, &Value)| name.starts_with("heyaira@") && !is_off(value);
    let (name, told) = list.as_object()?.iter().find(|one| installed(*one))?;
    let program = client.program().unwrap_or_default();
    let verb = if client == Client::Codex { "remove" } else { "uninstall" };
    let version = told[0]["version"].as_str().map(str::to_owned);
    Some(Plugin { path, version, removal: format!("{program} plugin {verb} {name}") })
}

/// An extension of Gemini CLI; one that is linked stands elsewhere.
fn extension(folder: PathBuf) -> Plugin {
    let read = |path: PathBuf| edit_json::value(&fs::read_to_string(path).ok()?);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let source = read(folder.join(".gemini-extension-install.json")).and_then(|told| text(&told["source"]));
    let places = [Some(folder.clone()), source.map(PathBuf::from)];
    let told = places.into_iter().flatten().find_map(|place| read(place.join("gemini-extension.json")));
    let version = told.and_then(|told| text(&told["version"]));
    Plugin { path: folder, version, removal: "gemini extensions uninstall heyaira".to_owned() }
}

/// How many of our hooks in that file Codex has not been told to trust. It keeps a hash for each handler by its place.
pub fn untrusted_hooks(places: &Places, hooks: &Path) -> usize {
    let at = ["hooks".to_owned(), "state".to_owned()];
    let state = fs::read_to_string(places.codex.join("config.toml")).ok().and_then(|text| edit_toml::entry(&text, &at));
    let state = state.unwrap_or_default();
    let real = fs::canonicalize(hooks).unwrap_or_else(|_| hooks.to_owned());
    let is_trusted = |handler: &String| {
        let keys = [hooks, &real].map(|path| format!("{}:{handler}", path.display()));
        keys.iter().any(|key| state[key]["trusted_hash"].is_string())
    };
    let text = fs::read_to_string(hooks).unwrap_or_default();
    edit_hooks::places(&text).iter().filter(|handler| !is_trusted(handler)).count()
}
