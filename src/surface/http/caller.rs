//! Who calls: from the credential alone. Must never repeat a credential, and never tell a foreign project from one that
//! does not exist.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use http::header::{AUTHORIZATION, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

use crate::domain::project::slug_problem;
use crate::domain::secret;
use crate::domain::session::{Observed, session_ref_problem};
use crate::domain::text::{length, quoted};
use crate::domain::token::{self, Role};
use crate::error::{Code, Refusal, Result};
use crate::operation::{Connection, Door, Pinned, Service};
use crate::store::token::Credential;
use crate::surface::headers::{CONNECTION, HARNESS, INSTANCE, KEY, MODEL, NAMED_SESSION, SESSION, decoded};
use crate::surface::http::answer::Denied;
use crate::surface::http::connections::Peer;
use crate::surface::http::{Auth, Server};
use crate::surface::mcp::observed::{self, observe};

/// The longest id of a connection, in characters.
const CONNECTION_MAX: usize = 40;
/// The longest key of a call, in characters; the same as of the argument.
const KEY_MAX: usize = 200;

/// A caller that was let in.
#[derive(Clone)]
pub struct Caller {
    /// Whom the credential names, and the project that it was let into.
    pub connection: Arc<Connection>,
    /// What it said about itself beside the message.
    pub told: Observed,
    /// The hash of its token, to ask again whether it is still valid.
    pub token: Option<[u8; 32]>,
}

/// Whether a project of all must exist before the call is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Project {
    /// The call itself finds out.
    Asked,
    /// It must be there.
    Checked,
}

/// Lets a caller into a project, or tells why not.
pub async fn admit(server: &Server, parts: &Parts, slug: &str, door: Door, check: Project) -> Result<Caller, Denied> {
    let service = server.service();
    let hash = bearer(&parts.headers);
    let credential = match (&server.settings.auth, &hash) {
        (Auth::Open(name), _) => Credential { name: name.clone(), project: None, project_id: None, role: Role::Write },
        (Auth::Tokens, Sent::Token(hash)) => match service.credential(*hash).await? {
            Some(credential) => credential,
            None => return Err(refused(server, parts, "the token that was sent is not valid here, or no longer")),
        },
        (Auth::Tokens, Sent::Nothing) => return Err(refused(server, parts, "no token was sent")),
        (Auth::Tokens, Sent::Another) => {
            return Err(refused(server, parts, "the Authorization header is not of the form: Bearer TOKEN"));
        }
    };
    let name = credential.name.clone();
    let token = if let Sent::Token(hash) = hash { Some(hash) } else { None };
    let entered = enter(&service, parts, slug, door, check, credential).await;
    let (connection, told) = entered.map_err(|refusal| Denied::from(refusal).of(&name, slug))?;
    Ok(Caller { connection: Arc::new(connection), told, token })
}

/// The connection of a credential to a project that it opens, and what is told beside.
async fn enter(
    service: &Service,
    parts: &Parts,
    slug: &str,
    door: Door,
    check: Project,
    credential: Credential,
) -> Result<(Connection, Observed)> {
    let is_checked = credential.project.is_some() || check == Project::Asked;
    let is_open = credential.project.as_deref().is_none_or(|only| only == slug) && slug_problem(slug).is_none();
    if !is_open || !(is_checked || service.identity(Some(slug)).await?.1.is_some()) {
        return Err(unknown_project(slug));
    }
    let instance = instance(&parts.headers)?;
    let bridge = bridge(&parts.headers, door)?;
    let told = told(&parts.headers, bridge.is_some())?;
    let pinned = Pinned { project: slug.to_owned(), instance };
    let door = if bridge.is_some() { Door::Bridge } else { door };
    let mut connection = Connection::new(Ok(pinned), credential.name, credential.role, door, service.ids.as_ref());
    connection.key = key(&parts.headers)?;
    if let Some(project_id) = credential.project_id {
        connection.note_project(project_id);
    }
    if let Some(Bridge { id, named_session }) = bridge {
        connection.id = id;
        if let Some(named) = named_session {
            connection.name_session(&named);
        }
    }
    Ok((connection, told))
}

/// True while a token that was let in still is.
pub async fn still_valid(server: &Server, caller: &Caller) -> bool {
    match (&server.settings.auth, caller.token) {
        (Auth::Tokens, Some(hash)) => matches!(server.service().credential(hash).await, Ok(Some(_))),
        (Auth::Tokens, None) => false,
        (Auth::Open(_), _) => true,
    }
}

enum Sent {
    Token([u8; 32]),
    Nothing,
    Another,
}

fn bearer(headers: &HeaderMap) -> Sent {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let Some(first) = given.next() else {
        return Sent::Nothing;
    };
    let words = first.to_str().ok().and_then(|text| text.split_once(' '));
    match words {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bearer") && given.next().is_none() => {
            Sent::Token(token::hash(rest.trim()))
        }
        _ => Sent::Another,
    }
}

fn refused(server: &Server, parts: &Parts, message: &str) -> Denied {
    let peer = parts.extensions.get::<Peer>();
    if let Some(seconds) = peer.and_then(|peer| server.failures.count(peer.0.ip(), Instant::now())) {
        return Refusal::new(
            Code::RateLimited,
            "too many requests without a valid token came from this address",
            format!("Get the token from the owner, and wait {seconds} seconds. Valid tokens are served meanwhile."),
        )
        .with("retry_after_seconds", seconds)
        .into();
    }
    let next = "Send the header Authorization: Bearer TOKEN; the owner makes one with heyaira token create NAME --project PROJECT.";
    Refusal::new(Code::Unauthenticated, message, next).into()
}

/// What a project that is not there and one that the credential does not open have in common.
pub fn unknown_project(slug: &str) -> Refusal {
    let shown = if slug_problem(slug).is_none() { slug.to_owned() } else { quoted(slug, 80) };
    Refusal::not_found(
        format!("there is no project {shown} for this caller"),
        "Compare the address with the connection profile, or ask the owner for a token that opens the project.",
    )
}

/// What a bridge keeps of its connection, since a server keeps nothing between two calls.
struct Bridge {
    id: String,
    named_session: Option<String>,
}

/// The connection behind a call of plain HTTP that a bridge passes on.
fn bridge(headers: &HeaderMap, door: Door) -> Result<Option<Bridge>> {
    let Some(id) = header(headers, CONNECTION)?.filter(|_| door == Door::Http) else {
        return Ok(None);
    };
    if id.is_empty() || id.len() > CONNECTION_MAX || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(unreadable(CONNECTION, &format!("is not of 1 to {CONNECTION_MAX} ASCII letters and digits")));
    }
    Ok(Some(Bridge { id: id.into_owned(), named_session: session(headers, NAMED_SESSION)? }))
}

/// In the one form that instances are stored in: the hexadecimal digits of a UUID have no case.
fn instance(headers: &HeaderMap) -> Result<Option<String>> {
    let Some(given) = header(headers, INSTANCE)? else {
        return Ok(None);
    };
    match Uuid::try_parse(&given) {
        Ok(uuid) if given.len() == Hyphenated::LENGTH => Ok(Some(uuid.hyphenated().to_string())),
        _ => Err(unreadable(INSTANCE, "is no UUID such as 8e2a34a5-56ee-4b59-8cb1-92a6ad6a3a67")),
    }
}

fn key(headers: &HeaderMap) -> Result<Option<String>> {
    let key = header(headers, KEY)?.map(Cow::into_owned);
    match &key {
        Some(key) if key.trim().is_empty() || length(key) > KEY_MAX => {
            Err(unreadable(KEY, &format!("is empty or longer than {KEY_MAX} characters")))
        }
        Some(key) => secret::refuse_text(&format!("header {KEY}"), key).map(|()| Some(key.clone())),
        None => Ok(None),
    }
}

fn session(headers: &HeaderMap, name: &str) -> Result<Option<String>> {
    let given = header(headers, name)?.map(Cow::into_owned);
    if let Some(given) = &given {
        // It is stored with what is written; among the arguments it would be refused.
        secret::refuse_text(&format!("header {name}"), given)?;
    }
    match given.as_deref().and_then(session_ref_problem) {
        Some(problem) => Err(unreadable(name, &problem)),
        None => Ok(given),
    }
}

/// What the headers tell. What a program says of itself in passing is believed if it can be; a header of ours that
/// cannot be read is refused, as its sender counts on it.
fn told(headers: &HeaderMap, bridged: bool) -> Result<Observed> {
    // A bridge's own name is not its client's.
    let agent = program(headers).filter(|_| !bridged);
    let seen = agent.map(|agent| observe(Some(agent), &serde_json::Map::new(), None)).unwrap_or_default();
    let named = |name: &str, read: fn(&str) -> Option<&str>| match header(headers, name)? {
        Some(given) => match read(&given) {
            Some(given) => Ok(Some(given.to_owned())),
            None => Err(unreadable(name, "is empty, too long, or holds what is not for a receipt")),
        },
        None => Ok(None),
    };
    let session_ref = session(headers, SESSION)?;
    let (harness, model) = (named(HARNESS, observed::program)?, named(MODEL, observed::word)?);
    Ok(Observed { harness, model, session_ref }.or(seen))
}

/// The first product of the user agent, and its version.
pub fn program(headers: &HeaderMap) -> Option<(&str, &str)> {
    let product = headers.get(USER_AGENT)?.to_str().ok()?.split_whitespace().next()?;
    // Cut at its slash, a password in a URL looks like none.
    let product = Some(product).filter(|product| !secret::holds(product))?;
    Some(product.split_once('/').unwrap_or((product, "")))
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<Cow<'h, str>>> {
    let text = |value: &'h HeaderValue| {
        let text = value.to_str().map_err(|_| unreadable(name, "holds more than visible ASCII"))?;
        decoded(text).ok_or_else(|| unreadable(name, "is not UTF-8"))
    };
    headers.get(name).map(text).transpose()
}

fn unreadable(name: &str, problem: &str) -> Refusal {
    Refusal::argument(format!("header {name} {problem}"))
}
