//! A `PostgreSQL` database: a pool of connections, one transaction for each call. Must never hold SQL about a noun, never
//! keep anything that another server on the same database would need, and never answer a write before its commit.
//!
//! A call is a task of its own, so that one whose caller is gone goes on to its end. It runs on the caller's runtime where
//! that has several threads, else on the store's own, which also looks after what outlives calls.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use deadpool::managed::{PoolError, QueueMode};
use tokio::runtime::{Handle, Runtime, RuntimeFlavor};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::time::{timeout, timeout_at};

use crate::error::{Code, Refusal, Result};
use crate::store::backend::address::Address;
use crate::store::backend::failure::{Failure, Severity, away, unavailable};
use crate::store::backend::postgres::changes::News;
use crate::store::backend::postgres::gate::{Backoff, Gate, some_of};
use crate::store::backend::postgres::pool::{Client, Manager, Pool};
use crate::store::backend::postgres::servers::Servers;
use crate::store::backend::postgres::transaction::Transaction;
use crate::store::backend::{Driver, Finding, Work};
use crate::store::migration::{self, Found};

mod changes;
mod examine;
mod gate;
mod moving;
mod pool;
mod servers;
mod tls;
mod transaction;
mod value;

pub(super) use changes::Changes;
pub(super) use value::Unfit;

/// How many threads look after the connections.
const THREADS: usize = 2;
/// How long the database may stay silent past a deadline, before the connection is taken for lost.
const SILENCE: Duration = Duration::from_secs(2);
/// How long a call waits for a connection while the server has none left.
const CROWDED: Duration = Duration::from_secs(8);
/// How long a connection is kept that nobody uses.
const IDLE: Duration = Duration::from_secs(20);
/// How often a write that met others is run.
const ATTEMPTS: u32 = 24;
/// The longest pause before it is run again.
const PAUSE_MAX: Duration = Duration::from_millis(64);
/// How long opening waits for another server that is setting the same database up.
const OPENING: Duration = Duration::from_mins(1);
/// How long the end of the process waits until the other servers were told of the last commits.
const TELLING: Duration = Duration::from_secs(1);

/// What a transaction is for.
#[derive(Clone, Copy)]
enum Purpose {
    Read,
    Write,
    /// The same behind a lock that others wait for: it is taken before the state is chosen that this transaction sees.
    WriteAlone(&'static str),
    /// Setting up: it waits for its turn, and must then see what those before it did.
    SetUp,
}

impl Purpose {
    /// What begins a transaction. One that writes does not say so: where a server, a database or a user is set read-only,
    /// that is meant.
    fn begin(self) -> Cow<'static, str> {
        match self {
            Self::Read => "begin isolation level repeatable read, read only".into(),
            Self::Write => "begin isolation level repeatable read".into(),
            Self::WriteAlone(lock) => format!("begin isolation level repeatable read; {lock}").into(),
            Self::SetUp => "begin isolation level read committed".into(),
        }
    }
}

/// How often a read asks: one statement needs no transaction around it to see one consistent state.
#[derive(Clone, Copy)]
pub(super) enum Asks {
    Once,
    Anything,
}

/// The database. Cheap to clone.
#[derive(Clone)]
pub(super) struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    pool: Pool,
    servers: Arc<Servers>,
    /// Lets so many write at once that some connections are left for reading: a commit that waits for a standby keeps its
    /// connection until it comes.
    writing: Arc<Semaphore>,
    gate: Gate,
    /// Since when connections are trusted.
    trusted: watch::Sender<Option<Instant>>,
    news: Arc<News>,
    runtime: Option<Runtime>,
    /// True once something was found damaged.
    damaged: AtomicBool,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Whoever drops it may be a thread that must not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What does not exist for a database on a server.
pub(super) fn no_file(what: &str, by: &str) -> Refusal {
    Refusal::not_allowed(
        format!("a PostgreSQL database is not {what} by heyaira"),
        format!("Use {by} of PostgreSQL, or copy it whole into a file: heyaira move. Nothing was changed."),
    )
}

/// What is in the database.
pub(super) fn look(address: &Address) -> Result<Found> {
    let inner = Inner::new(address)?;
    let looking = Arc::clone(&inner);
    inner.wait(async move {
        let deadline = Instant::now() + OPENING;
        let mut transaction = looking.first(deadline).await?;
        let found = migration::look(&mut transaction).await;
        roll_back(transaction).await;
        found
    })?
}

/// Runs `work` on the database as it stands.
pub(super) fn peek<T: Send + 'static>(address: &Address, deadline: Instant, mut work: impl Work<T>) -> Result<T> {
    let inner = Inner::new(address)?;
    let peeking = Arc::clone(&inner);
    inner.wait(async move {
        let mut transaction = peeking.first(deadline).await?;
        let answer = work(&mut transaction).await;
        roll_back(transaction).await;
        answer
    })?
}

impl Store {
    /// Connects and brings the schema up to date.
    pub(super) fn open(address: &Address, create: bool) -> Result<Self> {
        let inner = Inner::new(address)?;
        inner.spawn(changes::tell(Arc::clone(&inner.news), inner.pool.clone()))?;
        inner.spawn(let_go(Arc::downgrade(&inner)))?;
        let opening = Arc::clone(&inner);
        inner.wait(async move { opening.bring_up_to_date(create).await })??;
        Ok(Self { inner })
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.inner.damaged.load(Ordering::Relaxed)
    }

    /// Tells the other servers of the last commits, and lets go of the connections that nobody uses.
    pub(super) fn close(&self) {
        let news = Arc::clone(&self.inner.news);
        let _ = self.inner.wait(async move { timeout(TELLING, news.all_told()).await });
        self.inner.pool.close();
    }

    pub(super) fn watchers(&self) -> usize {
        self.inner.news.watchers()
    }

    pub(super) fn changes(&self) -> Result<Changes> {
        let (changes, first) = self.inner.news.watch();
        if first {
            let (news, servers) = (Arc::clone(&self.inner.news), Arc::clone(&self.inner.servers));
            self.inner.spawn(changes::listen(news, servers, self.inner.trusted.subscribe()))?;
        }
        Ok(changes)
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        deadline: Instant,
        asks: Asks,
        mut work: impl Work<T>,
    ) -> Result<T> {
        let (tell, told) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        self.inner.spawn_near(async move {
            inner.read(deadline, asks, &mut work, tell).await;
        })?;
        told.await.unwrap_or_else(|_| Err(broken_off()))
    }

    pub(super) async fn write<T: Send + 'static>(&self, deadline: Instant, work: impl Work<T>) -> Result<T> {
        self.write_as(Purpose::Write, deadline, work).await
    }

    /// The same while others wait for `lock`.
    pub(super) async fn write_alone<T: Send + 'static>(
        &self,
        deadline: Instant,
        lock: &'static str,
        work: impl Work<T>,
    ) -> Result<T> {
        self.write_as(Purpose::WriteAlone(lock), deadline, work).await
    }

    async fn write_as<T: Send + 'static>(
        &self,
        purpose: Purpose,
        deadline: Instant,
        mut work: impl Work<T>,
    ) -> Result<T> {
        let (tell, told) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        self.inner.spawn_near(async move {
            let answer = inner.write(purpose, deadline, &mut work).await;
            // A caller that is gone lost its answer, not its write.
            let _ = tell.send(answer);
        })?;
        told.await.unwrap_or_else(|_| Err(broken_off()))
    }

    /// Waits until every transaction of this database has ended that is open now.
    pub(super) async fn outlast(&self, deadline: Instant) -> Result<()> {
        let (tell, told) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        self.inner.spawn(async move {
            let outlasted = async {
                let client = inner.connection(deadline).await?;
                moving::outlast(&client, deadline).await
            };
            let _ = tell.send(outlasted.await.map_err(|failure| failure.refusal));
        })?;
        told.await.unwrap_or_else(|_| Err(broken_off()))
    }

    /// What the server is, and how it is set up.
    pub(super) fn findings(&self) -> Result<Vec<Finding>> {
        let inner = Arc::clone(&self.inner);
        self.inner.wait(async move {
            let client = inner.connection(Instant::now() + OPENING).await.map_err(|failure| failure.refusal)?;
            let found = examine::findings(&client, inner.pool.status().max_size).await;
            found.map_err(|error| Failure::of_statement(&error).refusal)
        })?
    }
}

/// The work panicked, whose text may hold stored text, or the process ends.
fn broken_off() -> Refusal {
    Refusal::internal(&"a call was broken off")
}

impl Inner {
    /// Nothing is connected yet.
    fn new(address: &Address) -> Result<Arc<Self>> {
        let servers = Arc::new(Servers::new(address)?);
        let trusted = watch::Sender::new(None);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("database")
            .enable_all()
            .build()
            .map_err(|error| Refusal::internal(&error))?;
        let manager = Manager::new(Arc::clone(&servers), trusted.subscribe(), runtime.handle().id());
        // The one that was used last is taken first: its server process knows the statements and is in the caches, and
        // those that are too many become idle and are let go.
        let pool = Pool::builder(manager).max_size(address.connections()).queue_mode(QueueMode::Lifo).build();
        let pool = pool.map_err(|error| Refusal::internal(&error))?;
        let writing = Arc::new(Semaphore::new((address.connections() * 3).div_ceil(4)));
        let (gate, news, damaged) = (Gate::new(), Arc::new(News::new()), AtomicBool::new(false));
        Ok(Arc::new(Self { pool, servers, writing, gate, trusted, news, runtime: Some(runtime), damaged }))
    }

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let runtime = self.runtime.as_ref().ok_or_else(|| unavailable("the database is closed"))?;
        runtime.spawn(future);
        Ok(())
    }

    /// Runs a call where its caller runs, if that is a runtime of several threads: a way to another one and back costs more
    /// than many a statement. What happens to the caller ends no call there either.
    fn spawn_near(&self, future: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        match Handle::try_current() {
            Ok(near) if near.runtime_flavor() == RuntimeFlavor::MultiThread => {
                near.spawn(future);
                Ok(())
            }
            _ => self.spawn(future),
        }
    }

    /// Runs a future to its end there, and blocks until then.
    fn wait<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> Result<T> {
        let (tell, told) = std::sync::mpsc::channel();
        self.spawn(async move {
            let _ = tell.send(future.await);
        })?;
        told.recv().map_err(|_| broken_off())
    }

    /// A connection for a call: one that was idle, or a new one. At once a refusal while the database is away.
    async fn connection(self: &Arc<Self>, deadline: Instant) -> Result<Client, Failure> {
        let taken = self.taken(deadline, Some(&self.gate)).await;
        taken.map_err(|failure| match failure.severity {
            Severity::Lost => {
                self.close_gate(&failure);
                Failure::stays(away())
            }
            Severity::Full => Failure::stays(unavailable("the database server has no connection left")),
            _ => failure,
        })
    }

    /// A connection, as long as the gate lets calls through, if there is one. While the server has none left, one of ours
    /// or of another program may become free.
    async fn taken(&self, deadline: Instant, gate: Option<&Gate>) -> Result<Client, Failure> {
        let patience = deadline.min(Instant::now() + CROWDED);
        let mut backoff = Backoff::default();
        loop {
            gate.map_or(Ok(()), Gate::pass).map_err(Failure::stays)?;
            match timeout_at(deadline.into(), self.pool.get()).await {
                Ok(Ok(client)) => return Ok(client),
                Ok(Err(PoolError::Backend(failure)))
                    if failure.severity == Severity::Full && Instant::now() < patience =>
                {
                    tokio::time::sleep(backoff.next()).await;
                }
                Ok(Err(PoolError::Backend(failure))) => return Err(failure),
                Ok(Err(_)) => return Err(Failure::stays(unavailable("the database is closed"))),
                Err(_) => return Err(Failure::overdue()),
            }
        }
    }

    /// Has all calls refused until a connection stands again.
    fn close_gate(self: &Arc<Self>, failure: &Failure) {
        self.distrust();
        if self.gate.close() {
            tracing::warn!(why = failure.refusal.clone().of_owner().message, "the database is away");
            // Without a runtime there is nobody left to open it for.
            let _ = self.spawn(reopen(Arc::downgrade(self)));
        }
    }

    /// Has no connection used again that there is now: the server may not be the primary any more.
    fn distrust(&self) {
        self.trusted.send_replace(Some(Instant::now()));
        self.pool.retain(|_, _| false);
    }

    async fn read<T: Send>(
        self: &Arc<Self>,
        deadline: Instant,
        asks: Asks,
        work: &mut impl Work<T>,
        tell: oneshot::Sender<Result<T>>,
    ) {
        let (mut again, mut may_end_early) = (true, true);
        loop {
            let client = match self.connection(deadline).await {
                Ok(client) => client,
                Err(failure) => return drop(tell.send(Err(failure.refusal))),
            };
            let mut transaction = match asks {
                Asks::Once => Transaction::bare(client),
                Asks::Anything => Transaction::begin_read(client, Purpose::Read.begin(), deadline, may_end_early),
            };
            let answer = self.run(deadline, &mut transaction, work).await;
            if answer.as_ref().is_err_and(|failure| failure.severity == Severity::Lost) {
                self.distrust();
                if std::mem::take(&mut again) && Instant::now() < deadline {
                    continue;
                }
            }
            if transaction.ended_too_early() {
                may_end_early = false;
                continue;
            }
            // Whoever asked does not wait for the end of the transaction.
            let _ = tell.send(answer.map_err(|failure| failure.refusal));
            return roll_back(transaction).await;
        }
    }

    async fn write<T: Send>(
        self: &Arc<Self>,
        purpose: Purpose,
        deadline: Instant,
        work: &mut impl Work<T>,
    ) -> Result<T> {
        let (mut attempt, mut again) = (0, true);
        loop {
            attempt += 1;
            let failure = match self.attempt(purpose, deadline, work).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            if matches!(failure.severity, Severity::Lost | Severity::Uncertain) {
                self.distrust();
            }
            let in_time = Instant::now() < deadline;
            match failure.severity {
                Severity::Again if attempt < ATTEMPTS && in_time => tokio::time::sleep(pause(attempt)).await,
                Severity::Again => return Err(unavailable("others wrote the same at the same time, again and again")),
                // Nothing of it was committed, and another connection may do.
                Severity::Lost if std::mem::take(&mut again) && in_time => {}
                Severity::Lost | Severity::Uncertain | Severity::Full | Severity::Stays => return Err(failure.refusal),
            }
        }
    }

    /// One transaction, from its begin to its commit.
    async fn attempt<T: Send>(
        self: &Arc<Self>,
        purpose: Purpose,
        deadline: Instant,
        work: &mut impl Work<T>,
    ) -> Result<T, Failure> {
        self.gate.pass().map_err(Failure::stays)?;
        let writing = timeout_at(deadline.into(), Arc::clone(&self.writing).acquire_owned()).await;
        let writing = writing.map_err(|_| Failure::overdue())?;
        let client = self.connection(deadline).await?;
        let mut transaction = Transaction::begin(client, purpose.begin(), deadline);
        let answer = match self.run(deadline, &mut transaction, work).await {
            Ok(answer) => answer,
            Err(failure) => {
                roll_back(transaction).await;
                return Err(failure);
            }
        };
        let mut commit = Box::pin(transaction.commit());
        let Ok(committed) = timeout_at((deadline + SILENCE).into(), &mut commit).await else {
            // Waited for to the end, but by nobody: to cut it short would have others take it for written.
            let news = Arc::clone(&self.news);
            let ending = async move {
                if commit.await.is_ok() {
                    news.committed();
                }
                drop(writing);
            };
            self.spawn(ending).map_err(Failure::stays)?;
            return Err(Failure::uncertain("the database did not say in time whether this was committed"));
        };
        committed?;
        self.news.committed();
        Ok(answer)
    }

    /// Runs the work in the open transaction.
    async fn run<T: Send>(
        &self,
        deadline: Instant,
        transaction: &mut Transaction,
        work: &mut impl Work<T>,
    ) -> Result<T, Failure> {
        // The database itself stops at the deadline; this is for one that says nothing any more.
        let patience = deadline + SILENCE;
        match timeout_at(patience.into(), work(transaction as &mut (dyn Driver + 'static))).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(refusal)) => {
                self.damaged.fetch_or(refusal.code == Code::Damaged, Ordering::Relaxed);
                Err(Failure { severity: transaction.severity(), refusal })
            }
            Err(_) => {
                transaction.abandon();
                Err(Failure::silent())
            }
        }
    }

    /// The first transaction, which reads. Past the gate: whoever opens the database is told all that is known.
    async fn first(&self, deadline: Instant) -> Result<Transaction> {
        let client = self.taken(deadline, None).await.map_err(|failure| failure.refusal)?;
        Ok(Transaction::begin(client, Purpose::Read.begin(), deadline))
    }

    /// Applies missing migrations, one server at a time.
    async fn bring_up_to_date(self: &Arc<Self>, create: bool) -> Result<()> {
        let deadline = Instant::now() + OPENING;
        let found = {
            let mut transaction = self.first(deadline).await?;
            let found = migration::found(&mut transaction).await;
            roll_back(transaction).await;
            found?
        };
        if found >= migration::CURRENT {
            return Ok(());
        }
        if found == 0 && !create {
            return Err(Refusal::new(
                Code::Unavailable,
                "there is no HeyAira in this PostgreSQL database",
                "Run heyaira start, or name the right database with --database or HEYAIRA_DATABASE.",
            ));
        }
        let mut apply = crate::store::backend::work(|transaction| {
            Box::pin(async move {
                migration::wait_for_turn(transaction).await?;
                let found = migration::found(transaction).await?;
                if found == 0 {
                    migration::check_encoding(transaction).await?;
                }
                migration::apply(transaction, found).await
            })
        });
        self.attempt(Purpose::SetUp, deadline, &mut apply).await.map_err(|failure| failure.refusal)
    }
}

/// Closes the connections that nobody used for a while: of many idle agents, each with a process of its own, none keeps
/// one that another could use.
async fn let_go(inner: Weak<Inner>) {
    loop {
        tokio::time::sleep(IDLE / 4).await;
        let Some(inner) = inner.upgrade() else { return };
        inner.pool.retain(|_, metrics| metrics.last_used() < IDLE);
    }
}

/// Tries until a connection stands, then lets calls through again.
async fn reopen(inner: Weak<Inner>) {
    let mut backoff = Backoff::default();
    loop {
        tokio::time::sleep(backoff.next()).await;
        let Some(inner) = inner.upgrade() else { return };
        if inner.pool.get().await.is_ok() {
            inner.gate.open();
            tracing::info!("the database is back");
            return;
        }
    }
}

/// Undoes what was begun. A server that says nothing undoes it when it finds the connection closed.
async fn roll_back(transaction: Transaction) {
    let _ = timeout(SILENCE, transaction.roll_back()).await;
}

/// Longer with every attempt, and not the same for all who met.
fn pause(attempt: u32) -> Duration {
    some_of(Duration::from_millis(1 << attempt.min(6)).min(PAUSE_MAX))
}
