//! The task: what it says, and what its versions say about handoffs. Must never look at a clock to decide a conflict.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::domain::checkbox::check_boxes;
use crate::domain::handoff::{self, Grade};
use crate::domain::text::{self, grouped, length};
use crate::domain::time::Timestamp;
use crate::error::{Code, Refusal, Result};

/// Where a task stands.
#[expect(missing_docs, reason = "a comment on a variant would split the schema's enum into alternatives")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Todo,
    InProgress,
    Blocked,
    Done,
    Cancelled,
}

impl Status {
    /// All of them, in the order of the contract.
    pub const ALL: [Self; 5] = [Self::Todo, Self::InProgress, Self::Blocked, Self::Done, Self::Cancelled];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// True unless done or cancelled.
    pub const fn is_open(self) -> bool {
        !matches!(self, Self::Done | Self::Cancelled)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What a version of a task says: every field that history keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Content {
    /// 1 to 200 characters.
    pub title: String,
    /// Where the task stands.
    pub status: Status,
    /// The state in one sentence, at most 280 characters.
    pub summary: String,
    /// 0 (highest) to 4.
    pub priority: i64,
    /// A session or a person.
    pub owner: Option<String>,
    /// The task that this one belongs to.
    pub parent: Option<Uuid>,
    /// Up to 50.
    pub tags: Vec<String>,
    /// Tasks that come first.
    pub depends_on: Vec<Uuid>,
    /// What the task is.
    pub description: String,
    /// Check boxes.
    pub completion_criteria: String,
    /// Check boxes.
    pub required_reviews: String,
    /// The first step, then the rest.
    pub handoff_next: String,
    /// What blocks, who moves next, what is needed.
    pub handoff_blockers: String,
    /// What is prepared, tested, deployed, verified.
    pub handoff_completed: String,
}

impl Content {
    /// The fields by name, in order.
    pub fn fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }

    /// The fields of `self` that differ from `before`.
    pub fn changes_since(&self, before: &Self) -> Map<String, Value> {
        let old = before.fields();
        self.fields().into_iter().filter(|(name, value)| old.get(name) != Some(value)).collect()
    }

    /// The long texts by name, the most useful to a successor first.
    pub fn texts(&self) -> [(&'static str, &str); 6] {
        [
            ("handoff_next", &self.handoff_next),
            ("handoff_blockers", &self.handoff_blockers),
            ("handoff_completed", &self.handoff_completed),
            ("description", &self.description),
            ("completion_criteria", &self.completion_criteria),
            ("required_reviews", &self.required_reviews),
        ]
    }

    /// The labels of the boxes that are not ticked yet, each with its field.
    pub fn open_boxes(&self) -> Vec<(&'static str, String)> {
        [("completion_criteria", &self.completion_criteria), ("required_reviews", &self.required_reviews)]
            .into_iter()
            .flat_map(|(field, text)| {
                let open = check_boxes(text).into_iter().filter(|one| !one.ticked);
                open.map(move |one| (field, one.label))
            })
            .collect()
    }
}

/// What the versions say about takeovers and handoffs; kept beside the content so that no reader has to replay history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The version of the last takeover, 0 if there was none.
    pub takeover_version: i64,
    /// Who took over.
    pub takeover_by: Option<String>,
    /// When.
    pub takeover_at: Option<Timestamp>,
    /// The version that set `handoff_next` since the last takeover, 0 if none did.
    pub next_version: i64,
    /// The session (else the caller) that set it.
    pub next_by: Option<String>,
    /// The version of the last receipt since the last takeover, 0 if none came.
    pub receipt_version: i64,
    /// The version that made the handoff pending, 0 if none is.
    pub pending_version: i64,
    /// Since when.
    pub pending_at: Option<Timestamp>,
    /// By which session.
    pub pending_by: Option<String>,
    /// The version that reopened the task last, 0 if none did.
    pub reopened_version: i64,
    /// When the owner wrote last.
    pub owner_at: Option<Timestamp>,
    /// Who wrote last: the session where known, else the caller.
    pub written_by: String,
    /// How good the handoff was when it was last written; none where none is told.
    pub grade: Option<Grade>,
}

/// A task as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The database's own number of it, by which its words are found; 0 before it is stored.
    pub task_key: i64,
    /// Random, version 4; the first 8 characters are the public pointer.
    pub task_id: Uuid,
    /// 1 when created; every accepted change makes one more.
    pub version: i64,
    /// What it says.
    pub content: Content,
    /// What its versions say about handoffs.
    pub marks: Marks,
    /// When it was created.
    pub created: Timestamp,
    /// When the current version was written.
    pub updated: Timestamp,
}

/// Who writes.
#[derive(Clone, Debug)]
pub struct Actor {
    /// The credential's name.
    pub caller: String,
    /// The session, where it is known.
    pub session_ref: Option<String>,
    /// True if this call or its client told the session; false if it is the one that the connection named before.
    pub told: bool,
}

impl Actor {
    /// The session, else the caller.
    pub fn who(&self) -> &str {
        self.session_ref.as_deref().unwrap_or(&self.caller)
    }
}

impl Task {
    /// The first 8 characters of the id.
    pub fn short_id(&self) -> String {
        short_id(self.task_id)
    }

    /// `handoff: 8e287857 v7`.
    pub fn line(&self) -> String {
        handoff::line(self.task_id, self.version)
    }

    /// A new task at version 1.
    pub fn create(task_id: Uuid, content: Content, actor: &Actor, now: Timestamp) -> Self {
        let marks = Marks { written_by: actor.who().to_owned(), ..Marks::default() };
        Self { task_key: 0, task_id, version: 1, content, marks, created: now, updated: now }
    }
}

/// `text` with `addition` on a line of its own below; nothing of either is changed.
pub fn with_line(text: &str, addition: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { format!("{text}{addition}") } else { format!("{text}\n{addition}") }
}

/// Refuses texts over the limit that only came about by adding lines.
pub fn check_length(field: &str, value: &str) -> Result<()> {
    let length = length(value);
    if length <= text::TEXT_MAX {
        return Ok(());
    }
    Err(Refusal::new(
        Code::TooLarge,
        format!("{field} would have {} characters, at most {}", grouped(length), grouped(text::TEXT_MAX)),
        "Replace the text by a shorter one first. Nothing was written.",
    ))
}

/// The first 8 characters of a task id.
pub fn short_id(task_id: Uuid) -> String {
    task_id.simple().to_string()[..8].to_owned()
}

/// What is wrong with a task id or prefix for reading, if anything is; to follow the field's name.
pub fn reference_problem(given: &str) -> Option<String> {
    let hex = given.chars().filter(char::is_ascii_hexdigit).count();
    let lawful = given.chars().all(|character| character.is_ascii_hexdigit() || character == '-');
    if !lawful || given.starts_with('-') || hex > 32 {
        return Some(format!("{} is no task id", text::quoted(given, 60)));
    }
    (hex < 4).then(|| format!("{} is too short: at least the first 4 characters of a task id", text::quoted(given, 60)))
}

/// What is wrong with a task id for writing, if anything is: the full id or exactly its first 8 characters.
pub fn pointer_problem(given: &str) -> Option<String> {
    let is_short = given.len() == 8 && given.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_short || Uuid::parse_str(given).is_ok() {
        return None;
    }
    let shown = text::quoted(given, 60);
    Some(match reference_problem(given) {
        Some(_) => format!("{shown} is no task id"),
        None => format!("{shown} is part of an id: writes need the full id or exactly its first 8 characters"),
    })
}

/// True if the stored task has every value that an update asks for; other tasks may be named by their first 8.
pub fn stored_values_equal(task: &Task, asked: &Map<String, Value>) -> bool {
    let stored = task.content.fields();
    let mut known = asked.iter().filter_map(|(name, value)| Some((stored.get(name)?, value))).peekable();
    known.peek().is_some() && known.all(|(stored, asked)| same_value(stored, asked))
}

fn same_value(stored: &Value, asked: &Value) -> bool {
    match (stored, asked) {
        (Value::Null, Value::String(cleared)) => cleared.is_empty(),
        (Value::Array(stored), Value::Array(asked)) => {
            stored.len() == asked.len() && stored.iter().zip(asked).all(|(one, other)| same_value(one, other))
        }
        (Value::String(stored), Value::String(asked)) => {
            let is_pointer = Uuid::parse_str(stored).is_ok() && asked.len() == 8;
            stored == asked || (is_pointer && stored.starts_with(&asked.to_ascii_lowercase()))
        }
        _ => stored == asked,
    }
}
