//! Who wants to be told of which task, and the one task that compares what they were last told with the database.
//! Must never keep more than a mark for what a client has not read yet, and never look while nobody wants anything.

pub mod legacy;
pub mod streams;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::ErrorData;
use tokio::runtime::Handle;
use tokio::sync::{Notify, RwLock};
use tokio::task::AbortHandle;
use uuid::Uuid;

use crate::domain::text;
use crate::error::{Code, Refusal, Result};
use crate::operation::Service;
use crate::store::backend::work;
use crate::store::watch::{self, TaskState};
use crate::surface::mcp::transport::in_flight::Answered;

/// How many addresses one connection with a handshake, or one stream, may subscribe to.
pub const ADDRESSES: usize = 100;
/// How long the database is left alone between two looks, so that many commits cost few of them.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a database that cannot be watched is left alone.
const RETRY: Duration = Duration::from_secs(1);

/// Opens the database or gives the one that is open. It may block.
pub type Source = Box<dyn Fn() -> Result<Service> + Send + Sync>;

/// All subscriptions to one database in this process.
pub struct Subscriptions {
    /// How many there may be in all.
    most: usize,
    desk: Mutex<Desk>,
    /// There are new ones, whose tasks may have changed since their states were read.
    joined: Notify,
    /// Shared by all who are at the database.
    reading: Arc<RwLock<()>>,
}

struct Desk {
    /// None once the subscriptions were ended: nothing here holds the database open then.
    source: Option<Arc<Source>>,
    /// The last number; later ones are larger.
    last: u64,
    subscribers: HashMap<u64, Subscribed>,
    watcher: Option<AbortHandle>,
}

struct Subscribed {
    wanted: BTreeMap<String, Wanted>,
    wake: Arc<Notify>,
}

struct Wanted {
    number: u64,
    /// The task and what was last told of it; nothing for what never changes.
    task: Option<(Uuid, Option<TaskState>)>,
    due: bool,
    answered: Option<Answered>,
}

/// A subscription to make.
pub struct Wish {
    /// The address, as the client wrote it.
    pub uri: String,
    /// The task and its state, read before the client is told that it is subscribed; nothing for what never changes.
    pub task: Option<(Uuid, Option<TaskState>)>,
    /// When the subscription was answered, before which nothing may be told.
    pub answered: Option<Answered>,
}

/// What a subscriber is to be told.
pub struct Due {
    /// The address, as the client wrote it.
    pub uri: String,
    /// When the subscription was answered.
    pub answered: Option<Answered>,
    number: u64,
}

impl Subscriptions {
    /// None yet; at most so many addresses in all.
    pub fn new(source: Source, most: usize) -> Self {
        let source = Some(Arc::new(source));
        let desk = Mutex::new(Desk { source, last: 0, subscribers: HashMap::new(), watcher: None });
        Self { most, desk, joined: Notify::new(), reading: Arc::default() }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new subscriber, who wants nothing yet.
    pub fn subscriber(self: &Arc<Self>) -> Subscriber {
        let mut desk = self.desk();
        let number = desk.number();
        let wake = Arc::new(Notify::new());
        desk.subscribers.insert(number, Subscribed { wanted: BTreeMap::new(), wake: Arc::clone(&wake) });
        Subscriber { all: Arc::clone(self), number, wake }
    }

    /// Ends all subscriptions for ever; nobody is at the database any more when it returns.
    pub async fn close(&self) {
        let watcher = {
            let mut desk = self.desk();
            desk.source = None;
            for (_, subscribed) in desk.subscribers.drain() {
                subscribed.wake.notify_one();
            }
            desk.watcher.take()
        };
        if let Some(watcher) = watcher {
            watcher.abort();
        }
        // Also for one that was aborted before and has not come to its end.
        drop(self.reading.write().await);
    }

    /// The states of tasks; one that is no longer there has none.
    pub async fn states(&self, tasks: Vec<Uuid>) -> Result<HashMap<Uuid, TaskState>> {
        let runtime = Handle::current();
        self.blocking(move |service| {
            let now = service.clock.now();
            let read = work(move |transaction| {
                let tasks = tasks.clone();
                Box::pin(async move { watch::states(transaction, &tasks, now).await })
            });
            runtime.block_on(service.store.read(Instant::now() + service.deadline, read))
        })
        .await
    }

    /// Runs `work` on the database, on a thread that may block.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let reading = Arc::clone(&self.reading).read_owned().await;
        let source = self.desk().source.clone().ok_or_else(closing)?;
        let job = tokio::task::spawn_blocking(move || {
            let answer = source().and_then(|service| work(&service));
            drop((source, reading));
            answer
        });
        job.await.map_err(|_| Refusal::internal(&"a look at subscribed tasks panicked"))?
    }

    /// Watches for as long as somebody wants something: whoever takes the last wish away aborts this.
    async fn watch(self: Arc<Self>) {
        let _reading = Arc::clone(&self.reading).read_owned().await;
        loop {
            let Err(refusal) = self.follow().await;
            // Deleted, replaced or unreadable: what is there after a while is compared with what was told.
            tracing::debug!(%refusal, "the database cannot be watched");
            tokio::time::sleep(RETRY).await;
        }
    }

    async fn follow(&self) -> Result<Infallible> {
        let mut changes = self.blocking(|service| service.store.changes()).await?;
        loop {
            self.look().await?;
            tokio::time::sleep(PAUSE).await;
            tokio::select! {
                changed = changes.changed() => changed?,
                () = self.joined.notified() => {}
            }
        }
    }

    /// Compares the tasks that are wanted with what was told of them.
    async fn look(&self) -> Result<()> {
        let (tasks, before) = self.desk().wanted();
        let states = self.states(tasks).await?;
        self.desk().compare(&states, before);
        Ok(())
    }
}

impl Desk {
    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The tasks that are wanted, and the number that only later wishes exceed.
    fn wanted(&self) -> (Vec<Uuid>, u64) {
        let wanted = self.subscribers.values().flat_map(|subscribed| subscribed.wanted.values());
        let tasks: HashSet<Uuid> = wanted.filter_map(|wanted| wanted.task.map(|(task, _)| task)).collect();
        (tasks.into_iter().collect(), self.last)
    }

    /// Marks what differs from what was told. Later wishes know younger states than these.
    fn compare(&mut self, states: &HashMap<Uuid, TaskState>, before: u64) {
        for subscribed in self.subscribers.values_mut() {
            let older = subscribed.wanted.values_mut().filter(|wanted| wanted.number <= before);
            let mut some = false;
            for Wanted { task, due, .. } in older {
                let Some((task, told)) = task else { continue };
                let state = states.get(task).copied();
                if *told != state {
                    *told = state;
                    *due = true;
                    some = true;
                }
            }
            if some {
                subscribed.wake.notify_one();
            }
        }
    }

    /// Adds all wishes of a subscriber or none.
    fn add(&mut self, subscriber: u64, wishes: Vec<Wish>, most: usize) -> Result<()> {
        let subscribed = self.subscribers.get(&subscriber).filter(|_| self.source.is_some()).ok_or_else(closing)?;
        let new = wishes.iter().filter(|wish| !subscribed.wanted.contains_key(&wish.uri)).count();
        check(subscribed.wanted.len() + new, ADDRESSES, "client")?;
        // A stream counts also where it asks for nothing that can be told.
        let all = self.subscribers.values().map(|subscribed| subscribed.wanted.len().max(1)).sum::<usize>();
        check(all - subscribed.wanted.len().max(1) + (subscribed.wanted.len() + new).max(1), most, "server")?;
        for wish in wishes {
            let number = self.number();
            let Wish { uri, task, answered } = wish;
            let wanted = Wanted { number, task, due: false, answered };
            if let Some(subscribed) = self.subscribers.get_mut(&subscriber) {
                // What is subscribed already stays as it is: it may have been told since.
                subscribed.wanted.entry(uri).or_insert(wanted);
            }
        }
        Ok(())
    }

    /// True while anything that can change is wanted.
    fn is_needed(&self) -> bool {
        let mut wanted = self.subscribers.values().flat_map(|subscribed| subscribed.wanted.values());
        wanted.any(|wanted| wanted.task.is_some())
    }

    /// Ends the watching when nobody wants a task any more.
    fn rest(&mut self) {
        if !self.is_needed()
            && let Some(watcher) = self.watcher.take()
        {
            watcher.abort();
        }
    }
}

fn closing() -> Refusal {
    Refusal::new(Code::Unavailable, "the server is about to end", "Subscribe at the next one.")
}

fn check(count: usize, most: usize, whose: &str) -> Result<()> {
    if count <= most {
        return Ok(());
    }
    let (count, most) = (text::grouped(count), text::grouped(most));
    Err(Refusal::new(
        Code::TooLarge,
        format!("that would be {count} subscriptions of this {whose}, the limit is {most}"),
        "Subscribe to fewer tasks, or end subscriptions that are no longer needed.",
    ))
}

/// A refusal to subscribe as a protocol error.
pub(super) fn error_of(refusal: &Refusal) -> ErrorData {
    match refusal.code {
        Code::TooLarge => ErrorData::invalid_params(refusal.to_string(), None),
        _ => ErrorData::internal_error(refusal.to_string(), None),
    }
}

/// One subscriber: a connection with a handshake, or a stream. Dropping it ends its subscriptions at once.
pub struct Subscriber {
    all: Arc<Subscriptions>,
    number: u64,
    wake: Arc<Notify>,
}

impl Subscriber {
    /// Adds all wishes or none.
    pub fn add(&self, wishes: Vec<Wish>) -> Result<()> {
        let mut desk = self.all.desk();
        desk.add(self.number, wishes, self.all.most)?;
        if desk.watcher.is_none() && desk.is_needed() {
            desk.watcher = Some(tokio::spawn(Arc::clone(&self.all).watch()).abort_handle());
        }
        drop(desk);
        self.all.joined.notify_one();
        Ok(())
    }

    /// Takes a wish back; false if there was none.
    pub fn remove(&self, uri: &str) -> bool {
        let mut desk = self.all.desk();
        let subscribed = desk.subscribers.get_mut(&self.number);
        let removed = subscribed.and_then(|subscribed| subscribed.wanted.remove(uri)).is_some();
        desk.rest();
        removed
    }

    /// Marks everything that can change as changed.
    pub fn doubt(&self) {
        if let Some(subscribed) = self.all.desk().subscribers.get_mut(&self.number) {
            subscribed.wanted.values_mut().for_each(|wanted| wanted.due |= wanted.task.is_some());
            subscribed.wake.notify_one();
        }
    }

    /// Waits for something to tell, and takes it for told; `None` once the subscriptions were ended. Cancel-safe.
    pub async fn next(&self) -> Option<Due> {
        loop {
            {
                let mut desk = self.all.desk();
                desk.source.as_ref()?;
                let mut wanted = desk.subscribers.get_mut(&self.number)?.wanted.iter_mut();
                if let Some((uri, wanted)) = wanted.find(|(_, wanted)| wanted.due) {
                    wanted.due = false;
                    let answered = wanted.answered.clone();
                    return Some(Due { uri: uri.clone(), answered, number: wanted.number });
                }
            }
            // A wake since the look above is kept for this wait.
            self.wake.notified().await;
        }
    }

    /// True while the subscription exists that this is due to.
    pub fn still_wants(&self, due: &Due) -> bool {
        let desk = self.all.desk();
        let subscribed = desk.subscribers.get(&self.number);
        subscribed.and_then(|subscribed| subscribed.wanted.get(&due.uri)).is_some_and(|now| now.number == due.number)
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let mut desk = self.all.desk();
        desk.subscribers.remove(&self.number);
        desk.rest();
    }
}
