//! Gemini CLI: it reads the brief, and works without a person when its standard input is none. Its exit code is 1 for a
//! failure, 42 for a call that it does not take, 53 for too many turns, and the status of the model's interface.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::client::harness::events::{Events, Problem, error, message, piece};
use crate::client::harness::options::{BY_BRIEF, BY_RESUME, BY_STREAM, BY_WORKTREE, Options};
use crate::client::harness::{Input, Launch, Told, Wanted};
use crate::domain::run::Exit;
use crate::economics::Usage;
use crate::error::Result;

/// Only servers of that name are used, and none has it: an empty list is refused, and none at all means all of them.
const NO_SERVER: &str = "--allowed-mcp-server-names=none-in-a-run";

pub(super) fn launch(wanted: &Wanted<'_>) -> Result<Launch> {
    let mut options = Options::new(wanted.extra);
    options.refuse(&["-o", "--output-format", "--acp", "--experimental-acp"], BY_STREAM);
    options.refuse(&["-r", "--resume", "--session-id", "--session-file"], BY_RESUME);
    options.refuse(&["-w", "--worktree"], BY_WORKTREE);
    options.refuse(&["-p", "--prompt", "-i", "--prompt-interactive"], BY_BRIEF);
    options.add("--output-format=stream-json");
    options.add_unless(&["--approval-mode", "-y", "--yolo"], "--approval-mode=yolo");
    // A folder that nobody trusted yet has neither tools nor its own settings.
    options.add_unless(&["--skip-trust"], "--skip-trust");
    options.add_unless(&["--allowed-mcp-server-names"], NO_SERVER);
    if let Some(model) = wanted.model {
        options.add_unless(&["-m", "--model"], format!("--model={model}"));
    }
    options.add(match wanted.resume {
        Some(id) => format!("--resume={id}"),
        None => format!("--session-id={}", wanted.session_id),
    });
    Ok(Launch {
        program: "gemini".into(),
        arguments: options.finish()?,
        environment: Vec::new(),
        input: Input::Brief,
        session_id: Some(wanted.resume.unwrap_or(wanted.session_id).to_owned()),
    })
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
        Some("message" | "tool_use") => events.message.clear(),
        Some("tool_result") => refused(event, events, told),
        Some("error") => {
            let text = event.message.as_deref().or(event.error.as_ref().and_then(Problem::text));
            error(told, text.unwrap_or_default());
        }
        Some("result") => result(&event, told),
        _ => {}
    }
}

/// A result of a tool that says that it may not be used.
fn refused(event: Event, events: &mut Events, told: &mut Told) {
    let text = event.error.as_ref().and_then(Problem::text).unwrap_or_default();
    let is_denied = text.contains("denied by policy") || text.contains("requires user confirmation");
    if event.status.as_deref() == Some("error") && is_denied {
        // The name of the tool is a part of the call's id.
        let id = event.tool_id.as_deref();
        let named = id.and_then(|id| id.split("__").next()).map(str::to_owned);
        events.denied(event.tool_name.or(named), id, told);
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
