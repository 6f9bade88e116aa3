//! Runs operations for one connection: opens the database when it is first needed, and keeps a panic or a hang of one
//! call from the others. Must never abort a call that may be writing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Handle;

use crate::domain::session::Observed;
use crate::error::{Code, Refusal, Result};
use crate::operation::{self, Entry};
use crate::surface::mcp::{Open, Opener};

/// How long the first call may take, which does not know its deadline yet: it opens the database.
const OPENING: Duration = Duration::from_secs(30);
/// How much longer than its deadline a call is waited for.
const GRACE: Duration = Duration::from_secs(5);

/// The way from a surface to the operations.
pub struct Calls {
    opener: Opener,
    open: Mutex<Option<Open>>,
}

impl Calls {
    /// Nothing is opened yet.
    pub fn new(opener: Opener) -> Self {
        Self { opener, open: Mutex::new(None) }
    }

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

    /// Runs one operation to its end, also if the caller goes away.
    pub async fn call(self: &Arc<Self>, entry: &'static Entry, observed: Observed, arguments: Value) -> Result<Value> {
        let runtime = Handle::current();
        self.guarded(move |calls| {
            let open = calls.opened()?;
            runtime.block_on(operation::call(&open.service, &open.connection, &observed, entry, arguments))
        })
        .await
    }

    /// The project that the connection is pinned to.
    pub async fn project(self: &Arc<Self>) -> Result<String> {
        self.guarded(|calls| calls.opened()?.connection.pinned.clone().map(|pinned| pinned.project)).await
    }

    /// Runs `work` on a thread that may block, so that a long read delays neither other calls nor the end; a panic
    /// becomes `internal`, and what takes too long is no longer waited for.
    async fn guarded<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let calls = Arc::clone(self);
        let limit = self.limit();
        let job = tokio::task::spawn_blocking(move || work(&calls));
        match tokio::time::timeout(limit, job).await {
            Ok(Ok(answer)) => answer,
            // Not its text, which may hold stored text.
            Ok(Err(_)) => Err(Refusal::internal(&"a call panicked")),
            Err(_) => Err(overdue(limit)),
        }
    }

    fn limit(&self) -> Duration {
        // Held by a call that is opening: then this one waits for it, and longer than a deadline.
        let open = self.open.try_lock().ok();
        let deadline = open.and_then(|open| open.as_ref().map(|open| open.service.deadline));
        deadline.unwrap_or(OPENING) + GRACE
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
