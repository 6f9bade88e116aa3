//! `heyaira move`: everything arrives, nothing that was acknowledged is lost, and at no moment is the instance in use in
//! two databases or in one that is not proved.

mod arrives;
mod interrupted;
mod refused;
mod served;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use heyaira::error::Result;
use heyaira::store::backend::{Database, Store, work};
use heyaira::store::cell::Row;
use serde_json::{Value, json};

use crate::database::TestDatabase;
use crate::program::{Answer, Place, Server};

/// How long something may take before a test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// A place, and the database that it is to be moved to.
struct Scene {
    place: Place,
    target: TestDatabase,
}

impl Scene {
    /// Both on a server, where the tests run on one.
    fn new() -> Self {
        let place = Place::new();
        let target = TestDatabase::empty(place.folder.path().join("moved.db"));
        Self { place, target }
    }

    /// Both in files, for tests that are about them.
    fn in_files() -> Self {
        let place = Place::on(TestDatabase::of_file);
        let target = TestDatabase::of_file(place.folder.path().join("moved.db"));
        Self { place, target }
    }

    /// With so many tasks.
    fn with(self, tasks: usize) -> Self {
        let mut server = self.place.server();
        for number in 0..tasks {
            let made = json!({"title": format!("task {number}"), "summary": "to be moved", "tags": ["moved", "again"]});
            let task = server.call("task_create", made).expect("a task")["task_id"].clone();
            let change = json!({"task_id": task, "expected_version": 1, "summary": "changed", "handoff_next": "go on"});
            server.call("task_update", change).expect("changed");
        }
        assert_eq!(server.end(), Some(0));
        self
    }

    fn source(&self) -> &TestDatabase {
        &self.place.database
    }

    /// `heyaira move` from the place's database.
    fn run(&self, words: &[&str]) -> Answer {
        let mut command = self.place.command();
        command.args(["move", "--json", "--from", self.source().address()]).args(words);
        command.output().expect("the program runs").into()
    }

    fn run_to_target(&self) -> Answer {
        self.run(&["--to", self.target.address()])
    }

    /// Moves, which must succeed; answers what was told.
    fn must_move(&self) -> Value {
        let answer = self.run_to_target();
        assert_eq!(answer.code, 0, "{answer:?}");
        let told = answer.json();
        assert_eq!((&told["moved"], &told["equal"]), (&json!(true), &json!(true)), "{told}");
        told
    }

    /// The program on another database.
    fn at(&self, database: &TestDatabase, words: &[&str]) -> Answer {
        let mut command = self.place.command();
        command.env("HEYAIRA_DATABASE", database.address()).args(words);
        command.output().expect("the program runs").into()
    }

    /// A server on standard input and output, on another database.
    fn server_at(&self, database: &TestDatabase) -> Server {
        let mut command = self.place.command();
        command.env("HEYAIRA_DATABASE", database.address()).args(["mcp", "--project", "ledger"]);
        Server::start(command, &self.place.write_context)
    }

    /// Everything in the target is as it should be.
    fn target_is_sound(&self) {
        let verified = self.at(&self.target, &["verify"]);
        assert_eq!(verified.code, 0, "{verified:?}");
    }
}

/// How a database is shown.
fn shown(database: &TestDatabase) -> String {
    Database::of(database.address()).expect("an address").to_string()
}

/// What a query answers, past the program.
fn rows<T: Send + 'static>(database: &TestDatabase, sql: &'static str, read: fn(Row) -> Result<T>) -> Vec<T> {
    let store = Store::open(&Database::of(database.address()).expect("an address"), false).expect("a database");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let asked = work(move |transaction| Box::pin(transaction.rows(sql, &[])));
    let rows = runtime.block_on(store.read(Instant::now() + PATIENCE, asked)).expect("rows");
    rows.into_iter().map(|row| read(row).expect("a row")).collect()
}

fn number(database: &TestDatabase, sql: &'static str) -> i64 {
    rows(database, sql, |row| row.integer(0)).remove(0)
}

/// What the instance's row says; `empty` without one.
fn state(database: &TestDatabase) -> String {
    let is_there = Store::is_at(&Database::of(database.address()).expect("an address"));
    if !is_there.expect("nothing else is there") {
        return "empty".to_owned();
    }
    let found = rows(database, "select state from instance", |mut row| row.text(0));
    found.into_iter().next().unwrap_or_else(|| "empty".to_owned())
}

/// Every column of every table is carried, or stands here with the reason why not.
#[test]
fn no_column_is_left_out() {
    use heyaira::store::transfer::{INSTANCE, TABLES};
    let place = Place::on(TestDatabase::of_file);
    let sql = "select m.name, p.name from sqlite_schema m join pragma_table_info(m.name) p where m.type = 'table'";
    let there = rows(&place.database, sql, |mut row| Ok((row.text(0)?, row.text(1)?)));
    let left = |(table, column): &(String, String)| {
        let is_index = table.starts_with("task_words") || table.starts_with("memory_words");
        // Each database has its own migrations; what a move notes is about this one database.
        let of_move = ["state", "move_id", "move_run", "other_end"].contains(&column.as_str());
        is_index || table == "migration" || (table == "instance" && of_move)
    };
    let wanted: BTreeSet<(String, String)> = there.into_iter().filter(|one| !left(one)).collect();
    let tables = std::iter::once(&*INSTANCE).chain(TABLES.iter());
    let named =
        tables.flat_map(|table| table.columns.iter().map(|column| (table.name.to_owned(), (*column).to_owned())));
    assert_eq!(named.collect::<BTreeSet<_>>(), wanted);
}
