//! Memories. Rows are added; afterwards one is only ever marked as superseded, and then no longer stands for a new
//! one that says the same.

use uuid::Uuid;

use crate::domain::memory::Memory;
use crate::domain::time::Timestamp;
use crate::error::{Refusal, Result};
use crate::store::backend::{Dialect, Question, Statement as Asked, Transaction};
use crate::store::cell::{Cell, Row};
use crate::store::search;
use crate::store::task::{from_json, to_json};

/// The columns of a memory's row that make the memory, of the table `m`.
pub(super) const COLUMNS: &str = "m.memory_id, m.kind, m.summary, m.body, m.tags, m.task_id, m.supersedes, m.superseded_by, \
    m.caller, m.session_ref, m.at, m.memory_key";

/// The memory of a row of `COLUMNS`.
pub(super) fn memory(mut row: Row) -> Result<Memory> {
    Ok(Memory {
        memory_key: row.integer(11)?,
        memory_id: row.text(0)?,
        kind: row.text(1)?,
        summary: row.text(2)?,
        body: row.text(3)?,
        tags: from_json(row.str(4)?)?,
        task_id: row.maybe_uuid(5)?,
        supersedes: row.maybe_text(6)?,
        superseded_by: row.maybe_text(7)?,
        caller: row.text(8)?,
        session_ref: row.maybe_text(9)?,
        at: Timestamp(row.integer(10)?),
    })
}

/// What is added with a memory beside what it says.
pub struct Origin<'o> {
    /// The project.
    pub project_id: i64,
    /// The connection.
    pub connection: &'o str,
    /// The version of its task at that time, 0 without a task.
    pub task_version: i64,
    /// The digest that makes a second identical memory the same one; `None` for results.
    pub fingerprint: Option<[u8; 32]>,
}

/// The id of the memory with that digest, if there is one.
pub async fn identical(
    transaction: &mut Transaction,
    project_id: i64,
    fingerprint: [u8; 32],
) -> Result<Option<String>> {
    let sql = "select memory_id from memory where project_id = ?1 and fingerprint = ?2";
    let row = transaction.row(sql, &[project_id.into(), fingerprint.into()]).await?;
    row.map(|mut row| row.text(0)).transpose()
}

/// Adds a memory; answers the id of the identical one if another writer added it in the meantime.
pub async fn insert(transaction: &mut Transaction, new: &Memory, origin: &Origin<'_>) -> Result<Option<String>> {
    let sql = "insert into memory (memory_id, project_id, kind, summary, body, tags, task_id, task_version, supersedes, \
        caller, connection, session_ref, at, fingerprint) \
        values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) \
        on conflict (project_id, fingerprint) where fingerprint is not null do nothing returning memory_key";
    let values = [
        new.memory_id.as_str().into(),
        origin.project_id.into(),
        new.kind.as_str().into(),
        new.summary.as_str().into(),
        new.body.as_str().into(),
        to_json(&new.tags)?.into(),
        new.task_id.into(),
        origin.task_version.into(),
        new.supersedes.as_deref().into(),
        new.caller.as_str().into(),
        origin.connection.into(),
        new.session_ref.as_deref().into(),
        new.at.0.into(),
        origin.fingerprint.into(),
    ];
    if let Some(row) = transaction.row(sql, &values).await? {
        search::index_memory(transaction, origin.project_id, row.integer(0)?, new);
        if let Some(old) = &new.supersedes {
            let sql =
                "update memory set superseded_by = ?3, fingerprint = null where project_id = ?1 and memory_id = ?2";
            let values = [origin.project_id.into(), old.into(), new.memory_id.as_str().into()];
            transaction.execute_later(Asked::new(sql, values))?;
        }
        return Ok(None);
    }
    match origin.fingerprint {
        Some(fingerprint) => identical(transaction, origin.project_id, fingerprint).await,
        None => Err(Refusal::internal(&"a memory without a digest was not inserted")),
    }
}

/// True if no memory of the instance has this id.
pub async fn is_free(transaction: &mut Transaction, memory_id: String) -> Result<bool> {
    let row = transaction.row("select 1 from memory where memory_id = ?1", &[memory_id.into()]).await?;
    Ok(row.is_none())
}

/// The memory of that id in this project.
pub async fn get(transaction: &mut Transaction, project_id: i64, memory_id: &str) -> Result<Option<Memory>> {
    let sql = format!("select {COLUMNS} from memory m where m.project_id = ?1 and m.memory_id = ?2");
    let row = transaction.row(&sql, &[project_id.into(), memory_id.into()]).await?;
    row.map(memory).transpose()
}

/// True if a result of this task was added at or after that version.
pub fn has_result(task_id: Uuid, since_version: i64) -> Question<bool> {
    let sql = "select 1 from memory where task_id = ?1 and kind = 'result' and task_version >= ?2 limit 1";
    Question::new(Asked::new(sql, [task_id.into(), since_version.into()]), |rows| Ok(!rows.is_empty()))
}

/// Which memories.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// With these words.
    pub query: Option<String>,
    /// Of this kind.
    pub kind: Option<String>,
    /// Of this task.
    pub task_id: Option<Uuid>,
    /// With this tag.
    pub tag: Option<String>,
    /// Also those that were replaced.
    pub include_superseded: bool,
    /// Of this session, or of none that is known.
    pub session_ref: Option<String>,
    /// Added to their task after this version.
    pub after_task_version: Option<i64>,
}

struct Statement {
    conditions: Vec<String>,
    values: Vec<Cell>,
}

impl Statement {
    fn of(dialect: Dialect, project_id: i64, filter: &Filter) -> Option<Self> {
        let mut conditions = vec!["m.project_id = ?1".to_owned()];
        let mut values: Vec<Cell> = vec![project_id.into()];
        let mut add = |condition: &str, value: Option<Cell>| {
            if let Some(value) = value {
                values.push(value);
                conditions.push(condition.replace('?', &format!("?{}", values.len())));
            }
        };
        add("m.kind = ?", filter.kind.as_deref().map(Cell::from));
        add("m.task_id = ?", filter.task_id.map(Cell::from));
        add("(m.session_ref is null or m.session_ref = ?)", filter.session_ref.as_deref().map(Cell::from));
        add("m.task_version > ?", filter.after_task_version.map(Cell::from));
        // Tags are a JSON array of strings; a JSON string cannot stand in another one unescaped.
        let tag = filter.tag.as_ref().map(|tag| Cell::from(serde_json::Value::from(tag.as_str()).to_string()));
        add("replace(m.tags, ?, '') <> m.tags", tag);
        if !filter.include_superseded {
            conditions.push("m.superseded_by is null".to_owned());
        }
        if let Some(query) = &filter.query {
            let found = search::memory_condition(dialect, project_id, query, values.len() + 1)?;
            values.extend(found.values);
            conditions.push(found.sql);
        }
        Some(Self { conditions, values })
    }
}

/// The memories that match, the newest first, behind `after`.
pub async fn page(
    transaction: &mut Transaction,
    project_id: i64,
    filter: &Filter,
    after: Option<i64>,
    limit: i64,
) -> Result<Vec<Memory>> {
    let Some(mut statement) = Statement::of(transaction.dialect(), project_id, filter) else {
        return Ok(Vec::new());
    };
    if let Some(memory_key) = after {
        statement.values.push(memory_key.into());
        statement.conditions.push(format!("m.memory_key < ?{}", statement.values.len()));
    }
    statement.values.push(limit.into());
    let sql = format!(
        "select {COLUMNS} from memory m where {} order by m.memory_key desc limit ?{}",
        statement.conditions.join(" and "),
        statement.values.len()
    );
    let rows = transaction.rows(&sql, &statement.values).await?;
    rows.into_iter().map(memory).collect()
}

/// How many memories match, counted no further than `most`.
pub async fn total(transaction: &mut Transaction, project_id: i64, filter: &Filter, most: i64) -> Result<i64> {
    let Some(mut statement) = Statement::of(transaction.dialect(), project_id, filter) else {
        return Ok(0);
    };
    statement.values.push(most.into());
    let sql = format!(
        "select count(*) from (select 1 from memory m where {} limit ?{}) found",
        statement.conditions.join(" and "),
        statement.values.len()
    );
    let row = transaction.row(&sql, &statement.values).await?;
    row.ok_or_else(|| Refusal::internal(&"count gave no row"))?.integer(0)
}
