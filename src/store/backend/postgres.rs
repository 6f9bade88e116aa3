//! A `PostgreSQL` database: a pool of connections, one transaction for each call. Must never hold SQL about a noun, never
//! keep anything that another server on the same database would need, and never answer a write before its commit.
//!
//! It has a runtime of its own: a call that is dropped goes on to its end there, and the connections live whatever runs
//! the callers.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use deadpool_postgres::{Client, Manager, ManagerConfig, Pool, RecyclingMethod};
use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};

use crate::error::{Code, Refusal, Result};
use crate::store::backend::address::Address;
use crate::store::backend::failure::{Failure, Severity, unavailable};
use crate::store::backend::postgres::transaction::Transaction;
use crate::store::backend::{Driver, Work};
use crate::store::migration::{self, Found};

mod changes;
mod tls;
mod transaction;
mod value;

pub(super) use changes::Changes;
pub(super) use value::Unfit;

/// How many connections one server has at most.
const CONNECTIONS: usize = 16;
/// How many threads look after them.
const THREADS: usize = 2;
/// How long a server may take to take a connection.
const CONNECTING: Duration = Duration::from_secs(3);
/// How long the database may stay silent past a deadline, before the connection is taken for lost.
const SILENCE: Duration = Duration::from_secs(2);
/// How often a write that met others is run.
const ATTEMPTS: u32 = 24;
/// The longest pause before it is run again.
const PAUSE_MAX: Duration = Duration::from_millis(64);
/// How long opening waits for another server that is setting the same database up.
const OPENING: Duration = Duration::from_mins(1);

/// What a transaction is for.
#[derive(Clone, Copy)]
enum Purpose {
    Read,
    Write,
    /// Setting up: it waits for its turn, and must then see what those before it did.
    SetUp,
}

impl Purpose {
    /// What is run at the start of a transaction that must end by then.
    fn begin(self, deadline: Instant) -> String {
        let modes = match self {
            Self::Read => "repeatable read, read only",
            Self::Write => "repeatable read, read write",
            Self::SetUp => "read committed, read write",
        };
        let left = deadline.saturating_duration_since(Instant::now()).as_millis().max(1);
        format!("begin isolation level {modes}; set local statement_timeout = {left}")
    }
}

/// The database. Cheap to clone.
#[derive(Clone)]
pub(super) struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    pool: Pool,
    runtime: Option<Runtime>,
    /// How many writes this process committed; what waits for one is woken.
    commits: watch::Sender<u64>,
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
    let (tell, told) = std::sync::mpsc::channel();
    let looking = Arc::clone(&inner);
    inner.spawn(async move {
        let deadline = Instant::now() + OPENING;
        let found = match looking.connection(deadline).await {
            Err(failure) => Err(failure.refusal),
            Ok(client) => {
                let mut transaction = Transaction::begin(client, Purpose::Read.begin(deadline));
                let found = migration::look(&mut transaction).await;
                transaction.roll_back().await;
                found
            }
        };
        let _ = tell.send(found);
    })?;
    told.recv().map_err(|error| Refusal::internal(&error))?
}

impl Store {
    /// Connects and brings the schema up to date.
    pub(super) fn open(address: &Address, create: bool) -> Result<Self> {
        let inner = Inner::new(address)?;
        let (tell, told) = std::sync::mpsc::channel();
        let opening = Arc::clone(&inner);
        inner.spawn(async move {
            let _ = tell.send(opening.bring_up_to_date(create).await);
        })?;
        told.recv().map_err(|error| Refusal::internal(&error))??;
        Ok(Self { inner })
    }

    /// Waits until every transaction of this database has ended that began before this call.
    pub(super) async fn outlast(&self, deadline: Instant) -> Result<()> {
        let (tell, told) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        self.inner.spawn(async move {
            let _ = tell.send(inner.outlast(deadline).await);
        })?;
        told.await.unwrap_or_else(|_| Err(broken_off()))
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.inner.damaged.load(Ordering::Relaxed)
    }

    /// Lets go of the connections that nobody uses.
    pub(super) fn close(&self) {
        self.inner.pool.close();
    }

    pub(super) fn watchers(&self) -> usize {
        self.inner.commits.receiver_count()
    }

    pub(super) fn changes(&self) -> Changes {
        Changes::new(self.inner.commits.subscribe())
    }

    pub(super) async fn read<T: Send + 'static>(&self, deadline: Instant, mut work: impl Work<T>) -> Result<T> {
        let (tell, told) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        self.inner.spawn(async move {
            let answer = inner.read(deadline, &mut work, tell).await;
            drop(answer);
        })?;
        told.await.unwrap_or_else(|_| Err(broken_off()))
    }

    pub(super) async fn write<T: Send + 'static>(&self, deadline: Instant, mut work: impl Work<T>) -> Result<T> {
        let (tell, told) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        self.inner.spawn(async move {
            let answer = inner.write(deadline, &mut work).await;
            // A caller that is gone lost its answer, not its write.
            let _ = tell.send(answer);
        })?;
        told.await.unwrap_or_else(|_| Err(broken_off()))
    }

    /// The settings that durability and speed hang on, by name.
    pub(super) fn settings(&self) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }
}

/// The work panicked, whose text may hold stored text, or the process ends.
fn broken_off() -> Refusal {
    Refusal::internal(&"a call was broken off")
}

impl Inner {
    /// Nothing is sent yet.
    fn new(address: &Address) -> Result<Arc<Self>> {
        let mut config = address.config().clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECTING);
        }
        if config.get_application_name().is_none() {
            config.application_name("heyaira");
        }
        let manager =
            Manager::from_config(config, tls::connector()?, ManagerConfig { recycling_method: RecyclingMethod::Fast });
        let pool = Pool::builder(manager).max_size(CONNECTIONS).build().map_err(|error| Refusal::internal(&error))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("database")
            .enable_all()
            .build()
            .map_err(|error| Refusal::internal(&error))?;
        let (commits, damaged) = (watch::Sender::new(0), AtomicBool::new(false));
        Ok(Arc::new(Self { pool, runtime: Some(runtime), commits, damaged }))
    }

    /// Each transaction holds a lock on a number of its own from its very begin to its end, which everybody may see.
    async fn outlast(&self, deadline: Instant) -> Result<()> {
        let sql = "select l.virtualtransaction from pg_catalog.pg_locks l \
            join pg_catalog.pg_stat_activity a on a.pid = l.pid \
            where l.locktype = 'virtualxid' and l.granted and a.datname = current_database() \
            and l.pid <> pg_backend_pid() and coalesce(a.backend_type, 'client backend') = 'client backend'";
        let client = self.connection(deadline).await.map_err(|failure| failure.refusal)?;
        let mut waited_for: Option<HashSet<String>> = None;
        loop {
            let rows = client.query(sql, &[]).await.map_err(|error| Failure::of_statement(&error).refusal)?;
            let open: HashSet<String> = rows.iter().map(|row| row.get(0)).collect();
            let left = match &waited_for {
                None => open,
                Some(earlier) => earlier.intersection(&open).cloned().collect(),
            };
            if left.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(unavailable("a transaction on the database server does not end"));
            }
            waited_for = Some(left);
            tokio::time::sleep(PAUSE_MAX).await;
        }
    }

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let runtime = self.runtime.as_ref().ok_or_else(|| unavailable("the database is closed"))?;
        runtime.spawn(future);
        Ok(())
    }

    /// A connection that was idle, or a new one.
    async fn connection(&self, deadline: Instant) -> Result<Client, Failure> {
        match tokio::time::timeout_at(deadline.into(), self.pool.get()).await {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(error)) => Err(Failure::of_pool(&error)),
            Err(_) => Err(Failure::overdue()),
        }
    }

    async fn read<T: Send>(
        &self,
        deadline: Instant,
        work: &mut impl Work<T>,
        tell: oneshot::Sender<Result<T>>,
    ) -> Result<()> {
        let client = match self.connection(deadline).await {
            Ok(client) => client,
            Err(failure) => {
                let _ = tell.send(Err(failure.refusal));
                return Ok(());
            }
        };
        let mut transaction = Transaction::begin(client, Purpose::Read.begin(deadline));
        let answer = self.run(deadline, &mut transaction, work).await;
        let _ = tell.send(answer.map_err(|failure| failure.refusal));
        transaction.roll_back().await;
        Ok(())
    }

    async fn write<T: Send>(&self, deadline: Instant, work: &mut impl Work<T>) -> Result<T> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.attempt(Purpose::Write, deadline, work).await {
                Ok(answer) => return Ok(answer),
                Err(failure) if failure.severity != Severity::Again => return Err(failure.refusal),
                Err(_) if attempt == ATTEMPTS || Instant::now() >= deadline => {
                    return Err(unavailable("others wrote the same at the same time, again and again"));
                }
                Err(_) => tokio::time::sleep(pause(attempt)).await,
            }
        }
    }

    /// One transaction, from its begin to its commit.
    async fn attempt<T: Send>(
        &self,
        purpose: Purpose,
        deadline: Instant,
        work: &mut impl Work<T>,
    ) -> Result<T, Failure> {
        let client = self.connection(deadline).await?;
        let mut transaction = Transaction::begin(client, purpose.begin(deadline));
        let answer = match self.run(deadline, &mut transaction, work).await {
            Ok(answer) => answer,
            Err(failure) => {
                transaction.roll_back().await;
                return Err(failure);
            }
        };
        transaction.commit(deadline + SILENCE).await?;
        self.commits.send_modify(|count| *count = count.wrapping_add(1));
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
        let outcome = tokio::time::timeout_at(patience.into(), work(transaction as &mut (dyn Driver + 'static))).await;
        match outcome {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(refusal)) => {
                self.damaged.fetch_or(refusal.code == Code::Damaged, Ordering::Relaxed);
                Err(Failure { severity: transaction.severity(), refusal })
            }
            Err(_) => {
                transaction.abandon();
                Err(Failure::overdue())
            }
        }
    }

    /// Applies missing migrations, one server at a time.
    async fn bring_up_to_date(&self, create: bool) -> Result<()> {
        let deadline = Instant::now() + OPENING;
        let found = {
            let client = self.connection(deadline).await.map_err(|failure| failure.refusal)?;
            let mut transaction = Transaction::begin(client, Purpose::Read.begin(deadline));
            let found = migration::found(&mut transaction).await;
            transaction.roll_back().await;
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
                migration::apply(transaction, found).await
            })
        });
        self.attempt(Purpose::SetUp, deadline, &mut apply).await.map_err(|failure| failure.refusal)
    }
}

/// Longer with every attempt, and not the same for all who met.
fn pause(attempt: u32) -> Duration {
    let most = Duration::from_millis(1 << attempt.min(6)).min(PAUSE_MAX);
    let mut byte = [0];
    // Without random bytes all wait the longest time.
    let share = getrandom::fill(&mut byte).map_or(255, |()| byte[0]);
    most * u32::from(share) / 255
}
