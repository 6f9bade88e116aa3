//! `task_takeover`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::operation::{Context, Effect, Operation, Place};
use crate::operations::budget::{self, cost_of};
use crate::operations::message::waiting;
use crate::operations::task::conflict::check_version;
use crate::operations::task::{Step, actor, load, load_ahead, save};
use crate::store::backend::Ahead;

/// Claim a task before you work on it, handed off or new: you become its owner, todo becomes `in_progress`, its texts stay.
///
/// The takeover is one line at the end of `handoff_completed` and a version of its own.
#[derive(Deserialize, JsonSchema)]
pub struct TaskTakeover {
    /// The task: its full id or exactly the first 8 characters.
    #[schemars(extend("x-check" = "task-exact", "x-position" = true, "x-wire" = "id or its first 8"))]
    task_id: String,
    /// The version that you read.
    #[schemars(range(min = 1))]
    expected_version: i64,
    /// The one string from the connection profile that keeps the write in its project.
    #[expect(dead_code, reason = "checked by call before the operation runs")]
    #[schemars(extend("x-agents-must" = true, "x-wire" = "from your connection profile"))]
    write_context: Option<String>,
    /// Who takes it: `<harness>:<native id>` or `label:<words>`; the observed session, else the caller, if left out.
    #[schemars(extend("x-check" = "session", "x-wire" = "claude-code:<id>, codex:<id> or label:<words>"))]
    session_ref: Option<String>,
    /// Takes it although its owner wrote in the last 30 minutes.
    #[schemars(extend("x-wire" = "its owner is live"))]
    force: Option<bool>,
}

impl Operation for TaskTakeover {
    const NAME: &'static str = "task_takeover";
    const COMMAND: &'static str = "task takeover";
    const EFFECT: Effect = Effect::Changes;
    const ALWAYS_LOAD: bool = true;

    fn asks_first(given: &Map<String, Value>, place: &Place) -> Ahead {
        load_ahead(given, place)
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let before = load(context, &self.task_id).await?;
        let actor = actor(context, self.session_ref.as_deref());
        check_version(context, &before, self.expected_version, &actor, &Map::new()).await?;
        let after = before.take_over(&actor, context.now, self.force.unwrap_or(false))?;
        let step = Step { before: &before, after: &after, actor: &actor, act: "takeover", with_receipt: false };
        save(context, step).await?;
        let messages = waiting(context, after.task_id)?;
        let messages = context.transaction.ask(messages).await?;
        let mut answer = json!({
            "task_id": after.task_id,
            "version": after.version,
            "status": after.content.status,
            "owner": after.content.owner,
            "line": after.line(),
        });
        answer["messages"] = json!(messages.within(budget::ANSWER - cost_of(&answer) - 20));
        Ok(answer)
    }
}
