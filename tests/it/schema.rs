//! The two schemas are the same: tables, columns, keys, checks, defaults and indexes, as the databases themselves tell
//! them. Must never read the files of the migrations.

mod postgres;
mod sqlite;

use std::collections::BTreeSet;
use std::path::Path;

use crate::database::TestDatabase;

/// What differs by database, and is left out: the tables of the full-text search, with what a database keeps beside them.
const SEARCH: [&str; 2] = ["task_words", "memory_words"];

/// What differs besides, and why it may: the sentence of the one, and what the other says.
const SAME: [(&str, &str); 1] = [
    // One statement makes the table of the migrations in both databases, and nothing is ever put in order by a digest.
    ("migration.digest is text in the order of default", "migration.digest is text"),
];

/// A schema as sentences, each about one thing.
type Sentences = BTreeSet<String>;

fn of(database: &TestDatabase) -> Sentences {
    let told = if database.is_on_a_server() { postgres::sentences(database) } else { sqlite::sentences(database) };
    let is_search = |sentence: &String| SEARCH.iter().any(|table| sentence.starts_with(table));
    let same = |sentence: String| {
        let found = SAME.iter().find(|(one, _)| *one == sentence);
        found.map_or(sentence, |(_, other)| (*other).to_owned())
    };
    told.into_iter().filter(|sentence| !is_search(sentence)).map(same).collect()
}

/// A list of names as it stands in a sentence.
fn list<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    names.into_iter().map(|name| name.as_ref().to_owned()).collect::<Vec<_>>().join(", ")
}

/// A condition in a form that both databases' own words for it lead to: lower case, without casts, brackets and spaces.
fn condition(told: &str) -> String {
    // What stands between quotation marks stays as it is.
    let parts = told.split('\'').enumerate().map(|(position, part)| {
        if position % 2 == 1 {
            return part.to_owned();
        }
        let part = part.to_lowercase().replace("::text", "").replace("::bigint", "");
        let part = part.replace("octet_length", "length").replace("= any", "in").replace("array[", "");
        part.chars().filter(|character| !"()[] \n".contains(*character)).collect()
    });
    parts.collect::<Vec<_>>().join("'")
}

/// The present schema in a file, and on the server of the tests; where none is named, in another file.
fn both(folder: &Path) -> [TestDatabase; 2] {
    let databases = [TestDatabase::of_file(folder.join("one.db")), TestDatabase::new(folder.join("other.db"))];
    for database in &databases {
        drop(database.open());
    }
    databases
}

#[test]
fn both_databases_have_the_same_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let [file, server] = both(folder.path());
    let (one, other) = (of(&file), of(&server));
    assert!(one.len() > 100, "too little was read: {one:?}");
    let only = |one: &Sentences, other: &Sentences| list(one.difference(other).map(|told| format!("\n  {told}")));
    let (in_file, on_server) = (only(&one, &other), only(&other, &one));
    assert!(one == other, "\nonly {}:{in_file}\nonly {}:{on_server}\n", file.kind(), server.kind());
}

/// Changes of a schema that both databases take, one after the other; by which sentence each is noticed.
const CHANGES: [(&str, &str); 15] = [
    ("alter table task add column extra text", "task.extra is"),
    ("alter table task rename column owner to owned_by", "task.owned_by is"),
    ("drop index message_waiting", "the index message_waiting"),
    (
        "drop index task_open; create index task_open on task (project_id, updated_at, task_id) where is_open = 1",
        "task_open on project_id, updated_at, task_id where",
    ),
    (
        "drop index task_open; create index task_open on task (updated_at desc, project_id, task_id) where is_open = 1",
        "task_open on updated_at desc, project_id",
    ),
    (
        "drop index task_open; create index task_open on task (project_id, updated_at desc, task_id)",
        "task_open on project_id, updated_at desc, task_id",
    ),
    (
        "drop index task_open; create index task_open on task (project_id, updated_at desc, task_id) where is_open = 0",
        "where is_open=0",
    ),
    (
        "drop index memory_once; create index memory_once on memory (project_id, fingerprint) where fingerprint is not null",
        "the index memory_once",
    ),
    ("drop table receipt", "receipt is a table"),
    ("create table first (name text not null unique)", "first has one row at most for each name"),
    ("create table second (name text not null)", "second.name is never null"),
    ("create table third (one bigint, other bigint, primary key (other, one))", "third has the primary key other, one"),
    ("create table fourth (act text check (act in ('create', 'it''s')))", "fourth checks actin'create','it''s'"),
    ("create table fifth (one bigint default 7 references project (project_id))", "fifth.one is 7 by default"),
    (
        "create table sixth (one bigint references project (project_id) on delete cascade)",
        "sixth.one is one of project.project_id and goes with it",
    ),
];

#[test]
fn a_change_of_one_schema_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    for database in both(folder.path()) {
        let mut before = of(&database);
        for (change, about) in CHANGES {
            database.damage(change);
            let after = of(&database);
            let told: Vec<&String> = before.symmetric_difference(&after).collect();
            let is_noticed = told.iter().any(|sentence| sentence.contains(about));
            assert!(is_noticed, "{}: {change} was not noticed: {told:?}", database.kind());
            before = after;
        }
    }
}
