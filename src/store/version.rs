//! The history: one row for each version, holding the fields it changed. Rows are added, never changed.

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::domain::receipt::KeptReceipt;
use crate::domain::task::Content;
use crate::domain::time::Timestamp;
use crate::error::{Refusal, Result};
use crate::store::backend::{Question, Statement, Transaction};
use crate::store::cell::Row;
use crate::store::task::{from_json, to_json};
use crate::store::verification;

/// Who wrote a version, when, by what act.
#[derive(Clone, Debug)]
pub struct Author {
    /// The credential's name.
    pub caller: String,
    /// The connection.
    pub connection: String,
    /// The session, where known.
    pub session_ref: Option<String>,
    /// The client program, where known.
    pub harness: Option<String>,
}

/// One version as history keeps it.
#[derive(Clone, Debug)]
pub struct Version {
    /// Its number.
    pub version: i64,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub author: Author,
    /// `create`, `update`, `takeover` or `revert`.
    pub act: String,
    /// The names of the changed fields; `receipts` if a receipt came with it.
    pub changed: Vec<String>,
    /// The changed fields with their new values.
    pub content: Map<String, Value>,
}

impl Version {
    /// The session, else the caller.
    pub fn who(&self) -> &str {
        self.author.session_ref.as_deref().unwrap_or(&self.author.caller)
    }
}

const COLUMNS: &str = "version, at, caller, connection, session_ref, harness, act, changed, content";

fn version(mut row: Row) -> Result<Version> {
    Ok(Version {
        version: row.integer(0)?,
        at: Timestamp(row.integer(1)?),
        author: Author {
            caller: row.text(2)?,
            connection: row.text(3)?,
            session_ref: row.maybe_text(4)?,
            harness: row.maybe_text(5)?,
        },
        act: row.text(6)?,
        changed: from_json(row.str(7)?)?,
        content: from_json(row.str(8)?)?,
    })
}

/// Adds the row of a first version.
pub fn insert(transaction: &mut Transaction, project_id: i64, task_id: Uuid, new: &Version) -> Result<()> {
    transaction.execute_later(addition(project_id, task_id, new)?)
}

/// What adds the row of a version.
pub(super) fn addition(project_id: i64, task_id: Uuid, new: &Version) -> Result<Statement> {
    let sql = "insert into task_version \
        (task_id, version, project_id, at, caller, connection, session_ref, harness, act, changed, content) \
        select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11";
    let values = [
        task_id.into(),
        new.version.into(),
        project_id.into(),
        new.at.0.into(),
        new.author.caller.as_str().into(),
        new.author.connection.as_str().into(),
        new.author.session_ref.as_deref().into(),
        new.author.harness.as_deref().into(),
        new.act.as_str().into(),
        to_json(&new.changed)?.into(),
        to_json(&new.content)?.into(),
    ];
    Ok(Statement::new(sql, values))
}

/// The versions after `since`, oldest first, at most `limit`.
pub async fn after(transaction: &mut Transaction, task_id: Uuid, since: i64, limit: i64) -> Result<Vec<Version>> {
    let sql =
        format!("select {COLUMNS} from task_version where task_id = ?1 and version > ?2 order by version limit ?3");
    let rows = transaction.rows(&sql, &[task_id.into(), since.into(), limit.into()]).await?;
    rows.into_iter().map(version).collect()
}

/// The newest versions after `since` and before `before`, newest first, at most `limit`; the new values are left out.
pub async fn newest(
    transaction: &mut Transaction,
    task_id: Uuid,
    since: i64,
    before: i64,
    limit: i64,
) -> Result<Vec<Version>> {
    let sql = "select version, at, caller, connection, session_ref, harness, act, changed, '{}' from task_version \
        where task_id = ?1 and version > ?2 and version < ?3 order by version desc limit ?4";
    let rows = transaction.rows(sql, &[task_id.into(), since.into(), before.into(), limit.into()]).await?;
    rows.into_iter().map(version).collect()
}

/// What the task said at a version, and that version's row; `None` if there is no such version.
pub async fn content_at(transaction: &mut Transaction, task_id: Uuid, at: i64) -> Result<Option<(Content, Version)>> {
    let sql = format!("select {COLUMNS} from task_version where task_id = ?1 and version <= ?2 order by version");
    let rows = transaction.rows(&sql, &[task_id.into(), at.into()]).await?;
    let mut fields = Map::new();
    let mut last = None;
    for row in rows {
        let one = version(row)?;
        fields.extend(one.content.clone());
        last = Some(one);
    }
    let Some(last) = last.filter(|last| last.version == at) else {
        return Ok(None);
    };
    let content = serde_json::from_value(Value::Object(fields)).map_err(|error| Refusal::internal(&error))?;
    Ok(Some((content, last)))
}

/// The value of each of `fields` as it was at a version.
pub async fn fields_at(transaction: &mut Transaction, task_id: Uuid, at: i64) -> Result<Map<String, Value>> {
    Ok(content_at(transaction, task_id, at).await?.map(|(content, _)| content.fields()).unwrap_or_default())
}

/// Adds a receipt.
pub fn insert_receipt(transaction: &mut Transaction, task_id: Uuid, kept: &KeptReceipt, at: Timestamp) -> Result<()> {
    let sql = "insert into receipt (task_id, version, session_ref, fields, observed, carried, at) \
        values (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let values = [
        task_id.into(),
        kept.version.into(),
        kept.receipt.session_ref.as_deref().unwrap_or_default().into(),
        to_json(&kept.receipt)?.into(),
        to_json(&kept.observed)?.into(),
        to_json(&kept.carried)?.into(),
        at.0.into(),
    ];
    transaction.execute_later(Statement::new(sql, values))
}

/// The last receipt up to a version.
pub fn last_receipt(task_id: Uuid, up_to: i64) -> Question<Option<KeptReceipt>> {
    receipts(task_id, up_to).then(|found| found.map(|(last, _)| last))
}

/// The last receipt up to a version, and how many there are.
pub fn receipts(task_id: Uuid, up_to: i64) -> Question<Option<(KeptReceipt, i64)>> {
    receipt_where("version <= ?2", task_id, up_to)
}

/// The receipt that came with a version.
pub fn receipt_at(task_id: Uuid, version: i64) -> Question<Option<KeptReceipt>> {
    receipt_where("version = ?2", task_id, version).then(|found| found.map(|(kept, _)| kept))
}

/// The last receipt with such a version, with its last verification that told something; and how many there are.
fn receipt_where(condition: &str, task_id: Uuid, version: i64) -> Question<Option<(KeptReceipt, i64)>> {
    let (columns, last) = (verification::COLUMNS, verification::LAST);
    let sql = format!(
        "select r.version, r.fields, r.observed, r.carried, \
         (select count(*) from receipt where task_id = ?1 and {condition}), {columns} \
         from (select task_id, version, fields, observed, carried from receipt where task_id = ?1 and {condition} \
         order by version desc limit 1) r left join verification f on f.verification_key = ({last})"
    );
    Question::new(Statement::new(sql, [task_id.into(), version.into()]), |mut rows| {
        let Some(row) = rows.first_mut() else { return Ok(None) };
        let verification = verification::verification(row, 5)?;
        Ok(Some((KeptReceipt { verification, ..receipt(row)? }, row.integer(4)?)))
    })
}

fn receipt(row: &Row) -> Result<KeptReceipt> {
    Ok(KeptReceipt {
        version: row.integer(0)?,
        receipt: from_json(row.str(1)?)?,
        observed: from_json(row.str(2)?)?,
        carried: from_json(row.str(3)?)?,
        verification: None,
    })
}

/// The last receipt of a session from a version on; its verification is not asked for.
pub fn last_receipt_of(task_id: Uuid, session_ref: &str, from: i64) -> Question<Option<KeptReceipt>> {
    let sql = "select version, fields, observed, carried from receipt \
        where task_id = ?1 and session_ref = ?2 and version >= ?3 order by version desc limit 1";
    Question::new(Statement::new(sql, [task_id.into(), session_ref.into(), from.into()]), |rows| {
        rows.first().map(receipt).transpose()
    })
}
