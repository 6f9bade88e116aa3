//! `OpenCode`: `opencode run`. It tells no end: it ended well when its model's last step did, and its exit code is 0. A prompt
//! that is an argument would reach the model in quotes.

use std::ffi::OsString;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use crate::client::harness::events::{Events, Problem, error, message};
use crate::client::harness::options::{Options, Refused};
use crate::client::harness::{Launch, Told, Wanted, servers};
use crate::client::transcript::Environment;
use crate::client::transcript::opencode::Tokens;
use crate::domain::run::Exit;
use crate::error::Result;

/// Settings that win over those of files.
const SETTINGS: &str = "OPENCODE_CONFIG_CONTENT";

/// What the run itself says.
pub(super) const REFUSED: [Refused; 4] = [
    Refused::by_stream(&["--format", "-i", "--interactive", "--attach"]),
    Refused::by_resume(&["-s", "--session", "-c", "--continue", "--fork"]),
    Refused::by_worktree(&["--dir"]),
    Refused::by_brief(&["--command"]),
];

pub(super) fn launch(wanted: &Wanted<'_>, environment: &Environment<'_>) -> Result<Launch> {
    let mut options = Options::new(wanted.extra);
    options.refuse(&REFUSED);
    options.add("run");
    options.add("--format=json");
    // What would be asked is allowed. In settings that would be allowed too what the user's own refuse.
    options.add_unless(&["--auto"], "--auto");
    if let Some(model) = wanted.model {
        options.add_unless(&["-m", "--model"], format!("--model={model}"));
    }
    if let Some(id) = wanted.resume {
        options.add(format!("--session={id}"));
    }
    let settings = match settings(environment) {
        Ok(settings) => settings,
        Err(problem) => {
            options.problem(problem);
            Map::new()
        }
    };
    let environment = vec![(SETTINGS.to_owned(), OsString::from(Value::Object(settings).to_string()))];
    Ok(Launch { environment, ..Launch::of("opencode", options.finish()?, wanted.resume) })
}

/// The user's own settings of the environment, with every server turned off.
fn settings(environment: &Environment<'_>) -> Result<Map<String, Value>, String> {
    let own = (environment.variable)(SETTINGS).filter(|text| !text.trim().is_empty());
    let own = own.map_or(Ok(json!({})), |text| servers::json(&text));
    let own = own.map_err(|error| format!("{SETTINGS} of the environment is no JSON: {error}"))?;
    let Value::Object(mut settings) = own else {
        return Err(format!("{SETTINGS} of the environment is no object"));
    };
    let servers = settings.entry("mcp").or_insert_with(|| json!({}));
    let Some(servers) = servers.as_object_mut() else {
        return Err(format!("mcp in {SETTINGS} of the environment is no object"));
    };
    for name in servers::of_opencode(environment)? {
        servers.entry(name).or_insert_with(|| json!({}));
    }
    for server in servers.values_mut() {
        server["enabled"] = json!(false);
    }
    Ok(settings)
}

#[derive(Deserialize)]
pub(super) struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "sessionID")]
    session_id: Option<String>,
    part: Option<Part>,
    error: Option<Problem>,
}

#[derive(Deserialize)]
struct Part {
    id: Option<String>,
    text: Option<String>,
    tool: Option<String>,
    state: Option<State>,
    reason: Option<String>,
    tokens: Option<Tokens>,
    cost: Option<f64>,
}

#[derive(Deserialize)]
struct State {
    status: Option<String>,
    error: Option<String>,
    input: Option<Input>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Input {
    Invalid { tool: String, error: String },
    Other(IgnoredAny),
}

pub(super) fn take(event: Event, events: &mut Events, told: &mut Told) {
    told.session_id = told.session_id.take().or(event.session_id);
    let kind = event.kind.as_deref();
    if kind == Some("error") {
        told.model_failed = true;
        event.error.iter().filter_map(Problem::text).for_each(|problem| error(told, problem));
        return;
    }
    let Some(part) = event.part else {
        return;
    };
    match kind {
        Some("step_start") => events.is_step_over = false,
        Some("text") => message(told, part.text.unwrap_or_default()),
        Some("tool_use") => refused(part, events, told),
        Some("step_finish") => {
            // After a step that calls tools another one follows.
            events.is_step_over = part.reason.as_deref() != Some("tool-calls");
            let step = part.tokens.map(|tokens| tokens.usage()).unwrap_or_default();
            told.usage = Some(told.usage.unwrap_or_default().plus(step));
            // It has no price for a model that it does not know, and tells 0.
            let cost = part.cost.filter(|cost| *cost > 0.0);
            told.cost_usd = cost.map(|cost| told.cost_usd.unwrap_or(0.0) + cost).or(told.cost_usd);
        }
        _ => {}
    }
}

fn refused(part: Part, events: &mut Events, told: &mut Told) {
    let Some(State { status, error, input }) = part.state else {
        return;
    };
    // A call of a tool that is not there is one of a tool that says so.
    if let (Some("invalid"), Some(Input::Invalid { tool, error })) = (part.tool.as_deref(), &input) {
        if error.contains("unavailable tool") {
            events.denied(Some(tool.clone()), part.id.as_deref(), told);
        }
        return;
    }
    let text = error.unwrap_or_default();
    let is_denied = text.contains("rejected permission") || text.contains("prevents you from using");
    if status.as_deref() == Some("error") && is_denied {
        events.denied(part.tool, part.id.as_deref(), told);
    }
}

pub(super) fn ended(exit: Exit, events: &Events, told: &mut Told) {
    told.is_complete = events.is_step_over && !told.model_failed && exit.signal.is_none();
}
