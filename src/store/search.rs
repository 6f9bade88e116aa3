//! Full-text search: the one file allowed two dialects. Texts and queries come as words from `domain/words`, so that
//! every database finds the same.

use crate::domain::memory::Memory;
use crate::domain::task::{Content, Task};
use crate::domain::words::{Phrase, Query, each_word, words};
use crate::error::Result;
use crate::store::backend::{Dialect, Transaction};
use crate::store::cell::Cell;

/// Stands between the fields of an index entry, so that no phrase reaches over the end of one. The database takes this
/// private character for a word; a query never holds it.
const BETWEEN: &str = "\u{e000} ";

/// A word as the index holds it. The project is part of it, so that a search costs nothing in other projects.
fn indexed(project_id: i64, word: &str) -> String {
    format!("{project_id}p{word}")
}

/// A query in the database's own language; without `beginnings` every word must stand there whole.
fn expression(project_id: i64, query: &Query, beginnings: bool) -> Cell {
    let phrase = |phrase: &Phrase| {
        let words: Vec<String> = phrase.words.iter().map(|word| indexed(project_id, word)).collect();
        format!("\"{}\"{}", words.join(" "), if beginnings && phrase.goes_on { " *" } else { "" })
    };
    let phrases: Vec<String> = query.phrases.iter().map(phrase).collect();
    phrases.join(" AND ").into()
}

/// The condition that finds tasks by words, to be used in `where`; its one value is the answer's second part.
pub fn task_condition(project_id: i64, query: &Query, place: usize) -> (String, Cell) {
    let condition = format!("t.task_key in (select rowid from task_words where task_words match ?{place})");
    (condition, expression(project_id, query, true))
}

/// Like [`task_condition`], to be counted one by one up to a limit: where the tasks come from, and the condition.
pub fn task_stream(project_id: i64, query: &Query, place: usize) -> (&'static str, String, Cell) {
    let from = "task_words w cross join task t on t.task_key = w.rowid";
    (from, format!("w.task_words match ?{place}"), expression(project_id, query, true))
}

/// How many tasks match, counted no further than `most`.
pub async fn count(transaction: &mut Transaction, project_id: i64, query: &Query, most: i64) -> Result<i64> {
    let sql = "select count(*) from (select 1 from task_words where task_words match ?1 limit ?2) found";
    let mut count = 0;
    // For beginnings the database first gathers every match; whole words it finds one by one. So these come first.
    for beginnings in [false, true] {
        let values = [expression(project_id, query, beginnings), most.into()];
        let row = transaction.row(sql, &values).await?;
        count = row.map_or(Ok(0), |row| row.integer(0))?;
        if count == most {
            break;
        }
    }
    Ok(count)
}

/// True if among the newest tasks at least one in `far` matches; told by `sample` matches, so false if there are fewer.
pub async fn is_frequent(
    transaction: &mut Transaction,
    project_id: i64,
    query: &Query,
    sample: i64,
    far: i64,
) -> Result<bool> {
    let sql = "select count(*), max(key) - min(key) from \
        (select rowid as key from task_words where task_words match ?1 order by rowid desc limit ?2) newest";
    for beginnings in [false, true] {
        let values = [expression(project_id, query, beginnings), sample.into()];
        let row = transaction.row(sql, &values).await?;
        if let Some(row) = row.filter(|row| row.integer(0) == Ok(sample))
            && row.integer(1)? <= sample.saturating_mul(far)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The condition that finds memories by words; `None` if the text holds no word: then nothing is found.
pub fn memory_condition(project_id: i64, text: &str, place: usize) -> Option<(String, Cell)> {
    let query = Query::of(text)?;
    let condition = format!("m.memory_key in (select rowid from memory_words where memory_words match ?{place})");
    Some((condition, expression(project_id, &query, true)))
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
    let sql = match transaction.dialect() {
        Dialect::Sqlite => "insert or replace into task_words (rowid, words) values (?1, ?2)",
        Dialect::Postgres => {
            "insert into task_words (task_key, words) values (?1, ?2) on conflict (task_key) do update set words = excluded.words"
        }
    };
    transaction.execute_at_commit(sql, vec![key.into(), prepared(project_id, parts)]);
}

/// Puts a memory's words into the index.
pub fn index_memory(transaction: &mut Transaction, project_id: i64, key: i64, memory: &Memory) {
    let tags = memory.tags.join("\n");
    let parts = [memory.memory_id.as_str(), &memory.summary, &memory.body, &tags];
    let sql = match transaction.dialect() {
        Dialect::Sqlite => "insert or replace into memory_words (rowid, words) values (?1, ?2)",
        Dialect::Postgres => {
            "insert into memory_words (memory_key, words) values (?1, ?2) on conflict (memory_key) do update set words = excluded.words"
        }
    };
    transaction.execute_at_commit(sql, vec![key.into(), prepared(project_id, parts.into_iter())]);
}

/// True if the start of a task's present title is found under its key; for checks.
pub async fn finds_title(transaction: &mut Transaction, project_id: i64, task: &Task) -> Result<bool> {
    let words: Vec<String> = words(&task.content.title).into_iter().take(12).collect();
    if words.is_empty() {
        return Ok(true);
    }
    let query = Query { phrases: vec![Phrase { words, goes_on: false }] };
    let sql = "select 1 from task_words w where w.task_words match ?1 \
        and w.rowid = (select task_key from task where task_id = ?2)";
    let values = [expression(project_id, &query, false), task.task_id.into()];
    Ok(transaction.row(sql, &values).await?.is_some())
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

/// Takes all words out of the index.
pub async fn forget_all(transaction: &mut Transaction) -> Result<()> {
    transaction.catch_up().await?;
    for sql in ["delete from task_words", "delete from memory_words"] {
        transaction.execute(sql, &[]).await?;
    }
    Ok(())
}

/// The entry of an index: this is most of what a write costs, so no word is copied twice.
fn prepared<'p>(project_id: i64, parts: impl Iterator<Item = &'p str>) -> Cell {
    let prefix = indexed(project_id, "");
    let mut text = String::new();
    for part in parts {
        each_word(part, |word| {
            text.push_str(&prefix);
            text.push_str(word);
            text.push(' ');
            true
        });
        text.push_str(BETWEEN);
    }
    text.into()
}
