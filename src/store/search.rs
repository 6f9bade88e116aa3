//! Full-text search: what every database must find alike. Texts and queries come as words from `domain/words`, and each
//! database has a file below this one that says how it keeps and finds them. Must never have a database cut a text.

use crate::domain::memory::Memory;
use crate::domain::task::{Content, Task};
use crate::domain::words::{Phrase, Query, words};
use crate::error::Result;
use crate::store::backend::{Dialect, Transaction};
use crate::store::cell::Cell;

mod postgres;
mod sqlite;

/// Stands between the fields of an index entry, so that no phrase reaches over the end of one. Databases take this
/// private character for a word; a query never holds it.
const BETWEEN: &str = "\u{e000} ";

/// A condition to be used in `where`, with the values of its places.
pub struct Condition {
    /// The condition.
    pub sql: String,
    /// Its values, in the order of its places.
    pub values: Vec<Cell>,
}

/// A search among the tasks of a project.
pub struct Search {
    project_id: i64,
    query: Query,
    known: Known,
}

/// What a database was asked beforehand, to choose the way by.
enum Known {
    Sqlite,
    Postgres(postgres::Known),
}

impl Search {
    /// Prepares a search for these words.
    pub async fn of(transaction: &mut Transaction, project_id: i64, query: Query) -> Result<Self> {
        let known = match transaction.dialect() {
            Dialect::Sqlite => Known::Sqlite,
            Dialect::Postgres => Known::Postgres(postgres::Known::of(transaction, project_id, &query).await?),
        };
        Ok(Self { project_id, query, known })
    }

    /// The words.
    pub const fn query(&self) -> &Query {
        &self.query
    }

    /// The condition that finds tasks `t`; its first place is `place`.
    pub fn condition(&self, place: usize) -> Condition {
        match &self.known {
            Known::Sqlite => sqlite::condition(TASK_IN, self.project_id, &self.query, place),
            Known::Postgres(known) => known.condition(TASK_IN, self.project_id, &self.query, place),
        }
    }

    /// Like [`Self::condition`], to be counted one by one up to a limit: where the tasks come from, and the condition.
    pub fn stream(&self, place: usize) -> (&'static str, Condition) {
        match &self.known {
            Known::Sqlite => sqlite::stream(self.project_id, &self.query, place),
            Known::Postgres(_) => ("task t", self.condition(place)),
        }
    }

    /// How many tasks match, counted no further than `most`.
    pub async fn count(&self, transaction: &mut Transaction, most: i64) -> Result<i64> {
        match &self.known {
            Known::Sqlite => sqlite::count(transaction, self.project_id, &self.query, most).await,
            Known::Postgres(known) => known.count(transaction, self.project_id, &self.query, most).await,
        }
    }

    /// How frequent the words are, as far as that can be told at once: one task in so many has them. `None` if fewer than
    /// `least` have them, or fewer than one in `far`.
    pub async fn spread(&self, transaction: &mut Transaction, least: i64, far: i64) -> Result<Option<i64>> {
        match &self.known {
            Known::Sqlite => sqlite::spread(transaction, self.project_id, &self.query, least, far).await,
            Known::Postgres(known) => Ok(known.spread(least, far)),
        }
    }
}

/// An index of words, and what of another table it is of.
#[derive(Clone, Copy)]
struct Within {
    key: &'static str,
    index: &'static str,
}

const TASK_IN: Within = Within { key: "t.task_key", index: "task_words" };
const MEMORY_IN: Within = Within { key: "m.memory_key", index: "memory_words" };

/// The condition that finds memories `m` by words; `None` if the text holds no word: then nothing is found.
pub fn memory_condition(dialect: Dialect, project_id: i64, text: &str, place: usize) -> Option<Condition> {
    let query = Query::of(text)?;
    Some(match dialect {
        Dialect::Sqlite => sqlite::condition(MEMORY_IN, project_id, &query, place),
        Dialect::Postgres => postgres::Known::default().condition(MEMORY_IN, project_id, &query, place),
    })
}

/// Everything of a task that can be found by words, its id aside.
pub fn task_text(content: &Content) -> Vec<&str> {
    let texts = [
        &content.title,
        &content.summary,
        &content.handoff_next,
        &content.handoff_blockers,
        &content.description,
        &content.completion_criteria,
        &content.required_reviews,
        &content.handoff_completed,
    ];
    let owner = content.owner.iter();
    texts.into_iter().chain(owner).chain(&content.tags).map(String::as_str).collect()
}

/// Puts a task's present words into the index.
pub fn index_task(transaction: &mut Transaction, project_id: i64, key: i64, task: &Task) {
    let id = task.task_id.to_string();
    let parts = [id.as_str()].into_iter().chain(task_text(&task.content));
    let (sql, values) = match transaction.dialect() {
        Dialect::Sqlite => (sqlite::INDEX_TASK, sqlite::entry(project_id, key, parts)),
        Dialect::Postgres => (postgres::INDEX_TASK, postgres::task_entry(project_id, key, parts)),
    };
    transaction.execute_at_commit(sql, values);
}

/// Puts a memory's words into the index.
pub fn index_memory(transaction: &mut Transaction, project_id: i64, key: i64, memory: &Memory) {
    let tags = memory.tags.join("\n");
    let parts = [memory.memory_id.as_str(), &memory.summary, &memory.body, &tags].into_iter();
    let (sql, values) = match transaction.dialect() {
        Dialect::Sqlite => (sqlite::INDEX_MEMORY, sqlite::entry(project_id, key, parts)),
        Dialect::Postgres => (postgres::INDEX_MEMORY, postgres::memory_entry(project_id, key, parts)),
    };
    transaction.execute_at_commit(sql, values);
}

/// True if the start of a task's present title is found under its key; for checks.
pub async fn finds_title(transaction: &mut Transaction, project_id: i64, task: &Task) -> Result<bool> {
    let words: Vec<String> = words(&task.content.title).into_iter().take(12).collect();
    if words.is_empty() {
        return Ok(true);
    }
    let query = Query { phrases: vec![Phrase { words, goes_on: false }] };
    match transaction.dialect() {
        Dialect::Sqlite => sqlite::finds(transaction, project_id, &query, task.task_id).await,
        Dialect::Postgres => postgres::finds(transaction, project_id, &query, task.task_id).await,
    }
}

/// Takes all words of a project out of the index.
pub async fn forget_project(transaction: &mut Transaction, project_id: i64) -> Result<()> {
    // What other writes of the group still have to put into the index would else come back after this.
    transaction.catch_up().await?;
    let statements = [
        "delete from task_words where rowid in (select task_key from task where project_id = ?1)",
        "delete from memory_words where rowid in (select memory_key from memory where project_id = ?1)",
    ];
    for sql in statements {
        transaction.execute(sql, &[project_id.into()]).await?;
    }
    Ok(())
}

/// Has the index not keep words that were taken out of it, from the commit on.
pub fn forget_removed(transaction: &mut Transaction) {
    if transaction.dialect() == Dialect::Sqlite {
        for sql in sqlite::FORGET_REMOVED {
            transaction.execute_at_commit(sql, Vec::new());
        }
    }
}

/// How many tasks and memories there are whose words are not in the index, or the other way round.
pub async fn missing(transaction: &mut Transaction) -> Result<i64> {
    let sql = "select abs((select count(*) from task) - (select count(*) from task_words)) \
        + abs((select count(*) from memory) - (select count(*) from memory_words))";
    transaction.integer(sql, &[]).await
}

/// Takes all words out of the index.
pub async fn forget_all(transaction: &mut Transaction) -> Result<()> {
    transaction.catch_up().await?;
    for sql in ["delete from task_words", "delete from memory_words"] {
        transaction.execute(sql, &[]).await?;
    }
    Ok(())
}
