//! The refusal of a stale write: who wrote since, what, and what the caller should do now.

use serde_json::{Map, Value, json};

use crate::domain::session;
use crate::domain::takeover::called;
use crate::domain::task::{Actor, Task, stored_values_equal};
use crate::domain::text;
use crate::error::{Code, Refusal, Result};
use crate::operation::Context;
use crate::store::version::{Version, newest};

/// How many versions are named with their authors.
const NAMED: usize = 4;
/// How many versions the details list, the newest first.
const LISTED: usize = 20;
/// How many versions are looked at for the fields that changed.
const LOOKED_AT: i64 = 1_000;
/// What a session does whose task another one has.
const TAKEN: &str = "Do not continue this task; tell the owner.";
/// How much of a value is shown, in characters.
const VALUE: usize = 80;

/// Refuses when the version that the caller read is not the current one. `asked` are the values it wanted to set.
pub(crate) async fn check_version(
    context: &mut Context<'_>,
    task: &Task,
    expected: i64,
    actor: &Actor,
    asked: &Map<String, Value>,
) -> Result<()> {
    if task.version == expected {
        return Ok(());
    }
    Err(refusal(context, task, expected, actor, asked).await?)
}

/// The refusal of a write that expected another version.
pub(crate) async fn refusal(
    context: &mut Context<'_>,
    task: &Task,
    expected: i64,
    actor: &Actor,
    asked: &Map<String, Value>,
) -> Result<Refusal> {
    let short = task.short_id();
    let at = format!("task {short} is at version {}, you sent {expected}", task.version);
    let refuse = |message: String, next: String| {
        Refusal::new(Code::VersionConflict, message, next).with("current_version", task.version)
    };
    if expected > task.version {
        let next = "This is another server or data was lost: stop and tell the owner. Nothing was written.";
        return Ok(refuse(format!("{at}, which does not exist here"), next.to_owned()));
    }
    let since = newest(context.transaction, task.task_id, expected, i64::MAX, LOOKED_AT).await?;
    let message = format!("{at}. {}", told(task, &since));
    let both = both_set(task, &since, asked);
    let refusal = if asked.is_empty() {
        // A takeover or a revert: what changed decides whether it should happen at all.
        let next = format!(
            "Read what changed: task_get task_id={short} since_version={expected}; if it still holds, call again with expected_version {}.",
            task.version
        );
        match taken_by_another(task, expected, actor) {
            Some(by) => refuse(format!("{message}: {} has taken it over", called(by)), TAKEN.to_owned()),
            None => refuse(message, next),
        }
    } else if stored_values_equal(task, asked) {
        let next = "If you sent this update before, it was accepted then: go on from the current version.";
        refuse(format!("{message}. The stored version has exactly these values"), next.to_owned())
    } else if let Some(by) = taken_by_another(task, expected, actor) {
        refuse(format!("{message}: {} has taken it over", called(by)), TAKEN.to_owned())
    } else if both.is_empty() {
        let next = format!("Read nothing more: send the same update with expected_version {}.", task.version);
        refuse(format!("{message}; none of the fields you set"), next)
    } else {
        let next = format!(
            "Merge: task_get task_id={short} since_version={expected}, then send the merged update with expected_version {}.",
            task.version
        );
        refuse(format!("{message}. Both set {}", both.join("; ")), next)
    };
    let changes: Vec<Value> = since
        .iter()
        .take(LISTED)
        .map(|one| json!({"v": one.version, "who": one.who(), "at": one.at.rfc3339(), "fields": one.changed}))
        .collect();
    Ok(refusal.with("changes", changes))
}

fn taken_by_another<'t>(task: &'t Task, expected: i64, actor: &Actor) -> Option<&'t str> {
    let marks = &task.marks;
    marks.takeover_by.as_deref().filter(|by| marks.takeover_version > expected && *by != actor.who())
}

/// The fields that the refused call sets and that changed since, with both values in short.
fn both_set(task: &Task, since: &[Version], asked: &Map<String, Value>) -> Vec<String> {
    let stored = task.content.fields();
    let changed = |name: &String| since.iter().any(|one| one.changed.contains(name));
    asked
        .iter()
        .filter(|(name, _)| changed(name))
        .filter_map(|(name, sent)| {
            let now = text::quoted_value(stored.get(name)?, VALUE);
            Some(format!("{name} is {now} (you sent {})", text::quoted_value(sent, VALUE)))
        })
        .collect()
}

/// `Changed since by tomas: v8 required_reviews, v9 priority`, or each version with its own author and time.
fn told(task: &Task, since: &[Version]) -> String {
    let earlier = since.len().saturating_sub(NAMED);
    let more = if earlier > 0 { format!(" (and {earlier} earlier versions)") } else { String::new() };
    let mut named: Vec<&Version> = since.iter().take(NAMED).collect();
    named.reverse();
    let Some((first, rest)) = named.split_first() else {
        return "No version is kept after it".to_owned();
    };
    if !rest.is_empty() && rest.iter().all(|one| one.who() == first.who()) {
        let list: Vec<String> = named.iter().map(|one| format!("v{} {}", one.version, fields(task, one))).collect();
        return format!("Changed since by {}: {}{more}", session::in_a_sentence(first.who()), list.join(", "));
    }
    let list: Vec<String> = named
        .iter()
        .map(|one| {
            format!("v{} by {}, {}, set {}", one.version, session::in_a_sentence(one.who()), one.at, fields(task, one))
        })
        .collect();
    format!("{}{more}", list.join("; "))
}

fn fields(task: &Task, version: &Version) -> String {
    let named = |name: &String| match name.as_str() {
        "status" => format!("status (now {})", task.content.status),
        _ => name.clone(),
    };
    let names: Vec<String> = version.changed.iter().map(named).collect();
    if names.is_empty() { "nothing".to_owned() } else { text::listed(&names) }
}
