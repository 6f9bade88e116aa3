//! `redact`: takes one leaked passage out of everything that is stored. Must never repeat the passage.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::redaction::Passage;
use crate::domain::task::short_id;
use crate::error::Result;
use crate::operation::{Audience, Context, Effect, Operation};
use crate::operations::task::actor;
use crate::store::redaction;

/// Take a leaked passage out of everything that is stored, in every project: each version, receipt, memory, message, answer kept for retries and the word index.
///
/// `[REDACTED]` stands in its place. Every task in which it stood, be it only in its history, gets a version that says
/// so. What is removed cannot be brought back, but from the backups that still hold it, which are listed. A secret that
/// leaked is known to others: rotate it as well.
#[derive(Deserialize, JsonSchema)]
pub struct Redact {
    /// The passage, as it stands in the texts: letter case, spaces and line ends count. At least 6 characters.
    passage: String,
    /// Only tells where it stands.
    dry_run: Option<bool>,
}

impl Operation for Redact {
    const NAME: &'static str = "redact";
    const COMMAND: &'static str = "redact";
    const EFFECT: Effect = Effect::Administers;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;
    const ALONE: Option<&'static str> = Some(redaction::LOCK);
    const MAY_HOLD_SECRET: Option<&'static str> = Some("passage");

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let passage = Passage::of(self.passage)?;
        if self.dry_run.unwrap_or(false) {
            let found = redaction::find(context.transaction, &passage).await?;
            return Ok(json!({"found": !found.is_empty(), "rows": found.by_table(), "redacted": false}));
        }
        let actor = actor(context, None);
        let connection = context.connection.id.clone();
        let report = redaction::redact(context.transaction, &passage, &actor, &connection, context.now).await?;
        let tasks: Vec<Value> =
            report.tasks.iter().map(|(id, version)| json!({"task_id": short_id(*id), "version": version})).collect();
        Ok(json!({
            "found": !report.is_empty(),
            "rows": report.by_table(),
            "redacted": !report.is_empty(),
            "tasks": tasks,
        }))
    }
}
