//! `memory_add` and `memory_search`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::domain::memory::{Memory, MemoryKind};
use crate::domain::session;
use crate::domain::task::{Actor, Task, short_id};
use crate::domain::text::{self, SUMMARY_MAX, TAG_MAX, TAGS_MAX};
use crate::error::{Refusal, Result};
use crate::operation::{Context, Effect, Operation};
use crate::operations::budget::{self, characters_that_fit, cost_of, rows_within};
use crate::operations::cursor;
use crate::operations::handoff::warnings_of_texts;
use crate::operations::page::{self, Size};
use crate::operations::task::{load, resolve_all};
use crate::store::list::TOTAL_EXACT;
use crate::store::memory::{self, Filter, Origin};

/// How many memories can be read whole in one call.
const IDS_MAX: usize = 50;

/// Keep what must outlive the task; name the new id in `handoff_next`. supersedes: the memory it replaces.
///
/// The same memory again answers the id that exists; a result is always a new one.
#[derive(Deserialize, JsonSchema)]
pub struct MemoryAdd {
    /// The one string from the connection profile that keeps the write in its project.
    #[expect(dead_code, reason = "checked by call before the operation runs")]
    #[schemars(extend("x-agents-must" = true, "x-wire" = "from your connection profile"))]
    write_context: Option<String>,
    /// What sort: decision, result, fact or convention, in any letter case.
    #[schemars(extend("x-caseless" = true))]
    kind: MemoryKind,
    /// The memory in one sentence, at most 280 characters.
    #[schemars(length(min = 1, max = SUMMARY_MAX), extend("x-wire" = "one sentence, max 280 characters"))]
    summary: String,
    /// The task it speaks of.
    #[schemars(extend("x-check" = "task-exact"))]
    task_id: Option<String>,
    /// Up to 50 tags of 1 to 64 characters.
    #[schemars(length(max = TAGS_MAX), inner(length(min = 1, max = TAG_MAX)))]
    tags: Option<Vec<String>>,
    /// The memory that this one replaces; both stay readable.
    #[schemars(extend("x-check" = "memory"))]
    supersedes: Option<String>,
    /// The whole of it: reasons, rejected ways, exact names.
    body: Option<String>,
}

impl Operation for MemoryAdd {
    const NAME: &'static str = "memory_add";
    const COMMAND: &'static str = "memory add";
    const EFFECT: Effect = Effect::Adds;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let body = self.body.unwrap_or_default();
        if !body.is_empty() && body.trim().is_empty() {
            return Err(Refusal::argument("body is only white space: say something, or leave it out"));
        }
        let task = match &self.task_id {
            Some(reference) => Some(load(context, reference).await?),
            None => None,
        };
        let new = Memory {
            memory_key: 0,
            memory_id: free_id(context).await?,
            kind: self.kind.as_str().to_owned(),
            summary: self.summary,
            body,
            tags: self.tags.unwrap_or_default(),
            task_id: task.as_ref().map(|task| task.task_id),
            supersedes: self.supersedes,
            superseded_by: None,
            caller: context.connection.caller.clone(),
            session_ref: context.observed.session_ref.clone(),
            at: context.now,
        };
        let tags = new.tags.join("\n");
        let texts = [("summary", new.summary.as_str()), ("body", &new.body), ("tags", &tags)];
        let warnings = warnings_of_texts(&texts, context.project()?)?;
        if let Some(id) = identical(context, &new).await? {
            check_supersedes_too(context, &id, new.supersedes.as_deref()).await?;
            return Ok(json!({"id": id, "existing": true}));
        }
        if let Some(old) = &new.supersedes {
            check_superseded(context, old).await?;
        }
        let existing = insert(context, &new, task.as_ref().map_or(0, |task| task.version)).await?;
        let mut answer = match existing {
            Some(id) => json!({"id": id, "existing": true}),
            None => json!({"id": new.memory_id}),
        };
        if !warnings.is_empty() {
            answer["warnings"] = json!(warnings);
        }
        Ok(answer)
    }
}

/// An identical memory that supersedes nothing, or something else, cannot answer for one that does.
async fn check_supersedes_too(context: &mut Context<'_>, existing: &str, supersedes: Option<&str>) -> Result<()> {
    let Some(wanted) = supersedes else {
        return Ok(());
    };
    let project_id = context.project()?.project_id;
    let found = memory::get(context.transaction, project_id, existing).await?;
    if found.is_some_and(|found| found.supersedes.as_deref() == Some(wanted)) {
        return Ok(());
    }
    Err(Refusal::not_allowed(
        format!("the same memory is there already as {existing}, and does not supersede {wanted}"),
        format!(
            "Say in summary or body what makes the new one different, e.g. that it replaces {wanted}. Nothing was written."
        ),
    ))
}

async fn check_superseded(context: &mut Context<'_>, old: &str) -> Result<()> {
    let project_id = context.project()?.project_id;
    let Some(found) = memory::get(context.transaction, project_id, old).await? else {
        return Err(unknown(old));
    };
    match found.superseded_by {
        None => Ok(()),
        Some(newer) => Err(Refusal::not_allowed(
            format!("{old} is superseded by {newer} already"),
            format!("Supersede {newer} instead, after reading it: memory_search ids={newer}. Nothing was written."),
        )),
    }
}

fn unknown(id: &str) -> Refusal {
    Refusal::not_found(
        format!("no memory {id} in this project"),
        "memory_search finds memories by words; check the id.",
    )
}

async fn free_id(context: &mut Context<'_>) -> Result<String> {
    context
        .free_id(|id| format!("m-{}", short_id(id)), |transaction, id| Box::pin(memory::is_free(transaction, id)))
        .await
}

/// What makes two memories the same; results are never the same.
fn fingerprint(memory: &Memory) -> Option<[u8; 32]> {
    let is_result = memory.kind == MemoryKind::Result.as_str();
    let text = json!([memory.kind, memory.task_id, memory.summary, memory.body]).to_string();
    (!is_result).then(|| Sha256::digest(text).into())
}

async fn identical(context: &mut Context<'_>, new: &Memory) -> Result<Option<String>> {
    let project_id = context.project()?.project_id;
    match fingerprint(new) {
        Some(fingerprint) => memory::identical(context.transaction, project_id, fingerprint).await,
        None => Ok(None),
    }
}

async fn insert(context: &mut Context<'_>, new: &Memory, task_version: i64) -> Result<Option<String>> {
    let origin = Origin {
        project_id: context.project()?.project_id,
        connection: &context.connection.id,
        task_version,
        fingerprint: fingerprint(new),
    };
    memory::insert(context.transaction, new, &origin).await
}

/// Adds the result of an update as a memory; answers its id.
pub(crate) async fn add_result(context: &mut Context<'_>, task: &Task, body: String, actor: &Actor) -> Result<String> {
    let new = Memory {
        memory_key: 0,
        memory_id: free_id(context).await?,
        kind: MemoryKind::Result.as_str().to_owned(),
        summary: task.content.summary.clone(),
        body,
        tags: Vec::new(),
        task_id: Some(task.task_id),
        supersedes: None,
        superseded_by: None,
        caller: actor.caller.clone(),
        session_ref: actor.session_ref.clone(),
        at: context.now,
    };
    insert(context, &new, task.version).await?;
    Ok(new.memory_id)
}

/// Find memories, before deciding again; with ids, read them whole.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct MemorySearch {
    /// Only with these words; a word matches from its start.
    #[schemars(extend("x-check" = "query", "x-position" = true))]
    query: Option<String>,
    /// Only this kind.
    #[schemars(extend("x-caseless" = true))]
    kind: Option<MemoryKind>,
    /// Only about this task.
    #[schemars(extend("x-check" = "task"))]
    task_id: Option<String>,
    /// Only with this tag.
    tag: Option<String>,
    /// These memories, whole; a body that does not fit goes on with the cursor.
    #[schemars(length(max = IDS_MAX), extend("x-items-check" = "memory"))]
    ids: Option<Vec<String>>,
    /// Also memories that were replaced; without it a replaced one is found by ids only, its successor in its place.
    include_superseded: Option<bool>,
    /// How many rows, 1 to 200; 20 if left out.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<i64>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

impl Operation for MemorySearch {
    const NAME: &'static str = "memory_search";
    const COMMAND: &'static str = "memory search";
    const EFFECT: Effect = Effect::Reads;

    async fn run(mut self, context: &mut Context<'_>) -> Result<Value> {
        if let Some(ids) = self.ids.take().filter(|ids| !ids.is_empty()) {
            return whole(context, &ids, self.cursor.as_deref()).await;
        }
        let project = context.project()?.clone();
        let (limit, cursor) = (self.limit.take(), self.cursor.take());
        let list_id = json!([project.slug, "memories", &self]);
        let after = cursor.map(|cursor| cursor::decode(&list_id, &cursor)).transpose()?;
        let task_id = match &self.task_id {
            Some(reference) => resolve_all(context, std::slice::from_ref(reference)).await?.first().copied(),
            None => None,
        };
        // Words may stand in a replaced memory only; the reader must still find it, marked, behind its successor.
        let include = self.include_superseded.unwrap_or(self.query.is_some());
        let filter = Filter {
            query: self.query,
            kind: self.kind.map(|kind| kind.as_str().to_owned()),
            task_id,
            tag: self.tag,
            include_superseded: include,
            ..Filter::default()
        };
        let size = Size::of(limit);
        let behind = after.and_then(|(keys, _)| keys.first().copied());
        let found = memory::page(context.transaction, project.project_id, &filter, behind, size.to_read()).await?;
        let total = memory::total(context.transaction, project.project_id, &filter, TOTAL_EXACT + 1).await?;
        let rows = found.iter().map(|memory| row(memory, context)).collect();
        let position = |last: usize| found.get(last).map(|last| (vec![last.memory_key], last.memory_id.clone()));
        Ok(page::answer("memories", &size, rows, total, &list_id, position))
    }
}

fn row(memory: &Memory, context: &Context<'_>) -> Value {
    let mut row = head(memory, context);
    if let Some(task_id) = memory.task_id {
        row.insert("task".to_owned(), json!(short_id(task_id)));
    }
    if !memory.body.is_empty() {
        // That there is more to read, and how much.
        row.insert("body_characters".to_owned(), json!(text::length(&memory.body)));
    }
    Value::Object(row)
}

/// What every row of a memory starts with.
fn head(memory: &Memory, context: &Context<'_>) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("id".to_owned(), json!(memory.memory_id));
    row.insert("kind".to_owned(), json!(memory.kind));
    row.insert("summary".to_owned(), json!(memory.summary));
    let optional = [
        ("age", Some(memory.at.age(context.now))),
        ("supersedes", memory.supersedes.clone()),
        ("superseded_by", memory.superseded_by.clone()),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            row.insert(name.to_owned(), json!(value));
        }
    }
    row
}

/// Where a page of whole memories starts: which memory, and how much of it the pages before have shown.
#[derive(Clone, Copy, Default)]
struct Place {
    memory: usize,
    tags: usize,
    body: usize,
}

impl Place {
    /// The place of a cursor that belongs to these ids.
    fn of(list_id: &Value, cursor: Option<&str>) -> Result<Self> {
        let Some(cursor) = cursor else {
            return Ok(Self::default());
        };
        let (keys, _) = cursor::decode(list_id, cursor)?;
        let key = |position: usize| keys.get(position).and_then(|key| usize::try_from(*key).ok()).unwrap_or(0);
        Ok(Self { memory: key(0), tags: key(1), body: key(2) })
    }

    fn cursor(self, list_id: &Value, id: &str) -> String {
        let keys = [self.memory, self.tags, self.body].map(|key| i64::try_from(key).unwrap_or(i64::MAX));
        cursor::encode(list_id, &keys, id)
    }

    fn is_start(self) -> bool {
        self.tags == 0 && self.body == 0
    }
}

/// Memories by their ids. What does not fit comes with the cursor: the rest of the last body, then the other memories.
async fn whole(context: &mut Context<'_>, ids: &[String], cursor: Option<&str>) -> Result<Value> {
    let project = context.project()?.clone();
    let list_id = json!([project.slug, "memories by id", ids]);
    let start = Place::of(&list_id, cursor)?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.push(memory::get(context.transaction, project.project_id, id).await?.ok_or_else(|| unknown(id))?);
    }
    let mut left = budget::ANSWER - 300;
    let mut rows: Vec<Value> = Vec::new();
    let mut next = None;
    for (position, memory) in found.iter().enumerate().skip(start.memory) {
        let at = if position == start.memory { start } else { Place { memory: position, ..Place::default() } };
        let (row, rest) = whole_row(memory, at, left, context);
        if rest.is_some() && !rows.is_empty() {
            next = Some((at, &memory.memory_id));
            break;
        }
        left = left.saturating_sub(cost_of(&row));
        rows.push(row);
        if let Some(rest) = rest {
            next = Some((rest, &memory.memory_id));
            break;
        }
    }
    let mut answer = Map::new();
    answer.insert("total".to_owned(), json!(ids.len()));
    answer.insert("shown".to_owned(), json!(rows.len()));
    if let Some((place, id)) = next {
        answer.insert("next_cursor".to_owned(), json!(place.cursor(&list_id, id)));
    }
    answer.insert("memories".to_owned(), Value::Array(rows));
    Ok(Value::Object(answer))
}

/// A memory from a place in it on, as much as fits into `room`; and the place of what did not fit.
fn whole_row(memory: &Memory, at: Place, room: usize, context: &Context<'_>) -> (Value, Option<Place>) {
    let mut fields = Map::new();
    if at.is_start() {
        fields = head(memory, context);
        fields.insert("task_id".to_owned(), json!(memory.task_id.map(Uuid::hyphenated)));
        fields.insert("caller".to_owned(), json!(memory.caller));
        fields.insert("session_ref".to_owned(), json!(memory.session_ref.as_deref().map(session::clipped)));
        fields.insert("at".to_owned(), json!(memory.at.rfc3339()));
    } else {
        fields.insert("id".to_owned(), json!(memory.memory_id));
    }
    let mut left = room.saturating_sub(cost_of(&Value::Object(fields.clone())) + 100);
    let tags: Vec<Value> = memory.tags.iter().skip(at.tags).map(|tag| json!(tag)).collect();
    let mut place = at;
    if at.is_start() || !tags.is_empty() {
        let (shown, _) = rows_within(tags, left);
        place.tags += shown.len();
        left = left.saturating_sub(cost_of(&json!(shown)));
        fields.insert("tags".to_owned(), Value::Array(shown));
    }
    let (body, of) = (text::tail(&memory.body, at.body), text::length(&memory.body));
    let tags_left = place.tags < memory.tags.len();
    let count = if tags_left { 0 } else { characters_that_fit(body, left) };
    place.body += count;
    let is_whole = at.is_start() && place.body == of && !tags_left;
    if !is_whole && of > 0 {
        fields.insert("body_offset".to_owned(), json!(at.body));
        fields.insert("of".to_owned(), json!(of));
    }
    fields.insert("body".to_owned(), json!(text::head(body, count)));
    let is_end = place.body == of && !tags_left;
    (Value::Object(fields), (!is_end).then_some(place))
}

/// A memory in one line of a packet.
pub(crate) fn line(memory: &Memory) -> Value {
    let mut row = json!({"id": memory.memory_id, "kind": memory.kind, "summary": memory.summary});
    if let (Some(fields), false) = (row.as_object_mut(), memory.body.is_empty()) {
        let shown = characters_that_fit(&memory.body, 600);
        fields.insert("body".to_owned(), json!(text::head(&memory.body, shown)));
        let of = text::length(&memory.body);
        if shown < of {
            fields.insert("rest".to_owned(), json!(format!("memory_search ids={}", memory.memory_id)));
        }
    }
    row
}
