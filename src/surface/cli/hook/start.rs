//! A session starts, goes on, or was cleared or compacted: it is told who it is and what waits.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Failure, Hook, apart, turn};
use crate::client::hook::words::{self, Left, Waiting};
use crate::client::hook::{Answer, Cold};
use crate::client::place::Places;
use crate::client::process::Process;
use crate::client::state::draft::{Draft, tree_of};
use crate::client::state::session::Session;
use crate::client::{Client, desktop};
use crate::economics::prices::count;
use crate::error::Code;
use crate::git::left;
use crate::operations::glance::Glance;
use crate::surface::cli::economics;
use crate::surface::cli::now;

/// What tells a shell the session.
const SHELL: &str = "export HEYAIRA_SESSION=";
/// A larger file is none that Claude Code made for its shell.
const SHELL_MAX: u64 = 1024 * 1024;

pub(super) fn answer(hook: &Hook<'_>) -> Result<Answer, Failure> {
    let pinned = hook.pinned()?;
    let asked = pinned.map(|pinned| hook.glance(pinned));
    note_process(hook);
    tell_shell(hook);
    let Some(asked) = asked else {
        // Nothing is to be said of a repository that has no project.
        return Ok(Answer::default());
    };
    let tree = hook.input.folder.as_deref().and_then(tree_of);
    let session = note_session(hook, tree.as_deref());
    if let (Some(state), Some(tree), Some(session_ref)) = (hook.state(), &tree, &hook.session_ref) {
        // A session that goes on takes its own draft back.
        state.remove_draft(tree, session_ref);
    }
    if let Some(state) = hook.state() {
        state.prune(SystemTime::now());
    }
    let glance = match asked.found("the database")? {
        Ok(glance) => Some(glance),
        // The project is on a server elsewhere: who the session is can be told all the same.
        Err(refusal) if refusal.code == Code::IdentityMismatch || !hook.has_database() => None,
        Err(refusal) => return Err(refusal.into()),
    };
    if !hook.does("start") {
        return Ok(Answer::default());
    }
    // Only now: what is looked up counts as told.
    let drafts = drafts(hook, tree.as_deref());
    said(hook, session.and_then(|session| session.desktop).as_deref(), glance, &drafts)
}

fn said(hook: &Hook<'_>, desktop: Option<&str>, glance: Option<Glance>, drafts: &[Draft]) -> Result<Answer, Failure> {
    let number = |number: i64| u64::try_from(number).unwrap_or_default();
    let waiting = glance.map(|glance| Waiting {
        handoffs: number(glance.handoffs),
        lines: glance.lines,
        messages: number(glance.messages),
        owned: glance.owned,
    });
    let left = drafts.first().map_or_else(Left::default, |last| Left {
        sessions: drafts.len(),
        commits: last.commits.len(),
        files: usize::try_from(last.uncommitted + last.untracked).unwrap_or(usize::MAX),
    });
    let is_compacted = hook.input.starts_by("compact");
    let compacted = waiting.as_ref().filter(|_| is_compacted).and_then(|waiting| words::compacted(&waiting.owned));
    let cold = hook.input.cold.as_ref();
    let is_large = cold.map(is_large).transpose()?.unwrap_or(false);
    let cold = cold.map(|cold| words::cold(cold, is_large));
    if let (true, Some(state), Some(session_ref)) = (is_large, hook.state(), &hook.session_ref) {
        // The next turn would say the same.
        for mark in turn::COLD {
            state.is_first(session_ref, mark);
        }
    }
    let notice = cold.as_ref().filter(|_| is_large).map(|cold| words::advice_to_person(cold));
    let start = words::start(hook.session_ref.as_deref(), desktop, waiting.as_ref());
    let parts: Vec<String> = [start, compacted, cold, words::left(left)].into_iter().flatten().collect();
    let context = (!parts.is_empty()).then(|| parts.join("\n"));
    Ok(Answer { context, notice, block: None })
}

/// True for a context so large that a fresh session costs less, once its cache is gone.
fn is_large(cold: &Cold) -> Result<bool, Failure> {
    let assumed = economics::prices(None)?.assumptions;
    let fresh = assumed.fresh_tokens();
    Ok(count(cold.context_tokens) > assumed.pause_fresh_starts * count(fresh))
}

/// Remembers which session the client's process is in.
pub(super) fn note_process(hook: &Hook<'_>) {
    let (Some(state), Some(session_ref)) = (hook.state(), &hook.session_ref) else { return };
    if let Some(process) = Process::client(hook.client_process()) {
        let kept = state.open_session(&process, hook.input.client, session_ref);
        hook.note_kept("the session of the client's process", kept);
    }
}

/// Has commands that Claude Code runs in its shell know their session: the file is its own way for that.
fn tell_shell(hook: &Hook<'_>) {
    let file = std::env::var_os("CLAUDE_ENV_FILE").map(PathBuf::from).filter(|file| file.is_absolute());
    let (Some(file), Some(session_ref)) = (file.filter(|_| hook.input.client == Client::ClaudeCode), &hook.session_ref)
    else {
        return;
    };
    // An id is made of letters, digits and `-_.`, which a shell takes as they are.
    let line = format!("{SHELL}{session_ref}");
    hook.note_kept("the session in CLAUDE_ENV_FILE", add_line(&file, &line));
}

/// Adds a line to the end of a file, on a line of its own, unless it is there.
fn add_line(file: &Path, line: &str) -> io::Result<()> {
    let text = match file.metadata() {
        // Whoever opens a pipe waits for its other end.
        Ok(found) if !found.is_file() || found.len() > SHELL_MAX => return Err(io::ErrorKind::InvalidInput.into()),
        Ok(_) => fs::read_to_string(file)?,
        Err(_) => String::new(),
    };
    if text.lines().rfind(|one| one.starts_with(SHELL)) == Some(line) {
        return Ok(());
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    OpenOptions::new().append(true).create(true).open(file)?.write_all(format!("{end}{line}\n").as_bytes())
}

/// Remembers the session: when and at which commit it was first seen, and its id in Claude Desktop.
fn note_session(hook: &Hook<'_>, tree: Option<&Path>) -> Option<Session> {
    let (state, session_ref) = (hook.state()?, hook.session_ref.as_ref()?);
    // Each compaction can be stopped once.
    for said in ["compaction", "stopped"] {
        state.forget_said(session_ref, said);
    }
    let known = state.session(session_ref);
    let is_here = |session: &Session| session.tree.as_deref() == tree;
    let mut session = known.clone().filter(is_here).unwrap_or_else(|| Session {
        session_ref: session_ref.clone(),
        began: now().rfc3339(),
        tree: tree.map(Path::to_owned),
        head: tree.and_then(|tree| head(hook, tree)),
        desktop: known.as_ref().and_then(|session| session.desktop.clone()),
    });
    if session.desktop.is_none() {
        session.desktop = desktop_session(hook);
    }
    if known.as_ref() != Some(&session) {
        hook.note_kept("the session", state.keep_session(&session));
    }
    Some(session)
}

/// The session's id in Claude Desktop, if it runs in its Code tab.
pub(super) fn desktop_session(hook: &Hook<'_>) -> Option<String> {
    let entrypoint = std::env::var("CLAUDE_CODE_ENTRYPOINT").unwrap_or_default();
    let in_desktop = hook.input.client == Client::ClaudeCode && entrypoint.contains("desktop");
    let id = hook.input.session.as_ref().filter(|_| in_desktop)?;
    desktop::session_of(id, &Places::here()?)
}

/// The commit that is checked out, if git says it in time.
fn head(hook: &Hook<'_>, tree: &Path) -> Option<String> {
    let (tree, until) = (tree.to_owned(), hook.until);
    let asked = apart::run(until, move || left::commit(&std::env::var_os("PATH").unwrap_or_default(), &tree, until));
    asked.found("git").ok()?.ok()?
}

/// What sessions before left here.
fn drafts(hook: &Hook<'_>, tree: Option<&Path>) -> Vec<Draft> {
    let (Some(state), Some(tree)) = (hook.state(), tree) else { return Vec::new() };
    if hook.does("drafts") { state.drafts_to_tell(tree) } else { Vec::new() }
}
