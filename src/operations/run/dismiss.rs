//! `run_dismiss`: says of reports that nobody is to record them. Must never take a report away, nor keep anybody from recording
//! one later.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::domain::session::Observed;
use crate::domain::text::TAGS_MAX;
use crate::error::{Code, Refusal, Result};
use crate::operation::{Audience, Context, Effect, Operation};
use crate::operations::run::{dismissed, recorded};
use crate::operations::task::recorder;
use crate::store::run::{self, Dismissed, Short, Whole};

/// Say of reports that nobody is to record them: they leave the lists of what is unrecorded.
///
/// The reports stay, and one that is recorded later is no longer dismissed. Dismissing one again changes nothing.
#[derive(Deserialize, JsonSchema)]
pub struct RunDismiss {
    /// The runs: their full ids or exactly the first 8 characters, at most 50.
    #[schemars(length(min = 1, max = TAGS_MAX), extend("x-items-check" = "run-exact", "x-position" = true))]
    runs: Vec<String>,
    /// The one string from the connection profile that keeps the write in its project.
    #[expect(dead_code, reason = "checked by call before the operation runs")]
    #[schemars(extend("x-agents-must" = true))]
    write_context: Option<String>,
    /// A word of your own: the same call with the same key happens once.
    #[expect(dead_code, reason = "kept by call")]
    #[schemars(length(max = 200), extend("x-check" = "key"))]
    idempotency_key: Option<String>,
}

impl Operation for RunDismiss {
    const NAME: &'static str = "run_dismiss";
    const COMMAND: &'static str = "run dismiss";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;

    fn problems(given: &Map<String, Value>, _observed: &Observed) -> Vec<String> {
        let is_empty = given.get("runs").and_then(Value::as_array).is_some_and(Vec::is_empty);
        is_empty.then(|| "runs names none".to_owned()).into_iter().collect()
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let found = self.found(context).await?;
        let mut rows = Vec::new();
        for Whole { short, .. } in found {
            rows.push(dismiss(context, &short).await?);
        }
        Ok(json!({"runs": rows}))
    }
}

impl RunDismiss {
    /// All of them, each once, or everything that is wrong with any.
    async fn found(&self, context: &mut Context<'_>) -> Result<Vec<Whole>> {
        let project_id = context.project()?.project_id;
        let (mut found, mut refusals): (Vec<Whole>, Vec<Refusal>) = (Vec::new(), Vec::new());
        for named in &self.runs {
            match context.transaction.ask(run::find(project_id, named)).await {
                Ok(run) if found.iter().any(|other| other.short.run_key == run.short.run_key) => {}
                Ok(run) => found.push(run),
                Err(refusal) if matches!(refusal.code, Code::NotFound | Code::AmbiguousId) => refusals.push(refusal),
                Err(refusal) => return Err(refusal),
            }
        }
        match Refusal::together(refusals) {
            None => Ok(found),
            Some(refusal) => Err(refusal),
        }
    }
}

/// Dismisses one; what is recorded, or dismissed already, stays so.
async fn dismiss(context: &mut Context<'_>, run: &Short) -> Result<Value> {
    let mut row = Map::new();
    row.insert("run_id".to_owned(), json!(run.run_id));
    if let Some(kept) = &run.recorded {
        row.insert("recorded".to_owned(), recorded(kept));
        return Ok(Value::Object(row));
    }
    let new = Dismissed { at: context.now, by: recorder(context) };
    let kept = run.dismissed.as_ref().unwrap_or(&new);
    if run.dismissed.is_none() && !run::dismiss(context.transaction, run.run_key, &new).await? {
        return Err(Refusal::new(
            Code::Unavailable,
            "a run was recorded or dismissed by another call at the same moment",
            "Call again. Nothing was written by this call.",
        ));
    }
    row.insert("existing".to_owned(), json!(run.dismissed.is_some()));
    row.insert("dismissed".to_owned(), dismissed(kept));
    Ok(Value::Object(row))
}
