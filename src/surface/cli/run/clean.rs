//! `heyaira run clean`: takes away what runs left that are over. Must never take one away that would be refused, nor half
//! of what was named.

use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::{Map, Value, json};

use super::local::{self, Local};
use super::named::{self, Named};
use super::{deliver, operation, runs};
use crate::error::{Refusal, Result};
use crate::operation::Service;
use crate::run::clean::{Fate, clean as take_away, problems};
use crate::surface::cli::{Session, answer};

/// How many reports are dismissed by one call.
const AT_ONCE: usize = 50;

/// What is to be known of a run's report before it is taken away.
enum Report {
    /// It is recorded, or nobody is to record it.
    Settled,
    /// It is not, and that is the call for it.
    Unrecorded(String),
    /// The database has none, or cannot be asked.
    Missing,
}

/// A run that may be taken away, and whether its report is to be dismissed then.
struct Ready {
    run: Local,
    is_unrecorded: bool,
}

/// `heyaira run clean RUN…`, `heyaira run clean --all`.
pub fn clean(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let runs = runs()?;
    deliver::all(session, &runs)?;
    let all = local::all(&runs).map_err(|error| Refusal::internal(&error))?;
    let force = matches.get_flag("force");
    let names: Vec<&String> = matches.get_many::<String>("run").into_iter().flatten().collect();
    let is_all = matches.get_flag("all");
    if names.is_empty() && !is_all {
        return Err(Refusal::argument("no run is named: name runs, or give --all"));
    }
    let named = if is_all { Named { here: all, gone: Vec::new() } } else { named::find(session, &all, &names)? };
    let (ready, against) = looked_at(session, named.here, force)?;
    if !is_all && !against.is_empty() {
        let next = "Nothing was taken away.";
        return Err(Refusal::not_allowed(against.join("; "), next).with("problems", against));
    }
    let (mut cleaned, mut failed) = (Vec::new(), Vec::new());
    for ready in &ready {
        match row(&ready.run) {
            Ok(row) => cleaned.push((row, ready)),
            Err(problem) => failed.push(problem),
        }
    }
    let cleaned = dismissed(session, cleaned);
    let mut told = Map::new();
    told.insert("cleaned".to_owned(), json!(cleaned));
    if !named.gone.is_empty() {
        told.insert("gone".to_owned(), named.gone.iter().map(gone_row).collect());
    }
    if !against.is_empty() {
        told.insert("kept".to_owned(), json!(against));
    }
    if !failed.is_empty() {
        let next = "See to it and call again: what is taken away already is no failure then.";
        let refusal = Refusal::not_allowed(failed.join("; "), next).with("problems", failed);
        return Err(told.into_iter().fold(refusal, |refusal, (name, value)| refusal.with(&name, value)));
    }
    answer::print(&Value::Object(told), session.json)
}

/// Those that may be taken away, and what stands against the others.
fn looked_at(session: &Session, runs: Vec<Local>, force: bool) -> Result<(Vec<Ready>, Vec<String>)> {
    let service = session.config.open(false)?;
    let (mut ready, mut against) = (Vec::new(), Vec::new());
    for run in runs {
        let report = report(session, &service, &run);
        // Whether it is recorded is told here, with the call for it.
        let mut problems = problems(&run.folder, &run.plan, true, force);
        if run.outcome.is_some() && !force {
            problems.splice(0..0, unrecorded(&run, &report));
        }
        if problems.is_empty() {
            ready.push(Ready { run, is_unrecorded: matches!(report, Report::Unrecorded(_)) });
        } else {
            against.extend(problems);
        }
    }
    service.store.close();
    Ok((ready, against))
}

/// What stands against it where its report is not settled.
fn unrecorded(run: &Local, report: &Report) -> Option<String> {
    let name = run.short();
    match report {
        Report::Settled => None,
        Report::Unrecorded(call) => {
            Some(format!("the report of run {name} is not recorded: {call}, or heyaira run dismiss {name}, or --force"))
        }
        Report::Missing => Some(format!(
            "the report of run {name}, of project {}, is not in this project's database: heyaira run list where that project is \
             puts it there or says why not, or --force",
            run.plan.project
        )),
    }
}

/// Dismisses the reports of those that were taken away unrecorded, and says so in their rows.
fn dismissed(session: &Session, cleaned: Vec<(Value, &Ready)>) -> Vec<Value> {
    let (unrecorded, mut rows): (Vec<_>, Vec<_>) = cleaned.into_iter().partition(|(_, ready)| ready.is_unrecorded);
    for some in unrecorded.chunks(AT_ONCE) {
        let ids: Vec<&str> = some.iter().map(|(_, ready)| ready.run.plan.run_id.as_str()).collect();
        let asked = operation("run_dismiss").and_then(|entry| session.ask(entry, json!({"runs": ids})));
        let told = asked.as_ref().map(|answer| answer["runs"].as_array().cloned().unwrap_or_default());
        for (row, ready) in some {
            let mut row = row.clone();
            match &told {
                Ok(told) => {
                    let is_this = |one: &&Value| one["run_id"] == ready.run.plan.run_id.as_str();
                    row["dismissed"] = json!(told.iter().find(is_this).is_some_and(|one| one["dismissed"].is_object()));
                }
                Err(refusal) => {
                    row["dismissed"] = json!(false);
                    row["problem"] = json!(refusal.message);
                    row["next"] = json!(format!("heyaira run dismiss {}", ready.run.short()));
                }
            }
            rows.push((row, ready));
        }
    }
    rows.into_iter().map(|(row, _)| row).collect()
}

/// One that has nothing left here is no failure: it may be named again after another one failed.
fn gone_row(shown: &Value) -> Value {
    let (name, next) = named::gone(shown);
    json!({"run": name, "because": named::GONE, "next": next})
}

fn row(run: &Local) -> std::result::Result<Value, String> {
    let name = run.short();
    let cleaned =
        take_away(&run.folder, &run.plan).map_err(|problem| format!("run {name} cannot be taken away: {problem}"))?;
    let mut row = json!({"run": name});
    if let Fate::Kept(why) = &cleaned.branch {
        row["branch_kept"] = json!(run.plan.branch);
        row["branch_kept_because"] = json!(why);
    }
    match &cleaned.worktree {
        Fate::Taken => row["worktree"] = json!(run.plan.worktree),
        Fate::Kept(why) => {
            row["worktree_kept"] = json!(run.plan.worktree);
            row["worktree_kept_because"] = json!(why);
        }
        Fate::Gone => {}
    }
    if cleaned.processes > 0 {
        row["ended_processes"] = json!(cleaned.processes);
    }
    Ok(row)
}

/// As the database says, which may not have it.
fn report(session: &Session, service: &Service, run: &Local) -> Report {
    let shown = operation("run_show").and_then(|entry| session.ask_of(service, entry, json!({"run": run.plan.run_id})));
    match shown {
        Ok(shown) if shown["recorded"].is_object() || shown["dismissed"].is_object() => Report::Settled,
        Ok(shown) => Report::Unrecorded(shown["next"].as_str().unwrap_or_default().to_owned()),
        Err(_) => Report::Missing,
    }
}
