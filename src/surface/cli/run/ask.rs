//! From the flags of `run start` to a plan: everything that is wrong is told at once, before anything is made.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgMatches;
use serde_json::{Value, json};

use super::words;
use crate::client::harness::{Harness, launch};
use crate::domain::handoff::line_problem;
use crate::domain::task::{Status, reference_problem};
use crate::domain::text::quoted;
use crate::error::{Refusal, Result};
use crate::operation::Service;
use crate::operations;
use crate::run::folder::{Plan, Runs};
use crate::run::watch::{BRIEF, wanted};
use crate::run::work;
use crate::run::work::base::lacks;
use crate::surface::cli::flags::content;
use crate::surface::cli::{Session, caller, now};

/// A plan, and the packet of its task.
pub(super) struct Asked {
    pub(super) plan: Plan,
    pub(super) told: Told,
    pub(super) place: Where,
}

/// What the harness is told to do.
pub(super) struct Told {
    /// The words of whoever starts the run.
    pub(super) instructions: Option<String>,
    /// The packet of its task.
    pub(super) packet: Option<Value>,
}

impl Told {
    /// What whoever starts the run should know of its task, if anything: earlier work that the base does not have.
    pub(super) fn warning(&self, plan: &Plan, place: &Where) -> Option<String> {
        let receipt = &self.packet.as_ref()?["receipt"];
        let commit = receipt["result_commit"].as_str()?;
        let word = |text: &str| quoted(text, 100);
        lacks(&place.path, &place.folder, &plan.base_commit, commit).then(|| {
            let branch = receipt["branch"].as_str().filter(|branch| !["", "none"].contains(branch));
            let branch = branch.map_or_else(String::new, |branch| format!(" on branch {}", word(branch)));
            format!(
                "the last receipt of the task has commit {}{branch}, which the base {} does not have: --branch goes on from a \
                 branch, --base begins at a commit",
                word(commit),
                &plan.base_commit[..plan.base_commit.len().min(12)]
            )
        })
    }
}

/// Where it is to work, as the command line names it.
pub(super) struct Where {
    path: OsString,
    folder: PathBuf,
    base: Option<String>,
    branch: Option<String>,
    worktree: Option<PathBuf>,
}

impl Where {
    fn of(session: &Session, matches: &ArgMatches) -> Self {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        Self {
            path: std::env::var_os("PATH").unwrap_or_default(),
            folder: session.config.folder.clone(),
            base: text("base"),
            branch: text("branch"),
            worktree: text("worktree").map(PathBuf::from),
        }
    }

    /// The same for who makes it.
    pub(super) fn wanted<'w>(&'w self, runs: &'w Runs, run_id: &'w str) -> work::Wanted<'w> {
        work::Wanted {
            path: &self.path,
            folder: &self.folder,
            runs,
            run_id,
            base: self.base.as_deref(),
            branch: self.branch.as_deref(),
            worktree: self.worktree.as_deref(),
        }
    }

    /// Where programs are.
    pub(super) fn path(&self) -> &OsStr {
        &self.path
    }
}

/// What a command line asks for.
pub(super) fn asked(session: &Session, matches: &ArgMatches, runs: &Runs) -> Result<Asked> {
    let mut refusals = Vec::new();
    let mut plan = Plan {
        run_id: uuid::Uuid::new_v4().to_string(),
        session_id: uuid::Uuid::new_v4().to_string(),
        caller: caller(),
        asked: now().rfc3339(),
        ..Plan::default()
    };
    names(&mut plan, matches);
    refusals.extend(bounds(&mut plan, matches).into_iter().map(Refusal::argument));
    let place = Where::of(session, matches);
    match work::planned(&place.wanted(runs, &plan.run_id)) {
        Ok(prepared) => prepared.note_in(&mut plan),
        Err(refusal) => refusals.push(refusal),
    }
    refusals.extend(harness(&mut plan, session, runs));
    let task = matches.get_one::<String>("task").map(String::as_str);
    let given = matches.get_one::<String>("instructions");
    let instructions = given.map(|given| content("--instructions", given)).transpose();
    refusals.extend(instructions.as_ref().err().cloned());
    let instructions = instructions.ok().flatten().filter(|text| !text.trim().is_empty());
    if task.is_none() && instructions.is_none() && plan.harness != Harness::Command.name() {
        refusals.push(Refusal::argument("there is nothing to do: give --task, or --instructions"));
    }
    let misnamed = task.and_then(misnamed);
    let packet = of_database(session, &mut plan, task.filter(|_| misnamed.is_none()));
    refusals.extend(misnamed.map(Refusal::argument));
    let packet = packet.unwrap_or_else(|refusal| {
        refusals.push(refusal);
        None
    });
    match Refusal::together(refusals) {
        Some(refusal) => Err(refusal),
        None => Ok(Asked { plan, told: Told { instructions, packet }, place }),
    }
}

/// What is wrong with how a task is named: by its id, or by the handoff line that somebody pasted.
fn misnamed(task: &str) -> Option<String> {
    let problem = line_problem(task)?;
    if task.to_ascii_lowercase().contains("handoff:") {
        return Some(format!("--task {problem}"));
    }
    let problem = reference_problem(task).unwrap_or_else(|| format!("{} is no task id", quoted(task, 60)));
    Some(format!("--task {problem}: give its id, such as 8e287857, or its handoff line"))
}

fn names(plan: &mut Plan, matches: &ArgMatches) {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let texts = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
    plan.extra = texts("words");
    plan.harness = text("harness").unwrap_or_else(|| Harness::Command.name().to_owned());
    plan.model = text("model");
    plan.resume = text("resume");
    plan.tests = texts("test");
}

/// Takes the bounds; what is wrong with them.
fn bounds(plan: &mut Plan, matches: &ArgMatches) -> Vec<String> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let word = |name: &str| text(name).unwrap_or_default();
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let taken = [
        words::duration("timeout", word("timeout")).map(|time| plan.timeout_ms = ms(time)),
        words::silence(word("silence")).map(|time| plan.silence_ms = time.map(ms)),
        words::duration("test-timeout", word("test-timeout")).map(|time| plan.test_timeout_ms = ms(time)),
        words::size("log-limit", word("log-limit")).map(|size| plan.log_limit = size),
        words::number("max", word("max")).map(|number| plan.max = number),
        text("budget")
            .map_or(Ok(()), |budget| words::dollars("budget", budget).map(|budget| plan.budget_usd = Some(budget))),
    ];
    taken.into_iter().filter_map(std::result::Result::err).collect()
}

/// What stands against starting its harness.
fn harness(plan: &mut Plan, session: &Session, runs: &Runs) -> Option<Refusal> {
    let harness = match Harness::named(&plan.harness) {
        Ok(harness) => harness,
        Err(refusal) => return Some(refusal),
    };
    // A short form of its name stands for it.
    harness.name().clone_into(&mut plan.harness);
    match launch(harness, &wanted(plan, &runs.run(&plan.run_id).path().join(BRIEF), "")) {
        Ok(launch) => unfound(harness, &launch.program, &session.config.folder).map(Refusal::argument),
        Err(refusal) => Some(refusal),
    }
}

/// Says so of a program that is not in `PATH`, and not where it is named. One that is named from no root is looked for in
/// the worktree, which is not there yet.
fn unfound(harness: Harness, program: &OsStr, folder: &Path) -> Option<String> {
    let named = Path::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = || std::env::split_paths(&path).map(|place| folder.join(place).join(named)).collect::<Vec<PathBuf>>();
    let is_there = if named.components().count() > 1 {
        named.is_relative() || named.is_file()
    } else {
        in_path().iter().any(|place| place.is_file())
    };
    let text = program.to_string_lossy();
    let next = match harness {
        Harness::Command if text.contains(char::is_whitespace) => {
            "a line for a shell is given as -- sh -c '…'".to_owned()
        }
        Harness::Command => {
            "give its path, or put it on the PATH; what only a shell knows needs -- sh -c '…'".to_owned()
        }
        Harness::Client(client) => format!("install {} and sign in, or put it on the PATH", client.title()),
    };
    (!is_there).then(|| format!("there is no program {} that could be started: {next}", quoted(&text, 100)))
}

/// Refuses a task that is finished: its run could not be recorded.
fn check_open(packet: &Value) -> Result<()> {
    let status = serde_json::from_value::<Status>(packet["status"].clone()).ok();
    let Some(status) = status.filter(|status| !status.is_open()) else { return Ok(()) };
    let id = packet["task_id"].as_str().and_then(|id| id.get(..8)).unwrap_or_default();
    Err(Refusal::not_allowed(
        format!("task {id} is {status}, so that what the run does could not be recorded on it"),
        format!(
            "If it must go on, reopen it first: heyaira task update {id} --expected-version {} --status todo. Nothing was \
             started.",
            packet["version"]
        ),
    ))
}

/// Instance, project and task, and the packet of the task.
fn of_database(session: &Session, plan: &mut Plan, task: Option<&str>) -> Result<Option<Value>> {
    let service = session.config.open(false)?;
    let found = of_service(session, &service, plan, task);
    service.store.close();
    found
}

fn of_service(session: &Session, service: &Service, plan: &mut Plan, task: Option<&str>) -> Result<Option<Value>> {
    let ask = |name: &str, arguments: Value| {
        let entry = operations::named(name).ok_or_else(|| Refusal::internal(&format!("{name} is not listed")))?;
        session.ask_of(service, entry, arguments)
    };
    plan.project = session.config.pinned()?.project;
    let identity = ask("server_identity", json!({}))?;
    identity["instance"].as_str().unwrap_or_default().clone_into(&mut plan.instance);
    let Some(task) = task else { return Ok(None) };
    let packet = ask("continuity_context", json!({"handoff": task}))?;
    check_open(&packet)?;
    plan.task_id = packet["task_id"].as_str().map(str::to_owned);
    plan.task_version = packet["version"].as_i64();
    Ok(Some(packet))
}
