//! What lets calls through to the database, and refuses them at once while it cannot be reached. Must never have a call
//! wait for a server that is known to be away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::Result;
use crate::store::backend::failure::away;

/// Closed while the database is away.
pub(super) struct Gate {
    closed: AtomicBool,
}

impl Gate {
    /// An open one.
    pub(super) fn new() -> Self {
        Self { closed: AtomicBool::new(false) }
    }

    /// Refuses while it is closed.
    pub(super) fn pass(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) { Err(away()) } else { Ok(()) }
    }

    /// Closes it; true if it was open: then whoever closed it sees to it that it is opened again.
    pub(super) fn close(&self) -> bool {
        !self.closed.swap(true, Ordering::AcqRel)
    }

    /// Opens it.
    pub(super) fn open(&self) {
        self.closed.store(false, Ordering::Release);
    }
}

/// The pauses between tries: each twice as long as the one before, and not the same for all who wait.
pub(super) struct Backoff(Duration);

impl Backoff {
    const FIRST: Duration = Duration::from_millis(50);
    const LONGEST: Duration = Duration::from_secs(2);

    /// The next pause.
    pub(super) fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(Self::LONGEST);
        pause / 2 + some_of(pause / 2)
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self(Self::FIRST)
    }
}

/// A part of the most that is left to chance.
pub(super) fn some_of(most: Duration) -> Duration {
    let mut byte = [0];
    // Without random bytes all wait the longest time.
    let share = getrandom::fill(&mut byte).map_or(255, |()| byte[0]);
    most * u32::from(share) / 255
}
