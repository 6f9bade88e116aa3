//! Work beside the hook that is waited for until a moment and no longer: a database can be locked, a server far away.
//! Must never be joined: the process ends with whatever is still running.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Instant;

use super::Failure;

/// Work that was begun.
pub(super) struct Pending<T> {
    told: Option<Receiver<T>>,
    until: Instant,
}

/// Begins work.
pub(super) fn run<T: Send + 'static>(until: Instant, work: impl FnOnce() -> T + Send + 'static) -> Pending<T> {
    let (tell, told) = sync_channel(1);
    // Where nobody waits any more, what was found is of no use.
    let begun = std::thread::Builder::new().spawn(move || drop(tell.send(work())));
    Pending { told: begun.ok().map(|_| told), until }
}

impl<T> Pending<T> {
    /// What it found, if it did in time.
    pub(super) fn found(self, what: &str) -> Result<T, Failure> {
        let Some(told) = self.told else { return Err(Failure(format!("{what}: no thread could be begun"))) };
        let left = self.until.saturating_duration_since(Instant::now());
        told.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => Failure(format!("{what} did not answer in time")),
            RecvTimeoutError::Disconnected => Failure(format!("{what}: panic")),
        })
    }
}
