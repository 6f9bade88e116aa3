//! The tables that a move carries, as data: name, key, columns, in an order in which each finds what it refers to.
//! Must never leave a column out; a test compares this with the schema.

use std::sync::LazyLock;

use crate::store::cell::{Cell, Row};
use crate::store::{memory, task};

/// What is put into the word index with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    None,
    Task,
    Memory,
}

/// A table as a move reads and writes it.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What orders its rows and tells them apart.
    pub key: Vec<&'static str>,
    /// All columns that are carried, those of the key among them.
    pub columns: Vec<&'static str>,
    /// What stands in `from`; another text than the name where the rows themselves may differ between databases.
    from: &'static str,
    pub(super) words: Words,
}

/// The counts of tasks: a database may keep one in several rows, so the sums are carried.
const COUNTS: &str = "(select project_id, status, cast(0 as bigint) as slot, cast(sum(tasks) as bigint) as tasks from task_count \
    group by project_id, status having sum(tasks) <> 0) task_count";

impl Table {
    fn of(name: &'static str, key: &'static str, columns: &'static str) -> Self {
        let from = if name == "task_count" { COUNTS } else { name };
        let words = match name {
            "task" => Words::Task,
            "memory" => Words::Memory,
            _ => Words::None,
        };
        Self { name, key: key.split(", ").collect(), columns: columns.split(", ").collect(), from, words }
    }

    /// The statement that reads rows in the order of the key, the last value being how many; behind a key, whose values
    /// come first, or from the start.
    pub(super) fn page(&self, behind: bool) -> String {
        let key = self.key.join(", ");
        let places: Vec<String> = (1..=self.key.len()).map(|place| format!("?{place}")).collect();
        let (condition, last) = match self.key.as_slice() {
            _ if !behind => (String::new(), 1),
            [one] => (format!("where {one} > ?1 "), 2),
            several => (format!("where ({key}) > ({}) ", places.join(", ")), several.len() + 1),
        };
        format!("select {} from {} {condition}order by {key} limit ?{last}", self.columns.join(", "), self.from)
    }

    /// The statement that reads the greatest key.
    pub(super) fn greatest(&self) -> String {
        let descending: Vec<String> = self.key.iter().map(|column| format!("{column} desc")).collect();
        format!("select {} from {} order by {} limit 1", self.key.join(", "), self.name, descending.join(", "))
    }

    /// The statement that counts the rows.
    pub(super) fn count(&self) -> String {
        format!("select count(*) from {}", self.from)
    }

    /// The column whose values the database makes.
    pub(super) fn made_key(&self) -> Option<&'static str> {
        let made = ["project", "token", "task", "verification", "run_report", "memory", "message", "backup"];
        self.key.first().copied().filter(|_| made.contains(&self.name))
    }

    /// The key of one of its rows.
    pub(super) fn key_of(&self, row: &Row) -> Vec<Cell> {
        self.key.iter().map(|column| self.cell(row, column)).collect()
    }

    /// The value of a column.
    pub(super) fn cell(&self, row: &Row, column: &str) -> Cell {
        let place = self.columns.iter().position(|one| *one == column);
        place.and_then(|place| row.0.get(place).cloned()).unwrap_or(Cell::Null)
    }
}

/// The row that says which instance it is: carried first, by itself.
pub static INSTANCE: LazyLock<Table> =
    LazyLock::new(|| Table::of("instance", "only_row", "only_row, instance_id, resource, pin_key, created_at"));

/// All other tables.
pub static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let mut tables = vec![
        Table::of(
            "project",
            "project_id",
            "project_id, slug, name, language, generation, stale_hours, archived_at, created_at, rules",
        ),
        Table::of(
            "token",
            "token_key",
            "token_key, name, hash, project_id, role, created_by, created_at, expires_at, revoked_at",
        ),
        Table::of("task", "task_key", task::COLUMNS),
        Table::of("task_count", "project_id, status", "project_id, status, slot, tasks"),
        Table::of("task_tag", "project_id, tag, task_id", "project_id, tag, task_id"),
        Table::of("task_dependency", "task_id, depends_on", "task_id, depends_on"),
        Table::of(
            "task_version",
            "task_id, version",
            "task_id, version, project_id, at, caller, connection, session_ref, harness, act, changed, content",
        ),
        Table::of("task_grade", "task_id", "task_id, version, grade"),
        Table::of("receipt", "task_id, version", "task_id, version, session_ref, fields, observed, carried, at"),
        Table::of(
            "verification",
            "verification_key",
            "verification_key, task_id, receipt_version, at, caller, connection, session_ref, verdict, differences, facts",
        ),
        Table::of(
            "run_report",
            "run_key",
            "run_key, run_id, project_id, task_id, outcome, session_ref, native, harness, branch, started_at, ended_at, \
             summary, received_at, received_by, fingerprint, recorded_version, recorded_at, recorded_by, report, problems, \
             dismissed_at, dismissed_by",
        ),
        Table::of(
            "task_session",
            "project_id, session_ref, task_id",
            "project_id, session_ref, task_id, first_version, last_version, handed_off_version",
        ),
        Table::of("memory", "memory_key", memory::COLUMNS),
        Table::of(
            "message",
            "message_key",
            "message_key, message_id, project_id, task_id, to_session, from_session, caller, connection, at, \
             expires_at, acknowledged_at, acknowledged_by, text",
        ),
        Table::of(
            "idempotency",
            "project_id, caller, operation, idempotency_key",
            "project_id, caller, operation, idempotency_key, fingerprint, answer, expires_at",
        ),
        Table::of("backup", "backup_key", "backup_key, file, made_at, made_by"),
    ];
    // What makes a task or a memory comes first, in its own order, so that it can be read out of the row.
    for table in &mut tables {
        let more: &[&str] = match table.words {
            Words::Task => &["task_key", "project_id", "is_open"],
            Words::Memory => &["project_id", "task_version", "connection", "fingerprint"],
            Words::None => &[],
        };
        for column in &mut table.columns {
            *column = column.trim_start_matches("m.");
        }
        table.columns.extend(more);
    }
    tables
});
