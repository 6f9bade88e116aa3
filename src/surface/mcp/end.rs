//! The end of a connection: one moment that end of input, a signal and a closed output share.
//! Must never be undone.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// Whether the end has begun, and since when. Clones speak of the same end.
#[derive(Clone, Debug)]
pub struct End(watch::Sender<Option<Instant>>);

impl Default for End {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl End {
    /// Begins the end, if it has not begun.
    pub fn begin(&self) {
        self.0.send_if_modified(|since| {
            let first = since.is_none();
            since.get_or_insert_with(Instant::now);
            first
        });
    }

    /// Waits until the end has begun; answers since when. Cancel-safe.
    pub async fn begun(&self) -> Instant {
        let mut watched = self.0.subscribe();
        // The sender lives in `self`, so the channel cannot be closed meanwhile.
        let since = watched.wait_for(Option::is_some).await.ok().and_then(|since| *since);
        since.unwrap_or_else(Instant::now)
    }

    /// Waits until `after` has passed since the end began. Cancel-safe.
    pub async fn passed(&self, after: Duration) {
        let begun = self.begun().await;
        tokio::time::sleep_until(begun + after).await;
    }
}
