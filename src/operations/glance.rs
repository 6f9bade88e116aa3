//! What waits in a project, as counts and ids: for a line that a program says by itself. Must never hold a text that
//! somebody wrote, and never write.

use crate::domain::handoff;
use crate::domain::task::short_id;
use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::operation::{Pinned, check_place};
use crate::store::backend::Transaction;
use crate::store::list::{self, Filter, Sort};
use crate::store::{message, project, task};

/// How many handoffs, and how many tasks of a session, are named.
const NAMED: i64 = 3;

/// What waits, and what a session has there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// How many handoffs nobody took over.
    pub handoffs: i64,
    /// The lines of those that were written last.
    pub lines: Vec<String>,
    /// How many messages nobody acknowledged.
    pub messages: i64,
    /// The open tasks that the session owns: their short ids and versions.
    pub owned: Vec<(String, i64)>,
    /// When the session last handed a task off.
    pub handed_off: Option<Timestamp>,
    /// How many of the handoffs that wait are the session's.
    pub own_handoffs: i64,
}

/// Looks at the pinned project, refused like any call that is pinned to another one.
pub async fn glance(
    transaction: &mut Transaction,
    pinned: &Pinned,
    session_ref: Option<&str>,
    now: Timestamp,
) -> Result<Glance> {
    let (instance, found) = project::identity(transaction, Some(&pinned.project)).await?;
    check_place(Some(pinned), &instance, found.as_ref())?;
    let Some(project_id) = found.map(|project| project.project_id) else { return Ok(Glance::default()) };
    let pending = Filter { pending_handoff: Some(true), ..Filter::default() };
    let (waiting, handoffs) = list::page(transaction, project_id, &pending, Sort::PendingSince, None, NAMED).await?;
    let messages = transaction.ask(message::count_waiting(project_id, now)).await?;
    let lines = waiting.iter().map(|task| handoff::line(task.task_id, task.version)).collect();
    let mut glance = Glance { handoffs, lines, messages, ..Glance::default() };
    if let Some(session_ref) = session_ref {
        let mine = Filter { owner: Some(session_ref.to_owned()), open: true, ..Filter::default() };
        let (owned, _) = list::page(transaction, project_id, &mine, Sort::Updated, None, NAMED).await?;
        glance.owned = owned.iter().map(|task| (short_id(task.task_id), task.version)).collect();
        glance.handed_off = transaction.ask(task::last_handed_off(project_id, session_ref)).await?;
        glance.own_handoffs = transaction.ask(task::count_waiting_of(project_id, session_ref)).await?;
    }
    Ok(glance)
}
