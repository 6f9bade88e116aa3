//! A database of its own for each test, with one project, and operations that only tests have.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::time::{Duration, Instant};

use heyaira::domain::project::Instance;
use heyaira::domain::session::Observed;
use heyaira::domain::time::Timestamp;
use heyaira::domain::token::Role;
use heyaira::error::Result;
use heyaira::operation::{Clock, Connection, Context, Door, Effect, Entry, Ids, Operation, Pinned, Service, call};
use heyaira::operations;
use heyaira::store::backend::work;
use heyaira::store::project;
use heyaira::surface::mcp::handler::Handler;
use heyaira::surface::mcp::{Open, Opener};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::TestDatabase;

/// A clock that goes on by a second at each look.
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.fetch_add(1_000_000, Ordering::Relaxed))
    }
}

struct Random;

impl Ids for Random {
    fn uuid(&self) -> Uuid {
        Uuid::new_v4()
    }

    fn secret_bytes(&self) -> Result<[u8; 32]> {
        let mut bytes = [0; 32];
        bytes.chunks_exact_mut(16).for_each(|chunk| chunk.copy_from_slice(self.uuid().as_bytes()));
        Ok(bytes)
    }
}

/// A database in a folder that goes away with it.
pub struct Home {
    service: Service,
    database: TestDatabase,
    folder: tempfile::TempDir,
    /// What writes to the project need.
    pub write_context: String,
}

impl Home {
    /// With the project `demo`.
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let database = TestDatabase::new(folder.path().join("heyaira.db"));
        let service = service(&database);
        let id = Uuid::new_v4();
        let pin_key = project::new_pin_key(Uuid::new_v4(), Uuid::new_v4());
        let instance = Instance { id, resource: format!("heyaira:{id}"), pin_key };
        let now = service.clock.now();
        let create = work(move |transaction| {
            let instance = instance.clone();
            Box::pin(async move { project::create_instance(transaction, &instance, now).await })
        });
        let deadline = Instant::now() + Duration::from_secs(10);
        service.store.write(deadline, create).await.expect("an instance");
        let mut home = Self { service, database, folder, write_context: String::new() };
        home.administer("project_create", json!({"project": "demo"})).await;
        home.administer("project_create", json!({"project": "other"})).await;
        let profile = home.administer("profile_show", json!({"project": "demo"})).await;
        profile["write_context"].as_str().expect("a write_context").clone_into(&mut home.write_context);
        home
    }

    /// Runs an operation as the owner on the command line.
    pub async fn administer(&self, name: &str, arguments: Value) -> Value {
        self.administer_in("demo", name, arguments).await
    }

    /// The same in another project.
    pub async fn administer_in(&self, project: &str, name: &str, arguments: Value) -> Value {
        let connection = self.connection(project, Role::Admin, Door::CommandLine);
        let entry = operations::named(name).expect("an operation");
        call(&self.service, &connection, &Observed::default(), entry, arguments).await.expect("a success")
    }

    fn connection(&self, project: &str, role: Role, door: Door) -> Arc<Connection> {
        let pinned = Ok(Pinned { project: project.to_owned(), instance: None });
        Arc::new(Connection::new(pinned, "local".to_owned(), role, door, self.service.ids.as_ref()))
    }

    /// What an opener gives.
    pub fn open(&self) -> Open {
        Open { service: self.service.clone(), connection: self.connection("demo", Role::Write, Door::Stdio) }
    }

    /// An opener that always succeeds.
    pub fn opener(&self) -> Opener {
        let open = self.open();
        Box::new(move || Ok(open.clone()))
    }

    /// Closes the database; answers it with its folder, and an opener that opens it again.
    pub fn reopening(self) -> (Arc<TestDatabase>, tempfile::TempDir, Opener) {
        let Self { database, folder, .. } = self;
        let database = Arc::new(database);
        let again = Arc::clone(&database);
        let opener = move || {
            let service = service(&again);
            let pinned = Ok(Pinned { project: "demo".to_owned(), instance: None });
            let connection = Connection::new(pinned, "local".to_owned(), Role::Write, Door::Stdio, &Random);
            Ok(Open { service, connection: Arc::new(connection) })
        };
        (database, folder, Box::new(opener))
    }

    /// A server of all operations, in an empty environment.
    pub fn handler(&self) -> Handler {
        Handler::new(self.opener(), Vec::new())
    }

    /// A server of [`TEST_ONLY`].
    pub fn test_handler(&self) -> Handler {
        Handler::with_entries(self.opener(), Vec::new(), &TEST_ONLY)
    }
}

fn service(database: &TestDatabase) -> Service {
    Service {
        store: database.open(),
        clock: Arc::new(Ticking(AtomicI64::new(1_790_000_000_000_000))),
        ids: Arc::new(Random),
        deadline: Duration::from_secs(10),
    }
}

/// Operations that only tests have.
pub static TEST_ONLY: LazyLock<Vec<Entry>> =
    LazyLock::new(|| vec![Entry::of::<GatePass>(), Entry::of::<Fault>(), Entry::of::<Echo>()]);

/// A gate at which calls wait.
#[derive(Default)]
pub struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    inside: tokio::sync::watch::Sender<usize>,
    most: AtomicUsize,
    through: AtomicUsize,
}

/// Opens its gate when it goes away, so that a test that fails does not wait for its calls.
pub struct Keeper(Arc<Gate>);

impl std::ops::Deref for Keeper {
    type Target = Gate;

    fn deref(&self) -> &Gate {
        &self.0
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.open();
    }
}

static GATES: LazyLock<Mutex<Vec<Arc<Gate>>>> = LazyLock::new(Mutex::default);

impl Gate {
    /// A new closed gate and its number.
    pub fn closed() -> (Keeper, usize) {
        let mut gates = GATES.lock().expect("the gates");
        let gate = Arc::new(Self::default());
        gates.push(Arc::clone(&gate));
        (Keeper(gate), gates.len() - 1)
    }

    /// Lets all calls through.
    pub fn open(&self) {
        *self.open.lock().expect("the gate") = true;
        self.opened.notify_all();
    }

    /// Waits until so many calls wait at the gate.
    pub async fn holds(&self, count: usize) {
        let mut inside = self.inside.subscribe();
        inside.wait_for(|inside| *inside >= count).await.expect("a gate");
    }

    /// The most calls that were at the gate at once.
    pub fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    /// How many calls went through to their end.
    pub fn through(&self) -> usize {
        self.through.load(Ordering::SeqCst)
    }

    fn pass(&self) {
        let mut now = 0;
        self.inside.send_modify(|inside| {
            *inside += 1;
            now = *inside;
        });
        self.most.fetch_max(now, Ordering::SeqCst);
        let open = self.open.lock().expect("the gate");
        drop(self.opened.wait_while(open, |open| !*open).expect("the gate"));
        self.inside.send_modify(|inside| *inside -= 1);
        self.through.fetch_add(1, Ordering::SeqCst);
    }
}

/// Wait at a gate.
#[derive(Deserialize, JsonSchema)]
struct GatePass {
    /// Which gate.
    gate: i64,
}

impl Operation for GatePass {
    const NAME: &'static str = "gate_pass";
    const COMMAND: &'static str = "gate pass";
    const EFFECT: Effect = Effect::Reads;

    async fn run(self, _: &mut Context<'_>) -> Result<Value> {
        let number = usize::try_from(self.gate).expect("a number");
        let gate = Arc::clone(&GATES.lock().expect("the gates")[number]);
        gate.pass();
        Ok(json!({"passed": number}))
    }
}

/// Panic.
#[derive(Deserialize, JsonSchema)]
struct Fault {}

impl Operation for Fault {
    const NAME: &'static str = "fault";
    const COMMAND: &'static str = "fault";
    const EFFECT: Effect = Effect::Adds;

    async fn run(self, _: &mut Context<'_>) -> Result<Value> {
        panic!("a fault with a secret text");
    }
}

/// Answer what the client told about itself.
#[derive(Deserialize, JsonSchema)]
struct Echo {}

impl Operation for Echo {
    const NAME: &'static str = "echo";
    const COMMAND: &'static str = "echo";
    const EFFECT: Effect = Effect::Reads;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let Observed { harness, model, session_ref } = context.observed;
        Ok(json!({"harness": harness, "model": model, "session_ref": session_ref}))
    }
}
