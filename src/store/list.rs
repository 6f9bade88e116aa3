//! Lists of tasks: filter, then sort, then limit, with keyset cursors that stay right while others write.

use std::fmt::Write as _;

use uuid::Uuid;

use crate::domain::task::Status;
use crate::domain::time::Timestamp;
use crate::error::{Refusal, Result};
use crate::store::backend::Transaction;
use crate::store::cell::{Cell, Row};
use crate::store::search;
use crate::store::task::from_json;

/// Totals are exact up to here.
pub const TOTAL_EXACT: i64 = 1_000;

/// Which tasks.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// One status.
    pub status: Option<Status>,
    /// Not done or cancelled.
    pub open: bool,
    /// With this tag.
    pub tag: Option<String>,
    /// Of this owner.
    pub owner: Option<String>,
    /// Below this task.
    pub parent: Option<Uuid>,
    /// With these words.
    pub query: Option<String>,
    /// Todo and waiting for no other task (or not).
    pub ready: Option<bool>,
    /// With a handoff that nobody took over (or not).
    pub pending_handoff: Option<bool>,
    /// In progress and not written since this moment (or not).
    pub stale: Option<bool>,
    /// The moment before which a write is stale.
    pub stale_before: Timestamp,
}

/// In which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The last written first.
    #[default]
    Updated,
    /// The newest first.
    Created,
    /// The most urgent first, then the last written.
    Priority,
    /// The handoff that waits longest last.
    PendingSince,
}

/// Where the next page starts: behind this row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The sort keys of the last row seen.
    pub keys: Vec<i64>,
    /// Its id.
    pub task_id: Uuid,
}

/// A task as lists show it.
#[derive(Clone, Debug)]
pub struct Short {
    /// The id.
    pub task_id: Uuid,
    /// The current version.
    pub version: i64,
    /// The status.
    pub status: Status,
    /// The priority.
    pub priority: i64,
    /// The title.
    pub title: String,
    /// The summary.
    pub summary: String,
    /// The owner.
    pub owner: Option<String>,
    /// When it was written last.
    pub updated: Timestamp,
    /// The tags.
    pub tags: Vec<String>,
    /// What it waits for.
    pub handoff_blockers: String,
    /// The version that made its handoff pending, 0 if none is.
    pub pending_version: i64,
    /// Since when.
    pub pending_at: Option<Timestamp>,
    /// By which session.
    pub pending_by: Option<String>,
    /// Who wrote last.
    pub written_by: String,
    /// Where it stands in the order.
    pub position: Position,
}

impl Sort {
    /// The columns of the order, all of them descending but where marked.
    const fn columns(self) -> &'static [(&'static str, bool)] {
        match self {
            Self::Updated => &[("t.updated_at", true)],
            Self::Created => &[("t.created_at", true)],
            Self::Priority => &[("t.priority", false), ("t.updated_at", true)],
            Self::PendingSince => &[("t.pending_at", true)],
        }
    }
}

struct Statement {
    conditions: Vec<String>,
    values: Vec<Cell>,
}

impl Statement {
    fn place(&mut self, value: impl Into<Cell>) -> usize {
        self.values.push(value.into());
        self.values.len()
    }

    fn add(&mut self, condition: &str, value: impl Into<Cell>) {
        let place = self.place(value);
        self.conditions.push(format!("{condition} ?{place}"));
    }

    /// The conditions of a filter; `None` if nothing can match.
    fn of(project_id: i64, filter: &Filter, walks: bool) -> Option<Self> {
        let mut statement = Self { conditions: Vec::new(), values: Vec::new() };
        statement.add("t.project_id =", project_id);
        if let Some(status) = filter.status {
            statement.add("t.status =", status.as_str());
        }
        if filter.open {
            statement.conditions.push("t.is_open = 1".to_owned());
        }
        if let Some(owner) = &filter.owner {
            statement.add("t.owner =", owner);
        }
        if let Some(parent) = filter.parent {
            statement.add("t.parent =", parent);
        }
        if let Some(tag) = &filter.tag {
            let place = statement.place(tag);
            statement.conditions.push(format!(
                "t.task_id in (select g.task_id from task_tag g where g.project_id = ?1 and g.tag = ?{place})"
            ));
        }
        if let Some(query) = &filter.query {
            let place = statement.values.len() + 1;
            let condition = if walks {
                search::task_walk_condition(project_id, query, place)
            } else {
                search::task_condition(project_id, query, place)
            };
            let (condition, value) = condition?;
            statement.values.push(value);
            statement.conditions.push(condition);
        }
        statement.flags(filter);
        Some(statement)
    }

    fn flags(&mut self, filter: &Filter) {
        let mut flag = |wanted: Option<bool>, condition: String| match wanted {
            Some(true) => self.conditions.push(condition),
            Some(false) => self.conditions.push(format!("not ({condition})")),
            None => {}
        };
        flag(
            filter.ready,
            "t.status = 'todo' and not exists (select 1 from task_dependency d \
             join task first on first.task_id = d.depends_on where d.task_id = t.task_id and first.is_open = 1)"
                .to_owned(),
        );
        flag(filter.pending_handoff, "t.pending_version > 0".to_owned());
        let before = filter.stale_before.0;
        flag(filter.stale, format!("t.status = 'in_progress' and t.updated_at < {before}"));
    }

    fn behind(&mut self, sort: Sort, position: &Position) -> Result<()> {
        let columns = sort.columns();
        if columns.len() != position.keys.len() {
            return Err(Refusal::argument("cursor belongs to a list in another order"));
        }
        // Behind the first key, or equal to it and behind the second, and so on; last comes the id.
        let mut alternatives = Vec::new();
        let mut equal = String::new();
        for ((column, descends), key) in columns.iter().zip(&position.keys) {
            let place = self.place(*key);
            let sign = if *descends { '<' } else { '>' };
            alternatives.push(format!("{equal}{column} {sign} ?{place}"));
            let _ = write!(equal, "{column} = ?{place} and ");
        }
        let place = self.place(position.task_id);
        alternatives.push(format!("{equal}t.task_id > ?{place}"));
        // The first key bounds the walk over the index; without it the alternatives would be tried from the start.
        let (column, descends) = columns[0];
        let first = self.place(position.keys[0]);
        self.conditions.push(format!("{column} {} ?{first}", if descends { "<=" } else { ">=" }));
        self.conditions.push(format!("({})", alternatives.join(" or ")));
        Ok(())
    }
}

/// The tasks that match, in order, behind `after`.
pub async fn page(
    transaction: &mut Transaction,
    project_id: i64,
    filter: &Filter,
    sort: Sort,
    after: Option<&Position>,
    limit: i64,
) -> Result<Vec<Short>> {
    let walks = walks(transaction, project_id, filter).await?;
    let Some(mut statement) = Statement::of(project_id, filter, walks) else {
        return Ok(Vec::new());
    };
    if let Some(position) = after {
        statement.behind(sort, position)?;
    }
    let order: Vec<String> = sort
        .columns()
        .iter()
        .map(|(column, descends)| format!("{column} {}", if *descends { "desc" } else { "asc" }))
        .collect();
    let place = statement.place(limit);
    let sql = format!(
        "select t.task_id, t.version, t.status, t.priority, t.title, t.summary, t.owner, t.updated_at, t.created_at, \
         t.tags, t.handoff_blockers, t.pending_version, t.pending_at, t.pending_by, t.written_by \
         from task t where {} order by {}, t.task_id asc limit ?{place}",
        statement.conditions.join(" and "),
        order.join(", ")
    );
    let rows = transaction.rows(&sql, &statement.values).await?;
    rows.iter().map(|row| short(row, sort)).collect()
}

/// How many tasks match, counted no further than `TOTAL_EXACT` + 1.
pub async fn total(transaction: &mut Transaction, project_id: i64, filter: &Filter) -> Result<i64> {
    if walks(transaction, project_id, filter).await? && filter.is_only_words() {
        return Ok(TOTAL_EXACT + 1);
    }
    let Some(mut statement) = Statement::of(project_id, filter, false) else {
        return Ok(0);
    };
    let place = statement.place(TOTAL_EXACT + 1);
    let sql = format!(
        "select count(*) from (select 1 from task t where {} limit ?{place}) found",
        statement.conditions.join(" and ")
    );
    let row = transaction.row(&sql, &statement.values).await?;
    row.map_or(Ok(0), |row| row.integer(0))
}

impl Filter {
    fn is_only_words(&self) -> bool {
        let Self { status, open, tag, owner, parent, query: _, ready, pending_handoff, stale, stale_before: _ } = self;
        status.is_none()
            && !open
            && tag.is_none()
            && owner.is_none()
            && parent.is_none()
            && ready.is_none()
            && pending_handoff.is_none()
            && stale.is_none()
    }
}

/// True if so many tasks match the words that walking in the list's order finds a page sooner than sorting them all.
async fn walks(transaction: &mut Transaction, project_id: i64, filter: &Filter) -> Result<bool> {
    let Some(query) = &filter.query else {
        return Ok(false);
    };
    let most = TOTAL_EXACT + 1;
    Ok(search::tasks_matching(transaction, project_id, query, most).await? == most)
}

fn short(row: &Row, sort: Sort) -> Result<Short> {
    let status = row.text(2)?;
    let task_id = row.uuid(0)?;
    let keys = match sort {
        Sort::Updated => vec![row.integer(7)?],
        Sort::Created => vec![row.integer(8)?],
        Sort::Priority => vec![row.integer(3)?, row.integer(7)?],
        Sort::PendingSince => vec![row.maybe_integer(12)?.unwrap_or_default()],
    };
    Ok(Short {
        task_id,
        version: row.integer(1)?,
        status: Status::of(&status).ok_or_else(|| Refusal::internal(&format!("unknown status {status}")))?,
        priority: row.integer(3)?,
        title: row.text(4)?,
        summary: row.text(5)?,
        owner: row.maybe_text(6)?,
        updated: Timestamp(row.integer(7)?),
        tags: from_json(&row.text(9)?)?,
        handoff_blockers: row.text(10)?,
        pending_version: row.integer(11)?,
        pending_at: row.maybe_integer(12)?.map(Timestamp),
        pending_by: row.maybe_text(13)?,
        written_by: row.text(14)?,
        position: Position { keys, task_id },
    })
}
