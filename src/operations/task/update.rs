//! `task_update`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::domain::change::{Change, Changed, Facts, Loss};
use crate::domain::receipt::{Receipt, SESSION_MISSING};
use crate::domain::session::Observed;
use crate::domain::task::{Actor, Status, Task, check_length};
use crate::domain::text::{SUMMARY_MAX, TAG_MAX, TAGS_MAX, TITLE_MAX, grouped};
use crate::error::Result;
use crate::operation::{Context, Effect, Operation, Place, WARNINGS};
use crate::operations::handoff::Judged;
use crate::operations::memory::add_result;
use crate::operations::task::conflict::check_version;
use crate::operations::task::{Step, actor, check_circles, load, load_ahead, recorder, resolve_all, save, whole_id};
use crate::store;
use crate::store::backend::Ahead;
use crate::store::run::Recorded;

/// Change the arguments you pass; each replaces the old value whole. `handoff_next` with `work_receipt` makes a handoff: the answer has its line and what to fix. done needs all boxes ticked and a result; blocked needs `handoff_blockers`. On `version_conflict` merge, then retry.
#[derive(Deserialize, JsonSchema)]
pub struct TaskUpdate {
    /// The task: its full id or exactly the first 8 characters.
    #[schemars(extend("x-check" = "task-exact", "x-position" = true, "x-wire" = "id or its first 8"))]
    task_id: String,
    /// The version that you read; if the task is at another one, nothing is written.
    #[schemars(range(min = 1), extend("x-wire" = "the version you read"))]
    expected_version: i64,
    /// The one string from the connection profile that keeps the write in its project.
    #[expect(dead_code, reason = "checked by call before the operation runs")]
    #[schemars(extend("x-agents-must" = true, "x-wire" = "from your connection profile"))]
    write_context: Option<String>,
    /// The state in one sentence, at most 280 characters, as lists show it.
    #[schemars(length(min = 1, max = SUMMARY_MAX))]
    #[schemars(extend("x-agents-must" = true, "x-wire" = "state now, one sentence, max 280 characters"))]
    summary: Option<String>,
    /// The new status; todo clears the owner.
    status: Option<Status>,
    /// Confirms that most of a long text is to be dropped.
    #[schemars(extend("x-wire" = "confirms dropping text"))]
    replace: Option<bool>,
    /// The title, 1 to 200 characters.
    #[schemars(length(min = 1, max = TITLE_MAX))]
    title: Option<String>,
    /// 0 (highest) to 4 (lowest).
    #[schemars(range(min = 0, max = 4))]
    priority: Option<i64>,
    /// A person or session; empty clears.
    #[schemars(length(max = 200), extend("x-clears" = true))]
    owner: Option<String>,
    /// The task that this one belongs to; empty clears.
    #[schemars(extend("x-check" = "task-exact", "x-clears" = true))]
    parent: Option<String>,
    /// Up to 50 tags of 1 to 64 characters; replaces all.
    #[schemars(length(max = TAGS_MAX), inner(length(min = 1, max = TAG_MAX)))]
    tags: Option<Vec<String>>,
    /// Tasks that must be finished first; replaces all.
    #[schemars(length(max = TAGS_MAX), extend("x-items-check" = "task-exact"))]
    depends_on: Option<Vec<String>>,
    /// A word of your own: the same call with the same key happens once.
    #[expect(dead_code, reason = "kept by call")]
    #[schemars(length(max = 200), extend("x-check" = "key"))]
    idempotency_key: Option<String>,
    /// What this session did; one more receipt.
    work_receipt: Option<Receipt>,
    /// The outcome, kept as a memory of kind result in the same transaction.
    #[schemars(extend("x-wire" = "outcome, saved as a memory"))]
    result: Option<String>,
    /// The first step as a command, then the rest in order; the last line names the session.
    #[schemars(extend("x-wire" = "first step as a command to run, then the rest; last line \"Previous session: <session_ref>\""))]
    handoff_next: Option<String>,
    /// What blocks, who moves next, what is needed; empty if nothing blocks.
    #[schemars(extend("x-wire" = "what blocks, who moves next, what is needed"))]
    handoff_blockers: Option<String>,
    /// What is done, split into prepared, tested, deployed and verified; replaces the old text whole.
    #[schemars(extend("x-wire" = "the old text plus repository, PRs, commits; what is prepared, tested (numbers), deployed, verified"))]
    handoff_completed: Option<String>,
    /// Lines to add below `handoff_completed`.
    #[schemars(extend("x-wire" = "added below, nothing resent"))]
    handoff_completed_append: Option<String>,
    /// What is to be done and why.
    description: Option<String>,
    /// What must hold when it is done, as `- [ ]` lines.
    completion_criteria: Option<String>,
    /// Who must have looked at it, as `- [ ]` lines.
    required_reviews: Option<String>,
}

impl Operation for TaskUpdate {
    const NAME: &'static str = "task_update";
    const COMMAND: &'static str = "task update";
    const EFFECT: Effect = Effect::Changes;

    fn problems(given: &Map<String, Value>, observed: &Observed) -> Vec<String> {
        let mut problems = Vec::new();
        if given.contains_key("handoff_completed") && given.contains_key("handoff_completed_append") {
            problems.push(
                "handoff_completed and handoff_completed_append cannot be given together: the first replaces, the second adds"
                    .to_owned(),
            );
        }
        let receipt = given.get("work_receipt").and_then(Value::as_object);
        let named = receipt.and_then(|receipt| receipt.get("session_ref")).is_some_and(|named| *named != json!(""));
        if receipt.is_some() && !named && observed.session_ref.is_none() {
            problems.push(SESSION_MISSING.to_owned());
        }
        problems
    }

    fn asks_first(given: &Map<String, Value>, place: &Place) -> Ahead {
        let mut ahead = load_ahead(given, place);
        let rules_look = given.keys().any(|name| name.starts_with("handoff_")) && !given.contains_key("work_receipt");
        let version = given.get("expected_version").and_then(Value::as_i64);
        if let Some((id, version)) = whole_id(given).zip(version).filter(|_| rules_look) {
            let last = store::version::last_receipt(id, version.saturating_add(1));
            ahead.statements.push(last.statement());
        }
        ahead
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let before = load(context, &self.task_id).await?;
        let given = self.work_receipt.as_ref().and_then(|receipt| receipt.session_ref.clone());
        let observed = context.observed.session_ref.clone();
        let actor = actor(context, given.as_deref());
        check_version(context, &before, self.expected_version, &actor, &self.asked()).await?;
        let result = self.result.clone().filter(|result| !result.trim().is_empty());
        let change = self.into_change(context, &before).await?;
        let touched = touched_fields(&change);
        let facts = facts(context, &before, &change, given.as_deref().or(observed.as_deref())).await?;
        let changed = before.apply(change, &actor, &facts, context.now)?;
        if !changed.took_over && touched.contains(&"handoff_completed") {
            check_length("handoff_completed", &changed.task.content.handoff_completed)?;
        }
        let receipt = changed.receipt.as_ref().and_then(|kept| kept.receipt.session_ref.clone());
        let writing = Writing { actor: &actor, result, touched: &touched, given: None };
        let answer = write(context, &before, changed, writing).await?;
        if let Some(session_ref) = receipt {
            // A coordinator's own receipt of a run is what `run_record` would have written.
            let recorded = Recorded { version: before.version + 1, at: context.now, by: recorder(context) };
            store::run::record_session(context.transaction, before.task_id, &session_ref, &recorded)?;
        }
        Ok(answer)
    }
}

impl TaskUpdate {
    /// The fields that the call sets, as history names them; for conflicts.
    fn asked(&self) -> Map<String, Value> {
        let mut asked = Map::new();
        let texts = [
            ("title", &self.title),
            ("summary", &self.summary),
            ("owner", &self.owner),
            ("parent", &self.parent),
            ("handoff_next", &self.handoff_next),
            ("handoff_blockers", &self.handoff_blockers),
            ("handoff_completed", &self.handoff_completed),
            ("description", &self.description),
            ("completion_criteria", &self.completion_criteria),
            ("required_reviews", &self.required_reviews),
        ];
        for (name, value) in texts {
            if let Some(value) = value {
                asked.insert(name.to_owned(), json!(value));
            }
        }
        let others = [
            ("status", self.status.map(|status| json!(status))),
            ("priority", self.priority.map(|priority| json!(priority))),
            ("tags", self.tags.as_ref().map(|tags| json!(tags))),
            ("depends_on", self.depends_on.as_ref().map(|ids| json!(ids))),
            // Added lines are a change of the whole text, whatever it holds now.
            ("handoff_completed", self.handoff_completed_append.as_ref().map(|lines| json!(lines))),
        ];
        asked.extend(others.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        asked
    }

    async fn into_change(self, context: &mut Context<'_>, task: &Task) -> Result<Change> {
        let parent = match &self.parent {
            None => None,
            Some(cleared) if cleared.is_empty() => Some(None),
            Some(parent) => Some(resolve_all(context, std::slice::from_ref(parent)).await?.first().copied()),
        };
        let depends_on = match &self.depends_on {
            None => None,
            Some(references) => Some(resolve_all(context, references).await?),
        };
        let firsts = depends_on.as_deref().unwrap_or_default();
        check_circles(context, task.task_id, parent.flatten(), firsts).await?;
        Ok(Change {
            title: self.title,
            status: self.status,
            summary: self.summary,
            priority: self.priority,
            owner: self.owner,
            parent,
            tags: self.tags,
            depends_on,
            description: self.description,
            completion_criteria: self.completion_criteria,
            required_reviews: self.required_reviews,
            handoff_next: self.handoff_next,
            handoff_blockers: self.handoff_blockers,
            handoff_completed: self.handoff_completed,
            handoff_completed_append: self.handoff_completed_append.filter(|lines| !lines.is_empty()),
            work_receipt: self.work_receipt,
            has_result: self.result.is_some_and(|result| !result.trim().is_empty()),
            replace: self.replace.unwrap_or(false),
        })
    }
}

fn touched_fields(change: &Change) -> Vec<&'static str> {
    let touched = [
        ("handoff_next", change.handoff_next.is_some()),
        ("handoff_blockers", change.handoff_blockers.is_some()),
        ("handoff_completed", change.handoff_completed.is_some() || change.handoff_completed_append.is_some()),
        ("work_receipt", change.work_receipt.is_some()),
        ("summary", change.summary.is_some()),
        ("title", change.title.is_some()),
        ("status", change.status.is_some()),
        ("tags", change.tags.is_some()),
        ("description", change.description.is_some()),
        ("completion_criteria", change.completion_criteria.is_some()),
        ("required_reviews", change.required_reviews.is_some()),
    ];
    touched.into_iter().filter(|(_, touched)| *touched).map(|(name, _)| name).collect()
}

/// What the rules need to know for this change, and no more: most changes need nothing.
pub(crate) async fn facts(
    context: &mut Context<'_>,
    before: &Task,
    change: &Change,
    session_ref: Option<&str>,
) -> Result<Facts> {
    let marks = &before.marks;
    let result = change.asks_done().then(|| store::memory::has_result(before.task_id, marks.reopened_version));
    let session_ref = session_ref.filter(|_| change.work_receipt.is_some());
    let last = session_ref
        .map(|session_ref| store::version::last_receipt_of(before.task_id, session_ref, marks.takeover_version));
    let transaction = &mut context.transaction;
    let (result_kept, previous_receipt) = match (result, last) {
        (Some(result), Some(last)) => transaction.ask_both(result, last).await?,
        (Some(result), None) => (transaction.ask(result).await?, None),
        (None, Some(last)) => (false, transaction.ask(last).await?),
        (None, None) => (false, None),
    };
    Ok(Facts { result_kept, previous_receipt, observed: Observed::clone(context.observed) })
}

/// The warning that text was dropped, and where it still stands.
fn lost(task: &Task, loss: &Loss) -> Value {
    let Loss { field, version, from, to } = loss;
    let short = task.short_id();
    json!({
        "rule": "text-dropped",
        "field": field,
        "fix": format!(
            "it had {} characters and has {}; the old text stands in v{version}: task_get task_id={short} version={version} field={field}",
            grouped(*from), grouped(*to)
        ),
    })
}

/// How an accepted change is written.
pub(crate) struct Writing<'w> {
    /// Who writes.
    pub actor: &'w Actor,
    /// What is kept as a memory of kind result.
    pub result: Option<String>,
    /// The fields that are written.
    pub touched: &'w [&'static str],
    /// Those that somebody gave, where others were made: only for what was given a project's rules refuse.
    pub given: Option<&'w [&'static str]>,
}

/// Writes an accepted change with all that belongs to it; answers what `task_update` does.
pub(crate) async fn write(
    context: &mut Context<'_>,
    before: &Task,
    changed: Changed,
    writing: Writing<'_>,
) -> Result<Value> {
    let Writing { actor, result, touched, given } = writing;
    let Changed { task: after, receipt, losses, took_over } = changed;
    let act = if took_over { "takeover" } else { "update" };
    // A takeover by words names its session in the text only; history shows it as the one who wrote.
    let session_ref = if took_over { after.content.owner.clone() } else { actor.session_ref.clone() };
    let writer = Actor { session_ref, ..actor.clone() };
    // Before anything is written: a project may refuse what its rules find, and what is asked behind a write waits for it. A
    // takeover writes no handoff.
    let judged = if took_over {
        None
    } else {
        Some(Judged::of(context, &after, receipt.as_ref().map(|kept| &kept.receipt), touched).await?)
    };
    let grade = judged.as_ref().and_then(|judged| judged.grade).filter(|_| after.marks.pending_version > 0);
    let found = judged.map(|judged| judged.warnings(context.project()?, given)).transpose()?.unwrap_or_default();
    let step = Step { before, after: &after, actor: &writer, act, with_receipt: receipt.is_some() };
    let changed_fields = save(context, step).await?;
    if let Some(grade) = grade {
        store::task::keep_grade(context.transaction, &after, grade)?;
    }
    if let Some(receipt) = &receipt {
        store::version::insert_receipt(context.transaction, after.task_id, receipt, context.now)?;
    }
    let result = match result {
        Some(body) => Some(add_result(context, &after, body, actor).await?),
        None => None,
    };
    let saved: Map<String, Value> = after
        .content
        .texts()
        .into_iter()
        .filter(|(name, _)| name.starts_with("handoff_") && touched.contains(name))
        .map(|(name, text)| (name.to_owned(), json!(crate::domain::text::length(text))))
        .collect();
    let mut warnings: Vec<Value> = losses.iter().map(|loss| lost(&after, loss)).collect();
    warnings.extend(found);
    warnings.truncate(WARNINGS);
    let mut answer = Map::new();
    answer.insert("task_id".to_owned(), json!(after.task_id));
    answer.insert("version".to_owned(), json!(after.version));
    answer.insert("line".to_owned(), json!(after.line()));
    answer.insert("changed_fields".to_owned(), json!(changed_fields));
    if let Some(id) = result {
        answer.insert("result".to_owned(), json!(id));
    }
    if !warnings.is_empty() {
        answer.insert("warnings".to_owned(), json!(warnings));
    }
    if !saved.is_empty() {
        answer.insert("saved".to_owned(), Value::Object(saved));
    }
    Ok(Value::Object(answer))
}
