//! `heyaira redact`: takes a leaked passage out of the database, then looks for it in the file and in every backup that is
//! known. Must never take the passage from the command line, where other programs and the shell's history see it, and
//! never print it.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value, json};

use crate::domain::redaction::Passage;
use crate::error::{Code, Refusal, Result};
use crate::operation::Service;
use crate::operations;
use crate::store::backend::{Store, work};
use crate::store::backups::{self, Backup};
use crate::store::copies::{self, Copy};
use crate::surface::cli::{Session, answer, wait};

/// How long a redaction may take: it reads every row.
const PATIENCE: Duration = Duration::from_hours(1);

/// The command.
pub fn command() -> Command {
    Command::new("redact")
        .about("Take a leaked passage out of everything that is stored, and list the backups that still hold it")
        .long_about(
            "Take a leaked passage out of everything that is stored, in every project: each version, receipt, memory, \
             message, answer kept for retries, and the word index. [REDACTED] stands in its place, and every task in which \
             it stood, be it only in its history, gets a version that says so. Then the database's file is searched for it, \
             and every backup that is known: those made by heyaira backup and the copies beside the database. The passage \
             is read from standard input or a file, without the line end behind it; letter case, spaces and line ends \
             within it count. A secret that leaked is known to others: rotate it as well. On PostgreSQL the server keeps \
             what was removed until its tables are written anew (vacuum full), and in its log and its own backups.",
        )
        .arg(
            Arg::new("passage")
                .long("passage")
                .value_name("@FILE")
                .action(ArgAction::Set)
                .allow_hyphen_values(true)
                .help("Where the passage is read from: @FILE, or @- for standard input, which it is if left out"),
        )
        .arg(Arg::new("dry-run").long("dry-run").action(ArgAction::SetTrue).help("Only tell where it stands"))
}

/// `heyaira redact`.
pub fn run(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let text = passage(matches.get_one::<String>("passage").map(String::as_str))?;
    let passage = Passage::of(text.clone())?;
    let dry_run = matches.get_flag("dry-run");
    let entry = operations::named("redact").ok_or_else(|| Refusal::internal(&"redact is not listed"))?;
    let service = Service { deadline: PATIENCE, ..session.config.open(false)? };
    let answer = session.ask_of(&service, entry, json!({"passage": text, "dry_run": dry_run}));
    let backups = answer.as_ref().map_or_else(|_| Ok(Vec::new()), |_| made(&service));
    // The file is closed before it is searched: closing moves the log into it.
    service.store.close();
    let Value::Object(mut told) = answer? else {
        return Err(Refusal::internal(&"redact answered no object"));
    };
    let file = service.store.file().map(Path::to_path_buf);
    drop(service);
    let copies = looked_through(file.as_deref(), &backups?, &passage);
    let is_clean = tell(&mut told, file.as_deref(), &copies, &passage, dry_run)?;
    answer::print(&Value::Object(told), session.json)?;
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::from(Code::Unavailable.exit()) })
}

/// The passage, without the line end that an editor or `echo` puts behind it.
fn passage(from: Option<&str>) -> Result<String> {
    let from = from.unwrap_or("@-");
    let Some(file) = from.strip_prefix('@') else {
        return Err(Refusal::argument(
            "passage is read from a file or from standard input, as @FILE or @-: on a command line others would see it",
        ));
    };
    let mut text = String::new();
    let read = if file == "-" {
        if std::io::stdin().is_terminal() {
            answer::note("Paste the passage, then press Enter and Ctrl-D:");
        }
        std::io::stdin().read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|mut file| file.read_to_string(&mut text))
    };
    read.map_err(|error| Refusal::argument(format!("passage cannot be read: {error}")))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

fn made(service: &Service) -> Result<Vec<Backup>> {
    let deadline = Instant::now() + service.deadline;
    wait(service.store.read(deadline, work(|transaction| Box::pin(backups::all(transaction)))))
}

/// Every copy of the database that is known, with what was found in it.
fn looked_through(file: Option<&Path>, backups: &[Backup], passage: &Passage) -> Vec<(PathBuf, Option<String>, Copy)> {
    let beside = file.map(copies::beside).unwrap_or_default();
    let made: Vec<(PathBuf, Option<String>)> =
        backups.iter().map(|one| (PathBuf::from(&one.file), Some(one.made.rfc3339()))).collect();
    let beside = beside.into_iter().map(|path| (path, None));
    let known = beside.filter(|(path, _)| made.iter().all(|(other, _)| other != path)).collect::<Vec<_>>();
    let all = made.iter().cloned().chain(known);
    all.map(|(path, at)| {
        let found = copies::search(&path, passage);
        (path, at, found)
    })
    .collect()
}

/// Adds what was found in the file and in the copies; false if the file itself still holds the passage.
fn tell(
    told: &mut Map<String, Value>,
    file: Option<&Path>,
    copies: &[(PathBuf, Option<String>, Copy)],
    passage: &Passage,
    dry_run: bool,
) -> Result<bool> {
    let of = |wanted: fn(&Copy) -> bool| -> Vec<Value> {
        let found = copies.iter().filter(|(_, _, copy)| wanted(copy));
        found.map(|(path, made, copy)| row(path, made.as_deref(), copy)).collect()
    };
    told.insert("backups_that_hold_it".to_owned(), json!(of(|copy| matches!(copy, Copy::Holds))));
    told.insert("backups_without_it".to_owned(), json!(of(|copy| matches!(copy, Copy::Clean)).len()));
    let unknown = of(|copy| matches!(copy, Copy::Gone | Copy::Unread(_)));
    if !unknown.is_empty() {
        told.insert("backups_not_looked_at".to_owned(), json!(unknown));
    }
    let Some(file) = file.filter(|_| !dry_run) else {
        return Ok(true);
    };
    let remains = copies::bytes_hold(file, passage)?;
    told.insert("file_is_clean".to_owned(), json!(!remains));
    if remains {
        let next = "The texts are redacted, but the file still has the passage in its free space: somebody was reading an \
                    older state. Stop what uses the database, then run this again.";
        told.insert("next".to_owned(), json!(next));
    }
    Ok(!remains)
}

fn row(path: &Path, made: Option<&str>, copy: &Copy) -> Value {
    let mut row = Map::new();
    row.insert("file".to_owned(), json!(path.display().to_string()));
    if let Some(made) = made {
        row.insert("made".to_owned(), json!(made));
    }
    match copy {
        Copy::Gone => drop(row.insert("why".to_owned(), json!("it is not there any more, or cannot be reached"))),
        Copy::Unread(why) => drop(row.insert("why".to_owned(), json!(why))),
        Copy::Holds | Copy::Clean => {}
    }
    Value::Object(row)
}

/// Remembers a backup, so that a later redaction finds it. A database that takes no writes goes without.
pub fn remember(store: &Store, file: &Path, made_by: String) -> Result<()> {
    let new = Backup::at(file, crate::surface::cli::now());
    let added = work(move |transaction| {
        let (new, made_by) = (new.clone(), made_by.clone());
        Box::pin(async move {
            if crate::store::project::identity_and_standing(transaction, None).await?.2.check_writable().is_err() {
                return Ok(());
            }
            backups::add(transaction, &new, &made_by).await
        })
    });
    wait(store.write(Instant::now() + Duration::from_mins(1), added))
}
