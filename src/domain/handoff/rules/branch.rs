//! `branch-and-commit`.

use std::collections::HashSet;

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::shape::git;
use crate::domain::handoff::subject::View;
use crate::domain::handoff::vocabulary;
use crate::domain::markdown::Line;
use crate::domain::rule::Rule;
use crate::domain::text;

/// Asks that the receipt has the branch and the commit that the work ended with, that both look like what they are, and that
/// the texts name no other branch or head.
///
/// The successor checks the state of git before it starts; with another branch or a word in place of a commit it starts from
/// the wrong tree. Both seeds; contract section 5. Without a receipt `receipt-complete` tells; a document has to name
/// both in its text.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    if view.is_document() {
        document(view, findings);
    } else if view.subject.receipt.is_some() {
        branch(view, findings);
        commits(view, findings);
    }
}

fn document(view: &View<'_>, findings: &mut Vec<Finding>) {
    let mut lack =
        |fix: &str| findings.push(Finding::warning(Rule::BranchAndCommit, "handoff_completed", fix).lacking());
    if !view.lines().any(git::names_branch) {
        lack("name the branch: git branch --show-current prints it");
    }
    if !view.lines().any(|line| !git::hashes(line).is_empty()) {
        lack("name the last commit: git rev-parse --short HEAD prints it");
    }
}

fn branch(view: &View<'_>, findings: &mut Vec<Finding>) {
    const FIELD: &str = "work_receipt.branch";
    let branch = view.receipt_field("branch").trim_matches('`');
    let in_texts: Vec<&str> = git::branches(&view.completed).into_iter().chain(git::branches(&view.next)).collect();
    if branch.is_empty() {
        let fix = in_texts.first().map_or_else(
            || "add the branch that the work is on: git branch --show-current prints it".to_owned(),
            |named| format!("add the branch: the texts name {}", text::head(named, 60)),
        );
        findings.push(Finding::warning(Rule::BranchAndCommit, FIELD, fix).lacking());
        return;
    }
    if says_none(branch) {
        return;
    }
    if matches!(branch, "HEAD" | "(HEAD detached)") {
        let fix = "HEAD is no branch: write its name, or \"detached at <commit>\"";
        findings.push(Finding::warning(Rule::BranchAndCommit, FIELD, fix));
        return;
    }
    let is_named = view.lines().any(|line| line.text.contains(branch));
    let done: HashSet<&str> = view.completed.lines.iter().flat_map(git::said).collect();
    // A branch that only the next steps name may be one that others are started from or merged into.
    let is_meant = |name: &&str| done.contains(name) || !git::TRUNKS.contains(name);
    if let Some(other) = view.lines().flat_map(git::said).find(is_meant).filter(|_| !is_named) {
        let (branch, other) = (text::head(branch, 60), text::head(other, 60));
        let fix = format!("the texts say branch {other}, the receipt {branch}: correct the one that is wrong");
        findings.push(Finding::error(Rule::BranchAndCommit, FIELD, fix).contradicting());
    }
}

fn commits(view: &View<'_>, findings: &mut Vec<Finding>) {
    let field = "work_receipt.result_commit";
    let result = view.receipt_field("result_commit");
    let in_text = view.completed.lines.iter().flat_map(|line| git::hashes(line)).next_back();
    if result.is_empty() {
        let fix = in_text.map_or_else(
            || "add the last commit of the work: git rev-parse --short HEAD prints it; \"none\" if nothing is committed".to_owned(),
            |hash| format!("add the last commit of the work: {hash} is the last that handoff_completed names"),
        );
        findings.push(Finding::warning(Rule::BranchAndCommit, field, fix).lacking());
    }
    for name in ["base_commit", "result_commit"] {
        let commit = view.receipt_field(name);
        let words = git::named_commit(commit);
        // What was cut with git log may be a range.
        let last = words.rsplit("..").next().unwrap_or(&words);
        if commit.is_empty() || says_none(commit) || git::is_commit(last) {
            continue;
        }
        let shown = text::quoted(commit, 40);
        let fix = in_text.filter(|_| name == "result_commit").map_or_else(
            || format!("{shown} is no commit: write its hash, 7 to 40 hex digits, as git rev-parse --short prints it"),
            |hash| format!("{shown} is no commit: write its hash, e.g. {hash}, which handoff_completed names"),
        );
        findings.push(Finding::warning(Rule::BranchAndCommit, &format!("work_receipt.{name}"), fix));
    }
    let result = git::named_commit(result);
    // What is done is added to, so that the head of the last session stands last.
    let head = view.completed.lines.iter().rev().find_map(head);
    if let Some(head) = head.filter(|head| git::is_commit(&result) && !same(head, &result)) {
        let fix = format!(
            "handoff_completed says head {head}, the receipt {}: correct the one that is wrong",
            text::head(&result, 40)
        );
        findings.push(Finding::error(Rule::BranchAndCommit, field, fix).contradicting());
    }
}

/// The commit that a line calls the head.
fn head<'t>(line: &Line<'t>) -> Option<&'t str> {
    let hashes = git::hashes(line);
    hashes.into_iter().find(|hash| {
        let start = hash.as_ptr() as usize - line.text.as_ptr() as usize;
        let before = git::label_before(line.text, start);
        before.ends_with("head") || before.ends_with("result commit") || before.ends_with("result_commit")
    })
}

fn same(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// True for a field of a receipt that says that there is no branch or no commit.
pub fn says_none(field: &str) -> bool {
    let lower = field.to_lowercase();
    vocabulary::is_nothing(field)
        || ["uncommitted", "no commit", "not committed", "none", "未コミット", "なし", "detached"]
            .iter()
            .any(|word| lower.starts_with(word))
}
