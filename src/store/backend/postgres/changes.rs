//! How a change of the database is noticed, whichever server made it: one connection of a server listens while somebody
//! watches, and each server tells of its commits. Must never tell in a write's own transaction, where all that tell wait
//! for each other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_postgres::AsyncMessage;
use uuid::Uuid;

use crate::error::{Code, Refusal, Result};
use crate::store::backend::postgres::gate::Backoff;
use crate::store::backend::postgres::pool::Pool;
use crate::store::backend::postgres::servers::Servers;

/// The channel that servers tell each other on; it reaches all of one database.
const CHANNEL: &str = "heyaira";
/// How long nothing is told after something was, so that many commits cost few of them.
const PAUSE: Duration = Duration::from_millis(40);
/// How often is looked without having been told: a server may end between its commit and telling of it.
const LOOK: Duration = Duration::from_secs(5);
/// How long the database may take to be told, or to begin telling.
const PATIENCE: Duration = Duration::from_secs(3);

/// What one process knows of changes.
pub(super) struct News {
    /// Counted up whenever something may have changed.
    changes: watch::Sender<u64>,
    /// How many writes this process committed.
    commits: watch::Sender<u64>,
    /// How many of them the others were told of.
    told: watch::Sender<u64>,
    /// By which this process knows its own.
    sender: String,
    /// True while a connection listens or is about to.
    listening: Mutex<bool>,
}

impl News {
    pub(super) fn new() -> Self {
        let (changes, commits, told) = (watch::Sender::new(0), watch::Sender::new(0), watch::Sender::new(0));
        Self { changes, commits, told, sender: Uuid::new_v4().simple().to_string(), listening: Mutex::new(false) }
    }

    /// This process committed a write.
    pub(super) fn committed(&self) {
        self.commits.send_modify(|count| *count = count.wrapping_add(1));
        self.changed();
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(super) fn watchers(&self) -> usize {
        self.changes.receiver_count()
    }

    /// Begins to watch. True if somebody must begin to listen.
    pub(super) fn watch(&self) -> (Changes, bool) {
        let mut listening = self.listening();
        let changes = Changes { changes: self.changes.subscribe() };
        (changes, !std::mem::replace(&mut *listening, true))
    }

    /// True if nobody watches any more: then whoever asks stops listening.
    fn is_over(&self) -> bool {
        let mut listening = self.listening();
        *listening = self.watchers() > 0;
        !*listening
    }

    fn listening(&self) -> MutexGuard<'_, bool> {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the others were told of everything so far.
    pub(super) async fn all_told(&self) {
        let commits = *self.commits.borrow();
        let _ = self.told.subscribe().wait_for(|told| *told == commits).await;
    }
}

/// The changes since this was made.
pub(in crate::store::backend) struct Changes {
    changes: watch::Receiver<u64>,
}

impl Changes {
    /// Waits until something may have changed.
    pub(in crate::store::backend) async fn changed(&mut self) -> Result<()> {
        tokio::select! {
            changed = self.changes.changed() => changed.map_err(|_| {
                Refusal::new(Code::Unavailable, "the database was closed while it was watched", "Open it again.")
            }),
            () = tokio::time::sleep(LOOK) => Ok(()),
        }
    }
}

/// Tells the other servers of this one's commits: of the first at once, of those soon after it together.
pub(super) async fn tell(news: Arc<News>, pool: Pool) {
    let mut commits = news.commits.subscribe();
    // The channel and the sender are words of ours. Nobody waits for the disk: what was lost is looked for.
    let words =
        format!("select set_config('synchronous_commit', 'off', true), pg_notify('{CHANNEL}', '{}')", news.sender);
    while commits.changed().await.is_ok() {
        let upto = *commits.borrow_and_update();
        let told = async {
            let client = pool.get().await.ok()?;
            client.batch_execute(&words).await.ok()
        };
        if timeout(PATIENCE, told).await.ok().flatten().is_none() {
            tracing::debug!("other servers were not told of a commit");
        }
        news.told.send_replace(upto);
        tokio::time::sleep(PAUSE).await;
    }
}

/// Listens while somebody watches, on a connection of its own; a new one counts as a change.
pub(super) async fn listen(news: Arc<News>, servers: Arc<Servers>, mut trusted: watch::Receiver<Option<Instant>>) {
    let mut backoff = Backoff::default();
    while !news.is_over() {
        trusted.mark_unchanged();
        let began = Instant::now();
        tokio::select! {
            () = news.changes.closed() => continue,
            () = hear(&news, &servers) => {}
            _ = trusted.changed() => {}
        }
        if began.elapsed() > LOOK {
            backoff = Backoff::default();
        }
        tokio::time::sleep(backoff.next()).await;
    }
}

/// Hears of changes until the connection is lost.
async fn hear(news: &News, servers: &Servers) {
    let Ok((client, mut connection)) = servers.connect().await else { return };
    let mut messages = futures_util::stream::poll_fn(move |context| connection.poll_message(context));
    let listening = async {
        let words = format!("listen {CHANNEL}");
        if timeout(PATIENCE, client.batch_execute(&words)).await.is_ok_and(|listens| listens.is_ok()) {
            // Whatever was told before this was not heard.
            news.changed();
            std::future::pending::<()>().await;
        }
    };
    let hearing = async {
        while let Some(Ok(message)) = messages.next().await {
            if matches!(&message, AsyncMessage::Notification(told) if told.payload() != news.sender) {
                news.changed();
            }
        }
    };
    tokio::select! {
        () = listening => {}
        () = hearing => {}
    }
}
