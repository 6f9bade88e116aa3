//! The databases behind one interface: where one is, a transaction, a unit of work. Must never hold SQL about a noun, and
//! never let a driver's type or text out: only what is below this file names a driver.
//!
//! There are two. On `SQLite` no future ever waits; on `PostgreSQL` every statement is a message over the network.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, FutureExt};

use crate::error::{Refusal, Result};
use crate::store::cell::{Cell, Row};
use crate::store::migration::{self, Found};

mod address;
mod failure;
mod postgres;
mod sqlite;

pub use address::{Address, CONNECTIONS, Database};

/// Which SQL a database speaks, for the few files that must know: full-text search and migrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `SQLite`.
    Sqlite,
    /// `PostgreSQL`.
    Postgres,
}

/// One open transaction. Statements use `?1`, `?2`, … and SQL that every database takes.
pub type Transaction = dyn Driver;

/// What a database does in a transaction.
pub trait Driver: Send {
    /// Which SQL it speaks.
    fn dialect(&self) -> Dialect;

    /// All rows of a query.
    fn rows<'s>(&'s mut self, sql: &'s str, values: &'s [Cell]) -> BoxFuture<'s, Result<Vec<Row>>>;

    /// The first rows of a query, until they hold that many bytes; at least one, if there is one.
    fn rows_within<'s>(&'s mut self, sql: &'s str, values: &'s [Cell], bytes: usize)
    -> BoxFuture<'s, Result<Vec<Row>>>;

    /// Adds many rows to a table, whose columns these are in the order of the values.
    fn load<'s>(&'s mut self, table: &'s str, columns: &'s [&'s str], rows: &'s [Row]) -> BoxFuture<'s, Result<()>>;

    /// Has the database make keys of that column behind those that were loaded.
    fn continue_keys<'s>(&'s mut self, table: &'s str, column: &'s str) -> BoxFuture<'s, Result<()>>;

    /// All rows of each of these, which are asked at once.
    fn rows_of<'s>(&'s mut self, statements: &'s [Statement]) -> BoxFuture<'s, Result<Vec<Vec<Row>>>>;

    /// Has these asked together with what is asked next, because they will probably be asked soon: then they are answered
    /// without another way to the server and back. Only a hint: an answer is of use to whoever asks exactly that before
    /// anything else is sent, and where no question costs a way, `ahead` is not even called.
    fn ask_ahead(&mut self, ahead: &dyn Fn() -> Ahead);

    /// What is asked next is the last: a read ends with it, without a way of its own. A hint as well: where more is asked,
    /// the read is run again from its start, as a write is that met another one.
    fn end_with_next(&mut self);

    /// Runs a statement that returns no rows; answers how many rows it changed.
    fn execute<'s>(&'s mut self, sql: &'s str, values: &'s [Cell]) -> BoxFuture<'s, Result<usize>>;

    /// Runs several statements without values, for migrations.
    fn script<'s>(&'s mut self, sql: &'s str) -> BoxFuture<'s, Result<()>>;

    /// Runs a statement that returns nothing to wait for: before whatever is asked next, and before the commit. That it
    /// fails may be told only then; the write is undone all the same.
    fn execute_later(&mut self, statement: Statement) -> Result<()>;

    /// Changes one row if it still is what `change` expects, and then adds the row that belongs to it; false if it is not.
    /// `addition` is an `insert … select` without a `from`.
    ///
    /// True may be said before that is known: then, if it comes out otherwise, the write is undone and run again.
    fn change_and_add(&mut self, change: Statement, addition: Statement) -> BoxFuture<'_, Result<bool>>;

    /// Runs a statement before the commit, after all other writes; what this write reads later does not see it.
    fn execute_at_commit(&mut self, sql: &'static str, values: Vec<Cell>);

    /// Where this transaction counts, as an expression: writers that run side by side have different ones.
    fn slot(&self) -> &'static str;

    /// Runs what was left for the commit, now.
    fn catch_up(&mut self) -> BoxFuture<'_, Result<()>>;

    /// Has removed text not left in free space after the commit, where that is ours to do.
    fn compact_after_commit(&mut self);
}

/// A statement with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its text.
    pub sql: Cow<'static, str>,
    /// What stands at `?1`, `?2`, …
    pub values: Vec<Cell>,
}

impl Statement {
    /// A text with its values.
    pub fn new(sql: impl Into<Cow<'static, str>>, values: impl Into<Vec<Cell>>) -> Self {
        Self { sql: sql.into(), values: values.into() }
    }
}

/// What will probably be asked soon.
#[derive(Debug, Default)]
pub struct Ahead {
    /// The questions.
    pub statements: Vec<Statement>,
    /// True if nothing else will be asked: see [`Driver::end_with_next`].
    pub is_all: bool,
}

/// A query, and how its answer is read.
pub struct Question<T> {
    statement: Statement,
    read: Box<dyn FnOnce(Vec<Row>) -> Result<T> + Send>,
}

impl<T: 'static> Question<T> {
    /// What is asked, and what its rows say.
    pub fn new(statement: Statement, read: impl FnOnce(Vec<Row>) -> Result<T> + Send + 'static) -> Self {
        Self { statement, read: Box::new(read) }
    }

    /// What is asked.
    pub fn statement(self) -> Statement {
        self.statement
    }

    /// The same, with something made of its answer.
    pub fn then<U: 'static>(self, make: impl FnOnce(T) -> U + Send + 'static) -> Question<U> {
        Question::new(self.statement, |rows| (self.read)(rows).map(make))
    }
}

impl dyn Driver {
    /// What a question is answered.
    pub async fn ask<T>(&mut self, question: Question<T>) -> Result<T> {
        let Question { statement, read } = question;
        read(self.rows(&statement.sql, &statement.values).await?)
    }

    /// What two questions are answered that do not wait for each other.
    pub async fn ask_both<A, B>(&mut self, one: Question<A>, other: Question<B>) -> Result<(A, B)> {
        let statements = [one.statement, other.statement];
        let mut answers = self.rows_of(&statements).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        Ok(((one.read)(next())?, (other.read)(next())?))
    }

    /// The same of three.
    pub async fn ask_three<A, B, C>(
        &mut self,
        one: Question<A>,
        other: Question<B>,
        third: Question<C>,
    ) -> Result<(A, B, C)> {
        let statements = [one.statement, other.statement, third.statement];
        let mut answers = self.rows_of(&statements).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default();
        Ok(((one.read)(next())?, (other.read)(next())?, (third.read)(next())?))
    }

    /// The first row of a query, if there is one.
    pub fn row<'s>(&'s mut self, sql: &'s str, values: &'s [Cell]) -> BoxFuture<'s, Result<Option<Row>>> {
        self.rows(sql, values).map(|rows| Ok(rows?.into_iter().next())).boxed()
    }

    /// The first number of a query's first row, as a count has it; 0 if there is no row.
    pub async fn integer(&mut self, sql: &str, values: &[Cell]) -> Result<i64> {
        self.row(sql, values).await?.map_or(Ok(0), |row| row.integer(0))
    }
}

/// A unit of work inside a transaction. A write that met another one is run again from its start, in a new transaction:
/// it must change nothing outside of it. It is `Send`, so that a backend that waits may run it on any thread.
pub trait Work<T>: for<'t> FnMut(&'t mut Transaction) -> BoxFuture<'t, Result<T>> + Send + 'static {}

impl<T, F> Work<T> for F where F: for<'t> FnMut(&'t mut Transaction) -> BoxFuture<'t, Result<T>> + Send + 'static {}

/// Gives a closure the type of [`Work`]; the compiler does not find it through the trait alone.
pub fn work<T, F>(run: F) -> F
where
    F: for<'t> FnMut(&'t mut Transaction) -> BoxFuture<'t, Result<T>> + Send + 'static,
{
    run
}

/// The database. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    backend: Backend,
}

#[derive(Clone)]
enum Backend {
    Sqlite(sqlite::Store),
    Postgres(postgres::Store),
}

impl Store {
    /// Opens the database, brings its schema up to date, and gets ready to write. It blocks.
    ///
    /// Without `create`, one that is missing is `unavailable`. A database newer than this program is refused untouched.
    pub fn open(database: &Database, create: bool) -> Result<Self> {
        let backend = match database {
            Database::File(path) => Backend::Sqlite(sqlite::Store::open(path, create)?),
            Database::Server(address) => Backend::Postgres(postgres::Store::open(address, create)?),
        };
        Ok(Self { backend })
    }

    /// True if there is a HeyAira database of this program's schema, false if there is nothing yet. Anything else is
    /// refused: opening it might change it. It blocks, and changes nothing.
    pub fn is_at(database: &Database) -> Result<bool> {
        let found = match database {
            Database::File(path) => sqlite::look(path)?,
            Database::Server(address) => postgres::look(address)?,
        };
        match found {
            Found::Nothing => Ok(false),
            Found::Schema(migration::CURRENT) => Ok(true),
            Found::Schema(number) => Err(Refusal::not_allowed(
                format!("{database} has schema {number}, this program knows schema {}", migration::CURRENT),
                "Bring the older one of the two up to date: a database is, once its newest heyaira opens it, as heyaira \
                 verify does. Nothing was changed.",
            )),
            Found::Foreign => Err(Refusal::not_allowed(
                format!("{database} holds something else than HeyAira"),
                "Name the right database, or a new one. Nothing was changed.",
            )),
        }
    }

    /// Runs `work`, which only reads, on the database as it stands, for a process that asks one thing and ends: nothing is
    /// made or brought up to date. `work` begins with the instance, which tells what it may read. It blocks: who locks a
    /// file, and a server, is waited for no longer than `wait`, and nothing takes longer than until the deadline.
    pub fn peek<T: Send + 'static>(
        database: &Database,
        wait: Duration,
        deadline: Instant,
        work: impl Work<T>,
    ) -> Result<T> {
        match database {
            Database::File(path) => sqlite::peek(path, wait, deadline, work),
            Database::Server(address) => postgres::peek(address, deadline.min(Instant::now() + wait), work),
        }
    }

    /// Runs `work` on a file that is a copy of a database, which is not changed, and may be of another schema. It blocks.
    pub fn look_into<T>(copy: &Path, work: impl Work<T>) -> Result<T> {
        sqlite::look_into(copy, work)
    }

    /// Waits until all transactions have ended that may not see what was committed before this call.
    pub async fn outlast(&self, deadline: Instant) -> Result<()> {
        match &self.backend {
            // Its writers take turns, and each begins with what the last one left.
            Backend::Sqlite(_) => Ok(()),
            Backend::Postgres(store) => store.outlast(deadline).await,
        }
    }

    /// The file, where it is one.
    pub fn file(&self) -> Option<&Path> {
        match &self.backend {
            Backend::Sqlite(store) => Some(store.path()),
            Backend::Postgres(_) => None,
        }
    }

    /// False once the database's file was deleted or replaced: then this store refuses everything.
    pub fn is_current(&self) -> bool {
        match &self.backend {
            Backend::Sqlite(store) => store.is_current(),
            Backend::Postgres(_) => true,
        }
    }

    /// True once a call was refused because the database is damaged, until it is opened anew.
    pub fn is_damaged(&self) -> bool {
        match &self.backend {
            Backend::Sqlite(store) => store.is_damaged(),
            Backend::Postgres(store) => store.is_damaged(),
        }
    }

    /// Writes what is waiting and lets go of the database, as far as nobody is at it. For the end of the process: whoever
    /// still holds the store cannot write any more.
    pub fn close(&self) {
        match &self.backend {
            Backend::Sqlite(store) => store.close(),
            Backend::Postgres(store) => store.close(),
        }
    }

    /// How many watch this store for changes.
    pub fn watchers(&self) -> usize {
        match &self.backend {
            Backend::Sqlite(store) => store.watchers(),
            Backend::Postgres(store) => store.watchers(),
        }
    }

    /// Begins to watch. It may block while it connects.
    pub fn changes(&self) -> Result<Changes> {
        Ok(match &self.backend {
            Backend::Sqlite(store) => Changes(Watching::Sqlite(store.changes()?)),
            Backend::Postgres(store) => Changes(Watching::Postgres(store.changes()?)),
        })
    }

    /// Runs `work` on one consistent state. Nothing can be written in it.
    pub async fn read<T: Send + 'static>(&self, deadline: Instant, work: impl Work<T>) -> Result<T> {
        match &self.backend {
            Backend::Sqlite(store) => store.read(deadline, work),
            Backend::Postgres(store) => store.read(deadline, postgres::Asks::Anything, work).await,
        }
    }

    /// Runs `work`, which asks one thing: less goes back and forth than for [`Store::read`].
    pub async fn read_once<T: Send + 'static>(&self, deadline: Instant, work: impl Work<T>) -> Result<T> {
        match &self.backend {
            Backend::Sqlite(store) => store.read(deadline, work),
            Backend::Postgres(store) => store.read(deadline, postgres::Asks::Once, work).await,
        }
    }

    /// Runs `work` in a transaction that writes; answers once it is on disk.
    ///
    /// Past the deadline a write that has not begun never will, and is `unavailable`; one that is being committed is
    /// awaited.
    pub async fn write<T: Send + 'static>(&self, deadline: Instant, work: impl Work<T>) -> Result<T> {
        match &self.backend {
            Backend::Sqlite(store) => store.write(deadline, work).await,
            Backend::Postgres(store) => store.write(deadline, work).await,
        }
    }

    /// The same while nobody else writes, where several do at once: then `lock` has the others wait.
    pub async fn write_alone<T: Send + 'static>(
        &self,
        deadline: Instant,
        lock: &'static str,
        work: impl Work<T>,
    ) -> Result<T> {
        match &self.backend {
            Backend::Sqlite(store) => store.write(deadline, work).await,
            Backend::Postgres(store) => store.write_alone(deadline, lock, work).await,
        }
    }

    /// What durability and speed hang on: the database's version and settings, each looked at.
    pub fn findings(&self) -> Result<Vec<Finding>> {
        match &self.backend {
            Backend::Sqlite(store) => store.findings(),
            Backend::Postgres(store) => store.findings(),
        }
    }

    /// What the database's own check finds; empty if it is sound.
    pub fn integrity(&self) -> Result<Vec<String>> {
        match &self.backend {
            Backend::Sqlite(store) => store.integrity(),
            Backend::Postgres(_) => Ok(Vec::new()),
        }
    }

    /// A consistent copy of the database's file, made while it is in use.
    pub fn back_up(&self, to: &Path) -> Result<()> {
        match &self.backend {
            Backend::Sqlite(store) => store.back_up(to),
            Backend::Postgres(_) => Err(postgres::no_file("backed up", "pg_dump or pg_basebackup")),
        }
    }

    /// Puts the backup `from` in the place of everything in this database, also while others use it: they find it at
    /// their next call. `prepare` may refuse the backup or change it first. Answers what `prepare` did, and where the
    /// content is that was there until now, if there was any.
    pub fn restore<T>(&self, from: &Path, prepare: impl Work<T>) -> Result<(T, Option<PathBuf>)> {
        match &self.backend {
            Backend::Sqlite(store) => store.restore(from, prepare),
            Backend::Postgres(_) => Err(postgres::no_file("restored", "pg_restore")),
        }
    }
}

/// What a look at one thing found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub check: &'static str,
    /// How it stands with that.
    pub state: Health,
    /// What was found, and what to do if it is not well.
    pub told: String,
}

/// How it stands with something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Well.
    Ok,
    /// It works, and something can be lost or slow.
    Warning,
    /// It does not work, or loses what it acknowledges.
    Failed,
}

impl Finding {
    /// All is well.
    pub fn ok(check: &'static str, told: String) -> Self {
        Self { check, state: Health::Ok, told }
    }

    /// It works, and something can be lost or slow.
    pub fn warning(check: &'static str, told: String) -> Self {
        Self { check, state: Health::Warning, told }
    }

    /// It does not work, or loses what it acknowledges.
    pub fn failed(check: &'static str, told: String) -> Self {
        Self { check, state: Health::Failed, told }
    }
}

/// The changes of a database since this was made. While it lives, somebody watches; dropping it ends that at once.
pub struct Changes(Watching);

enum Watching {
    Sqlite(sqlite::Changes),
    Postgres(postgres::Changes),
}

impl Changes {
    /// Waits until something may have changed since the last time. Cancel-safe: no change is lost with a dropped wait.
    ///
    /// An error once the database was deleted or replaced or cannot be read, or the store is gone: then this is of no
    /// further use.
    pub async fn changed(&mut self) -> Result<()> {
        match &mut self.0 {
            Watching::Sqlite(changes) => changes.changed().await,
            Watching::Postgres(changes) => changes.changed().await,
        }
    }
}
