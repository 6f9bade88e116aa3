//! What an operation is: the trait, its erased entry, the context it runs in, and the one `call`.
//! Must never know an operation by name, a surface or a database driver.

pub mod arguments;
pub mod right;
pub mod schema;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::domain::project::{Instance, Project, short_instance};
use crate::domain::rule::{Rule, Setting};
use crate::domain::secret::Sightings;
use crate::domain::session::Observed;
use crate::domain::time::Timestamp;
use crate::domain::token::{Role, Secret};
use crate::error::{Code, Refusal, Result};
use crate::store::backend::{Ahead, Store, Transaction, Work, work};
use crate::store::token::{self, Credential};
use crate::store::{idempotency, project, task};

/// What a call may do, and so: its transaction, the role it needs, its hints on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Reads,
    /// Adds a new thing.
    Adds,
    /// Changes a thing at a version; a repetition is a conflict, not a second success.
    Changes,
    /// Sets up or tears down; for the owner of the instance only.
    Administers,
}

/// Where an operation can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Agents and people: every surface.
    Everyone,
    /// People: command line and page.
    People,
}

impl Effect {
    /// The role that a credential needs.
    pub const fn role(self) -> Role {
        match self {
            Self::Reads => Role::Read,
            Self::Adds | Self::Changes => Role::Write,
            Self::Administers => Role::Admin,
        }
    }
}

/// One thing that can be asked. Its fields and doc comments are the schema, the flags, the help and the reference.
pub trait Operation: DeserializeOwned + JsonSchema + Send + 'static {
    /// The name on the wire, `noun_verb`.
    const NAME: &'static str;
    /// The words on the command line.
    const COMMAND: &'static str;
    /// What it does to the store.
    const EFFECT: Effect;
    /// False if it changes nothing, also where only the owner may ask for it.
    const WRITES: bool = !matches!(Self::EFFECT, Effect::Reads);
    /// Who can ask for it.
    const AUDIENCE: Audience = Audience::Everyone;
    /// True if it speaks of one project; then the connection must be pinned to one.
    const IN_PROJECT: bool = true;
    /// True if clients that load tools late should load this one at once.
    const ALWAYS_LOAD: bool = false;
    /// What has others wait who write at the same time, where this cannot be done beside them.
    const ALONE: Option<&'static str> = None;
    /// The argument that may be a secret: one that is to be removed has to be named.
    const MAY_HOLD_SECRET: Option<&'static str> = None;
    /// What is wrong between arguments that are each right, told together with what is wrong in them.
    fn problems(_given: &Map<String, Value>, _observed: &Observed) -> Vec<String> {
        Vec::new()
    }

    /// What it asks first, as far as its arguments tell: a hint, so that this is asked together with who may ask it. Nobody
    /// looks at the answers before that is known.
    fn asks_first(_given: &Map<String, Value>, _place: &Place) -> Ahead {
        Ahead::default()
    }

    /// Does it, inside the context's transaction; answers JSON.
    fn run(self, context: &mut Context<'_>) -> impl Future<Output = Result<Value>> + Send;
}

type Problems = fn(&Map<String, Value>, &Observed) -> Vec<String>;
type AsksFirst = fn(&Map<String, Value>, &Place) -> Ahead;
type Run = for<'a, 'b> fn(Value, &'a mut Context<'b>) -> BoxFuture<'a, Result<Value>>;

/// Where and when a call is made, as far as that is known before anything was asked.
pub struct Place {
    /// The project's number when it was last seen; whoever is asked for another one asks again.
    pub project_id: i64,
    /// The time of the call.
    pub now: Timestamp,
}

/// An operation with its type erased, as the surfaces see it.
pub struct Entry {
    /// The name on the wire.
    pub name: &'static str,
    /// The words on the command line.
    pub command: &'static str,
    /// What it does to the store.
    pub effect: Effect,
    /// False if it changes nothing.
    pub writes: bool,
    /// Who can ask for it.
    pub audience: Audience,
    /// True if it speaks of one project.
    pub in_project: bool,
    /// True if clients that load tools late should load this one at once.
    pub always_load: bool,
    /// What has others wait who write at the same time.
    pub alone: Option<&'static str>,
    /// The argument that may be a secret.
    pub may_hold_secret: Option<&'static str>,
    /// The full schema: the source of flags, help, reference and checks.
    pub schema: Map<String, Value>,
    problems: Problems,
    asks_first: AsksFirst,
    run: Run,
}

impl Entry {
    /// The entry of one operation.
    pub fn of<T: Operation>() -> Self {
        Self {
            name: T::NAME,
            command: T::COMMAND,
            effect: T::EFFECT,
            writes: T::WRITES,
            audience: T::AUDIENCE,
            in_project: T::IN_PROJECT,
            always_load: T::ALWAYS_LOAD,
            alone: T::ALONE,
            may_hold_secret: T::MAY_HOLD_SECRET,
            schema: schema::full::<T>(),
            problems: T::problems,
            asks_first: T::asks_first,
            run: |arguments, context| {
                Box::pin(async move {
                    let operation: T = serde_json::from_value(arguments).map_err(|error| Refusal::internal(&error))?;
                    operation.run(context).await
                })
            },
        }
    }

    /// One sentence or two for a model.
    pub fn description(&self) -> &str {
        schema::wire_text(&self.schema).unwrap_or_default()
    }

    /// The schema as agents see it: no formats, no extensions, few words.
    pub fn wire_schema(&self) -> Map<String, Value> {
        schema::wire(&self.schema)
    }
}

/// The source of time.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// The source of ids.
pub trait Ids: Send + Sync {
    /// A random UUID, version 4.
    fn uuid(&self) -> Uuid;

    /// 32 random bytes that nobody can guess, for secrets: two UUIDs have 244 random bits, a token has 256.
    fn secret_bytes(&self) -> Result<[u8; 32]>;
}

/// What every call shares.
#[derive(Clone)]
pub struct Service {
    /// The database.
    pub store: Store,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn Ids>,
    /// How long a call may take.
    pub deadline: Duration,
}

impl Service {
    /// What a token of that hash opens now, if it is valid.
    pub async fn credential(&self, hash: [u8; 32]) -> Result<Option<Credential>> {
        let now = self.clock.now();
        let found = work(move |transaction| Box::pin(async move { token::find(transaction, &hash, now).await }));
        self.store.read_once(Instant::now() + self.deadline, found).await
    }

    /// The instance, and the project of that slug if it exists.
    pub async fn identity(&self, slug: Option<&str>) -> Result<(Instance, Option<Project>)> {
        let slug = slug.map(str::to_owned);
        let found = work(move |transaction| {
            let slug = slug.clone();
            Box::pin(async move { project::identity(transaction, slug.as_deref()).await })
        });
        self.store.read_once(Instant::now() + self.deadline, found).await
    }
}

/// Which door a call came in by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// MCP over standard input and output: one client, whose calls follow each other.
    Stdio,
    /// MCP over HTTP: each message stands alone.
    Mcp,
    /// Plain HTTP.
    Http,
    /// MCP over standard input and output on another machine, whose bridge passes each call on by plain HTTP.
    Bridge,
    /// The local command line: a person, who need not type the `write_context` of a project named by hand.
    CommandLine,
}

/// The project that a connection is pinned to.
#[derive(Clone, Debug)]
pub struct Pinned {
    /// The project's slug.
    pub project: String,
    /// The instance that the profile names; compared with the database on every call.
    pub instance: Option<String>,
}

struct Remembered {
    operation: &'static str,
    fingerprint: [u8; 32],
    answer: Value,
}

/// One client's connection: who calls, what it is pinned to, and its last write.
pub struct Connection {
    /// The project, or why there is none.
    pub pinned: Result<Pinned>,
    /// The credential's name.
    pub caller: String,
    /// What the credential may do.
    pub role: Role,
    /// The unattended run that it belongs to, if it does: such a connection reads and never writes.
    pub run: Option<String>,
    /// The way in.
    pub door: Door,
    /// Random, recorded with every version.
    pub id: String,
    /// The key of the one write that is made over it, for arguments that name none.
    pub key: Option<String>,
    last_write: Mutex<Option<Remembered>>,
    named_session: Mutex<Option<String>>,
    /// The number that the project had when it was last seen, 0 for none: what is asked ahead is asked with it.
    seen_project: AtomicI64,
}

impl Connection {
    /// A new connection with a new id.
    pub fn new(pinned: Result<Pinned>, caller: String, role: Role, door: Door, ids: &dyn Ids) -> Self {
        Self {
            pinned,
            caller,
            role,
            run: None,
            door,
            id: ids.uuid().simple().to_string()[..12].to_owned(),
            key: None,
            last_write: Mutex::new(None),
            named_session: Mutex::new(None),
            seen_project: AtomicI64::new(0),
        }
    }

    /// The same for what runs unattended.
    #[must_use]
    pub fn within(self, run: Option<String>) -> Self {
        Self { run, ..self }
    }

    /// Remembers which number the project has, as a hint for the next call.
    pub fn note_project(&self, project_id: i64) {
        self.seen_project.store(project_id, Ordering::Relaxed);
    }

    /// The session that this connection last wrote as, where its client does not tell one.
    pub fn named_session(&self) -> Option<String> {
        self.named_session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers the session that a takeover or receipt over this connection named.
    pub fn name_session(&self, session_ref: &str) {
        let mut named = self.named_session.lock().unwrap_or_else(PoisonError::into_inner);
        *named = Some(session_ref.to_owned());
    }
}

/// For how long it is found out whether a write happened whose commit was not answered: as long as a standby may take to
/// be made the primary.
const RESOLVING: Duration = Duration::from_secs(15);
/// How long a database that cannot be asked is left alone.
const ASKING_AGAIN: Duration = Duration::from_millis(250);
/// How often an id is drawn before the source of ids is taken for broken.
const DRAWS: usize = 64;

/// What an operation runs in: who asks, when, where, and the transaction.
pub struct Context<'t> {
    /// The open transaction.
    pub transaction: &'t mut Transaction,
    /// The deployment.
    pub instance: Instance,
    project: Option<Project>,
    /// The connection.
    pub connection: &'t Connection,
    /// What the client told without being asked.
    pub observed: &'t Observed,
    /// The time of this call.
    pub now: Timestamp,
    ids: &'t dyn Ids,
}

impl Context<'_> {
    /// The project of this call.
    pub fn project(&self) -> Result<&Project> {
        self.project.as_ref().ok_or_else(|| Refusal::internal(&"an operation without a project asked for it"))
    }

    /// A fresh random UUID, version 4.
    pub fn new_uuid(&self) -> Uuid {
        self.ids.uuid()
    }

    /// The first fresh id that `is_free`; `name` makes an id of a UUID.
    pub async fn free_id<T: Clone>(
        &mut self,
        name: impl Fn(Uuid) -> T,
        is_free: impl for<'f> Fn(&'f mut Transaction, T) -> BoxFuture<'f, Result<bool>>,
    ) -> Result<T> {
        for _ in 0..DRAWS {
            let id = name(self.new_uuid());
            if is_free(self.transaction, id.clone()).await? {
                return Ok(id);
            }
        }
        Err(Refusal::internal(&format!("no free id in {DRAWS} draws")))
    }

    /// A fresh token.
    pub fn new_secret(&self) -> Result<Secret> {
        self.ids.secret_bytes().map(Secret::of)
    }
}

/// Runs one operation: checks identity and role, parses, refuses secrets, answers replays, and commits before it answers.
pub async fn call(
    service: &Service,
    connection: &Arc<Connection>,
    observed: &Observed,
    entry: &'static Entry,
    arguments: Value,
) -> Result<Value> {
    let prepared = prepare(entry, connection, observed, arguments);
    let writes = entry.writes && prepared.arguments.is_ok();
    let (fingerprint, has_key) = (prepared.repetition.fingerprint, prepared.repetition.idempotency_key.is_some());
    let deadline = Instant::now() + service.deadline;
    let work = work({
        let (connection, observed) = (Arc::clone(connection), observed.clone());
        let (clock, ids) = (Arc::clone(&service.clock), Arc::clone(&service.ids));
        move |transaction| {
            let (connection, observed, prepared) = (Arc::clone(&connection), observed.clone(), prepared.clone());
            let (now, ids) = (clock.now(), Arc::clone(&ids));
            Box::pin(
                async move { execute(entry, &connection, &observed, prepared, transaction, now, ids.as_ref()).await },
            )
        }
    });
    let outcome = match (writes, has_key) {
        (false, _) => service.store.read(deadline, work).await,
        (true, _) if let Some(lock) = entry.alone => service.store.write_alone(deadline, lock, work).await,
        (true, false) => service.store.write(deadline, work).await,
        (true, true) => write_until_known(&service.store, deadline, work).await,
    };
    if entry.effect == Effect::Changes || entry.effect == Effect::Adds {
        let mut last = connection.last_write.lock().unwrap_or_else(PoisonError::into_inner);
        let done = outcome.as_ref().ok();
        // Only what follows a success at once is its repetition: a refused write in between ends that.
        *last = done.map(|answer| Remembered { operation: entry.name, fingerprint, answer: answer.clone() });
    }
    outcome
}

/// Writes with a key, and where nobody knows whether it was committed, asks with the same key until that is known: a
/// write that happened answers what it answered.
async fn write_until_known(store: &Store, deadline: Instant, work: impl Work<Value> + Clone) -> Result<Value> {
    let first = store.write(deadline, work.clone()).await;
    let Err(uncertain) = &first else { return first };
    if !uncertain.is_uncertain() {
        return first;
    }
    let until = deadline.min(Instant::now() + RESOLVING);
    while Instant::now() < until {
        tokio::time::sleep(ASKING_AGAIN).await;
        match store.write(until, work.clone()).await {
            // That this attempt did nothing says nothing of the first.
            Err(refusal) if refusal.code == Code::Unavailable => {}
            known => return known,
        }
    }
    first
}

#[derive(Clone)]
struct Prepared {
    /// The checked arguments, or everything that is wrong with them.
    arguments: Result<Map<String, Value>>,
    /// The secrets in what was sent.
    sightings: Sightings,
    write_context: Option<String>,
    repetition: Repetition,
}

/// What a repetition of a call is known by; a call that only reads has no need of it.
#[derive(Clone, Default)]
struct Repetition {
    idempotency_key: Option<String>,
    fingerprint: [u8; 32],
}

impl Repetition {
    fn of(entry: &Entry, connection: &Connection, observed: &Observed, checked: &Map<String, Value>) -> Self {
        let effect = entry.effect;
        if effect == Effect::Reads {
            return Self::default();
        }
        // Sessions may share a connection, a credential and a key: a claim repeats only the same session's own.
        let session = observed.session_ref.as_deref().filter(|_| effect == Effect::Changes);
        let named = checked.get("idempotency_key").and_then(Value::as_str).map(str::to_owned);
        // Keys keep answers, and what administers may answer with a secret.
        let has_key = matches!(effect, Effect::Adds | Effect::Changes);
        Self {
            idempotency_key: named.or_else(|| connection.key.clone().filter(|_| has_key)),
            fingerprint: arguments::fingerprint(&entry.schema, checked, session),
        }
    }
}

fn prepare(entry: &Entry, connection: &Connection, observed: &Observed, arguments: Value) -> Prepared {
    let reading = arguments::Reading {
        schema: &entry.schema,
        reads: entry.effect == Effect::Reads,
        by_person: connection.door == Door::CommandLine,
        whole: matches!(connection.door, Door::CommandLine | Door::Http),
    };
    let write_context = arguments.get("write_context").and_then(Value::as_str).map(str::to_owned);
    let sightings = Sightings::in_arguments(&arguments, entry.may_hold_secret);
    let arguments = reading.parse(arguments, |given| (entry.problems)(given, observed));
    let repetition = arguments.as_ref().map(|checked| Repetition::of(entry, connection, observed, checked));
    Prepared { repetition: repetition.unwrap_or_default(), write_context, sightings, arguments }
}

async fn execute(
    entry: &'static Entry,
    connection: &Connection,
    observed: &Observed,
    prepared: Prepared,
    transaction: &mut Transaction,
    now: Timestamp,
    ids: &dyn Ids,
) -> Result<Value> {
    // What speaks of no project, or names one itself, is not bound to the pinned one.
    let pinned = if entry.in_project { Some(connection.pinned.as_ref().map_err(Clone::clone)?) } else { None };
    let slug = pinned.map(|pinned| pinned.project.as_str());
    transaction.ask_ahead(&|| asked_ahead(entry, connection, &prepared, now));
    let (instance, project, standing) = project::identity_and_standing(transaction, slug).await?;
    // Secrets come first: a caller that is refused for another reason must not send them again.
    let warnings = prepared.sightings.judge(secret_setting(project.as_ref()))?;
    check_place(pinned, &instance, project.as_ref())?;
    right::check(connection, entry)?;
    if let (Some(given), Some(project)) = (&prepared.write_context, &project)
        && entry.effect != Effect::Reads
    {
        project.check_write_context(&instance, given)?;
    }
    let mut arguments = prepared.arguments?;
    arguments.shift_remove("write_context");
    if let Some(project) = &project
        && entry.effect != Effect::Reads
        && entry.in_project
    {
        project.check_open(entry.effect == Effect::Administers)?;
    }
    let project_id = project.as_ref().map_or(0, |project| project.project_id);
    if entry.in_project {
        connection.note_project(project_id);
    }
    if let Some(answer) = replay(entry, connection, &prepared.repetition, project_id, transaction, now).await? {
        return Ok(answer);
    }
    if entry.writes {
        standing.check_writable()?;
    }
    let mut context = Context { transaction, instance, project, connection, observed, now, ids };
    let mut answer = (entry.run)(Value::Object(arguments), &mut context).await?;
    if entry.writes {
        warn(&mut answer, warnings);
    }
    if let Some(place) = idempotency_place(entry, connection, &prepared.repetition, project_id) {
        idempotency::save(context.transaction, &place, prepared.repetition.fingerprint, &answer, now)?;
    }
    Ok(answer)
}

/// What the project says to secrets in what is sent.
fn secret_setting(project: Option<&Project>) -> Setting {
    project.map_or(Setting::Refuse, |project| project.setting(Rule::Secrets))
}

/// How many warnings an answer has at most.
pub const WARNINGS: usize = 5;

/// Puts warnings in front of those that the answer has.
fn warn(answer: &mut Value, mut warnings: Vec<Value>) {
    let Some(fields) = answer.as_object_mut().filter(|_| !warnings.is_empty()) else { return };
    if let Some(Value::Array(others)) = fields.get_mut("warnings") {
        warnings.append(others);
    }
    warnings.truncate(WARNINGS);
    fields.insert("warnings".to_owned(), Value::Array(warnings));
}

/// What a call will ask once it is known that it may, if the project is what it was when it was last seen.
fn asked_ahead(entry: &Entry, connection: &Connection, prepared: &Prepared, now: Timestamp) -> Ahead {
    let project_id = connection.seen_project.load(Ordering::Relaxed);
    // What is refused is not sent on either: a database may log what it is asked.
    let may_ask = entry.in_project && project_id != 0 && prepared.sightings.is_empty();
    let Some(arguments) = prepared.arguments.as_ref().ok().filter(|_| may_ask) else {
        return Ahead::default();
    };
    let mut ahead = (entry.asks_first)(arguments, &Place { project_id, now });
    let place = idempotency_place(entry, connection, &prepared.repetition, project_id);
    ahead.statements.extend(place.map(|place| idempotency::find(&place, now).statement()));
    ahead
}

/// Where the answer is kept of a call with a key.
fn idempotency_place<'c>(
    entry: &Entry,
    connection: &'c Connection,
    repetition: &'c Repetition,
    project_id: i64,
) -> Option<idempotency::Place<'c>> {
    let key = repetition.idempotency_key.as_deref()?;
    Some(idempotency::Place { project_id, caller: &connection.caller, operation: entry.name, key })
}

/// The result of an earlier identical call, if this call is its repetition.
async fn replay(
    entry: &Entry,
    connection: &Connection,
    repetition: &Repetition,
    project_id: i64,
    transaction: &mut Transaction,
    now: Timestamp,
) -> Result<Option<Value>> {
    let first = if let Some(place) = idempotency_place(entry, connection, repetition, project_id) {
        match transaction.ask(idempotency::find(&place, now)).await? {
            Some((fingerprint, _)) if fingerprint != repetition.fingerprint => {
                return Err(Refusal::not_allowed(
                    format!("this idempotency_key was used for another {} with other arguments", entry.name),
                    "Send the first arguments again to get the first answer, or use a new key for a new call. Nothing was written.",
                ));
            }
            found => found.map(|(_, answer)| answer),
        }
    } else if entry.effect == Effect::Changes && connection.door == Door::Stdio {
        let last = connection.last_write.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref()
            .filter(|last| last.operation == entry.name && last.fingerprint == repetition.fingerprint)
            .map(|last| last.answer.clone())
    } else {
        None
    };
    let Some(Value::Object(mut answer)) = first else {
        return Ok(None);
    };
    answer.insert("replayed".to_owned(), json!(true));
    let id = answer.get("task_id").and_then(Value::as_str).and_then(|id| Uuid::parse_str(id).ok());
    if let Some(id) = id
        && let Some(version) = task::current_version(transaction, project_id, id).await?
    {
        answer.insert("current_version".to_owned(), json!(version));
    }
    Ok(Some(Value::Object(answer)))
}

/// Refuses what the database does not have: the pinned instance, the pinned project.
pub(crate) fn check_place(pinned: Option<&Pinned>, instance: &Instance, project: Option<&Project>) -> Result<()> {
    let Some(pinned) = pinned else {
        return Ok(());
    };
    if let Some(expected) = &pinned.instance
        && *expected != instance.id.to_string()
    {
        return Err(Refusal::new(
            Code::IdentityMismatch,
            format!(
                "this connection is pinned to project {} on instance {}; this database is instance {}",
                pinned.project,
                short_instance(expected),
                instance.short()
            ),
            "Nothing was written. Stop and compare with the connection profile. If that is right, name the database of its \
             instance with --database or HEYAIRA_DATABASE, or reach its server with heyaira setup CLIENT --remote URL.",
        ));
    }
    if project.is_none() {
        return Err(Refusal::new(
            Code::NoProject,
            format!("there is no project {} on instance {}", pinned.project, instance.short()),
            "Ask the owner for the connection profile, or have the owner run: heyaira project create NAME.",
        ));
    }
    Ok(())
}
