//! The least that a run needs of git, of its test commands and of what it spent.
//! Must never write into a worktree outside of [`prepare`].

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::folder::{Plan, RunFolder};
use super::log::BoundedLog;
use super::output::Output;
use super::process::{Event, Running};
use super::stop::Stop;
use super::watch::{MARK, mark};
use crate::client::harness::Told;
use crate::domain::run::{Commit, Test, Work};
use crate::git::{Failure, Git};

/// What a run has spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Tokens sent and received.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

/// What it spent as far as it told.
pub fn spent(told: &Told) -> Spent {
    Spent { tokens: told.usage.map(crate::economics::session::Usage::context), cost_usd: told.cost_usd }
}

fn git(folder: &Path, until: Instant) -> Result<Git, String> {
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    Git::find(&path, folder, until).map(|(git, _)| git).map_err(|failure| told(&failure))
}

fn told(failure: &Failure) -> String {
    match failure {
        Failure::Absent => "there is no git".to_owned(),
        Failure::Old(version) => format!("git {version} is too old"),
        Failure::Late(what) => format!("{what} took too long"),
        Failure::Failed(_, said) => {
            let line = said.lines().next().unwrap_or_default().trim_start_matches("fatal: ");
            format!("git says {}", crate::domain::text::quoted(line, 200))
        }
    }
}

fn answer(git: &Git, words: &[&str]) -> Result<String, String> {
    match git.ask(words) {
        Ok(said) if said.code == 0 => Ok(said.out.trim_end_matches('\n').to_owned()),
        Ok(said) => Err(told(&Failure::Failed(Some(said.code), said.err))),
        Err(failure) => Err(told(&failure)),
    }
}

/// Fills in where a run works, from the repository of a folder; everything at once that stands against it. `base` names what
/// to begin from. Changes nothing.
pub fn plan_work(plan: &mut Plan, folder: &Path, base: Option<&str>, until: Instant) -> Result<(), Vec<String>> {
    let git = git(folder, until).map_err(|problem| vec![problem])?;
    let place = |word: &str| answer(&git, &["rev-parse", "--path-format=absolute", word]);
    let common =
        place("--git-common-dir").map_err(|problem| vec![format!("{problem}: start it in a git repository")])?;
    plan.git_folder = common.clone().into();
    Path::new(&common).parent().unwrap_or(folder).clone_into(&mut plan.repository);
    let mut problems = Vec::new();
    let base = base.unwrap_or("HEAD");
    match answer(&git, &["rev-parse", "--verify", "--end-of-options", &format!("{base}^{{commit}}")]) {
        Ok(commit) => plan.base_commit = commit,
        Err(_) => {
            problems.push(format!("--base {} is no commit here", crate::domain::text::quoted(base, 100)));
        }
    }
    let shown = crate::domain::text::quoted(&plan.branch, 100);
    let reference = format!("refs/heads/{}", plan.branch);
    if answer(&git, &["check-ref-format", "--branch", &plan.branch]).is_err() {
        problems.push(format!("--branch {shown} is no name for a branch"));
    } else if answer(&git, &["show-ref", "--verify", "--quiet", &reference]).is_ok() {
        problems.push(format!("the branch {shown} is there already"));
    }
    if plan.worktree.exists() && plan.worktree.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        let shown = crate::domain::text::quoted(&plan.worktree.to_string_lossy(), 200);
        problems.push(format!("--worktree {shown} is there already and not empty"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Makes worktree and branch.
pub fn prepare(plan: &mut Plan, until: Instant) -> Result<(), String> {
    let git = git(&plan.repository, until)?;
    let folder = plan.worktree.to_string_lossy().into_owned();
    answer(&git, &["worktree", "add", "--quiet", "-b", &plan.branch, &folder, &plan.base_commit])?;
    (plan.made_worktree, plan.made_branch) = (true, true);
    Ok(())
}

/// Takes away what [`prepare`] made, for a run that was never started.
pub fn undo(plan: &Plan, until: Instant) {
    let Ok(git) = git(&plan.repository, until) else { return };
    if plan.made_worktree {
        let _ = answer(&git, &["worktree", "remove", "--force", &plan.worktree.to_string_lossy()]);
    }
    if plan.made_branch {
        let _ = answer(&git, &["branch", "--quiet", "-D", &plan.branch]);
    }
}

/// The work of a run of which git can say nothing.
pub fn unknown(plan: &Plan) -> Work {
    Work {
        repository: plan.repository.display().to_string(),
        worktree: plan.worktree.display().to_string(),
        base_commit: plan.base_commit.clone(),
        ..Work::default()
    }
}

/// What git says of the worktree.
pub fn facts(plan: &Plan, until: Instant) -> Result<Work, String> {
    let git = git(&plan.worktree, until)?;
    let branch = answer(&git, &["symbolic-ref", "--quiet", "--short", "HEAD"]).ok();
    let result = answer(&git, &["rev-parse", "--verify", "HEAD^{commit}"])?;
    let range = format!("{}..{result}", plan.base_commit);
    let listed = answer(&git, &["rev-list", "--reverse", "--no-commit-header", "--format=%H %s", &range])?;
    let commits: Vec<Commit> = listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(commit, subject)| Commit { commit: commit.to_owned(), subject: subject.to_owned() })
        .collect();
    let status = answer(&git, &["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"])?;
    let files: Vec<String> = status.split('\0').filter_map(|entry| entry.get(3..)).map(str::to_owned).collect();
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    Ok(Work {
        branch,
        result_commit: Some(result),
        commits_total: number(commits.len()),
        commits: commits.into_iter().take(100).collect(),
        uncommitted_total: number(files.len()),
        uncommitted: files.into_iter().take(100).collect(),
        ..unknown(plan)
    })
}

/// Runs the test commands one after the other.
pub fn tests(plan: &Plan, folder: &RunFolder, stop: &Stop) -> Vec<Test> {
    let commands = plan.tests.iter().enumerate().take_while(|_| !stop.is_asked());
    commands.map(|(place, command)| test(plan, folder, stop, place + 1, command)).collect()
}

fn test(plan: &Plan, folder: &RunFolder, stop: &Stop, number: usize, words: &str) -> Test {
    let log = BoundedLog::new(folder.path().join(format!("test-{number}.log")), plan.log_limit);
    let output = Arc::new(Output::new(log, |_| {}));
    let mut command = Command::new("sh");
    command.args(["-c", words]).current_dir(&plan.worktree).env(MARK, &plan.run_id).stdin(Stdio::null());
    let started = Instant::now();
    let late = started + Duration::from_millis(plan.test_timeout_ms);
    let mut test = Test { command: words.to_owned(), ..Test::default() };
    if let Ok(mut running) = Running::start(&mut command, &mark(&plan.run_id), &output) {
        stop.wake(running.stopper());
        loop {
            if stop.is_asked() || Instant::now() >= late {
                test.timed_out = !stop.is_asked();
                break;
            }
            if let Some(Event::Ended(_)) = running.next(late) {
                break;
            }
        }
        test.ms = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
        test.exit = running.end().exit;
    }
    test.log = output.close().0;
    test
}
