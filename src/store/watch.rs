//! What is compared to tell that a task changed.

use std::collections::HashMap;

use uuid::Uuid;

use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::store::backend::Transaction;
use crate::store::cell::{Cell, Row};

/// How many tasks one statement asks for.
const TASKS_A_STATEMENT: usize = 500;

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
