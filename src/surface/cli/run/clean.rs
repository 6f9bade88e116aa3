//! `heyaira run clean`: takes away what runs left that are over. Must never take one away that would be refused, nor half
//! of what was named.

use std::process::ExitCode;

use clap::ArgMatches;
use serde_json::{Map, Value, json};

use super::local::{self, Local};
use super::{deliver, runs};
use crate::error::{Refusal, Result};
use crate::operation::Service;
use crate::operations;
use crate::run::clean::{Fate, clean as take_away, problems};
use crate::surface::cli::{Session, answer};

/// `heyaira run clean RUN…`, `heyaira run clean --all`.
pub fn clean(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let runs = runs()?;
    deliver::all(session, &runs)?;
    let all = local::all(&runs).map_err(|error| Refusal::internal(&error))?;
    let force = matches.get_flag("force");
    let named: Vec<&String> = matches.get_many::<String>("run").into_iter().flatten().collect();
    let is_all = matches.get_flag("all");
    if named.is_empty() && !is_all {
        return Err(Refusal::argument("no run is named: name runs, or give --all"));
    }
    let service = session.config.open(false)?;
    let found =
        if is_all { Ok(all) } else { super::stop::every(named.iter().map(|name| local::find(&all, name)).collect()) };
    let looked = found.map(|runs| {
        let look = |run: Local| {
            let problems = problems(&run.folder, &run.plan, is_recorded(session, &service, &run), force);
            (run, problems)
        };
        runs.into_iter().map(look).collect::<Vec<(Local, Vec<String>)>>()
    });
    service.store.close();
    let (ready, kept): (Vec<_>, Vec<_>) = looked?.into_iter().partition(|(_, problems)| problems.is_empty());
    let against: Vec<String> = kept.into_iter().flat_map(|(_, problems)| problems).collect();
    if !is_all && !against.is_empty() {
        let next = "Nothing was taken away.";
        return Err(Refusal::not_allowed(against.join("; "), next).with("problems", against));
    }
    let (cleaned, failed): (Vec<_>, Vec<_>) = ready.iter().map(row).partition(Result::is_ok);
    let mut told = Map::new();
    told.insert("cleaned".to_owned(), json!(cleaned.into_iter().flatten().collect::<Vec<Value>>()));
    if !against.is_empty() {
        told.insert("kept".to_owned(), json!(against));
    }
    let failed: Vec<String> = failed.into_iter().filter_map(Result::err).collect();
    if !failed.is_empty() {
        let next = "See to it and call again: what is taken away already is no failure then.";
        let refusal = Refusal::not_allowed(failed.join("; "), next).with("problems", failed);
        return Err(told.into_iter().fold(refusal, |refusal, (name, value)| refusal.with(&name, value)));
    }
    answer::print(&Value::Object(told), session.json)
}

fn row((run, _): &(Local, Vec<String>)) -> std::result::Result<Value, String> {
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
fn is_recorded(session: &Session, service: &Service, run: &Local) -> bool {
    let shown =
        operations::named("run_show").map(|entry| session.ask_of(service, entry, json!({"run": run.plan.run_id})));
    shown.is_some_and(|shown| shown.is_ok_and(|shown| shown["recorded"].is_object()))
}
