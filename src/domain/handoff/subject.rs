//! What the rules look at: a task's handoff or a loose document, read once. Must never look anything up itself.

use crate::domain::language::Tongue;
use crate::domain::markdown::{Document, Kind, Line};
use crate::domain::memory;
use crate::domain::receipt::Receipt;
use crate::domain::rule::Settings;
use crate::domain::task::Content;

use super::vocabulary;

/// What is known about a memory that a text names.
#[derive(Clone, Debug)]
pub struct NamedMemory {
    /// The id.
    pub memory_id: String,
    /// True if it exists in the project.
    pub exists: bool,
    /// What replaces it.
    pub superseded_by: Option<String>,
}

/// In what form a handoff is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// As a task with its fields and receipts, or a draft of one.
    #[default]
    Task,
    /// As a document by itself: it has no receipt, status or summary, and what those would say stands in the text.
    Document,
}

/// What the rules look at.
#[derive(Debug)]
pub struct Subject<'s> {
    /// The form.
    pub form: Form,
    /// The task's content.
    pub content: &'s Content,
    /// The last receipt since the takeover, if one came.
    pub receipt: Option<&'s Receipt>,
    /// The session that wrote the next steps, where that is known.
    pub next_by: Option<&'s str>,
    /// The project's working language, where there is one.
    pub language: Option<&'s str>,
    /// What is known of the memories that the texts name; those that nothing is known of are not judged.
    pub named: &'s [NamedMemory],
    /// Decisions that this session added for this task and no text names.
    pub unnamed_decisions: &'s [String],
    /// What the project does with each rule: one that is off finds nothing.
    pub settings: &'s Settings,
    /// False to leave out what a handoff lacks: for work on the way, which is none yet.
    pub is_whole: bool,
}

/// The memory ids that a handoff names.
pub fn memories_named(content: &Content) -> Vec<String> {
    memory::named_ids([content.handoff_next.as_str(), &content.handoff_completed, &content.handoff_blockers])
}

/// A subject with its texts read.
pub(super) struct View<'s> {
    pub(super) subject: &'s Subject<'s>,
    pub(super) next: Document<'s>,
    pub(super) completed: Document<'s>,
    pub(super) blockers: Document<'s>,
    /// What the receipt says about tests.
    pub(super) tests: Document<'s>,
    /// Which words are understood.
    pub(super) tongue: Tongue,
}

impl<'s> View<'s> {
    pub(super) fn of(subject: &'s Subject<'s>) -> Self {
        let content = subject.content;
        let tests = subject.receipt.and_then(|receipt| receipt.tests.as_deref()).unwrap_or_default();
        let (next, completed) = (Document::of(&content.handoff_next), Document::of(&content.handoff_completed));
        let tongue = Tongue::of([&completed, &next]);
        let blockers = Document::of(&content.handoff_blockers);
        Self { subject, next, completed, blockers, tests: Document::of(tests), tongue }
    }

    pub(super) fn is_document(&self) -> bool {
        self.subject.form == Form::Document
    }

    /// The lines of what is done and of what comes next.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line<'s>> {
        self.completed.lines.iter().chain(&self.next.lines)
    }

    /// A field of the receipt, without white space around it; empty if it is not there.
    pub(super) fn receipt_field(&self, name: &str) -> &'s str {
        let fields = self.subject.receipt.map(Receipt::fields).into_iter().flatten();
        let mut values = fields.filter(|(one, _)| *one == name).filter_map(|(_, value)| value.as_deref());
        values.next().unwrap_or_default().trim()
    }
}

/// A loose document as a handoff: its sections by their headings. What no heading tells is what is done.
pub fn document(text: &str) -> Content {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut content = Content::default();
    let read = Document::of(text);
    let mut headings = read.lines.iter().filter_map(|line| match line.kind {
        Kind::Heading(level) => Some((line.number, level, line.text)),
        _ => None,
    });
    let mut following = headings.next();
    // Which field a section goes to, and the level of the heading that began it.
    let mut section = (Section::Completed, 7);
    for (number, line) in (1..).zip(lines) {
        if let Some((at, level, heading)) = following
            && at == number
        {
            following = headings.next();
            let named = Section::of(heading);
            if level <= section.1 || named.is_some() {
                section = named.map_or((Section::Completed, 7), |named| (named, level));
            }
            if level == 1 && content.title.is_empty() {
                heading.clone_into(&mut content.title);
            }
        }
        let Content { handoff_next, handoff_blockers, handoff_completed, .. } = &mut content;
        let (field, others) = match section.0 {
            Section::Next => (handoff_next, [handoff_blockers, handoff_completed]),
            Section::Blockers => (handoff_blockers, [handoff_next, handoff_completed]),
            Section::Completed => (handoff_completed, [handoff_next, handoff_blockers]),
        };
        field.push_str(line);
        // A blank line in its place, so that every line keeps its number in the document.
        if line.ends_with('\n') {
            for other in others {
                other.push('\n');
            }
        }
    }
    content
}

#[derive(Clone, Copy)]
enum Section {
    Completed,
    Next,
    Blockers,
}

impl Section {
    fn of(heading: &str) -> Option<Self> {
        let lower = heading.to_lowercase();
        if vocabulary::NOT_NEXT.are_in(&lower) {
            return None;
        }
        if vocabulary::NEXT.are_in(&lower) {
            return Some(Self::Next);
        }
        vocabulary::BLOCKERS.are_in(&lower).then_some(Self::Blockers)
    }
}
