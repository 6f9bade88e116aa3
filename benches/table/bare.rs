//! The floor: the same statements on a table of the same shape, by the driver alone.

use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use uuid::Uuid;

use crate::database::{Database, Dice};

/// A connection with the settings of the store, and tables without anything around them.
pub(crate) struct Bare {
    connection: Connection,
    ids: Vec<Uuid>,
    dice: Dice,
}

impl Bare {
    /// Opens a second file of the same size beside the database; it holds only what the floor needs.
    pub(crate) fn open(database: &Database) -> Self {
        let path = database.bare();
        let is_new = !path.exists();
        let connection = Connection::open(&path).expect("the bare database opens");
        for (name, value) in [("journal_mode", "wal"), ("synchronous", "full")] {
            connection.pragma_update(None, name, value).expect("a setting");
        }
        let ids = database.ids();
        if is_new {
            fill(&connection, database.size, &ids);
        }
        database.warm(&path);
        Self { connection, ids, dice: Dice(3) }
    }

    /// One row by its key.
    pub(crate) fn select(&mut self) -> Duration {
        let id = self.dice.one_of(&self.ids);
        let start = Instant::now();
        let sql = "select version, title, body from task where task_id = ?1";
        let mut statement = self.connection.prepare_cached(sql).expect("prepared");
        let length = statement
            .query_row([id.as_bytes().as_slice()], |row| {
                Ok(row.get_ref(1)?.as_str()?.len() + row.get_ref(2)?.as_str()?.len())
            })
            .expect("the task is there");
        assert!(length > 0);
        start.elapsed()
    }

    /// A compare-and-set with its history row, on disk when it returns.
    pub(crate) fn write(&mut self) -> Duration {
        let id = self.dice.one_of(&self.ids);
        let id = id.as_bytes().as_slice();
        let version: i64 = self
            .connection
            .query_row("select version from task where task_id = ?1", [id], |row| row.get(0))
            .expect("the task is there");
        let start = Instant::now();
        let transaction =
            self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).expect("begun");
        let sql = "update task set version = version + 1, title = ?3 where task_id = ?1 and version = ?2";
        transaction
            .prepare_cached(sql)
            .and_then(|mut one| one.execute(params![id, version, "changed"]))
            .expect("updated");
        let sql = "insert into task_version (task_id, version, content) values (?1, ?2, ?3)";
        transaction
            .prepare_cached(sql)
            .and_then(|mut one| one.execute(params![id, version + 1, BODY]))
            .expect("inserted");
        transaction.commit().expect("committed");
        start.elapsed()
    }
}

const BODY: &str = "{\"summary\":\"Step 7 is done, the next one is ready to start.\",\"handoff_next\":\"cargo test -p import step7\\nPrevious session: label:bench\"}";

fn fill(connection: &Connection, size: usize, ids: &[Uuid]) {
    let schema =
        "create table task (task_key integer primary key, task_id blob not null unique, version integer not null, \
            title text not null, body text not null);
        create table task_version (task_id blob not null, version integer not null, content text not null, \
            primary key (task_id, version)) without rowid;
        begin;";
    connection.execute_batch(schema).expect("a schema");
    let mut dice = Dice(11);
    for number in 0..size {
        let id = ids.get(number).copied().unwrap_or_else(|| dice.uuid());
        let sql = "insert into task (task_id, version, title, body) values (?1, 1, ?2, ?3)";
        let mut statement = connection.prepare_cached(sql).expect("prepared");
        let body = "x".repeat(400);
        statement.execute(params![id.as_bytes().as_slice(), format!("task {number}"), body]).expect("inserted");
        let sql = "insert into task_version (task_id, version, content) values (?1, 1, ?2)";
        let mut statement = connection.prepare_cached(sql).expect("prepared");
        statement.execute(params![id.as_bytes().as_slice(), body]).expect("inserted");
    }
    connection.execute_batch("commit").expect("committed");
}
