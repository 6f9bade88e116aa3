//! Claude Code: `claude -p`. Its last event calls a failure of the model a success, and its costs are sums of the whole
//! session; see [`take`].

use serde::Deserialize;

use crate::client::harness::events::{Events, error, message};
use crate::client::harness::options::{Options, Refused};
use crate::client::harness::{Launch, Told, Wanted};
use crate::client::transcript::claude_code::Counts;
use crate::economics::Usage;
use crate::error::Result;

/// What may be used without anybody being asked, beside the edits below the worktree that `acceptEdits` allows. Skipping all
/// permissions is refused to root, and in a container everybody is root.
const ALLOWED: &str = "--allowedTools=Bash,Skill,WebFetch,WebSearch";

/// What the run itself says.
pub(super) const REFUSED: [Refused; 3] = [
    Refused::by_stream(&["--output-format", "--input-format", "--bg", "--background", "--cloud"]),
    Refused::by_resume(&["-r", "--resume", "-c", "--continue", "--session-id", "--fork-session", "--from-pr"]),
    Refused::by_worktree(&["-w", "--worktree", "--tmux"]),
];

pub(super) fn launch(wanted: &Wanted<'_>) -> Result<Launch> {
    let mut options = Options::new(wanted.extra);
    options.refuse(&REFUSED);
    for option in ["-p", "--output-format=stream-json", "--verbose"] {
        options.add(option);
    }
    // Servers that are set up are left out, those of plugins too; one of `--mcp-config` is not.
    options.add_unless(&["--strict-mcp-config"], "--strict-mcp-config");
    let skips = ["--permission-mode", "--dangerously-skip-permissions", "--restricted"];
    options.add_unless(&skips, "--permission-mode=acceptEdits");
    options.add_unless(&["--allowedTools", "--allowed-tools", "--restricted"], ALLOWED);
    if let Some(model) = wanted.model {
        options.add_unless(&["--model"], format!("--model={model}"));
    }
    if let Some(budget) = wanted.budget.filter(|_| wanted.resume.is_none()) {
        options.add_unless(&["--max-budget-usd"], format!("--max-budget-usd={budget}"));
    }
    options.launch_with_id("claude", wanted)
}

#[derive(Deserialize)]
pub(super) struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    subtype: Option<String>,
    session_id: Option<String>,
    claude_code_version: Option<String>,
    model: Option<String>,
    parent_tool_use_id: Option<String>,
    message: Option<MessageOrText>,
    tool_name: Option<String>,
    tool_use_id: Option<String>,
    #[serde(default)]
    is_error: bool,
    terminal_reason: Option<String>,
    result: Option<String>,
    #[serde(default)]
    errors: Vec<String>,
    #[serde(default)]
    permission_denials: Vec<Denial>,
    usage: Option<Counts>,
    total_cost_usd: Option<f64>,
    #[serde(rename = "modelUsage", default)]
    model_usage: std::collections::BTreeMap<String, ModelUsage>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum MessageOrText {
    Message(Message),
    Text(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Message {
    model: Option<String>,
    #[serde(default)]
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    id: Option<String>,
    name: Option<String>,
    tool_use_id: Option<String>,
    #[serde(default)]
    is_error: bool,
    content: Option<TextOrOther>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrOther {
    Text(String),
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Denial {
    tool_name: Option<String>,
    tool_use_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ModelUsage {
    cost_basis: Option<String>,
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
}

impl ModelUsage {
    fn usage(&self) -> Usage {
        Usage {
            input: self.input_tokens,
            cache_read: self.cache_read_input_tokens,
            cache_write: self.cache_creation_input_tokens,
            cache_write_long: 0,
            output: self.output_tokens,
        }
    }
}

/// An answer that the client made up itself.
const NO_MODEL: &str = "<synthetic>";

pub(super) fn take(event: Event, events: &mut Events, told: &mut Told) {
    match (event.kind.as_deref(), event.subtype.as_deref()) {
        (Some("system"), Some("init")) => {
            told.session_id = event.session_id;
            told.version = event.claude_code_version;
            told.model = event.model.or(told.model.take());
        }
        (Some("system"), Some("permission_denied")) => {
            events.denied(event.tool_name, event.tool_use_id.as_deref(), told);
        }
        (Some("assistant"), _) => answer(event.message, event.parent_tool_use_id.is_some(), events, told),
        (Some("user"), _) => results(event.message, events, told),
        (Some("result"), _) => result(event, events, told),
        _ => {}
    }
}

fn answer(answer: Option<MessageOrText>, is_of_agent: bool, events: &mut Events, told: &mut Told) {
    let Some(MessageOrText::Message(answer)) = answer else {
        return;
    };
    for block in &answer.content {
        if let (Some("tool_use"), Some(id), Some(name)) = (block.kind.as_deref(), &block.id, &block.name) {
            events.calling(id.clone(), name.clone());
        }
    }
    if is_of_agent || answer.model.as_deref() == Some(NO_MODEL) {
        return;
    }
    told.model = answer.model.or(told.model.take());
    let texts = answer.content.into_iter().filter(|block| block.kind.as_deref() == Some("text"));
    message(told, texts.filter_map(|block| block.text).collect::<Vec<_>>().join("\n"));
}

/// What tools answered. That a tool may not be used is told on its own; that there is none, such as one of a server that is
/// off, only here.
fn results(results: Option<MessageOrText>, events: &mut Events, told: &mut Told) {
    let Some(MessageOrText::Message(results)) = results else {
        return;
    };
    for block in results.content {
        let (Some(id), Some(TextOrOther::Text(text))) = (block.tool_use_id, block.content) else {
            continue;
        };
        let tool = events.called(&id);
        if block.is_error && text.contains("No such tool available") {
            events.denied(tool, Some(&id), told);
        }
    }
}

/// `subtype` is `success` though the model never answered: what failed stands in `is_error` and `terminal_reason`. `usage` is
/// of this run, `total_cost_usd` of the whole session; a model that the client does not know has the price of another one.
fn result(event: Event, events: &mut Events, told: &mut Told) {
    told.session_id = event.session_id.or(told.session_id.take());
    for denial in event.permission_denials {
        events.denied(denial.tool_name, denial.tool_use_id.as_deref(), told);
    }
    told.model_failed = event.is_error && event.terminal_reason.as_deref() == Some("api_error");
    told.is_complete = !told.model_failed && event.subtype.as_deref() != Some("error_during_execution");
    event.errors.iter().for_each(|problem| error(told, problem));
    match event.result {
        Some(text) if event.is_error => error(told, &text),
        Some(text) => message(told, text),
        None => {}
    }
    if event.subtype.as_deref() == Some("error_max_budget_usd") {
        told.over_budget = Some(event.errors.first().map_or("its budget is used up", String::as_str).to_owned());
    }
    // Where it ended itself for its budget it tells zeros, and only in the sums of the session what there was.
    let sums = event.model_usage.values().map(ModelUsage::usage).reduce(Usage::plus).filter(|_| !events.resumes);
    let all = [event.usage.as_ref().map(Counts::usage), sums];
    told.usage = all.into_iter().flatten().find(|usage| *usage != Usage::default());
    let is_guess = event.model_usage.values().any(|usage| usage.cost_basis.as_deref() == Some("unknown"));
    told.cost_usd = event.total_cost_usd.filter(|_| !events.resumes && !is_guess);
}
