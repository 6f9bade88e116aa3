//! `resources/subscribe` and `resources/unsubscribe` of one connection with a handshake.
//! Must never tell of a change before the subscription was answered, nor after its end was.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::Peer;
use tokio::task::AbortHandle;

use crate::error::Result;
use crate::surface::mcp::subscriptions::{Subscriber, Subscriptions, Wish};

/// The subscriptions of a connection. They end with it.
#[derive(Default)]
pub struct Legacy {
    running: Mutex<Option<Running>>,
    /// Held while a notification is on its way to the output.
    telling: Arc<tokio::sync::Mutex<()>>,
}

struct Running {
    subscriber: Arc<Subscriber>,
    teller: AbortHandle,
}

impl Legacy {
    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a subscription of the client behind `peer`. One that exists stays as it is.
    pub fn add(&self, all: &Arc<Subscriptions>, peer: &Peer<RoleServer>, wish: Wish) -> Result<()> {
        let mut running = self.running();
        let running = running.get_or_insert_with(|| {
            let subscriber = Arc::new(all.subscriber());
            let telling = tell(Arc::clone(&subscriber), Arc::clone(&self.telling), peer.clone());
            Running { subscriber, teller: tokio::spawn(telling).abort_handle() }
        });
        running.subscriber.add(vec![wish])
    }

    /// Takes a subscription back; false if there was none. Nothing is told of it once this has returned.
    pub async fn remove(&self, uri: &str) -> bool {
        // Its last notification is in the output before this goes on, or is never sent.
        let _quiet = self.telling.lock().await;
        self.running().as_ref().is_some_and(|running| running.subscriber.remove(uri))
    }
}

impl Drop for Legacy {
    fn drop(&mut self) {
        if let Some(running) = self.running().take() {
            running.teller.abort();
        }
    }
}

async fn tell(subscriber: Arc<Subscriber>, telling: Arc<tokio::sync::Mutex<()>>, peer: Peer<RoleServer>) {
    while let Some(mut due) = subscriber.next().await {
        if let Some(answered) = &mut due.answered {
            answered.wait().await;
        }
        let _telling = telling.lock().await;
        if !subscriber.still_wants(&due) {
            continue;
        }
        // Waits until it is in the output, so a client that does not read is told once of all that it missed.
        if peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(due.uri)).await.is_err() {
            return;
        }
    }
}
