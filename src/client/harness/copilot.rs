//! GitHub Copilot CLI: `copilot` with its standard input as the prompt. Servers are turned off by their names.

use serde::Deserialize;

use crate::client::harness::events::{Events, error, message};
use crate::client::harness::options::{Options, Refused};
use crate::client::harness::{Launch, Told, Wanted, servers};
use crate::client::transcript::Environment;
use crate::error::Result;

/// What the run itself says.
pub(super) const REFUSED: [Refused; 4] = [
    Refused::by_stream(&["--output-format", "-s", "--silent", "--acp"]),
    Refused::by_resume(&["-r", "--resume", "--continue", "--session-id", "--connect"]),
    Refused::by_worktree(&["-C"]),
    Refused::by_brief(&["-p", "--prompt", "-i", "--interactive"]),
];

pub(super) fn launch(wanted: &Wanted<'_>, environment: &Environment<'_>) -> Result<Launch> {
    let mut options = Options::new(wanted.extra);
    options.refuse(&REFUSED);
    options.add("--output-format=json");
    let all = ["--allow-all", "--yolo", "--assisted-approval"];
    options.add_unless(&[&all[..], &["--allow-all-tools", "--allow-tool"]].concat(), "--allow-all-tools");
    // What a commit writes is outside of the worktree.
    options.add_unless(&[&all[..], &["--allow-all-paths", "--add-dir"]].concat(), "--allow-all-paths");
    options.add_unless(&["--no-ask-user"], "--no-ask-user");
    options.add_unless(&["--disable-builtin-mcps"], "--disable-builtin-mcps");
    match servers::of_copilot(environment) {
        Ok(names) => names.iter().for_each(|name| options.add(format!("--disable-mcp-server={name}"))),
        Err(problem) => options.problem(problem),
    }
    if let Some(model) = wanted.model {
        options.add_unless(&["--model"], format!("--model={model}"));
    }
    options.launch_with_id("copilot", wanted)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    session_id: Option<String>,
    exit_code: Option<i64>,
    data: Option<Data>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    copilot_version: Option<String>,
    model: Option<String>,
    content: Option<String>,
    message: Option<String>,
    status_code: Option<i64>,
    error_type: Option<String>,
    tool_call_id: Option<String>,
    tool_name: Option<String>,
    parent_tool_call_id: Option<String>,
    error: Option<ToolError>,
}

#[derive(Deserialize)]
struct ToolError {
    code: Option<String>,
    message: Option<String>,
}

impl ToolError {
    /// A tool that may not be used, or is not there.
    fn is_denial(&self) -> bool {
        let message = self.message.as_deref().unwrap_or_default();
        matches!(self.code.as_deref(), Some("denied" | "rejected"))
            || (message.starts_with("Tool '") && message.ends_with("' does not exist."))
    }
}

pub(super) fn take(event: Event, events: &mut Events, told: &mut Told) {
    if event.kind.as_deref() == Some("result") {
        told.session_id = event.session_id.or(told.session_id.take());
        told.is_complete = event.exit_code == Some(0);
        return;
    }
    let Some(data) = event.data else {
        return;
    };
    match event.kind.as_deref() {
        Some("session.start") => told.version = data.copilot_version,
        Some("assistant.message") if data.parent_tool_call_id.is_none() => {
            told.model = data.model.or(told.model.take());
            told.model_failed = false;
            message(told, data.content.unwrap_or_default());
        }
        Some("session.error") => {
            told.model_failed = data.status_code.is_some() || data.error_type.as_deref() == Some("query");
            data.message.iter().for_each(|problem| error(told, problem));
        }
        Some("tool.execution_start") => {
            // The end of a call does not name its tool.
            if let (Some(id), Some(name)) = (data.tool_call_id, data.tool_name) {
                events.calling(id, name);
            }
        }
        Some("tool.execution_complete") => {
            let tool = data.tool_call_id.as_deref().and_then(|id| events.called(id)).or(data.tool_name);
            if data.error.is_some_and(|error| error.is_denial()) {
                events.denied(tool, data.tool_call_id.as_deref(), told);
            }
        }
        _ => {}
    }
}
