//! `task_create`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::task::{Content, Task};
use crate::domain::text::{SUMMARY_MAX, TAG_MAX, TAGS_MAX, TITLE_MAX};
use crate::error::Result;
use crate::operation::{Context, Effect, Operation};
use crate::operations::handoff::warnings_of_texts;
use crate::operations::task::{actor, author, resolve_all};
use crate::store;
use crate::store::version::Version;

/// Create a task the owner agreed to. Claim it with `task_takeover`.
///
/// It starts as todo at version 1, with no owner.
#[derive(Deserialize, JsonSchema)]
pub struct TaskCreate {
    /// The one string from the connection profile that keeps the write in its project.
    #[expect(dead_code, reason = "checked by call before the operation runs")]
    #[schemars(extend("x-agents-must" = true, "x-wire" = "from your connection profile"))]
    write_context: Option<String>,
    /// The title, 1 to 200 characters.
    #[schemars(length(min = 1, max = TITLE_MAX))]
    title: String,
    /// The state in one sentence, at most 280 characters, as lists show it.
    #[schemars(length(min = 1, max = SUMMARY_MAX))]
    #[schemars(extend("x-agents-must" = true, "x-wire" = "one sentence, max 280 characters"))]
    summary: Option<String>,
    /// 0 (highest) to 4 (lowest); 2 if left out.
    #[schemars(range(min = 0, max = 4), extend("x-wire" = "0 highest, 4 lowest"))]
    priority: Option<i64>,
    /// The task that this one belongs to.
    #[schemars(extend("x-check" = "task-exact"))]
    parent: Option<String>,
    /// Up to 50 tags of 1 to 64 characters.
    #[schemars(length(max = TAGS_MAX), inner(length(min = 1, max = TAG_MAX)))]
    tags: Option<Vec<String>>,
    /// Tasks that must be finished first.
    #[schemars(length(max = TAGS_MAX), extend("x-items-check" = "task-exact"), extend("x-wire" = "task ids"))]
    depends_on: Option<Vec<String>>,
    /// A word of your own: the same call with the same key happens once.
    #[expect(dead_code, reason = "kept by call")]
    #[schemars(length(max = 200), extend("x-check" = "key", "x-wire" = "same on a retry"))]
    idempotency_key: Option<String>,
    /// What is to be done and why.
    description: Option<String>,
    /// What must hold when it is done, as `- [ ]` lines.
    #[schemars(extend("x-wire" = "- [ ] lines"))]
    completion_criteria: Option<String>,
    /// Who must have looked at it, as `- [ ]` lines.
    #[schemars(extend("x-wire" = "- [ ] lines"))]
    required_reviews: Option<String>,
}

impl Operation for TaskCreate {
    const NAME: &'static str = "task_create";
    const COMMAND: &'static str = "task create";
    const EFFECT: Effect = Effect::Adds;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let parent = match &self.parent {
            Some(parent) => resolve_all(context, std::slice::from_ref(parent)).await?.first().copied(),
            None => None,
        };
        let depends_on = resolve_all(context, &self.depends_on.unwrap_or_default()).await?;
        let content = Content {
            title: self.title,
            summary: self.summary.unwrap_or_default(),
            priority: self.priority.unwrap_or(2),
            parent,
            tags: self.tags.unwrap_or_default(),
            depends_on,
            description: self.description.unwrap_or_default(),
            completion_criteria: self.completion_criteria.unwrap_or_default(),
            required_reviews: self.required_reviews.unwrap_or_default(),
            ..Content::default()
        };
        let tags = content.tags.join("\n");
        let texts = [("title", content.title.as_str()), ("summary", &content.summary), ("tags", &tags)];
        let texts: Vec<(&str, &str)> = texts.into_iter().chain(content.texts()).collect();
        let warnings = warnings_of_texts(&texts, context.project()?)?;
        // The first 8 characters are the public pointer, so no other task of the instance may have them.
        let task_id =
            context.free_id(|id| id, |transaction, id| Box::pin(store::task::is_free(transaction, id))).await?;
        let actor = actor(context, None);
        let task = Task::create(task_id, content, &actor, context.now);
        let project_id = context.project()?.project_id;
        store::task::insert(context.transaction, project_id, &task).await?;
        let fields = task.content.fields();
        let unset = Content { priority: -1, ..Content::default() };
        let version = Version {
            version: 1,
            at: context.now,
            author: author(context, &actor),
            act: "create".to_owned(),
            changed: task.content.changes_since(&unset).keys().cloned().collect(),
            content: fields,
        };
        store::version::insert(context.transaction, project_id, task_id, &version)?;
        if let Some(session_ref) = &actor.session_ref {
            store::task::note_session(context.transaction, project_id, session_ref, &task, false)?;
        }
        let mut answer = json!({"task_id": task_id, "version": 1, "line": task.line()});
        if !warnings.is_empty() {
            answer["warnings"] = json!(warnings);
        }
        Ok(answer)
    }
}
