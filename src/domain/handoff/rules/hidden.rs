//! `no-hidden-characters`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::subject::View;
use crate::domain::hidden;
use crate::domain::receipt::Receipt;
use crate::domain::rule::Rule;

/// Asks that no text holds characters that a reader cannot see: the tag block, zero-width characters, direction overrides.
///
/// They hide instructions from the person who reviews a text and not from the model that reads it. What scripts and emoji
/// need is left alone; see [`crate::domain::hidden`]. Contract section 5.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    let content = view.subject.content;
    let short = [("title", content.title.as_str()), ("summary", &content.summary)];
    let texts = short.into_iter().chain(content.texts());
    let receipt = view.subject.receipt.map(Receipt::fields).into_iter().flatten();
    let receipt = receipt.filter_map(|(name, value)| Some((format!("work_receipt.{name}"), value.as_deref()?)));
    findings.extend(texts.filter_map(|(name, text)| of_text(name, text)));
    findings.extend(receipt.filter_map(|(name, text)| of_text(&name, text)));
}

/// What is found in one text.
pub(super) fn of_text(field: &str, text: &str) -> Option<Finding> {
    hidden::problem(text).map(|fix| Finding::warning(Rule::NoHiddenCharacters, field, fix))
}
