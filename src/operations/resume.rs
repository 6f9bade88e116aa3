//! The resume packet: everything that a successor needs for its first useful action, small whatever the history.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::domain::handoff::{self, Line, memories_named};
use crate::domain::memory::Memory;
use crate::domain::session;
use crate::domain::task::{Status, Task};
use crate::error::{Refusal, Result};
use crate::operation::Context;
use crate::operations::budget::{self, Part, characters_that_fit, cost_of, put_texts};
use crate::operations::memory::line as memory_line;
use crate::operations::message::waiting;
use crate::operations::task::get::receipt_in_short;
use crate::operations::task::load;
use crate::store::memory;
use crate::store::version::{self, Version};

/// How many changes since the line are shown.
const CHANGES: i64 = 3;
/// How many memories are shown.
const MEMORIES: usize = 8;
/// How many open boxes are shown.
const BOXES: usize = 20;

/// The packet for a pasted line.
pub(crate) async fn packet(context: &mut Context<'_>, pasted: &str, reader: Option<&str>) -> Result<Value> {
    let line = handoff::parse_line(pasted).map_err(|problem| Refusal::argument(format!("handoff {problem}")))?;
    let task = load(context, &line.id).await?;
    check_line(&task, &line)?;
    let mut answer = head(context, &task)?;
    let state = state(context, &task, &line, reader).await?;
    answer.extend(state);
    let messages = waiting(context, task.task_id).await?;
    let mut tail = tail(context, &task).await?;
    if !messages.is_empty() {
        tail.insert("messages".to_owned(), json!(messages));
    }
    let content = &task.content;
    let mut parts = vec![
        Part { name: "handoff_next", text: &content.handoff_next },
        Part { name: "handoff_blockers", text: &content.handoff_blockers },
        Part { name: "handoff_completed", text: &content.handoff_completed },
    ];
    if content.handoff_next.is_empty() {
        parts.insert(0, Part { name: "description", text: &content.description });
    }
    parts.retain(|part| !part.text.is_empty());
    let spent = cost_of(&Value::Object(answer.clone())) + cost_of(&Value::Object(tail.clone()));
    let short = task.short_id();
    put_texts(&mut answer, &parts, budget::ANSWER.saturating_sub(spent), |field, offset| {
        format!("task_get task_id={short} field={field} offset={offset}")
    });
    let cut = answer.shift_remove("cut");
    answer.extend(tail);
    answer.extend(cut.map(|cut| ("cut".to_owned(), cut)));
    Ok(Value::Object(answer))
}

fn check_line(task: &Task, line: &Line) -> Result<()> {
    match line.version {
        Some(version) if version > task.version => Err(Refusal::not_found(
            format!("task {} is at version {}, the line says v{version}", task.short_id(), task.version),
            "This is another server or data was lost: stop and tell the owner.",
        )
        .with("current_version", task.version)),
        _ => Ok(()),
    }
}

fn head(context: &Context<'_>, task: &Task) -> Result<Map<String, Value>> {
    let mut answer = Map::new();
    let mut put = |name: &str, value: Value| answer.insert(name.to_owned(), value);
    put("project", json!(context.project()?.slug));
    put("instance", json!(context.instance.short()));
    put("task_id", json!(task.task_id));
    put("version", json!(task.version));
    put("status", json!(task.content.status));
    if let Some(owner) = &task.content.owner {
        put("owner", json!(owner));
        put("idle", json!(task.marks.owner_at.unwrap_or(task.updated).age(context.now)));
    }
    Ok(answer)
}

/// Taken over, moved on, pending: what the reader must know before anything else.
async fn state(
    context: &mut Context<'_>,
    task: &Task,
    line: &Line,
    reader: Option<&str>,
) -> Result<Map<String, Value>> {
    let now = context.now;
    let mut answer = Map::new();
    let marks = &task.marks;
    let holder = marks.takeover_by.as_deref().filter(|by| marks.pending_version == 0 && reader != Some(*by));
    let mut next = None;
    if let (Some(by), true) = (holder, task.content.status.is_open()) {
        let age = marks.takeover_at.unwrap_or(task.updated).age(now);
        answer.insert("taken_over".to_owned(), json!({"by": by, "v": marks.takeover_version, "age": age}));
        let force = if task.live_owner(now).is_some() { " (it needs force)" } else { "" };
        next = Some(format!("Another session has this task. Ask the owner before task_takeover{force}."));
    }
    if matches!(task.content.status, Status::Done | Status::Cancelled) {
        next = Some(format!("This task is {}. {}", task.content.status, task.reopen_hint()));
    }
    if line.version.is_none() {
        answer.insert(
            "note".to_owned(),
            json!("The line names no version: what changed since it was written cannot be told."),
        );
    }
    if let Some(next) = next {
        answer.insert("next".to_owned(), json!(next));
    }
    answer.insert("title".to_owned(), json!(task.content.title));
    answer.insert("summary".to_owned(), json!(task.content.summary));
    if let Some(from) = line.version.filter(|from| *from < task.version) {
        answer.insert("moved".to_owned(), moved(context, task, from).await?);
    }
    if let Some(since) = marks.pending_at.filter(|_| marks.pending_version > 0) {
        answer.insert("pending".to_owned(), json!(since.age(now)));
        let other = marks.written_by.contains(':') && marks.pending_by.as_deref() != Some(&marks.written_by);
        if other && task.version > marks.pending_version {
            answer.insert("continued_by".to_owned(), json!(marks.written_by));
        }
    }
    Ok(answer)
}

async fn moved(context: &mut Context<'_>, task: &Task, from: i64) -> Result<Value> {
    let newest = version::newest(context.transaction, task.task_id, from, i64::MAX, CHANGES).await?;
    let mut changes: Vec<Value> = newest.iter().map(change).collect();
    changes.reverse();
    let count = task.version - from;
    let mut moved = json!({"from": from, "to": task.version, "changes": changes});
    if count > CHANGES
        && let Some(fields) = moved.as_object_mut()
    {
        fields.insert("earlier".to_owned(), json!(count - CHANGES));
    }
    Ok(moved)
}

fn change(one: &Version) -> Value {
    let mut row =
        json!({"v": one.version, "who": session::short(one.who()), "at": one.at.to_minute(), "fields": one.changed});
    if one.act != "update"
        && let Some(fields) = row.as_object_mut()
    {
        fields.insert("act".to_owned(), json!(one.act));
    }
    row
}

async fn tail(context: &mut Context<'_>, task: &Task) -> Result<Map<String, Value>> {
    let mut tail = Map::new();
    if let Some(kept) = version::last_receipt(context.transaction, task.task_id, task.version).await? {
        tail.insert("receipt".to_owned(), receipt_in_short(&kept, &task.short_id(), false));
    }
    let (memories, more) = memories(context, task).await?;
    if !memories.is_empty() {
        tail.insert("memories".to_owned(), Value::Array(memories));
    }
    if !more.is_empty() {
        tail.insert("memories_more".to_owned(), json!(more));
    }
    if let Some(by) = &task.marks.next_by {
        tail.insert("written_by".to_owned(), json!(by));
    }
    let open: Vec<String> = task.content.open_boxes().into_iter().map(|(_, label)| label).collect();
    if !open.is_empty() {
        let room = 1_500;
        let rows = open.iter().take(BOXES).map(|label| json!(clipped(label))).collect();
        let (rows, _) = budget::rows_that_fit(rows, room);
        let rest = open.len() - rows.len();
        tail.insert("open_boxes".to_owned(), Value::Array(rows));
        if rest > 0 {
            tail.insert("open_boxes_more".to_owned(), json!(rest));
        }
    }
    Ok(tail)
}

fn clipped(label: &str) -> String {
    let shown = characters_that_fit(label, 400);
    if shown < crate::domain::text::length(label) {
        format!("{}…", crate::domain::text::head(label, shown))
    } else {
        label.to_owned()
    }
}

/// The memories that the handoff names, each followed by what supersedes it; and the ids of those not shown.
async fn memories(context: &mut Context<'_>, task: &Task) -> Result<(Vec<Value>, Vec<String>)> {
    let project_id = context.project()?.project_id;
    let mut shown = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let mut more = Vec::new();
    let mut room = 3_000_usize;
    for id in memories_named(&task.content) {
        let mut next = Some(id);
        while let Some(id) = next.take().filter(|id| !seen.contains(id)) {
            seen.push(id.clone());
            let Some(found) = memory::get(context.transaction, project_id, &id).await? else {
                break;
            };
            let row = named(&found);
            let cost = cost_of(&row);
            if shown.len() < MEMORIES && cost <= room {
                room -= cost;
                shown.push(row);
            } else {
                more.push(id);
            }
            next = found.superseded_by;
        }
    }
    Ok((shown, more))
}

fn named(memory: &Memory) -> Value {
    let mut row = memory_line(memory);
    if let (Some(fields), Some(newer)) = (row.as_object_mut(), &memory.superseded_by) {
        // What no longer holds is named, not repeated.
        fields.shift_remove("body");
        fields.shift_remove("rest");
        fields.insert("superseded_by".to_owned(), json!(newer));
    }
    row
}

/// The id of a task in a list's row.
pub(crate) fn short(task_id: Uuid) -> String {
    crate::domain::task::short_id(task_id)
}
