//! Calls by the library's one door, as every surface makes them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use heyaira::domain::session::Observed;
use heyaira::domain::token::Role;
use heyaira::operation::{Clock, Connection, Door, Ids, Pinned, Service, call};
use heyaira::operations;
use heyaira::store::backend::{self, Store};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::asked::Asked;
use crate::clock::Wall;
use crate::database::{Database, Dice, PROJECT};
use crate::operation::Operation;

/// The words that the generated texts hold: one in three tasks of all, one in a third of them.
const RARE: &str = "quokka";
const FREQUENT: &str = "import";

/// Random ids.
pub(crate) struct Random(Mutex<Dice>);

impl Random {
    /// Other ids for every seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(Dice(seed)))
    }
}

impl Ids for Random {
    fn uuid(&self) -> Uuid {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).uuid()
    }

    fn secret_bytes(&self) -> heyaira::error::Result<[u8; 32]> {
        let mut bytes = [0; 32];
        bytes.chunks_exact_mut(16).for_each(|chunk| chunk.copy_from_slice(self.uuid().as_bytes()));
        Ok(bytes)
    }
}

/// One open database.
pub(crate) struct Library {
    runtime: Runtime,
    service: Service,
    connection: Arc<Connection>,
    write_context: String,
    ids: Vec<Uuid>,
    lines: Vec<String>,
    in_progress: Vec<Uuid>,
    dice: Dice,
    updates: usize,
}

impl Library {
    /// Opens a generated database.
    pub(crate) fn open(database: &Database) -> Self {
        let store = Store::open(&backend::Database::File(database.path.clone()), false).expect("the database opens");
        let ids = Arc::new(Random::new(Wall.now().0.unsigned_abs()));
        let service = Service { store, clock: Arc::new(Wall), ids, deadline: Duration::from_mins(1) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let pinned = Ok(Pinned { project: PROJECT.to_owned(), instance: None });
        let connection = Connection::new(pinned, "bench".to_owned(), Role::Write, Door::Stdio, service.ids.as_ref());
        Self {
            runtime,
            service,
            connection: Arc::new(connection),
            write_context: database.write_context(),
            ids: database.ids(),
            lines: database.lines(),
            in_progress: database.in_progress(),
            dice: Dice(5),
            updates: 0,
        }
    }

    /// The next call of an operation; what it needs to know beforehand is read here, outside the measured time.
    pub(crate) fn prepare(&mut self, operation: Operation) -> Asked {
        match operation {
            Operation::Get => Asked::reading("task_get", json!({"task_id": self.dice.one_of(&self.ids)})),
            Operation::List => Asked::reading("task_list", json!({})),
            Operation::Resume => {
                Asked::reading("continuity_context", json!({"handoff": self.dice.one_of(&self.lines)}))
            }
            Operation::Overview => Asked::reading("continuity_context", json!({})),
            Operation::RareWord => Asked::reading("task_list", json!({"query": RARE})),
            Operation::FrequentWord => Asked::reading("task_list", json!({"query": FREQUENT})),
            Operation::Update => {
                let task_id = self.dice.one_of(&self.in_progress).to_string();
                let current = self.ask(&Asked::reading("task_get", json!({"task_id": task_id, "field": "title"})));
                self.updates += 1;
                Asked::update(&task_id, &current["version"], &self.write_context, self.updates)
            }
        }
    }

    /// Makes a call.
    pub(crate) fn ask(&self, asked: &Asked) -> Value {
        let entry = operations::named(asked.tool).expect("a tool");
        let arguments = asked.arguments.clone();
        let observed = Observed::default();
        let answer = call(&self.service, &self.connection, &observed, entry, arguments);
        self.runtime.block_on(answer).expect("accepted")
    }
}
