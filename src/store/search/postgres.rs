//! Words in `PostgreSQL`: the text of them all, and an index of the different ones (GIN on a `tsvector` without
//! positions). The index finds who has all words, the text tells whether they stand beside each other. Must never have
//! the database's own parsers cut anything, and never rely on how well it knows the tables: every statement has one way
//! that is good, whatever is searched.
//!
//! An index of this kind gathers every match before it gives the first, and whether a match is still to be seen stands in
//! its row alone, each on another page. So that frequent words are told at once and few rows are looked at for it, random
//! samples of the tasks have their words in the index once more, under other names.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use uuid::Uuid;

use crate::domain::words::{Phrase, Query, each_word, stands_alone};
use crate::error::{Refusal, Result};
use crate::store::backend::Transaction;
use crate::store::cell::Cell;
use crate::store::project;
use crate::store::search::{BETWEEN, Condition, Within};

/// Takes a key, the text of its words and its terms.
pub(super) const INDEX_TASK: &str = "insert into task_words (rowid, words, found) \
    values (?1, ?2, array_to_tsvector(string_to_array(?3, ' '))) \
    on conflict (rowid) do update set words = excluded.words, found = excluded.found";
/// The same for a memory.
pub(super) const INDEX_MEMORY: &str = "insert into memory_words (rowid, words, found) \
    values (?1, ?2, array_to_tsvector(string_to_array(?3, ' '))) \
    on conflict (rowid) do update set words = excluded.words, found = excluded.found";

/// The tasks that are searched: all of them, or some drawn by lot.
struct Sample {
    /// Stands between the project and the term.
    letter: char,
    /// It holds one task in two to the power of this.
    bits: u32,
}

/// All tasks, then the samples; each is the eighth part of the one before it.
const SAMPLES: [Sample; 5] = [
    Sample { letter: 'p', bits: 0 },
    Sample { letter: 'q', bits: 3 },
    Sample { letter: 'r', bits: 6 },
    Sample { letter: 's', bits: 9 },
    Sample { letter: 't', bits: 12 },
];
/// The letter of a task that has more terms than a `tsvector` can hold: its one term. It is found by its text alone.
const OVERSIZED: char = 'x';
/// The most bytes of terms; a `tsvector` can have 1,048,575.
const TERMS_MAX: usize = 1_000_000;
/// The least tasks of a sample that is asked first.
const FIRST_LEAST: i64 = 128;
/// So many matches in the first sample tell enough; for fewer the next larger one is asked.
const FIRST_ENOUGH: i64 = 48;
/// The least tasks of a sample that tells about rarer words.
const SAMPLE_LEAST: i64 = 512;
/// How far the matches of a sample are counted.
const SAMPLE_COUNTED: i64 = 1_024;
/// A sample with twice as many matches as can be expected of a number of tasks, and so many more, has more than that
/// number behind it: it would be otherwise once in 10^18 times.
const SURE: i64 = 32;
/// To gather a term's matches in the index costs as much as to look at the text of so many times fewer tasks.
const TEXT_COST: i64 = 16;

/// The samples that a task is in, by its key.
fn samples_of(key: i64) -> impl Iterator<Item = &'static Sample> {
    // Scattered, because what is done in steps may repeat itself with the keys.
    let scattered = key.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    SAMPLES.iter().filter(move |sample| scattered.trailing_zeros() >= sample.bits)
}

/// The terms that a phrase's texts have: its words, but of scripts without spaces its pairs of characters.
///
/// Alone a character of these is in very many texts, two together seldom are.
fn terms(phrase: &Phrase) -> Vec<String> {
    let words = &phrase.words;
    let pairs = |at: usize| at < words.len() && stands_alone(&words[at]);
    let mut terms = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if !stands_alone(word) {
            terms.push(word.clone());
        } else if pairs(at + 1) {
            terms.push(format!("{word}{}", words[at + 1]));
        } else if at == 0 || !stands_alone(&words[at - 1]) {
            terms.push(word.clone());
        }
    }
    terms
}

/// A phrase in the database's own language, to be found in one sample. Words are letters and digits, so that nothing in
/// them can end the quotes.
fn expression(project_id: i64, phrase: &Phrase, sample: &Sample) -> String {
    let last_goes_on = phrase.goes_on && phrase.words.last().is_some_and(|last| !stands_alone(last));
    let (terms, letter) = (terms(phrase), sample.letter);
    let count = terms.len();
    let quoted = terms.iter().enumerate().map(|(at, term)| {
        let goes_on = last_goes_on && at + 1 == count;
        format!("'{project_id}{letter}{term}'{}", if goes_on { ":*" } else { "" })
    });
    quoted.collect::<Vec<_>>().join(" & ")
}

/// True if the terms alone do not tell that a text has the phrase.
fn needs_text(phrase: &Phrase) -> bool {
    terms(phrase).len() > 1
}

/// What the text of a phrase's tasks is like. Letters and digits have no meaning of their own in a pattern.
fn pattern(phrase: &Phrase) -> String {
    format!("% {}{}", phrase.words.join(" "), if phrase.goes_on { "%" } else { " %" })
}

fn patterns<'p>(phrases: impl Iterator<Item = &'p Phrase>) -> String {
    phrases.map(pattern).collect::<Vec<_>>().join("|")
}

/// In a subquery the values are read once, and no plan is made for them: it would be another one for every value.
fn has_terms(place: usize) -> String {
    format!("w.found @@ (select cast(cast(?{place} as text) as tsquery))")
}

fn has_texts(place: usize) -> String {
    format!("w.words like all (cast((select string_to_array(?{place}, '|')) as text[]))")
}

/// What was asked about a query beforehand; by default nothing.
#[derive(Default)]
pub(super) struct Known {
    /// How many tasks the project has.
    tasks: i64,
    /// Which sample was asked, 0 for all tasks.
    sample: usize,
    /// How many matches are in it, counted no further than `SAMPLE_COUNTED`.
    matches: i64,
    /// The phrases, by their number, that are looked for in the text of what the others find.
    left: BTreeSet<usize>,
}

impl Known {
    pub(super) async fn of(transaction: &mut Transaction, project_id: i64, query: &Query) -> Result<Self> {
        let counts = transaction.ask(project::counts(project_id)).await?;
        let tasks: i64 = counts.into_iter().map(|(_, count)| count).sum();
        let mut known = Self { tasks, ..Self::default() };
        let counted = sample_of(tasks, SAMPLE_LEAST);
        if counted > 0 && query.phrases.len() > 1 {
            known.left = left(&phrase_counts(transaction, project_id, query, counted).await?);
        }
        (known.sample, known.matches) = known.first_matches(transaction, project_id, query).await?;
        Ok(known)
    }

    /// The sample that tells enough, and how many matches it has: the first one, or else the next larger one, in one
    /// question.
    async fn first_matches(
        &self,
        transaction: &mut Transaction,
        project_id: i64,
        query: &Query,
    ) -> Result<(usize, i64)> {
        let first = sample_of(self.tasks, FIRST_LEAST);
        let Some(next) = first.checked_sub(1) else {
            return Ok((first, self.matches(transaction, project_id, query, first, SAMPLE_COUNTED).await?));
        };
        let asked = self.counting(project_id, query, first, SAMPLE_COUNTED, 1);
        let more = self.counting(project_id, query, next, SAMPLE_COUNTED, asked.values.len() + 1);
        // What is not needed is not run.
        let sql = format!("select n, case when n < {FIRST_ENOUGH} then ({}) end from ({}) first", more.sql, asked.sql);
        let row = transaction.row(&sql, &[asked.values, more.values].concat()).await?;
        let row = row.ok_or_else(|| Refusal::internal(&"a count gave no row"))?;
        Ok(match row.maybe_integer(1)? {
            Some(matches) => (next, matches),
            None => (first, row.integer(0)?),
        })
    }

    /// How many matches there must be, going by the sample.
    const fn expected(&self, sample: usize) -> i64 {
        (self.matches << SAMPLES[self.sample].bits) >> SAMPLES[sample].bits
    }

    pub(super) fn spread(&self, least: i64, far: i64) -> Option<i64> {
        let expected = self.expected(0);
        let one_in = self.tasks / expected.max(1) + 1;
        (expected >= least && one_in <= far).then_some(one_in)
    }

    pub(super) async fn count(
        &self,
        transaction: &mut Transaction,
        project_id: i64,
        query: &Query,
        most: i64,
    ) -> Result<i64> {
        let told = self.sample == 0 && self.matches < SAMPLE_COUNTED;
        if told || self.matches >= most {
            return Ok(self.matches.min(most));
        }
        if self.sample > 0 && self.matches >= SURE + 2 * (most >> SAMPLES[self.sample].bits) {
            return Ok(most);
        }
        for sample in (1..self.sample).rev() {
            // What a sample has, all have: enough of it need not be counted elsewhere.
            if self.expected(sample) >= most + most / 4
                && self.matches(transaction, project_id, query, sample, most).await? == most
            {
                return Ok(most);
            }
        }
        self.matches(transaction, project_id, query, 0, most).await
    }

    /// How many tasks of a sample match, counted no further than `most`.
    async fn matches(
        &self,
        transaction: &mut Transaction,
        project_id: i64,
        query: &Query,
        sample: usize,
        most: i64,
    ) -> Result<i64> {
        let Condition { sql, values } = self.counting(project_id, query, sample, most, 1);
        transaction.integer(&sql, &values).await
    }

    /// The query that gives this number as `n`.
    fn counting(&self, project_id: i64, query: &Query, sample: usize, most: i64, place: usize) -> Condition {
        let asked = Within { key: "1", index: "task_words" };
        let Condition { sql, mut values } = self.matching(asked, project_id, query, sample, place);
        values.push(most.into());
        let limit = place + values.len() - 1;
        Condition { sql: format!("select count(*) as n from ({sql} limit ?{limit}) found"), values }
    }

    pub(super) fn condition(&self, within: Within, project_id: i64, query: &Query, place: usize) -> Condition {
        let asked = Within { key: "w.rowid", index: within.index };
        let Condition { sql, values } = self.matching(asked, project_id, query, 0, place);
        Condition { sql: format!("{} in ({sql})", within.key), values }
    }

    /// The query that gives the key of what matches, each once.
    fn matching(&self, asked: Within, project_id: i64, query: &Query, sample: usize, place: usize) -> Condition {
        let Within { key, index } = asked;
        let phrases = || query.phrases.iter().enumerate();
        let sought = phrases().filter(|(number, _)| !self.left.contains(number));
        let expressions: Vec<String> =
            sought.map(|(_, phrase)| expression(project_id, phrase, &SAMPLES[sample])).collect();
        let mut values: Vec<Cell> = vec![expressions.join(" & ").into()];
        let mut sql = format!("select {key} from {index} w where {}", has_terms(place));
        let read = patterns(
            phrases().filter(|(number, one)| self.left.contains(number) || needs_text(one)).map(|(_, phrase)| phrase),
        );
        if !read.is_empty() {
            let _ = write!(sql, " and {}", has_texts(place + values.len()));
            values.push(read.into());
        }
        if sample == 0 {
            let at = place + values.len();
            let _ =
                write!(sql, " union all select {key} from {index} w where {} and {}", has_terms(at), has_texts(at + 1));
            values.extend([oversized(project_id), patterns(query.phrases.iter()).into()]);
        }
        Condition { sql, values }
    }
}

/// The smallest sample that has so many of a project's tasks, or all tasks.
fn sample_of(tasks: i64, least: i64) -> usize {
    (1..SAMPLES.len()).rev().find(|sample| tasks >> SAMPLES[*sample].bits >= least).unwrap_or(0)
}

/// What finds the oversized ones of a project.
fn oversized(project_id: i64) -> Cell {
    format!("'{project_id}{OVERSIZED}'").into()
}

/// How many tasks each phrase has in all, going by a sample; whether its words stand beside each other is not asked.
async fn phrase_counts(
    transaction: &mut Transaction,
    project_id: i64,
    query: &Query,
    sample: usize,
) -> Result<Vec<i64>> {
    let sql = "select (select count(*) from task_words w where w.found @@ cast(asked.terms as tsquery)) \
        from unnest(string_to_array(?1, '|')) with ordinality as asked (terms, number) order by asked.number";
    let expressions = query.phrases.iter().map(|phrase| expression(project_id, phrase, &SAMPLES[sample]));
    let asked = expressions.collect::<Vec<_>>().join("|");
    let rows = transaction.rows(sql, &[asked.into()]).await?;
    rows.iter().map(|row| Ok(row.integer(0)? << SAMPLES[sample].bits)).collect()
}

/// The phrases that are so much more frequent than the rarest one that its tasks are quicker read than theirs gathered.
fn left(counts: &[i64]) -> BTreeSet<usize> {
    let rarest = counts.iter().copied().min().unwrap_or(0);
    let much = rarest.max(SAMPLE_LEAST).saturating_mul(TEXT_COST);
    (0..).zip(counts).filter(|(_, count)| **count > much).map(|(number, _)| number).collect()
}

/// True if a query finds this task.
pub(super) async fn finds(
    transaction: &mut Transaction,
    project_id: i64,
    query: &Query,
    task_id: Uuid,
) -> Result<bool> {
    let asked = Within { key: "w.rowid", index: "task_words" };
    let Condition { sql, mut values } = Known::default().matching(asked, project_id, query, 0, 1);
    values.push(task_id.into());
    let sql = format!(
        "select 1 from ({sql}) found where found.rowid = (select task_key from task where task_id = ?{})",
        values.len()
    );
    Ok(transaction.row(&sql, &values).await?.is_some())
}

/// The values of a task's index entry.
pub(super) fn task_entry<'p>(project_id: i64, key: i64, parts: impl Iterator<Item = &'p str>) -> Vec<Cell> {
    entry(project_id, key, parts, samples_of(key))
}

/// The values of a memory's index entry: there are no samples of memories.
pub(super) fn memory_entry<'p>(project_id: i64, key: i64, parts: impl Iterator<Item = &'p str>) -> Vec<Cell> {
    entry(project_id, key, parts, SAMPLES[..1].iter())
}

fn entry<'p>(
    project_id: i64,
    key: i64,
    parts: impl Iterator<Item = &'p str>,
    samples: impl Iterator<Item = &'static Sample>,
) -> Vec<Cell> {
    let mut text = " ".to_owned();
    let mut terms = BTreeSet::new();
    for part in parts {
        let mut before = String::new();
        each_word(part, |word| {
            text.push_str(word);
            text.push(' ');
            if !terms.contains(word) {
                terms.insert(word.to_owned());
            }
            let alone = stands_alone(word);
            if alone && !before.is_empty() {
                terms.insert(format!("{before}{word}"));
            }
            before.clear();
            before.push_str(if alone { word } else { "" });
            true
        });
        text.push_str(BETWEEN);
    }
    vec![key.into(), text.into(), found(project_id, &terms, samples).into()]
}

/// The terms as the index holds them, between blanks.
fn found(project_id: i64, terms: &BTreeSet<String>, samples: impl Iterator<Item = &'static Sample>) -> String {
    let mut found = String::new();
    for Sample { letter, .. } in samples {
        for term in terms {
            if !found.is_empty() {
                found.push(' ');
            }
            let _ = write!(found, "{project_id}{letter}{term}");
        }
        if found.len() > TERMS_MAX {
            return format!("{project_id}{OVERSIZED}");
        }
    }
    found
}
