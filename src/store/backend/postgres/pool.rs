//! The connections that calls share. Must never hand one out that leads to a server which was found not to be the one any
//! more.

use std::sync::Arc;
use std::time::Instant;

use deadpool::managed::{self, Metrics, Object, RecycleError, RecycleResult};
use deadpool_postgres::ClientWrapper;
use tokio::sync::watch;

use crate::store::backend::failure::Failure;
use crate::store::backend::postgres::servers::Servers;

/// The connections of one process.
pub(super) type Pool = managed::Pool<Manager>;
/// One of them; it goes back when it is dropped.
pub(super) type Client = Object<Manager>;

/// What makes connections, and looks at them before they are used again.
pub(super) struct Manager {
    servers: Arc<Servers>,
    /// Since when connections are trusted: older ones may lead to a former primary.
    trusted: watch::Receiver<Option<Instant>>,
}

impl Manager {
    pub(super) fn new(servers: Arc<Servers>, trusted: watch::Receiver<Option<Instant>>) -> Self {
        Self { servers, trusted }
    }
}

impl managed::Manager for Manager {
    type Type = ClientWrapper;
    type Error = Failure;

    async fn create(&self) -> Result<ClientWrapper, Failure> {
        let (client, connection) = self.servers.connect().await?;
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the database ended");
            }
        });
        let client = ClientWrapper::new(client, task);
        self.servers.prepare(&client).await?;
        Ok(client)
    }

    async fn recycle(&self, client: &mut ClientWrapper, metrics: &Metrics) -> RecycleResult<Failure> {
        if client.is_closed() || self.trusted.borrow().is_some_and(|since| metrics.created <= since) {
            return Err(RecycleError::message("it is closed or no longer trusted"));
        }
        Ok(())
    }
}
