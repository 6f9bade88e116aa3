//! The lawful changes of a task: what an update asks for, and the task after it. Must never lose text unasked.

use crate::domain::checkbox::check_boxes;
use crate::domain::handoff;
use crate::domain::receipt::{KeptReceipt, Receipt};
use crate::domain::session::{Observed, SESSION_REF_MAX};
use crate::domain::takeover;
use crate::domain::task::{Actor, Content, Marks, Status, Task, with_line};
use crate::domain::text::{self, grouped, length};
use crate::domain::time::Timestamp;
use crate::error::{Refusal, Result};
use uuid::Uuid;

/// From how many characters on a text is guarded against being shortened by mistake.
const GUARDED_FROM: usize = 1_000;
/// How many boxes of a field a refusal names.
const BOXES_NAMED: usize = 5;
/// How many characters of a box's label a refusal shows.
const LABEL_SHOWN: usize = 60;

/// What an update asks for; every absent part stays as it is.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// New title.
    pub title: Option<String>,
    /// New status.
    pub status: Option<Status>,
    /// New summary.
    pub summary: Option<String>,
    /// New priority.
    pub priority: Option<i64>,
    /// New owner; empty clears.
    pub owner: Option<String>,
    /// New parent; the inner `None` clears.
    pub parent: Option<Option<Uuid>>,
    /// New tags.
    pub tags: Option<Vec<String>>,
    /// New dependencies.
    pub depends_on: Option<Vec<Uuid>>,
    /// New description.
    pub description: Option<String>,
    /// New criteria.
    pub completion_criteria: Option<String>,
    /// New reviews.
    pub required_reviews: Option<String>,
    /// New next steps.
    pub handoff_next: Option<String>,
    /// New blockers.
    pub handoff_blockers: Option<String>,
    /// New completed text.
    pub handoff_completed: Option<String>,
    /// Lines to add to the completed text.
    pub handoff_completed_append: Option<String>,
    /// A receipt to add.
    pub work_receipt: Option<Receipt>,
    /// True if a result memory comes with this update.
    pub has_result: bool,
    /// True if dropping text is meant.
    pub replace: bool,
}

impl Change {
    /// True if it may make a task done, or change what a done one must meet: only then a result is looked for.
    pub fn asks_done(&self) -> bool {
        self.status == Some(Status::Done) || self.completion_criteria.is_some() || self.required_reviews.is_some()
    }
}

/// What the rules need to know beside the task itself.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// True if a result memory of this task is newer than its last reopening; looked at if the change
    /// [asks](Change::asks_done) for it.
    pub result_kept: bool,
    /// This session's last receipt since the task's last takeover; looked at if the change brings one.
    pub previous_receipt: Option<KeptReceipt>,
    /// What the client told.
    pub observed: Observed,
}

/// Text that an update made shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The field.
    pub field: &'static str,
    /// The version in which the old text stands.
    pub version: i64,
    /// Its length in characters.
    pub from: usize,
    /// The new length.
    pub to: usize,
}

/// An accepted change.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The task after it.
    pub task: Task,
    /// The receipt that came with it.
    pub receipt: Option<KeptReceipt>,
    /// Texts made shorter.
    pub losses: Vec<Loss>,
    /// True if it was a takeover.
    pub took_over: bool,
}

impl Task {
    /// The task after `change`, or why it is not allowed. The caller has compared the versions.
    pub fn apply(&self, change: Change, actor: &Actor, facts: &Facts, now: Timestamp) -> Result<Changed> {
        let receipt = change.work_receipt.clone();
        let previous = facts.previous_receipt.as_ref();
        let receipt = receipt.map(|one| one.kept(self.version + 1, &facts.observed, previous)).transpose()?;
        let takeover = self.takeover_by_text(&change, actor)?;
        if let Some(owner) = &takeover {
            self.check_takeover(owner, now, false)?;
            if change.status == Some(Status::Todo) {
                return Err(Refusal::not_allowed(
                    "a takeover line makes an owner and status todo clears it",
                    "Send one of them. Nothing was written.",
                ));
            }
        }
        let mut after = self.clone();
        after.version += 1;
        after.updated = now;
        let losses = self.losses(&change)?;
        self.check_boxes_kept(&change)?;
        let set = Set {
            next: change.handoff_next.is_some(),
            receipt: receipt.is_some(),
            status: change.status,
            owner: change.owner.is_some(),
        };
        let has_result = change.has_result;
        let asks_done = change.asks_done();
        after.content.take(change);
        if let Some(owner) = &takeover {
            after.mark_takeover(owner, now);
        }
        after.settle_owner(self, &set, actor);
        after.mark(self, &set, actor, now);
        after.check_blocked()?;
        if after.content.status == Status::Done && asks_done {
            after.check_done(facts.result_kept || has_result)?;
        }
        Ok(Changed { task: after, receipt, losses, took_over: takeover.is_some() })
    }

    /// The task with an older content written as a new version.
    pub fn revert(&self, content: Content, actor: &Actor, has_result: bool, now: Timestamp) -> Result<Self> {
        let mut after = self.clone();
        after.version += 1;
        after.updated = now;
        let set =
            Set { next: content.handoff_next != self.content.handoff_next, receipt: false, status: None, owner: true };
        after.content = content;
        after.mark(self, &set, actor, now);
        after.check_blocked()?;
        if after.content.status == Status::Done {
            after.check_done(has_result)?;
        }
        Ok(after)
    }

    fn settle_owner(&mut self, before: &Self, set: &Set, actor: &Actor) {
        if set.owner {
            return;
        }
        if set.status == Some(Status::Todo) {
            self.content.owner = None;
        }
        if set.status == Some(Status::InProgress) && before.content.owner.is_none() && self.content.owner.is_none() {
            self.content.owner = Some(actor.who().to_owned());
        }
    }

    fn mark(&mut self, before: &Self, set: &Set, actor: &Actor, now: Timestamp) {
        let version = self.version;
        actor.who().clone_into(&mut self.marks.written_by);
        if set.next {
            self.marks.next_version = if self.content.handoff_next.is_empty() { 0 } else { version };
            self.marks.next_by = Some(actor.who().to_owned());
        }
        if set.receipt {
            self.marks.receipt_version = version;
        }
        if !before.content.status.is_open() && self.content.status.is_open() {
            self.marks.reopened_version = version;
        }
        if self.content.owner != before.content.owner && self.marks.takeover_version != version {
            self.marks.owner_at = None;
        }
        if self.content.owner.as_deref() == Some(actor.who()) {
            self.marks.owner_at = Some(now);
        }
        let pending = self.content.status.is_open()
            && self.marks.next_version > 0
            && self.marks.receipt_version > 0
            && handoff::previous_session(&self.content.handoff_next).is_some();
        if !pending {
            self.marks.pending_version = 0;
            self.marks.pending_at = None;
            self.marks.pending_by = None;
        } else if set.next || set.receipt || self.marks.pending_version == 0 {
            self.marks.pending_version = version;
            self.marks.pending_at = Some(now);
            self.marks.pending_by = Some(actor.who().to_owned());
        }
    }

    /// Marks a takeover by `owner`; what was set before it no longer makes a handoff pending.
    pub(crate) fn mark_takeover(&mut self, owner: &str, now: Timestamp) {
        self.content.owner = Some(owner.to_owned());
        if self.content.status == Status::Todo {
            self.content.status = Status::InProgress;
        }
        self.marks = Marks {
            takeover_version: self.version,
            takeover_by: Some(owner.to_owned()),
            takeover_at: Some(now),
            reopened_version: self.marks.reopened_version,
            owner_at: Some(now),
            written_by: owner.to_owned(),
            ..Marks::default()
        };
    }

    fn takeover_by_text(&self, change: &Change, actor: &Actor) -> Result<Option<String>> {
        let current = &self.content.handoff_completed;
        let line = match (&change.handoff_completed, &change.handoff_completed_append) {
            (Some(whole), _) => takeover::line_in_whole(current, whole),
            (None, Some(addition)) => takeover::line_in_addition(addition),
            (None, None) => takeover::Found::None,
        };
        match line {
            takeover::Found::None => Ok(None),
            takeover::Found::Takeover(words) => match actor.session_ref.as_ref().filter(|_| actor.told) {
                Some(session_ref) => Ok(Some(session_ref.clone())),
                None if words.is_empty() || length(&words) > SESSION_REF_MAX => Err(Refusal::argument(format!(
                    "the takeover line names no session in 1 to {SESSION_REF_MAX} characters"
                ))),
                None => Ok(Some(words)),
            },
            takeover::Found::Misplaced => Err(Refusal::not_allowed(
                "a takeover line may only be added as the one new last line of handoff_completed",
                format!("To record a takeover call {}. Nothing was written.", self.takeover_call()),
            )),
        }
    }

    /// The call that takes this task at its current version.
    pub fn takeover_call(&self) -> String {
        format!("task_takeover task_id={} expected_version={}", self.short_id(), self.version)
    }

    /// Refuses to drop most of a guarded text without being told to; answers what was shortened.
    fn losses(&self, change: &Change) -> Result<Vec<Loss>> {
        let pairs = [
            ("handoff_completed", &self.content.handoff_completed, &change.handoff_completed, true),
            ("description", &self.content.description, &change.description, true),
            ("completion_criteria", &self.content.completion_criteria, &change.completion_criteria, true),
            ("required_reviews", &self.content.required_reviews, &change.required_reviews, true),
            ("handoff_next", &self.content.handoff_next, &change.handoff_next, false),
        ];
        let mut losses = Vec::new();
        for (field, old, new, guarded) in pairs {
            let Some(new) = new else { continue };
            let (from, to) = (length(old), length(new));
            let halved = from > GUARDED_FROM && to * 2 < from;
            if guarded && halved && !change.replace {
                return Err(self.refuse_loss(field, from, to));
            }
            // That a task was taken over stands in its history: with the line that says so nothing is lost.
            if takeover::without_own_lines(new).contains(takeover::without_own_lines(old).trim_end()) {
                continue;
            }
            // What is done is only ever added to: any other text is a loss, whatever its length.
            let dropped = to < from || field == "handoff_completed";
            if halved || (from > 0 && to == 0) || (guarded && dropped) {
                losses.push(Loss { field, version: self.version, from, to });
            }
        }
        Ok(losses)
    }

    fn refuse_loss(&self, field: &str, from: usize, to: usize) -> Refusal {
        let mend = if field == "handoff_completed" {
            format!(
                "To record a takeover call {}; to add lines use handoff_completed_append; to drop the text send replace=true.",
                self.takeover_call()
            )
        } else {
            format!("Send the whole new text of {field}, or replace=true to drop the old one.")
        };
        Refusal::not_allowed(
            format!("this drops {} of {} characters of {field}", grouped(from - to), grouped(from)),
            mend,
        )
        .with("field", field)
        .with("from", from)
        .with("to", to)
    }

    /// The update that sets done may not remove boxes.
    fn check_boxes_kept(&self, change: &Change) -> Result<()> {
        if change.status != Some(Status::Done) {
            return Ok(());
        }
        let pairs = [
            ("completion_criteria", &self.content.completion_criteria, &change.completion_criteria),
            ("required_reviews", &self.content.required_reviews, &change.required_reviews),
        ];
        let mut missing = Vec::new();
        for (field, old, new) in pairs {
            let Some(new) = new else { continue };
            let mut kept: Vec<String> = check_boxes(new).into_iter().map(|one| one.label).collect();
            for old in check_boxes(old) {
                match kept.iter().position(|label| *label == old.label) {
                    Some(position) => drop(kept.swap_remove(position)),
                    None => missing.push(format!("{field} {}", text::quoted(&old.label, LABEL_SHOWN))),
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(Refusal::not_allowed(
            format!(
                "the update that sets done may not remove or reword boxes: {}",
                text::first_of(&missing, 2 * BOXES_NAMED)
            ),
            "Tick them, or change the list in an update of its own first. Nothing was written.",
        ))
    }

    fn check_blocked(&self) -> Result<()> {
        if self.content.status != Status::Blocked || !self.content.handoff_blockers.trim().is_empty() {
            return Ok(());
        }
        Err(Refusal::not_allowed(
            "status blocked needs handoff_blockers",
            "Say what blocks, who moves next and what is needed. Nothing was written.",
        ))
    }

    fn check_done(&self, has_result: bool) -> Result<()> {
        let open = self.content.open_boxes();
        if open.is_empty() && has_result {
            return Ok(());
        }
        let mut missing = Vec::new();
        for field in ["completion_criteria", "required_reviews"] {
            let labels = open.iter().filter(|(one, _)| *one == field);
            let labels: Vec<String> = labels.map(|(_, label)| text::quoted(label, LABEL_SHOWN)).collect();
            if !labels.is_empty() {
                let noun = if labels.len() == 1 { "box" } else { "boxes" };
                let named = text::first_of(&labels, BOXES_NAMED);
                missing.push(format!("{} open {noun} ticked in {field} ({named})", labels.len()));
            }
        }
        let mut mend = String::new();
        if !has_result {
            missing.push("a result".to_owned());
            "send result, or memory_add kind=result with this task_id. ".clone_into(&mut mend);
        }
        let next = match (open.is_empty(), has_result) {
            (false, false) => format!("Tick what holds and {mend}"),
            (false, true) => "Tick what holds. ".to_owned(),
            _ => format!("S{}", &mend[1..]),
        };
        Err(Refusal::not_allowed(
            format!("status done needs {}", text::listed(&missing)),
            format!("{next}Nothing was written."),
        ))
    }
}

struct Set {
    next: bool,
    receipt: bool,
    status: Option<Status>,
    owner: bool,
}

impl Content {
    fn take(&mut self, change: Change) {
        let texts = [
            (&mut self.title, change.title),
            (&mut self.summary, change.summary),
            (&mut self.description, change.description),
            (&mut self.completion_criteria, change.completion_criteria),
            (&mut self.required_reviews, change.required_reviews),
            (&mut self.handoff_next, change.handoff_next),
            (&mut self.handoff_blockers, change.handoff_blockers),
            (&mut self.handoff_completed, change.handoff_completed),
        ];
        for (field, new) in texts {
            if let Some(new) = new {
                *field = new;
            }
        }
        if let Some(addition) = change.handoff_completed_append {
            self.handoff_completed = with_line(&self.handoff_completed, &addition);
        }
        if let Some(owner) = change.owner {
            self.owner = Some(owner).filter(|owner| !owner.is_empty());
        }
        self.status = change.status.unwrap_or(self.status);
        self.priority = change.priority.unwrap_or(self.priority);
        self.parent = change.parent.unwrap_or(self.parent);
        if let Some(tags) = change.tags {
            self.tags = tags;
        }
        if let Some(depends_on) = change.depends_on {
            self.depends_on = depends_on;
        }
    }
}
