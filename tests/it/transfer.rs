//! `heyaira move`: everything arrives, nothing that was acknowledged is lost, and at no moment is the instance in use in
//! two databases or in one that is not proved.

mod arrives;
mod interrupted;
mod refused;
mod served;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use heyaira::store::backend::{Database, Store, work};
use serde_json::{Value, json};

use crate::program::{Answer, Place, Server, with_profile};

/// How long something may take before a test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// The name of the target's file in a place.
const TARGET: &str = "moved.db";

fn target(place: &Place) -> PathBuf {
    place.folder.path().join(TARGET)
}

/// Moves the place's database.
fn moved(place: &Place, words: &[&str]) -> Answer {
    let source = place.database();
    let source = source.to_str().expect("a path");
    let mut command = place.command();
    // The variable is for servers and other commands: a move names both databases.
    command.args(["move", "--from", source, "--json"]).args(words);
    command.output().expect("the program runs").into()
}

fn move_to_target(place: &Place) -> Answer {
    moved(place, &["--to", TARGET])
}

/// Moves, which must succeed; answers what was told.
fn must_move(place: &Place) -> Value {
    let answer = move_to_target(place);
    assert_eq!(answer.code, 0, "{answer:?}");
    let told = answer.json();
    assert_eq!((&told["moved"], &told["equal"]), (&json!(true), &json!(true)), "{told}");
    told
}

/// The program on another database of the place.
fn at(place: &Place, database: &Path, words: &[&str]) -> Answer {
    let mut command = place.command();
    command.env("HEYAIRA_DATABASE", database).args(words);
    command.output().expect("the program runs").into()
}

/// A server on standard input and output, on another database of the place.
fn server_at(place: &Place, database: &Path) -> Server {
    let mut command = place.command();
    command.env("HEYAIRA_DATABASE", database).args(["mcp", "--project", "ledger"]);
    Server::start(command, &place.write_context)
}

/// The rows of a query on a database that nobody need have open.
fn rows(database: &Path, sql: &'static str) -> Vec<Vec<String>> {
    let connection = rusqlite::Connection::open(database).expect("a database");
    let mut statement = connection.prepare(sql).expect("a statement");
    let width = statement.column_count();
    let shown = |value: rusqlite::types::ValueRef<'_>| match value {
        rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        rusqlite::types::ValueRef::Integer(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    let read = |row: &rusqlite::Row<'_>| {
        (0..width).map(|column| row.get_ref(column).map(shown)).collect::<Result<Vec<_>, _>>()
    };
    statement.query_map([], read).expect("rows").collect::<Result<_, _>>().expect("rows")
}

/// Changes a database behind everybody's back, as a crash between two steps or a broken disk would.
fn tamper(database: &Path, sql: &str) {
    let changed = rusqlite::Connection::open(database).and_then(|connection| connection.execute(sql, []));
    assert_eq!(changed.expect("a statement"), 1, "{sql}");
}

fn state(database: &Path) -> String {
    let found = rows(database, "select state from instance");
    found.first().map_or_else(|| "empty".to_owned(), |row| row[0].clone())
}

/// A store of the library on a database.
fn ask_store(database: &Path, sql: &'static str) -> Vec<(String, String)> {
    let store = Store::open(&Database::File(database.to_owned()), false).expect("a database");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let asked = work(move |transaction| Box::pin(transaction.rows(sql, &[])));
    let rows = runtime.block_on(store.read(Instant::now() + PATIENCE, asked)).expect("rows");
    rows.into_iter().map(|mut row| (row.text(0).expect("text"), row.text(1).expect("text"))).collect()
}

/// Every column of every table is carried, or stands here with the reason why not.
#[test]
fn no_column_is_left_out() {
    use heyaira::store::transfer::{INSTANCE, TABLES};
    let place = Place::new();
    let sql = "select m.name, p.name from sqlite_schema m join pragma_table_info(m.name) p where m.type = 'table'";
    let there: BTreeSet<(String, String)> = ask_store(&place.database(), sql).into_iter().collect();
    let left = |(table, column): &(String, String)| {
        let is_index = table.starts_with("task_words") || table.starts_with("memory_words");
        // Each database has its own migrations; what a move notes is about this one database.
        let of_move = ["state", "move_id", "move_run", "other_end"].contains(&column.as_str());
        is_index || table == "migration" || (table == "instance" && of_move)
    };
    let wanted: BTreeSet<(String, String)> = there.into_iter().filter(|one| !left(one)).collect();
    let tables = std::iter::once(&*INSTANCE).chain(TABLES.iter());
    let carried =
        tables.flat_map(|table| table.columns.iter().map(|column| (table.name.to_owned(), (*column).to_owned())));
    assert_eq!(carried.collect::<BTreeSet<_>>(), wanted);
}

/// A place with so many tasks, written by a server.
fn place_with(tasks: usize) -> Place {
    let place = Place::new();
    let mut server = place.server();
    for number in 0..tasks {
        let made =
            json!({"title": format!("task {number}"), "summary": "made to be moved", "tags": ["moved", "again"]});
        let task = server.call("task_create", with_profile("task_create", made, &place.write_context));
        let task = task.expect("a task")["task_id"].clone();
        let change = json!({"task_id": task, "expected_version": 1, "summary": "changed", "handoff_next": "go on"});
        server.call("task_update", change).expect("changed");
    }
    assert_eq!(server.end(), Some(0));
    place
}
