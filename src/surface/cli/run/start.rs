//! `heyaira run start`: makes the worktree, writes plan and brief, and starts the watcher.

use std::fs;
use std::io::{self, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use serde_json::json;

use super::ask::{Asked, Told, Where, asked};
use super::follow::{Events, follow};
use super::runs;
use crate::domain::run::brief::Brief;
use crate::error::{Code, Refusal, Result};
use crate::run::claim::{self, Held};
use crate::run::folder::{Plan, RunFolder, Runs};
use crate::run::recover;
use crate::run::watch::BRIEF;
use crate::run::watcher::WORDS;
use crate::run::work::{Prepared, prepare};
use crate::surface::cli::{Session, answer};

/// What the watcher says where nobody hears it.
const WATCHER_LOG: &str = "watcher.log";
/// What git tells its hooks and what it runs of the working tree and the call that they belong to: whoever starts a run from
/// there means neither for the run.
const OF_ANOTHER_TREE: [&str; 16] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_REFLOG_ACTION",
];
/// How long the watcher may take to say that it is there.
const BEGINS: Duration = Duration::from_secs(30);
/// How often it is looked whether it is.
const AGAIN: Duration = Duration::from_millis(5);

/// `heyaira run start`.
pub fn start(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let runs = runs()?;
    let Asked { mut plan, told, place } = asked(session, matches, &runs)?;
    told.warnings(&plan, &place).iter().for_each(|warning| answer::note(warning));
    let folder = runs.run(&plan.run_id);
    let events = Events::listen()?;
    let watcher = made(&runs, &folder, &plan, &place).and_then(|(starting, prepared)| {
        prepared.clone().note_in(&mut plan);
        let begun = begin(session, &folder, &plan, &told);
        drop(starting);
        begun.inspect_err(|_| {
            // Why it was not started is what is told.
            let _ = prepared.take_back(place.path());
        })
    });
    let watcher = watcher.inspect_err(|_| {
        let _ = fs::remove_dir_all(folder.path());
        folder.remove_second_plan();
    })?;
    if matches.get_flag("detach") {
        events.pass_on(&watcher);
        return detached(session, &folder, &plan);
    }
    follow(session, &folder, &plan, watcher, events)
}

/// What cannot be written.
fn failed(folder: &RunFolder) -> impl Fn(io::Error) -> Refusal {
    let shown = folder.path().display().to_string();
    move |error| {
        let message = format!("the run's folder {shown} cannot be written: {error}");
        Refusal::new(Code::Unavailable, message, "Make room or name another HEYAIRA_STATE. Nothing was started.")
    }
}

/// Makes the run's folder, which this process has in hand, and its worktree.
fn made(runs: &Runs, folder: &RunFolder, plan: &Plan, place: &Where) -> Result<(Option<Held>, Prepared)> {
    // What an earlier watcher left is told before there is more to tell.
    recover::all(runs).map_err(failed(folder))?;
    folder.make().map_err(failed(folder))?;
    let starting = claim::starting(folder).map_err(failed(folder))?;
    // Before there is anything else, so that nothing is ever there that no run stands for.
    folder.write_plan(plan).map_err(failed(folder))?;
    Ok((starting, prepare(&place.wanted(runs, &plan.run_id))?))
}

/// Writes plan and brief, and starts the watcher.
fn begin(session: &Session, folder: &RunFolder, plan: &Plan, told: &Told) -> Result<Child> {
    write_brief(folder, plan, told).map_err(failed(folder))?;
    folder.write_plan(plan).map_err(failed(folder))?;
    let watcher = command(session, folder, plan).and_then(|mut command| command.spawn());
    let mut watcher = watcher.map_err(failed(folder))?;
    let is_there = wait_for(folder, &mut watcher);
    if is_there { Ok(watcher) } else { Err(Refusal::internal(&"the watcher ended before it began")) }
}

fn write_brief(folder: &RunFolder, plan: &Plan, told: &Told) -> io::Result<()> {
    let brief = Brief {
        run_id: &plan.run_id,
        branch: &plan.branch,
        base_commit: &plan.base_commit,
        tests: &plan.tests,
        timeout_ms: plan.timeout_ms,
        silence_ms: plan.silence_ms,
        budget_usd: plan.budget_usd,
        instructions: told.instructions.as_deref(),
        packet: told.packet.as_ref(),
    };
    let mut file = folder.create(BRIEF)?;
    file.write_all(brief.text().as_bytes())?;
    file.sync_all()
}

/// The watcher is this program. The database's address may hold a password, so it is no argument.
fn command(session: &Session, folder: &RunFolder, plan: &Plan) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    // By these words it is known again.
    command.args(WORDS).args([&plan.run_id, "--project", &plan.project]);
    command.current_dir(&session.config.folder).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::from(folder.create(WATCHER_LOG)?));
    for name in OF_ANOTHER_TREE {
        command.env_remove(name);
    }
    if let Some(named) = &session.named_database {
        command.env("HEYAIRA_DATABASE", named);
    }
    Ok(command)
}

/// Waits until the watcher has the run in hand, or is gone.
fn wait_for(folder: &RunFolder, watcher: &mut Child) -> bool {
    let until = Instant::now() + BEGINS;
    while Instant::now() < until {
        if folder.progress().is_ok() {
            return true;
        }
        if !matches!(watcher.try_wait(), Ok(None)) {
            return folder.progress().is_ok();
        }
        std::thread::sleep(AGAIN);
    }
    // One that does not begin must not begin later.
    let _ = watcher.kill();
    let _ = watcher.wait();
    false
}

fn detached(session: &Session, folder: &RunFolder, plan: &Plan) -> Result<ExitCode> {
    let short_id = plan.run_id.get(..8).unwrap_or(&plan.run_id);
    let told = json!({
        "run_id": plan.run_id,
        "folder": folder.path(),
        "branch": plan.branch,
        "worktree": plan.worktree,
        "next": format!("heyaira run list; heyaira run stop {short_id}"),
    });
    answer::print(&told, session.json)
}
