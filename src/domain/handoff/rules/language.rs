//! `working-language`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::shape::command;
use crate::domain::handoff::subject::View;
use crate::domain::language;
use crate::domain::markdown::{Document, Line};
use crate::domain::rule::Rule;

/// Asks that the durable fields are in the project's language.
///
/// Whoever takes over reads the project's language, and may read no other. The last seed. Code, quotations, paths and
/// addresses are left out, and nothing is said of a text that is too short to be sure of.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    let Some(working) = view.subject.language else { return };
    let content = view.subject.content;
    let short =
        [("summary", &content.summary), ("title", &content.title)].map(|(field, text)| (field, Document::of(text)));
    let long =
        [("handoff_completed", &view.completed), ("handoff_next", &view.next), ("handoff_blockers", &view.blockers)];
    let all = long.into_iter().chain(short.iter().map(|(field, text)| (*field, text)));
    for (field, document) in all {
        // A command is in no language.
        let is_command = |line: &Line<'_>| command::is_command(line.text);
        let words = Document { lines: document.lines.iter().filter(|line| !is_command(line)).cloned().collect() };
        if let Some(found) = language::other_than(working, &words) {
            let fix = format!("write it in {}, the project's language; it is in {found}", language::name(working));
            findings.push(Finding::warning(Rule::WorkingLanguage, field, fix));
        }
    }
}
