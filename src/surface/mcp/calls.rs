//! The ways from a message to an operation. Must never abort a call that may be writing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use rmcp::model::Extensions;
use serde_json::Value;
use tokio::runtime::Handle;

use crate::domain::session::Observed;
use crate::error::{Code, Refusal, Result};
use crate::operation::{self, Entry};
use crate::surface::mcp::observed::Environment;
use crate::surface::mcp::subscriptions::{self, Subscriptions};
use crate::surface::mcp::{Open, Opener};

/// How long the first call may take, which does not know its deadline yet: it opens the database.
const OPENING: Duration = Duration::from_secs(30);
/// How much longer than its deadline a call is waited for.
const GRACE: Duration = Duration::from_secs(5);

/// A way to the operations. `request` is what the transport attached to the message.
pub trait Calls: Send + Sync {
    /// Runs one operation to its end, also if the caller goes away.
    fn call<'c>(
        &'c self,
        request: &'c Extensions,
        entry: &'static Entry,
        observed: Observed,
        arguments: Value,
    ) -> BoxFuture<'c, Result<Value>>;

    /// The project that the message speaks to.
    fn project<'c>(&'c self, request: &'c Extensions) -> BoxFuture<'c, Result<String>>;

    /// The subscriptions to the database behind this way; `None` where it is too far away to be watched.
    fn subscriptions(&self) -> Option<&Arc<Subscriptions>>;

    /// Lets go of the database at the end, as far as no call is at it: whoever still holds this way does not matter then.
    fn let_go(&self) {}

    /// What the caller told beside the message, and the environment it is read in.
    fn surroundings<'c>(&'c self, request: &'c Extensions) -> Surroundings<'c>;
}

/// What is known of a caller apart from its message.
#[derive(Debug, Default)]
pub struct Surroundings<'s> {
    /// The variables with which it started this process, where it did.
    pub environment: Option<&'s Environment>,
    /// Name and version of its program, as it tells the network. A message of a protocol with a handshake does not say
    /// them, and over the network no handshake is kept.
    pub program: Option<(&'s str, &'s str)>,
    /// What it said in so many words, or as the name of its program.
    pub told: Observed,
}

/// One connection's way: opens the database when it is first needed, and keeps a panic or a hang of one call from the
/// others.
pub struct Opening {
    shared: Arc<Shared>,
    environment: Environment,
    subscriptions: Arc<Subscriptions>,
}

struct Shared {
    opener: Opener,
    open: Mutex<Option<Open>>,
}

impl Opening {
    /// Nothing is opened yet.
    pub fn new(opener: Opener, environment: Vec<(String, String)>) -> Self {
        let shared = Arc::new(Shared { opener, open: Mutex::new(None) });
        let watched = Arc::clone(&shared);
        let source = move || watched.opened().map(|open| open.service);
        let subscriptions = Arc::new(Subscriptions::new(Box::new(source), subscriptions::ADDRESSES));
        Self { shared, environment: Environment::new(environment), subscriptions }
    }
}

impl Calls for Opening {
    fn call<'c>(
        &'c self,
        _: &'c Extensions,
        entry: &'static Entry,
        observed: Observed,
        arguments: Value,
    ) -> BoxFuture<'c, Result<Value>> {
        let (runtime, began) = (Handle::current(), Instant::now());
        let answer = self.shared.guarded(move |shared| {
            let open = shared.opened()?;
            runtime.block_on(operation::call(&open.service, &open.connection, &observed, entry, arguments))
        });
        Box::pin(async move {
            let answer = answer.await;
            let code = answer.as_ref().map_or_else(|refusal| refusal.code.as_str(), |_| "ok");
            tracing::debug!(tool = entry.name, code, micros = began.elapsed().as_micros(), "served");
            answer
        })
    }

    fn project<'c>(&'c self, _: &'c Extensions) -> BoxFuture<'c, Result<String>> {
        let pinned = |shared: &Shared| shared.opened()?.connection.pinned.clone().map(|pinned| pinned.project);
        Box::pin(self.shared.guarded(pinned))
    }

    fn subscriptions(&self) -> Option<&Arc<Subscriptions>> {
        Some(&self.subscriptions)
    }

    fn let_go(&self) {
        // Held by a call that is opening: then the process does not wait for that.
        if let Ok(mut open) = self.shared.open.try_lock() {
            *open = None;
        }
    }

    fn surroundings<'c>(&'c self, _: &'c Extensions) -> Surroundings<'c> {
        Surroundings { environment: Some(&self.environment), ..Surroundings::default() }
    }
}

impl Shared {
    /// What is open, or why it cannot be opened. It blocks while it opens.
    fn opened(&self) -> Result<Open> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // A database that was replaced is opened anew, and its instance compared with the profile again.
        if open.as_ref().is_none_or(|open| !open.service.store.is_current()) {
            *open = None;
            *open = Some((self.opener)()?);
        }
        open.clone().ok_or_else(|| Refusal::internal(&"nothing was opened"))
    }

    async fn guarded<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = Arc::clone(self);
        apart(self.limit(), move || work(&shared)).await
    }

    fn limit(&self) -> Duration {
        // Held by a call that is opening: then this one waits for it, and longer than a deadline.
        let open = self.open.try_lock().ok();
        let deadline = open.and_then(|open| open.as_ref().map(|open| open.service.deadline));
        deadline.unwrap_or(OPENING) + GRACE
    }
}

/// Runs `work` on a thread that may block, so that a long read delays neither other calls nor the end; a panic becomes
/// `internal`, and what takes longer than `limit` is no longer waited for.
pub(super) async fn apart<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::time::timeout(limit, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(answer)) => answer,
        // Not its text, which may hold stored text.
        Ok(Err(_)) => Err(Refusal::internal(&"a call panicked")),
        Err(_) => Err(overdue(limit)),
    }
}

fn overdue(limit: Duration) -> Refusal {
    Refusal::new(
        Code::Unavailable,
        format!("the call was not finished within {} seconds", limit.as_secs()),
        "It may still be carried out: read the state before you call again.",
    )
    .with("retry_after_seconds", 1)
}
