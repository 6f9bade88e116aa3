//! What a client is connected to: the project of a database here or of a server elsewhere, with its profile. Must never
//! write into a repository, and never name a token or the URL of a database.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use rmcp::model::Extensions;
use serde_json::{Value, json};

use crate::client::Client;
use crate::client::place::Places;
use crate::client::setup::server::{NAME, Server};
use crate::client::setup::{Repository, Scope};
use crate::config::PROFILE_FILE;
use crate::domain::session::Observed;
use crate::error::{Code, Refusal, Result};
use crate::operation::Pinned;
use crate::operations;
use crate::surface::cli::clients::Asked;
use crate::surface::cli::setup::{check_replaceable, make_project, prepare, profile_file};
use crate::surface::cli::{Session, connect, profile_of, wait};
use crate::surface::mcp::calls::Calls;
use crate::surface::mcp::remote::Remote;
use crate::surface::mcp::remote::address::Address;
use crate::surface::mcp::remote::credential::Credential;

/// What a client is connected to.
pub struct Connection {
    /// The project.
    pub project: String,
    /// What was made for it now, or would be.
    pub made: Vec<String>,
    /// The server as the client starts it.
    pub server: Server,
    /// The repository, where the command runs in one.
    pub repository: Option<Repository>,
    /// What agents are told of the project.
    pub block: String,
    /// What people must know or do besides.
    pub notes: Vec<String>,
}

impl Connection {
    /// Finds the project and its profile; makes database and project where they were named and are not there.
    pub fn find(session: &Session, asked: &Asked, places: &Places, matches: &ArgMatches) -> Result<Self> {
        let root = repository_root(session, &places.home);
        if asked.scope() == Scope::Project && root.is_none() {
            return Err(Refusal::argument("there is no repository here for --scope project: run it in one"));
        }
        if asked.scope() == Scope::Project && matches!(asked.client, Client::ClaudeDesktop | Client::Goose) {
            let title = asked.client.title();
            return Err(Refusal::argument(format!(
                "{title} reads no files of a repository: leave --scope project out"
            )));
        }
        let found = match matches.get_one::<String>("remote") {
            Some(url) => elsewhere(session, url, matches)?,
            None => here(session, asked.dry_run)?,
        };
        let mut notes = Vec::new();
        let server = server(session, asked, &found, root.is_some(), &mut notes);
        let block = block(&found.profile);
        let repository = root.map(|root| repository(session, root, &found)).transpose()?;
        if repository.is_none() {
            notes.push(format!(
                "No repository here: {PROFILE_FILE} and AGENTS.md were not written. Run it again in your repository."
            ));
        }
        Ok(Self { project: found.project, made: found.made, server, repository, block, notes })
    }
}

/// A project that was found.
struct Found {
    project: String,
    made: Vec<String>,
    /// Its profile; of a project that a dry run would make first, as far as it is known before.
    profile: Value,
    /// True of such a project.
    is_to_be_made: bool,
    /// How the bridge is told where the server is.
    remote: Option<RemoteServer>,
}

struct RemoteServer {
    address: String,
    token_file: Option<PathBuf>,
    insecure: bool,
}

/// The project of a database here.
fn here(session: &Session, dry_run: bool) -> Result<Found> {
    let config = &session.config;
    let named = config.project.is_some();
    let project = config.pinned().map_err(|refusal| which_project(refusal, named))?.project;
    let is_new = config.database.file().is_some_and(|file| !file.exists());
    let mut made = Vec::new();
    if is_new && named {
        made.push(format!("database {}", config.database));
    }
    if is_new && named && dry_run {
        made.push(format!("project {project}"));
        return Ok(Found { profile: to_be_made(&project), is_to_be_made: true, project, made, remote: None });
    }
    let service = config.open(named && !dry_run)?;
    if named && !dry_run {
        prepare(&service, None)?;
        if make_project(session, &service, &project)? {
            made.push(format!("project {project}"));
        }
    }
    let profile = profile_of(session, &service, &project);
    service.store.close();
    match profile {
        Err(refusal) if dry_run && named && refusal.code == Code::NotFound => {
            made.push(format!("project {project}"));
            Ok(Found { profile: to_be_made(&project), is_to_be_made: true, project, made, remote: None })
        }
        profile => Ok(Found { project, made, profile: profile?, is_to_be_made: false, remote: None }),
    }
}

/// The profile of a project that is not there yet: its other parts are drawn when it is made.
fn to_be_made(project: &str) -> Value {
    const LATER: &str = "(made with the project)";
    json!({"project": project, "instance": LATER, "resource": LATER, "language": LATER, "write_context": LATER})
}

fn which_project(refusal: Refusal, named: bool) -> Refusal {
    if named || refusal.code != Code::NoProject {
        return refusal;
    }
    let next = format!(
        "Name it with --project NAME, which makes it where it is not there yet, or run this in a repository with {PROFILE_FILE}. \
         Nothing was written."
    );
    Refusal::new(Code::NoProject, "no project is named, and no heyaira.toml is found from here upwards", next)
}

/// The project of a server elsewhere, which is asked for it with the token that the client will use.
fn elsewhere(session: &Session, url: &str, matches: &ArgMatches) -> Result<Found> {
    let insecure = matches.get_flag("insecure-http");
    let address = Address::new(url, insecure)?;
    let shown = address.shown().to_owned();
    let token_file = matches.get_one::<PathBuf>("token-file").map(std::path::absolute).transpose();
    let token_file = token_file.map_err(|error| Refusal::argument(format!("token-file: {error}")))?;
    let (pinned, profile) = profile_of_owner(session, &shown)?;
    let credential = Credential::new(token_file.clone(), std::env::var("HEYAIRA_TOKEN").ok());
    let asked_for = pinned.clone();
    let remote = Remote::new(address, credential, Box::new(move || Ok(asked_for.clone())), Vec::new(), None);
    let entry =
        operations::named("server_identity").ok_or_else(|| Refusal::internal(&"server_identity is not listed"))?;
    let identity = wait(remote.call(&Extensions::new(), entry, Observed::default(), json!({})))?;
    for name in ["project", "instance", "resource"] {
        if profile[name].is_string() && profile[name] != identity[name] {
            return Err(Refusal::new(
                Code::IdentityMismatch,
                format!("the profile says {name} {}, the server at {shown} {}", profile[name], identity[name]),
                "Stop and compare with the owner of the server. Nothing was written.",
            ));
        }
    }
    let remote = RemoteServer { address: shown, token_file, insecure };
    let project = pinned.project;
    Ok(Found { project, made: Vec::new(), profile, is_to_be_made: false, remote: Some(remote) })
}

/// The profile that the owner of a server handed over: the pinned file, or the one that is named.
fn profile_of_owner(session: &Session, shown: &str) -> Result<(Pinned, Value)> {
    let config = &session.config;
    let path = match &config.profile {
        Some(path) => Some(path.clone()),
        None => config.found_profile()?.map(|profile| profile.path),
    };
    let Some(path) = path else {
        let next = format!(
            "Have its owner run heyaira profile PROJECT --write there, put that {PROFILE_FILE} into your repository's root, \
             and run this again in it; or name the file with --profile. Nothing was written."
        );
        let message = format!("the profile of the project at {shown} is missing, and a server does not give it out");
        return Err(Refusal::new(Code::NoProject, message, next));
    };
    let pinned = crate::config::Config { profile: Some(path.clone()), ..config.clone() }.pinned()?;
    let text = std::fs::read_to_string(&path).map_err(|error| crate::store::file::failed("read", &path, &error))?;
    let table: toml::Table = toml::from_str(&text).unwrap_or_default();
    let profile = serde_json::to_value(table).map_err(|error| Refusal::internal(&error))?;
    Ok((pinned, profile))
}

/// How a client starts the server.
fn server(session: &Session, asked: &Asked, found: &Found, in_repository: bool, notes: &mut Vec<String>) -> Server {
    let of_project = asked.scope() == Scope::Project;
    let mut arguments = Vec::new();
    let mut hook_arguments = Vec::new();
    let mut variables = Vec::new();
    if let Some(remote) = &found.remote {
        arguments.extend(["--remote".to_owned(), remote.address.clone()]);
        if remote.insecure {
            arguments.push("--insecure-http".to_owned());
        }
        match &remote.token_file {
            Some(file) if !of_project => arguments.extend(["--token-file".to_owned(), file.display().to_string()]),
            unwritten => {
                variables.push("HEYAIRA_TOKEN".to_owned());
                notes.extend(unwritten.as_deref().map(|file| not_named(file, asked.client)));
                notes.push(
                    "The token comes from HEYAIRA_TOKEN in the environment that the client is started with.".to_owned(),
                );
            }
        }
    } else if let Some(needed) = connect::needed(&session.config.database) {
        variables.push("HEYAIRA_DATABASE".to_owned());
        notes.push(needed.to_owned());
    } else if let Some(file) = connect::named_file(&session.config.database) {
        if of_project {
            notes.push(format!(
                "Files of the project do not name the database {}: whoever uses it sets HEYAIRA_DATABASE.",
                file.display()
            ));
        } else {
            let named = ["--database".to_owned(), file.display().to_string()];
            arguments.extend(named.clone());
            hook_arguments.extend(named);
        }
    }
    if !(looks_for_profile(asked.client) && in_repository) {
        arguments.extend(["--project".to_owned(), found.project.clone()]);
    }
    let program = if !of_project && asked.client.is_app() { place() } else { program(of_project, notes) };
    Server { program, arguments, variables, hook_arguments }
}

/// Why a file of the token does not stand in files of the project.
fn not_named(file: &Path, client: Client) -> String {
    format!(
        "The token file {} was not written: files of the project name no place of your machine. To have it in your own \
         settings: heyaira setup {} --scope user, with the same flags.",
        file.display(),
        client.name()
    )
}

/// Where this program is: its place on the path, which stays as it is renewed, else the file that runs.
fn place() -> String {
    let here = std::env::current_exe().ok();
    let found = on_path(NAME).filter(|found| is_same(found, here.as_deref()));
    let place = found.and_then(|found| std::path::absolute(found).ok()).or(here);
    place.map_or_else(|| NAME.to_owned(), |path| path.display().to_string())
}

fn is_same(found: &Path, here: Option<&Path>) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    real(found).is_some_and(|found| here.and_then(real) == Some(found))
}

/// True for the clients that were seen to start their servers in the folder in which they work.
fn looks_for_profile(client: Client) -> bool {
    matches!(client, Client::ClaudeCode | Client::Codex | Client::Gemini | Client::OpenCode | Client::Copilot)
}

/// This program as a client finds it: by its name if that is on the path, else by its place. What is committed never
/// names a place of this machine.
fn program(of_project: bool, notes: &mut Vec<String>) -> String {
    let here = std::env::current_exe().ok();
    if on_path(NAME).is_some_and(|found| is_same(&found, here.as_deref())) {
        return NAME.to_owned();
    }
    if of_project {
        let place =
            here.as_deref().and_then(Path::parent).map(|folder| folder.display().to_string()).unwrap_or_default();
        notes.push(format!(
            "Files of the project start {NAME} by its name: everyone puts it on the PATH (here: {place})."
        ));
        return NAME.to_owned();
    }
    here.map_or_else(|| NAME.to_owned(), |path| path.display().to_string())
}

/// A program on the path.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let names = if cfg!(windows) { vec![format!("{name}.exe"), format!("{name}.cmd")] } else { vec![name.to_owned()] };
    std::env::split_paths(&folders)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>())
        .find(|path| is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// The root of the repository that a command runs in: of git, else where the pinned file is, else the folder itself; the
/// home folder is none.
pub fn repository_root(session: &Session, home: &Path) -> Option<PathBuf> {
    let folder = &session.config.folder;
    let of_git = folder.ancestors().find(|folder| folder.join(".git").exists());
    let pinned = || folder.ancestors().find(|folder| folder.join(PROFILE_FILE).is_file());
    let root = of_git.or_else(pinned).unwrap_or(folder);
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let root = real(root);
    (root != real(home) && root.parent().is_some()).then_some(root)
}

/// What is written into the repository.
fn repository(session: &Session, root: PathBuf, found: &Found) -> Result<Repository> {
    let profile = &found.profile;
    let block = Some(block(profile));
    let path = root.join(PROFILE_FILE);
    // One that was found above holds here too.
    let pinned = session.config.found_profile().ok().flatten();
    let is_pinned = pinned.as_ref().is_some_and(|pinned| {
        pinned.path != path
            && Some(pinned.pinned.project.as_str()) == profile["project"].as_str()
            && pinned.pinned.instance.as_deref() == profile["instance"].as_str()
    });
    if is_pinned {
        return Ok(Repository { root, block, profile: None });
    }
    let text = profile_file(profile);
    if !found.is_to_be_made && std::fs::read_to_string(&path).is_ok_and(|old| old != text) {
        check_replaceable(session, &path, profile)?;
    }
    Ok(Repository { root, block, profile: Some((path, text)) })
}

/// The connection profile as agents are shown it, and when the skills are used.
fn block(profile: &Value) -> String {
    let word = |name: &str| profile[name].as_str().unwrap_or_default();
    format!(
        "## HeyAira: tasks and handoffs\n\n\
         The connection profile of this repository, as in heyaira.toml. Compare `server_identity` with it before you write, and\n\
         stop if they differ; copy `write_context` from here, never from an answer.\n\n\
         - resource: `{}`\n- instance: `{}`\n- project: `{}`\n- language: `{}`\n- write_context: `{}`\n\n\
         A line such as `handoff: 8e287857 v7`: skill `take-over-session`. \"Hand off\", or the task is done, the topic changes or\n\
         the day ends: skill `write-session-handoff`.",
        word("resource"),
        word("instance"),
        word("project"),
        word("language"),
        word("write_context"),
    )
}
