//! Late messages. They wait until acknowledged or expired, and are no part of any task's history.

use uuid::Uuid;

use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::store::backend::{Question, Statement, Transaction};
use crate::store::cell::Row;

/// A message.
#[derive(Clone, Debug)]
pub struct Message {
    /// `msg-` and 8 hex characters.
    pub message_id: String,
    /// The task it is about.
    pub task_id: Uuid,
    /// The session it was sent to, where one was named.
    pub to_session: Option<String>,
    /// The session that the sender claims to be.
    pub from_session: Option<String>,
    /// The sender's credential.
    pub caller: String,
    /// When it was sent.
    pub at: Timestamp,
    /// When it is gone.
    pub expires: Timestamp,
    /// The words.
    pub text: String,
}

const COLUMNS: &str = "m.message_id, m.task_id, m.to_session, m.from_session, m.caller, m.at, m.expires_at, m.text";

fn message(mut row: Row) -> Result<Message> {
    Ok(Message {
        message_id: row.text(0)?,
        task_id: row.uuid(1)?,
        to_session: row.maybe_text(2)?,
        from_session: row.maybe_text(3)?,
        caller: row.text(4)?,
        at: Timestamp(row.integer(5)?),
        expires: Timestamp(row.integer(6)?),
        text: row.text(7)?,
    })
}

/// Adds a message, and forgets those that expired.
pub fn insert(transaction: &mut Transaction, project_id: i64, connection: &str, new: &Message) -> Result<()> {
    let sql = "delete from message where project_id = ?1 and expires_at <= ?2";
    transaction.execute_later(Statement::new(sql, [project_id.into(), new.at.0.into()]))?;
    let sql = "insert into message \
        (message_id, project_id, task_id, to_session, from_session, caller, connection, at, expires_at, text) \
        values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let values = [
        new.message_id.as_str().into(),
        project_id.into(),
        new.task_id.into(),
        new.to_session.as_deref().into(),
        new.from_session.as_deref().into(),
        new.caller.as_str().into(),
        connection.into(),
        new.at.0.into(),
        new.expires.0.into(),
        new.text.as_str().into(),
    ];
    transaction.execute_later(Statement::new(sql, values))
}

/// True if no message has this id.
pub async fn is_free(transaction: &mut Transaction, message_id: String) -> Result<bool> {
    Ok(transaction.row("select 1 from message where message_id = ?1", &[message_id.into()]).await?.is_none())
}

/// The messages that wait on a task, oldest first.
pub fn waiting(project_id: i64, task_id: Uuid, now: Timestamp, limit: i64) -> Question<Vec<Message>> {
    let sql = format!(
        "select {COLUMNS} from message m where m.project_id = ?1 and m.task_id = ?2 \
         and m.acknowledged_at is null and m.expires_at > ?3 order by m.message_key limit ?4"
    );
    Question::new(Statement::new(sql, [project_id.into(), task_id.into(), now.0.into(), limit.into()]), |rows| {
        rows.into_iter().map(message).collect()
    })
}

/// The messages that wait on the tasks of an owner, or on any task of the project without one, oldest first.
pub async fn waiting_for(
    transaction: &mut Transaction,
    project_id: i64,
    owner: Option<&str>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Message>> {
    let of_owner = if owner.is_some() { "and t.owner = ?4" } else { "and cast(?4 as text) is null" };
    let sql = format!(
        "select {COLUMNS} from message m join task t on t.task_id = m.task_id \
         where m.project_id = ?1 and m.acknowledged_at is null and m.expires_at > ?2 {of_owner} \
         order by m.message_key limit ?3"
    );
    let rows = transaction.rows(&sql, &[project_id.into(), now.0.into(), limit.into(), owner.into()]).await?;
    rows.into_iter().map(message).collect()
}

/// How many messages wait in a project.
pub fn count_waiting(project_id: i64, now: Timestamp) -> Question<i64> {
    let sql = "select count(*) from message where project_id = ?1 and acknowledged_at is null and expires_at > ?2";
    Question::new(Statement::new(sql, [project_id.into(), now.0.into()]), |rows| {
        rows.first().map_or(Ok(0), |row| row.integer(0))
    })
}

/// Marks a message as read; false if there is none of that id in the project.
pub async fn acknowledge(
    transaction: &mut Transaction,
    project_id: i64,
    message_id: &str,
    by: &str,
    now: Timestamp,
) -> Result<bool> {
    let sql = "update message set acknowledged_at = coalesce(acknowledged_at, ?3), \
        acknowledged_by = coalesce(acknowledged_by, ?4) where project_id = ?1 and message_id = ?2";
    Ok(transaction.execute(sql, &[project_id.into(), message_id.into(), now.0.into(), by.into()]).await? == 1)
}
