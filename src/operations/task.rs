//! Tasks: one file an operation, and what they share.

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
use crate::domain::text;
use crate::error::{Code, Refusal, Result};
use crate::operation::Context;
use crate::store::version::{Author, Version};
use crate::store::{self};

/// How many versions a conflict names.
const CONFLICT_SHOWN: i64 = 4;

/// The task of an id or prefix.
pub(crate) async fn load(context: &mut Context<'_>, reference: &str) -> Result<Task> {
    let project_id = context.project()?.project_id;
    let task_id = store::task::resolve(context.transaction, project_id, reference).await?;
    let task = store::task::get(context.transaction, project_id, task_id).await?;
    task.ok_or_else(|| Refusal::not_found(format!("no task {reference} in this project"), "task_list finds tasks."))
}

/// The ids of other tasks that an argument names.
pub(crate) async fn resolve_all(context: &mut Context<'_>, references: &[String]) -> Result<Vec<Uuid>> {
    let project_id = context.project()?.project_id;
    let mut ids = Vec::with_capacity(references.len());
    for reference in references {
        let id = store::task::resolve(context.transaction, project_id, reference).await?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Who writes: the session given by the caller, else the observed one.
pub(crate) fn actor(context: &Context<'_>, given: Option<&str>) -> Actor {
    let given = given.filter(|given| !given.is_empty()).map(str::to_owned);
    Actor {
        caller: context.connection.caller.clone(),
        session_ref: given.or_else(|| context.observed.session_ref.clone()),
    }
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
    if !store::task::save(context.transaction, project_id, before, after).await? {
        let current = load(context, &after.task_id.to_string()).await?;
        return Err(conflict(context, &current, before.version, &Map::new()).await?);
    }
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
    store::version::insert(context.transaction, project_id, after.task_id, &version).await?;
    if let Some(session_ref) = &actor.session_ref {
        let handed_off = after.marks.pending_version == after.version;
        store::task::note_session(context.transaction, project_id, session_ref, after, handed_off).await?;
    }
    Ok(changed)
}

/// Refuses when the version that the caller read is not the current one.
pub(crate) async fn check_version(
    context: &mut Context<'_>,
    task: &Task,
    expected: i64,
    asked: &Map<String, Value>,
) -> Result<()> {
    if task.version == expected {
        return Ok(());
    }
    Err(conflict(context, task, expected, asked).await?)
}

/// The refusal of a stale write: who wrote since, what, and what the caller should do.
async fn conflict(
    context: &mut Context<'_>,
    task: &Task,
    expected: i64,
    asked: &Map<String, Value>,
) -> Result<Refusal> {
    let short = task.short_id();
    let at = format!("task {short} is at version {}, you sent {expected}", task.version);
    let refuse = |message: String, next: String| {
        Refusal::new(Code::VersionConflict, message, next).with("current_version", task.version)
    };
    if expected > task.version {
        return Ok(refuse(
            format!("{at}, which does not exist here"),
            "This is another server or data was lost: stop and tell the owner. Nothing was written.".to_owned(),
        ));
    }
    let shown = store::version::newest(context.transaction, task.task_id, expected, i64::MAX, CONFLICT_SHOWN).await?;
    let all = store::version::newest(context.transaction, task.task_id, expected, i64::MAX, 1_000).await?;
    let changed: Vec<&String> = all.iter().flat_map(|one| &one.changed).collect();
    let mut both: Vec<String> = Vec::new();
    let stored = task.content.fields();
    for (name, value) in asked.iter().filter(|(name, _)| changed.contains(name)) {
        if let Some(now) = stored.get(name) {
            both.push(format!(
                "{name} is {} (you sent {})",
                text::quoted_value(now, 80),
                text::quoted_value(value, 80)
            ));
        }
    }
    let mut message = format!("{at}. {}", told(context, task, &shown, all.len()));
    let taken = all.iter().find(|one| one.version == task.marks.takeover_version).map(Version::who);
    let someone_else = task
        .marks
        .takeover_by
        .as_deref()
        .filter(|by| task.marks.takeover_version > expected && context.observed.session_ref.as_deref() != Some(by));
    if crate::domain::task::stored_values_equal(task, asked) {
        message.push_str(" The stored version has exactly these values");
        let next = "If you sent this update before, it was accepted then: go on from the current version.";
        return Ok(with_changes(refuse(message, next.to_owned()), &all));
    }
    if let (Some(by), Some(_)) = (someone_else, taken) {
        message =
            format!("{}: {} has taken it over", message.trim_end_matches('.'), crate::domain::takeover::called(by));
        let next = "Do not continue this task; tell the owner.";
        return Ok(with_changes(refuse(message, next.to_owned()), &all));
    }
    let next = if both.is_empty() {
        message = format!("{}; none of the fields you set", message.trim_end_matches('.'));
        format!("Read nothing more: send the same update with expected_version {}.", task.version)
    } else {
        message = format!("{}. Both set {}", message.trim_end_matches('.'), both.join("; "));
        format!(
            "Merge: task_get task_id={short} since_version={expected}, then send the merged update with expected_version {}.",
            task.version
        )
    };
    Ok(with_changes(refuse(message, next), &all))
}

fn with_changes(refusal: Refusal, versions: &[Version]) -> Refusal {
    let changes: Vec<Value> = versions
        .iter()
        .map(|one| serde_json::json!({"v": one.version, "who": one.who(), "at": one.at.rfc3339(), "fields": one.changed}))
        .collect();
    refusal.with("changes", changes)
}

/// `Changed since by tomas: v8 required_reviews, v9 priority`, or each version with its own author and time.
fn told(_context: &Context<'_>, task: &Task, shown: &[Version], count: usize) -> String {
    let mut oldest_first: Vec<&Version> = shown.iter().collect();
    oldest_first.reverse();
    let fields = |one: &Version| {
        let names: Vec<String> = one
            .changed
            .iter()
            .map(|name| if name == "status" { format!("status (now {})", task.content.status) } else { name.clone() })
            .collect();
        if names.is_empty() { "nothing".to_owned() } else { text::listed(&names) }
    };
    let earlier = count.saturating_sub(shown.len());
    let more = if earlier > 0 { format!(" (and {earlier} earlier versions)") } else { String::new() };
    let one_author = oldest_first.windows(2).all(|pair| pair[0].who() == pair[1].who());
    match oldest_first.as_slice() {
        [] => "No version is kept after it.".to_owned(),
        several if one_author && several.len() > 1 => {
            let list: Vec<String> = several.iter().map(|one| format!("v{} {}", one.version, fields(one))).collect();
            format!("Changed since by {}: {}{more}", crate::domain::session::short(several[0].who()), list.join(", "))
        }
        several => {
            let list: Vec<String> = several
                .iter()
                .map(|one| {
                    format!(
                        "v{} by {}, {}, set {}",
                        one.version,
                        crate::domain::session::short(one.who()),
                        one.at,
                        fields(one)
                    )
                })
                .collect();
            format!("{}{more}", list.join("; "))
        }
    }
}
