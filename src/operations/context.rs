//! `continuity_context`: the resume packet of a line, or the project at a glance.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::domain::session;
use crate::domain::task::{Status, short_id};
use crate::error::Result;
use crate::operation::{Context, Effect, Operation};
use crate::operations::budget::{self, cost_of, cost_of_fields, cost_of_rows, rows_at_a_glance};
use crate::operations::message::waiting_for;
use crate::operations::resume::packet;
use crate::operations::run::Unrecorded;
use crate::store::list::{self, Filter, Short, Sort};
use crate::store::{memory, project};

/// How many rows each list of the overview has at most.
const ROWS: i64 = 5;

/// Start here. With a handoff line: everything to resume that task, and what changed since. Without: the project's state. Claims nothing.
#[derive(Deserialize, JsonSchema)]
pub struct ContinuityContext {
    /// A handoff line as it was pasted, or a task id.
    #[schemars(extend("x-check" = "handoff", "x-position" = true, "x-wire" = "e.g. handoff: 8e287857 v7"))]
    handoff: Option<String>,
    /// The reader's session; the observed one if left out.
    #[schemars(extend("x-check" = "session", "x-wire" = "yours"))]
    session_ref: Option<String>,
}

impl Operation for ContinuityContext {
    const NAME: &'static str = "continuity_context";
    const COMMAND: &'static str = "context";
    const EFFECT: Effect = Effect::Reads;
    const ALWAYS_LOAD: bool = true;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let reader = self.session_ref.or_else(|| context.observed.session_ref.clone());
        match self.handoff {
            Some(line) => packet(context, &line, reader.as_deref()).await,
            None => overview(context, reader.as_deref()).await,
        }
    }
}

async fn overview(context: &mut Context<'_>, reader: Option<&str>) -> Result<Value> {
    let project = context.project()?.clone();
    let unrecorded = Unrecorded::of(context, None)?;
    let (counts, unrecorded) = context.transaction.ask_both(project::counts(project.project_id), unrecorded).await?;
    let counts: Map<String, Value> =
        counts.into_iter().map(|(status, count)| (status.as_str().to_owned(), json!(count))).collect();
    let mut answer = Map::new();
    answer.insert("project".to_owned(), json!(project.slug));
    answer.insert("language".to_owned(), json!(project.language));
    answer.insert("caller".to_owned(), json!(context.connection.caller));
    answer.insert("role".to_owned(), json!(context.connection.role.as_str()));
    answer.insert("counts".to_owned(), Value::Object(counts));
    let messages = waiting_for(context, reader).await?;
    let room = (budget::ANSWER - 500).saturating_sub(cost_of_fields(&answer));
    let section = messages.section();
    let messages = messages.within(section.cost.min(section.most));
    let lists = [
        ("in_progress", in_progress(context).await?),
        ("pending_handoffs", pending(context).await?),
        ("blocked", blocked(context).await?),
        ("decisions", decisions(context).await?),
    ];
    let mut more = Map::new();
    let mut left = room.saturating_sub(cost_of_rows(&messages));
    let section = unrecorded.section();
    if let Some(runs) = unrecorded.within(section.cost.min(section.most)) {
        left = left.saturating_sub(cost_of(&runs) + 30);
        answer.insert("unrecorded_runs".to_owned(), runs);
    }
    for (position, (name, (rows, total))) in lists.into_iter().enumerate() {
        // What one list does not need is the next ones'.
        let share = left / (4 - position);
        let rows = rows_at_a_glance(rows, share);
        left = left.saturating_sub(cost_of_rows(&rows));
        let rest = total - i64::try_from(rows.len()).unwrap_or(i64::MAX);
        if rest > 0 {
            more.insert(name.to_owned(), json!({"count": rest, "next": rest_call(name)}));
        }
        answer.insert(name.to_owned(), Value::Array(rows));
    }
    answer.insert("messages".to_owned(), json!(messages));
    if !more.is_empty() {
        answer.insert("more".to_owned(), Value::Object(more));
    }
    let next = if answer["pending_handoffs"].as_array().is_some_and(|rows| !rows.is_empty()) {
        "continuity_context with one of these lines, or task_list"
    } else {
        "task_list, or continuity_context with a task id"
    };
    answer.insert("next".to_owned(), json!(next));
    Ok(Value::Object(answer))
}

fn rest_call(list: &str) -> &'static str {
    match list {
        "in_progress" => "task_list status=in_progress",
        "pending_handoffs" => "task_list pending_handoff=true",
        "blocked" => "task_list status=blocked",
        _ => "memory_search kind=decision",
    }
}

type Rows = (Vec<Value>, i64);

async fn tasks(
    context: &mut Context<'_>,
    filter: Filter,
    sort: Sort,
    row: impl Fn(&Short, &Context<'_>) -> Value,
) -> Result<Rows> {
    let project_id = context.project()?.project_id;
    let (found, total) = list::page(context.transaction, project_id, &filter, sort, None, ROWS).await?;
    Ok((found.iter().map(|task| row(task, context)).collect(), total))
}

async fn in_progress(context: &mut Context<'_>) -> Result<Rows> {
    let filter = Filter { status: Some(Status::InProgress), pending_handoff: Some(false), ..Filter::default() };
    tasks(context, filter, Sort::Updated, |task, context| {
        let mut row = Map::new();
        row.insert("id".to_owned(), json!(short_id(task.task_id)));
        row.insert("v".to_owned(), json!(task.version));
        row.insert("title".to_owned(), json!(task.title));
        row.insert("summary".to_owned(), json!(task.summary));
        if let Some(owner) = &task.owner {
            row.insert("owner".to_owned(), json!(session::short(owner)));
        }
        row.insert("age".to_owned(), json!(task.updated.age(context.now)));
        Value::Object(row)
    })
    .await
}

async fn pending(context: &mut Context<'_>) -> Result<Rows> {
    let filter = Filter { pending_handoff: Some(true), ..Filter::default() };
    tasks(context, filter, Sort::PendingSince, |task, context| {
        let since = task.pending_at.unwrap_or(task.updated);
        json!({
            "line": crate::domain::handoff::line(task.task_id, task.version),
            "title": task.title,
            "summary": task.summary,
            "from": task.pending_by.as_deref().map(session::short),
            "age": since.age(context.now),
        })
    })
    .await
}

async fn blocked(context: &mut Context<'_>) -> Result<Rows> {
    let filter = Filter { status: Some(Status::Blocked), ..Filter::default() };
    tasks(context, filter, Sort::Updated, |task, context| {
        json!({
            "id": short_id(task.task_id),
            "v": task.version,
            "title": task.title,
            "waits": budget::clipped(&task.handoff_blockers, 400),
            "age": task.updated.age(context.now),
        })
    })
    .await
}

async fn decisions(context: &mut Context<'_>) -> Result<Rows> {
    let project_id = context.project()?.project_id;
    let filter = memory::Filter { kind: Some("decision".to_owned()), ..memory::Filter::default() };
    let found = memory::page(context.transaction, project_id, &filter, None, ROWS).await?;
    let total = memory::total(context.transaction, project_id, &filter, list::TOTAL_EXACT + 1).await?;
    let rows = found
        .iter()
        .map(|one| json!({"id": one.memory_id, "summary": one.summary, "age": one.at.age(context.now)}))
        .collect();
    Ok((rows, total))
}
