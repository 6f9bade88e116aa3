//! `message_send`, and the messages that wait on a task.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::domain::message::KEPT_DAYS;
use crate::domain::session::Observed;
use crate::domain::task::{Task, pointer_problem};
use crate::domain::text::quoted;
use crate::error::{Refusal, Result};
use crate::operation::{Context, Effect, Operation};
use crate::operations::budget::rows_that_fit;
use crate::operations::task::{actor, load};
use crate::store::message::{self, Message};
use crate::store::task;

/// The longest message, in characters: more belongs in the task.
const TEXT_MAX: usize = 2_000;
/// How many messages an answer shows.
const SHOWN: i64 = 5;
/// What messages may take of an answer.
const ROOM: usize = 2_500;

/// Tell a task's owner or a session something urgent; lasting state belongs in the task.
///
/// It waits for whoever has the task, for 7 days or until acknowledged.
#[derive(Deserialize, JsonSchema)]
pub struct MessageSend {
    /// The one string from the connection profile that keeps the write in its project.
    #[expect(dead_code, reason = "checked by call before the operation runs")]
    #[schemars(extend("x-agents-must" = true, "x-wire" = "from your connection profile"))]
    write_context: Option<String>,
    /// Whom: a task, or a session.
    #[schemars(extend("x-check" = "recipient", "x-wire" = "task id or session_ref"))]
    to: Option<String>,
    /// The sender's session; the observed one if left out.
    #[schemars(extend("x-check" = "session", "x-wire" = "yours"))]
    session_ref: Option<String>,
    /// Messages that were read and need not be shown again.
    #[schemars(length(max = 50), extend("x-items-check" = "message", "x-wire" = "message ids read"))]
    ack: Option<Vec<String>>,
    /// The message, at most 2,000 characters.
    #[schemars(length(max = TEXT_MAX))]
    text: Option<String>,
    /// A word of your own: the same call with the same key happens once.
    #[expect(dead_code, reason = "kept by call")]
    #[schemars(length(max = 200), extend("x-check" = "key"))]
    idempotency_key: Option<String>,
}

impl Operation for MessageSend {
    const NAME: &'static str = "message_send";
    const COMMAND: &'static str = "message send";
    const EFFECT: Effect = Effect::Adds;
    type Answer = Value;

    fn problems(given: &Map<String, Value>, _observed: &Observed) -> Vec<String> {
        let says = given.get("text").and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
        let acknowledges = given.get("ack").and_then(Value::as_array).is_some_and(|ids| !ids.is_empty());
        let problem = match (given.contains_key("to"), says) {
            (true, false) => "text is missing: to needs a text",
            (false, true) => "to is missing: a task id or a session_ref",
            (false, false) if !acknowledges => "nothing to do: give to and text, or ack",
            _ => return Vec::new(),
        };
        vec![problem.to_owned()]
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let text = self.text.filter(|text| !text.trim().is_empty());
        let ack = self.ack.unwrap_or_default();
        let sends = self.to.zip(text);
        let sender = actor(context, self.session_ref.as_deref());
        let project_id = context.project()?.project_id;
        for id in &ack {
            if !message::acknowledge(context.transaction, project_id, id, sender.who(), context.now).await? {
                return Err(Refusal::not_found(
                    format!("no message {id} in this project"),
                    "It may have expired; task_get shows the messages that wait. Nothing was written.",
                ));
            }
        }
        let mut answer = match sends {
            Some((to, text)) => send(context, &to, text, sender.session_ref).await?,
            None => Map::new(),
        };
        if !ack.is_empty() {
            answer.insert("acknowledged".to_owned(), json!(ack));
        }
        Ok(Value::Object(answer))
    }
}

async fn send(context: &mut Context<'_>, to: &str, text: String, from: Option<String>) -> Result<Map<String, Value>> {
    let project_id = context.project()?.project_id;
    let (task, to_session) = if pointer_problem(to).is_none() {
        (load(context, to).await?, None)
    } else {
        match of_session(context, to).await? {
            Found::Task(task) => (*task, Some(to.to_owned())),
            Found::Nothing(answer) => return Ok(answer),
        }
    };
    let message_id = free_id(context).await?;
    let new = Message {
        message_id: message_id.clone(),
        task_id: task.task_id,
        to_session: to_session.clone(),
        from_session: from,
        caller: context.connection.caller.clone(),
        at: context.now,
        expires: context.now.plus_hours(KEPT_DAYS * 24),
        text,
    };
    message::insert(context.transaction, project_id, &context.connection.id, &new).await?;
    Ok(told(&task, &message_id, to_session.as_deref()))
}

/// What the sender learns: who will read it, and where the work is now.
fn told(task: &Task, message_id: &str, to_session: Option<&str>) -> Map<String, Value> {
    let mut answer = Map::new();
    let mut put = |name: &str, value: Value| answer.insert(name.to_owned(), value);
    put("id", json!(message_id));
    let pending = task.marks.pending_version > 0;
    match &task.content.owner {
        Some(owner) if !pending => {
            let is_recipient = to_session.is_none_or(|to| to == owner);
            put("state", json!(if is_recipient { "waiting" } else { "forwarded" }));
            put("to", json!(owner));
            put("task", json!(task.short_id()));
            let takeover = task.marks.takeover_version;
            put("version", json!(if is_recipient || takeover == 0 { task.version } else { takeover }));
        }
        _ => {
            put("state", json!("no_successor"));
            put("task", json!(task.short_id()));
            put("version", json!(task.version));
            put("line", json!(task.line()));
            put("next", json!("Kept for whoever takes this task over. To have it read now, give the owner the line."));
        }
    }
    answer
}

enum Found {
    Task(Box<Task>),
    Nothing(Map<String, Value>),
}

/// The one task that a session's message is about: the only open one it worked on, else the only one.
async fn of_session(context: &mut Context<'_>, session_ref: &str) -> Result<Found> {
    let project_id = context.project()?.project_id;
    let mut tasks = task::of_session(context.transaction, project_id, session_ref).await?;
    if tasks.iter().any(|task| task.content.status.is_open()) {
        tasks.retain(|task| task.content.status.is_open());
    }
    let mut answer = Map::new();
    if tasks.is_empty() {
        answer.insert("state".to_owned(), json!("unknown_session"));
        answer.insert("to".to_owned(), json!(session_ref));
        let next = "No task of this project was written by that session; nothing was stored. Send it to a task id.";
        answer.insert("next".to_owned(), json!(next));
        return Ok(Found::Nothing(answer));
    }
    if tasks.len() == 1
        && let Some(task) = tasks.pop()
    {
        return Ok(Found::Task(Box::new(task)));
    }
    let rows: Vec<Value> = tasks
        .iter()
        .map(|task| json!({"id": task.short_id(), "v": task.version, "status": task.content.status, "title": quoted_title(task)}))
        .collect();
    answer.insert("state".to_owned(), json!("ambiguous"));
    answer.insert("to".to_owned(), json!(session_ref));
    answer.insert("tasks".to_owned(), json!(rows));
    answer.insert(
        "next".to_owned(),
        json!("That session has several tasks; nothing was stored. Send it to one of these task ids."),
    );
    Ok(Found::Nothing(answer))
}

fn quoted_title(task: &Task) -> String {
    let quoted = quoted(&task.content.title, 80);
    serde_json::from_str(&quoted).unwrap_or(quoted)
}

async fn free_id(context: &mut Context<'_>) -> Result<String> {
    for _ in 0..64 {
        let id = format!("msg-{}", context.new_short_id());
        if message::is_free(context.transaction, &id).await? {
            return Ok(id);
        }
    }
    Err(Refusal::internal(&"no free message id in 64 draws"))
}

/// The messages that wait on a task, oldest first; how many more there are stands in the last row.
pub(crate) async fn waiting(context: &mut Context<'_>, task_id: Uuid) -> Result<Vec<Value>> {
    let project_id = context.project()?.project_id;
    let found = message::waiting(context.transaction, project_id, task_id, context.now, 1_000).await?;
    Ok(in_short(&found, false))
}

/// The messages that wait on the tasks of a session, or of the whole project.
pub(crate) async fn waiting_for(context: &mut Context<'_>, owner: Option<&str>) -> Result<Vec<Value>> {
    let project_id = context.project()?.project_id;
    let found = message::waiting_for(context.transaction, project_id, owner, context.now, 1_000).await?;
    Ok(in_short(&found, true))
}

fn in_short(found: &[Message], with_task: bool) -> Vec<Value> {
    let rows = found.iter().take(usize::try_from(SHOWN).unwrap_or(5)).map(|one| {
        let mut row = Map::new();
        row.insert("id".to_owned(), json!(one.message_id));
        if with_task {
            row.insert("task".to_owned(), json!(crate::domain::task::short_id(one.task_id)));
        }
        if let Some(from) = &one.from_session {
            row.insert("from".to_owned(), json!(from));
        }
        row.insert("caller".to_owned(), json!(one.caller));
        row.insert("at".to_owned(), json!(one.at.rfc3339()));
        row.insert("text".to_owned(), json!(one.text));
        Value::Object(row)
    });
    let (mut rows, _) = rows_that_fit(rows.collect(), ROOM);
    if rows.len() < found.len() {
        rows.push(json!({"more": found.len() - rows.len(), "next": "message_send ack=[the ids you have read] makes room for the rest"}));
    }
    rows
}
