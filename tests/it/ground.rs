//! Where tests of sizes, searches and lists stand: a database of its own, a clock that only the test moves, and ids
//! that come in the same order in every run.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use heyaira::domain::project::Instance;
use heyaira::domain::session::Observed;
use heyaira::domain::time::Timestamp;
use heyaira::domain::token::Role;
use heyaira::error::{Code, Refusal, Result};
use heyaira::operation::{Clock, Connection, Door, Ids, Pinned, Service, call};
use heyaira::operations;
use heyaira::store::backend::work;
use heyaira::store::project;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::database::TestDatabase;

/// 2026-11-25T08:00:00Z.
const START: i64 = 1_795_593_600_000_000;

struct Moved(AtomicI64);

impl Clock for Moved {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

struct Numbered(AtomicU64);

impl Ids for Numbered {
    fn uuid(&self) -> Uuid {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        let (high, low) = (scattered(number), scattered(number ^ (1 << 63)));
        uuid::Builder::from_random_bytes(((u128::from(high) << 64) | u128::from(low)).to_be_bytes()).into_uuid()
    }

    fn secret_bytes(&self) -> Result<[u8; 32]> {
        let mut bytes = [0; 32];
        bytes.chunks_exact_mut(16).for_each(|chunk| chunk.copy_from_slice(self.uuid().as_bytes()));
        Ok(bytes)
    }
}

/// The mixing step of `splitmix64`: different numbers give different, scattered numbers.
pub(crate) fn scattered(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// One project as one client sees it.
pub(crate) struct Client {
    connection: Arc<Connection>,
    observed: Observed,
    write_context: String,
}

/// The database and its first client.
pub(crate) struct Ground {
    runtime: Runtime,
    service: Service,
    clock: Arc<Moved>,
    client: Client,
    _database: TestDatabase,
    _folder: TempDir,
}

impl Ground {
    /// A new database with the project `ledger`.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let clock = Arc::new(Moved(AtomicI64::new(START)));
        let database = TestDatabase::new(folder.path().join("heyaira.db"));
        let store = database.open();
        let ids = Arc::new(Numbered(AtomicU64::new(1)));
        let service = Service { store, clock: clock.clone(), ids, deadline: Duration::from_mins(2) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let instance = Instance {
            id: service.ids.uuid(),
            resource: "heyaira:test".to_owned(),
            pin_key: project::new_pin_key(service.ids.uuid(), service.ids.uuid()),
        };
        let made = work(move |transaction| {
            let instance = instance.clone();
            Box::pin(async move { project::create_instance(transaction, &instance, Timestamp(START)).await })
        });
        let deadline = Instant::now() + service.deadline;
        runtime.block_on(service.store.write(deadline, made)).expect("an instance");
        let client = make_project(&runtime, &service, "ledger");
        Self { runtime, service, clock, client, _database: database, _folder: folder }
    }

    /// Moves on to a new project of the same database: what was made before is out of sight.
    pub(crate) fn enter(&mut self, slug: &str) {
        self.client = make_project(&self.runtime, &self.service, slug);
    }

    /// Another project of the same database.
    pub(crate) fn project(&self, slug: &str) -> Client {
        make_project(&self.runtime, &self.service, slug)
    }

    /// Moves the clock on.
    pub(crate) fn wait_minutes(&self, minutes: i64) {
        self.clock.0.fetch_add(minutes * 60_000_000, Ordering::Relaxed);
    }

    /// The outcome of a call; `write_context` is added where the operation takes one.
    pub(crate) fn call(&self, operation: &str, arguments: Value) -> Result<Value> {
        self.call_as(&self.client, operation, arguments)
    }

    /// The same for another client.
    pub(crate) fn call_as(&self, client: &Client, operation: &str, arguments: Value) -> Result<Value> {
        self.runtime.block_on(asked(&self.service, client, operation, arguments))
    }

    /// The answer of a call that must succeed.
    pub(crate) fn ask(&self, operation: &str, arguments: Value) -> Value {
        let shown = arguments.to_string();
        let start: String = shown.chars().take(300).collect();
        self.call(operation, arguments).unwrap_or_else(|refusal| panic!("{operation} {start}: {refusal:?}"))
    }

    /// The code of a call that must fail.
    pub(crate) fn refused(&self, operation: &str, arguments: Value) -> Code {
        match self.call(operation, arguments) {
            Err(refusal) => refusal.code,
            Ok(answer) => panic!("{operation} was not refused: {answer}"),
        }
    }

    /// Many calls at once, committed together; all must succeed. Answers in order.
    pub(crate) fn ask_all(&self, operation: &str, arguments: impl IntoIterator<Item = Value>) -> Vec<Value> {
        let calls = arguments.into_iter().map(|one| asked(&self.service, &self.client, operation, one));
        let answers = self.runtime.block_on(join_all(calls));
        answers.into_iter().map(|answer| answer.expect("accepted")).collect()
    }

    /// A new task; answers its id.
    pub(crate) fn task(&self, arguments: Value) -> String {
        text(&self.ask("task_create", arguments)["task_id"])
    }

    /// An update of a task at its current version; the summary stays unless given.
    pub(crate) fn update(&self, task_id: &str, change: Value) -> Value {
        let current = self.ask("task_get", json!({"task_id": task_id, "field": "summary"}));
        let mut arguments =
            json!({"task_id": task_id, "expected_version": current["version"], "summary": current["text"]});
        merge(&mut arguments, change);
        self.ask("task_update", arguments)
    }

    /// Makes the call that an answer spells out: `task_get task_id=8e287857 field=description offset=4000`.
    pub(crate) fn follow(&self, spelled: &str) -> Value {
        let mut words = spelled.split(' ');
        let operation = words.next().expect("a name");
        let arguments: Map<String, Value> = words
            .map(|word| {
                let (name, value) = word.split_once('=').unwrap_or_else(|| panic!("no call: {spelled}"));
                let value = value.parse::<bool>().map_or_else(|_| json!(value), |flag| json!(flag));
                (name.to_owned(), value)
            })
            .collect();
        self.ask(operation, Value::Object(arguments))
    }
}

/// Lays the fields of `over` over those of `under`.
pub(crate) fn merge(under: &mut Value, over: Value) {
    if let (Value::Object(under), Value::Object(over)) = (under, over) {
        under.extend(over);
    }
}

/// A text of an answer.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// A list of an answer.
pub(crate) fn rows(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

fn asked<'a>(
    service: &'a Service,
    client: &'a Client,
    operation: &str,
    mut arguments: Value,
) -> impl Future<Output = Result<Value>> + use<'a> {
    let entry = operations::named(operation).unwrap_or_else(|| panic!("no operation {operation}"));
    if entry.schema["properties"].get("write_context").is_some() {
        merge(&mut arguments, json!({"write_context": client.write_context}));
    }
    call(service, &client.connection, &client.observed, entry, arguments)
}

fn make_project(runtime: &Runtime, service: &Service, slug: &str) -> Client {
    let nowhere = Err(Refusal::new(Code::NoProject, "no project", "none is needed"));
    let owner = connect(service, nowhere, Role::Admin, Door::CommandLine, String::new());
    let ask = |operation: &str| {
        runtime.block_on(asked(service, &owner, operation, json!({"project": slug}))).expect("accepted")
    };
    ask("project_create");
    let profile = ask("profile_show");
    let pinned = Ok(Pinned { project: slug.to_owned(), instance: None });
    connect(service, pinned, Role::Write, Door::Stdio, text(&profile["write_context"]))
}

fn connect(service: &Service, pinned: Result<Pinned>, role: Role, door: Door, write_context: String) -> Client {
    let connection = Arc::new(Connection::new(pinned, "maria".to_owned(), role, door, service.ids.as_ref()));
    Client { connection, observed: Observed::default(), write_context }
}
