//! How a change of the database is noticed, whichever process made it, and the states of tasks to compare afterwards.
//! Must never say what changed, only that something may have, and never look while nobody waits.
//!
//! `SQLite` tells nobody of a commit, so a connection of its own asks for its data version now and then, which costs a
//! look into shared memory; the writer of this process wakes it at once. A database with notifications of its own would
//! wait for those instead: nothing outside of this file knows the difference.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch::Receiver;
use uuid::Uuid;

use crate::domain::time::Timestamp;
use crate::error::{Code, Refusal, Result};
use crate::store::backend::{Store, Transaction, poll_once};
use crate::store::cell::{Cell, Row};
use crate::store::file::Opened;
use crate::store::queue::lock;

/// How soon a commit of another process is noticed.
const TICK: Duration = Duration::from_millis(250);
/// How many tasks one statement asks for.
const TASKS_A_STATEMENT: usize = 500;

/// The changes of a database since this was made. While it lives, somebody watches; dropping it ends that at once.
pub struct Changes {
    /// A connection of its own: the data version tells only what other connections committed.
    connection: Arc<Mutex<Transaction>>,
    opened: Opened,
    seen: i64,
    /// Counted up by this process's writer at each commit.
    commits: Receiver<u64>,
}

impl Store {
    /// Begins to watch. It blocks while it opens a connection.
    pub fn changes(&self) -> Result<Changes> {
        let (mut connection, opened, commits) = self.watching()?;
        let seen = data_version(&mut connection)?;
        Ok(Changes { connection: Arc::new(Mutex::new(connection)), opened, seen, commits })
    }
}

impl Changes {
    /// Waits until something may have changed since the last time. Cancel-safe: no change is lost with a dropped wait.
    ///
    /// An error once the file was deleted or replaced or cannot be read, or the store is gone: then this is of no
    /// further use.
    pub async fn changed(&mut self) -> Result<()> {
        loop {
            let own = tokio::select! {
                committed = self.commits.changed() => committed.map(|()| true).map_err(|_| gone())?,
                () = tokio::time::sleep(TICK) => false,
            };
            let version = self.version().await?;
            // Taken as seen only here, after the last wait.
            if own || version != self.seen {
                self.seen = version;
                return Ok(());
            }
        }
    }

    /// The data version, asked on a thread that may block.
    async fn version(&self) -> Result<i64> {
        let (connection, opened) = (Arc::clone(&self.connection), self.opened.clone());
        let ask = move || opened.check().and_then(|()| data_version(&mut lock(&connection)));
        tokio::task::spawn_blocking(ask).await.map_err(|_| gone())?
    }
}

fn gone() -> Refusal {
    Refusal::new(Code::Unavailable, "the database was closed while it was watched", "Open it again.")
}

/// A number that other connections' commits change.
fn data_version(connection: &mut Transaction) -> Result<i64> {
    let row = poll_once(|connection| Box::pin(connection.row("pragma data_version", &[])), connection)?;
    row.ok_or_else(|| Refusal::internal(&"there is no data version"))?.integer(0)
}

/// Everything that can change in what is shown of a task: when two are equal, nothing did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskState {
    version: i64,
    /// How many messages wait, and which was the last to come.
    waiting: i64,
    newest: i64,
}

/// The states of tasks; one that is no longer there has none.
pub async fn states(transaction: &mut Transaction, tasks: &[Uuid], now: Timestamp) -> Result<HashMap<Uuid, TaskState>> {
    let mut states = HashMap::with_capacity(tasks.len());
    for tasks in tasks.chunks(TASKS_A_STATEMENT) {
        let places: Vec<String> = (2..tasks.len() + 2).map(|place| format!("?{place}")).collect();
        let sql = format!(
            "select t.task_id, t.version, count(m.message_key), coalesce(max(m.message_key), 0) from task t \
             left join message m on m.project_id = t.project_id and m.task_id = t.task_id \
             and m.acknowledged_at is null and m.expires_at > ?1 \
             where t.task_id in ({}) group by t.task_id, t.version",
            places.join(", ")
        );
        let values: Vec<Cell> = std::iter::once(now.0.into()).chain(tasks.iter().map(|task| (*task).into())).collect();
        for row in transaction.rows(&sql, &values).await? {
            states.insert(row.uuid(0)?, state(&row)?);
        }
    }
    Ok(states)
}

fn state(row: &Row) -> Result<TaskState> {
    Ok(TaskState { version: row.integer(1)?, waiting: row.integer(2)?, newest: row.integer(3)? })
}
