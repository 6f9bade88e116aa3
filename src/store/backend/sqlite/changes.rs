//! How a change of the file is noticed, whoever made it. `SQLite` tells no other process of one, but keeps a number that
//! other connections' commits change, which costs a look into shared memory; the writer of this process wakes at once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch::Receiver;

use super::queue::lock;
use super::{Store, Transaction};
use crate::error::{Code, Refusal, Result};
use crate::store::backend::failure::failed;
use crate::store::file::Opened;

/// How soon a commit of another process is noticed.
const TICK: Duration = Duration::from_millis(250);

/// The changes of a database since this was made. While it lives, somebody watches; dropping it ends that at once.
pub(in crate::store::backend) struct Changes {
    /// A connection of its own: the data version tells only what other connections committed.
    connection: Arc<Mutex<Transaction>>,
    opened: Opened,
    seen: i64,
    /// Counted up by this process's writer at each commit.
    commits: Receiver<u64>,
}

impl Store {
    /// Begins to watch. It blocks while it opens a connection.
    pub(in crate::store::backend) fn changes(&self) -> Result<Changes> {
        let (mut connection, opened, commits) = self.watching()?;
        let seen = data_version(&mut connection)?;
        Ok(Changes { connection: Arc::new(Mutex::new(connection)), opened, seen, commits })
    }
}

impl Changes {
    /// Waits until something may have changed since the last time. Cancel-safe: no change is lost with a dropped wait.
    ///
    /// An error once the file was deleted or replaced or cannot be read, or the store is gone: then this is of no
    /// further use.
    pub(in crate::store::backend) async fn changed(&mut self) -> Result<()> {
        loop {
            let own = tokio::select! {
                committed = self.commits.changed() => committed.map(|()| true).map_err(|_| gone())?,
                () = tokio::time::sleep(TICK) => false,
            };
            let version = self.version().await?;
            // Taken as seen only here, after the last wait.
            if own || version != self.seen {
                self.seen = version;
                return Ok(());
            }
        }
    }

    /// The data version, asked on a thread that may block.
    async fn version(&self) -> Result<i64> {
        let (connection, opened) = (Arc::clone(&self.connection), self.opened.clone());
        let ask = move || opened.check().and_then(|()| data_version(&mut lock(&connection)));
        tokio::task::spawn_blocking(ask).await.map_err(|_| gone())?
    }
}

fn gone() -> Refusal {
    Refusal::new(Code::Unavailable, "the database was closed while it was watched", "Open it again.")
}

/// A number that other connections' commits change.
fn data_version(transaction: &mut Transaction) -> Result<i64> {
    let ask = || transaction.connection.prepare_cached("pragma data_version")?.query_row([], |row| row.get(0));
    ask().map_err(|error| failed(&error))
}
