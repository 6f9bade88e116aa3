//! The connections that calls share. Must never hand one out that leads to a server which was found not to be the one any
//! more.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use deadpool::managed::{self, Metrics, Object, RecycleError, RecycleResult};
use deadpool_postgres::ClientWrapper;
use tokio::runtime::{Handle, Id};
use tokio::sync::watch;

use crate::store::backend::failure::Failure;
use crate::store::backend::postgres::servers::Servers;

/// The connections of one process.
pub(super) type Pool = managed::Pool<Manager>;
/// One of them; it goes back when it is dropped.
pub(super) type Client = Object<Manager>;

/// A connection to the database.
pub(super) struct Pooled {
    client: ClientWrapper,
    /// The runtime whose threads move its bytes.
    home: Id,
    /// After how many seconds the session has a statement end, where a transaction says nothing else; 0 if nobody said.
    patience: AtomicU64,
}

impl Pooled {
    /// After how many seconds the session has a statement end, as far as a call said so.
    pub(super) fn patience(&self) -> Option<u64> {
        Some(self.patience.load(Ordering::Relaxed)).filter(|seconds| *seconds > 0)
    }

    /// The session was told that.
    pub(super) fn note_patience(&self, seconds: u64) {
        self.patience.store(seconds, Ordering::Relaxed);
    }
}

impl Deref for Pooled {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        &self.client
    }
}

/// What makes connections, and looks at them before they are used again.
pub(super) struct Manager {
    servers: Arc<Servers>,
    /// Since when connections are trusted: older ones may lead to a former primary.
    trusted: watch::Receiver<Option<Instant>>,
    /// The store's own runtime.
    own: Id,
}

impl Manager {
    pub(super) fn new(servers: Arc<Servers>, trusted: watch::Receiver<Option<Instant>>, own: Id) -> Self {
        Self { servers, trusted, own }
    }

    /// True if each message would go from the caller's threads to those of the store and back, as with the connection
    /// that opened the database: that costs more than many a statement.
    fn is_far(&self, connected: &Pooled) -> bool {
        connected.home == self.own && Handle::current().id() != self.own
    }
}

impl managed::Manager for Manager {
    type Type = Pooled;
    type Error = Failure;

    async fn create(&self) -> Result<Pooled, Failure> {
        let (client, connection) = self.servers.connect().await?;
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the database ended");
            }
        });
        let client = ClientWrapper::new(client, task);
        self.servers.prepare(&client).await?;
        Ok(Pooled { client, home: Handle::current().id(), patience: AtomicU64::new(0) })
    }

    async fn recycle(&self, client: &mut Pooled, metrics: &Metrics) -> RecycleResult<Failure> {
        if client.is_closed() || self.trusted.borrow().is_some_and(|since| metrics.created <= since) {
            return Err(RecycleError::message("it is closed or no longer trusted"));
        }
        if self.is_far(client) {
            return Err(RecycleError::message("its bytes are moved by other threads than the caller's"));
        }
        Ok(())
    }
}
