//! Full-text search: the one file allowed two dialects. Texts and queries are cut into words here, the same way for
//! every database, so that punctuation is never syntax and CJK needs no dictionary.

use std::borrow::Cow;

use unicode_normalization::char::decompose_canonical;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::domain::memory::Memory;
use crate::domain::task::{Content, Task};
use crate::error::Result;
use crate::store::backend::Transaction;
use crate::store::cell::Cell;

/// Stands between the fields of an index entry, so that no phrase reaches over the end of one. The database takes this
/// private character for a word; a query never holds it.
const BETWEEN: &str = "\u{e000} ";

/// The words of a text, in order: letters and digits stay together, everything else separates; in scripts that are
/// written without spaces every character is a word, so that two of them beside each other are a phrase of two. Letter
/// case, accents and the width of letters make no difference.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for character in composed(text).chars().flat_map(char::to_lowercase).map(without_accent) {
        if is_unspaced(character) {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            words.push(character.to_string());
        } else if character.is_alphanumeric() {
            word.push(character);
        } else if !word.is_empty() && !is_joining_mark(character) {
            words.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The text with every letter in one code point and in its plain width.
fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// The plain letter of an accented one. Only alphabets in which readers leave accents out: a kana without its marks
/// is another letter.
fn without_accent(character: char) -> char {
    match character {
        'ς' => 'σ',
        '\u{c0}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}' => {
            let mut plain = None;
            decompose_canonical(character, |part| plain = plain.or(Some(part)));
            plain.unwrap_or(character)
        }
        _ => character,
    }
}

/// Han, kana, hangul, Thai, Lao, Khmer and Burmese letters.
fn is_unspaced(character: char) -> bool {
    character.is_alphanumeric()
        && matches!(character,
            '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3134f}')
}

/// Marks that are part of a word without being letters: combining accents and joiners.
fn is_joining_mark(character: char) -> bool {
    matches!(character, '\u{0300}'..='\u{036f}' | '\u{200c}' | '\u{200d}')
}

/// A query in the database's own language: each word of the user a phrase whose last word may go on, all of them
/// required. `None` if the user's text holds no word at all.
fn query(project_id: i64, text: &str) -> Option<String> {
    let phrases: Vec<String> = text
        .split_whitespace()
        .map(words)
        .filter(|words| !words.is_empty())
        .map(|words| {
            // One Latin letter is asked for as it stands: as a prefix it would match nearly everything.
            let open_ended = words.last().is_some_and(|word| word.len() > 1);
            format!("words : \"{}\"{}", words.join(" "), if open_ended { " *" } else { "" })
        })
        .collect();
    (!phrases.is_empty()).then(|| format!("scope : \"p{project_id}\" AND {}", phrases.join(" AND ")))
}

/// The condition that finds tasks by words, to be used in `where`; its one value is the answer's second part.
///
/// `None` if the text holds no word: then nothing is found.
pub fn task_condition(project_id: i64, text: &str, place: usize) -> Option<(String, Cell)> {
    let query = query(project_id, text)?;
    let condition = format!("t.task_key in (select rowid from task_words where task_words match ?{place})");
    Some((condition, query.into()))
}

/// Like [`task_condition`], for walking tasks in another order when very many match.
pub fn task_walk_condition(project_id: i64, text: &str, place: usize) -> Option<(String, Cell)> {
    let query = query(project_id, text)?;
    let condition =
        format!("exists (select 1 from task_words w where w.rowid = t.task_key and w.task_words match ?{place})");
    Some((condition, query.into()))
}

/// How many tasks match, counted no further than `most`.
pub async fn tasks_matching(transaction: &mut Transaction, project_id: i64, text: &str, most: i64) -> Result<i64> {
    let Some(query) = query(project_id, text) else {
        return Ok(0);
    };
    let sql = "select count(*) from (select 1 from task_words where task_words match ?1 limit ?2) found";
    let row = transaction.row(sql, &[query.into(), most.into()]).await?;
    row.map_or(Ok(0), |row| row.integer(0))
}

/// The condition that finds memories by words.
pub fn memory_condition(project_id: i64, text: &str, place: usize) -> Option<(String, Cell)> {
    let query = query(project_id, text)?;
    let condition = format!("m.memory_key in (select rowid from memory_words where memory_words match ?{place})");
    Some((condition, query.into()))
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
pub async fn index_task(transaction: &mut Transaction, project_id: i64, key: i64, task: &Task) -> Result<()> {
    let id = task.task_id.to_string();
    let parts = [id.as_str()].into_iter().chain(task_text(&task.content));
    let sql = "insert or replace into task_words (rowid, scope, words) values (?1, ?2, ?3)";
    transaction.execute(sql, &[key.into(), scope(project_id), prepared(parts)]).await.map(drop)
}

/// Puts a memory's words into the index.
pub async fn index_memory(transaction: &mut Transaction, project_id: i64, key: i64, memory: &Memory) -> Result<()> {
    let tags = memory.tags.join("\n");
    let parts = [memory.memory_id.as_str(), &memory.summary, &memory.body, &tags];
    let sql = "insert or replace into memory_words (rowid, scope, words) values (?1, ?2, ?3)";
    transaction.execute(sql, &[key.into(), scope(project_id), prepared(parts.into_iter())]).await.map(drop)
}

/// Takes all words of a project out of the index.
pub async fn forget_project(transaction: &mut Transaction, project_id: i64) -> Result<()> {
    let statements = [
        "delete from task_words where rowid in (select task_key from task where project_id = ?1)",
        "delete from memory_words where rowid in (select memory_key from memory where project_id = ?1)",
    ];
    for sql in statements {
        transaction.execute(sql, &[project_id.into()]).await?;
    }
    Ok(())
}

fn scope(project_id: i64) -> Cell {
    format!("p{project_id}").into()
}

fn prepared<'p>(parts: impl Iterator<Item = &'p str>) -> Cell {
    let mut text = String::new();
    for part in parts {
        for word in words(part) {
            text.push_str(&word);
            text.push(' ');
        }
        text.push_str(BETWEEN);
    }
    text.into()
}
