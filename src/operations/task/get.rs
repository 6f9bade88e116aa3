//! `task_get`.

mod changes;
mod piece;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::domain::receipt::KeptReceipt;
use crate::domain::session::{self, Observed};
use crate::domain::task::{Content, Task, short_id};
use crate::domain::verification::{self, Verdict};
use crate::error::{Refusal, Result};
use crate::operation::{Context, Effect, Operation, Place};
use crate::operations::budget::{
    self, Part, Section, cost_of, cost_of_fields, cost_of_parts, put_texts, rooms, rows_within,
};
use crate::operations::message::{Waiting, waiting, waiting_ahead};
use crate::operations::task::{load, load_ahead, whole_id};
use crate::store::backend::Ahead;
use crate::store::version::{self, Version};

/// Read one task and its current version. version: an old one. `since_version`: what changed after it. field, offset: the rest of a text that was cut.
#[derive(Deserialize, JsonSchema)]
pub struct TaskGet {
    /// The task: its id or the beginning of it, at least 4 characters.
    #[schemars(extend("x-check" = "task", "x-position" = true, "x-wire" = "id or prefix"))]
    task_id: String,
    /// An old version to read instead of the current one.
    #[schemars(range(min = 1))]
    version: Option<i64>,
    /// Answers what changed after this version instead of the task.
    #[schemars(range(min = 1))]
    since_version: Option<i64>,
    /// Answers one text field, e.g. `handoff_completed`, `receipt.tests` or `message.<id>`, instead of the task; a list, e.g.
    /// `tags`, is answered as the text of its JSON.
    field: Option<String>,
    /// From which character of the field, counted from 0.
    #[schemars(range(min = 0))]
    offset: Option<i64>,
}

impl Operation for TaskGet {
    const NAME: &'static str = "task_get";
    const COMMAND: &'static str = "task get";
    const EFFECT: Effect = Effect::Reads;

    fn problems(given: &Map<String, Value>, _observed: &Observed) -> Vec<String> {
        let has = |name: &str| given.contains_key(name);
        let mut problems = Vec::new();
        if has("since_version") && (has("version") || has("field")) {
            problems.push("since_version goes with neither version nor field".to_owned());
        }
        if has("offset") && !has("field") {
            problems.push("offset needs field: which text to read on".to_owned());
        }
        problems
    }

    fn asks_first(given: &Map<String, Value>, place: &Place) -> Ahead {
        let mut ahead = load_ahead(given, place);
        // The task as it stands needs no more than its id.
        let as_it_stands = !["version", "since_version", "field"].iter().any(|name| given.contains_key(*name));
        if let Some(id) = whole_id(given).filter(|_| as_it_stands) {
            ahead.statements.extend([version::receipts(id, NEWEST).statement(), waiting_ahead(id, place)]);
            ahead.is_all = true;
        }
        ahead
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let task = load(context, &self.task_id).await?;
        check_exists(&task, "version", self.version)?;
        check_exists(&task, "since_version", self.since_version)?;
        if let Some(since) = self.since_version {
            return changes::since(context, &task, since).await;
        }
        let shown = shown(context, task, self.version).await?;
        match self.field {
            Some(field) => piece::of(context, &shown, &field, self.offset.unwrap_or(0)).await,
            None => whole(context, shown).await,
        }
    }
}

fn check_exists(task: &Task, name: &str, version: Option<i64>) -> Result<()> {
    match version {
        Some(version) if version > task.version => Err(Refusal::not_found(
            format!("task {} is at version {}, {name} is {version}", task.short_id(), task.version),
            "Read an existing version; if you were told of a higher one, this is another server or data was lost: tell the owner.",
        )
        .with("current_version", task.version)),
        _ => Ok(()),
    }
}

/// A task at one of its versions.
struct Shown {
    task: Task,
    version: i64,
    /// What it said then and who wrote that, unless it is the current version.
    past: Option<(Content, Version)>,
}

impl Shown {
    fn content(&self) -> &Content {
        self.past.as_ref().map_or(&self.task.content, |(content, _)| content)
    }
}

async fn shown(context: &mut Context<'_>, task: Task, version: Option<i64>) -> Result<Shown> {
    let version = version.unwrap_or(task.version);
    if version == task.version {
        return Ok(Shown { task, version, past: None });
    }
    let past = version::content_at(context.transaction, task.task_id, version).await?;
    let past = past.ok_or_else(|| Refusal::internal(&"a version is missing from history"))?;
    Ok(Shown { task, version, past: Some(past) })
}

/// The calls that read on in a task at one of its versions.
pub(crate) struct ReadOn(String);

impl ReadOn {
    /// At that version; the current one needs no naming.
    pub(crate) fn new(task: &Task, version: i64) -> Self {
        let at = if version == task.version { String::new() } else { format!(" version={version}") };
        Self(format!("task_get task_id={}{at}", task.short_id()))
    }

    /// A field from its beginning.
    pub(crate) fn field(&self, field: &str) -> String {
        format!("{} field={field}", self.0)
    }

    /// A field from that character on.
    pub(crate) fn from(&self, field: &str, offset: usize) -> String {
        format!("{} field={field} offset={offset}", self.0)
    }
}

async fn whole(context: &mut Context<'_>, shown: Shown) -> Result<Value> {
    let Shown { task, version, past } = &shown;
    let content = shown.content();
    let read_on = ReadOn::new(task, *version);
    let mut answer = head(&shown);
    context.transaction.end_with_next();
    let found = version::receipts(task.task_id, if past.is_none() { NEWEST } else { *version });
    let (found, messages) = if past.is_none() {
        let waiting = waiting(context, task.task_id)?;
        context.transaction.ask_both(found, waiting).await?
    } else {
        (context.transaction.ask(found).await?, Waiting::NONE)
    };
    let (kept, receipts) = found.map_or((None, 0), |(last, count)| (Some(last), count));
    answer.insert("receipts".to_owned(), json!(receipts));

    let names = names(content);
    let texts: Vec<Part<'_>> = content.texts().into_iter().map(|(name, text)| Part::of(name, text)).collect();
    let receipt = |room| kept.as_ref().map(|kept| receipt_in_short(kept, &read_on, true, room));
    let told = kept.as_ref().map_or(0, room_of_verification);
    let sections = [
        Section { cost: cost_of_parts(&names), least: 900, most: NAMES },
        Section { cost: budget::cost_of_texts(&content.tags), least: 500, most: 1_200 },
        messages.section(),
        Section { cost: receipt(usize::MAX).as_ref().map_or(0, cost_of), least: 1_750 + told, most: 3_000 + told },
        Section { cost: cost_of_parts(&texts), least: 200 * texts.len(), most: usize::MAX },
    ];
    let spent = cost_of_fields(&answer) + OVERHEAD;
    let [for_names, for_tags, for_messages, for_receipt, for_texts] =
        rooms(budget::ANSWER.saturating_sub(spent), &sections);

    let mut cut = put_texts(&mut answer, &names, for_names, |field, offset| read_on.from(field, offset));
    put_tags(&mut answer, &mut cut, content, for_tags, &read_on);
    answer.shift_remove("receipts");
    cut.extend(put_texts(&mut answer, &texts, for_texts, |field, offset| read_on.from(field, offset)));
    answer.insert("receipts".to_owned(), json!(receipts));
    if let Some(receipt) = receipt(for_receipt) {
        answer.insert("receipt".to_owned(), receipt);
    }
    answer.insert("messages".to_owned(), json!(messages.within(for_messages)));
    if !cut.is_empty() {
        answer.insert("cut".to_owned(), Value::Object(cut));
    }
    Ok(Value::Object(answer))
}

/// The newest of all versions, whichever it is.
const NEWEST: i64 = i64::MAX;
/// How many fields an answer has at most.
const FIELDS: usize = 28;
/// What the names of an answer's parts and its `cut` cost.
const OVERHEAD: usize = 80;
/// What the object costs that names what was cut.
const CUT: usize = 15;
/// What title, summary and owner cost at most in ordinary letters; they are cut only for texts of rare ones.
pub(crate) const NAMES: usize = 5_000;

/// The short texts, which are cut last.
pub(crate) fn names(content: &Content) -> Vec<Part<'_>> {
    let mut names = vec![Part::of("title", &content.title), Part::of("summary", &content.summary)];
    names.extend(content.owner.as_ref().map(|owner| Part::of("owner", owner)));
    names
}

/// Everything of a fixed size, with the places of the short texts.
fn head(shown: &Shown) -> Map<String, Value> {
    let Shown { task, version, past } = shown;
    let content = shown.content();
    let mut answer = Map::with_capacity(FIELDS);
    let mut put = |name: &str, value: Value| answer.insert(name.to_owned(), value);
    put("task_id", json!(task.task_id));
    put("version", json!(version));
    put("current_version", json!(task.version));
    put("status", json!(content.status));
    put("priority", json!(content.priority));
    put("title", json!(""));
    put("summary", json!(""));
    put("owner", json!(null));
    put("tags", json!([]));
    put("parent", json!(content.parent));
    put("depends_on", json!(content.depends_on.iter().map(|id| short_id(*id)).collect::<Vec<_>>()));
    put("created", json!(task.created.rfc3339()));
    match past {
        None => {
            put("updated", json!(task.updated.rfc3339()));
            put("written_by", json!(session::clipped(&task.marks.written_by)));
            if let Some(handoff) = handoff_state(task) {
                put("handoff", handoff);
            }
        }
        Some((_, author)) => {
            put("written", json!(author.at.rfc3339()));
            put("written_by", json!(session::clipped(author.who())));
            put("connection", json!(author.author.connection));
        }
    }
    answer
}

/// The first tags that fit; where some do not, the call that brings them all.
fn put_tags(
    answer: &mut Map<String, Value>,
    cut: &mut Map<String, Value>,
    content: &Content,
    room: usize,
    read_on: &ReadOn,
) {
    if budget::cost_of_texts(&content.tags) <= room {
        answer.insert("tags".to_owned(), json!(content.tags));
        return;
    }
    let tags: Vec<Value> = content.tags.iter().map(|tag| json!(tag)).collect();
    let rest = read_on.field("tags");
    let said = cost_of(&budget::cut(tags.len(), tags.len(), &rest));
    let (shown, left) = rows_within(tags, room.saturating_sub(said + 14));
    cut.insert("tags".to_owned(), budget::cut(shown.len(), shown.len() + left, &rest));
    answer.insert("tags".to_owned(), Value::Array(shown));
}

/// Where the handoff stands: pending or taken over; `None` if there is none.
pub(crate) fn handoff_state(task: &Task) -> Option<Value> {
    let marks = &task.marks;
    let by = |session: Option<&String>| session.map(|session| session::clipped(session));
    if marks.pending_version > 0 {
        let at = marks.pending_at.map(crate::domain::time::Timestamp::rfc3339);
        return Some(
            json!({"state": "pending", "version": marks.pending_version, "at": at, "by": by(marks.pending_by.as_ref())}),
        );
    }
    if marks.takeover_version > 0 && task.content.owner.is_some() {
        let at = marks.takeover_at.map(crate::domain::time::Timestamp::rfc3339);
        return Some(
            json!({"state": "taken_over", "version": marks.takeover_version, "at": at, "by": by(marks.takeover_by.as_ref())}),
        );
    }
    None
}

/// A receipt whose fields share `room`, short ones whole; `whole` adds the fields that repeat the handoff's texts.
pub(crate) fn receipt_in_short(kept: &KeptReceipt, read_on: &ReadOn, whole: bool, room: usize) -> Value {
    let mut answer = Map::new();
    answer.insert("v".to_owned(), json!(kept.version));
    let mut marks = Map::new();
    for (name, fields) in [("observed", &kept.observed), ("carried", &kept.carried)] {
        if !fields.is_empty() {
            marks.insert(name.to_owned(), json!(fields));
        }
    }
    let (said, cut_differences) = verified(kept, read_on);
    marks.extend(said);
    let fields = kept.receipt.fields();
    let parts = fields.iter().filter_map(|(name, text)| {
        let repeats = matches!(*name, "completed_work" | "next_step" | "blockers");
        let text = text.as_deref().filter(|text| !text.is_empty() && (whole || !repeats))?;
        Some(Part::of(name, text))
    });
    let parts: Vec<Part<'_>> = parts.collect();
    let mut room = room.saturating_sub(cost_of_fields(&answer) + cost_of_fields(&marks) - 2);
    if cost_of_parts(&parts) > room {
        room = room.saturating_sub(CUT);
    }
    let from = |field: &str, offset: usize| read_on.from(&format!("receipt.{field}"), offset);
    let mut cut = put_texts(&mut answer, &parts, room, from);
    answer.extend(marks);
    cut.extend(cut_differences.map(|one| ("differences".to_owned(), one)));
    if !cut.is_empty() {
        answer.insert("cut".to_owned(), Value::Object(cut));
    }
    Value::Object(answer)
}

/// How many contradictions are shown.
const DIFFERENCES: usize = 3;
/// What one of them may cost.
const DIFFERENCE: usize = 200;
/// What an answer needs to say them and where the rest is.
const CONTRADICTED: usize = DIFFERENCES * (DIFFERENCE + 10) + 180;

/// What a receipt needs besides, where a verification told something.
pub(crate) fn room_of_verification(kept: &KeptReceipt) -> usize {
    verification::last(kept).map_or(0, |_| CONTRADICTED)
}

/// What the last verification told, and what of it was cut.
fn verified(kept: &KeptReceipt, read_on: &ReadOn) -> (Map<String, Value>, Option<Value>) {
    let mut said = Map::new();
    let Some(last) = verification::last(kept) else {
        said.insert("verified".to_owned(), json!(Verdict::Unverified));
        return (said, None);
    };
    said.insert("verified".to_owned(), json!(last.verdict));
    said.insert("verified_at".to_owned(), json!(last.at.to_minute()));
    let whole = last.contradictions();
    let shown: Vec<String> = whole.iter().take(DIFFERENCES).map(|line| budget::clipped(line, DIFFERENCE)).collect();
    let is_cut = shown.len() < whole.len() || shown.iter().zip(&whole).any(|(shown, whole)| shown != whole);
    let cut = is_cut.then(|| budget::cut(shown.len(), whole.len(), &read_on.field("receipt.differences")));
    if !shown.is_empty() {
        said.insert("differences".to_owned(), json!(shown));
    }
    (said, cut)
}
