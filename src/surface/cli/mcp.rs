//! `mcp`: MCP on standard input and output, over the database here or over a server elsewhere.
//! Must never take a token as an argument, where every process of the machine could read it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use crate::client::folder;
use crate::client::place::Places;
use crate::config::Config;
use crate::domain::token::Role;
use crate::error::{Refusal, Result};
use crate::operation::{Connection, Door};
use crate::operations;
use crate::surface::cli::{Session, caller, connections, unattended};
use crate::surface::mcp::handler::Handler;
use crate::surface::mcp::remote::Remote;
use crate::surface::mcp::remote::address::Address;
use crate::surface::mcp::remote::credential::Credential;
use crate::surface::mcp::{Open, serve_stdio};

/// The flags of `mcp`.
pub fn flags() -> Vec<Arg> {
    let [token_file, insecure_http] = of_remote();
    vec![
        Arg::new("remote")
            .long("remote")
            .value_name("URL")
            .action(ArgAction::Set)
            .conflicts_with("database")
            .help("Serve what the HeyAira server at this address has, e.g. https://heyaira.example.org"),
        token_file,
        insecure_http,
        connections::flag().conflicts_with("remote"),
    ]
}

/// What is said about a server elsewhere besides its address.
pub fn of_remote() -> [Arg; 2] {
    [
        Arg::new("token-file")
            .long("token-file")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .action(ArgAction::Set)
            .requires("remote")
            .help("The token for that server, in a file of mode 0600 [env: HEYAIRA_TOKEN, the token itself]"),
        Arg::new("insecure-http")
            .long("insecure-http")
            .action(ArgAction::SetTrue)
            .requires("remote")
            .help("Send the token over http to another machine too, readable by everyone on the way"),
    ]
}

/// `heyaira mcp`.
pub fn mcp(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let mut config = session.config.clone();
    // A client that says where its project is does not always start its servers there.
    if let Some(folder) = folder::of_session(|name| std::env::var_os(name), Places::here().as_ref()) {
        config.folder = folder;
    }
    let handler = match matches.get_one::<String>("remote") {
        Some(url) => elsewhere(config, Address::new(url, matches.get_flag("insecure-http"))?, matches),
        None => here(config),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Refusal::internal(&error))?;
    let code = runtime.block_on(serve_stdio(handler));
    // A read of standard input that never ends, or a wait for the disk or a server, must not hold the process.
    runtime.shutdown_background();
    Ok(code)
}

/// The database here.
fn here(config: Config) -> Handler {
    let opener = move || {
        let pinned = config.pinned()?;
        let service = config.open(false).inspect_err(|refusal| {
            tracing::error!(why = refusal.clone().of_owner().message, "the database cannot be opened");
        })?;
        let connection = Connection::new(Ok(pinned), caller(), Role::Write, Door::Stdio, service.ids.as_ref())
            .within(unattended::current());
        Ok(Open { service, connection: Arc::new(connection) })
    };
    Handler::new(Box::new(opener), environment())
}

/// A server elsewhere.
fn elsewhere(config: Config, address: Address, matches: &ArgMatches) -> Handler {
    let file = matches.get_one::<PathBuf>("token-file").cloned();
    let credential = Credential::new(file, std::env::var("HEYAIRA_TOKEN").ok());
    let remote =
        Remote::new(address, credential, Box::new(move || config.pinned()), environment(), unattended::current());
    Handler::over(Arc::new(remote), operations::all())
}

/// The environment, as far as it is text.
fn environment() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}
