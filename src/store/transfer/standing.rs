//! The row of the instance, as a move reads and changes it: each change is one statement that compares what it expects.
//! Must never touch a row of another instance or another move.

use uuid::Uuid;

use super::table::{INSTANCE, TABLES, Table};
use crate::domain::project::Standing;
use crate::error::{Code, Refusal, Result};
use crate::store::backend::Transaction;
use crate::store::cell::{Cell, Row};
use crate::store::{project, search};

/// What a database says of itself and of its move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The instance.
    pub instance: Uuid,
    /// Whether it lives here.
    pub standing: Standing,
    /// The last move that it took part in.
    pub move_id: Option<Uuid>,
}

/// What the database says; nothing if it is not set up.
pub(super) async fn record(transaction: &mut Transaction) -> Result<Option<Record>> {
    let sql = "select instance_id, move_id, state, other_end from instance";
    let Some(mut row) = transaction.row(sql, &[]).await? else {
        return Ok(None);
    };
    let standing = project::standing(&mut row, 2)?;
    Ok(Some(Record { instance: row.uuid(0)?, standing, move_id: row.maybe_uuid(1)? }))
}

/// True if no table holds a row.
pub(super) async fn is_empty(transaction: &mut Transaction) -> Result<bool> {
    for table in std::iter::once(&*INSTANCE).chain(TABLES.iter()) {
        if transaction.row(&format!("select 1 from {} limit 1", table.name), &[]).await?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A write that changes nothing, wherever the instance lives.
pub(super) async fn touch(transaction: &mut Transaction) -> Result<()> {
    changed(transaction, "update instance set state = state", &[]).await.map(drop)
}

/// Makes the source read-only; false if it no longer is where the instance lives.
pub(super) async fn leave(transaction: &mut Transaction, move_id: Uuid, to: &str) -> Result<bool> {
    let sql = "update instance set state = 'leaving', move_id = ?1, other_end = ?2 where state = 'here'";
    changed(transaction, sql, &[move_id.into(), to.into()]).await
}

/// Says for ever where the instance lives now.
pub(super) async fn moved(transaction: &mut Transaction, move_id: Uuid) -> Result<bool> {
    let sql = "update instance set state = 'moved' where state = 'leaving' and move_id = ?1";
    changed(transaction, sql, &[move_id.into()]).await
}

/// Makes the source what it was before the move.
pub(super) async fn stay(transaction: &mut Transaction, move_id: Uuid) -> Result<bool> {
    let sql = "update instance set state = 'here', move_id = null, other_end = null \
        where state = 'leaving' and move_id = ?1";
    changed(transaction, sql, &[move_id.into()]).await
}

/// Writes the instance's row into an empty target, which nothing but the run of this move uses from then on.
pub(super) async fn arrive(transaction: &mut Transaction, instance: &Row, run: &Run, from: &str) -> Result<()> {
    if !is_empty(transaction).await? {
        return Err(overtaken());
    }
    let sql = format!(
        "insert into instance ({}, state, move_id, move_run, other_end) \
         values (?1, ?2, ?3, ?4, ?5, 'arriving', ?6, ?7, ?8)",
        INSTANCE.columns.join(", ")
    );
    let mut values = instance.0.clone();
    values.extend([run.move_id.into(), run.run.into(), from.into()]);
    transaction.execute(&sql, &values).await.map(drop)
}

/// One run of a move: of two at once, the later one goes on and the earlier one is refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) move_id: Uuid,
    pub(super) run: Uuid,
}

/// Goes on with an unfinished move into this target.
pub(super) async fn take_over(transaction: &mut Transaction, run: &Run) -> Result<()> {
    let sql = "update instance set move_run = ?2 where state = 'arriving' and move_id = ?1";
    held(changed(transaction, sql, &[run.move_id.into(), run.run.into()]).await?)
}

/// Refuses once another run has taken the move over, or it was abandoned. It writes the row, so that of two runs at the
/// same moment one sees the other.
pub(super) async fn check_run(transaction: &mut Transaction, run: &Run) -> Result<()> {
    let sql = "update instance set move_run = ?2 where state = 'arriving' and move_id = ?1 and move_run = ?2";
    held(changed(transaction, sql, &[run.move_id.into(), run.run.into()]).await?)
}

/// Makes the target the place where the instance lives.
pub(super) async fn settle(transaction: &mut Transaction, run: &Run) -> Result<()> {
    let sql = "update instance set state = 'here', other_end = null \
        where state = 'arriving' and move_id = ?1 and move_run = ?2";
    held(changed(transaction, sql, &[run.move_id.into(), run.run.into()]).await?)
}

/// Empties a target of that instance that never was in use.
pub(super) async fn withdraw(transaction: &mut Transaction, instance: Uuid) -> Result<()> {
    let sql = "update instance set move_run = null where state = 'arriving' and instance_id = ?1";
    held(changed(transaction, sql, &[instance.into()]).await?)?;
    search::forget_all(transaction).await?;
    for table in TABLES.iter().rev().chain(std::iter::once::<&Table>(&INSTANCE)) {
        transaction.execute(&format!("delete from {}", table.name), &[]).await?;
    }
    Ok(())
}

async fn changed(transaction: &mut Transaction, sql: &str, values: &[Cell]) -> Result<bool> {
    Ok(transaction.execute(sql, values).await? == 1)
}

fn held(held: bool) -> Result<()> {
    if held { Ok(()) } else { Err(overtaken()) }
}

pub(super) fn overtaken() -> Refusal {
    Refusal::new(
        Code::Unavailable,
        "another heyaira move works on the same databases, or the move was abandoned",
        "Let that one end. What it does not do, the same command run again does.",
    )
}
