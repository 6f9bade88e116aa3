//! Writes that wait for the writer. Whoever takes one first, the writer or its own deadline, decides whether it happens.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::oneshot;

use crate::error::{Refusal, Result};
use crate::store::backend::Work;
use crate::store::backend::sqlite::{Transaction, poll_once};

/// Locks, also after a panic elsewhere: what is kept here is whole at every moment.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells a write's caller its answer, once it is known whether the group was committed.
pub(super) type Tell = Box<dyn FnOnce(Result<()>) + Send>;

/// Writes in the order in which they came.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    filled: Condvar,
}

#[derive(Default)]
struct Waiting {
    writes: VecDeque<Queued>,
    closed: bool,
}

struct Queued {
    ticket: Arc<Ticket>,
    write: Box<dyn Write>,
}

impl Queue {
    /// Puts a write at the end.
    pub(super) fn submit<T: Send + 'static>(&self, work: impl Work<T>) -> Submitted<T> {
        let (reply, answer) = oneshot::channel();
        let ticket = Arc::new(Ticket::default());
        let queued = Queued { ticket: Arc::clone(&ticket), write: Box::new(Typed { work, reply }) };
        lock(&self.waiting).writes.push_back(queued);
        self.filled.notify_one();
        Submitted { ticket, answer }
    }

    /// Waits until there is something to write; false once the store is gone.
    pub(super) fn wait(&self) -> bool {
        let mut waiting = lock(&self.waiting);
        while waiting.writes.is_empty() && !waiting.closed {
            waiting = self.filled.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        !waiting.writes.is_empty()
    }

    /// The next write that was not withdrawn. From now on it happens.
    pub(super) fn take(&self) -> Option<Box<dyn Write>> {
        loop {
            let queued = lock(&self.waiting).writes.pop_front()?;
            if queued.ticket.claim() {
                return Some(queued.write);
            }
        }
    }

    /// Lets the writer end once everything is written.
    pub(super) fn close(&self) {
        lock(&self.waiting).closed = true;
        self.filled.notify_all();
    }
}

/// Taken once: by the writer, who then writes, or by the caller, who then withdraws.
#[derive(Default)]
struct Ticket(Mutex<bool>);

impl Ticket {
    fn claim(&self) -> bool {
        !std::mem::replace(&mut *lock(&self.0), true)
    }
}

/// A write that was submitted, as its caller sees it.
pub(super) struct Submitted<T> {
    ticket: Arc<Ticket>,
    answer: oneshot::Receiver<Result<T>>,
}

impl<T> Submitted<T> {
    /// The answer; `None` if the write had not begun at the deadline and now never will. One that has begun is awaited.
    pub(super) async fn answered(mut self, deadline: Instant) -> Option<Result<T>> {
        let in_time = tokio::time::timeout_at(deadline.into(), &mut self.answer).await;
        let answer = match in_time {
            Ok(answer) => answer,
            Err(_) if self.ticket.claim() => return None,
            Err(_) => self.answer.await,
        };
        Some(answer.unwrap_or_else(|_| Err(Refusal::internal(&"the writer gave no answer"))))
    }
}

/// A write whose answer type is forgotten.
pub(super) trait Write: Send {
    /// Does it; answers whether it was accepted, and how to tell its caller after the commit.
    fn run(self: Box<Self>, transaction: &mut Transaction) -> (bool, Tell);

    /// Tells its caller that it was not even tried.
    fn refuse(self: Box<Self>, refusal: Refusal);
}

struct Typed<W, T> {
    work: W,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send + 'static, W: Work<T>> Write for Typed<W, T> {
    fn run(self: Box<Self>, transaction: &mut Transaction) -> (bool, Tell) {
        let Self { mut work, reply } = *self;
        let answer = poll_once(|transaction| work(transaction), transaction);
        let accepted = answer.is_ok();
        let tell = move |committed: Result<()>| {
            // A caller that is gone lost its answer, not its write.
            let _ = reply.send(if accepted { committed.and(answer) } else { answer });
        };
        (accepted, Box::new(tell))
    }

    fn refuse(self: Box<Self>, refusal: Refusal) {
        let _ = self.reply.send(Err(refusal));
    }
}
