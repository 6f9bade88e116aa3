//! Taking a task over: the line that says so, and who may. Must never take words inside older text for a takeover.

use crate::domain::session;
use crate::domain::task::{Actor, Status, Task, with_line};
use crate::domain::time::{Timestamp, is_rfc3339};
use crate::error::{Refusal, Result};

/// How every takeover line starts.
const START: &str = "Taken over by session ";
/// For how many minutes after its last write an owner is live.
pub const LIVE_MINUTES: i64 = 30;

/// What an update's text says about a takeover.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing new.
    None,
    /// The one new last line is a takeover line; by whom, in its own words.
    Takeover(String),
    /// There is a new takeover line, but more than that changed.
    Misplaced,
}

/// Looks at a whole new `handoff_completed`.
pub fn line_in_whole(current: &str, whole: &str) -> Found {
    let lines = settled_lines(whole);
    let old = settled_lines(current);
    let Some((last, before)) = lines.split_last() else {
        return Found::None;
    };
    if !last.starts_with(START) || (old.last() == Some(last) && before != old) {
        return Found::None;
    }
    if before == old { Found::Takeover(words(last)) } else { Found::Misplaced }
}

/// Looks at lines to be added to `handoff_completed`.
pub fn line_in_addition(addition: &str) -> Found {
    match settled_lines(addition).as_slice() {
        [only] if only.starts_with(START) => Found::Takeover(words(only)),
        [.., last] if last.starts_with(START) => Found::Misplaced,
        _ => Found::None,
    }
}

/// Lines without line-end differences, trailing white space and trailing blank lines.
fn settled_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

/// A text without the lines that a takeover adds by itself. One that somebody wrote in words of their own stays.
pub fn without_own_lines(text: &str) -> String {
    let is_own = |line: &&str| {
        let told = line.trim_end().strip_prefix(START).and_then(|rest| rest.strip_suffix('.'));
        told.and_then(|told| told.rsplit_once(" at ")).is_some_and(|(_, at)| is_rfc3339(at))
    };
    text.split_inclusive('\n').filter(|line| !is_own(line)).collect()
}

fn words(line: &str) -> String {
    let rest = line.strip_prefix(START).unwrap_or(line);
    let ends = [rest.find(" at "), rest.find(" ("), full_stop(rest)];
    let end = ends.into_iter().flatten().min().unwrap_or(rest.len());
    rest[..end].trim().to_owned()
}

/// A full stop ends the words only at the end of a word: `2.1` is no end.
fn full_stop(rest: &str) -> Option<usize> {
    rest.match_indices('.')
        .map(|(position, _)| position)
        .find(|position| rest[position + 1..].chars().next().is_none_or(char::is_whitespace))
}

impl Task {
    /// Takes the task: the actor becomes its owner, todo becomes `in_progress`, texts stay.
    pub fn take_over(&self, actor: &Actor, now: Timestamp, force: bool) -> Result<Self> {
        let owner = actor.who();
        self.check_takeover(owner, now, force)?;
        let mut after = self.clone();
        after.version += 1;
        after.updated = now;
        after.mark_takeover(owner, now);
        let line = format!("{START}{owner} at {now}.");
        after.content.handoff_completed = with_line(&self.content.handoff_completed, &line);
        Ok(after)
    }

    /// Refuses a takeover of a finished task, and of one whose owner is another live session.
    pub(crate) fn check_takeover(&self, by: &str, now: Timestamp, force: bool) -> Result<()> {
        let status = self.content.status;
        if matches!(status, Status::Done | Status::Cancelled) {
            return Err(Refusal::not_allowed(
                format!("task {} is {status}", self.short_id()),
                format!("{} Nothing was written.", self.reopen_hint()),
            ));
        }
        let Some(owner) = self.live_owner(now).filter(|owner| *owner != by && !force) else {
            return Ok(());
        };
        let wrote = self.marks.owner_at.unwrap_or(self.updated).age_in_words(now);
        Err(Refusal::not_allowed(
            format!("{} has this task and wrote {wrote} ago", called(owner)),
            format!("Ask the owner; to take it all the same: {} force=true.", self.takeover_call()),
        )
        .with("owner", owner)
        .with("current_version", self.version))
    }

    /// The owner, if it wrote in the last 30 minutes and did not hand off.
    pub fn live_owner(&self, now: Timestamp) -> Option<&str> {
        let wrote = self.marks.owner_at?;
        let owner = self.content.owner.as_deref()?;
        let handed_off = self.marks.pending_version > 0 && self.marks.pending_by.as_deref() == Some(owner);
        // A write ahead of the clock, which went back, counts like one as long ago.
        let live = wrote.plus_minutes(LIVE_MINUTES) > now && wrote < now.plus_minutes(LIVE_MINUTES);
        Some(owner).filter(|_| live && !handed_off)
    }

    /// How to reopen a finished task.
    pub fn reopen_hint(&self) -> String {
        format!(
            "If it must go on, ask the owner, then reopen it: task_update task_id={} expected_version={} status=todo with a summary.",
            self.short_id(),
            self.version
        )
    }
}

/// An owner in a sentence: a session or a person; words of others are quoted.
pub fn called(owner: &str) -> String {
    let shown = session::in_a_sentence(owner);
    if owner.contains(':') { format!("session {shown}") } else { shown }
}
