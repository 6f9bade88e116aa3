//! Lists of tasks: filter, then sort, then limit, with keyset cursors that stay right while others write.

use std::fmt::Write as _;

use uuid::Uuid;

use crate::domain::handoff::Grade;
use crate::domain::task::Status;
use crate::domain::time::Timestamp;
use crate::domain::words::Query;
use crate::error::{Refusal, Result};
use crate::store::backend::{Question, Statement as Asked, Transaction};
use crate::store::cell::{Cell, Row};
use crate::store::list::way::{Share, Ways, Words};
use crate::store::project;
use crate::store::search::Condition;
use crate::store::task::{from_json, grade_of, to_json};

mod way;

/// Totals are exact up to here.
pub const TOTAL_EXACT: i64 = 1_000;

/// How many tasks are looked at before a search for frequent words goes another way, and how many of them at least at once.
const WALKED: i64 = 1_344;
const WALKED_AT_ONCE: i64 = 64;

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
    /// How good its handoff was when it was last written.
    pub grade: Option<Grade>,
    /// True if the last verification of its last receipt contradicts that.
    pub contradicted: bool,
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

#[derive(Clone)]
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

    /// Where the place of the next value is.
    const fn next_place(&self) -> usize {
        self.values.len() + 1
    }

    fn meet(&mut self, Condition { sql, values }: Condition) {
        self.conditions.push(sql);
        self.values.extend(values);
    }

    /// The conditions of a filter, its words aside.
    ///
    /// `gathered` says that words drive the search. Then, and for a rare tag, a plus keeps the planner from walking
    /// the whole project instead.
    fn of(project_id: i64, filter: &Filter, ways: &Ways, gathered: bool) -> Result<Self> {
        let mut statement = Self { conditions: Vec::new(), values: Vec::new() };
        let drives = gathered || ways.tag() == Share::Few;
        statement.add(if drives { "+t.project_id =" } else { "t.project_id =" }, project_id);
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
            let of_tag = format!("from task_tag g where g.project_id = ?1 and g.tag = ?{place}");
            if drives && !gathered {
                statement.conditions.push(format!("t.task_id in (select g.task_id {of_tag})"));
            } else {
                // What the task itself shows of its tags leaves out nearly all others without a look into another table.
                let shown = statement.place(to_json(tag)?);
                statement.conditions.push(format!("replace(t.tags, ?{shown}, '') <> t.tags"));
                // One value and no join: a planner that does not know the tag would gather all that have it.
                let has_it = format!("t.task_id = (select g.task_id {of_tag} and g.task_id = t.task_id)");
                statement.conditions.push(has_it);
            }
        }
        statement.flags(filter);
        Ok(statement)
    }

    /// How many rows of `from` meet it, counted no further than `TOTAL_EXACT` + 1.
    async fn count(mut self, transaction: &mut Transaction, from: &str) -> Result<i64> {
        let place = self.place(TOTAL_EXACT + 1);
        let conditions = self.conditions.join(" and ");
        let sql = format!("select count(*) from (select 1 from {from} where {conditions} limit ?{place}) found");
        transaction.integer(&sql, &self.values).await
    }

    fn flags(&mut self, filter: &Filter) {
        // A value, so that the text is the same at every moment.
        let before = filter.stale.map(|_| self.place(filter.stale_before.0));
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
        let before = before.unwrap_or_default();
        flag(filter.stale, format!("t.status = 'in_progress' and t.updated_at < ?{before}"));
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

/// The tasks that match, in order, behind `after`; and how many match in all; more than `TOTAL_EXACT` of them
/// are not always counted to the end.
pub async fn page(
    transaction: &mut Transaction,
    project_id: i64,
    filter: &Filter,
    sort: Sort,
    after: Option<&Position>,
    limit: i64,
) -> Result<(Vec<Short>, i64)> {
    if filter.looks_at_rows() || filter.query.is_some() || filter.tag.is_some() {
        let Some(ways) = Ways::of(transaction, project_id, filter).await? else {
            return Ok((Vec::new(), 0));
        };
        let found = found(transaction, project_id, filter, &ways, sort, after, limit).await?;
        let total = match i64::try_from(found.len()) {
            // A first page that is not full is all there is.
            Ok(count) if after.is_none() && count < limit => count,
            _ => total(transaction, project_id, filter, &ways).await?,
        };
        return Ok((found, total));
    }
    let statement = Statement::of(project_id, filter, &Ways::default(), false)?;
    let asked = Page { statement, sort, after, limit }.asked()?;
    let read = move |mut rows: Vec<Row>| rows.iter_mut().map(|row| short(row, sort)).collect();
    transaction.ask_both(Question::new(asked, read), counted(project_id, filter)).await
}

async fn found(
    transaction: &mut Transaction,
    project_id: i64,
    filter: &Filter,
    ways: &Ways,
    sort: Sort,
    after: Option<&Position>,
    limit: i64,
) -> Result<Vec<Short>> {
    if let Some(Words { search, one_in: Some(one_in) }) = &ways.words {
        let statement = Statement::of(project_id, filter, ways, false)?;
        let page = Page { statement, sort, after, limit };
        if let Some(found) = walk(transaction, page, search.query(), *one_in).await? {
            return Ok(found);
        }
    }
    let mut statement = Statement::of(project_id, filter, ways, ways.words.is_some())?;
    if let Some(Words { search, .. }) = &ways.words {
        statement.meet(search.condition(statement.next_place()));
    }
    let asked = Page { statement, sort, after, limit }.asked()?;
    let mut rows = transaction.rows(&asked.sql, &asked.values).await?;
    rows.iter_mut().map(|row| short(row, sort)).collect()
}

/// One page of the tasks that meet a statement.
struct Page<'p> {
    statement: Statement,
    sort: Sort,
    after: Option<&'p Position>,
    limit: i64,
}

impl Page<'_> {
    /// What asks for its rows: the columns that [`short`] reads. The verdict is looked up for the rows of the page alone,
    /// and not for all that have to be sorted for it.
    fn asked(self) -> Result<Asked> {
        let order = self.order();
        let Asked { sql, values } = self.columns("")?;
        Ok(Asked::new(format!("select t.*, ({VERDICT}) from ({sql}) t order by {order}"), values))
    }

    /// The same with `more` columns before the verdict, for rows that are met in the order of the answer.
    fn walked(self, more: &str) -> Result<Asked> {
        self.columns(&format!("{more}, ({VERDICT})"))
    }

    fn columns(mut self, more: &str) -> Result<Asked> {
        if let Some(position) = self.after {
            self.statement.behind(self.sort, position)?;
        }
        let order = self.order();
        let place = self.statement.place(self.limit);
        let sql = format!(
            "select t.task_id, t.version, t.status, t.priority, t.title, t.summary, t.owner, t.updated_at, t.created_at, \
             t.tags, t.handoff_blockers, t.pending_version, t.pending_at, t.pending_by, t.written_by, {} as grade{more} \
             from task t where {} order by {order} limit ?{place}",
            grade_of("t"),
            self.statement.conditions.join(" and "),
        );
        Ok(Asked::new(sql, self.statement.values))
    }

    fn order(&self) -> String {
        let columns = self.sort.columns().iter();
        let order = columns.map(|(column, descends)| format!("{column} {}", if *descends { "desc" } else { "asc" }));
        format!("{}, t.task_id asc", order.collect::<Vec<_>>().join(", "))
    }
}

/// What the last verification of the last receipt of task `t` told.
const VERDICT: &str = "select f.verdict from verification f where f.verification_key = \
    (select max(k.verification_key) from verification k where k.task_id = t.task_id and k.verdict <> 'unverified' \
    and k.receipt_version = (select max(r.version) from receipt r where r.task_id = t.task_id))";

/// A page of tasks with words that one task in so many has: looks at tasks in the order of the answer until enough of them
/// have the words.
///
/// `None` if that took too long: then gathering all that match is quicker.
async fn walk(transaction: &mut Transaction, page: Page<'_>, query: &Query, one_in: i64) -> Result<Option<Vec<Short>>> {
    const TEXTS: &str =
        ", t.handoff_next, t.description, t.completion_criteria, t.required_reviews, t.handoff_completed";
    let Page { statement, sort, after, limit } = page;
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut position = after.cloned();
    let mut found = Vec::new();
    // The first step is half as far again as a full page is to be expected: then it seldom needs another one.
    let mut step = limit.saturating_mul(one_in).saturating_mul(3) / 2;
    let mut left = WALKED;
    while left > 0 {
        let batch = step.clamp(WALKED_AT_ONCE, left.max(WALKED_AT_ONCE));
        left -= batch;
        step = left;
        let page = Page { statement: statement.clone(), sort, after: position.as_ref(), limit: batch };
        let asked = page.walked(TEXTS)?;
        let mut rows = transaction.rows(&asked.sql, &asked.values).await?;
        let at_end = i64::try_from(rows.len()).is_ok_and(|count| count < batch);
        let mut last = None;
        for row in &mut rows {
            let task = short(row, sort)?;
            last = Some(task.position.clone());
            if query.is_found_in(texts(row, &task)?.iter().map(String::as_str)) {
                found.push(task);
            }
            if found.len() == wanted {
                return Ok(Some(found));
            }
        }
        if at_end {
            return Ok(Some(found));
        }
        position = last;
    }
    Ok(None)
}

/// Everything of a walked row that can be found by words, as the index of words has it.
fn texts(row: &mut Row, task: &Short) -> Result<Vec<String>> {
    let mut texts = vec![task.title.clone(), task.summary.clone(), task.handoff_blockers.clone()];
    texts.extend(task.owner.clone());
    texts.extend(task.tags.iter().cloned());
    texts.push(task.task_id.to_string());
    for column in 16..21 {
        texts.push(row.text(column)?);
    }
    Ok(texts)
}

/// How many tasks match a filter by words, by a tag or by what only rows tell; more than `TOTAL_EXACT` of them are not
/// always counted to the end.
async fn total(transaction: &mut Transaction, project_id: i64, filter: &Filter, ways: &Ways) -> Result<i64> {
    if !filter.looks_at_rows() && filter.is_of_any_status() {
        match (&ways.words, ways.tagged) {
            (None, Some(tagged)) => return Ok(tagged),
            (Some(words), None) => return words.search.count(transaction, TOTAL_EXACT + 1).await,
            _ => {}
        }
    }
    let statement = Statement::of(project_id, filter, ways, ways.words() == Share::Few)?;
    let Some(Words { search, one_in }) = &ways.words else {
        return statement.count(transaction, "task t").await;
    };
    if let Some(one_in) = one_in
        && statement.clone().count(transaction, "task t").await? <= TOTAL_EXACT
    {
        let page = Page { statement, sort: Sort::Updated, after: None, limit: i64::MAX };
        let found = walk(transaction, page, search.query(), *one_in).await?;
        return Ok(found.map_or(0, |found| i64::try_from(found.len()).unwrap_or(i64::MAX)));
    }
    let mut statement = Statement::of(project_id, filter, ways, true)?;
    let (from, condition) = search.stream(statement.next_place());
    statement.meet(condition);
    statement.count(transaction, from).await
}

/// The tasks of a status, of the open ones, or of all: counted with every write.
fn counted(project_id: i64, filter: &Filter) -> Question<i64> {
    let (wanted, open) = (filter.status, filter.open);
    let matches = move |status: Status| wanted.is_none_or(|wanted| wanted == status) && (!open || status.is_open());
    project::counts(project_id)
        .then(move |counts| counts.into_iter().filter(|(status, _)| matches(*status)).map(|(_, count)| count).sum())
}

impl Filter {
    /// True if it asks for something that only the tasks themselves tell: neither a count, nor a tag's or word's index.
    fn looks_at_rows(&self) -> bool {
        let Self {
            status: _,
            open: _,
            tag: _,
            owner,
            parent,
            query: _,
            ready,
            pending_handoff,
            stale,
            stale_before: _,
        } = self;
        owner.is_some() || parent.is_some() || ready.is_some() || pending_handoff.is_some() || stale.is_some()
    }

    fn is_of_any_status(&self) -> bool {
        self.status.is_none() && !self.open
    }
}

fn short(row: &mut Row, sort: Sort) -> Result<Short> {
    // It comes last, behind what a walk reads besides.
    let verdict = row.0.len().saturating_sub(1);
    let status = row.str(2)?;
    let status = Status::of(status).ok_or_else(|| Refusal::internal(&format!("unknown status {status}")))?;
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
        status,
        priority: row.integer(3)?,
        title: row.text(4)?,
        summary: row.text(5)?,
        owner: row.maybe_text(6)?,
        updated: Timestamp(row.integer(7)?),
        tags: from_json(row.str(9)?)?,
        handoff_blockers: row.text(10)?,
        pending_version: row.integer(11)?,
        pending_at: row.maybe_integer(12)?.map(Timestamp),
        pending_by: row.maybe_text(13)?,
        written_by: row.text(14)?,
        grade: row.maybe_text(15)?.as_deref().and_then(Grade::of),
        contradicted: row.maybe_text(verdict)?.as_deref() == Some("contradicted"),
        position: Position { keys, task_id },
    })
}
