//! One client: what it asks for, one call after another, and its own task with the version that it knows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::asked::Asked;
use crate::client::Client;
use crate::request::{Address, Request, Way};

/// What a client asks for.
#[derive(Clone)]
pub(crate) enum Act {
    /// One of these.
    Read(Arc<[Request]>),
    /// A change of its own task.
    Update,
}

/// A task that one client alone writes.
pub(crate) struct Own {
    task_id: String,
    version: AtomicU64,
}

impl Own {
    /// A task at a version.
    fn at(task_id: String, version: u64) -> Self {
        Self { task_id, version: AtomicU64::new(version) }
    }

    /// These tasks, at the versions that a server tells.
    pub(crate) async fn all(address: &Address, ids: &[Uuid]) -> Vec<Arc<Self>> {
        let mut client = Client::connect(address.socket).await;
        let mut owns = Vec::new();
        for id in ids {
            let asked = Asked::reading("task_get", json!({"task_id": id, "field": "title"}));
            let answer: Value =
                serde_json::from_slice(client.ask(&address.request(Way::Plain, &asked)).await).expect("JSON");
            let version = answer["version"].as_u64().expect("a version");
            owns.push(Arc::new(Self::at(id.to_string(), version)));
        }
        owns
    }
}

/// One client before it is connected.
pub(crate) struct Agent {
    /// Where it asks.
    pub(crate) address: Address,
    /// How it asks.
    pub(crate) way: Way,
    /// For what it asks, in turn.
    pub(crate) acts: Vec<Act>,
    /// Its task.
    pub(crate) own: Arc<Own>,
    /// What the profile says.
    pub(crate) write_context: Arc<str>,
    /// The number of its next call; other clients begin elsewhere.
    pub(crate) turn: usize,
}

impl Agent {
    /// Makes the next call; answers how long it took.
    pub(crate) async fn ask(&mut self, client: &mut Client) -> Duration {
        let act = &self.acts[self.turn % self.acts.len()];
        let time = match act {
            Act::Read(requests) => timed(client, &requests[self.turn % requests.len()]).await,
            Act::Update => self.update(client).await,
        };
        self.turn += 1;
        time
    }

    async fn update(&self, client: &mut Client) -> Duration {
        let version = self.own.version.load(Ordering::Relaxed);
        let asked = Asked::update(&self.own.task_id, &json!(version), &self.write_context, self.turn);
        let wanted = self.way.carried(&format!("\"version\":{},", version + 1));
        let time = timed(client, &Request { bytes: self.address.request(self.way, &asked), wanted }).await;
        self.own.version.store(version + 1, Ordering::Relaxed);
        time
    }
}

async fn timed(client: &mut Client, request: &Request) -> Duration {
    let start = Instant::now();
    let body = client.ask(&request.bytes).await;
    let time = start.elapsed();
    let wanted = request.wanted.as_bytes();
    let is_right = body.windows(wanted.len()).any(|piece| piece == wanted);
    assert!(is_right, "{} is not in {}", request.wanted, String::from_utf8_lossy(body));
    time
}
