//! `task_list`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::handoff::Grade;
use crate::domain::project::Project;
use crate::domain::session;
use crate::domain::task::{Status, short_id};
use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::operation::{Context, Effect, Operation};
use crate::operations::cursor;
use crate::operations::page::{self, Size};
use crate::operations::task::resolve_all;
use crate::store::list::{self, Filter, Position, Short, Sort};

/// The status filter: a status, or all that are not finished.
#[expect(missing_docs, reason = "a comment on a variant would split the schema's enum into alternatives")]
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusFilter {
    Open,
    Todo,
    InProgress,
    Blocked,
    Done,
    Cancelled,
}

/// The order.
#[expect(missing_docs, reason = "a comment on a variant would split the schema's enum into alternatives")]
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    Updated,
    Created,
    Priority,
}

/// Find tasks: short rows, every filter must match. ready: todo and waiting for no other task. open: not done or cancelled.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TaskList {
    /// Only this status; open is everything that is not done or cancelled.
    status: Option<StatusFilter>,
    /// Only with this tag.
    tag: Option<String>,
    /// Only of this owner, written as task get shows it.
    owner: Option<String>,
    /// Only below this task.
    #[schemars(extend("x-check" = "task"))]
    parent: Option<String>,
    /// Only with these words; a word matches from its start.
    #[schemars(extend("x-check" = "query", "x-position" = true))]
    query: Option<String>,
    /// Only todo that waits for no other task.
    ready: Option<bool>,
    /// Only with a handoff that nobody has taken over.
    pending_handoff: Option<bool>,
    /// Only in progress and not written for the project's stale time.
    stale: Option<bool>,
    /// The order: updated (the last written first), created (the newest first) or priority.
    sort: Option<Order>,
    /// How many rows, 1 to 200; 20 if left out.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<i64>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

impl Operation for TaskList {
    const NAME: &'static str = "task_list";
    const COMMAND: &'static str = "task list";
    const EFFECT: Effect = Effect::Reads;

    async fn run(mut self, context: &mut Context<'_>) -> Result<Value> {
        let (now, project) = (context.now, context.project()?.clone());
        let limit = self.limit.take();
        let cursor = self.cursor.take();
        let list_id = json!([project.slug, &self]);
        let after = match cursor {
            None => None,
            Some(cursor) => {
                let (keys, id) = cursor::decode(&list_id, &cursor)?;
                let task_id = id.parse().map_err(|_| crate::error::Refusal::argument("cursor is damaged"))?;
                Some(Position { keys, task_id })
            }
        };
        let sort = match self.sort {
            None | Some(Order::Updated) => Sort::Updated,
            Some(Order::Created) => Sort::Created,
            Some(Order::Priority) => Sort::Priority,
        };
        let filter = self.into_filter(context, &project).await?;
        let size = Size::of(limit);
        let (found, total) =
            list::page(context.transaction, project.project_id, &filter, sort, after.as_ref(), size.to_read()).await?;
        let rows = found.iter().map(|task| row(task, now, &project)).collect();
        let position = |last: usize| {
            let Position { keys, task_id } = &found.get(last)?.position;
            Some((keys.clone(), task_id.simple().to_string()))
        };
        Ok(page::answer("tasks", &size, rows, total, &list_id, position))
    }
}

impl TaskList {
    async fn into_filter(self, context: &mut Context<'_>, project: &Project) -> Result<Filter> {
        let parent = match &self.parent {
            Some(parent) => resolve_all(context, std::slice::from_ref(parent)).await?.first().copied(),
            None => None,
        };
        let status = match self.status {
            None | Some(StatusFilter::Open) => None,
            Some(StatusFilter::Todo) => Some(Status::Todo),
            Some(StatusFilter::InProgress) => Some(Status::InProgress),
            Some(StatusFilter::Blocked) => Some(Status::Blocked),
            Some(StatusFilter::Done) => Some(Status::Done),
            Some(StatusFilter::Cancelled) => Some(Status::Cancelled),
        };
        Ok(Filter {
            status,
            open: matches!(self.status, Some(StatusFilter::Open)),
            tag: self.tag,
            owner: self.owner,
            parent,
            query: self.query,
            ready: self.ready,
            pending_handoff: self.pending_handoff,
            stale: self.stale,
            stale_before: context.now.plus_hours(-project.stale_hours),
        })
    }
}

/// A row without what is empty or the default.
pub(crate) fn row(task: &Short, now: Timestamp, project: &Project) -> Value {
    let mut row = Map::with_capacity(13);
    let mut put = |name: &str, value: Value| row.insert(name.to_owned(), value);
    put("id", json!(short_id(task.task_id)));
    put("v", json!(task.version));
    put("status", json!(task.status));
    if task.priority != 2 {
        put("p", json!(task.priority));
    }
    put("title", json!(task.title));
    if !task.summary.is_empty() {
        put("summary", json!(task.summary));
    }
    if let Some(owner) = &task.owner {
        put("owner", json!(session::short(owner)));
    }
    put("age", json!(task.updated.age(now)));
    if task.pending_version > 0 {
        put("handoff", json!("pending"));
        let grade = task.grade.map(|grade| grade.with_git(task.contradicted));
        if let Some(grade) = grade.filter(|grade| *grade != Grade::Ready) {
            put("grade", json!(grade));
        }
        if let Some(by) = continued_by(task) {
            put("continued_by", json!(by));
        }
    }
    if task.contradicted {
        put("verified", json!("contradicted"));
    }
    if task.status == Status::InProgress && task.updated < now.plus_hours(-project.stale_hours) {
        put("stale", json!(true));
    }
    Value::Object(row)
}

/// Another session that went on with a handed-off task without taking it over.
fn continued_by(task: &Short) -> Option<String> {
    let other = task.version > task.pending_version
        && task.written_by.contains(':')
        && task.pending_by.as_deref() != Some(&task.written_by);
    other.then(|| session::short(&task.written_by))
}
