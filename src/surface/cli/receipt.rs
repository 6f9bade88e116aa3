//! `heyaira receipt verify`, and the same for `heyaira resume --repo`: a receipt against the repository of a folder.
//! Must never change anything in that folder.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value, json};

use crate::domain::verification::Verdict;
use crate::domain::verification::facts::Facts;
use crate::error::{Refusal, Result};
use crate::git::look::{Wanted, look};
use crate::operation::{Entry, Service};
use crate::operations;
use crate::surface::cli::{Session, answer, now};

/// How long git may take, in seconds, if nobody says otherwise.
const SECONDS: u64 = 60;
/// The exit code for a receipt that the repository contradicts: no refusal has it.
pub const CONTRADICTED: u8 = 9;
/// The exit code for a receipt of which the repository does not say whether it holds.
pub const UNVERIFIED: u8 = 10;

/// The command.
pub fn command() -> Command {
    let text = |name: &'static str, word: &'static str| Arg::new(name).value_name(word).action(ArgAction::Set);
    Command::new("verify")
        .about("Compare a task's last receipt with a git repository")
        .long_about(
            "Compare a task's last receipt with a git repository, by the git program: whether its branch and commits \
             exist, whether the result is on the branch and descends from the base, whether it is pushed, and what is not \
             committed. Only reads: nothing is fetched, and nothing that the repository names is run. Exit code 0: \
             verified; 9: contradicted; 10: unverified, as the repository does not say; every other one is that of a \
             refusal.",
        )
        .arg(text("task_id", "TASK").required(true).help("The task: its id or the beginning of it, at least 4 characters"))
        .args(flags())
        .arg(Arg::new("record").long("record").action(ArgAction::SetTrue).help(
            "Record what came out with the task, whose readers see it from then on; it makes no version",
        ))
        .arg(
            text("idempotency_key", "VALUE")
                .long("idempotency-key")
                .requires("record")
                .allow_hyphen_values(true)
                .help("A word of your own: the same call with the same key happens once"),
        )
        .mut_arg("repo", |flag| flag.required(true))
}

/// The flags that name a repository.
pub fn flags() -> [Arg; 2] {
    [
        Arg::new("repo")
            .long("repo")
            .value_name("DIR")
            .action(ArgAction::Set)
            .help("A folder of the repository, e.g. . for the current one"),
        Arg::new("timeout")
            .long("timeout")
            .value_name("SECONDS")
            .requires("repo")
            .value_parser(clap::value_parser!(u64).range(1..=3_600))
            .action(ArgAction::Set)
            .help("How long git may take in all, 1 to 3600 seconds; 60 if left out"),
    ]
}

/// `heyaira receipt verify TASK --repo DIR`.
pub fn verify(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let task = text("task_id").unwrap_or_default();
    let place = Place::of(matches)?.ok_or_else(|| Refusal::argument("--repo is missing: name the folder"))?;
    let service = session.config.open(false)?;
    let told = compared(session, &service, task, &place);
    let told = told.and_then(|told| {
        if matches.get_flag("record") { record(session, &service, told, text("idempotency_key")) } else { Ok(told) }
    });
    service.store.close();
    let mut told = told?;
    if let (false, Some(fields)) = (session.json, told.as_object_mut()) {
        // A person reads the lines; the facts behind them are for programs.
        let facts = fields.shift_remove("facts").unwrap_or_default();
        fields.insert("repository".to_owned(), facts["path"].clone());
        fields.insert("at".to_owned(), facts["at"].clone());
    }
    answer::print(&told, session.json)?;
    let verdict = told["verdict"].as_str().and_then(Verdict::of).unwrap_or_default();
    Ok(match verdict {
        Verdict::Verified => ExitCode::SUCCESS,
        Verdict::Contradicted => ExitCode::from(CONTRADICTED),
        Verdict::Unverified => ExitCode::from(UNVERIFIED),
    })
}

/// What `heyaira resume --repo` adds to the packet; nothing without the flag.
pub fn beside(session: &Session, service: &Service, packet: &Value, matches: &ArgMatches) -> Result<Option<Value>> {
    let Some(place) = Place::of(matches)? else { return Ok(None) };
    let task = packet["task_id"].as_str().unwrap_or_default();
    let mut told = compared(session, service, task, &place)?;
    let facts = told["facts"].take();
    Ok(Some(json!({
        "path": facts["path"],
        "at": facts["at"],
        "verdict": told["verdict"],
        "differences": told["differences"],
        "head": facts["head"],
    })))
}

/// Where to look, and until when.
pub struct Place {
    folder: PathBuf,
    seconds: u64,
}

impl Place {
    /// The folder that `--repo` names, which must be there.
    pub fn of(matches: &ArgMatches) -> Result<Option<Self>> {
        let Some(named) = matches.get_one::<String>("repo") else { return Ok(None) };
        let folder = PathBuf::from(named).canonicalize().ok().filter(|folder| folder.is_dir());
        let folder = folder.ok_or_else(|| {
            let shown = crate::domain::text::quoted(named, 200);
            Refusal::argument(format!("--repo {shown} is no folder that can be read"))
        })?;
        Ok(Some(Self { folder, seconds: matches.get_one("timeout").copied().unwrap_or(SECONDS) }))
    }
}

/// The receipt of a task, what git said, and what comes out.
fn compared(session: &Session, service: &Service, task: &str, place: &Place) -> Result<Value> {
    let show = operation("receipt_show")?;
    let shown = session.ask_of(service, show, json!({"task_id": task}))?;
    let claim = |name: &str| shown["receipt"][name].as_str().unwrap_or_default().to_owned();
    let wanted =
        Wanted { branch: claim("branch"), base_commit: claim("base_commit"), result_commit: claim("result_commit") };
    let facts = look_at(place, &wanted);
    let mut asked = Map::new();
    asked.insert("task_id".to_owned(), shown["task_id"].clone());
    asked.insert("facts".to_owned(), json!(facts));
    if let Some(version) = shown["receipt"].get("v") {
        asked.insert("receipt_version".to_owned(), version.clone());
    }
    let judged = session.ask_of(service, show, Value::Object(asked))?;
    Ok(json!({
        "task_id": judged["task_id"],
        "title": judged["title"],
        "verdict": judged["verdict"],
        "differences": judged["differences"],
        "receipt": judged["receipt"],
        "facts": facts,
    }))
}

fn look_at(place: &Place, wanted: &Wanted) -> Facts {
    let until = Instant::now() + Duration::from_secs(place.seconds);
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    look(&path, &place.folder, wanted, until, || now().rfc3339())
}

fn record(session: &Session, service: &Service, told: Value, key: Option<&str>) -> Result<Value> {
    let version = told["receipt"].get("v").cloned().ok_or_else(|| {
        Refusal::not_allowed("there is no receipt to record a verification of", "Send one first. Nothing was written.")
    })?;
    let arguments = json!({
        "task_id": told["task_id"],
        "receipt_version": version,
        "facts": told["facts"],
        "idempotency_key": key,
    });
    let recorded = session.ask_of(service, operation("receipt_record")?, arguments)?;
    let mut answer = told;
    // A replay tells what was recorded the first time.
    for name in ["verdict", "differences", "recorded", "replayed"] {
        if let Some(value) = recorded.get(name) {
            answer[name] = value.clone();
        }
    }
    Ok(answer)
}

fn operation(name: &str) -> Result<&'static Entry> {
    operations::named(name).ok_or_else(|| Refusal::internal(&format!("{name} is not listed")))
}
