//! The MCP servers that are set up for a client, for those that turn servers off by their names alone. Must never pass a
//! file over in silence: a server that stays on could write to a task.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::Value;
use toml::Table;

use crate::client::setup::server::NAME;
use crate::client::transcript::Environment;
use crate::domain::text::quoted;

/// A file's text; none where it is not there.
fn text_of(path: &Path) -> Result<Option<String>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> String {
    let path = quoted(&path.to_string_lossy(), 200);
    format!("{path} cannot be read ({error}), so that the MCP servers in it cannot be turned off for the run")
}

/// Those of Codex, each with its settings; and why some may be missing.
pub(super) fn of_codex(environment: &Environment<'_>) -> (BTreeMap<String, Table>, Vec<String>) {
    let home = environment.places().map(|places| places.codex);
    let own = home.iter().flat_map(|home| [home.join("config.toml"), home.join("managed_config.toml")]);
    let system = ["/etc/codex/config.toml", "/etc/codex/managed_config.toml"].map(PathBuf::from);
    let project = environment.folders().into_iter().map(|folder| folder.join(".codex/config.toml"));
    let (mut servers, mut problems) = (BTreeMap::new(), Vec::new());
    // The nearest says last what a server is.
    let mut paths: Vec<PathBuf> = project.collect();
    paths.reverse();
    for path in system.into_iter().chain(own).chain(paths) {
        match codex_file(&path) {
            Ok(found) => servers.extend(found),
            Err(problem) => problems.push(problem),
        }
    }
    (servers, problems)
}

fn codex_file(path: &Path) -> Result<Vec<(String, Table)>, String> {
    let Some(text) = text_of(path)? else {
        return Ok(Vec::new());
    };
    let settings: Table = toml::from_str(&text).map_err(|error| unreadable(path, &error.message()))?;
    let servers = settings.get("mcp_servers").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    Ok(servers.into_iter().filter_map(|(name, server)| Some((name, server.as_table()?.clone()))).collect())
}

/// Those of `OpenCode`, by name.
pub(super) fn of_opencode(environment: &Environment<'_>) -> Result<BTreeSet<String>, String> {
    const FILES: [&str; 3] = ["opencode.json", "opencode.jsonc", "config.json"];
    let home = environment.places().map(|places| places.opencode);
    let named = environment.named("OPENCODE_CONFIG_DIR");
    let project = environment.folders().into_iter().flat_map(|folder| [folder.to_owned(), folder.join(".opencode")]);
    let folders = home.into_iter().chain(named).chain(project);
    let files = folders.flat_map(|folder| FILES.map(|name| folder.join(name)));
    names(files.chain(environment.named("OPENCODE_CONFIG")), "mcp")
}

/// Those of Copilot CLI, by name.
pub(super) fn of_copilot(environment: &Environment<'_>) -> Result<BTreeSet<String>, String> {
    const FILES: [&str; 3] = [".mcp.json", ".github/mcp.json", ".vscode/mcp.json"];
    let home = environment.places().map(|places| places.copilot.join("mcp-config.json"));
    let project = environment.folders().into_iter().flat_map(|folder| FILES.map(|name| folder.join(name)));
    names(home.into_iter().chain(project), "mcpServers")
}

/// The names in files of JSON with comments, and our own, under which plugins bring us.
fn names(files: impl Iterator<Item = PathBuf>, key: &str) -> Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::from([NAME.to_owned()]);
    for path in files {
        let Some(text) = text_of(&path)? else {
            continue;
        };
        let settings = json(&text).map_err(|problem| unreadable(&path, &problem))?;
        names.extend(settings.get(key).and_then(Value::as_object).into_iter().flat_map(|all| all.keys().cloned()));
    }
    Ok(names)
}

/// JSON with comments, as several clients take it.
pub(super) fn json(text: &str) -> Result<Value, String> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
    Ok(root.to_serde_value().unwrap_or_default())
}
