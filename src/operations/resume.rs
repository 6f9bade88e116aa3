//! The resume packet: everything that a successor needs for its first useful action, small whatever the history.

use serde_json::{Map, Value, json};

use crate::domain::handoff::{self, Grade, Line, memories_named};
use crate::domain::memory::Memory;
use crate::domain::receipt::KeptReceipt;
use crate::domain::session;
use crate::domain::task::{Content, Status, Task};
use crate::domain::verification;
use crate::error::{Refusal, Result};
use crate::operation::Context;
use crate::operations::budget::{
    self, Part, Section, clipped, cost_of, cost_of_fields, cost_of_parts, cost_of_rows, cut, fair_shares, put_texts,
    rooms, rows_within,
};
use crate::operations::memory::line as memory_line;
use crate::operations::message::waiting;
use crate::operations::run::Unrecorded;
use crate::operations::task::get::{NAMES, ReadOn, names, receipt_in_short, room_of_verification};
use crate::operations::task::load;
use crate::store::memory;
use crate::store::version::{self, Version};

/// How many changes since the line are shown.
const CHANGES: i64 = 3;
/// How many memories are shown.
const MEMORIES: usize = 8;
/// What they may take of the packet while other parts of it are cut.
const MEMORIES_ROOM: usize = 3_000;
/// How many more are looked up and named by their ids.
const MORE: usize = 16;
/// What an id in a list costs.
const MEMORY_ID: usize = 28;
/// What the call for ids costs that are not looked up.
const UNCOUNTED: usize = 160;
/// How many open boxes are shown.
const BOXES: usize = 20;
/// What they may take of the packet.
const BOXES_ROOM: usize = 1_500;
/// What a box's label may cost.
const LABEL: usize = 400;
/// What the names of the packet's parts and its `cut` cost.
const OVERHEAD: usize = 120;

/// The packet for a pasted line.
pub(crate) async fn packet(context: &mut Context<'_>, pasted: &str, reader: Option<&str>) -> Result<Value> {
    let line = handoff::parse_line(pasted).map_err(|problem| Refusal::argument(format!("handoff {problem}")))?;
    let task = load(context, &line.id).await?;
    check_line(&task, &line)?;
    let waiting = waiting(context, task.task_id)?;
    let last = version::last_receipt(task.task_id, task.version);
    let unrecorded = Unrecorded::of(context, Some(task.task_id))?;
    let (kept, messages, unrecorded) = context.transaction.ask_three(last, waiting, unrecorded).await?;
    let mut answer = head(context, &task)?;
    answer.extend(state(context, &task, &line, reader, kept.as_ref()).await?);
    let written_by = task.marks.next_by.as_deref().map(session::clipped);
    let memories = memories(context, &task).await?;

    let read_on = ReadOn::new(&task, task.version);
    let names = names(&task.content);
    let texts = texts(&task.content);
    let (first, others) = texts.split_at(texts.len().min(1));
    let receipt = |room| kept.as_ref().map(|kept| receipt_in_short(kept, &read_on, false, room));
    let boxes = open_boxes(&task, BOXES_ROOM, &read_on);
    let told = kept.as_ref().map_or(0, room_of_verification);
    let sections = [
        Section { cost: cost_of_parts(first), least: 1_400, most: 2_200 },
        Section { cost: cost_of_parts(&names), least: 900, most: NAMES },
        Section { cost: receipt(usize::MAX).as_ref().map_or(0, cost_of), least: 1_250 + told, most: 2_000 + told },
        Section { cost: memories.cost(), least: 600, most: MEMORIES_ROOM },
        Section { cost: cost_of_fields(&boxes), least: 400, most: BOXES_ROOM },
        messages.section(),
        unrecorded.section(),
        Section { cost: cost_of_parts(&texts), least: 200 * others.len(), most: usize::MAX },
    ];
    let spent = cost_of_fields(&answer) + cost_of(&json!(written_by)) + OVERHEAD;
    let [for_first, for_names, for_receipt, for_memories, for_boxes, for_messages, for_runs, for_texts] =
        rooms(budget::ANSWER.saturating_sub(spent), &sections);

    let from = |field: &str, offset: usize| read_on.from(field, offset);
    let mut cut = put_texts(&mut answer, &names, for_names, from);
    // The first step gets its share of all texts, and its own room at least.
    let costs: Vec<usize> = texts.iter().map(|part| part.cost).collect();
    let share = fair_shares(&costs, for_first + for_texts).first().map_or(0, |share| for_first.max(*share));
    cut.extend(put_texts(&mut answer, first, share, from));
    cut.extend(put_texts(&mut answer, others, for_first + for_texts - share, from));
    if let Some(receipt) = receipt(for_receipt) {
        answer.insert("receipt".to_owned(), receipt);
    }
    memories.put(&mut answer, &mut cut, for_memories, &read_on);
    answer.extend(written_by.map(|by| ("written_by".to_owned(), json!(by))));
    let mut boxes = open_boxes(&task, for_boxes, &read_on);
    cut.extend(boxes.shift_remove("cut").map(|one| ("open_boxes".to_owned(), one)));
    answer.extend(boxes);
    answer.extend(unrecorded.within(for_runs).map(|runs| ("unrecorded_runs".to_owned(), runs)));
    let messages = messages.within(for_messages);
    if !messages.is_empty() {
        answer.insert("messages".to_owned(), json!(messages));
    }
    if !cut.is_empty() {
        answer.insert("cut".to_owned(), Value::Object(cut));
    }
    Ok(Value::Object(answer))
}

/// The long texts of the packet, the first step in front; the description only where no step is told.
fn texts(content: &Content) -> Vec<Part<'_>> {
    let first = if content.handoff_next.is_empty() {
        Part::of("description", &content.description)
    } else {
        Part::of("handoff_next", &content.handoff_next)
    };
    let mut texts = vec![
        first,
        Part::of("handoff_blockers", &content.handoff_blockers),
        Part::of("handoff_completed", &content.handoff_completed),
    ];
    texts.retain(|part| !part.text.is_empty());
    texts
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
    if task.content.owner.is_some() {
        put("owner", json!(""));
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
    kept: Option<&KeptReceipt>,
) -> Result<Map<String, Value>> {
    let now = context.now;
    let mut answer = Map::new();
    let marks = &task.marks;
    let holder = marks.takeover_by.as_deref().filter(|by| {
        // Released again, nobody has it, whoever took it over once.
        let is_held = task.content.owner.is_some();
        is_held && marks.pending_version == 0 && reader != Some(*by)
    });
    let mut next = None;
    if let (Some(by), true) = (holder, task.content.status.is_open()) {
        let age = marks.takeover_at.unwrap_or(task.updated).age(now);
        answer.insert(
            "taken_over".to_owned(),
            json!({"by": session::clipped(by), "v": marks.takeover_version, "age": age}),
        );
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
    answer.insert("title".to_owned(), json!(""));
    answer.insert("summary".to_owned(), json!(""));
    if let Some(from) = line.version.filter(|from| *from < task.version) {
        answer.insert("moved".to_owned(), moved(context, task, from).await?);
    }
    if let Some(since) = marks.pending_at.filter(|_| marks.pending_version > 0) {
        answer.insert("pending".to_owned(), json!(since.age(now)));
        let contradicted = kept.is_some_and(|kept| verification::contradicts(kept).is_some());
        let grade = marks.grade.map(|grade| grade.with_git(contradicted));
        if let Some(grade) = grade.filter(|grade| *grade != Grade::Ready) {
            answer.insert("grade".to_owned(), json!(grade));
        }
        let other = marks.written_by.contains(':') && marks.pending_by.as_deref() != Some(&marks.written_by);
        if other && task.version > marks.pending_version {
            answer.insert("continued_by".to_owned(), json!(session::clipped(&marks.written_by)));
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

/// The labels of the boxes that are not ticked, as many as fit into `room`, with how many more there are.
fn open_boxes(task: &Task, room: usize, read_on: &ReadOn) -> Map<String, Value> {
    let mut answer = Map::new();
    let open = task.content.open_boxes();
    if open.is_empty() {
        return answer;
    }
    let rest = read_on.field("open_boxes");
    let said = cost_of(&cut(open.len(), open.len(), &rest)) + 60;
    let labels: Vec<Value> = open.iter().take(BOXES).map(|(_, label)| json!(clipped(label, LABEL))).collect();
    let is_whole = open.len() == labels.len() && cost_of_rows(&labels) <= room;
    let (rows, _) = rows_within(labels, if is_whole { room } else { room.saturating_sub(said) });
    let (shown, more) = (rows.len(), open.len() - rows.len());
    let is_clipped = rows.iter().zip(&open).any(|(row, (_, label))| row != label);
    answer.insert("open_boxes".to_owned(), Value::Array(rows));
    if more > 0 {
        answer.insert("open_boxes_more".to_owned(), json!(more));
    }
    if more > 0 || is_clipped {
        answer.insert("cut".to_owned(), cut(shown, open.len(), &rest));
    }
    answer
}

/// The memories that a handoff names.
struct Memories {
    /// Those that are shown at most, each followed by what supersedes it.
    rows: Vec<Value>,
    /// The ids of the next ones.
    more: Vec<String>,
    /// How many ids the texts name behind these.
    uncounted: usize,
}

async fn memories(context: &mut Context<'_>, task: &Task) -> Result<Memories> {
    let project_id = context.project()?.project_id;
    let mut found = Memories { rows: Vec::new(), more: Vec::new(), uncounted: 0 };
    let mut seen: Vec<String> = Vec::new();
    let ids = memories_named(&task.content);
    for (position, id) in ids.iter().enumerate() {
        if found.more.len() >= MORE {
            found.uncounted = ids.len() - position;
            break;
        }
        let mut next = Some(id.clone());
        while let Some(id) = next.take().filter(|id| !seen.contains(id) && found.more.len() < MORE) {
            seen.push(id.clone());
            let Some(memory) = memory::get(context.transaction, project_id, &id).await? else {
                break;
            };
            if found.rows.len() < MEMORIES {
                found.rows.push(named(&memory));
            } else {
                found.more.push(id);
            }
            next = memory.superseded_by;
        }
    }
    Ok(found)
}

impl Memories {
    fn cost(&self) -> usize {
        cost_of_rows(&self.rows) + self.more.len() * MEMORY_ID + if self.uncounted > 0 { UNCOUNTED } else { 0 }
    }

    /// The rows that fit, the ids of the others, and the call for the ids that are not even looked at.
    fn put(self, answer: &mut Map<String, Value>, cut: &mut Map<String, Value>, room: usize, read_on: &ReadOn) {
        let Self { rows, more, uncounted } = self;
        let ids: Vec<String> = rows.iter().filter_map(|row| row["id"].as_str().map(str::to_owned)).collect();
        let named = ids.len() + more.len();
        let mut left = room.saturating_sub(2 + named * MEMORY_ID + if uncounted > 0 { UNCOUNTED } else { 0 });
        // A row that is shown needs no place among the ids.
        let fits = |row: &Value| {
            let cost = (cost_of(row) + 1).saturating_sub(MEMORY_ID);
            let fits = cost <= left;
            left = left.saturating_sub(cost);
            fits
        };
        let count = rows.iter().map(fits).take_while(|fits| *fits).count();
        let rows: Vec<Value> = rows.into_iter().take(count).collect();
        let more: Vec<String> = ids.into_iter().skip(rows.len()).chain(more).collect();
        if uncounted > 0 {
            cut.insert("memories".to_owned(), budget::cut(named, named + uncounted, &read_on.field("memories")));
        }
        if named > 0 {
            answer.insert("memories".to_owned(), Value::Array(rows));
        }
        if !more.is_empty() {
            answer.insert("memories_more".to_owned(), json!(more));
        }
    }
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
