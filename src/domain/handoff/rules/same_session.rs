//! `same-session`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::line::previous_session;
use crate::domain::handoff::subject::View;
use crate::domain::rule::Rule;
use crate::domain::session::{in_a_sentence, session_ref_problem};

const FIELD: &str = "work_receipt.session_ref";

/// Asks that the session that wrote `handoff_next`, and the one that its last line names, is the receipt's.
///
/// Otherwise the steps are of one session and the facts of another, and a late message goes to the wrong one. Contract
/// section 5; the last seed ("actual `session_ref`"). A caller whose session is not known is not compared.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    let receipt = view.receipt_field("session_ref");
    let is_session = |one: &&str| session_ref_problem(one).is_none();
    if view.is_document() || !is_session(&receipt) {
        return;
    }
    let named = previous_session(&view.subject.content.handoff_next).filter(is_session);
    let writer = view.subject.next_by.filter(is_session);
    if let Some(other) = named.filter(|named| *named != receipt) {
        let (other, receipt) = (in_a_sentence(other), in_a_sentence(receipt));
        let fix = format!("the last line names {other}, the receipt is of {receipt}: name the session that wrote both");
        findings.push(Finding::error(Rule::SameSession, FIELD, fix).contradicting().or_in("handoff_next"));
    } else if let Some(other) = writer.filter(|writer| *writer != receipt) {
        let (other, receipt) = (in_a_sentence(other), in_a_sentence(receipt));
        let fix = format!(
            "handoff_next was written by {other}, the receipt is of {receipt}: let one session write both anew"
        );
        findings.push(Finding::error(Rule::SameSession, FIELD, fix).contradicting().or_in("handoff_next"));
    }
}
