//! The database of one test: a file, or where `HEYAIRA_TEST_POSTGRES` names a server, a database on that server. Must
//! never leave one there, also where the test fails.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use heyaira::error::Result;
use heyaira::store::backend::{Database, Store};
use rusqlite::types::Value;
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};
use uuid::Uuid;

/// The URL of a database on a server where tests may make their own.
const SERVER: &str = "HEYAIRA_TEST_POSTGRES";
/// How long a server may take to notice that a connection is gone.
const PATIENCE: Duration = Duration::from_secs(20);
/// What makes test programs take turns with the template.
const TURN: i64 = 0x7465_6d70_6c61_7465;

/// A database with nothing in it. Gone when it is dropped.
pub struct TestDatabase(Kind);

enum Kind {
    File(PathBuf),
    Server {
        name: String,
        address: String,
    },
    /// On a server that the test made, and that goes with all that is on it.
    Elsewhere(String),
}

impl TestDatabase {
    /// At that path, where nobody made it yet; on a server, where one is named, with the present schema.
    pub fn new(file: PathBuf) -> Self {
        static TEMPLATE: OnceLock<String> = OnceLock::new();
        match server() {
            None => Self(Kind::File(file)),
            Some(server) => Self::on(server, TEMPLATE.get_or_init(|| template(server))),
        }
    }

    /// At that path, also where a server is named.
    pub fn of_file(file: PathBuf) -> Self {
        Self(Kind::File(file))
    }

    /// At that path, where nobody made it yet; on a server, where one is named, without any schema.
    pub fn empty(file: PathBuf) -> Self {
        server().map_or(Self(Kind::File(file)), |server| Self::on(server, "template0"))
    }

    /// On a server that the test made.
    pub const fn elsewhere(address: String) -> Self {
        Self(Kind::Elsewhere(address))
    }

    fn on(server: &str, template: &str) -> Self {
        let name = format!("test_{}", Uuid::new_v4().simple());
        // The usual strategy takes twice the time: it writes the whole template to the log.
        run(server, &format!("create database {name} template {template} strategy file_copy"));
        Self(Kind::Server { address: beside(server, &name), name })
    }

    /// The same once more, at that path where it is a file. Nobody may have it open.
    pub fn copy(&self, to: PathBuf) -> Self {
        match &self.0 {
            Kind::File(file) => {
                assert!(self.is_closed(), "what is beside the file is not copied");
                fs::copy(file, &to).expect("a copy");
                Self(Kind::File(to))
            }
            Kind::Server { name, .. } => Self::on(server().expect("it was there"), name),
            Kind::Elsewhere(_) => panic!("the server is the test's own: copy it there"),
        }
    }

    /// What `--database` takes.
    pub fn address(&self) -> &str {
        match &self.0 {
            Kind::File(file) => file.to_str().expect("UTF-8"),
            Kind::Server { address, .. } | Kind::Elsewhere(address) => address,
        }
    }

    /// Opens it.
    pub fn open(&self) -> Store {
        self.opened().expect("a database that opens")
    }

    /// Opens it, if it lets itself be opened.
    pub fn opened(&self) -> Result<Store> {
        Store::open(&Database::of(self.address()).expect("an address"), true)
    }

    /// True if it is on a server.
    pub fn is_on_a_server(&self) -> bool {
        !matches!(self.0, Kind::File(_))
    }

    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match &self.0 {
            Kind::File(_) => "SQLite",
            Kind::Server { .. } | Kind::Elsewhere(_) => "PostgreSQL",
        }
    }

    /// The file, for tests that are about it.
    #[track_caller]
    pub fn file(&self) -> &Path {
        match &self.0 {
            Kind::File(file) => file,
            Kind::Server { .. } | Kind::Elsewhere(_) => {
                panic!("name this test, which is about a file, in tests/postgres/sqlite-only.txt")
            }
        }
    }

    /// True while someone has it open and wrote: what SQLite keeps beside a file is there, or a connection.
    pub fn is_open(&self) -> bool {
        match &self.0 {
            Kind::File(file) => file.with_extension("db-wal").exists(),
            Kind::Elsewhere(_) => panic!("the server is the test's own: ask it"),
            Kind::Server { name, .. } => {
                let sql = format!(
                    "select from pg_stat_activity where datname = '{name}' and backend_type = 'client backend'"
                );
                on_thread(|| Session::new(server().expect("it was there")).rows(&sql)) > 0
            }
        }
    }

    /// True if nobody has it open. A server may take a while to notice.
    pub fn is_closed(&self) -> bool {
        let began = Instant::now();
        match &self.0 {
            Kind::File(file) => file.exists() && !self.is_open(),
            Kind::Server { .. } | Kind::Elsewhere(_) => loop {
                if !self.is_open() {
                    return true;
                }
                if began.elapsed() > PATIENCE {
                    return false;
                }
            },
        }
    }

    /// The rows of a query past the program, every value as text.
    pub fn texts(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        match &self.0 {
            Kind::File(file) => texts_of_file(file, sql),
            Kind::Server { address, .. } | Kind::Elsewhere(address) => on_thread(|| Session::new(address).texts(sql)),
        }
    }

    /// Does damage: a statement past the program, for which tables need not fit each other.
    pub fn damage(&self, sql: &str) {
        match &self.0 {
            Kind::File(file) => {
                let connection = rusqlite::Connection::open(file).expect("the database");
                let damaged = connection.execute_batch(&format!("pragma foreign_keys = off; {sql}"));
                damaged.unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
            Kind::Server { address, .. } | Kind::Elsewhere(address) => {
                run(address, &format!("set session_replication_role = replica; {sql}"));
            }
        }
    }

    /// Begins to write past the program, having looked at the database as it is now.
    pub fn begin(&self) -> Begun {
        match &self.0 {
            Kind::File(file) => {
                let connection = rusqlite::Connection::open(file).expect("the database");
                connection.execute_batch("begin immediate").expect("nobody else writes");
                Begun::File(connection)
            }
            Kind::Server { address, .. } | Kind::Elsewhere(address) => begin_on_server(address.clone()),
        }
    }

    /// Keeps everyone from writing until what it answers is dropped.
    pub fn hold_writers(&self) -> Hold {
        match &self.0 {
            Kind::File(file) => {
                let lock = File::options().write(true).open(file.with_extension("db-lock")).expect("a lock");
                lock.lock().expect("the lock is free");
                Hold::File { _lock: lock }
            }
            Kind::Server { address, .. } | Kind::Elsewhere(address) => hold_on_server(address.clone()),
        }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let (Kind::Server { name, .. }, Some(server)) = (&self.0, server()) {
            run(server, &format!("drop database if exists {name} with (force)"));
        }
    }
}

/// A transaction that has begun and not written yet.
pub enum Begun {
    /// It has its turn: nobody writes beside it.
    File(rusqlite::Connection),
    /// Others write beside it, which it does not see. A thread has it, and is told what to write.
    Server { write: mpsc::Sender<String>, thread: JoinHandle<()> },
}

impl Begun {
    /// True if others can write before it ends.
    pub const fn lets_others_write(&self) -> bool {
        matches!(self, Self::Server { .. })
    }

    /// Writes that and commits.
    pub fn end(self, sql: &str) {
        match self {
            Self::File(connection) => connection.execute_batch(&format!("{sql}; commit")).expect("written"),
            Self::Server { write, thread } => {
                write.send(sql.to_owned()).expect("it waits");
                thread.join().expect("written");
            }
        }
    }
}

fn begin_on_server(address: String) -> Begun {
    let (write, written) = mpsc::channel::<String>();
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn(move || {
        let session = Session::new(&address);
        session.run("begin isolation level repeatable read; select from instance");
        tell.send(()).expect("someone waits for it");
        if let Ok(sql) = written.recv() {
            session.run(&format!("{sql}; commit"));
        }
    });
    told.recv().expect("it has begun");
    Begun::Server { write, thread }
}

/// While it is there, nobody writes.
pub enum Hold {
    /// The lock of a file.
    File { _lock: File },
    /// A transaction of a thread that ends when the sender is gone.
    Server { end: Option<mpsc::Sender<()>>, thread: Option<JoinHandle<()>> },
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Self::Server { end, thread } = self {
            drop(end.take());
            thread.take().map(JoinHandle::join);
        }
    }
}

fn hold_on_server(address: String) -> Hold {
    let (end, ended) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn(move || {
        let session = Session::new(&address);
        session.run("begin; lock table task in exclusive mode");
        tell.send(()).expect("someone waits for it");
        let _ = ended.recv();
    });
    told.recv().expect("the lock is taken");
    Hold::Server { end: Some(end), thread: Some(thread) }
}

/// The server of the tests, if one is named.
pub fn server() -> Option<&'static str> {
    static NAMED: OnceLock<Option<String>> = OnceLock::new();
    let named = || std::env::var(SERVER).ok().filter(|url| !url.is_empty());
    NAMED.get_or_init(named).as_deref()
}

/// The address of another database on the same server.
fn beside(address: &str, name: &str) -> String {
    let (server, _) = address.rsplit_once('/').expect("the URL names a database");
    format!("{server}/{name}")
}

/// The name of the database that others are copied from. It is made once for a server and a schema.
fn template(server: &str) -> String {
    let name = format!("template_{}", schema());
    on_thread(|| {
        let session = Session::new(server);
        // Until the session ends.
        session.run(&format!("select pg_advisory_lock({TURN})"));
        if session.rows(&format!("select from pg_database where datname = '{name}'")) == 0 {
            let made = TestDatabase::on(server, "template0");
            drop(made.open());
            let Kind::Server { name: made, .. } = &made.0 else { unreachable!("it is on a server") };
            // Waits until nobody is connected to it.
            session.run(&format!("alter database {made} rename to {name}"));
        }
    });
    name
}

/// What tells the schema from others.
fn schema() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/postgres");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("migrations").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let mut digest = Sha256::new();
    for file in &files {
        digest.update(fs::read(file).expect("a migration"));
    }
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// One connection. Blocks, so that it must not be made where a runtime is.
struct Session {
    runtime: Runtime,
    client: Client,
}

impl Session {
    fn new(address: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let connect = tokio_postgres::connect(address, NoTls);
        let (client, connection) = runtime.block_on(connect).expect("the server of the tests");
        runtime.spawn(connection);
        Self { runtime, client }
    }

    fn run(&self, sql: &str) {
        let ran = self.runtime.block_on(self.client.batch_execute(sql));
        ran.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    fn rows(&self, sql: &str) -> usize {
        self.runtime.block_on(self.client.query(sql, &[])).expect("rows").len()
    }

    fn texts(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let told = self.runtime.block_on(self.client.simple_query(sql));
        let told = told.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let rows = told.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        rows.map(|row| (0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect()).collect()
    }
}

fn texts_of_file(file: &Path, sql: &str) -> Vec<Vec<Option<String>>> {
    let connection = rusqlite::Connection::open(file).expect("the database");
    let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let width = statement.column_count();
    let text = |row: &rusqlite::Row<'_>, column: usize| {
        Ok(match row.get::<_, Value>(column)? {
            Value::Null => None,
            Value::Integer(number) => Some(number.to_string()),
            Value::Real(number) => Some(number.to_string()),
            Value::Text(text) => Some(text),
            Value::Blob(bytes) => Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        })
    };
    let rows = statement.query_map([], |row| (0..width).map(|column| text(row, column)).collect());
    rows.and_then(Iterator::collect).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Runs statements on a connection of their own.
fn run(address: &str, sql: &str) {
    on_thread(|| Session::new(address).run(sql));
}

/// A test may be inside a runtime, where nothing may block.
fn on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
