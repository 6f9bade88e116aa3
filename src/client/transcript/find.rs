//! Which transcript is meant: one that is named, the one of the session that asks, or the newest of this folder. Must never
//! choose in silence: it says how it was found, and where it looked.

use std::cmp::Reverse;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::client::Client;
use crate::client::place::{Places, Platform};
use crate::client::transcript::{Part, claude_code, codex, copilot, gemini, opencode, read, unreadable};
use crate::domain::text::quoted;
use crate::economics::Session;
use crate::error::{Code, Refusal, Result};

/// The clients whose transcripts tell tokens.
pub const CLIENTS: [Client; 5] = [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::OpenCode, Client::Copilot];

/// The fewest characters of an id that name a session.
const ID_MIN: usize = 4;

/// Where transcripts are looked for.
pub struct Environment<'e> {
    /// The folder that is worked in.
    pub folder: PathBuf,
    /// The user's own folder.
    pub home: Option<PathBuf>,
    /// Reads a variable; one that is empty is not set.
    pub variable: &'e dyn Fn(&str) -> Option<String>,
}

impl Environment<'_> {
    /// A folder that a variable names.
    pub fn named(&self, variable: &str) -> Option<PathBuf> {
        (self.variable)(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// Where the clients keep their files; none without a folder of the user's own.
    pub fn places(&self) -> Option<Places> {
        Some(Places::new(Platform::HERE, self.home.as_ref()?, self.variable))
    }

    /// The folder and those around it, up to the user's own, which is none of them unless it is the folder.
    pub fn folders(&self) -> Vec<&Path> {
        let is_project = |folder: &&Path| *folder == self.folder || Some(*folder) != self.home.as_deref();
        let below_root = |folder: &&Path| *folder == self.folder || folder.parent().is_some();
        self.folder.ancestors().take_while(is_project).filter(below_root).collect()
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'w> {
    /// A session by its id, the start of it, or its transcript.
    pub session: Option<&'w str>,
    /// Of this client only.
    pub client: Option<Client>,
}

/// How a transcript was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It was named.
    Named,
    /// The environment names the session.
    Environment,
    /// It is the one that was written last, of the sessions of this folder.
    Newest,
}

impl How {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Environment => "environment",
            Self::Newest => "newest-of-folder",
        }
    }
}

/// A transcript that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Whose it is.
    pub client: Client,
    /// Its file.
    pub path: PathBuf,
    /// The session's id, as far as its place tells.
    pub id: Option<String>,
    /// The folder that it works in, where finding it told.
    pub folder: Option<PathBuf>,
    /// When it was last written.
    pub changed: Option<SystemTime>,
    /// How it was found.
    pub how: How,
}

impl Found {
    /// A transcript at a place, the newest of which is to be found.
    pub(super) fn at(client: Client, path: PathBuf, id: Option<String>) -> Self {
        let changed = path.metadata().and_then(|metadata| metadata.modified()).ok();
        Self { client, path, id, folder: None, changed, how: How::Newest }
    }

    /// Reads it.
    pub fn read(&self, part: Part) -> Result<Session> {
        // One file has all sessions of it.
        if self.client == Client::OpenCode {
            return opencode::read(&self.path, self.id.as_deref()).map_err(|error| unreadable(&self.path, &error));
        }
        read(self.client, &self.path, part)
    }
}

/// The one transcript that is meant.
pub fn find(wanted: Wanted, environment: &Environment) -> Result<Found> {
    if let Some(named) = wanted.session {
        return by_name(named, wanted.client, environment);
    }
    let asking: Vec<(Client, String)> = clients(wanted.client)?
        .into_iter()
        .filter_map(|client| Some((client, variables(client).iter().find_map(|name| (environment.variable)(name))?)))
        .filter(|(_, id)| !id.is_empty())
        .collect();
    if asking.is_empty() {
        let newest = all(wanted.client, environment)?.into_iter().next();
        return newest.ok_or_else(|| nowhere(wanted.client, environment));
    }
    // A client that was started from another's shell has both; the one that works now wrote last.
    let of_session =
        |(client, id): &(Client, String)| list(*client, environment).into_iter().find(|found| found.is(id));
    let found = asking.iter().filter_map(of_session).max_by_key(|found| found.changed);
    found.map(|found| Found { how: How::Environment, ..found }).ok_or_else(|| not_yet(&asking, environment))
}

/// The transcripts of a session that were written at or after a moment: a session that goes on may begin another one.
pub fn written_since(client: Client, id: &str, since: SystemTime, environment: &Environment) -> Vec<Found> {
    let mut found = list(client, environment);
    found.retain(|found| found.is(id) && found.changed.is_some_and(|changed| changed >= since));
    found
}

/// All transcripts of the folder that is worked in, the newest first.
pub fn all(client: Option<Client>, environment: &Environment) -> Result<Vec<Found>> {
    let folders = environment.folders();
    let mut found: Vec<Found> = clients(client)?.into_iter().flat_map(|client| list(client, environment)).collect();
    found.sort_by_key(|found| (Reverse(found.changed), found.path.clone()));
    found.retain(|found| is_of(found, &folders));
    Ok(found)
}

fn clients(only: Option<Client>) -> Result<Vec<Client>> {
    match only {
        None => Ok(CLIENTS.to_vec()),
        Some(client) if CLIENTS.contains(&client) => Ok(vec![client]),
        Some(client) => Err(super::unreadable_client(client)),
    }
}

/// The places that are there and cannot be read, each with the reason: whatever is in them was left out.
pub fn unreadable_places(client: Option<Client>, environment: &Environment) -> Vec<String> {
    let clients = CLIENTS.into_iter().filter(|one| client.is_none_or(|only| only == *one));
    let places = clients.flat_map(|client| places(client, environment));
    let told = places.filter_map(|place| {
        let problem = if place.is_file() {
            opencode::problem(&place)
        } else {
            let error = place.read_dir().err();
            error.filter(|error| error.kind() != ErrorKind::NotFound).map(|error| error.to_string())
        };
        Some(format!("{} cannot be read: {}", place.display(), problem?))
    });
    told.collect()
}

/// What a client calls its session in the environment of what it starts.
fn variables(client: Client) -> &'static [&'static str] {
    match client {
        Client::ClaudeCode => &["CLAUDE_CODE_SESSION_ID"],
        Client::Codex => &["CODEX_SESSION_ID", "CODEX_THREAD_ID"],
        Client::Gemini => &["GEMINI_SESSION_ID"],
        Client::Copilot => &["COPILOT_AGENT_SESSION_ID"],
        _ => &[],
    }
}

/// Every transcript of a client.
fn list(client: Client, environment: &Environment) -> Vec<Found> {
    match client {
        Client::ClaudeCode => claude_code::list(environment),
        Client::Codex => codex::list(environment),
        Client::Gemini => gemini::list(environment),
        Client::OpenCode => opencode::list(environment),
        Client::Copilot => copilot::list(environment),
        _ => Vec::new(),
    }
}

/// True if the session worked in one of the folders.
fn is_of(found: &Found, folders: &[&Path]) -> bool {
    let works_in = match found.client {
        Client::ClaudeCode => return claude_code::is_of(&found.path, folders),
        Client::Gemini => return gemini::is_of(&found.path, folders),
        Client::Codex => codex::folder(&found.path),
        Client::OpenCode => found.folder.clone(),
        Client::Copilot => copilot::folder(&found.path),
        _ => None,
    };
    works_in.is_some_and(|works_in| folders.contains(&works_in.as_path()))
}

/// Where a client's transcripts are.
fn places(client: Client, environment: &Environment) -> Vec<PathBuf> {
    match client {
        Client::ClaudeCode => claude_code::places(environment),
        Client::Codex => codex::places(environment),
        Client::Gemini => gemini::places(environment),
        Client::OpenCode => opencode::places(environment),
        Client::Copilot => copilot::places(environment),
        _ => Vec::new(),
    }
}

impl Found {
    fn is(&self, id: &str) -> bool {
        self.id.as_deref() == Some(id)
    }

    fn starts_with(&self, start: &str) -> bool {
        start.len() >= ID_MIN && self.id.as_deref().is_some_and(|id| id.starts_with(start))
    }
}

fn by_name(named: &str, client: Option<Client>, environment: &Environment) -> Result<Found> {
    let path = environment.folder.join(named);
    if path.is_file() {
        let client = client.or_else(|| super::kind::of(&path)).ok_or_else(|| {
            Refusal::argument(format!(
                "{} is no transcript of a client that is known: say whose it is with --client",
                quoted(named, 120)
            ))
        })?;
        return Ok(Found { how: How::Named, ..Found::at(client, path, None) });
    }
    let listed: Vec<Found> = clients(client)?.into_iter().flat_map(|client| list(client, environment)).collect();
    let exact = listed.iter().find(|found| found.is(named)).cloned();
    let mut close: Vec<Found> = match exact {
        Some(found) => vec![found],
        None => listed.into_iter().filter(|found| found.starts_with(named)).collect(),
    };
    match close.len() {
        0 => Err(no_session(named, client, environment)),
        1 => Ok(Found { how: How::Named, ..close.remove(0) }),
        many => Err(Refusal::new(
            Code::AmbiguousId,
            format!("{many} sessions start with {}", quoted(named, 60)),
            "Name more characters of the id, the client with --client, or the transcript's file.",
        )),
    }
}

/// The places that were looked at, each with its client.
fn looked_at(client: Option<Client>, environment: &Environment) -> String {
    let clients = CLIENTS.into_iter().filter(|one| client.is_none_or(|only| only == *one));
    let shown = clients.map(|client| {
        let places: Vec<String> = places(client, environment).iter().map(|place| place.display().to_string()).collect();
        let places = if places.is_empty() { "no home folder".to_owned() } else { places.join(", ") };
        format!("{} ({places})", client.title())
    });
    shown.chain(unreadable_places(client, environment)).collect::<Vec<_>>().join("; ")
}

const NAME_ONE: &str =
    "Name a session with --session ID or --session FILE, or run it in the folder that the session works in.";

fn nowhere(client: Option<Client>, environment: &Environment) -> Refusal {
    let folder = quoted(&environment.folder.to_string_lossy(), 120);
    let places = looked_at(client, environment);
    Refusal::not_found(format!("there is no transcript of a session of {folder}; looked at: {places}"), NAME_ONE)
}

fn not_yet(asking: &[(Client, String)], environment: &Environment) -> Refusal {
    let sessions = asking.iter().map(|(client, id)| format!("{} {}", client.title(), quoted(id, 60)));
    let sessions = sessions.collect::<Vec<_>>().join(" and ");
    let only = if let [(client, _)] = asking { Some(*client) } else { None };
    let places = looked_at(only, environment);
    Refusal::not_found(
        format!("the session that the environment names has no transcript yet: {sessions}; looked at: {places}"),
        "Ask again after its first answer, or name a session with --session.",
    )
}

fn no_session(named: &str, client: Option<Client>, environment: &Environment) -> Refusal {
    let places = looked_at(client, environment);
    Refusal::not_found(
        format!("{} is neither a file nor the id of a session; looked at: {places}", quoted(named, 120)),
        "heyaira context --economics --all lists the sessions of this folder.",
    )
}
