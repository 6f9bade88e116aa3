//! `task_get`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::domain::receipt::KeptReceipt;
use crate::domain::session::Observed;
use crate::domain::task::{Content, Task, short_id};
use crate::domain::text::{self, length};
use crate::error::{Refusal, Result};
use crate::operation::{Context, Effect, Operation};
use crate::operations::budget::{self, Part, characters_that_fit, cost_of, put_texts};
use crate::operations::message::waiting;
use crate::operations::task::load;
use crate::store::version::{self, Version};

/// How long a receipt's field may be before it is cut, in characters.
const RECEIPT_FIELD: usize = 400;
/// How long a value in a list of changes may be before it is cut, in characters.
const CHANGE_VALUE: usize = 300;

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
    /// Answers one text field, e.g. `handoff_completed` or `receipt.tests`, instead of the task.
    field: Option<String>,
    /// From which character of the field, counted from 0.
    #[schemars(range(min = 0))]
    offset: Option<i64>,
}

impl Operation for TaskGet {
    const NAME: &'static str = "task_get";
    const COMMAND: &'static str = "task get";
    const EFFECT: Effect = Effect::Reads;
    type Answer = Value;

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

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let task = load(context, &self.task_id).await?;
        check_exists(&task, "version", self.version)?;
        check_exists(&task, "since_version", self.since_version)?;
        if let Some(since) = self.since_version {
            return changes(context, &task, since).await;
        }
        let shown = shown(context, &task, self.version).await?;
        match self.field {
            Some(field) => piece(context, &shown, &field, self.offset.unwrap_or(0)).await,
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

struct Shown {
    task: Task,
    content: Content,
    version: i64,
    author: Option<Version>,
}

async fn shown(context: &mut Context<'_>, task: &Task, version: Option<i64>) -> Result<Shown> {
    let number = version.unwrap_or(task.version);
    if number == task.version {
        return Ok(Shown { content: task.content.clone(), version: number, task: task.clone(), author: None });
    }
    let found = version::content_at(context.transaction, task.task_id, number).await?;
    let (content, author) = found.ok_or_else(|| Refusal::internal(&"a version is missing from history"))?;
    Ok(Shown { content, version: number, task: task.clone(), author: Some(author) })
}

async fn whole(context: &mut Context<'_>, shown: Shown) -> Result<Value> {
    let Shown { task, content, version, author } = &shown;
    let mut answer = Map::new();
    let mut put = |name: &str, value: Value| answer.insert(name.to_owned(), value);
    put("task_id", json!(task.task_id));
    put("version", json!(version));
    put("current_version", json!(task.version));
    put("status", json!(content.status));
    put("priority", json!(content.priority));
    put("title", json!(content.title));
    put("summary", json!(content.summary));
    put("owner", json!(content.owner));
    put("tags", json!(content.tags));
    put("parent", json!(content.parent));
    put("depends_on", json!(content.depends_on.iter().map(|id| short_id(*id)).collect::<Vec<_>>()));
    put("created", json!(task.created.rfc3339()));
    match author {
        None => {
            put("updated", json!(task.updated.rfc3339()));
            put("written_by", json!(task.marks.written_by));
            if let Some(handoff) = handoff_state(task) {
                put("handoff", handoff);
            }
        }
        Some(author) => {
            put("written", json!(author.at.rfc3339()));
            put("written_by", json!(author.who()));
            put("connection", json!(author.author.connection));
        }
    }
    let receipts = version::receipts(context.transaction, task.task_id, *version).await?;
    let receipt = version::last_receipt(context.transaction, task.task_id, *version).await?;
    let messages = if author.is_none() { waiting(context, task.task_id).await? } else { Vec::new() };
    let mut tail = Map::new();
    tail.insert("receipts".to_owned(), json!(receipts));
    if let Some(receipt) = receipt {
        tail.insert("receipt".to_owned(), receipt_in_short(&receipt, &task.short_id(), true));
    }
    tail.insert("messages".to_owned(), json!(messages));
    let spent = cost_of(&Value::Object(answer.clone())) + cost_of(&Value::Object(tail.clone()));
    let parts: Vec<Part<'_>> = content.texts().into_iter().map(|(name, text)| Part { name, text }).collect();
    let short = task.short_id();
    let at = if *version == task.version { String::new() } else { format!(" version={version}") };
    put_texts(&mut answer, &parts, budget::ANSWER.saturating_sub(spent), |field, offset| {
        format!("task_get task_id={short}{at} field={field} offset={offset}")
    });
    let cut = answer.remove("cut");
    answer.extend(tail);
    answer.extend(cut.map(|cut| ("cut".to_owned(), cut)));
    Ok(Value::Object(answer))
}

/// Where the handoff stands: pending or taken over; `None` if there is none.
pub(crate) fn handoff_state(task: &Task) -> Option<Value> {
    let marks = &task.marks;
    if marks.pending_version > 0 {
        let at = marks.pending_at.map(crate::domain::time::Timestamp::rfc3339);
        return Some(json!({"state": "pending", "version": marks.pending_version, "at": at, "by": marks.pending_by}));
    }
    if marks.takeover_version > 0 {
        let at = marks.takeover_at.map(crate::domain::time::Timestamp::rfc3339);
        return Some(
            json!({"state": "taken_over", "version": marks.takeover_version, "at": at, "by": marks.takeover_by}),
        );
    }
    None
}

/// A receipt with its long fields cut; `whole` adds the fields that repeat the handoff's texts.
pub(crate) fn receipt_in_short(kept: &KeptReceipt, short_id: &str, whole: bool) -> Value {
    let mut answer = Map::new();
    let mut cut = Map::new();
    answer.insert("v".to_owned(), json!(kept.version));
    for (name, value) in kept.receipt.fields() {
        let repeats = matches!(name, "completed_work" | "next_step" | "blockers");
        let Some(value) = value.as_deref().filter(|value| !value.is_empty() && (whole || !repeats)) else {
            continue;
        };
        let shown = characters_that_fit(value, RECEIPT_FIELD * 2).min(RECEIPT_FIELD);
        answer.insert(name.to_owned(), json!(text::head(value, shown)));
        let of = length(value);
        if shown < of {
            let rest = format!("task_get task_id={short_id} field=receipt.{name} offset={shown}");
            cut.insert(name.to_owned(), json!({"shown": shown, "of": of, "rest": rest}));
        }
    }
    for (name, marks) in [("observed", &kept.observed), ("carried", &kept.carried)] {
        if !marks.is_empty() {
            answer.insert(name.to_owned(), json!(marks));
        }
    }
    answer.insert("verified".to_owned(), json!("unverified"));
    if !cut.is_empty() {
        answer.insert("cut".to_owned(), Value::Object(cut));
    }
    Value::Object(answer)
}

async fn piece(context: &mut Context<'_>, shown: &Shown, field: &str, offset: i64) -> Result<Value> {
    let text = if let Some(name) = field.strip_prefix("receipt.") {
        let kept = version::last_receipt(context.transaction, shown.task.task_id, shown.version).await?;
        let fields = kept.as_ref().map(|kept| kept.receipt.fields());
        let value = fields.and_then(|fields| fields.into_iter().find(|(one, _)| *one == name));
        value.map(|(_, value)| value.clone().unwrap_or_default())
    } else {
        let fields = shown.content.fields();
        fields.get(field).and_then(Value::as_str).map(str::to_owned)
    };
    let names: Vec<&str> = shown.content.texts().map(|(name, _)| name).to_vec();
    let text = text.ok_or_else(|| {
        Refusal::argument(format!(
            "field {} is no text: title, summary, {} or receipt.<field of the last receipt>",
            text::quoted(field, 60),
            names.join(", ")
        ))
    })?;
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let of = length(&text);
    if start > of {
        return Err(Refusal::argument(format!("offset is {start}, {field} has {of} characters")));
    }
    let rest = text::tail(&text, start);
    let count = characters_that_fit(rest, budget::ANSWER - 400);
    let mut answer = Map::new();
    answer.insert("task_id".to_owned(), json!(shown.task.task_id));
    answer.insert("version".to_owned(), json!(shown.version));
    answer.insert("field".to_owned(), json!(field));
    answer.insert("offset".to_owned(), json!(start));
    answer.insert("shown".to_owned(), json!(count));
    answer.insert("of".to_owned(), json!(of));
    answer.insert("text".to_owned(), json!(text::head(rest, count)));
    if start + count < of {
        let short = shown.task.short_id();
        let at =
            if shown.version == shown.task.version { String::new() } else { format!(" version={}", shown.version) };
        let next = format!("task_get task_id={short}{at} field={field} offset={}", start + count);
        answer.insert("rest".to_owned(), json!(next));
    }
    Ok(Value::Object(answer))
}

async fn changes(context: &mut Context<'_>, task: &Task, since: i64) -> Result<Value> {
    let versions = version::after(context.transaction, task.task_id, since, 200).await?;
    let mut before = version::fields_at(context.transaction, task.task_id, since).await?;
    let mut rows = Vec::new();
    for one in &versions {
        let mut fields = Map::new();
        for (name, value) in &one.content {
            let old = before.insert(name.clone(), value.clone()).unwrap_or(Value::Null);
            fields.insert(name.clone(), difference(&old, value));
        }
        if one.changed.iter().any(|name| name == "receipts") {
            fields.insert("receipts".to_owned(), json!("one more"));
        }
        rows.push(json!({
            "v": one.version,
            "who": one.author.caller,
            "session_ref": one.author.session_ref,
            "at": one.at.rfc3339(),
            "fields": fields,
        }));
    }
    let (rows, _) = budget::rows_that_fit(rows, budget::ANSWER - 400);
    let mut answer = Map::new();
    answer.insert("task_id".to_owned(), json!(task.task_id));
    answer.insert("version".to_owned(), json!(task.version));
    answer.insert("since".to_owned(), json!(since));
    let last = rows.last().and_then(|row| row["v"].as_i64()).unwrap_or(since);
    answer.insert("changes".to_owned(), Value::Array(rows));
    if last < task.version {
        let rest = format!("task_get task_id={} since_version={last}", task.short_id());
        answer.insert("more".to_owned(), json!({"versions": task.version - last, "rest": rest}));
    }
    Ok(Value::Object(answer))
}

/// Both values in short; where lines were only added, the added part.
fn difference(old: &Value, new: &Value) -> Value {
    if let (Some(old), Some(new)) = (old.as_str(), new.as_str())
        && let Some(added) = new.strip_prefix(old).filter(|_| !old.is_empty())
    {
        return json!({"added": in_short(added.trim_start_matches('\n'))});
    }
    let short = |value: &Value| value.as_str().map_or_else(|| value.clone(), |text| json!(in_short(text)));
    json!({"from": short(old), "to": short(new)})
}

fn in_short(text: &str) -> String {
    let of = length(text);
    if of <= CHANGE_VALUE {
        return text.to_owned();
    }
    format!("{}… ({} characters)", text::head(text, CHANGE_VALUE), text::grouped(of))
}
