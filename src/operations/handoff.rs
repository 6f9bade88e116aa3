//! `handoff_check` and `handoff_line`, and the warnings of an update.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::handoff::{self, Finding, NamedMemory, Subject};
use crate::domain::receipt::Receipt;
use crate::domain::task::{Content, Status, Task};
use crate::error::{Refusal, Result};
use crate::operation::{Audience, Context, Effect, Operation};
use crate::operations::task::load;
use crate::store::{memory, version};

/// How many decisions of a session are looked at.
const UNNAMED: i64 = 200;

/// What to fix in a saved handoff. `task_update` tells the same when it saves one.
#[derive(Deserialize, JsonSchema)]
pub struct HandoffCheck {
    /// The task; a draft is laid over what is saved.
    #[schemars(extend("x-check" = "task", "x-position" = true, "x-agents-must" = true))]
    task_id: Option<String>,
    /// A handoff that is not saved yet: an object with the fields of task update.
    #[schemars(extend("x-people" = true))]
    draft: Option<Draft>,
}

/// A handoff that is not saved yet.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Draft {
    /// The title.
    title: Option<String>,
    /// The status.
    status: Option<Status>,
    /// The state in one sentence.
    summary: Option<String>,
    /// The next steps.
    handoff_next: Option<String>,
    /// The blockers.
    handoff_blockers: Option<String>,
    /// What is done.
    handoff_completed: Option<String>,
    /// The receipt.
    work_receipt: Option<Receipt>,
}

impl Operation for HandoffCheck {
    const NAME: &'static str = "handoff_check";
    const COMMAND: &'static str = "handoff check";
    const EFFECT: Effect = Effect::Reads;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        if self.task_id.is_none() && self.draft.is_none() {
            return Err(Refusal::argument("task_id is missing: name a task, or give a draft"));
        }
        let task = match &self.task_id {
            Some(reference) => Some(load(context, reference).await?),
            None => None,
        };
        let saved = task.as_ref().map(|task| task.content.clone()).unwrap_or_default();
        let (content, receipt) = match self.draft {
            Some(draft) => draft.over(saved),
            None => (saved, None),
        };
        let findings = findings(context, task.as_ref(), &content, receipt).await?;
        let mut answer = json!({"grade": handoff::Grade::of_findings(&findings), "findings": findings});
        if let (Some(task), Some(fields)) = (task, answer.as_object_mut()) {
            fields.shift_insert(0, "task_id".to_owned(), json!(task.task_id));
            fields.shift_insert(1, "version".to_owned(), json!(task.version));
        }
        Ok(answer)
    }
}

impl Draft {
    fn over(self, saved: Content) -> (Content, Option<Receipt>) {
        let content = Content {
            title: self.title.unwrap_or(saved.title),
            status: self.status.unwrap_or(saved.status),
            summary: self.summary.unwrap_or(saved.summary),
            handoff_next: self.handoff_next.unwrap_or(saved.handoff_next),
            handoff_blockers: self.handoff_blockers.unwrap_or(saved.handoff_blockers),
            handoff_completed: self.handoff_completed.unwrap_or(saved.handoff_completed),
            ..saved
        };
        (content, self.work_receipt)
    }
}

/// All findings on a content; the receipt is the given one, else the last since the task's takeover.
async fn findings(
    context: &mut Context<'_>,
    task: Option<&Task>,
    content: &Content,
    receipt: Option<Receipt>,
) -> Result<Vec<Finding>> {
    let project_id = context.project()?.project_id;
    let mut receipt = receipt;
    if let Some(task) = task
        && receipt.is_none()
    {
        let last = context.transaction.ask(version::last_receipt(task.task_id, task.version)).await?;
        // A handoff that was taken over is still checked with the receipt that came with it.
        let is_new = task.marks.next_version > 0;
        receipt = last.filter(|last| !is_new || last.version >= task.marks.takeover_version).map(|last| last.receipt);
    }
    let ids = handoff::memories_named(content);
    let mut named = Vec::with_capacity(ids.len());
    for memory_id in &ids {
        let found = memory::get(context.transaction, project_id, memory_id).await?;
        named.push(NamedMemory {
            memory_id: memory_id.clone(),
            exists: found.is_some(),
            superseded_by: found.and_then(|found| found.superseded_by),
        });
    }
    let session = receipt.as_ref().and_then(|receipt| receipt.session_ref.clone());
    let unnamed = match (task, session) {
        (Some(task), Some(session_ref)) => unnamed_decisions(context, task, session_ref, &ids).await?,
        _ => Vec::new(),
    };
    Ok(handoff::check(&Subject { content, receipt: receipt.as_ref(), named: &named, unnamed_decisions: &unnamed }))
}

/// Decisions of this session for this task since its takeover that no text names.
async fn unnamed_decisions(
    context: &mut Context<'_>,
    task: &Task,
    session_ref: String,
    named: &[String],
) -> Result<Vec<String>> {
    let project_id = context.project()?.project_id;
    let filter = memory::Filter {
        kind: Some("decision".to_owned()),
        task_id: Some(task.task_id),
        session_ref: Some(session_ref),
        after_task_version: Some(task.marks.takeover_version - 1),
        ..memory::Filter::default()
    };
    let found = memory::page(context.transaction, project_id, &filter, None, UNNAMED).await?;
    Ok(found.into_iter().map(|one| one.memory_id).filter(|id| !named.contains(id)).collect())
}

/// The findings on the fields that an update touched, as its warnings.
pub(crate) async fn warnings(context: &mut Context<'_>, task: &Task, touched: &[&str]) -> Result<Vec<Value>> {
    let findings = findings(context, Some(task), &task.content, None).await?;
    // An update that sets neither half of a handoff is no handoff: what it lacks is not told.
    let is_handoff = touched.contains(&"handoff_next") || touched.contains(&"work_receipt");
    Ok(findings
        .into_iter()
        .filter(|finding| {
            let lacks_receipt = is_handoff && finding.rule == "receipt-complete";
            lacks_receipt || touched.iter().any(|field| finding.field == *field)
        })
        .map(|finding| json!({"rule": finding.rule, "field": finding.field, "fix": finding.fix}))
        .collect())
}

/// The line to paste into the next session.
#[derive(Deserialize, JsonSchema)]
pub struct HandoffLine {
    /// The task: its id or the beginning of it, at least 4 characters.
    #[schemars(extend("x-check" = "task", "x-position" = true))]
    task_id: String,
}

impl Operation for HandoffLine {
    const NAME: &'static str = "handoff_line";
    const COMMAND: &'static str = "handoff line";
    const EFFECT: Effect = Effect::Reads;
    const AUDIENCE: Audience = Audience::People;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let task = load(context, &self.task_id).await?;
        Ok(json!({"line": task.line()}))
    }
}
