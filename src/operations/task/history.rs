//! `task_history` and `task_revert`, for people.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::{Refusal, Result};
use crate::operation::{Audience, Context, Effect, Operation, Place};
use crate::operations::task::conflict::check_version;
use crate::operations::task::{Step, actor, check_circles, load, load_ahead, save};
use crate::store::backend::Ahead;
use crate::store::memory::has_result;
use crate::store::version::{content_at, newest};

/// The versions of a task, the newest first: who, when, by what act, which fields.
#[derive(Deserialize, JsonSchema)]
pub struct TaskHistory {
    /// The task: its id or the beginning of it, at least 4 characters.
    #[schemars(extend("x-check" = "task", "x-position" = true))]
    task_id: String,
    /// How many versions, 1 to 200; 20 if left out.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<i64>,
    /// Only versions before this one.
    #[schemars(range(min = 1))]
    before: Option<i64>,
}

impl Operation for TaskHistory {
    const NAME: &'static str = "task_history";
    const COMMAND: &'static str = "task history";
    const EFFECT: Effect = Effect::Reads;
    const AUDIENCE: Audience = Audience::People;

    fn asks_first(given: &Map<String, Value>, place: &Place) -> Ahead {
        load_ahead(given, place)
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let task = load(context, &self.task_id).await?;
        let before = self.before.unwrap_or(i64::MAX);
        let versions = newest(context.transaction, task.task_id, 0, before, self.limit.unwrap_or(20)).await?;
        let last = versions.last().map_or(1, |one| one.version);
        let rows: Vec<Value> = versions
            .iter()
            .map(|one| {
                json!({
                    "v": one.version,
                    "at": one.at.rfc3339(),
                    "act": one.act,
                    "caller": one.author.caller,
                    "session_ref": one.author.session_ref,
                    "harness": one.author.harness,
                    "connection": one.author.connection,
                    "fields": one.changed,
                })
            })
            .collect();
        let mut answer = Map::new();
        answer.insert("task_id".to_owned(), json!(task.task_id));
        answer.insert("title".to_owned(), json!(task.content.title));
        answer.insert("total".to_owned(), json!(task.version));
        answer.insert("shown".to_owned(), json!(rows.len()));
        answer.insert("versions".to_owned(), Value::Array(rows));
        if last > 1 {
            answer
                .insert("rest".to_owned(), json!(format!("heyaira task history {} --before {last}", task.short_id())));
        }
        Ok(Value::Object(answer))
    }
}

/// Write an old state of a task as a new version.
///
/// Nothing is removed: the versions in between stay, and receipts and memories are left as they are.
#[derive(Deserialize, JsonSchema)]
pub struct TaskRevert {
    /// The task: its full id or exactly the first 8 characters.
    #[schemars(extend("x-check" = "task-exact", "x-position" = true))]
    task_id: String,
    /// The version whose state is to come back.
    #[schemars(range(min = 1))]
    to: i64,
    /// The version that you read; the current one if left out.
    #[schemars(range(min = 1))]
    expected_version: Option<i64>,
    /// The one string from the connection profile that keeps the write in its project.
    #[expect(dead_code, reason = "checked by call before the operation runs")]
    #[schemars(extend("x-agents-must" = true))]
    write_context: Option<String>,
}

impl Operation for TaskRevert {
    const NAME: &'static str = "task_revert";
    const COMMAND: &'static str = "task revert";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;

    fn asks_first(given: &Map<String, Value>, place: &Place) -> Ahead {
        load_ahead(given, place)
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let before = load(context, &self.task_id).await?;
        let actor = actor(context, None);
        if let Some(expected) = self.expected_version {
            check_version(context, &before, expected, &actor, &Map::new()).await?;
        }
        let found = content_at(context.transaction, before.task_id, self.to).await?;
        let (content, _) = found.ok_or_else(|| {
            Refusal::not_found(
                format!("task {} has no version {}, it is at {}", before.short_id(), self.to, before.version),
                format!("heyaira task history {} lists its versions.", before.short_id()),
            )
        })?;
        check_circles(context, before.task_id, content.parent, &content.depends_on).await?;
        let since = before.marks.reopened_version;
        let has_result = context.transaction.ask(has_result(before.task_id, since)).await?;
        let after = before.revert(content, &actor, has_result, context.now)?;
        let step = Step { before: &before, after: &after, actor: &actor, act: "revert", with_receipt: false };
        let changed = save(context, step).await?;
        Ok(json!({
            "task_id": after.task_id,
            "version": after.version,
            "line": after.line(),
            "reverted_to": self.to,
            "changed_fields": changed,
        }))
    }
}
