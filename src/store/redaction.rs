//! Taking one passage out of everything that is stored: the present texts, the history, receipts, memories, messages,
//! answers kept for retries, names, and the word index. Must never leave a text column out (a test compares the places
//! with the schema), and never change what a version is called, when it was written or in which order.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::domain::redaction::{Passage, TAGS, leave_each_once};
use crate::domain::task::{Actor, Content, Marks, Task};
use crate::domain::time::Timestamp;
use crate::error::{Refusal, Result};
use crate::store::backend::Transaction;
use crate::store::cell::{Cell, Row};
use crate::store::task::{from_json, to_json};
use crate::store::version::{Author, Version};
use crate::store::{memory, search, task};

/// What has all writers of texts wait. Beside them a redaction would be undone and begun again without an end; what a
/// write changes first comes first, so that seldom two wait for each other.
pub const LOCK: &str = "lock table task, task_version, receipt, task_session, memory, message, idempotency, verification, \
    run_report, project, token in share row exclusive mode";

/// What a version is called that says so.
const ACT: &str = "redact";

/// Where texts are kept in one table.
#[derive(Debug)]
pub struct Place {
    /// The table.
    pub table: &'static str,
    /// What tells its rows apart.
    pub key: &'static [&'static str],
    /// Columns that hold a text.
    pub texts: &'static [&'static str],
    /// Columns that hold JSON with texts in it.
    pub json: &'static [&'static str],
}

/// Every place but the tasks themselves, which change by a new version.
pub const PLACES: [Place; 9] = [
    Place { table: "project", key: &["project_id"], texts: &["name"], json: &[] },
    Place { table: "token", key: &["token_key"], texts: &["name", "created_by"], json: &[] },
    Place {
        table: "task_version",
        key: &["task_id", "version"],
        texts: &["caller", "connection", "session_ref", "harness"],
        json: &["content"],
    },
    Place { table: "receipt", key: &["task_id", "version"], texts: &["session_ref"], json: &["fields"] },
    Place {
        table: "verification",
        key: &["task_id", "verification_key"],
        texts: &["caller", "connection", "session_ref"],
        json: &["differences", "facts"],
    },
    Place {
        table: "run_report",
        key: &["run_key"],
        texts: &["session_ref", "native", "harness", "branch", "summary", "received_by", "recorded_by", "dismissed_by"],
        json: &["report"],
    },
    Place {
        table: "memory",
        key: &["memory_key"],
        texts: &["summary", "body", "caller", "connection", "session_ref"],
        json: &["tags"],
    },
    Place {
        table: "message",
        key: &["message_key"],
        texts: &["to_session", "from_session", "caller", "connection", "acknowledged_by", "text"],
        json: &[],
    },
    Place { table: "backup", key: &["backup_key"], texts: &["made_by"], json: &[] },
];

/// The texts of a task's own row.
pub const TASK: Place = Place {
    table: "task",
    key: &["task_id", "project_id"],
    texts: &[
        "owner",
        "takeover_by",
        "next_by",
        "pending_by",
        "written_by",
        "title",
        "summary",
        "handoff_next",
        "handoff_blockers",
        "description",
        "completion_criteria",
        "required_reviews",
        "handoff_completed",
    ],
    json: &["tags"],
};

/// Tables whose rows are told apart by a text: two may become one.
pub const KEYED_BY_TEXT: [Place; 2] = [
    Place {
        table: "task_session",
        key: &["project_id", "task_id", "first_version", "last_version", "handed_off_version"],
        texts: &["session_ref"],
        json: &[],
    },
    Place {
        table: "idempotency",
        key: &["project_id", "operation", "fingerprint", "expires_at"],
        texts: &["caller", "idempotency_key"],
        json: &["answer"],
    },
];

/// What was found, and is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The tasks that got a version which says so, with that version.
    pub tasks: Vec<(Uuid, i64)>,
    /// In how many rows of each table it stood.
    pub rows: Vec<(&'static str, usize)>,
}

impl Report {
    /// In how many rows it stood, by table; those where it did not are left out.
    pub fn by_table(&self) -> Map<String, Value> {
        let rows = self.rows.iter().filter(|(_, rows)| *rows > 0);
        rows.map(|(table, rows)| ((*table).to_owned(), json!(rows))).collect()
    }

    /// True if the passage stood nowhere.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|(_, rows)| *rows == 0)
    }
}

/// The versions that say that a passage was taken out of their task.
pub async fn versions(transaction: &mut Transaction) -> Result<Vec<(Uuid, i64)>> {
    let sql = "select task_id, version from task_version where act = ?1 order by task_id, version";
    let rows = transaction.rows(sql, &[ACT.into()]).await?;
    rows.into_iter().map(|row| Ok((row.uuid(0)?, row.integer(1)?))).collect()
}

/// In how many rows of each table a passage stands; changes nothing.
pub async fn find(transaction: &mut Transaction, passage: &Passage) -> Result<Report> {
    let mut report = Report::default();
    for place in PLACES.iter().chain(&KEYED_BY_TEXT).chain([&TASK]) {
        let found = place.found(transaction, passage).await?;
        report.rows.push((place.table, found.len()));
    }
    Ok(report)
}

/// Takes a passage out everywhere. Each task in which it stood, be it only in its history, gets a version that says so.
pub async fn redact(
    transaction: &mut Transaction,
    passage: &Passage,
    actor: &Actor,
    connection: &str,
    now: Timestamp,
) -> Result<Report> {
    // Words that others of the group still have to put into the index would else come back after this.
    transaction.catch_up().await?;
    let mut report = Report::default();
    let mut touched = BTreeSet::new();
    for place in &PLACES {
        let found = place.found(transaction, passage).await?;
        report.rows.push((place.table, found.len()));
        for found in found {
            if place.key[0] == "task_id" {
                touched.insert(found.row.uuid(0)?);
            }
            place.rewrite(transaction, found).await?;
        }
    }
    for place in &KEYED_BY_TEXT {
        let found = place.found(transaction, passage).await?;
        report.rows.push((place.table, found.len()));
        for found in found {
            place.replace(transaction, found).await?;
        }
    }
    let found = TASK.found(transaction, passage).await?;
    report.rows.push((TASK.table, found.len()));
    for found in found {
        touched.insert(found.row.uuid(0)?);
    }
    for task_id in touched {
        report.tasks.push((task_id, say_so(transaction, passage, task_id, actor, connection, now).await?));
    }
    search::forget_removed(transaction);
    // Also where nothing was found: an earlier run may not have come that far.
    transaction.compact_after_commit();
    Ok(report)
}

/// A row that holds the passage: its key, its texts, its JSON.
struct Found {
    row: Row,
    /// Its texts and its JSON without the passage.
    without: Vec<Cell>,
}

impl Place {
    /// The columns in which a passage may stand.
    fn columns(&self) -> Vec<&'static str> {
        self.texts.iter().chain(self.json).copied().collect()
    }

    /// The rows that hold it, with what they are without it.
    async fn found(&self, transaction: &mut Transaction, passage: &Passage) -> Result<Vec<Found>> {
        let holds = |column: &&str, place: usize| format!("replace({column}, ?{place}, '') <> {column}");
        let texts = self.texts.iter().map(|column| holds(column, 1));
        let json = self.json.iter().map(|column| holds(column, 2));
        let conditions: Vec<String> = texts.chain(json).collect();
        let columns: Vec<&str> = self.key.iter().copied().chain(self.columns()).collect();
        let sql = format!(
            // Both places stand in it, whichever the table has.
            "select {} from {} where ?1 <> '' and ?2 <> '' and ({})",
            columns.join(", "),
            self.table,
            conditions.join(" or ")
        );
        let rows = transaction.rows(&sql, &[passage.as_text().into(), passage.as_json().into()]).await?;
        let first = self.key.len();
        let found = rows.into_iter().map(|row| Ok(Found { without: self.without(passage, &row)?, row }));
        // In JSON it may seem to begin within an escaped character.
        let is_found =
            |found: &Result<Found>| found.as_ref().map_or(true, |found| found.row.0[first..] != found.without);
        found.filter(is_found).collect()
    }

    /// The values of a row without the passage, in the order of [`Self::columns`].
    fn without(&self, passage: &Passage, row: &Row) -> Result<Vec<Cell>> {
        let first = self.key.len();
        let mut values = Vec::with_capacity(self.texts.len() + self.json.len());
        for (column, _) in self.texts.iter().enumerate() {
            values.push(match row.0.get(first + column) {
                Some(Cell::Text(text)) => passage.taken_out_of(text).into(),
                other => other.cloned().unwrap_or(Cell::Null),
            });
        }
        for (column, name) in self.json.iter().enumerate() {
            let mut value: Value = from_json(row.str(first + self.texts.len() + column)?)?;
            passage.take_out_of_json(&mut value);
            if *name == TAGS {
                leave_each_once(&mut value);
            }
            values.push(to_json(&value)?.into());
        }
        Ok(values)
    }

    async fn rewrite(&self, transaction: &mut Transaction, Found { row, without }: Found) -> Result<()> {
        let columns = self.columns();
        let keys = self.key.len();
        let mut set: Vec<String> =
            columns.iter().enumerate().map(|(place, column)| format!("{column} = ?{}", keys + place + 1)).collect();
        if ["memory", "run_report"].contains(&self.table) {
            // It no longer says what its digest is of.
            set.push("fingerprint = null".to_owned());
        }
        let key: Vec<String> =
            self.key.iter().enumerate().map(|(place, column)| format!("{column} = ?{}", place + 1)).collect();
        let sql = format!("update {} set {} where {}", self.table, set.join(", "), key.join(" and "));
        let mut values: Vec<Cell> = row.0[..keys].to_vec();
        values.extend(without);
        transaction.execute(&sql, &values).await?;
        if self.table == "memory" {
            index_memory(transaction, row.integer(0)?).await?;
        }
        Ok(())
    }

    /// Puts the row without the passage in the place of the one with it; where there is one like that, it stays.
    async fn replace(&self, transaction: &mut Transaction, Found { row, without }: Found) -> Result<()> {
        let columns: Vec<&str> = self.key.iter().copied().chain(self.columns()).collect();
        let same: Vec<String> =
            columns.iter().enumerate().map(|(place, column)| format!("{column} = ?{}", place + 1)).collect();
        let sql = format!("delete from {} where {}", self.table, same.join(" and "));
        transaction.execute(&sql, &row.0).await?;
        let places: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
        let sql = format!(
            "insert into {} ({}) values ({}) on conflict do nothing",
            self.table,
            columns.join(", "),
            places.join(", ")
        );
        let mut values: Vec<Cell> = row.0[..self.key.len()].to_vec();
        values.extend(without);
        transaction.execute(&sql, &values).await.map(drop)
    }
}

async fn index_memory(transaction: &mut Transaction, memory_key: i64) -> Result<()> {
    let sql = format!("select {}, m.project_id from memory m where m.memory_key = ?1", memory::COLUMNS);
    let row = transaction.row(&sql, &[memory_key.into()]).await?;
    let row = row.ok_or_else(|| Refusal::internal(&"a memory is gone that was just changed"))?;
    let project_id = row.integer(row.0.len() - 1)?;
    search::index_memory(transaction, project_id, memory_key, &memory::memory(row)?);
    Ok(())
}

/// Writes the version that says so, without the passage; answers its number.
async fn say_so(
    transaction: &mut Transaction,
    passage: &Passage,
    task_id: Uuid,
    actor: &Actor,
    connection: &str,
    now: Timestamp,
) -> Result<i64> {
    let sql = "select project_id from task where task_id = ?1";
    let row = transaction.row(sql, &[task_id.into()]).await?;
    let project_id = row.ok_or_else(|| Refusal::internal(&"a version belongs to no task"))?.integer(0)?;
    let before = task::get(transaction, project_id, task_id).await?;
    let before = before.ok_or_else(|| Refusal::internal(&"a task is listed but cannot be read"))?;
    let content = content_without(passage, &before.content)?;
    let changed = content.changes_since(&before.content);
    let version = before.version + 1;
    let marks = Marks { written_by: actor.who().to_owned(), ..marks_without(passage, before.marks.clone()) };
    let after = Task { version, content, marks, updated: now, ..before.clone() };
    let row = Version {
        version,
        at: now,
        author: Author {
            caller: actor.caller.clone(),
            connection: connection.to_owned(),
            session_ref: actor.session_ref.clone(),
            harness: None,
        },
        act: ACT.to_owned(),
        changed: changed.keys().cloned().collect(),
        content: changed,
    };
    if task::save(transaction, project_id, &before, &after, &row).await? {
        return Ok(version);
    }
    Err(Refusal::internal(&"a task changed within this transaction"))
}

fn content_without(passage: &Passage, content: &Content) -> Result<Content> {
    let mut fields = Value::Object(content.fields());
    passage.take_out_of_json(&mut fields);
    serde_json::from_value(fields).map_err(|error| Refusal::internal(&error))
}

fn marks_without(passage: &Passage, marks: Marks) -> Marks {
    let taken = |text: Option<String>| text.map(|text| passage.taken_out_of(&text));
    Marks {
        takeover_by: taken(marks.takeover_by),
        next_by: taken(marks.next_by),
        pending_by: taken(marks.pending_by),
        ..marks
    }
}
