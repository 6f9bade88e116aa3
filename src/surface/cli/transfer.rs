//! `heyaira move`: the whole instance from one database into another one. Must never print a password.

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::domain::text::{grouped, visible};
use crate::error::{Code, Refusal, Result};
use crate::operation::Service;
use crate::store::backend::{Database, Store};
use crate::store::transfer::{self, End, Progress, Report, Side, Stage, Sum, Told};
use crate::surface::cli::{Session, answer, wait};

/// How often the progress within a table is told at most.
const TELLING: Duration = Duration::from_secs(1);

/// The command.
pub fn command() -> Command {
    let url = |name: &'static str| {
        Arg::new(name).long(name).value_name("URL").action(ArgAction::Set).conflicts_with_all([
            "database",
            "project-name",
            "profile",
        ])
    };
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    Command::new("move")
        .about("Move everything into another database, and prove it; the old one is read-only from then on")
        .long_about(
            "Move everything into another database: ids, versions, history, receipts, memories, messages, sessions, \
             times, tokens, settings, keys of repeated calls, and the instance with its profiles. Counts and digests of \
             every table, read back from both, prove it. Servers may run on the old database: it is made read-only \
             first, and stays so; what is written to it is refused. After an interruption run the same command again. \
             The way back from a finished move is a move back, into a new database.",
        )
        .arg(url("from").required(true).help("The database that is moved: a file or a PostgreSQL URL"))
        .arg(
            url("to")
                .required_unless_present("abandon")
                .help("The new or empty database that it is moved to, or the one of the unfinished move"),
        )
        .arg(flag("dry-run").conflicts_with("abandon").help("Only show what would be moved; nothing is changed"))
        .arg(flag("abandon").help("Give up an unfinished move: empty the target, and go on with the source"))
        .arg(flag("target-is-gone").requires("abandon").help(
            "The target cannot be reached any more, and its owner answers for it that no copy of it is ever used",
        ))
}

/// `heyaira move --from URL --to URL`.
pub fn run(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let from = Place::of(session, text("from").unwrap_or_default())?;
    if !from.is_there()? {
        return Err(Refusal::argument(format!("there is no database at {}", from.address)));
    }
    let (service, source) = from.open(false)?;
    if matches.get_flag("abandon") {
        return abandon(session, &source, text("to"), matches.get_flag("target-is-gone"));
    }
    let to = Place::of(session, text("to").unwrap_or_default())?;
    let is_there = to.is_there()?;
    if matches.get_flag("dry-run") {
        let target = if is_there { Some(to.open(false)?.1) } else { None };
        return show(session, &source, target.as_ref(), &to.address);
    }
    if !is_there {
        // Whatever speaks against the move is found before anything is made at the target's address.
        wait(transfer::examine(&source, None, &to.address))?;
        wait(transfer::check_leavable(&source))?;
    }
    let (_, target) = to.open(true)?;
    let ids = (service.ids.uuid(), service.ids.uuid());
    let report = wait(transfer::run(&source, &target, ids, &teller(&source)?))?;
    tell(session, &source, &target, &report)
}

/// A database that was named, before it is opened.
struct Place {
    config: Config,
    /// What is said of it: without a password.
    address: String,
}

impl Place {
    fn of(session: &Session, text: &str) -> Result<Self> {
        let database = match Database::of(text)? {
            // Whoever reads it later stands in another folder.
            Database::File(path) => Database::File(std::path::absolute(&path).unwrap_or(path)),
            server @ Database::Server(_) => server,
        };
        Ok(Self { address: database.to_string(), config: session.config.at(database)? })
    }

    fn is_there(&self) -> Result<bool> {
        Store::is_at(&self.config.database)
    }

    fn open(&self, create: bool) -> Result<(Service, End)> {
        let service = self.config.open(create)?;
        let end = End { store: service.store.clone(), address: self.address.clone() };
        Ok((service, end))
    }
}

fn show(session: &Session, source: &End, target: Option<&End>, to: &str) -> Result<ExitCode> {
    let (instance, stage) = wait(transfer::examine(source, target, to))?;
    let counts = wait(transfer::counts(source))?;
    let rows: Vec<Value> = counts.iter().map(|(table, rows)| json!({"table": table, "rows": rows})).collect();
    let state = match stage {
        Stage::New => "new: everything would be moved",
        Stage::Abandoned => "begun and abandoned: the target would be emptied, then everything moved",
        Stage::Unfinished => "unfinished: the rest would be moved",
        Stage::Finished => "finished: it would be proved again",
    };
    let told = json!({
        "moved": false,
        "state": state,
        "instance": instance,
        "from": source.address,
        "to": to,
        "rows": counts.iter().map(|(_, rows)| rows).sum::<u64>(),
        "tables": rows,
    });
    answer::print(&told, session.json)
}

fn tell(session: &Session, source: &End, target: &End, report: &Report) -> Result<ExitCode> {
    let row = |(table, one, other): &(&str, Sum, Sum)| {
        let mut row = Map::new();
        row.insert("table".to_owned(), json!(table));
        row.insert("rows".to_owned(), json!(one.rows));
        row.insert("sha256".to_owned(), json!(one.digest));
        if one != other {
            row.insert("rows_in_target".to_owned(), json!(other.rows));
            row.insert("sha256_in_target".to_owned(), json!(other.digest));
        }
        Value::Object(row)
    };
    let differing: Vec<&str> = report.tables.iter().filter(|(_, one, other)| one != other).map(|row| row.0).collect();
    let was_finished = report.stage == Stage::Finished;
    let mut told = json!({
        "moved": true,
        "finished_before": was_finished,
        "equal": differing.is_empty(),
        "instance": report.instance,
        "from": source.address,
        "to": target.address,
        "rows": report.tables.iter().map(|(_, one, _)| one.rows).sum::<u64>(),
        "tables": report.tables.iter().map(row).collect::<Vec<Value>>(),
    });
    if !differing.is_empty() {
        told["differing"] = json!(differing);
        told["why"] = json!("it was proved before the target was in use; the target was written to since");
    }
    told["next"] = json!(format!(
        "Start every server on {}, with --database or HEYAIRA_DATABASE. {} is read-only from now on.",
        target.address, source.address
    ));
    answer::print(&told, session.json)
}

/// Tells a person how far it is, not too often.
fn teller(source: &End) -> Result<Told> {
    let counts: HashMap<&str, u64> = wait(transfer::counts(source))?.into_iter().collect();
    let told = Mutex::new(HashMap::<(&str, Option<Side>), Instant>::new());
    Ok(Arc::new(move |progress: &Progress| {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        let step = (progress.table, progress.side);
        if told.get(&step).is_some_and(|last| last.elapsed() < TELLING) {
            return;
        }
        told.insert(step, Instant::now());
        let what = match progress.side {
            None => "copied",
            Some(Side::Source) => "read back from the source",
            Some(Side::Target) => "read back from the target",
        };
        let number = |rows: u64| grouped(usize::try_from(rows).unwrap_or(usize::MAX));
        let all = counts.get(progress.table).copied().unwrap_or_default();
        answer::note(&format!("{}: {} of {} rows {what}", progress.table, number(progress.rows), number(all)));
    }))
}

fn abandon(session: &Session, source: &End, to: Option<&str>, is_gone: bool) -> Result<ExitCode> {
    let bound_for = wait(transfer::bound_for(source))?;
    let target = match (to, is_gone) {
        (_, true) => None,
        (Some(to), false) => Some(reached(session, to)?),
        (None, false) => Some(reached(session, &bound_for).map_err(ask_for_url)?),
    };
    let instance = wait(transfer::abandon(source, target.as_ref()))?;
    let told = json!({
        "abandoned": true,
        "instance": instance,
        "in_use": source.address,
        "was_bound_for": bound_for,
        "next": "Servers on it accept writes again; nothing need be started anew.",
    });
    answer::print(&told, session.json)
}

/// The source keeps the target's address, without its password and settings: with them it may be reached.
fn ask_for_url(refusal: Refusal) -> Refusal {
    match refusal.code {
        Code::Unavailable => {
            Refusal { next: format!("Name the whole URL of the target with --to. {}", refusal.next), ..refusal }
        }
        _ => refusal,
    }
}

/// The target of a move that is given up; refuses if nothing is there, as that may be there again later.
fn reached(session: &Session, to: &str) -> Result<End> {
    let place = Place::of(session, to)?;
    if place.is_there()? {
        return place.open(false).map(|(_, target)| target);
    }
    Err(Refusal::not_allowed(
        format!("there is nothing at {}", visible(&place.address)),
        "If it was never made, or removed for good, add --target-is-gone. Nothing was changed.",
    ))
}
