//! Verifications: what came out when receipts were compared with repositories. Rows are added, never changed.

use uuid::Uuid;

use crate::domain::time::Timestamp;
use crate::domain::verification::facts::Facts;
use crate::domain::verification::{Judgement, Verdict, Verification};
use crate::error::{Refusal, Result};
use crate::store::backend::{Question, Statement, Transaction};
use crate::store::cell::Row;
use crate::store::task::{from_json, to_json};
use crate::store::version::Author;

/// A verification as it is listed.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// By whom: the credential's name.
    pub caller: String,
    /// The session, where known.
    pub session_ref: Option<String>,
    /// When, what came out and why.
    pub verification: Verification,
    /// What was looked at.
    pub facts: Facts,
}

/// Adds one.
pub fn insert(
    transaction: &mut Transaction,
    task_id: Uuid,
    receipt_version: i64,
    author: &Author,
    (judgement, facts): (&Judgement, &Facts),
    at: Timestamp,
) -> Result<()> {
    let sql = "insert into verification \
        (task_id, receipt_version, at, caller, connection, session_ref, verdict, differences, facts) \
        values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let values = [
        task_id.into(),
        receipt_version.into(),
        at.0.into(),
        author.caller.as_str().into(),
        author.connection.as_str().into(),
        author.session_ref.as_deref().into(),
        judgement.verdict.as_str().into(),
        to_json(&judgement.differences)?.into(),
        to_json(facts)?.into(),
    ];
    transaction.execute_later(Statement::new(sql, values))
}

/// The newest verifications of a receipt, newest first, at most `limit`; and how many there are.
pub fn newest(task_id: Uuid, receipt_version: i64, limit: i64) -> Question<(Vec<Recorded>, i64)> {
    let sql = "select verdict, at, differences, caller, session_ref, facts, \
        (select count(*) from verification where task_id = ?1 and receipt_version = ?2) \
        from verification where task_id = ?1 and receipt_version = ?2 order by verification_key desc limit ?3";
    let asked = Statement::new(sql, [task_id.into(), receipt_version.into(), limit.into()]);
    Question::new(asked, |mut rows| {
        let count = rows.first().map_or(Ok(0), |row| row.integer(6))?;
        let recorded = rows.iter_mut().map(|row| {
            let verification =
                verification(row, 0)?.ok_or_else(|| Refusal::internal(&"a verification without verdict"))?;
            let facts = from_json(row.str(5)?)?;
            Ok(Recorded { caller: row.text(3)?, session_ref: row.maybe_text(4)?, verification, facts })
        });
        Ok((recorded.collect::<Result<_>>()?, count))
    })
}

/// The columns that [`verification`] reads, of the table under the name `f`.
pub(super) const COLUMNS: &str = "f.verdict, f.at, f.differences";

/// The key of the last verification that told something of the receipt `r`: one that could not tell does not take away
/// what an earlier one found.
pub(super) const LAST: &str = "select max(verification_key) from verification \
    where task_id = r.task_id and receipt_version = r.version and verdict <> 'unverified'";

/// What the columns from `first` on say; nothing where there is no verification.
pub(super) fn verification(row: &mut Row, first: usize) -> Result<Option<Verification>> {
    let Some(verdict) = row.maybe_text(first)? else { return Ok(None) };
    let verdict = Verdict::of(&verdict).ok_or_else(|| Refusal::internal(&format!("unknown verdict {verdict}")))?;
    let at = Timestamp(row.integer(first + 1)?);
    Ok(Some(Verification { verdict, at, differences: from_json(row.str(first + 2)?)? }))
}
