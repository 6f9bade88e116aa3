//! What hooks say: sentences of ours with numbers and ids in them. Must never take a text that a task, a message, a
//! repository or a conversation holds: that would be an instruction to the model which nobody gave.

use std::fmt::Write as _;

use super::Cold;
use crate::domain::text::grouped;

/// How many drafts' files and commits are counted one by one.
const MANY: usize = 1;

/// What waits in a project, as counts and ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// How many handoffs nobody took over.
    pub handoffs: u64,
    /// The lines of the first of them.
    pub lines: Vec<String>,
    /// How many messages nobody acknowledged.
    pub messages: u64,
    /// The open tasks of this session: the short id and the version.
    pub owned: Vec<(String, i64)>,
}

/// What an ended session left, as counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// How many sessions left something.
    pub sessions: usize,
    /// The commits of the last one.
    pub commits: usize,
    /// Its uncommitted files.
    pub files: usize,
}

/// Which session this is, and what waits, if that is known here.
pub fn start(session_ref: Option<&str>, desktop: Option<&str>, waiting: Option<&Waiting>) -> Option<String> {
    let mut said = String::from("HeyAira: ");
    if let Some(session_ref) = session_ref {
        let _ = write!(said, "this session's session_ref is {session_ref}");
        if let Some(desktop) = desktop {
            let _ = write!(said, " (in Claude Desktop {desktop})");
        }
        said.push_str(". ");
    }
    let Some(waiting) = waiting else { return session_ref.map(|_| said.trim_end().to_owned()) };
    said.push_str(&what_waits(waiting));
    Some(said)
}

fn what_waits(waiting: &Waiting) -> String {
    let counts = [counted(waiting.handoffs, "pending handoff"), counted(waiting.messages, "waiting message")];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if counts.is_empty() {
        return "No handoff and no message waits in this project; continuity_context tells its state.".to_owned();
    }
    let mut said = format!("This project has {}", counts.join(" and "));
    let rest = usize::try_from(waiting.handoffs).unwrap_or(usize::MAX).saturating_sub(waiting.lines.len());
    if !waiting.lines.is_empty() {
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        let _ = write!(said, " ({}{more})", waiting.lines.join("; "));
    }
    said.push_str(if waiting.lines.is_empty() {
        ": call continuity_context to read them."
    } else {
        ": call continuity_context, with a line to take that task over, without for the project's state."
    });
    said
}

/// After a compaction: what must be read again.
pub fn compacted(owned: &[(String, i64)]) -> Option<String> {
    let tasks: Vec<String> = owned.iter().map(|(id, version)| format!("{id} (version {version})")).collect();
    (!tasks.is_empty()).then(|| {
        format!(
            "The conversation was compacted and may have lost details. This session owns {}: read it again with task_get \
             before you go on.",
            tasks.join(", ")
        )
    })
}

/// What a resumed session costs without its cache; `is_large` where a fresh one costs less.
pub fn cold(cold: &Cold, is_large: bool) -> String {
    let tokens = grouped(usize::try_from(cold.context_tokens).unwrap_or(usize::MAX));
    let cost = cold.write_usd.map(|usd| format!(", about ${usd:.2} by the client's own estimate")).unwrap_or_default();
    let past = age(cold.seconds);
    let advice = if is_large {
        "Where the task has a handoff, a fresh session that starts from its line costs less; offer that to the user \
         before going on."
    } else {
        "A fresh session would cost about as much: going on here is fine."
    };
    format!(
        "The last answer is {past} old and the prompt cache has likely expired: the next request writes {tokens} tokens \
         anew{cost}. {advice}"
    )
}

/// What sessions before left here.
pub fn left(left: Left) -> Option<String> {
    let commits = counted(left.commits as u64, "commit");
    let files = counted(left.files as u64, "uncommitted file");
    let parts: Vec<String> = [commits, files].into_iter().flatten().collect();
    let others =
        if left.sessions > MANY { format!(", and {} more before it", left.sessions - MANY) } else { String::new() };
    (left.sessions > 0).then(|| {
        format!(
            "A session ended in this repository without a handoff and left {}{others}: `heyaira handoff draft` shows it, \
             with --clear it is forgotten.",
            parts.join(" and ")
        )
    })
}

/// Advice on money, of which the sentence with the figures is reckoned elsewhere and has counts alone: for the model.
pub fn advice(sentence: &str) -> String {
    format!("HeyAira: {sentence} Tell the user so before you begin, in one sentence; it is theirs to decide.")
}

/// The same for the person.
pub fn advice_to_person(sentence: &str) -> String {
    format!("HeyAira: {sentence}")
}

/// The same for a person who may be about to pause.
pub fn before_a_pause(sentence: &str) -> String {
    format!("HeyAira, in case you pause here: {sentence}")
}

/// The other id of a session in Claude Desktop, where it was found late.
pub fn desktop(session_ref: &str, desktop: &str) -> String {
    format!("HeyAira: this session, {session_ref}, is {desktop} in Claude Desktop.")
}

/// Before a compaction.
pub fn compaction() -> String {
    "HeyAira: a handoff keeps more than a compaction. Save the task (summary, handoff_completed, handoff_next with its \
     last line, work_receipt) with task_update, and start a fresh session from its line."
        .to_owned()
}

/// Before a compaction that is stopped.
pub fn compaction_stopped() -> String {
    format!("{} Compact again to compact all the same.", compaction())
}

fn counted(count: u64, what: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    }
}

fn age(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..172_800 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}
