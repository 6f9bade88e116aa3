//! The command line: every operation as a command, from the same definitions as the tools, and the commands that are
//! no operations. Must never print anything but the answer on standard output.

pub mod answer;
pub mod clients;
pub mod commands;
pub mod connect;
pub mod connections;
pub mod doctor;
pub mod draft;
pub mod economics;
pub mod exits;
pub mod flags;
pub mod handoff;
pub mod hook;
pub mod limits;
pub mod maintain;
pub mod mcp;
pub mod receipt;
pub mod redact;
pub mod run;
pub mod serve;
pub mod setup;
pub mod start;
pub mod text;
pub mod transfer;
pub mod unattended;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::{Value, json};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::prelude::*;

use crate::config::{Config, SystemClock};
use crate::domain::secret::holds;
use crate::domain::session::{Observed, session_ref_problem};
use crate::domain::token::Role;
use crate::error::{Refusal, Result};
use crate::operation::{self, Connection, Door, Entry, Service};
use crate::operations;

/// Runs one command line; answers the exit code.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    if hook::is_meant(&arguments) {
        return hook::run(arguments);
    }
    start_logging();
    let wants_json = arguments.iter().any(|argument| argument == "--json");
    let matches = match commands::all().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return answer::usage(&error, wants_json),
    };
    match dispatch(&matches) {
        Ok(code) => code,
        Err(refusal) => answer::refused(refusal, wants_json),
    }
}

/// Logs go to standard error, at the level of `RUST_LOG`; without it errors, and what a server over the network does.
const LOGGED: &str = "error,heyaira::surface::http=info,heyaira::surface::cli::serve=info,heyaira::store=warn,\
                      heyaira::store::backend::postgres=info";

fn start_logging() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(LOGGED));
    // The protocol library logs whole messages, and messages hold what clients and tasks say.
    // A directive against it would give way to a longer one, such as rmcp::service=trace.
    let silent = filter_fn(|of| !of.target().starts_with("rmcp"));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let _ = tracing_subscriber::registry().with(filter).with(silent).with(lines).try_init();
    // A panic is caught and logged where it happens, once.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panic");
    }));
}

/// What a command runs with.
pub struct Session {
    /// Where and which project.
    pub config: Config,
    /// True if the answer is to be printed as JSON.
    pub json: bool,
    /// The database as a flag named it.
    pub named_database: Option<String>,
}

fn dispatch(matches: &ArgMatches) -> Result<ExitCode> {
    let (path, leaf) = path_of(matches);
    let session = Session {
        config: config(leaf)?,
        json: leaf.get_flag("json"),
        named_database: leaf.get_one::<String>("database").cloned(),
    };
    if let Some(command) = commands::by_hand(&path) {
        unattended::check_command(&path)?;
        return command(&session, leaf);
    }
    let entry = operations::all().iter().find(|entry| entry.command == path);
    let entry = entry.ok_or_else(|| Refusal::argument(format!("there is no command {path}")))?;
    let arguments = flags::arguments(entry, leaf)?;
    let answer = session.ask(entry, arguments)?;
    answer::print(&answer, session.json)
}

/// The words of the chosen command and its own matches.
fn path_of(matches: &ArgMatches) -> (String, &ArgMatches) {
    let mut words: Vec<&str> = Vec::new();
    let mut leaf = matches;
    while let Some((word, inner)) = leaf.subcommand() {
        words.push(word);
        leaf = inner;
    }
    (words.join(" "), leaf)
}

fn config(leaf: &ArgMatches) -> Result<Config> {
    let folder = std::env::current_dir()
        .map_err(|error| Refusal::argument(format!("the current folder cannot be read: {error}")))?;
    let path = |name: &str| leaf.get_one::<String>(name).map(PathBuf::from);
    // An operation with a project of its own, such as token create, has no flag for the connection's.
    let project = leaf.try_get_one::<String>("project-name").ok().flatten().cloned();
    let variable = |name: &str| std::env::var(name).ok();
    let named = leaf.get_one::<String>("database").cloned();
    let config = Config::new(named, project, path("profile"), folder, variable)?;
    let connections = connections::of(leaf, variable)?;
    Ok(Config { database: config.database.with_connections(connections), ..config })
}

impl Session {
    /// Calls one operation as the person at this machine.
    pub fn ask(&self, entry: &'static Entry, arguments: Value) -> Result<Value> {
        let service = self.config.open(false)?;
        let answer = self.ask_of(&service, entry, arguments);
        // The process ends now, and others are to hear of what it wrote.
        service.store.close();
        answer
    }

    /// The same on a database that is open already.
    pub fn ask_of(&self, service: &Service, entry: &'static Entry, arguments: Value) -> Result<Value> {
        let pinned = self.config.pinned();
        let connection = Connection::new(pinned, caller(), Role::Admin, Door::CommandLine, service.ids.as_ref())
            .within(unattended::current());
        let observed = observed();
        wait(operation::call(service, &Arc::new(connection), &observed, entry, arguments))
    }
}

/// Runs a future to its end on this thread.
pub fn wait<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Refusal::internal(&error))?;
    runtime.block_on(future)
}

/// The name of the person at this machine.
pub fn caller() -> String {
    let names = ["USER", "LOGNAME", "USERNAME"];
    let named = names
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty() && !holds(value)));
    named.unwrap_or_else(|| "local".to_owned())
}

/// A session that works through the shell may say which one it is.
fn observed() -> Observed {
    let given = std::env::var("HEYAIRA_SESSION").ok();
    Observed { session_ref: given.filter(|given| session_ref_problem(given).is_none()), ..Observed::default() }
}

/// The profile of a project, with the words on how to connect.
pub fn profile_of(session: &Session, service: &Service, project: &str) -> Result<Value> {
    let entry = operations::named("profile_show").ok_or_else(|| Refusal::internal(&"profile_show is not listed"))?;
    session.ask_of(service, entry, json!({"project": project}))
}

/// The present moment.
pub fn now() -> crate::domain::time::Timestamp {
    operation::Clock::now(&SystemClock)
}
