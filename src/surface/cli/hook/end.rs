//! A session ends: if it handed nothing off, what it left in the repository is kept for the next one.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use super::{Failure, Hook, apart};
use crate::client::hook::Answer;
use crate::client::process::Process;
use crate::client::state::State;
use crate::client::state::draft::{Draft, tree_of};
use crate::domain::time::Timestamp;
use crate::git::left::{Left, left};
use crate::surface::cli::now;

/// How long git may take at the end of a session. Claude Code waits 1.5 seconds for its hooks there.
const GIT: Duration = Duration::from_secs(1);

pub(super) fn answer(hook: &Hook<'_>) -> Result<Answer, Failure> {
    let (Some(state), Some(session_ref)) = (hook.state(), &hook.session_ref) else { return Ok(Answer::default()) };
    if let Some(process) = Process::client(hook.client_process()) {
        state.close_session(&process, hook.input.client, session_ref);
    }
    let pinned = if hook.does("drafts") { hook.pinned()? } else { None };
    // It may end in another folder than it began in.
    let began_in = state.session(session_ref).and_then(|session| session.tree).filter(|tree| tree.is_dir());
    let tree = began_in.or_else(|| hook.input.folder.as_deref().and_then(tree_of));
    let (Some(pinned), Some(tree)) = (pinned, tree) else { return Ok(Answer::default()) };
    // Where the database does not say, a draft too many is better than none.
    let glance = hook.glance(pinned).found("the database").and_then(|found| found.map_err(Failure::from));
    let handed_off = glance.map_or_else(
        |failure| {
            hook.log.note(&failure);
            None
        },
        |glance| glance.handed_off,
    );
    keep(hook, state, session_ref, &tree, handed_off)?;
    Ok(Answer::default())
}

/// Keeps what came since the session began, or since it last handed off.
fn keep(
    hook: &Hook<'_>,
    state: &State,
    session_ref: &str,
    tree: &Path,
    handed_off: Option<Timestamp>,
) -> Result<(), Failure> {
    let session = state.session(session_ref);
    // A client's own commands, `claude mcp list` for one, end sessions that never began.
    if session.is_none() && !hook.input.transcript.as_deref().is_some_and(Path::exists) {
        return Ok(());
    }
    let (base, began) = session.map_or_else(Default::default, |session| (session.head, session.began));
    // Where the start was not seen, nothing tells whose they are.
    let began = began.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second);
    // Git knows whole seconds: what was done in the second of the handoff was done before it.
    let second = began.max(handed_off.map_or(0, |at| at.0 / 1_000_000 + 1));
    let (folder, since) = (tree.to_owned(), base.clone());
    let until = Instant::now() + GIT.max(hook.wait);
    let asked = apart::run(until, move || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        left(&path, &folder, (since.as_deref(), second), until, || now().rfc3339())
    });
    let found = asked.found("git")?.map_err(|_| Failure("git did not say what the session left".to_owned()))?;
    let Left { branch, commit, commits, uncommitted, untracked, files } = found;
    let since = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(second).unwrap_or_default());
    if commits.is_empty() && !files.iter().any(|file| is_touched(&tree.join(file), since)) {
        return Ok(());
    }
    let ended = now();
    let draft = Draft {
        session_ref: session_ref.to_owned(),
        ended: ended.rfc3339(),
        ended_micros: ended.0,
        folder: tree.display().to_string(),
        branch,
        base_commit: base,
        result_commit: commit,
        commits,
        uncommitted,
        untracked,
        files,
        told: 0,
    };
    hook.note_kept("the draft", state.keep_draft(tree, &draft));
    Ok(())
}

/// True for a file that was changed since then. One that is no longer there was removed when its folder was changed.
fn is_touched(file: &Path, since: SystemTime) -> bool {
    let changed = |path: &Path| path.symlink_metadata().and_then(|found| found.modified()).ok();
    let at = changed(file).or_else(|| file.parent().and_then(changed));
    at.is_some_and(|at| at >= since)
}
