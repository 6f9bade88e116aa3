//! `message_send`, and the messages that wait on a task.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::domain::message::KEPT_DAYS;
use crate::domain::session::{self, Observed};
use crate::domain::task::{Task, pointer_problem, short_id};
use crate::domain::text::{head, length, quoted};
use crate::error::{Refusal, Result};
use crate::operation::{Context, Effect, Operation, Place};
use crate::operations::budget::{Section, characters_that_fit, cost_of, cost_of_text, cut, fair_shares, rows_that_fit};
use crate::operations::handoff::warnings_of_texts;
use crate::operations::task::{actor, load};
use crate::store::backend::{Question, Statement};
use crate::store::message::{self, Message};
use crate::store::task;

/// The longest message, in characters: more belongs in the task.
const TEXT_MAX: usize = 2_000;
/// How many messages an answer shows.
const SHOWN: usize = 5;
/// How many messages that wait are counted.
const COUNTED: i64 = 1_000;
/// What messages may take of an answer while other parts of it are cut.
const MOST: usize = 2_500;
/// What the first message needs: who sent it, its beginning, and the call for the rest.
const LEAST: usize = 850;
/// What the beginning of a text needs with the call for the rest.
const BEGINNING: usize = 250;
/// What the row costs that counts the messages not shown.
const MORE: usize = 130;
/// What the tasks of a session may take of an answer.
const TASKS: usize = 6_000;

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
            Some((to, text)) => {
                let warnings = warnings_of_texts(&[("text", &text)], context.project()?)?;
                let mut answer = send(context, &to, text, sender.session_ref).await?;
                if !warnings.is_empty() {
                    answer.insert("warnings".to_owned(), json!(warnings));
                }
                answer
            }
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
    let message_id = context
        .free_id(|id| format!("msg-{}", short_id(id)), |transaction, id| Box::pin(message::is_free(transaction, id)))
        .await?;
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
    message::insert(context.transaction, project_id, &context.connection.id, &new)?;
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
    let (rows, more) = rows_that_fit(rows, TASKS);
    answer.insert("state".to_owned(), json!("ambiguous"));
    answer.insert("to".to_owned(), json!(session_ref));
    answer.insert("tasks".to_owned(), json!(rows));
    if more > 0 {
        answer.insert("more".to_owned(), json!({"count": more, "next": "task_list"}));
    }
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

/// Messages that wait, oldest first.
pub(crate) struct Waiting {
    found: Vec<Message>,
    with_task: bool,
}

/// The messages that wait on a task.
pub(crate) fn waiting(context: &Context<'_>, task_id: Uuid) -> Result<Question<Waiting>> {
    let project_id = context.project()?.project_id;
    let found = message::waiting(project_id, task_id, context.now, COUNTED);
    Ok(found.then(|found| Waiting { found, with_task: false }))
}

/// What [`waiting`] asks.
pub(crate) fn waiting_ahead(task_id: Uuid, place: &Place) -> Statement {
    message::waiting(place.project_id, task_id, place.now, COUNTED).statement()
}

/// The messages that wait on the tasks of a session, or of the whole project.
pub(crate) async fn waiting_for(context: &mut Context<'_>, owner: Option<&str>) -> Result<Waiting> {
    let project_id = context.project()?.project_id;
    let found = message::waiting_for(context.transaction, project_id, owner, context.now, COUNTED).await?;
    Ok(Waiting { found, with_task: true })
}

impl Waiting {
    /// No messages.
    pub(crate) const NONE: Self = Self { found: Vec::new(), with_task: false };

    /// What they may take of an answer, and what they need to be told at all.
    pub(crate) fn section(&self) -> Section {
        let texts: usize = self.first().map(|one| cost_of_text(&one.text) + cost_of(&self.head(one))).sum();
        let cost = if self.found.is_empty() { 0 } else { texts + MORE };
        Section { cost, least: LEAST, most: MOST }
    }

    /// The rows that fit into `room`, at least one; long texts are cut, and a last row counts what is not shown.
    pub(crate) fn within(&self, room: usize) -> Vec<Value> {
        let heads: Vec<Value> = self.first().map(|one| self.head(one)).collect();
        let texts: Vec<usize> = self.first().map(|one| cost_of_text(&one.text)).collect();
        let mut left = room.saturating_sub(MORE);
        let mut count = 0;
        for (head, text) in heads.iter().zip(&texts) {
            let least = cost_of(head) + text.min(&BEGINNING);
            if count > 0 && least > left {
                break;
            }
            left = left.saturating_sub(least);
            count += 1;
        }
        let spent: usize = heads[..count].iter().map(cost_of).sum();
        let shares = fair_shares(&texts[..count], room.saturating_sub(MORE + spent));
        let shown = self.found.iter().zip(heads).zip(texts.iter().zip(shares));
        let mut rows: Vec<Value> =
            shown.map(|((one, head), (cost, share))| with_text(one, head, *cost, share)).collect();
        let more = self.found.len() - rows.len();
        if more > 0 {
            let next = "message_send ack=[the ids you have read] makes room for the rest";
            rows.push(json!({"more": more, "next": next}));
        }
        rows
    }

    fn first(&self) -> impl Iterator<Item = &Message> {
        self.found.iter().take(SHOWN)
    }

    /// A row without its text.
    fn head(&self, one: &Message) -> Value {
        let mut row = Map::new();
        row.insert("id".to_owned(), json!(one.message_id));
        if self.with_task {
            row.insert("task".to_owned(), json!(short_id(one.task_id)));
        }
        if let Some(from) = &one.from_session {
            row.insert("from".to_owned(), json!(session::clipped(from)));
        }
        row.insert("caller".to_owned(), json!(one.caller));
        row.insert("at".to_owned(), json!(one.at.rfc3339()));
        row.insert("text".to_owned(), json!(""));
        Value::Object(row)
    }
}

/// The row with its text, cut to its share where it costs more.
fn with_text(one: &Message, mut row: Value, cost: usize, share: usize) -> Value {
    let of = length(&one.text);
    let rest = |offset: usize| {
        format!("task_get task_id={} field=message.{} offset={offset}", short_id(one.task_id), one.message_id)
    };
    let room = if cost <= share { cost } else { share.saturating_sub(cost_of(&cut(of, of, &rest(of))) + 11) };
    let shown = characters_that_fit(&one.text, room);
    row["text"] = json!(head(&one.text, shown));
    if shown < of {
        row["cut"] = cut(shown, of, &rest(shown));
    }
    row
}

/// The whole text of a message that waits on a task.
pub(crate) async fn text_of(context: &mut Context<'_>, task_id: Uuid, message_id: &str) -> Result<Option<String>> {
    let waiting = waiting(context, task_id)?;
    let waiting = context.transaction.ask(waiting).await?;
    Ok(waiting.found.into_iter().find(|one| one.message_id == message_id).map(|one| one.text))
}
