//! Words in `SQLite`: an FTS5 table that keeps positions and no text. Must never put a user's text into a query of
//! FTS5 other than as words in quotes.

use uuid::Uuid;

use crate::domain::words::{Phrase, Query, each_word};
use crate::error::Result;
use crate::store::backend::Transaction;
use crate::store::cell::Cell;
use crate::store::search::{BETWEEN, Condition, Within};

/// Takes a key and its words.
pub(super) const INDEX_TASK: &str = "insert or replace into task_words (rowid, words) values (?1, ?2)";
/// The same for a memory.
pub(super) const INDEX_MEMORY: &str = "insert or replace into memory_words (rowid, words) values (?1, ?2)";

/// What was removed stays in older segments of the index, only marked as gone, until all are merged into one.
pub(super) const FORGET_REMOVED: [&str; 2] = [
    "insert into task_words (task_words) values ('optimize')",
    "insert into memory_words (memory_words) values ('optimize')",
];

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

pub(super) fn condition(within: Within, project_id: i64, query: &Query, place: usize) -> Condition {
    let Within { key, index } = within;
    let sql = format!("{key} in (select rowid from {index} where {index} match ?{place})");
    Condition { sql, values: vec![expression(project_id, query, true)] }
}

pub(super) fn stream(project_id: i64, query: &Query, place: usize) -> (&'static str, Condition) {
    let sql = format!("w.task_words match ?{place}");
    let condition = Condition { sql, values: vec![expression(project_id, query, true)] };
    ("task_words w cross join task t on t.task_key = w.rowid", condition)
}

pub(super) async fn count(transaction: &mut Transaction, project_id: i64, query: &Query, most: i64) -> Result<i64> {
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

/// One task in so many matches, told by the newest `least` of those that do.
pub(super) async fn spread(
    transaction: &mut Transaction,
    project_id: i64,
    query: &Query,
    least: i64,
    far: i64,
) -> Result<Option<i64>> {
    let sql = "select count(*), max(key) - min(key) from \
        (select rowid as key from task_words where task_words match ?1 order by rowid desc limit ?2) newest";
    // Whole words are found one by one, beginnings are gathered first: the latter only where the former leave it open.
    for beginnings in [false, true] {
        let values = [expression(project_id, query, beginnings), least.into()];
        let row = transaction.row(sql, &values).await?;
        if let Some(row) = row.filter(|row| row.integer(0) == Ok(least)) {
            let one_in = row.integer(1)? / least + 1;
            if one_in <= far {
                return Ok(Some(one_in));
            }
        }
    }
    Ok(None)
}

/// True if a query finds this task.
pub(super) async fn finds(
    transaction: &mut Transaction,
    project_id: i64,
    query: &Query,
    task_id: Uuid,
) -> Result<bool> {
    let sql = "select 1 from task_words w where w.task_words match ?1 \
        and w.rowid = (select task_key from task where task_id = ?2)";
    let values = [expression(project_id, query, false), task_id.into()];
    Ok(transaction.row(sql, &values).await?.is_some())
}

/// The values of an index entry: this is most of what a write costs, so no word is copied twice.
pub(super) fn entry<'p>(project_id: i64, key: i64, parts: impl Iterator<Item = &'p str>) -> Vec<Cell> {
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
    vec![key.into(), text.into()]
}
