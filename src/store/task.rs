//! Tasks as they stand. A change is one compare-and-set statement; its history row comes in the same transaction.

use std::borrow::Cow;

use uuid::Uuid;

use crate::domain::handoff::Grade;
use crate::domain::task::{Content, Marks, Status, Task, short_id};
use crate::domain::time::Timestamp;
use crate::error::{Code, Refusal, Result};
use crate::store::backend::{Question, Statement, Transaction};
use crate::store::cell::{Cell, Row};
use crate::store::search;
use crate::store::version::{self, Version};

/// The columns of a task's row that make the task.
pub(super) const COLUMNS: &str = "task_id, version, status, priority, created_at, updated_at, owner, parent, \
    takeover_version, takeover_by, takeover_at, next_version, next_by, receipt_version, \
    pending_version, pending_at, pending_by, reopened_version, owner_at, written_by, \
    title, summary, tags, depends_on, handoff_next, handoff_blockers, description, \
    completion_criteria, required_reviews, handoff_completed";

/// What is read of a task of a table of that name: its columns, the database's own number of it, and its grade.
fn read_columns(table: &str) -> String {
    let columns: Vec<String> = COLUMNS.split(", ").map(|column| format!("{table}.{}", column.trim())).collect();
    format!("{}, {table}.task_key, {}", columns.join(", "), grade_of(table))
}

/// The grade of a task's pending handoff: none if it was judged before that was written.
pub(super) fn grade_of(table: &str) -> String {
    // Only where a handoff waits is it looked up.
    format!(
        "case when {table}.pending_version > 0 then (select g.grade from task_grade g \
         where g.task_id = {table}.task_id and g.version >= {table}.pending_version) end"
    )
}

/// Keeps the grade of the handoff of a task as it stands.
pub fn keep_grade(transaction: &mut Transaction, task: &Task, grade: Grade) -> Result<()> {
    let sql = "insert into task_grade (task_id, version, grade) values (?1, ?2, ?3) \
        on conflict (task_id) do update set version = excluded.version, grade = excluded.grade";
    let values = [task.task_id.into(), task.version.into(), grade.as_str().into()];
    transaction.execute_later(Statement::new(sql, values))
}

/// How many candidates of an ambiguous prefix are told.
const CANDIDATES: i64 = 5;

/// The task of a row of `COLUMNS`.
pub(super) fn task(mut row: Row) -> Result<Task> {
    let status = row.str(2)?;
    let content = Content {
        status: Status::of(status).ok_or_else(|| Refusal::internal(&format!("unknown status {status}")))?,
        priority: row.integer(3)?,
        owner: row.maybe_text(6)?,
        parent: row.maybe_uuid(7)?,
        title: row.text(20)?,
        summary: row.text(21)?,
        tags: from_json(row.str(22)?)?,
        depends_on: from_json(row.str(23)?)?,
        handoff_next: row.text(24)?,
        handoff_blockers: row.text(25)?,
        description: row.text(26)?,
        completion_criteria: row.text(27)?,
        required_reviews: row.text(28)?,
        handoff_completed: row.text(29)?,
    };
    let marks = Marks {
        takeover_version: row.integer(8)?,
        takeover_by: row.maybe_text(9)?,
        takeover_at: row.maybe_integer(10)?.map(Timestamp),
        next_version: row.integer(11)?,
        next_by: row.maybe_text(12)?,
        receipt_version: row.integer(13)?,
        pending_version: row.integer(14)?,
        pending_at: row.maybe_integer(15)?.map(Timestamp),
        pending_by: row.maybe_text(16)?,
        reopened_version: row.integer(17)?,
        owner_at: row.maybe_integer(18)?.map(Timestamp),
        written_by: row.text(19)?,
        grade: None,
    };
    Ok(Task {
        task_key: row.integer(30)?,
        task_id: row.uuid(0)?,
        version: row.integer(1)?,
        content,
        marks,
        created: Timestamp(row.integer(4)?),
        updated: Timestamp(row.integer(5)?),
    })
}

/// The task of a row of [`read_columns`].
fn read(mut row: Row) -> Result<Task> {
    let grade = row.maybe_text(31)?.as_deref().and_then(Grade::of);
    let mut task = task(row)?;
    task.marks.grade = grade;
    Ok(task)
}

pub(crate) fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        tracing::error!(%error, "a stored value cannot be read");
        Refusal::new(
            Code::Damaged,
            "the database holds a value that cannot be read",
            "Stop writing, run heyaira verify, and put the newest good backup back: heyaira restore FILE --same-instance.",
        )
    })
}

pub(crate) fn to_json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Refusal::internal(&error))
}

/// The values of a task's columns, in the order of `COLUMNS`.
fn values(task: &Task) -> Result<Vec<Cell>> {
    let mut cells = state(task);
    cells.extend(texts(&task.content)?.map(|text| Cell::from(text.as_ref())));
    Ok(cells)
}

/// The values of the columns before the texts.
fn state(task: &Task) -> Vec<Cell> {
    let Task { task_key: _, task_id, version, content, marks, created, updated } = task;
    let time = |moment: Option<Timestamp>| Cell::from(moment.map(|moment| moment.0));
    let text = |text: &Option<String>| Cell::from(text.as_deref());
    vec![
        (*task_id).into(),
        (*version).into(),
        content.status.as_str().into(),
        content.priority.into(),
        created.0.into(),
        updated.0.into(),
        text(&content.owner),
        content.parent.into(),
        marks.takeover_version.into(),
        text(&marks.takeover_by),
        time(marks.takeover_at),
        marks.next_version.into(),
        text(&marks.next_by),
        marks.receipt_version.into(),
        marks.pending_version.into(),
        time(marks.pending_at),
        text(&marks.pending_by),
        marks.reopened_version.into(),
        time(marks.owner_at),
        marks.written_by.as_str().into(),
    ]
}

/// The texts, none of which is ever null.
fn texts(content: &Content) -> Result<[Cow<'_, str>; 10]> {
    Ok([
        content.title.as_str().into(),
        content.summary.as_str().into(),
        to_json(&content.tags)?.into(),
        to_json(&content.depends_on)?.into(),
        content.handoff_next.as_str().into(),
        content.handoff_blockers.as_str().into(),
        content.description.as_str().into(),
        content.completion_criteria.as_str().into(),
        content.required_reviews.as_str().into(),
        content.handoff_completed.as_str().into(),
    ])
}

/// The task of that full id.
pub async fn get(transaction: &mut Transaction, project_id: i64, task_id: Uuid) -> Result<Option<Task>> {
    let sql = format!("select {} from task where task_id = ?1 and project_id = ?2", read_columns("task"));
    let row = transaction.row(&sql, &[task_id.into(), project_id.into()]).await?;
    row.map(read).transpose()
}

/// The current version of a task.
pub async fn current_version(transaction: &mut Transaction, project_id: i64, task_id: Uuid) -> Result<Option<i64>> {
    let sql = "select version from task where task_id = ?1 and project_id = ?2";
    let row = transaction.row(sql, &[task_id.into(), project_id.into()]).await?;
    row.map(|row| row.integer(0)).transpose()
}

/// The one task whose id is or starts with `reference`.
///
/// Errors: `not_found`, and `ambiguous_id` with the candidates.
pub fn find(project_id: i64, reference: &str) -> Question<Task> {
    let (low, high) = range_of(reference);
    // The plus keeps the planner from walking the whole project instead of the ids.
    let sql = format!(
        "select {} from task where +project_id = ?1 and task_id between ?2 and ?3 order by task_id limit ?4",
        read_columns("task")
    );
    let reference = reference.to_owned();
    Question::new(Statement::new(sql, [project_id.into(), low.into(), high.into(), CANDIDATES.into()]), move |rows| {
        the_one(&reference, rows.into_iter().map(read).collect::<Result<Vec<_>>>()?)
    })
}

fn the_one(reference: &str, mut tasks: Vec<Task>) -> Result<Task> {
    match tasks.pop() {
        None => Err(Refusal::not_found(
            format!("no task {} in this project", crate::domain::text::quoted(reference, 60)),
            "task_list finds tasks by words, status or tag; check the id.",
        )),
        Some(one) if tasks.is_empty() => Ok(one),
        Some(last) => {
            tasks.push(last);
            Err(ambiguous(reference, &tasks))
        }
    }
}

fn ambiguous(reference: &str, tasks: &[Task]) -> Refusal {
    let candidate = |one: &Task| {
        let title = crate::domain::text::quoted(&one.content.title, 60);
        format!("{} v{} {title}", one.task_id, one.version)
    };
    let candidates: Vec<String> = tasks.iter().map(candidate).collect();
    Refusal::new(
        Code::AmbiguousId,
        format!("several tasks start with {reference}: {}", candidates.join("; ")),
        "Call again with the full id.",
    )
    .with("candidates", candidates)
}

/// The smallest and largest UUID that start with the hex digits of `reference`.
pub(super) fn range_of(reference: &str) -> (Uuid, Uuid) {
    if let Ok(whole) = Uuid::parse_str(reference) {
        return (whole, whole);
    }
    let digits: String = reference.chars().filter(char::is_ascii_hexdigit).take(32).collect();
    let filled = |fill: &str| {
        let hex = format!("{digits}{}", fill.repeat(32 - digits.len()));
        u128::from_str_radix(&hex, 16).map_or(Uuid::nil(), Uuid::from_u128)
    };
    (filled("0"), filled("f"))
}

/// True if no task of the instance has these first 8 characters.
pub async fn is_free(transaction: &mut Transaction, task_id: Uuid) -> Result<bool> {
    let (low, high) = range_of(&short_id(task_id));
    let sql = "select 1 from task where task_id between ?1 and ?2 limit 1";
    Ok(transaction.row(sql, &[low.into(), high.into()]).await?.is_none())
}

/// Adds a task.
pub async fn insert(transaction: &mut Transaction, project_id: i64, new: &Task) -> Result<()> {
    let sql = format!(
        "insert into task (project_id, is_open, {COLUMNS}) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, \
         ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32) \
         returning task_key"
    );
    let mut cells: Vec<Cell> = vec![project_id.into(), new.content.status.is_open().into()];
    cells.extend(values(new)?);
    let row = transaction.row(&sql, &cells).await?;
    let key = row.ok_or_else(|| Refusal::internal(&"insert returned no key"))?.integer(0)?;
    count(transaction, project_id, new.content.status, 1)?;
    save_tags(transaction, project_id, new, &[])?;
    save_dependencies(transaction, new, &[])?;
    search::index_task(transaction, project_id, key, new);
    Ok(())
}

/// Writes `after` over `before`, if the stored version is still `before`'s, and adds the row of history: one
/// compare-and-set. `before` was read in this transaction.
///
/// False if another write came first; then nothing was changed.
pub async fn save(
    transaction: &mut Transaction,
    project_id: i64,
    before: &Task,
    after: &Task,
    version: &Version,
) -> Result<bool> {
    let addition = version::addition(project_id, after.task_id, version)?;
    if !transaction.change_and_add(change(before, after)?, addition).await? {
        return Ok(false);
    }
    let (old, new) = (before.content.status, after.content.status);
    if old != new {
        count(transaction, project_id, old, -1)?;
        count(transaction, project_id, new, 1)?;
    }
    if before.content.tags != after.content.tags {
        save_tags(transaction, project_id, after, &before.content.tags)?;
    }
    if before.content.depends_on != after.content.depends_on {
        save_dependencies(transaction, after, &before.content.depends_on)?;
    }
    let same_text = search::task_text(&before.content) == search::task_text(&after.content);
    if !same_text || before.content.tags != after.content.tags {
        search::index_task(transaction, project_id, before.task_key, after);
    }
    Ok(true)
}

/// Sets a task to what it is after a change, if it is at the version before. A text that stays is not sent: a long one
/// would be packed and written anew.
fn change(before: &Task, after: &Task) -> Result<Statement> {
    let sql = "update task set version = ?3, status = ?4, is_open = ?5, priority = ?6, updated_at = ?7, owner = ?8, \
        parent = ?9, takeover_version = ?10, takeover_by = ?11, takeover_at = ?12, next_version = ?13, next_by = ?14, \
        receipt_version = ?15, pending_version = ?16, pending_at = ?17, pending_by = ?18, reopened_version = ?19, \
        owner_at = ?20, written_by = ?21, title = coalesce(?22, title), summary = coalesce(?23, summary), \
        tags = coalesce(?24, tags), depends_on = coalesce(?25, depends_on), \
        handoff_next = coalesce(?26, handoff_next), handoff_blockers = coalesce(?27, handoff_blockers), \
        description = coalesce(?28, description), completion_criteria = coalesce(?29, completion_criteria), \
        required_reviews = coalesce(?30, required_reviews), handoff_completed = coalesce(?31, handoff_completed) \
        where task_id = ?1 and version = ?2";
    let mut columns = state(after).into_iter();
    let mut cells: Vec<Cell> = columns.by_ref().take(1).collect();
    cells.push(before.version.into());
    cells.extend(columns.by_ref().take(2));
    cells.push(after.content.status.is_open().into());
    cells.extend(columns.by_ref().take(1));
    // created_at never changes.
    cells.extend(columns.skip(1));
    let texts = texts(&after.content)?.into_iter().zip(texts(&before.content)?);
    cells.extend(texts.map(|(new, old)| if new == old { Cell::Null } else { new.as_ref().into() }));
    Ok(Statement::new(sql, cells))
}

fn count(transaction: &mut Transaction, project_id: i64, status: Status, by: i64) -> Result<()> {
    let sql = format!(
        "insert into task_count (project_id, status, slot, tasks) values (?1, ?2, {}, ?3) \
         on conflict (project_id, status, slot) do update set tasks = task_count.tasks + excluded.tasks",
        transaction.slot()
    );
    transaction.execute_later(Statement::new(sql, [project_id.into(), status.as_str().into(), by.into()]))
}

fn save_tags(transaction: &mut Transaction, project_id: i64, task: &Task, old: &[String]) -> Result<()> {
    let key = |tag: &String| -> [Cell; 3] { [project_id.into(), tag.into(), task.task_id.into()] };
    for tag in old.iter().filter(|tag| !task.content.tags.contains(tag)) {
        let sql = "delete from task_tag where project_id = ?1 and tag = ?2 and task_id = ?3";
        transaction.execute_later(Statement::new(sql, key(tag)))?;
    }
    for tag in &task.content.tags {
        let sql = "insert into task_tag (project_id, tag, task_id) values (?1, ?2, ?3) on conflict do nothing";
        transaction.execute_later(Statement::new(sql, key(tag)))?;
    }
    Ok(())
}

fn save_dependencies(transaction: &mut Transaction, task: &Task, old: &[Uuid]) -> Result<()> {
    if !old.is_empty() {
        let sql = "delete from task_dependency where task_id = ?1";
        transaction.execute_later(Statement::new(sql, [task.task_id.into()]))?;
    }
    for first in &task.content.depends_on {
        let sql = "insert into task_dependency (task_id, depends_on) values (?1, ?2) on conflict do nothing";
        transaction.execute_later(Statement::new(sql, [task.task_id.into(), (*first).into()]))?;
    }
    Ok(())
}

/// True if `task_id` is `parent` or one of its ancestors: then `parent` cannot become its parent.
pub async fn is_ancestor(transaction: &mut Transaction, task_id: Uuid, parent: Uuid) -> Result<bool> {
    let sql = "with recursive above (task_id) as ( \
            select task_id from task where task_id = ?1 union select t.parent from task t join above a on t.task_id = a.task_id where t.parent is not null \
        ) select 1 from above where task_id = ?2 limit 1";
    Ok(transaction.row(sql, &[parent.into(), task_id.into()]).await?.is_some())
}

/// True if `first` waits for `task_id`, directly or through others: then `task_id` cannot wait for `first`.
pub async fn waits_for(transaction: &mut Transaction, first: Uuid, task_id: Uuid) -> Result<bool> {
    let sql = "with recursive before (task_id) as ( \
            select task_id from task where task_id = ?1 union select d.depends_on from task_dependency d join before b on d.task_id = b.task_id \
        ) select 1 from before where task_id = ?2 limit 1";
    Ok(transaction.row(sql, &[first.into(), task_id.into()]).await?.is_some())
}

/// Remembers that a session wrote a version of a task, and whether that version handed it off.
pub fn note_session(
    transaction: &mut Transaction,
    project_id: i64,
    session_ref: &str,
    task: &Task,
    handed_off: bool,
) -> Result<()> {
    let sql = "insert into task_session (project_id, session_ref, task_id, first_version, last_version, handed_off_version) \
        values (?1, ?2, ?3, ?4, ?4, ?5) on conflict (project_id, session_ref, task_id) do update set \
        last_version = excluded.last_version, \
        handed_off_version = case when excluded.handed_off_version > 0 then excluded.handed_off_version \
            else task_session.handed_off_version end";
    let handed_off_version = if handed_off { task.version } else { 0 };
    let values =
        [project_id.into(), session_ref.into(), task.task_id.into(), task.version.into(), handed_off_version.into()];
    transaction.execute_later(Statement::new(sql, values))
}

/// The open tasks that a session worked on, with whether it handed each off; then the finished ones.
pub async fn of_session(transaction: &mut Transaction, project_id: i64, session_ref: &str) -> Result<Vec<Task>> {
    let sql = format!(
        "select {} from task_session s join task t on t.task_id = s.task_id \
         where s.project_id = ?1 and s.session_ref = ?2 order by t.is_open desc, t.updated_at desc, t.task_id limit 20",
        read_columns("t")
    );
    let rows = transaction.rows(&sql, &[project_id.into(), session_ref.into()]).await?;
    rows.into_iter().map(read).collect()
}

/// When a session last handed a task of a project off, if it ever did.
pub fn last_handed_off(project_id: i64, session_ref: &str) -> Question<Option<Timestamp>> {
    let sql = "select max(v.at) from task_session s \
               join task_version v on v.task_id = s.task_id and v.version = s.handed_off_version \
               where s.project_id = ?1 and s.session_ref = ?2 and s.handed_off_version > 0 having count(*) > 0";
    Question::new(Statement::new(sql, [project_id.into(), session_ref.into()]), |rows| {
        rows.first().map(|row| row.integer(0).map(Timestamp)).transpose()
    })
}

/// How many handoffs of a session wait in a project.
pub fn count_waiting_of(project_id: i64, session_ref: &str) -> Question<i64> {
    let sql = "select count(*) from task where project_id = ?1 and pending_version > 0 and pending_by = ?2";
    Question::new(Statement::new(sql, [project_id.into(), session_ref.into()]), |rows| {
        rows.first().map_or(Ok(0), |row| row.integer(0))
    })
}
