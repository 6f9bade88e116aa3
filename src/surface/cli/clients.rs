//! `heyaira setup CLIENT`: a client set up, shown without writing, or taken back. Must never print or write a token, nor
//! write anything before everything that hinders was looked for.

pub mod connection;
pub mod steps;
pub mod told;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::client::Client;
use crate::client::place::Places;
use crate::client::setup::examination::plugin;
use crate::client::setup::execution::{carry_out, prepare, prepare_undo, undo};
use crate::client::setup::record::{Record, User};
use crate::client::setup::{Part, Request, Scope, plan};
use crate::client::state::State;
use crate::error::{Refusal, Result};
use crate::surface::cli::clients::connection::Connection;
use crate::surface::cli::{Session, mcp};

/// The command.
pub fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let clients = Client::ALL.map(Client::name);
    Command::new("setup")
        .about("Set a client up: server, hooks, skills, the connection profile; or show that, or take it back")
        .long_about(
            "Set a client up: the entry that starts HeyAira, its hooks, the two skills, the connection profile as \
             heyaira.toml, and a marked block about it in AGENTS.md. Run again it changes nothing. What was there before is \
             kept, and --undo puts it back byte for byte. docs/setup.md says what is written where.",
        )
        .arg(Arg::new("client").value_name("CLIENT").required(true).value_parser(clients).help("Which client"))
        .arg(
            Arg::new("scope")
                .long("scope")
                .value_name("SCOPE")
                .value_parser(["user", "project"])
                .help("user: your own files; project: files of this repository, to be committed [default: user where the client looks for the profile itself, else project]"),
        )
        .arg(
            Arg::new("without")
                .long("without")
                .value_name("PARTS")
                .value_delimiter(',')
                .value_parser(["hooks", "skills", "agents-md"])
                .action(ArgAction::Append)
                .help("Leave parts out, with commas between them"),
        )
        .arg(flag("dry-run", "Show what would be changed, and write nothing"))
        .arg(flag("undo", "Put back what was there before the set-up, here and, where no other repository uses them, in your own files").conflicts_with_all(["force", "without", "remote"]))
        .arg(flag("force", "Replace what is there under the same names and is not of a set-up; set up beside the plugin"))
        .args(remote_flags())
}

fn remote_flags() -> [Arg; 3] {
    let remote = Arg::new("remote").long("remote").value_name("URL").conflicts_with("database").help(
        "Use the HeyAira server at this address, by a bridge; the profile comes from its owner, as heyaira.toml or by --profile",
    );
    let [token_file, insecure_http] = mcp::of_remote();
    [remote, token_file, insecure_http]
}

/// `heyaira setup`.
pub fn setup(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let client = Client::named(matches.get_one::<String>("client").map(String::as_str).unwrap_or_default())?;
    let asked = Asked::of(client, matches);
    if matches.get_flag("undo") {
        return take_back(session, &asked);
    }
    set_up(session, &asked, matches)
}

/// What a command line asks for.
pub struct Asked {
    /// The client.
    pub client: Client,
    /// For whom, if it was said.
    pub scope: Option<Scope>,
    /// True if nothing is to be written.
    pub dry_run: bool,
    /// True if what is not ours may be replaced.
    pub force: bool,
    /// What is left out.
    pub without: Vec<Part>,
}

impl Asked {
    fn of(client: Client, matches: &ArgMatches) -> Self {
        let words: Vec<&String> = matches.get_many("without").into_iter().flatten().collect();
        Self {
            client,
            scope: matches
                .get_one::<String>("scope")
                .map(|word| if word == "user" { Scope::User } else { Scope::Project }),
            dry_run: matches.get_flag("dry-run"),
            force: matches.get_flag("force"),
            without: Part::ALL.into_iter().filter(|part| words.iter().any(|word| *word == part.as_str())).collect(),
        }
    }

    /// For whom it is set up where nobody says.
    pub fn scope(&self) -> Scope {
        self.scope.unwrap_or(match self.client {
            Client::Cursor | Client::VsCode | Client::Zed => Scope::Project,
            _ => Scope::User,
        })
    }
}

fn set_up(session: &Session, asked: &Asked, matches: &ArgMatches) -> Result<ExitCode> {
    let places = places()?;
    check_no_plugin(asked, &places)?;
    let connection = Connection::find(session, asked, &places, matches)?;
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let request = Request {
        client: asked.client,
        scope: asked.scope(),
        places: &places,
        repository: connection.repository.as_ref(),
        server: &connection.server,
        without: &asked.without,
        read: &read,
    };
    let changes = plan(&request);
    if asked.dry_run {
        let record = Record::read(&record_folder()?)?;
        let ready = prepare(&changes, &record, asked.force)?;
        return told::set_up(session, asked, &places, &connection, &ready, &record);
    }
    let mut record = Record::hold(&record_folder()?)?;
    let ready = prepare(&changes, &record, asked.force)?;
    carry_out(&ready, &mut record, &mut |_, _| Ok(()))?;
    told::set_up(session, asked, &places, &connection, &ready, &record)
}

/// Refuses beside the plugin, which would say and do everything a second time.
fn check_no_plugin(asked: &Asked, places: &Places) -> Result<()> {
    let Some(plugin) = plugin(asked.client, places).filter(|_| !asked.force) else { return Ok(()) };
    let message = format!(
        "HeyAira is installed in {} as a plugin ({}): with a set-up beside it each event would run twice",
        asked.client.title(),
        plugin.path.display()
    );
    let next = format!(
        "Keep the plugin (heyaira profile NAME --write in the repository is all that it needs), or take it out with \
         {}, or set up beside it with --force. Nothing was written.",
        plugin.removal
    );
    Err(Refusal::not_allowed(message, next))
}

fn take_back(session: &Session, asked: &Asked) -> Result<ExitCode> {
    let root = connection::repository_root(session, &places()?.home);
    let root = root.map(|root| std::fs::canonicalize(&root).unwrap_or(root));
    let folder = record_folder()?;
    let mut record = if asked.dry_run { Record::read(&folder)? } else { Record::hold(&folder)? };
    let mut sharing = record.sharing(asked.client.name());
    sharing.retain(|repository| Some(repository) != root.as_ref());
    // Taken away by whoever says so, not from under another repository.
    let of_person = match asked.scope {
        None => sharing.is_empty(),
        Some(scope) => scope == Scope::User,
    };
    let is_undone = |user: &User| {
        let here = user.repository.as_ref().map_or(of_person, |repository| Some(repository) == root.as_ref());
        here && user.client == asked.client.name()
    };
    let plan = prepare_undo(&record, &is_undone)?;
    if !asked.dry_run {
        undo(&plan, &mut record, &is_undone, &mut |_, _| Ok(()))?;
    }
    let kept_for = if asked.scope.is_none() { sharing } else { Vec::new() };
    told::undone(session, asked, &plan, &record, &kept_for)
}

/// The folders of the person who runs this.
pub fn places() -> Result<Places> {
    Places::here().ok_or_else(|| Refusal::argument("there is no home folder: set HOME"))
}

/// Where it is kept what was there before.
pub fn record_folder() -> Result<PathBuf> {
    let state = State::find(|name| std::env::var_os(name));
    let state =
        state.ok_or_else(|| Refusal::argument("there is no home folder: set HOME, or name one with HEYAIRA_STATE"))?;
    Ok(state.folder().join("setup"))
}
