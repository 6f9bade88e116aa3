//! `repository-named`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::shape::{git, reference};
use crate::domain::handoff::subject::View;
use crate::domain::rule::Rule;
use crate::domain::text;

/// Asks for `owner/name` or the address of the repository in `handoff_completed` or `handoff_next`.
///
/// The receipt has no field for it, and a branch or a commit without its repository is nowhere. Both seeds.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    if reference::repository(&view.completed).or_else(|| reference::repository(&view.next)).is_some() {
        return;
    }
    let branches = git::branches(&view.completed).into_iter().chain(git::branches(&view.next));
    let named = Some(view.receipt_field("branch")).filter(|branch| !branch.is_empty()).or(branches.into_iter().next());
    let example = named.map_or_else(
        || "Repository <owner>/<name>".to_owned(),
        |branch| format!("Repository <owner>/<name>, branch {}", text::head(branch, 60)),
    );
    let fix = format!("name the repository as owner/name or by its address, e.g. \"{example}\"");
    let finding = Finding::warning(Rule::RepositoryNamed, "handoff_completed", fix);
    findings.push(finding.lacking().or_in("handoff_next"));
}
