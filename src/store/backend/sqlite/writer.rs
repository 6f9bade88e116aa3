//! The one writer of a process: waiting writes in groups, each group one transaction behind the file lock.
//! Must never answer a write before it is on disk.

use std::cell::Cell;
use std::fs::{File, TryLockError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::error::{Refusal, Result};
use crate::store::backend::failure::{failed, unavailable};
use crate::store::backend::sqlite::queue::{Queue, Tell};
use crate::store::backend::sqlite::{PutOff, Transaction, batch, close_beside_log, rescue, step};
use crate::store::file::Opened;

/// How many waiting writes one transaction takes at most.
const GROUP_LIMIT: usize = 256;
/// How long the end waits for the file lock; whoever has it longer moves the log into the database itself.
const LEAVING: Duration = Duration::from_millis(100);
/// How soon a file that could not be written anew is tried again.
const COMPACTING_AGAIN: Duration = Duration::from_mins(1);

/// The file lock that processes queue up for, fairly; `SQLite`'s own waiting starves some of them for seconds.
pub(super) struct Held<'f>(&'f File);

impl<'f> Held<'f> {
    fn take(file: &'f File) -> Result<Self> {
        file.lock().map_err(|error| unavailable(format!("the lock beside the database cannot be taken: {error}")))?;
        Ok(Self(file))
    }

    /// For the one moment before there is a writer that could be waited for: asks again and again.
    pub(super) fn take_within(file: &'f File, patience: Duration) -> Result<Self> {
        let until = Instant::now() + patience;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(unavailable("another process holds the lock beside the database".to_owned()));
                }
                Err(TryLockError::Error(error)) => {
                    return Err(unavailable(format!("the lock beside the database cannot be taken: {error}")));
                }
            }
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// The file that is written, and the lock beside it.
pub(super) struct Files {
    /// The file that processes lock.
    pub(super) lock: File,
    /// Which files were opened.
    pub(super) opened: Opened,
    /// True once what is in a lost log was saved.
    pub(super) rescued: Cell<bool>,
}

/// Writes until the queue is closed and empty; counts the commits.
pub(super) fn write_for_ever(queue: &Queue, mut transaction: Transaction, files: &Files, commits: &watch::Sender<u64>) {
    while queue.wait() {
        write_group(queue, &mut transaction, files, commits);
    }
    leave(transaction, files);
}

/// Closes the file. `SQLite` moves the log into the database and removes what is at the log's path, if nobody else has
/// the database open; that is right only while the one at the path is ours, or nobody has written into it.
fn leave(transaction: Transaction, files: &Files) {
    let opened = &files.opened;
    let held = Held::take_within(&files.lock, LEAVING);
    rescue_lost_log(&transaction, files);
    let is_ours = opened.check_content().is_ok() || (opened.log_is_lost() && !opened.log_is_in_use());
    if held.is_ok() && is_ours {
        drop(transaction);
    } else {
        close_beside_log(transaction);
    }
}

/// Saves what was acknowledged into a log that is no longer where others look for it, once.
fn rescue_lost_log(transaction: &Transaction, files: &Files) {
    if !files.opened.log_is_lost() || files.rescued.replace(true) {
        return;
    }
    match rescue(transaction, files.opened.path()) {
        Ok(copy) => tracing::error!(
            copy = %copy.display(),
            "the log of the database was deleted or replaced; all that this process sees was saved in a copy"
        ),
        Err(refusal) => tracing::error!(%refusal, "the log of the database was deleted or replaced, and is not saved"),
    }
}

/// Commits what is waiting in one transaction: a savepoint for each write, all answers after the commit.
fn write_group(queue: &Queue, transaction: &mut Transaction, files: &Files, commits: &watch::Sender<u64>) {
    let Files { lock, opened, .. } = files;
    let begin = |held| opened.check_content().and_then(|()| step(transaction, "begin immediate")).map(|()| held);
    let held = match Held::take(lock).and_then(begin) {
        Ok(held) => held,
        Err(refusal) => {
            rescue_lost_log(transaction, files);
            refuse_waiting(queue, &refusal);
            return;
        }
    };
    let mut group = run_waiting(queue, transaction);
    if group.written && group.outcome.is_ok() {
        // A file that was taken away in the meantime was committed to, and still nobody will ever read it.
        group.outcome = transaction
            .run_put_off()
            .and_then(|()| step(transaction, "commit"))
            .and_then(|()| opened.check_after_commit());
        commits.send_modify(|count| *count = count.wrapping_add(1));
    }
    transaction.undo_to(PutOff::default());
    if transaction.is_open() {
        let _ = step(transaction, "rollback");
    }
    if group.outcome.is_ok() && transaction.compacts() {
        // What was written stands, whatever becomes of this.
        if let Err(refusal) = compact(transaction) {
            tracing::error!(
                reason = refusal.message,
                "the removal is done, but the file could not be written anew: what was removed can still be read in its \
                 free space until that is done; free as much disk as the database takes, then purge or redact once more"
            );
            transaction.compact_in(COMPACTING_AGAIN);
        }
    }
    drop(held);
    for (tell, closed) in group.answers {
        tell(closed.and_then(|()| group.outcome.clone()));
    }
}

/// What became of the writes of a group before its commit.
struct Group {
    answers: Vec<(Tell, Result<()>)>,
    written: bool,
    outcome: Result<()>,
}

fn run_waiting(queue: &Queue, transaction: &mut Transaction) -> Group {
    let mut group = Group { answers: Vec::new(), written: false, outcome: Ok(()) };
    while group.answers.len() < GROUP_LIMIT
        && let Some(write) = queue.take()
    {
        let put_off = transaction.put_off();
        let (accepted, tell) = match step(transaction, "savepoint one") {
            Ok(()) => write.run(transaction),
            Err(refusal) => {
                write.refuse(refusal);
                continue;
            }
        };
        let undone = if accepted { Ok(()) } else { step(transaction, "rollback to one") };
        if !accepted {
            transaction.undo_to(put_off);
        }
        let closed = undone.and_then(|()| step(transaction, "release one"));
        group.written |= accepted;
        group.answers.push((tell, closed));
        // A full disk or a failed read takes the whole transaction away, the earlier writes of the group with it.
        if !transaction.is_open() {
            group.outcome = Err(unavailable("the storage failed during this write".to_owned()));
            break;
        }
    }
    group
}

/// Writes the file anew; by way of a temporary file, as the whole database need not fit into memory.
fn compact(transaction: &Transaction) -> Result<()> {
    batch(transaction, "pragma temp_store = file")?;
    let compacted = batch(transaction, "vacuum").and_then(|()| empty_log(transaction));
    keep_in_memory(transaction).and(compacted)
}

/// Moves the log into the file, and leaves nothing in it.
fn empty_log(transaction: &Transaction) -> Result<()> {
    let sql = "pragma wal_checkpoint(truncate)";
    let busy =
        transaction.connection.query_row(sql, [], |row| row.get::<_, bool>(0)).map_err(|error| failed(&error))?;
    if busy {
        return Err(unavailable("somebody is reading an older state of the database".to_owned()));
    }
    Ok(())
}

/// Has the pages that a savepoint changes kept in memory. A group of writes has one for each, and what they hold would
/// else be copied to files outside the folder of the database.
pub(super) fn keep_in_memory(transaction: &Transaction) -> Result<()> {
    batch(transaction, "pragma temp_store = memory")
}

fn refuse_waiting(queue: &Queue, refusal: &Refusal) {
    while let Some(write) = queue.take() {
        write.refuse(refusal.clone());
    }
}
