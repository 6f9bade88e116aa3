//! One side: a database with clients, a clock that every step sets, and ids that depend on the step alone, so that a
//! sequence without some of its steps gives the others the same ids.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use heyaira::domain::project::Instance;
use heyaira::domain::session::Observed;
use heyaira::domain::time::Timestamp;
use heyaira::domain::token::Role;
use heyaira::error::{Code, Refusal, Result};
use heyaira::operation::{Clock, Connection, Door, Ids, Pinned, Service, call};
use heyaira::operations::named;
use heyaira::store::backend::{Work, work};
use heyaira::store::project::create_instance;
use heyaira::store::token::Credential;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::draw::Draw;
use super::step::Step;
use crate::database::TestDatabase;
use crate::house::{CLAUDE, CODEX, INSTANCE, START, moment};

/// Who calls: a connection that is there from the beginning, whether or not its project is.
pub(super) struct Who {
    /// The project that it is pinned to.
    pub(super) project: Option<&'static str>,
    /// The instance that its profile names, if it names one.
    instance: Option<&'static str>,
    /// The credential's name.
    pub(super) caller: &'static str,
    /// What the credential may do.
    pub(super) role: Role,
    /// The way in.
    pub(super) door: Door,
    /// What its client tells: harness, model and session.
    observed: [Option<&'static str>; 3],
    /// The key of the one write that is made over it.
    key: Option<&'static str>,
    /// How often it calls.
    pub(super) weight: u64,
}

const NOTHING: [Option<&str>; 3] = [None, None, None];
const WHO: Who = Who {
    project: Some("ledger"),
    instance: None,
    caller: "maria",
    role: Role::Write,
    door: Door::Stdio,
    observed: NOTHING,
    key: None,
    weight: 10,
};

/// Everyone who calls. The first is the owner, who has no project.
pub(super) const CLIENTS: [Who; 14] = [
    Who { project: None, caller: "owner", role: Role::Admin, door: Door::CommandLine, weight: 0, ..WHO },
    Who { observed: [Some("claude-code/2.1"), Some("opus"), Some(CLAUDE)], weight: 20, ..WHO },
    Who { caller: "codex", observed: [Some("codex/1"), None, Some(CODEX)], weight: 20, ..WHO },
    Who { caller: "ci", door: Door::Http, ..WHO },
    Who { role: Role::Admin, door: Door::CommandLine, weight: 12, ..WHO },
    Who { caller: "reader", role: Role::Read, door: Door::Http, weight: 2, ..WHO },
    Who { project: Some("atlas"), door: Door::Mcp, observed: [None, None, Some("label:night shift")], ..WHO },
    Who { project: Some("atlas"), caller: "olga", ..WHO },
    Who { project: Some("scratch"), observed: [Some("claude-code/2.1"), None, Some(CLAUDE)], ..WHO },
    Who { project: Some("scratch"), caller: "ci", door: Door::Http, weight: 6, ..WHO },
    Who { caller: "bridge", door: Door::Bridge, key: Some("the one write"), weight: 2, ..WHO },
    Who { project: Some("nowhere"), weight: 1, ..WHO },
    Who { instance: Some("00000000-0000-4000-8000-000000000000"), weight: 1, ..WHO },
    Who {
        caller: "o'\"Brien\\ %_ 日本 \u{202e}",
        door: Door::Mcp,
        observed: [Some("odd/☃ \"1\""), Some("модель\\"), Some("label:o'\"Brien\\ %_ 日本 👩‍👩‍👧")],
        weight: 6,
        ..WHO
    },
];

struct StepClock(AtomicI64);

impl Clock for StepClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// Version 4 UUIDs that depend on the seed, the step, and how many the step drew before. Some begin alike, so that
/// prefixes are ambiguous and ids taken.
struct StepIds(Mutex<Draw>);

impl StepIds {
    fn enter(&self, seed: u64, step: usize) {
        let step = u64::try_from(step).expect("few steps");
        *self.0.lock().expect("free") = Draw::new(seed ^ Draw::new(step).bits());
    }
}

impl Ids for StepIds {
    fn uuid(&self) -> Uuid {
        let mut draw = self.0.lock().expect("free");
        let mut bits = u128::from(draw.bits()) << 64 | u128::from(draw.bits());
        match draw.below(40) {
            0..6 => bits = bits << 16 >> 16 | 0xc0de << 112,
            6 => bits = bits << 32 >> 32 | 0xc0de_cafe << 96,
            _ => {}
        }
        uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
    }

    fn secret_bytes(&self) -> Result<[u8; 32]> {
        let mut draw = self.0.lock().expect("free");
        let mut bytes = [0; 32];
        bytes.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&draw.bits().to_be_bytes()));
        Ok(bytes)
    }
}

/// A database and everyone who calls it.
pub(super) struct Side {
    /// What it is called where it differs.
    pub(super) name: &'static str,
    seed: u64,
    service: Service,
    clock: Arc<StepClock>,
    ids: Arc<StepIds>,
    connections: Vec<Arc<Connection>>,
    /// Where each page of a list led.
    cursors: HashMap<usize, String>,
    database: TestDatabase,
    _folder: TempDir,
}

impl Side {
    /// A fresh database file with an instance and nothing else.
    pub(super) fn on_a_file(runtime: &Runtime, seed: u64) -> Self {
        let folder = tempfile::tempdir().expect("a folder of its own");
        let database = TestDatabase::of_file(folder.path().join("heyaira.db"));
        Self::on(runtime, "SQLite", database, folder, seed)
    }

    /// The same on the server of the tests; where none is named, another file.
    pub(super) fn on_the_server(runtime: &Runtime, seed: u64) -> Self {
        let folder = tempfile::tempdir().expect("a folder of its own");
        let database = TestDatabase::new(folder.path().join("heyaira.db"));
        let name = if database.is_on_a_server() { "PostgreSQL" } else { "another SQLite" };
        Self::on(runtime, name, database, folder, seed)
    }

    fn on(runtime: &Runtime, name: &'static str, database: TestDatabase, folder: TempDir, seed: u64) -> Self {
        let clock = Arc::new(StepClock(AtomicI64::new(moment(START).0)));
        let ids = Arc::new(StepIds(Mutex::new(Draw::new(seed))));
        let connections = CLIENTS.iter().map(|who| Arc::new(connection(who, ids.as_ref()))).collect();
        let service = Service {
            store: database.open(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ids: Arc::clone(&ids) as Arc<dyn Ids>,
            deadline: Duration::from_mins(1),
        };
        let side =
            Self { name, seed, service, clock, ids, connections, cursors: HashMap::new(), database, _folder: folder };
        runtime.block_on(side.set_up());
        side
    }

    /// Does something wrong past the program.
    pub(super) fn spoil(&self, sql: &str) {
        self.database.damage(sql);
    }

    async fn set_up(&self) {
        let id: Uuid = INSTANCE.parse().expect("a UUID");
        let pin_key = [id.as_bytes().as_slice(), b"sixteen more ..."].concat();
        let instance = Instance { id, resource: format!("heyaira:{id}"), pin_key };
        let made = work(move |transaction| {
            let instance = instance.clone();
            Box::pin(async move { create_instance(transaction, &instance, moment(START)).await })
        });
        let deadline = Instant::now() + self.service.deadline;
        self.service.store.write(deadline, made).await.expect("an instance is made");
    }

    /// Makes the call of a step.
    pub(super) async fn ask(&mut self, step: &Step) -> Result<Value> {
        let who = &CLIENTS[step.client];
        self.clock.0.store(step.at, Ordering::SeqCst);
        self.ids.enter(self.seed, step.number);
        let entry = named(step.operation).unwrap_or_else(|| panic!("there is no operation {}", step.operation));
        let [harness, model, session_ref] = who.observed.map(|told| told.map(str::to_owned));
        let observed = Observed { harness, model, session_ref };
        let arguments = step.arguments_with(|number| self.cursors.get(&number).cloned());
        let answer = call(&self.service, &self.connections[step.client], &observed, entry, arguments).await;
        let cursor = answer.as_ref().ok().and_then(|answer| answer.get("next_cursor")).and_then(Value::as_str);
        if let Some(cursor) = cursor {
            self.cursors.insert(step.number, cursor.to_owned());
        }
        answer
    }

    /// Something read directly.
    pub(super) async fn read<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T> {
        self.service.store.read(Instant::now() + self.service.deadline, work).await
    }

    /// What a secret opens now, in words.
    pub(super) async fn opened_by(&self, secret: &str) -> String {
        let credential = self.service.credential(heyaira::domain::token::hash(secret)).await;
        // The project's number is the database's own, which no caller is told; projects that were purged count in one alone.
        let told = |opened: Option<Credential>| opened.map(|opened| Credential { project_id: None, ..opened });
        credential.map_or_else(|refusal| format!("{}: {refusal}", self.name), |opened| format!("{:?}", told(opened)))
    }
}

fn connection(who: &Who, ids: &dyn Ids) -> Connection {
    let none = Refusal::new(Code::NoProject, "no project was named", "Name one with --project.");
    let pinned =
        who.project.map(|project| Pinned { project: project.to_owned(), instance: who.instance.map(str::to_owned) });
    let mut connection = Connection::new(pinned.ok_or(none), who.caller.to_owned(), who.role, who.door, ids);
    connection.key = who.key.map(str::to_owned);
    connection
}
