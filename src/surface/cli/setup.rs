//! Setting up and connecting: `init`, `profile`, `resume`.

use std::path::Path;
use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::{Value, json};

use crate::config::PROFILE_FILE;
use crate::domain::project::Instance;
use crate::domain::text::visible;
use crate::error::{Code, Refusal, Result};
use crate::operation::Service;
use crate::operations;
use crate::operations::project::check_resource;
use crate::store::backend::work;
use crate::store::project;
use crate::surface::cli::{Session, answer, connect, now, profile_of, receipt, wait};

/// `heyaira init`.
pub fn init(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let resource = matches.get_one::<String>("resource").cloned();
    if let Some(resource) = &resource {
        check_resource(resource)?;
    }
    let service = session.config.open(true)?;
    let (instance, created) = prepare(&service, resource.clone())?;
    if let (Some(resource), false) = (&resource, created)
        && *resource != instance.resource
    {
        return Err(Refusal::not_allowed(
            format!("this database is there already, as resource {}", instance.resource),
            "To change that: heyaira project set PROJECT --resource URL. Nothing was written.",
        ));
    }
    let told = json!({
        "database": session.config.database.to_string(),
        "instance": instance.id,
        "resource": instance.resource,
        "created": created,
    });
    answer::print(&told, session.json)
}

/// Writes the instance's row if the database is new; answers the instance and whether it was made now.
pub fn prepare(service: &Service, resource: Option<String>) -> Result<(Instance, bool)> {
    let id = service.ids.uuid();
    let instance = Instance {
        id,
        resource: resource.unwrap_or_else(|| format!("heyaira:{id}")),
        pin_key: project::new_pin_key(service.ids.uuid(), service.ids.uuid()),
    };
    let deadline = std::time::Instant::now() + service.deadline;
    wait(service.store.write(
        deadline,
        work(move |transaction| {
            let instance = instance.clone();
            Box::pin(async move {
                let created = project::create_instance(transaction, &instance, now()).await?;
                let (instance, _) = project::identity(transaction, None).await?;
                Ok((instance, created))
            })
        }),
    ))
}

/// Makes the project where it is not there yet; true if it was made now.
pub fn make_project(session: &Session, service: &Service, project: &str) -> Result<bool> {
    let entry =
        operations::named("project_create").ok_or_else(|| Refusal::internal(&"project_create is not listed"))?;
    match session.ask_of(service, entry, json!({"project": project})) {
        Ok(_) => Ok(true),
        Err(refusal) if refusal.code == Code::NotAllowed => Ok(false),
        Err(refusal) => Err(refusal),
    }
}

/// `heyaira profile`.
pub fn profile(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let project = match matches.get_one::<String>("project") {
        Some(project) => project.clone(),
        None => session.config.pinned().map(|pinned| pinned.project)?,
    };
    let service = session.config.open(false)?;
    let profile = profile_of(session, &service, &project)?;
    if matches.get_flag("write") {
        return write_profile(session, &profile);
    }
    if session.json {
        let mut told = profile;
        told["connect"] = connect::as_json(&connect::stdio(&project, &session.config.database));
        if let Some(url) = served_at(&told, &project) {
            told["connect_http"] = connect::as_json(&connect::http(&url, Path::new(TOKEN_FILE)));
            told["url"] = json!(url);
        }
        if let Some(needed) = connect::needed(&session.config.database) {
            told["connect_needs"] = json!(needed);
        }
        return answer::print(&told, true);
    }
    let over_http = served_at(&profile, &project).map(|url| {
        let lines = connect::as_text(&connect::http(&url, Path::new(TOKEN_FILE)));
        let made = format!("heyaira token create NAME --project {project}");
        format!("Or by HTTP at {url} ({TOKEN_FILE} is a file with a token, of {made}):\n{lines}")
    });
    answer::write(&visible(&format!(
        "{}\nConnect a client (in your repository's root):\n{}{}{}",
        profile_text(&profile),
        connect::as_text(&connect::stdio(&project, &session.config.database)),
        connect::needed(&session.config.database).map(|needed| format!("{needed}\n")).unwrap_or_default(),
        over_http.unwrap_or_default(),
    )))?;
    Ok(ExitCode::SUCCESS)
}

/// Stands for the file of a token that this machine need not have.
const TOKEN_FILE: &str = "TOKEN_FILE";

/// Where a project is served, if its resource is an address that says so.
fn served_at(profile: &Value, project: &str) -> Option<String> {
    let resource = profile["resource"].as_str().filter(|resource| resource.starts_with("https://"))?;
    Some(format!("{}/mcp/{project}", resource.trim_end_matches('/')))
}

/// A profile as the file that is put into a repository's root.
pub fn profile_file(profile: &Value) -> String {
    let word = |name: &str| profile[name].to_string();
    format!(
        "# The connection profile of this repository: an agent compares server_identity with it and copies write_context\n\
         # from it. It guards against writing into the wrong project; it is no credential.\n\
         project = {}\ninstance = {}\nresource = {}\nlanguage = {}\nwrite_context = {}\n",
        word("project"),
        word("instance"),
        word("resource"),
        word("language"),
        word("write_context"),
    )
}

fn write_profile(session: &Session, profile: &Value) -> Result<ExitCode> {
    let path = session.config.folder.join(PROFILE_FILE);
    let text = profile_file(profile);
    if let Ok(old) = std::fs::read_to_string(&path) {
        if old == text {
            return told_file(session, &path, false);
        }
        check_replaceable(session, &path, profile)?;
    }
    write_whole(&path, &text)?;
    told_file(session, &path, true)
}

/// Only an older profile of the same project on the same instance may be replaced.
pub fn check_replaceable(session: &Session, path: &Path, profile: &Value) -> Result<()> {
    let refuse = |what: String| {
        let next = "Move it away first if that is meant. Nothing was written.";
        Err(Refusal::not_allowed(format!("{} {what}", path.display()), next))
    };
    match session.config.found_profile() {
        Ok(Some(old)) if old.path == path => {
            let same_instance = old.pinned.instance.as_deref() == profile["instance"].as_str();
            if old.pinned.project == profile["project"] && same_instance {
                return Ok(());
            }
            let instance = old.pinned.instance.unwrap_or_default();
            refuse(format!("is the profile of project {} on instance {instance}", old.pinned.project))
        }
        _ => refuse("is no profile".to_owned()),
    }
}

/// Writes beside the file and renames, so that a reader sees the old or the new one whole.
fn write_whole(path: &Path, text: &str) -> Result<()> {
    let failed = |error: std::io::Error| crate::store::file::failed("write", path, &error);
    // A link is followed: the file it names is replaced, not the link.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let beside = path.with_extension(format!("toml.{}", std::process::id()));
    std::fs::write(&beside, text).map_err(failed)?;
    std::fs::rename(&beside, path).map_err(failed)
}

fn told_file(session: &Session, path: &Path, written: bool) -> Result<ExitCode> {
    answer::print(&json!({"file": path.display().to_string(), "written": written}), session.json)
}

/// A profile, to be read.
pub fn profile_text(profile: &Value) -> String {
    let word = |name: &str| profile[name].as_str().unwrap_or_default().to_owned();
    format!(
        "Connection profile\n  resource: {}\n  instance: {}\n  project: {}\n  language: {}\n  write_context: {}\n",
        word("resource"),
        word("instance"),
        word("project"),
        word("language"),
        word("write_context"),
    )
}

/// `heyaira resume LINE`.
pub fn resume(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let words: Vec<&str> = matches.get_many::<String>("line").into_iter().flatten().map(String::as_str).collect();
    if words.is_empty() {
        return Err(Refusal::argument("the line is missing: heyaira resume 'handoff: 8e287857 v7'"));
    }
    let entry = operations::named("continuity_context")
        .ok_or_else(|| Refusal::internal(&"continuity_context is not listed"))?;
    let service = session.config.open(false)?;
    let mut packet = session.ask_of(&service, entry, json!({"handoff": words.join(" ")}))?;
    let repository = receipt::beside(session, &service, &packet, matches);
    service.store.close();
    if let (Some(repository), Some(fields)) = (repository?, packet.as_object_mut()) {
        fields.insert("repo".to_owned(), repository);
    }
    if !session.json {
        add_commands(&mut packet);
    }
    answer::print(&packet, session.json)
}

/// For a person: how to learn why a handoff is not ready, and how to take over one that waits.
fn add_commands(packet: &mut Value) {
    let task: String = packet["task_id"].as_str().unwrap_or_default().chars().take(SHORT).collect();
    if let Some(grade) = packet["grade"].as_str() {
        packet["grade"] = json!(format!("{grade} (why: heyaira handoff check {task})"));
    }
    // Whoever is told to do something else first is told only that.
    if packet["pending"].is_string() && packet["next"].is_null() {
        let version = &packet["version"];
        packet["to_take_over"] =
            json!(format!("heyaira task takeover {task} --expected-version {version} --session-ref label:NAME"));
    }
}

/// How many characters of an id a person is shown.
const SHORT: usize = 8;
