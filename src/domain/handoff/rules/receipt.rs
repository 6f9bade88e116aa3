//! `receipt-complete`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::shape::totals;
use crate::domain::handoff::subject::View;
use crate::domain::rule::Rule;

/// Asks for a receipt, and for the fields that a reader needs: who worked, from which commit, what came of it, what is next.
///
/// A receipt is what can be compared with git and with another receipt later; a field that is left out cannot be told from
/// one that was forgotten. The last seed lists them. The branch and the result are `branch-and-commit`'s, and tests that
/// are told nowhere are `tests-with-numbers`'.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    if view.is_document() {
        return;
    }
    let Some(receipt) = view.subject.receipt else {
        let fix = "send work_receipt with session_ref, branch, base_commit, result_commit, tests, completed_work and next_step";
        findings.push(Finding::error(Rule::ReceiptComplete, "work_receipt", fix).lacking());
        return;
    };
    let is_tested = view.completed.lines.iter().any(|line| totals::has_totals(line.text));
    let needed = ["session_ref", "harness", "model", "base_commit", "completed_work", "next_step"];
    let is_needed = |name: &str| needed.contains(&name) || (name == "tests" && is_tested);
    let missing: Vec<&str> = receipt
        .fields()
        .into_iter()
        .filter(|(name, value)| is_needed(name) && value.as_deref().unwrap_or_default().trim().is_empty())
        .map(|(name, _)| name)
        .collect();
    if !missing.is_empty() {
        let fix = format!("add {}; write \"none\" where there is none", missing.join(", "));
        let field = match &missing[..] {
            [one] => format!("work_receipt.{one}"),
            _ => "work_receipt".to_owned(),
        };
        findings.push(Finding::warning(Rule::ReceiptComplete, &field, fix).lacking());
    }
}
