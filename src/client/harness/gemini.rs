//! Gemini CLI: it reads the brief, and works without a person when its standard input is none. Its exit code is 1 for a
//! failure, 42 for a call that it does not take, 53 for too many turns, and the status of the model's interface.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::client::harness::events::{Events, Problem, error, message, piece};
use crate::client::harness::options::{Options, Refused};
use crate::client::harness::{Launch, Told, Wanted};
use crate::domain::run::Exit;
use crate::economics::Usage;
use crate::error::Result;

/// Only servers of that name are used, and none has it: an empty list is refused, and none at all means all of them.
const NO_SERVER: &str = "--allowed-mcp-server-names=none-in-a-run";

/// What the run itself says.
pub(super) const REFUSED: [Refused; 4] = [
    Refused::by_stream(&["-o", "--output-format", "--acp", "--experimental-acp"]),
    Refused::by_resume(&["-r", "--resume", "--session-id", "--session-file"]),
    Refused::by_worktree(&["-w", "--worktree"]),
    Refused::by_brief(&["-p", "--prompt", "-i", "--prompt-interactive"]),
];

pub(super) fn launch(wanted: &Wanted<'_>) -> Result<Launch> {
    let mut options = Options::new(wanted.extra);
    options.refuse(&REFUSED);
    options.add("--output-format=stream-json");
    options.add_unless(&["--approval-mode", "-y", "--yolo"], "--approval-mode=yolo");
    // A folder that nobody trusted yet has neither tools nor its own settings.
    options.add_unless(&["--skip-trust"], "--skip-trust");
    options.add_unless(&["--allowed-mcp-server-names"], NO_SERVER);
    if let Some(model) = wanted.model {
        options.add_unless(&["-m", "--model"], format!("--model={model}"));
    }
    options.launch_with_id("gemini", wanted)
}

#[derive(Deserialize)]
pub(super) struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    session_id: Option<String>,
    model: Option<String>,
    role: Option<String>,
    content: Option<String>,
    tool_id: Option<String>,
    tool_name: Option<String>,
    status: Option<String>,
    error: Option<Problem>,
    message: Option<String>,
    stats: Option<Stats>,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(default)]
    models: BTreeMap<String, Counts>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Counts {
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
    cached: u64,
}

impl Counts {
    /// Input counts what was cached too; thoughts are in the total alone.
    fn usage(&self) -> Usage {
        Usage {
            input: self.input_tokens.saturating_sub(self.cached),
            cache_read: self.cached,
            output: self.output_tokens.max(self.total_tokens.saturating_sub(self.input_tokens)),
            ..Usage::default()
        }
    }
}

pub(super) fn take(event: Event, events: &mut Events, told: &mut Told) {
    match event.kind.as_deref() {
        Some("init") => {
            told.session_id = event.session_id.or(told.session_id.take());
            // Without a choice it names no model.
            told.model = event.model.filter(|model| model != "auto");
        }
        Some("message") if event.role.as_deref() == Some("assistant") => {
            piece(&mut events.message, event.content.as_deref().unwrap_or_default());
            message(told, events.message.clone());
        }
        Some("message") => events.message.clear(),
        Some("tool_use") => {
            events.message.clear();
            // The end of a call does not name its tool.
            if let (Some(id), Some(name)) = (event.tool_id, event.tool_name) {
                events.calling(id, name);
            }
        }
        Some("tool_result") => refused(&event, events, told),
        Some("error") => {
            let text = event.message.as_deref().or(event.error.as_ref().and_then(Problem::text));
            error(told, text.unwrap_or_default());
        }
        Some("result") => result(&event, told),
        _ => {}
    }
}

/// A result of a tool that says that it may not be used, or that there is none.
fn refused(event: &Event, events: &mut Events, told: &mut Told) {
    let id = event.tool_id.as_deref();
    let tool = id.and_then(|id| events.called(id));
    let problem = event.error.as_ref();
    let text = problem.and_then(Problem::text).unwrap_or_default();
    let kinds = ["policy_violation", "tool_not_registered", "path_not_in_workspace"];
    let is_denied = problem.and_then(Problem::kind).is_some_and(|kind| kinds.contains(&kind))
        || text.starts_with("Path not in workspace")
        || text.contains("requires user confirmation");
    if event.status.as_deref() == Some("error") && is_denied {
        events.denied(tool, id, told);
    }
}

/// The counts are those of this run, of a session that had begun before too.
fn result(event: &Event, told: &mut Told) {
    let is_success = event.status.as_deref() == Some("success");
    let problem = event.error.as_ref().and_then(Problem::text).unwrap_or_default();
    error(told, problem);
    told.model_failed = !is_success && problem.contains("API Error");
    told.is_complete = is_success;
    let models = event.stats.as_ref().map(|stats| &stats.models);
    let all = models.into_iter().flat_map(BTreeMap::values).map(Counts::usage);
    told.usage = all.reduce(Usage::plus).filter(|usage| *usage != Usage::default());
    let most = models.into_iter().flatten().max_by_key(|(_, counts)| counts.total_tokens);
    told.model = most.map(|(model, _)| model.clone()).or(told.model.take());
}

/// Too many turns are an end of its own.
pub(super) fn ended(exit: Exit, told: &mut Told) {
    if exit.code == Some(53) && !told.model_failed {
        told.is_complete = true;
    }
}
