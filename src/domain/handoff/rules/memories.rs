//! `memories-exist`.

use std::collections::HashSet;

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::subject::{NamedMemory, View};
use crate::domain::memory;
use crate::domain::rule::Rule;
use crate::domain::text;

/// The most ids that one finding names.
const IDS_NAMED: usize = 10;

/// Asks that every memory that is named exists and is not superseded, and that the decisions of this session are named.
///
/// A decision that nobody names is made again, and one that was replaced is followed: both mislead. Both seeds ("name
/// their ids in `handoff_next`"). One finding for each field and each thing wrong, however many memories it is about.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    let content = view.subject.content;
    let fields = [
        ("handoff_next", &content.handoff_next),
        ("handoff_completed", &content.handoff_completed),
        ("handoff_blockers", &content.handoff_blockers),
    ];
    let ids = fields.map(|(name, text)| (name, memory::named_ids([text.as_str()]).into_iter().collect::<HashSet<_>>()));
    let field_of = |id: &str| {
        let named = ids.iter().find(|(_, ids)| ids.contains(id));
        named.map_or("handoff_blockers", |(name, _)| *name)
    };
    let named = view.subject.named;
    let placed: Vec<(&str, &NamedMemory)> = named.iter().map(|one| (field_of(&one.memory_id), one)).collect();
    for (field, _) in fields {
        let here = || placed.iter().filter(|(place, _)| *place == field).map(|(_, one)| *one);
        let unknown: Vec<String> = here().filter(|one| !one.exists).map(|one| one.memory_id.clone()).collect();
        if !unknown.is_empty() {
            let (verb, them) = if unknown.len() == 1 { ("does", "it") } else { ("do", "them") };
            let fix =
                format!("{} {verb} not exist in this project: correct {them}", text::first_of(&unknown, IDS_NAMED));
            findings.push(Finding::error(Rule::MemoriesExist, field, fix).contradicting());
        }
        let old = here().filter(|one| one.exists);
        let old = old.filter_map(|one| one.superseded_by.as_ref().map(|newer| (&one.memory_id, newer)));
        let old: Vec<String> = old.map(|(id, newer)| format!("{id} is superseded by {newer}")).collect();
        if !old.is_empty() {
            let them = if old.len() == 1 { "that one" } else { "those" };
            let fix = format!("{}: name {them}", text::first_of(&old, IDS_NAMED));
            findings.push(Finding::warning(Rule::MemoriesExist, field, fix).contradicting());
        }
    }
    let unnamed = view.subject.unnamed_decisions;
    if !unnamed.is_empty() {
        let fix = format!("name the decisions added in this session: {}", text::first_of(unnamed, IDS_NAMED));
        findings.push(Finding::warning(Rule::MemoriesExist, "handoff_next", fix));
    }
}
