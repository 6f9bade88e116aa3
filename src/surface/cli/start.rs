//! `heyaira start`: everything that a first use needs, then the server. Run again it changes nothing and serves.
//! Must never print the token, nor replace one that its owner revoked.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::ArgMatches;
use serde_json::{Value, json};

use crate::config::{PROFILE_FILE, default_database};
use crate::domain::project::slug_problem;
use crate::domain::text::visible;
use crate::domain::token;
use crate::error::{Code, Refusal, Result};
use crate::operation::Service;
use crate::operations;
use crate::store::file::{failed, new_private, prepare_folder};
use crate::surface::cli::serve::{self, Bound};
use crate::surface::cli::setup::{make_project, prepare, profile_text};
use crate::surface::cli::{Session, answer, caller, connect, profile_of, wait};
use crate::surface::http::Auth;
use crate::surface::mcp::remote::address::Address;
use crate::surface::mcp::remote::client::Client;
use crate::surface::mcp::remote::credential::Credential;

/// How many names are tried for a token whose file is gone.
const NAMES: usize = 100;

/// How long a server that has the port may take to say which database it serves.
const ANSWERS: Duration = Duration::from_secs(3);

/// What is set up.
struct Ready {
    project: String,
    created: bool,
    profile: Value,
    token: PathBuf,
}

/// Where the project is served, and by whom.
struct Served {
    url: String,
    by: &'static str,
}

/// `heyaira start`.
pub fn start(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    // Handed on whole: a second hold would keep a database open that was replaced while it is served.
    let (service, ready) = set_up(session)?;
    if matches.get_flag("no-serve") {
        tell(session, &ready, None)?;
        return Ok(ExitCode::SUCCESS);
    }
    let settings = serve::settings(matches, Auth::Tokens)?;
    let listen = settings.listen;
    let bound = match Bound::new(session, service, settings) {
        // The server that an earlier start left running serves every project of its database.
        Err(_) if is_served(listen, &ready) => {
            tell(
                session,
                &ready,
                Some(&Served { url: serve::mcp(listen, &ready.project), by: "by an earlier start" }),
            )?;
            return Ok(ExitCode::SUCCESS);
        }
        bound => bound?,
    };
    tell(session, &ready, Some(&Served { url: serve::mcp(bound.address, &ready.project), by: "now" }))?;
    bound.serve()
}

/// True if a server of this very database is ready there. Whoever has the port is not shown the token.
fn is_served(listen: SocketAddr, ready: &Ready) -> bool {
    let address = Address::new(&format!("http://{listen}"), true).ok();
    let found = address.and_then(|address| Client::new(address).instance(ANSWERS));
    found.is_some_and(|found| ready.profile["instance"] == found)
}

fn set_up(session: &Session) -> Result<(Service, Ready)> {
    let service = session.config.open(true)?;
    prepare(&service, None)?;
    let project = project_name(session)?;
    let created = make_project(session, &service, &project)?;
    let profile = profile_of(session, &service, &project)?;
    let token = token_file(session, &service)?;
    Ok((service, Ready { project, created, profile, token }))
}

fn ask(session: &Session, service: &Service, name: &str, arguments: Value) -> Result<Value> {
    let entry = operations::named(name).ok_or_else(|| Refusal::internal(&format!("{name} is not listed")))?;
    session.ask_of(service, entry, arguments)
}

/// The named project, else the pinned one, else the folder's name.
fn project_name(session: &Session) -> Result<String> {
    if let Some(named) = &session.config.project {
        return match slug_problem(named) {
            None => Ok(named.clone()),
            Some(problem) => Err(Refusal::argument(format!("project {problem}"))),
        };
    }
    if session.config.profile.is_some() || session.config.found_profile()?.is_some() {
        return session.config.pinned().map(|pinned| pinned.project);
    }
    let folder =
        session.config.folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let letters = folder.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '-' });
    let slug: String = letters.take(63).collect::<String>().trim_matches('-').to_owned();
    if slug.is_empty() {
        return Err(Refusal::argument("this folder's name makes no project name: give one with --project"));
    }
    Ok(slug)
}

/// The file beside the database with the token of the person at this machine, made at the first start.
fn token_file(session: &Session, service: &Service) -> Result<PathBuf> {
    let path = token_path(session, service)?;
    match std::fs::read_to_string(&path) {
        Ok(token) => {
            // Whether it is a file, a token, and its owner's alone.
            Credential::new(Some(path.clone()), None).header()?;
            check_token(service, &path, token.trim()).map(|()| path)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            make_token(session, service, &path)?;
            Ok(path)
        }
        Err(error) => Err(failed("read", &path, &error)),
    }
}

/// Beside the file of the database; for one on a server in the folder where the file would be, named by its instance.
fn token_path(session: &Session, service: &Service) -> Result<PathBuf> {
    let Some(database) = session.config.database.file() else {
        let (instance, _) = wait(service.identity(None))?;
        let beside = default_database()?;
        prepare_folder(&beside)?;
        return Ok(beside.with_file_name(format!("{}.token", instance.id)));
    };
    let mut path = std::path::absolute(database).unwrap_or_else(|_| database.to_owned()).into_os_string();
    // Behind the whole name: two databases of which only the ending differs have two tokens.
    path.push(".token");
    Ok(PathBuf::from(path))
}

fn check_token(service: &Service, path: &Path, token: &str) -> Result<()> {
    match wait(service.credential(token::hash(token)))? {
        Some(_) => Ok(()),
        None => Err(Refusal::not_allowed(
            format!("the token in {} is revoked, expired, or of another database", path.display()),
            "Remove the file to have a new token made. Nothing was changed.",
        )),
    }
}

/// A token for all projects, so that whoever starts in a second repository needs no second one.
fn make_token(session: &Session, service: &Service, path: &Path) -> Result<()> {
    let person = caller();
    // The file comes first: a token that cannot be kept is not made.
    new_private(path)?;
    let made = (1..=NAMES).find_map(|number| {
        let name = if number == 1 { person.clone() } else { format!("{person}-{number}") };
        match ask(session, service, "token_create", json!({"name": name, "all_projects": true})) {
            Err(refusal) if refusal.code == Code::NotAllowed => None,
            made => Some(made),
        }
    });
    let keep = |made: Value| {
        let token = made["token"].as_str().unwrap_or_default();
        let write = |mut file: std::fs::File| writeln!(file, "{token}").and_then(|()| file.sync_all());
        let opened = std::fs::OpenOptions::new().write(true).open(path);
        opened.and_then(write).map_err(|error| failed("write", path, &error))
    };
    let taken = || Refusal::not_allowed(format!("the names {person} to {person}-{NAMES} are taken"), "Revoke some.");
    let kept = made.unwrap_or_else(|| Err(taken())).and_then(keep);
    if kept.is_err() {
        let _ = std::fs::remove_file(path);
    }
    kept
}

/// Prints what is there and how to connect, without the token.
fn tell(session: &Session, ready: &Ready, served: Option<&Served>) -> Result<()> {
    let (project, database) = (&ready.project, &session.config.database);
    let stdio = connect::stdio(project, database);
    let http = served.map(|served| (served, connect::http(&served.url, &ready.token)));
    if session.json {
        let mut told = ready.profile.clone();
        told["database"] = json!(database.to_string());
        told["created"] = json!(ready.created);
        told["token_file"] = json!(ready.token.display().to_string());
        told["connect"] = connect::as_json(&stdio);
        if let Some(needed) = connect::needed(database) {
            told["connect_needs"] = json!(needed);
        }
        if let Some((served, lines)) = &http {
            told["url"] = json!(served.url);
            told["connect_http"] = connect::as_json(lines);
        }
        return answer::print(&told, true).map(drop);
    }
    let verb = if ready.created { "is set up" } else { "is there already" };
    let over_http = http.map(|(Served { url, by }, lines)| {
        let file = ready.token.display();
        format!("Or by HTTP, served {by} at {url} (token in {file}):\n{}", connect::as_text(&lines))
    });
    answer::write(&visible(&format!(
        "Project {project} {verb} in {}.\n\n{}\nConnect a client: in your repository's root run its line, which also writes \
         {PROFILE_FILE} and the block in AGENTS.md (--dry-run shows it, --undo takes it back):\n{}{}",
        database,
        profile_text(&ready.profile),
        connect::as_text(&stdio) + &connect::needed(database).map(|needed| format!("{needed}\n")).unwrap_or_default(),
        over_http.unwrap_or_default(),
    )))
}
