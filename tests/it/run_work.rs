//! Where runs work: worktrees and branches by the real git, what git says afterwards, and what runners count.
#![cfg(unix)]

mod clean;
mod facts;
mod identity;
mod prepare;
mod shared;
mod totals;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use heyaira::client::state::State;
use heyaira::domain::run::Work;
use heyaira::error::Result;
use heyaira::run::folder::{Plan, Runs};
use heyaira::run::work::{self, Prepared, Wanted};
use tempfile::TempDir;

use crate::verification::repository::{Repository, git};

/// The id of the first run.
const RUN: &str = "5d0c9a44-1111-4222-8333-444455556666";

fn path() -> OsString {
    std::env::var_os("PATH").expect("a PATH")
}

/// A repository and a folder of runs.
struct Field {
    folder: TempDir,
    repository: Repository,
    runs: Runs,
}

impl Field {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let under = folder.path().canonicalize().expect("a path");
        let runs = Runs::of(&State::at(under.join("state")));
        let repository = Repository::new(&under, "repository");
        repository.git(&["switch", "--quiet", "main"]);
        Self { folder, repository, runs }
    }

    fn under(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a path")
    }

    /// Prepares the first run as `change` wants it.
    fn prepare(&self, change: impl FnOnce(&mut Asked)) -> Result<Prepared> {
        let mut asked = Asked { folder: self.repository.folder.clone(), ..Asked::default() };
        change(&mut asked);
        let Asked { folder, base, branch, worktree } = &asked;
        work::prepare(&Wanted {
            path: &path(),
            folder,
            runs: &self.runs,
            run_id: RUN,
            base: base.as_deref(),
            branch: branch.as_deref(),
            worktree: worktree.as_deref(),
        })
    }

    /// A run that is prepared, as it is planned.
    fn planned(&self) -> Plan {
        let mut plan = Plan { run_id: RUN.to_owned(), ..Plan::default() };
        self.prepare(|_| ()).expect("prepared").note_in(&mut plan);
        plan
    }

    /// All branches, worktrees and files of git's that could be left: what a refusal must not change.
    fn snapshot(&self) -> String {
        let refs = self.repository.git(&["for-each-ref"]);
        let worktrees = self.repository.git(&["worktree", "list", "--porcelain"]);
        format!("{refs}\n{worktrees}\n{}", locks(&self.repository.folder.join(".git")).join("\n"))
    }
}

/// What a run is asked for with.
#[derive(Default)]
struct Asked {
    folder: PathBuf,
    base: Option<String>,
    branch: Option<String>,
    worktree: Option<PathBuf>,
}

/// The locks below a folder.
fn locks(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| {
            let path = entry.path();
            let is_lock = path.extension().is_some_and(|extension| extension == "lock");
            let inner = if path.is_dir() { locks(&path) } else { Vec::new() };
            inner.into_iter().chain(is_lock.then(|| path.display().to_string())).collect::<Vec<_>>()
        })
        .collect()
}

/// What a harness does in a worktree, as lines of shell.
fn harness(plan: &Plan, lines: &str) {
    let mut command = Command::new("sh");
    command.args(["-ec", lines]).current_dir(&plan.worktree);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Maria").env(format!("GIT_{who}_EMAIL"), "maria@example.org");
    }
    let output = command.output().expect("a shell");
    assert!(output.status.success(), "{lines}: {output:?}");
}

fn facts(plan: &Plan) -> (Work, String) {
    let (work, problems) = work::facts(plan);
    (work, problems.join("\n"))
}

/// What git says in a worktree.
fn git_in(plan: &Plan, words: &[&str]) -> String {
    git(&plan.worktree, words)
}
