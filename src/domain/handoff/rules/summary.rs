//! `summary-one-sentence`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::subject::View;
use crate::domain::rule::Rule;
use crate::domain::text::{self, SUMMARY_MAX};

/// Asks that the summary is there, has at most 280 characters on one line, and is not the title again.
///
/// A list shows nothing else of a task: who reads it must see the state without opening the task. Contract section 2 and 5;
/// the seeds say "the state in one sentence, as the task list should show it". A loose document has no summary.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    if view.is_document() {
        return;
    }
    let content = view.subject.content;
    let summary = content.summary.trim();
    let mut warn = |fix: String| findings.push(Finding::warning(Rule::SummaryOneSentence, "summary", fix));
    if summary.is_empty() {
        let fix = "say the state in one sentence: what works now and what is open";
        findings.push(Finding::error(Rule::SummaryOneSentence, "summary", fix).lacking());
    } else if letters(summary) == letters(&content.title) {
        warn(format!(
            "say the state, not the title again: what of {} works, and what is open",
            text::quoted(summary, 60)
        ));
    } else if text::length(summary) > SUMMARY_MAX {
        warn(format!("shorten it to {SUMMARY_MAX} characters, it has {}", text::grouped(text::length(summary))));
    } else if summary.lines().count() > 1 {
        warn("put the state into one sentence on one line".to_owned());
    }
}

/// What two sentences have to differ in.
fn letters(sentence: &str) -> String {
    sentence.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
