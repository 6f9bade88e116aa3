//! How a change of the database is noticed, whichever server made it.

use std::time::Duration;

use tokio::sync::watch::Receiver;

use crate::error::{Code, Refusal, Result};

/// How soon a commit of another server is looked for.
const TICK: Duration = Duration::from_secs(1);

/// The changes since this was made.
pub(in crate::store::backend) struct Changes {
    commits: Receiver<u64>,
}

impl Changes {
    pub(super) fn new(commits: Receiver<u64>) -> Self {
        Self { commits }
    }

    /// Waits until something may have changed.
    pub(in crate::store::backend) async fn changed(&mut self) -> Result<()> {
        tokio::select! {
            committed = self.commits.changed() => committed.map_err(|_| {
                Refusal::new(Code::Unavailable, "the database was closed while it was watched", "Open it again.")
            }),
            () = tokio::time::sleep(TICK) => Ok(()),
        }
    }
}
