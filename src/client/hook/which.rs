//! Which client really called: one plugin is read by several, and all of them call the same hook. Must never believe the
//! environment over the input: a client that was started in another one has both of their variables.

use std::path::Path;

use serde_json::{Map, Value};

use super::Variable;
use super::input::text;
use crate::client::Client;

/// The client that gave this input to a hook that was set up for `named`.
pub(super) fn client(fields: &Map<String, Value>, named: Client, variable: Variable<'_>) -> Client {
    // Only what is written in the form of Claude Code is read by others.
    if named != Client::ClaudeCode {
        return named;
    }
    of_shape(fields)
        .or_else(|| of_session(fields, variable))
        .or_else(|| of_transcript(fields))
        .or_else(|| of_id(fields))
        .or_else(|| of_environment(variable))
        .unwrap_or(named)
}

/// By fields that one client alone has.
fn of_shape(fields: &Map<String, Value>) -> Option<Client> {
    let has = |name: &str| fields.contains_key(name);
    if has("cursor_version") || has("conversation_id") {
        return Some(Client::Cursor);
    }
    if has("hookEventName") {
        return Some(Client::VsCode);
    }
    if has("sessionId") || has("initial_prompt") {
        return Some(Client::Copilot);
    }
    let is_start = text(fields, &["hook_event_name"]) == Some("SessionStart");
    if has("turn_id") || (is_start && has("permission_mode")) {
        return Some(Client::Codex);
    }
    (has("prompt_id") || has("seconds_since_last_response") || has("effort")).then_some(Client::ClaudeCode)
}

/// By the session that a variable names: it is this one's only in its own client.
fn of_session(fields: &Map<String, Value>, variable: Variable<'_>) -> Option<Client> {
    let session = text(fields, &["session_id"])?;
    let is_this = |name: &str| variable(name).is_some_and(|value| value == session);
    let variables = [
        ("CLAUDE_CODE_SESSION_ID", Client::ClaudeCode),
        ("CODEX_SESSION_ID", Client::Codex),
        ("COPILOT_AGENT_SESSION_ID", Client::Copilot),
        ("GEMINI_SESSION_ID", Client::Gemini),
    ];
    variables.into_iter().find(|(name, _)| is_this(name)).map(|(_, client)| client)
}

/// By where the transcript is: what each calls it, wherever its folder was moved to.
fn of_transcript(fields: &Map<String, Value>) -> Option<Client> {
    let path = Path::new(text(fields, &["transcript_path"])?);
    let name = path.file_name()?.to_string_lossy();
    let session = text(fields, &["session_id"])?;
    if name.starts_with("rollout-") {
        return Some(Client::Codex);
    }
    if name == "events.jsonl" {
        return Some(Client::Copilot);
    }
    (name == format!("{session}.jsonl")).then_some(Client::ClaudeCode)
}

/// By the form of its ids: those of Codex begin with a time, those of the others are random.
fn of_id(fields: &Map<String, Value>) -> Option<Client> {
    let id = uuid::Uuid::parse_str(text(fields, &["session_id"])?).ok()?;
    (id.get_version_num() == 7).then_some(Client::Codex)
}

/// By the variables that each gives its hooks. One inside another has the outer one's too: those come last that are
/// also given to commands of the client's tools.
fn of_environment(variable: Variable<'_>) -> Option<Client> {
    let marks = [
        ("COPILOT_HOOK_DIR", Client::Copilot),
        ("COPILOT_PLUGIN_ROOT", Client::Copilot),
        ("CODEX_MANAGED_BY_NPM", Client::Codex),
        ("CODEX_MANAGED_PACKAGE_ROOT", Client::Codex),
        ("PLUGIN_ROOT", Client::Codex),
        ("CLAUDE_PID", Client::ClaudeCode),
        ("COPILOT_CLI", Client::Copilot),
    ];
    marks.into_iter().find(|(name, _)| variable(name).is_some()).map(|(_, client)| client)
}
