//! One `SQLite` file: open, begin, run, commit. Must never hold SQL about a noun.
//!
//! No future ever waits here: readers poll it inline, the writer thread polls a batch of them inside one transaction.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, types::ValueRef};
use tokio::sync::watch;

use crate::error::{Code, Refusal, Result};
use crate::store::backend::failure::{failed, is_damage, unavailable};
use crate::store::backend::sqlite::queue::{Queue, lock};
use crate::store::backend::sqlite::writer::{Files, Held, keep_in_memory, write_for_ever};
use crate::store::backend::{Ahead, Dialect, Driver, Finding, Statement, Work};
use crate::store::cell::{Cell, Row};
use crate::store::file;
use crate::store::file::Opened;
use crate::store::migration::{self, Found};

mod changes;
mod copy;
mod queue;
mod writer;

pub(super) use changes::Changes;
use copy::rescue;

/// The oldest `SQLite` that does not corrupt a WAL reset with several connections (fixed in 3.51.3).
const SQLITE_MINIMUM: i32 = 3_051_003;
/// How long the end of the store waits for what is being written.
const CLOSING: Duration = Duration::from_millis(250);
/// How long it waits where the log is not the one that others see, so that what is in it is saved first.
const RESCUING: Duration = Duration::from_secs(10);
/// How long opening waits for another process that is setting the same database up.
const OPENING: Duration = Duration::from_secs(10);
/// How many idle read connections are kept.
const READERS_KEPT: usize = 4;

/// One open transaction.
pub(super) struct Transaction {
    connection: Connection,
    /// From when on the file is to be written anew after a commit, without what was removed.
    compacts: Option<Instant>,
    /// Statements that are run once for the whole group, before its commit.
    put_off: Vec<(&'static str, Vec<Cell>)>,
    /// How many of them were run already, for a write that needed them.
    done: usize,
}

/// How far a transaction is with the statements that are put off.
#[derive(Clone, Copy, Default)]
struct PutOff {
    statements: usize,
    done: usize,
}

impl Transaction {
    fn new(connection: Connection) -> Self {
        Self { connection, compacts: None, put_off: Vec::new(), done: 0 }
    }

    /// True if that was asked for since the last time, or failed and is due again.
    fn compacts(&mut self) -> bool {
        self.compacts.take_if(|due| *due <= Instant::now()).is_some()
    }

    /// Has it tried again after a commit that is so much later.
    fn compact_in(&mut self, pause: Duration) {
        self.compacts = Some(Instant::now() + pause);
    }

    /// What is put off now, to be gone back to if the write that begins is undone.
    fn put_off(&self) -> PutOff {
        PutOff { statements: self.put_off.len(), done: self.done }
    }

    /// Goes back to what was put off then.
    fn undo_to(&mut self, then: PutOff) {
        self.put_off.truncate(then.statements);
        self.done = then.done;
    }

    /// Runs what is put off, now.
    fn run_put_off(&mut self) -> Result<()> {
        while let Some((sql, values)) = self.put_off.get(self.done).cloned() {
            self.change(sql, &values).map_err(|error| failed(&error))?;
            self.done += 1;
        }
        Ok(())
    }

    /// False once there is no open transaction: committed, rolled back, or taken away by a failure of the storage.
    fn is_open(&self) -> bool {
        !self.connection.is_autocommit()
    }

    fn change(&mut self, sql: &str, values: &[Cell]) -> rusqlite::Result<usize> {
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.execute(rusqlite::params_from_iter(values.iter().map(Bound)))
    }

    fn query(&mut self, sql: &str, values: &[Cell], bytes: usize) -> rusqlite::Result<Vec<Row>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let width = statement.column_count();
        let mut rows = statement.query(rusqlite::params_from_iter(values.iter().map(Bound)))?;
        let mut answer = Vec::new();
        let mut held = 0;
        while held < bytes
            && let Some(row) = rows.next()?
        {
            let mut cells = Vec::with_capacity(width);
            for column in 0..width {
                cells.push(cell(row.get_ref(column)?)?);
            }
            let row = Row(cells);
            held = held.saturating_add(row.bytes_held());
            answer.push(row);
        }
        Ok(answer)
    }
}

impl Driver for Transaction {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn rows<'s>(&'s mut self, sql: &'s str, values: &'s [Cell]) -> BoxFuture<'s, Result<Vec<Row>>> {
        let rows = self.query(sql, values, usize::MAX).map_err(|error| failed(&error));
        ready(rows).boxed()
    }

    fn rows_within<'s>(
        &'s mut self,
        sql: &'s str,
        values: &'s [Cell],
        bytes: usize,
    ) -> BoxFuture<'s, Result<Vec<Row>>> {
        let rows = self.query(sql, values, bytes).map_err(|error| failed(&error));
        ready(rows).boxed()
    }

    fn load<'s>(&'s mut self, table: &'s str, columns: &'s [&'s str], rows: &'s [Row]) -> BoxFuture<'s, Result<()>> {
        let places: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
        let sql = format!("insert into {table} ({}) values ({})", columns.join(", "), places.join(", "));
        let loaded = rows.iter().try_for_each(|row| self.change(&sql, &row.0).map(drop));
        ready(loaded.map_err(|error| failed(&error))).boxed()
    }

    fn continue_keys<'s>(&'s mut self, _table: &'s str, _column: &'s str) -> BoxFuture<'s, Result<()>> {
        // The next key is always behind the greatest one.
        ready(Ok(())).boxed()
    }

    fn ask_ahead(&mut self, _ahead: &dyn Fn() -> Ahead) {
        // The database is in this process: no question costs a way.
    }

    fn end_with_next(&mut self) {
        // Nor does the end.
    }

    fn execute<'s>(&'s mut self, sql: &'s str, values: &'s [Cell]) -> BoxFuture<'s, Result<usize>> {
        let changed = self.change(sql, values).map_err(|error| failed(&error));
        ready(changed).boxed()
    }

    fn script<'s>(&'s mut self, sql: &'s str) -> BoxFuture<'s, Result<()>> {
        ready(batch(self, sql)).boxed()
    }

    fn rows_of<'s>(&'s mut self, statements: &'s [Statement]) -> BoxFuture<'s, Result<Vec<Vec<Row>>>> {
        let rows = |one: &Statement| self.query(&one.sql, &one.values, usize::MAX);
        let answers = statements.iter().map(rows).collect::<rusqlite::Result<_>>();
        ready(answers.map_err(|error| failed(&error))).boxed()
    }

    fn execute_later(&mut self, statement: Statement) -> Result<()> {
        self.change(&statement.sql, &statement.values).map(drop).map_err(|error| failed(&error))
    }

    fn change_and_add(&mut self, change: Statement, addition: Statement) -> BoxFuture<'_, Result<bool>> {
        let mut run = || {
            let changed = self.change(&change.sql, &change.values)? == 1;
            if changed {
                self.change(&addition.sql, &addition.values)?;
            }
            Ok(changed)
        };
        ready(run().map_err(|error| failed(&error))).boxed()
    }

    /// After all other writes of the group: the full-text index writes what it gathered at every savepoint, which is
    /// most of the cost of a write.
    fn execute_at_commit(&mut self, sql: &'static str, values: Vec<Cell>) {
        self.put_off.push((sql, values));
    }

    fn slot(&self) -> &'static str {
        "0"
    }

    fn catch_up(&mut self) -> BoxFuture<'_, Result<()>> {
        ready(self.run_put_off()).boxed()
    }

    fn compact_after_commit(&mut self) {
        self.compacts = Some(Instant::now());
    }
}

struct Bound<'c>(&'c Cell);

impl rusqlite::ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(match self.0 {
            Cell::Null => rusqlite::types::Null.into(),
            Cell::Integer(value) => (*value).into(),
            Cell::Text(value) => value.as_str().into(),
            Cell::Bytes(value) => value.as_slice().into(),
        })
    }
}

fn cell(value: ValueRef<'_>) -> rusqlite::Result<Cell> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(value) => Cell::Integer(value),
        ValueRef::Text(value) => Cell::Text(std::str::from_utf8(value).map_err(rusqlite::Error::from)?.to_owned()),
        ValueRef::Blob(value) => Cell::Bytes(value.to_vec()),
        ValueRef::Real(_) => return Err(rusqlite::Error::InvalidQuery),
    })
}

/// The database. Cheap to clone.
#[derive(Clone)]
pub(super) struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    opened: Opened,
    idle: Mutex<Vec<Connection>>,
    queue: Arc<Queue>,
    /// How many commits the writer made; what waits for one is woken.
    commits: watch::Sender<u64>,
    /// Disconnected once the writer has closed its file.
    closed: Mutex<mpsc::Receiver<()>>,
    /// True once something was found damaged.
    damaged: AtomicBool,
}

impl Store {
    /// Opens the database at `path`, brings its schema up to date, and starts the writer.
    ///
    /// Without `create`, a missing file is `unavailable`. A database newer than this program is refused untouched.
    pub(super) fn open(path: &Path, create: bool) -> Result<Self> {
        let version = rusqlite::version_number();
        if version < SQLITE_MINIMUM {
            return Err(unavailable(format!("SQLite {} is too old, 3.51.3 or later is needed", rusqlite::version())));
        }
        let exists = path.metadata().is_ok_and(|file| file.len() > 0);
        if !exists && !create {
            return Err(Refusal::new(
                Code::Unavailable,
                format!("there is no database at {}", path.display()),
                "Run heyaira start, or name the right file with --database or HEYAIRA_DATABASE.",
            )
            .with("database", path.display().to_string()));
        }
        if create {
            file::prepare_folder(path)?;
        }
        let lock = file::lock_file(path)?;
        file::refuse_foreign_log(path)?;
        let mut writer = Transaction::new(connect(path, create)?);
        // Only a database that must change waits its turn: reading goes on beside a writer that is stuck.
        if poll_once(|transaction| Box::pin(migration::found(transaction)), &mut writer)? < migration::CURRENT {
            let _held = Held::take_within(&lock, OPENING)?;
            bring_up_to_date(&mut writer, path)?;
        }
        keep_in_memory(&writer)?;
        file::keep_private(path)?;
        let opened = Opened::at(path);
        let queue = Arc::new(Queue::default());
        let commits = watch::Sender::new(0);
        let (closing, closed) = mpsc::channel();
        let files = Files { lock, opened: opened.clone(), rescued: std::cell::Cell::new(false) };
        let (for_thread, for_writer) = (Arc::clone(&queue), commits.clone());
        let write = move || {
            write_for_ever(&for_thread, writer, &files, &for_writer);
            drop(closing);
        };
        std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(write)
            .map_err(|error| Refusal::internal(&error))?;
        let (path, idle, closed) = (path.to_owned(), Mutex::default(), Mutex::new(closed));
        let damaged = AtomicBool::new(false);
        Ok(Self { inner: Arc::new(Inner { path, opened, idle, queue, commits, closed, damaged }) })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.inner.path
    }

    /// False once the database's file was deleted or replaced: then this store refuses everything.
    pub(super) fn is_current(&self) -> bool {
        self.inner.opened.check().is_ok()
    }

    /// What watching needs: a connection of its own, which file that is, and the commits of this store's writer.
    fn watching(&self) -> Result<(Transaction, Opened, watch::Receiver<u64>)> {
        let connection = Transaction::new(self.reader()?);
        Ok((connection, self.inner.opened.clone(), self.inner.commits.subscribe()))
    }

    /// A new connection that only reads. `SQLite` would have it share what it knows of the log with the connections that
    /// are open, so it must find the same files.
    fn reader(&self) -> Result<Connection> {
        self.inner.opened.check_files()?;
        read_only(&self.inner.path)
    }

    /// True once a call was refused because the database is damaged, until it is opened anew.
    pub(super) fn is_damaged(&self) -> bool {
        self.inner.damaged.load(Ordering::Relaxed)
    }

    fn noted<T>(&self, answer: Result<T>) -> Result<T> {
        if answer.as_ref().is_err_and(|refusal| refusal.code == Code::Damaged) {
            self.inner.damaged.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Writes what is waiting and closes the file, as far as nobody is at it. For the end of the process: whoever still
    /// holds the store cannot write any more.
    pub(super) fn close(&self) {
        self.inner.close();
    }

    /// How many watch this store for changes.
    pub(super) fn watchers(&self) -> usize {
        self.inner.commits.receiver_count()
    }

    /// Runs `work` on one consistent state. Nothing can be written in it.
    pub(super) fn read<T: Send + 'static>(&self, deadline: Instant, work: impl Work<T>) -> Result<T> {
        self.inner.opened.check_log()?;
        let mut connection = match lock(&self.inner.idle).pop() {
            Some(connection) => connection,
            None => read_only(&self.inner.path)?,
        };
        limit(&mut connection, deadline);
        let mut transaction = Transaction::new(connection);
        let answer = read_in(&mut transaction, work);
        let connection = transaction.connection;
        if connection.is_autocommit() {
            let mut idle = lock(&self.inner.idle);
            if idle.len() < READERS_KEPT {
                idle.push(connection);
            }
        }
        self.noted(answer)
    }

    /// Runs `work` in the next transaction of the writer; answers once it is on disk.
    ///
    /// Past the deadline a write that has not begun is withdrawn, and is `unavailable`; one that has begun is awaited.
    pub(super) async fn write<T: Send + 'static>(&self, deadline: Instant, work: impl Work<T>) -> Result<T> {
        let answer = self.inner.queue.submit(work).answered(deadline).await;
        let busy = || Err(unavailable("the database was busy for the whole time of this call".to_owned()));
        self.noted(answer.unwrap_or_else(busy))
    }

    /// The settings that durability and speed hang on.
    pub(super) fn findings(&self) -> Result<Vec<Finding>> {
        let connection = self.reader()?;
        let read = |sql: &str| -> Result<String> {
            let read = connection.query_row(sql, [], |row| Ok(format!("{:?}", row.get_ref(0)?)));
            read.map(|value| bare(&value)).map_err(|error| failed(&error))
        };
        let must_be = |check: &'static str, value: String, right: &str| {
            if value == right { Finding::ok(check, value) } else { Finding::failed(check, value) }
        };
        Ok(vec![
            Finding::ok("sqlite", rusqlite::version().to_owned()),
            must_be("journal_mode", read("pragma journal_mode")?, "wal"),
            must_be("synchronous", read("pragma synchronous")?, "2"),
            Finding::ok("schema", read("select max(number) from migration")?),
        ])
    }
}

fn bare(debug: &str) -> String {
    let inner = debug.split_once('(').map_or(debug, |(_, rest)| rest.trim_end_matches(')'));
    match inner.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        Some(bytes) => bytes.split(", ").filter_map(|byte| byte.parse::<u8>().ok()).map(char::from).collect(),
        None => inner.to_owned(),
    }
}

/// What is at a path. Opened only to be read, so that nothing is changed.
pub(super) fn look(path: &Path) -> Result<Found> {
    let Ok(metadata) = path.metadata() else { return Ok(Found::Nothing) };
    if metadata.is_file() && metadata.len() == 0 {
        return Ok(Found::Nothing);
    }
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let mut transaction = Transaction::new(connection.map_err(|error| failed(&error))?);
    // Anything but a database of this kind says so at its first page.
    match transaction.query("select count(*) from sqlite_master", &[], usize::MAX) {
        Err(error) if is_damage(&error) => Ok(Found::Foreign),
        Err(error) => Err(failed(&error)),
        Ok(_) => poll_once(|transaction| Box::pin(migration::look(transaction)), &mut transaction),
    }
}

/// Runs `work` on a file that is a copy of a database, without a change to it or beside it.
pub(super) fn look_into<T>(copy: &Path, work: impl Work<T>) -> Result<T> {
    let connection = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY);
    read_in(&mut Transaction::new(connection.map_err(|error| failed(&error))?), work)
}

/// Runs `work` on the database as it stands, without a writer, and without a change to it. Whoever locks it is waited for
/// so long, and no statement runs past the deadline.
pub(super) fn peek<T>(path: &Path, wait: Duration, deadline: Instant, work: impl Work<T>) -> Result<T> {
    file::refuse_foreign_log(path)?;
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(wait)?;
        Ok(connection)
    };
    let mut connection = open().map_err(|error| failed(&error))?;
    limit(&mut connection, deadline);
    read_in(&mut Transaction::new(connection), work)
}

fn connect(path: &Path, create: bool) -> Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        // In WAL mode anything less than FULL acknowledges writes that a power cut takes back.
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // Without it a bound limit has the statement planned anew at every run, for the value that it has this time.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(128);
        Ok(connection)
    };
    open().map_err(|error| failed(&error))
}

fn read_only(path: &Path) -> Result<Connection> {
    let connection = connect(path, false)?;
    connection.pragma_update(None, "query_only", true).map_err(|error| failed(&error))?;
    // Only the writer knows when it is safe.
    leave_log(&connection)?;
    Ok(connection)
}

/// Has the connection leave the log as it is when it is closed, though it be the last one: neither moved into the
/// database nor removed.
fn leave_log(connection: &Connection) -> Result<()> {
    let set = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    set.map(drop).map_err(|error| failed(&error))
}

/// Closes the writer's connection and leaves the log as it is.
fn close_beside_log(transaction: Transaction) {
    // A connection that cannot be told is not closed at all: the end of the process does that.
    if leave_log(&transaction.connection).is_err() {
        std::mem::forget(transaction);
    }
}

/// Makes statements of this connection stop at the deadline.
fn limit(connection: &mut Connection, deadline: Instant) {
    let handler = move || Instant::now() > deadline;
    // Only an interrupted setup can fail, and then the statement itself fails too.
    let _ = connection.progress_handler(100_000, Some(handler));
}

/// Applies missing migrations; an existing database is copied first.
fn bring_up_to_date(transaction: &mut Transaction, path: &Path) -> Result<()> {
    let found = poll_once(|transaction| Box::pin(migration::found(transaction)), transaction)?;
    if found >= migration::CURRENT {
        return Ok(());
    }
    if found > 0 {
        let target = migration::backup_path(path, found);
        if !target.exists() {
            file::new_private(&target)?;
            transaction
                .connection
                .backup("main", &target, None::<fn(rusqlite::backup::Progress)>)
                .map_err(|error| failed(&error))?;
        }
    }
    batch(transaction, "begin exclusive")?;
    let applied = poll_once(|transaction| Box::pin(migration::apply(transaction, found)), transaction);
    let closed = batch(transaction, if applied.is_ok() { "commit" } else { "rollback" });
    applied.and(closed)
}

/// Runs several statements without values.
fn batch(transaction: &Transaction, sql: &str) -> Result<()> {
    transaction.connection.execute_batch(sql).map_err(|error| failed(&error))
}

/// One step of a transaction's life, prepared once.
fn step(transaction: &Transaction, sql: &str) -> Result<()> {
    let run = || transaction.connection.prepare_cached(sql)?.execute([]);
    run().map(drop).map_err(|error| failed(&error))
}

fn read_in<T>(transaction: &mut Transaction, mut work: impl Work<T>) -> Result<T> {
    step(transaction, "begin")?;
    let answer = poll_once(|transaction| work(transaction), transaction);
    step(transaction, "rollback")?;
    answer
}

/// Polls a future of `SQLite` to its end, which is at the first poll; a panic becomes `internal`.
fn poll_once<T>(
    work: impl for<'t> FnOnce(&'t mut (dyn Driver + 'static)) -> BoxFuture<'t, Result<T>>,
    transaction: &mut Transaction,
) -> Result<T> {
    let run = std::panic::AssertUnwindSafe(|| work(transaction).now_or_never());
    match std::panic::catch_unwind(run) {
        Ok(Some(answer)) => answer,
        Ok(None) => Err(Refusal::internal(&"an operation waited for something else than the database")),
        Err(panic) => Err(Refusal::internal(&panic_text(panic.as_ref()))),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("without words"))
}

impl Inner {
    /// Waits for the writer to close the file, which moves the log into it: a process that ended before that would
    /// leave the last writes in a second file. Not for ever, as the writer may be waiting for another process.
    fn close(&self) {
        lock(&self.idle).clear();
        self.queue.close();
        let patience = if self.opened.log_is_lost() { RESCUING } else { CLOSING };
        let _ = lock(&self.closed).recv_timeout(patience);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}
