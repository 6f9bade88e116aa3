//! `previous-session-line`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::line::{PREVIOUS_SESSION, previous_session};
use crate::domain::handoff::subject::View;
use crate::domain::rule::Rule;
use crate::domain::session;

/// Asks that the last line of `handoff_next` is `Previous session: <session_ref>`, by a session id or a label said to be one.
///
/// By it a late message finds its way and the old session can be archived; a task is a pending handoff only with it. Both
/// seeds; "a scratchpad or transcript directory name is not the session ID". The words are fixed, so this holds in every
/// language; a loose document is only reminded.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    let next = &view.subject.content.handoff_next;
    let session = Some(view.receipt_field("session_ref")).filter(|one| session::session_ref_problem(one).is_none());
    let example = session.or(view.subject.next_by.filter(|one| session::session_ref_problem(one).is_none()));
    let line = format!("{PREVIOUS_SESSION} {}", example.unwrap_or("<harness>:<session id>, or label:<words>"));
    let named = previous_session(next);
    if let Some(problem) = named.and_then(session::session_ref_problem) {
        let fix = format!("name the session: {problem}");
        findings.push(Finding::warning(Rule::PreviousSessionLine, "handoff_next", fix));
        return;
    }
    if named.is_some() {
        return;
    }
    let text =
        if view.is_document() { format!("{}\n{next}", view.subject.content.handoff_completed) } else { next.clone() };
    let is_elsewhere = text.contains(PREVIOUS_SESSION);
    if view.is_document() {
        if !is_elsewhere {
            let fix = format!("end the next steps with {line}");
            findings.push(Finding::warning(Rule::PreviousSessionLine, "handoff_next", fix).lacking());
        }
        return;
    }
    let fix = if is_elsewhere { format!("make {line} the last line") } else { format!("end with {line}") };
    findings.push(Finding::error(Rule::PreviousSessionLine, "handoff_next", fix).lacking());
}
