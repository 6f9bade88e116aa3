//! Answers kept for retries, written in the same transaction as what they answer.

use serde_json::Value;

use crate::domain::time::Timestamp;
use crate::error::{Refusal, Result};
use crate::store::backend::{Question, Statement, Transaction};
use crate::store::cell::Row;

/// For how many hours a key is kept: 30 days.
const KEPT_HOURS: i64 = 30 * 24;

/// Whose key, for what.
pub struct Place<'p> {
    /// The project, 0 for none.
    pub project_id: i64,
    /// The credential's name.
    pub caller: &'p str,
    /// The operation.
    pub operation: &'p str,
    /// The client's key.
    pub key: &'p str,
}

/// The digest of the arguments and the answer of the call that used this key, if one did.
pub fn find(place: &Place<'_>, now: Timestamp) -> Question<Option<([u8; 32], Value)>> {
    let sql = "select fingerprint, answer from idempotency \
        where project_id = ?1 and caller = ?2 and operation = ?3 and idempotency_key = ?4 and expires_at > ?5";
    let values = [place.project_id.into(), place.caller.into(), place.operation.into(), place.key.into(), now.0.into()];
    Question::new(Statement::new(sql, values), |rows| rows.first().map(kept).transpose())
}

fn kept(row: &Row) -> Result<([u8; 32], Value)> {
    let fingerprint = row.bytes(0)?.try_into().map_err(|error| Refusal::internal(&error))?;
    let answer = serde_json::from_str(row.str(1)?).map_err(|error| Refusal::internal(&error))?;
    Ok((fingerprint, answer))
}

/// Keeps an answer, and forgets expired ones.
pub fn save(
    transaction: &mut Transaction,
    place: &Place<'_>,
    fingerprint: [u8; 32],
    answer: &Value,
    now: Timestamp,
) -> Result<()> {
    let expired = Statement::new("delete from idempotency where expires_at <= ?1", [now.0.into()]);
    transaction.execute_later(expired)?;
    let sql = "insert into idempotency \
        (project_id, caller, operation, idempotency_key, fingerprint, answer, expires_at) \
        values (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let values = [
        place.project_id.into(),
        place.caller.into(),
        place.operation.into(),
        place.key.into(),
        fingerprint.into(),
        answer.to_string().into(),
        now.plus_hours(KEPT_HOURS).0.into(),
    ];
    transaction.execute_later(Statement::new(sql, values))
}
