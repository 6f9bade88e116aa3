//! The network: MCP and plain HTTP on one router, for callers with a credential.
//! Must never serve a project that a credential does not open, and never repeat a credential.

pub mod answer;
pub mod api;
pub mod body;
pub mod caller;
pub mod connection;
pub mod connections;
pub mod ending;
pub mod gate;
pub mod health;
pub mod mcp;
pub mod media;
pub mod openapi;
pub mod peers;
pub mod places;
pub mod router;
pub mod wire;

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::Value;

use crate::domain::session::Observed;
use crate::error::{Code, Refusal, Result};
use crate::operation::{self, Connection, Entry, Service};
use crate::surface::http::body::Room;
use crate::surface::http::ending::Ending;
use crate::surface::http::peers::Failures;
use crate::surface::http::places::Places;
use crate::surface::mcp::subscriptions::Subscriptions;

/// Opens the database; asked again when it was replaced.
pub type Opener = Box<dyn Fn() -> Result<Service> + Send + Sync>;

/// Who is let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Callers with a token.
    Tokens,
    /// Everyone who reaches the port, as this caller; on a loopback address only.
    Open(String),
}

/// How much one client may take from the others.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at once; beyond that the one that is idle longest makes room.
    pub connections: usize,
    /// The bytes of a request's line and headers.
    pub head_bytes: usize,
    /// How long a connection may be idle, and how long the head of a request may take.
    pub head: Duration,
    /// The bytes of a request's body: the largest request with every character escaped, and its wrapping.
    pub body_bytes: usize,
    /// How long a body may take.
    pub body: Duration,
    /// The bytes of all large bodies that are being read.
    pub bodies_bytes: usize,
    /// How long a client may read nothing of what it is sent.
    pub stalled: Duration,
    /// How long requests are still taken once the end has begun; no longer than calls may take to finish.
    pub draining: Duration,
    /// How long calls in flight may take to finish once the end has begun.
    pub finishing: Duration,
    /// Refused credentials from one address in a minute.
    pub failures: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1_024,
            head_bytes: 16 * 1024,
            head: Duration::from_secs(30),
            body_bytes: 4 * 1024 * 1024,
            body: Duration::from_secs(30),
            bodies_bytes: 64 * 1024 * 1024,
            stalled: Duration::from_secs(30),
            draining: Duration::from_secs(5),
            finishing: Duration::from_secs(30),
            failures: 20,
        }
    }
}

/// How to serve.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address that is listened on.
    pub listen: SocketAddr,
    /// Who is let in.
    pub auth: Auth,
    /// Names under which clients reach this server, beside its address.
    pub hosts: Vec<String>,
    /// Origins of web pages that may call it, beside its own.
    pub origins: Vec<String>,
    /// What one client may take.
    pub limits: Limits,
}

/// How many addresses all streams together may subscribe to.
const SUBSCRIPTIONS: usize = 10_000;

/// What all requests share.
pub struct Server {
    database: Arc<Database>,
    subscriptions: Arc<Subscriptions>,
    settings: Settings,
    places: Places,
    failures: Failures,
    room: Room,
    ending: Ending,
}

impl Server {
    /// Serves a database that is open. Without credentials only a loopback address is served.
    pub fn over(service: Service, opener: Opener, settings: Settings, resource: &str) -> Result<Self> {
        if matches!(settings.auth, Auth::Open(_)) && !settings.listen.ip().is_loopback() {
            return Err(Refusal::not_allowed(
                format!("{} can be reached from other machines, and --auth none lets everyone write", settings.listen),
                "Listen on 127.0.0.1, or leave --auth none out and make tokens: heyaira token create NAME --project PROJECT.",
            ));
        }
        let database = Arc::new(Database { opener, service: RwLock::new(service) });
        let watched = Arc::clone(&database);
        Ok(Self {
            database,
            subscriptions: Arc::new(Subscriptions::new(Box::new(move || Ok(watched.current())), SUBSCRIPTIONS)),
            places: Places::new(&settings, resource),
            failures: Failures::new(settings.limits.failures),
            room: Room::new(&settings.limits, matches!(settings.auth, Auth::Tokens)),
            ending: Ending::default(),
            settings,
        })
    }

    /// The database with its clock and ids, as it is open now.
    pub fn service(&self) -> Service {
        self.database.service()
    }

    /// The subscriptions of all callers.
    pub fn subscriptions(&self) -> &Arc<Subscriptions> {
        &self.subscriptions
    }

    /// Whether and how far it is ending.
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// Runs one operation; a panic becomes `internal`.
    async fn call(
        &self,
        connection: &Arc<Connection>,
        observed: &Observed,
        entry: &'static Entry,
        arguments: Value,
    ) -> Result<Value> {
        let service = self.service();
        let call = operation::call(&service, connection, observed, entry, arguments);
        let answer = AssertUnwindSafe(call).catch_unwind().await;
        // Not the panic's text, which may hold stored text.
        match answer.unwrap_or_else(|_| Err(Refusal::internal(&"a call panicked"))) {
            Err(refusal) if refusal.code == Code::NoProject => {
                let asked = connection.pinned.as_ref().map_or("", |pinned| pinned.project.as_str());
                Err(caller::unknown_project(asked))
            }
            Err(refusal) if refusal.code == Code::Unavailable => {
                // Why it cannot be opened anew, if it cannot, is what the caller must know.
                let reopened = self.database.reopen_if_replaced(&service);
                reopened.map_err(|refusal| refusal.with("retry_after_seconds", 1)).and(Err(refusal))
            }
            answer => answer,
        }
    }
}

/// The database that is open now, and how it is opened anew.
struct Database {
    opener: Opener,
    service: RwLock<Service>,
}

impl Database {
    fn service(&self) -> Service {
        self.service.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The one at its path, opened anew where it was replaced. It may block.
    fn current(&self) -> Service {
        let _ = self.reopen_if_replaced(&self.service());
        self.service()
    }

    /// The next call finds the file that stands in the place of the one that was open.
    fn reopen_if_replaced(&self, found: &Service) -> Result<()> {
        if found.store.is_current() {
            return Ok(());
        }
        let mut service = self.service.write().unwrap_or_else(PoisonError::into_inner);
        if service.store.is_current() {
            return Ok(());
        }
        *service = (self.opener)().inspect_err(|refusal| {
            tracing::warn!(%refusal, "the database was replaced and cannot be opened");
        })?;
        Ok(())
    }
}
