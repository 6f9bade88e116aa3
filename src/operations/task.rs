//! Tasks: one file an operation, and what they share.

pub(crate) mod conflict;
pub mod create;
pub mod get;
pub mod history;
pub mod list;
pub mod takeover;
pub mod update;

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::domain::session::Observed;
use crate::domain::task::{Actor, Task};
use crate::error::{Refusal, Result};
use crate::operation::{Context, Place};
use crate::store::backend::{Ahead, Question};
use crate::store::version::{Author, Version};
use crate::store::{self};

/// The task of an id or prefix.
pub(crate) async fn load(context: &mut Context<'_>, reference: &str) -> Result<Task> {
    let project_id = context.project()?.project_id;
    context.transaction.ask(store::task::find(project_id, reference)).await
}

/// What [`load`] asks for the task that a call's argument names.
pub(crate) fn load_ahead(given: &Map<String, Value>, place: &Place) -> Ahead {
    let reference = given.get("task_id").and_then(Value::as_str);
    let question = reference.map(|reference| store::task::find(place.project_id, reference));
    Ahead { statements: question.map(Question::statement).into_iter().collect(), is_all: false }
}

/// The id of the task that a call's argument names, if it is a whole one.
pub(crate) fn whole_id(given: &Map<String, Value>) -> Option<Uuid> {
    Uuid::try_parse(given.get("task_id")?.as_str()?).ok()
}

/// The ids of other tasks that an argument names.
pub(crate) async fn resolve_all(context: &mut Context<'_>, references: &[String]) -> Result<Vec<Uuid>> {
    let project_id = context.project()?.project_id;
    let mut ids = Vec::with_capacity(references.len());
    for reference in references {
        let id = context.transaction.ask(store::task::find(project_id, reference)).await?.task_id;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Refuses a parent or dependencies that would make a circle.
pub(crate) async fn check_circles(
    context: &mut Context<'_>,
    task_id: Uuid,
    parent: Option<Uuid>,
    depends_on: &[Uuid],
) -> Result<()> {
    let refuse = |field: &str, id: Uuid| {
        Refusal::not_allowed(
            format!("{field} {} would make a circle", crate::domain::task::short_id(id)),
            "Name a task that does not itself depend on this one. Nothing was written.",
        )
    };
    if parent.is_some() || !depends_on.is_empty() {
        // Two writes that each make half of a circle see nothing of each other: they must not run side by side.
        let project_id = context.project()?.project_id;
        store::project::take_turn(context.transaction, project_id)?;
    }
    if let Some(parent) = parent
        && store::task::is_ancestor(context.transaction, task_id, parent).await?
    {
        return Err(refuse("parent", parent));
    }
    for first in depends_on {
        if store::task::waits_for(context.transaction, *first, task_id).await? {
            return Err(refuse("depends_on", *first));
        }
    }
    Ok(())
}

/// Who writes: the session given by the caller, else the observed one, else the one that this connection named last.
pub(crate) fn actor(context: &Context<'_>, given: Option<&str>) -> Actor {
    let given = given.filter(|given| !given.is_empty()).map(str::to_owned);
    let told = given.or_else(|| context.observed.session_ref.clone());
    Actor {
        caller: context.connection.caller.clone(),
        told: told.is_some(),
        session_ref: told.or_else(|| context.connection.named_session()),
    }
}

/// Who records what others did: the session that is known to call, else the caller.
pub(crate) fn recorder(context: &Context<'_>) -> String {
    context.observed.session_ref.clone().unwrap_or_else(|| context.connection.caller.clone())
}

/// The author of a new version.
pub(crate) fn author(context: &Context<'_>, actor: &Actor) -> Author {
    let Observed { harness, .. } = context.observed;
    Author {
        caller: actor.caller.clone(),
        connection: context.connection.id.clone(),
        session_ref: actor.session_ref.clone(),
        harness: harness.clone(),
    }
}

/// What a new version adds to a task.
pub(crate) struct Step<'s> {
    /// The task before.
    pub before: &'s Task,
    /// The task after.
    pub after: &'s Task,
    /// Who writes.
    pub actor: &'s Actor,
    /// `update`, `takeover` or `revert`.
    pub act: &'s str,
    /// True if a receipt came with it.
    pub with_receipt: bool,
}

/// Saves a new version with its history row; answers the names of the changed fields.
pub(crate) async fn save(context: &mut Context<'_>, step: Step<'_>) -> Result<Vec<String>> {
    let Step { before, after, actor, act, with_receipt } = step;
    let project_id = context.project()?.project_id;
    let content = after.content.changes_since(&before.content);
    let mut changed: Vec<String> = content.keys().cloned().collect();
    if with_receipt {
        changed.push("receipts".to_owned());
    }
    let version = Version {
        version: after.version,
        at: after.updated,
        author: author(context, actor),
        act: act.to_owned(),
        changed: changed.clone(),
        content,
    };
    if !store::task::save(context.transaction, project_id, before, after, &version).await? {
        let current = load(context, &after.task_id.to_string()).await?;
        return Err(conflict::refusal(context, &current, before.version, actor, &Map::new()).await?);
    }
    if let Some(session_ref) = &actor.session_ref {
        let handed_off = after.marks.pending_version == after.version;
        store::task::note_session(context.transaction, project_id, session_ref, after, handed_off)?;
        context.connection.name_session(session_ref);
    }
    Ok(changed)
}
