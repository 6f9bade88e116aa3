//! `heyaira run stop`: ends runs that go on. Must never signal a process that is no watcher of the run.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::local::{self, Local};
use super::runs;
use crate::error::{Code, Refusal, Result};
use crate::run::watch::began;
use crate::run::{claim, recover};
use crate::surface::cli::{Session, answer};

/// How long a run may take to end: its processes, git, and a report.
const ENDS: Duration = Duration::from_mins(3);
/// How often it is looked whether it has.
const AGAIN: Duration = Duration::from_millis(50);

/// `heyaira run stop RUN…`.
pub fn stop(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let unread = |error: std::io::Error| Refusal::internal(&format!("the runs cannot be read: {error}"));
    let all = local::all(&runs()?).map_err(unread)?;
    let named = matches.get_many::<String>("run").into_iter().flatten();
    let runs = every(named.map(|named| local::find(&all, named)).collect())?;
    runs.iter().for_each(ask);
    let rows = runs.iter().map(|run| ended(run).map_err(unread)).collect::<Result<Vec<Value>>>()?;
    let is_all = rows.iter().all(|row| !row["outcome"].is_null());
    answer::print(&json!({"runs": rows}), session.json)?;
    Ok(if is_all { ExitCode::SUCCESS } else { ExitCode::from(Code::Unavailable.exit()) })
}

/// All of them, or everything that is wrong with any.
pub(super) fn every(found: Vec<Result<Local>>) -> Result<Vec<Local>> {
    let refusals: Vec<&Refusal> = found.iter().filter_map(|one| one.as_ref().err()).collect();
    match refusals.as_slice() {
        [] => Ok(found.into_iter().flatten().collect()),
        [one] => Err((*one).clone()),
        [first, ..] => {
            let messages: Vec<&str> = refusals.iter().map(|refusal| refusal.message.as_str()).collect();
            Err(Refusal::new(first.code, messages.join("; "), "Correct them and call again. Nothing was done."))
        }
    }
}

/// Asks its watcher, which is known by its number and by when it began.
fn ask(run: &Local) {
    let Some((id, at)) = run.progress.watcher.filter(|_| run.outcome.is_none()) else { return };
    let is_watched = claim::is_owned(&run.folder).unwrap_or_default() && began(id) == at;
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw).filter(|_| is_watched) {
        // It may have come to its end in this moment.
        let _ = kill_process(id, Signal::TERM);
    }
}

/// Waits for its report.
fn ended(run: &Local) -> std::io::Result<Value> {
    let until = Instant::now() + ENDS;
    loop {
        recover::one(&run.folder)?;
        let outcome = run.folder.report().ok().map(|report| report.outcome);
        if outcome.is_some() || Instant::now() >= until {
            let was_over = run.outcome.is_some();
            return Ok(json!({"run_id": run.plan.run_id, "outcome": outcome, "was_over": was_over}));
        }
        std::thread::sleep(AGAIN);
    }
}
