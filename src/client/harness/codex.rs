//! Codex: `codex exec`. Its sandbox keeps repositories from being written, so that the folders of this one are named; its
//! servers cannot be turned off at once, so that each is.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};

use crate::client::harness::events::{Events, Problem, error, message};
use crate::client::harness::options::{Options, Refused};
use crate::client::harness::{Launch, Told, Wanted, servers};
use crate::client::transcript::Environment;
use crate::client::transcript::codex::Counters;
use crate::error::Result;

/// What the run itself says.
pub(super) const REFUSED: [Refused; 3] = [
    Refused::by_resume(&["resume", "fork", "--last"]),
    Refused::by_worktree(&["-C", "--cd", "--worktree"]),
    Refused::by_brief(&["review"]),
];

/// All of ours are `-c`: an option of theirs wins over it, and a later `-c` over an earlier one.
pub(super) fn launch(wanted: &Wanted<'_>, environment: &Environment<'_>) -> Result<Launch> {
    let mut options = Options::new(wanted.extra);
    options.refuse(&REFUSED);
    options.add("exec");
    if wanted.resume.is_some() {
        options.add("resume");
    }
    options.add_unless(&["--json"], "--json");
    let mut set = |key: &str, value: Value| {
        options.add("-c");
        options.add(format!("{key}={value}"));
    };
    set("approval_policy", "never".into());
    set("sandbox_mode", "workspace-write".into());
    set("sandbox_workspace_write.writable_roots", Value::Array(written_by_commits(wanted)));
    set("features.plugins", false.into());
    set("features.apps", false.into());
    // Without a network it would wait for one without end.
    set("features.unbounded_connection_retries", false.into());
    // Nobody answers, and its models are told to wait for an answer.
    set("tools.experimental_request_user_input.enabled", false.into());
    let (servers, problems) = servers::of_codex(environment);
    if !servers.is_empty() {
        set("mcp_servers", Value::Table(servers.into_iter().map(turned_off).collect()));
    }
    if let Some(model) = wanted.model {
        set("model", model.into());
    }
    for problem in problems {
        options.problem(problem);
    }
    let mut arguments = options.finish()?;
    arguments.extend(wanted.resume.map(Into::into));
    arguments.push("-".into());
    Ok(Launch::of("codex", arguments, wanted.resume))
}

/// Where a commit is written. The sandbox keeps what `.git` of the worktree points at from being written, unless that very
/// folder is named.
fn written_by_commits(wanted: &Wanted<'_>) -> Vec<Value> {
    let own = own_git_folder(wanted.worktree).filter(|own| own != wanted.git_folder);
    let folders = std::iter::once(wanted.git_folder.to_owned()).chain(own);
    folders.filter_map(|folder| Some(folder.to_str()?.into())).collect()
}

/// What git keeps of a linked worktree alone.
fn own_git_folder(worktree: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(worktree.join(".git")).ok()?;
    Some(worktree.join(text.strip_prefix("gitdir:")?.trim()))
}

/// A server with its transport, without which one that is not known here would be refused.
fn turned_off((name, server): (String, Table)) -> (String, Value) {
    let transport = ["command", "url"].into_iter().find_map(|key| Some((key.to_owned(), server.get(key)?.clone())));
    let off = transport.into_iter().chain([("enabled".to_owned(), false.into())]).collect();
    (name, Value::Table(off))
}

#[derive(Deserialize)]
pub(super) struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    thread_id: Option<String>,
    item: Option<Item>,
    usage: Option<Counters>,
    error: Option<Problem>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    message: Option<String>,
    status: Option<String>,
}

pub(super) fn take(event: Event, events: &mut Events, told: &mut Told) {
    match event.kind.as_deref() {
        Some("thread.started") => told.session_id = event.thread_id.or(told.session_id.take()),
        Some("turn.started") => (told.is_complete, told.model_failed) = (false, false),
        Some("item.completed") => event.item.into_iter().for_each(|item| completed(item, events, told)),
        Some("turn.completed") => {
            told.is_complete = true;
            // The counts are those of the whole session.
            told.usage = event.usage.filter(|_| !events.resumes).map(Counters::usage);
        }
        Some("turn.failed") => {
            told.model_failed = true;
            event.error.iter().filter_map(Problem::text).for_each(|problem| error(told, problem));
        }
        Some("error") => event.message.iter().for_each(|problem| error(told, problem)),
        _ => {}
    }
}

/// What the log of its errors says of a call that was refused, on standard error: most are in no event.
pub(super) fn refused(line: &str, events: &mut Events, told: &mut Told) {
    let Some((_, problem)) = line.split_once(" ERROR codex_core::tools::router: error=") else {
        return;
    };
    let is_of_command = problem.starts_with("approval policy is Never; reject command")
        || problem.starts_with("exec_command failed: CreateProcess { message: \"Rejected(");
    let unavailable = || problem.split_once(" is unavailable in ").map(|(tool, _)| tool);
    let tool = match problem {
        _ if is_of_command => Some("exec_command"),
        _ if problem.starts_with("patch rejected: ") => Some("apply_patch"),
        _ => problem.strip_prefix("unsupported call: ").or_else(unavailable),
    };
    if let Some(tool) = tool {
        events.denied(Some(tool.to_owned()), None, told);
    }
}

fn completed(item: Item, events: &mut Events, told: &mut Told) {
    match (item.kind, item.status.as_deref()) {
        (kind, Some("declined")) => events.denied(kind, item.id.as_deref(), told),
        (Some(kind), _) if kind == "agent_message" => message(told, item.text.unwrap_or_default()),
        (Some(kind), _) if kind == "error" => item.message.iter().for_each(|problem| error(told, problem)),
        _ => {}
    }
}
