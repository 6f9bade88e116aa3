//! A run whose watcher was killed: what is left of it is ended, and what can be found out is reported. Must never touch a
//! run that somebody has in hand.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::folder::{OVER, Plan, RunFolder, Runs};
use super::log::{self, close_left};
use super::process::{GRACE, signal_all};
use super::report::{Parts, assemble};
use super::watch::OUTPUT;
use super::watcher::Watcher;
use super::{claim, family, mark, now, work};
use crate::client::harness::{Harness, Told};
use crate::client::harness::{Meter, Place, Spent};
use crate::domain::run::{Exit, Outcome, Program, Report, Work};
use crate::domain::time::Timestamp;
use crate::economics::Prices;

/// How often it is looked whether processes have ended.
const AGAIN: Duration = Duration::from_millis(20);
/// How long is tried to end processes that the kernel does not end.
const STUBBORN: Duration = Duration::from_secs(10);

/// Reports on every run whose watcher is gone; the reports that are new.
pub fn all(runs: &Runs) -> io::Result<Vec<Report>> {
    let mut reports = Vec::new();
    for folder in runs.all()? {
        match one(&folder) {
            Ok(report) => reports.extend(report),
            // Another process took it away in this moment.
            Err(_) if !folder.path().exists() => {}
            // One that is damaged hides no other one.
            Err(error) => tracing::error!(folder = %folder.path().display(), %error, "a run cannot be reported on"),
        }
    }
    Ok(reports)
}

/// Reports on a run whose watcher is gone; none where there is a report, or somebody has it in hand.
pub fn one(folder: &RunFolder) -> io::Result<Option<Report>> {
    because(folder, None)
}

/// The same where it is known why the watcher is gone, in words that follow "what watched over it".
pub(super) fn because(folder: &RunFolder, why: Option<&str>) -> io::Result<Option<Report>> {
    if folder.is_reported() || is_in_hand(folder)? {
        return Ok(None);
    }
    let Some(owner) = claim::own(folder)? else { return Ok(None) };
    if folder.is_reported() {
        return Ok(None);
    }
    let report = gone(folder, why)?;
    if folder.own_plan().is_err() {
        folder.write_plan(&folder.plan()?)?;
    }
    folder.write_report(&report)?;
    folder.remove_second_plan();
    drop(owner);
    Ok(Some(report))
}

/// True while somebody starts the run, watches over it or reports on it.
fn is_in_hand(folder: &RunFolder) -> io::Result<bool> {
    // A harness can take the locks away, and hold them itself once its watcher is gone.
    if Watcher::of(folder).is_some() {
        return Ok(true);
    }
    let is_owned = claim::is_owned(folder)?;
    if !is_owned || folder.progress().is_ok_and(|progress| progress.watcher.is_none()) {
        return Ok(is_owned);
    }
    let Some(run_id) = folder.path().file_name().and_then(|name| name.to_str()) else { return Ok(true) };
    end(&mark(run_id));
    claim::is_owned(folder)
}

fn gone(folder: &RunFolder, why: Option<&str>) -> io::Result<Report> {
    let plan = folder.plan()?;
    let mut progress = folder.progress().unwrap_or_default();
    // Before there was a watcher there was no harness, and its worktree may be half made.
    let is_watched = progress.watcher.is_some();
    let (processes, left) = end(&mark(&plan.run_id));
    let gone = why.unwrap_or("was killed");
    let mut problems = Vec::new();
    if is_watched {
        problems.push(format!("How its harness ended is not known: what watched over it {gone}."));
    }
    if left > 0 {
        problems.push(format!("{left} processes could not be ended."));
    }
    let (work, unknown) = if is_watched { work::facts(&plan) } else { (untouched(&plan), Vec::new()) };
    problems.extend(unknown);
    let (log, unkept) = close_left(&folder.path().join(OUTPUT));
    problems.extend(unkept);
    let is_begun = progress.started_micros > 0;
    if is_begun {
        problems.extend(work::shared::changed(&plan, folder, None));
    }
    // Without a group nothing was ever put out.
    problems.extend(progress.group.and_then(|_| log::problem(&log, plan.log_limit)));
    let started_micros = if is_begun { progress.started_micros } else { now() };
    let took = u64::try_from(progress.active_micros - progress.started_micros).unwrap_or_default();
    let native = progress.native_session_id.clone();
    let mut told = Told { session_id: native, cost_usd: progress.cost_usd, ..Told::default() };
    let (spent, native) = spent(&plan, started_micros, &told);
    told.session_id = native.or(told.session_id);
    let parts = Parts {
        outcome: Outcome::Interrupted,
        reason: match (is_watched, why) {
            (false, _) => "It never began: who started it was killed.",
            (true, Some(_)) => "It was interrupted.",
            (true, None) => "What watched over it was killed.",
        }
        .to_owned(),
        started_micros,
        took: Duration::from_micros(took),
        exit: Exit::default(),
        spent,
        told,
        program: Program { name: plan.harness.clone(), version: None, command: plan.extra.clone() },
        work,
        tests: Vec::new(),
        log,
        processes,
        problems,
    };
    let report = assemble(&plan, parts);
    OVER.clone_into(&mut progress.phase);
    progress.outcome = Some(report.outcome);
    // The report says the same.
    let _ = folder.write_progress(&progress);
    Ok(report)
}

/// The work of a harness that was never there.
fn untouched(plan: &Plan) -> Work {
    Work {
        repository: plan.repository.display().to_string(),
        worktree: plan.worktree.display().to_string(),
        branch: Some(plan.branch.clone()).filter(|branch| !branch.is_empty()),
        base_commit: plan.base_commit.clone(),
        result_commit: Some(plan.base_commit.clone()).filter(|commit| !commit.is_empty()),
        commits_total: Some(0),
        files_changed: Some(0),
        insertions: Some(0),
        deletions: Some(0),
        uncommitted_total: Some(0),
        ..Work::default()
    }
}

/// What the transcript of its session says that it cost, and the session's native id.
fn spent(plan: &Plan, started_micros: i64, told: &Told) -> (Option<Spent>, Option<String>) {
    let (Ok(harness), Ok(prices)) = (Harness::named(&plan.harness), Prices::built_in()) else { return (None, None) };
    let asked_for = plan.resume.clone().unwrap_or_else(|| plan.session_id.clone());
    let place = Place::here(&plan.worktree);
    let mut meter = Meter::new(harness, Timestamp(started_micros), place, prices).expecting(Some(asked_for));
    (meter.settled(told), meter.native(told))
}

/// Ends what carries a run's mark; how many there were, and how many are left.
pub(super) fn end(mark: &str) -> (i64, usize) {
    let first = family::left(mark);
    signal_all(&first, Signal::TERM);
    // One that is stopped hears it then.
    signal_all(&first, Signal::CONT);
    let wait = |until: Instant, kills: bool| loop {
        let left = family::left(mark);
        if left.is_empty() || Instant::now() >= until {
            return left.len();
        }
        if kills {
            signal_all(&left, Signal::KILL);
        }
        thread::sleep(AGAIN);
    };
    let mut left = wait(Instant::now() + GRACE, false);
    if left > 0 {
        left = wait(Instant::now() + STUBBORN, true);
    }
    (i64::try_from(first.len()).unwrap_or(i64::MAX), left)
}
