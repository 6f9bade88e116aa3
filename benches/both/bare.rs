//! The floor: the same statements on a table of the same shape, by the driver alone.

use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use uuid::Uuid;

use crate::database::{Database, Dice};

/// A connection with the settings of the store, and tables without anything around them.
pub(crate) struct Bare {
    /// The connection.
    pub(crate) connection: Connection,
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
        if is_new {
            fill(&connection, database.size, &database.ids());
        }
        database.warm(&path);
        Self { connection }
    }

    /// The time of a compare-and-set of each of these tasks with its history row, in one transaction that is on disk
    /// when it returns.
    pub(crate) fn write(&mut self, ids: &[Uuid]) -> Duration {
        let versions: Vec<i64> = ids.iter().map(|id| self.version(*id)).collect();
        let start = Instant::now();
        let transaction =
            self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).expect("begun");
        for (id, version) in ids.iter().zip(versions) {
            change(&transaction, *id, version);
        }
        transaction.commit().expect("committed");
        start.elapsed()
    }

    fn version(&self, id: Uuid) -> i64 {
        let sql = "select version from task where task_id = ?1";
        let mut statement = self.connection.prepare_cached(sql).expect("prepared");
        statement.query_row([id.as_bytes().as_slice()], |row| row.get(0)).expect("the task is there")
    }
}

fn change(connection: &Connection, id: Uuid, version: i64) {
    let id = id.as_bytes().as_slice();
    let sql = "update task set version = version + 1, title = ?3 where task_id = ?1 and version = ?2";
    let changed = connection.prepare_cached(sql).and_then(|mut one| one.execute(params![id, version, "changed"]));
    assert_eq!(changed.expect("updated"), 1, "a task was at another version");
    let sql = "insert into task_version (task_id, version, content) values (?1, ?2, ?3)";
    let added = connection.prepare_cached(sql).and_then(|mut one| one.execute(params![id, version + 1, BODY]));
    added.expect("inserted");
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
    // Else the first write that is measured would move all of it.
    connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).expect("moved into the file");
}
