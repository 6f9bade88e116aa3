//! A house of its own for every test: a fresh database, a clock that is set by hand, ids from a seed, and clients.
//! Must never look at the wall clock or wait for time to pass.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use heyaira::domain::project::Instance;
use heyaira::domain::session::Observed;
use heyaira::domain::task::{Actor, Content, Task};
use heyaira::domain::time::Timestamp;
use heyaira::domain::token::Role;
use heyaira::error::{Code, Refusal, Result};
use heyaira::operation::{Clock, Connection, Door, Ids, Pinned, Service, call};
use heyaira::operations::named;
use heyaira::store::backend::{Store, Work, work};
use heyaira::store::project::{create_instance, identity};
use heyaira::store::version::{Author, Version};
use heyaira::store::{self};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::database::TestDatabase;

/// The instance of a house that names no other.
pub(crate) const INSTANCE: &str = "5b1f09c2-7a64-4d0e-8f3b-c2a91e6d4470";
/// Where every clock starts.
pub(crate) const START: &str = "2026-11-25T08:00:00Z";
/// A session of Codex.
pub(crate) const CODEX: &str = "codex:01a2f6de-5c1b-7a80-9f44-3b7d20c9e815";
/// A session of Claude Code.
pub(crate) const CLAUDE: &str = "claude-code:0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31";

struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// Version 4 UUIDs from a seed; those that a test asks for come first.
struct SeededIds {
    state: Mutex<u64>,
    chosen: Mutex<VecDeque<Uuid>>,
}

impl SeededIds {
    fn new(seed: u64) -> Self {
        Self { state: Mutex::new(seed), chosen: Mutex::default() }
    }

    /// `SplitMix64`, as published by Sebastiano Vigna.
    fn next(&self) -> u64 {
        let mut state = self.state.lock().expect("no test panics while drawing");
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Ids for SeededIds {
    fn uuid(&self) -> Uuid {
        if let Some(chosen) = self.chosen.lock().expect("no test panics while drawing").pop_front() {
            return chosen;
        }
        let bytes = (u128::from(self.next()) << 64 | u128::from(self.next())).to_be_bytes();
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    fn secret_bytes(&self) -> Result<[u8; 32]> {
        let mut bytes = [0; 32];
        bytes.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&self.next().to_be_bytes()));
        Ok(bytes)
    }
}

/// One instance with the project `ledger`.
pub(crate) struct House {
    runtime: Runtime,
    service: Service,
    clock: Arc<HandClock>,
    ids: Arc<SeededIds>,
    /// Connections draw from a source of their own, so that chosen ids reach the calls.
    connection_ids: SeededIds,
    database: TestDatabase,
    folder: TempDir,
}

impl House {
    /// A house on the usual instance.
    pub(crate) fn new() -> Self {
        Self::on_instance(INSTANCE)
    }

    /// A house on that instance.
    pub(crate) fn on_instance(instance: &str) -> Self {
        Self::set_up(instance, TestDatabase::new)
    }

    /// A house on the usual instance in a file, also where the other tests use a server.
    pub(crate) fn in_file() -> Self {
        Self::set_up(INSTANCE, TestDatabase::of_file)
    }

    fn set_up(instance: &str, database: fn(PathBuf) -> TestDatabase) -> Self {
        let folder = tempfile::tempdir().expect("a folder of its own");
        let clock = Arc::new(HandClock(AtomicI64::new(moment(START).0)));
        let database = database(folder.path().join("heyaira.db"));
        let house = Self::open(folder, database, clock);
        let instance_id: Uuid = instance.parse().expect("a UUID");
        house.write(work(move |transaction| {
            Box::pin(async move {
                let resource = format!("heyaira:{instance_id}");
                let pin_key = [instance_id.as_bytes().as_slice(), b"sixteen more ..."].concat();
                create_instance(transaction, &Instance { id: instance_id, resource, pin_key }, moment(START)).await
            })
        }));
        house.add_project("ledger");
        house
    }

    fn open(folder: TempDir, database: TestDatabase, clock: Arc<HandClock>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let ids = Arc::new(SeededIds::new(7));
        let service = Service {
            store: database.open(),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ids: Arc::clone(&ids) as Arc<dyn Ids>,
            deadline: Duration::from_mins(1),
        };
        Self { runtime, service, clock, ids, connection_ids: SeededIds::new(11), database, folder }
    }

    /// The same database opened again, as after a restart.
    pub(crate) fn restarted(self) -> Self {
        let Self { folder, database, clock, service, ids, .. } = self;
        drop(service);
        let house = Self::open(folder, database, clock);
        *house.ids.state.lock().expect("free") = *ids.state.lock().expect("free");
        house
    }

    /// The database beside its program.
    pub(crate) fn database(&self) -> &TestDatabase {
        &self.database
    }

    /// Adds a project, through `call`.
    pub(crate) fn add_project(&self, slug: &str) {
        self.owner().ok("project_create", json!({"project": slug}));
    }

    /// An agent of `ledger` over standard input and output.
    pub(crate) fn client(&self, caller: &str) -> Client<'_> {
        self.client_in("ledger", caller)
    }

    /// An agent of that project.
    pub(crate) fn client_in(&self, project: &str, caller: &str) -> Client<'_> {
        self.connected(Ok(pinned(project)), caller, Role::Write, Door::Stdio)
    }

    /// An agent whose client tells its session.
    pub(crate) fn session(&self, caller: &str, session_ref: &str) -> Client<'_> {
        let observed = Observed { session_ref: Some(session_ref.to_owned()), ..Observed::default() };
        self.client(caller).observed(observed)
    }

    /// A person at the command line of `ledger`.
    pub(crate) fn person(&self, caller: &str) -> Client<'_> {
        self.connected(Ok(pinned("ledger")), caller, Role::Admin, Door::CommandLine)
    }

    /// The owner of the instance at the command line, without a project.
    pub(crate) fn owner(&self) -> Client<'_> {
        let none = Refusal::new(Code::NoProject, "no project was named", "Name one with --project.");
        self.connected(Err(none), "owner", Role::Admin, Door::CommandLine)
    }

    /// Any connection.
    pub(crate) fn connected(&self, pinned: Result<Pinned>, caller: &str, role: Role, door: Door) -> Client<'_> {
        let write_context = match &pinned {
            Ok(pinned) => self.write_context(&pinned.project),
            Err(_) => String::new(),
        };
        let connection = Connection::new(pinned, caller.to_owned(), role, door, &self.connection_ids);
        Client { house: self, connection: Arc::new(connection), observed: Observed::default(), write_context }
    }

    /// The `write_context` of a project's present profile; empty if there is no such project.
    pub(crate) fn write_context(&self, project: &str) -> String {
        let profile = self.owner().call("profile_show", json!({"project": project}));
        profile.map_or_else(|_| String::new(), |profile| text(&profile["write_context"]).to_owned())
    }

    /// Moves the clock by that many minutes; backwards if negative.
    pub(crate) fn pass_minutes(&self, minutes: i64) {
        self.clock.0.fetch_add(minutes * 60_000_000, Ordering::SeqCst);
    }

    /// Moves the clock by that many hours; backwards if negative.
    pub(crate) fn pass_hours(&self, hours: i64) {
        self.pass_minutes(hours * 60);
    }

    /// Sets the clock.
    pub(crate) fn set_time(&self, rfc3339: &str) {
        self.clock.0.store(moment(rfc3339).0, Ordering::SeqCst);
    }

    /// The ids that the next calls draw, in order.
    pub(crate) fn next_ids(&self, ids: &[&str]) {
        let ids = ids.iter().map(|id| id.parse::<Uuid>().expect("a UUID"));
        self.ids.chosen.lock().expect("free").extend(ids);
    }

    /// Runs futures to their end, side by side.
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// The database.
    pub(crate) fn store(&self) -> &Store {
        &self.service.store
    }

    /// Something written directly, as an importer would.
    pub(crate) fn write<T: Send + 'static>(&self, work: impl Work<T>) -> T {
        let written = self.block_on(self.service.store.write(Instant::now() + self.service.deadline, work));
        written.expect("the store accepts it")
    }

    /// Something read directly.
    pub(crate) fn read<T: Send + 'static>(&self, work: impl Work<T>) -> T {
        let read = self.block_on(self.service.store.read(Instant::now() + self.service.deadline, work));
        read.expect("the store answers")
    }

    /// Adds tasks with chosen ids, versions and contents to a project in one transaction.
    pub(crate) fn import(&self, project: &str, tasks: Vec<(Uuid, i64, Content)>) {
        let (project, now) = (project.to_owned(), self.clock.now());
        self.write(work(move |transaction| {
            let (project, tasks) = (project.clone(), tasks.clone());
            Box::pin(async move {
                let (_, found) = identity(transaction, Some(&project)).await?;
                let project_id = found.expect("the project exists").project_id;
                let actor = Actor { caller: "importer".to_owned(), session_ref: None, told: false };
                for (task_id, version, content) in tasks {
                    let mut task = Task::create(task_id, content, &actor, now);
                    task.version = version;
                    store::task::insert(transaction, project_id, &task).await?;
                    let first = first_version(&task);
                    store::version::insert(transaction, project_id, task_id, &first)?;
                }
                Ok(())
            })
        }));
    }

    /// A random id.
    pub(crate) fn draw(&self) -> Uuid {
        self.ids.uuid()
    }
}

fn first_version(task: &Task) -> Version {
    Version {
        version: task.version,
        at: task.created,
        author: Author {
            caller: "importer".to_owned(),
            connection: "import".to_owned(),
            session_ref: None,
            harness: None,
        },
        act: "create".to_owned(),
        changed: vec!["title".to_owned()],
        content: task.content.fields(),
    }
}

/// A pinned project without a pinned instance.
pub(crate) fn pinned(project: &str) -> Pinned {
    Pinned { project: project.to_owned(), instance: None }
}

/// A moment of RFC 3339.
pub(crate) fn moment(rfc3339: &str) -> Timestamp {
    let moment: jiff::Timestamp = rfc3339.parse().expect("RFC 3339");
    Timestamp(moment.as_microsecond())
}

/// One connection with what its client tells.
pub(crate) struct Client<'h> {
    house: &'h House,
    connection: Arc<Connection>,
    observed: Observed,
    /// From the profile that was valid when the client was set up.
    pub(crate) write_context: String,
}

impl Client<'_> {
    /// The same connection, with a client that tells this.
    /// The same connection, used by another session.
    pub(crate) fn observing(&self, observed: Observed) -> Client<'_> {
        Client {
            house: self.house,
            connection: Arc::clone(&self.connection),
            observed,
            write_context: self.write_context.clone(),
        }
    }

    pub(crate) fn observed(mut self, observed: Observed) -> Self {
        self.observed = observed;
        self
    }

    /// Has the connection take that for the number of its project until its next call.
    pub(crate) fn having_seen(&self, project_id: i64) {
        self.connection.note_project(project_id);
    }

    /// Asks; `write_context` is filled in from the profile unless given (null leaves it out).
    pub(crate) fn call(&self, name: &str, arguments: Value) -> Result<Value> {
        self.house.block_on(self.asking(name, arguments))
    }

    /// The same as a future, for calls side by side.
    pub(crate) async fn asking(&self, name: &str, mut arguments: Value) -> Result<Value> {
        let entry = named(name).unwrap_or_else(|| panic!("there is no operation {name}"));
        let takes = entry.schema["properties"].get("write_context").is_some();
        if let Some(given) = arguments.as_object_mut().filter(|_| takes && !self.write_context.is_empty()) {
            given.entry("write_context").or_insert_with(|| json!(self.write_context));
        }
        call(&self.house.service, &self.connection, &self.observed, entry, arguments).await
    }

    /// The answer of a call that must be accepted.
    #[track_caller]
    pub(crate) fn ok(&self, name: &str, arguments: Value) -> Value {
        match self.call(name, arguments) {
            Ok(answer) => answer,
            Err(refusal) => panic!("{name} was refused: {refusal}"),
        }
    }

    /// The text of a call that must be refused with this code and say all of `parts`.
    #[track_caller]
    pub(crate) fn refused(&self, name: &str, arguments: Value, code: Code, parts: &[&str]) -> String {
        refused(self.call(name, arguments), code, parts)
    }

    /// Creates a task; answers its full id.
    #[track_caller]
    pub(crate) fn create(&self, title: &str) -> String {
        self.create_with(title, json!({}))
    }

    /// Creates a task with more arguments; answers its full id.
    #[track_caller]
    pub(crate) fn create_with(&self, title: &str, more: Value) -> String {
        let arguments = merged(json!({"title": title, "summary": "created"}), more);
        text(&self.ok("task_create", arguments)["task_id"]).to_owned()
    }

    /// The arguments of an update with the usual summary.
    pub(crate) fn update_arguments(task: &str, version: i64, more: Value) -> Value {
        merged(json!({"task_id": task, "expected_version": version, "summary": "state"}), more)
    }

    /// Updates a task; answers the answer.
    #[track_caller]
    pub(crate) fn update(&self, task: &str, version: i64, more: Value) -> Value {
        self.ok("task_update", Self::update_arguments(task, version, more))
    }

    /// The text of an update that must be refused.
    #[track_caller]
    pub(crate) fn update_refused(&self, task: &str, version: i64, more: Value, code: Code, parts: &[&str]) -> String {
        self.refused("task_update", Self::update_arguments(task, version, more), code, parts)
    }

    /// Reads a task.
    #[track_caller]
    pub(crate) fn get(&self, task: &str) -> Value {
        self.ok("task_get", json!({"task_id": task}))
    }

    /// The current version of a task.
    #[track_caller]
    pub(crate) fn version(&self, task: &str) -> i64 {
        self.get(task)["version"].as_i64().expect("a version")
    }

    /// Hands a task off as that session, in one update; answers the answer.
    #[track_caller]
    pub(crate) fn hand_off(&self, task: &str, version: i64, session_ref: &str) -> Value {
        let arguments = json!({
            "status": "in_progress",
            "handoff_next": format!("cargo test -p import\nPrevious session: {session_ref}"),
            "work_receipt": {"session_ref": session_ref, "branch": "feat/import"},
        });
        self.update(task, version, arguments)
    }

    /// Takes a task over as that session; answers the answer.
    #[track_caller]
    pub(crate) fn take_over(&self, task: &str, version: i64, session_ref: &str) -> Value {
        let arguments = json!({"task_id": task, "expected_version": version, "session_ref": session_ref});
        self.ok("task_takeover", arguments)
    }
}

/// The text of a refusal with this code that says all of `parts`.
#[track_caller]
pub(crate) fn refused(result: Result<Value>, code: Code, parts: &[&str]) -> String {
    let refusal = match result {
        Err(refusal) => refusal,
        Ok(answer) => panic!("expected {}, was accepted: {answer}", code.as_str()),
    };
    let told = refusal.to_string();
    assert_eq!(refusal.code, code, "{told}");
    for part in parts {
        assert!(told.contains(part), "{told:?} does not say {part:?}");
    }
    told
}

/// `base` with the fields of `more` laid over it.
pub(crate) fn merged(mut base: Value, more: Value) -> Value {
    if let (Some(base), Value::Object(more)) = (base.as_object_mut(), more) {
        base.extend(more);
    }
    base
}

/// The text of a JSON string.
#[track_caller]
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// The rows of a JSON array.
#[track_caller]
pub(crate) fn rows(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value} is no array"))
}

/// The first 8 characters of an id.
pub(crate) fn short(task: &str) -> &str {
    &task[..8]
}

/// The rule names of an answer's warnings or findings.
pub(crate) fn rules(answer: &Value, list: &str) -> Vec<String> {
    let found = answer[list].as_array().into_iter().flatten();
    found.map(|one| text(&one["rule"]).to_owned()).collect()
}
