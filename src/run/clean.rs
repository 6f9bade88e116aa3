//! Takes away what a run left: processes, its worktree, its branch where nothing is on it, its folder. Must never take away
//! work: commits stay on their branch, and what is on none only goes where that was asked for.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

use super::folder::{Plan, RunFolder};
use crate::error::{Code, Refusal, Result};
use crate::git::since::Since;
use crate::git::worktree::{self, Writer};
use crate::git::{Failure, Git};

/// How long git may take.
const GIT: Duration = Duration::from_mins(5);
/// How long is tried to end processes.
const ENDING: Duration = Duration::from_secs(10);
/// How often it is looked whether they have ended.
const AGAIN: Duration = Duration::from_millis(20);

/// How it is to be cleaned.
#[derive(Clone, Copy)]
pub struct Wanted<'w> {
    /// Where programs are, as in `PATH`.
    pub path: &'w OsStr,
    /// True if what is not recorded, and what is not committed, may go.
    pub force: bool,
    /// Whether the report of a run is on its task.
    pub is_recorded: &'w dyn Fn(&str) -> Result<bool>,
}

/// What became of the things of a run, a sentence each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// What is gone now.
    pub removed: Vec<String>,
    /// What was kept, and why.
    pub kept: Vec<String>,
}

/// Takes away what a run left. Every reason why not is told at once, before anything is taken; one that is clean already
/// stays so.
pub fn clean(folder: &RunFolder, wanted: &Wanted<'_>) -> Result<Cleaned> {
    let plan = match folder.plan() {
        Ok(plan) => plan,
        Err(error) if error.kind() == ErrorKind::NotFound && !folder.path().exists() => return Ok(Cleaned::default()),
        Err(error) => return Err(broken(folder, &error)),
    };
    let problems = problems(folder, &plan, wanted)?;
    if !problems.is_empty() {
        return Err(refused(&plan, &problems));
    }
    let mut cleaned = Cleaned::default();
    let ended = end_processes(&plan.run_id);
    if ended > 0 {
        cleaned.removed.push(format!("{ended} processes that were left"));
    }
    if plan.git_folder.is_dir() {
        repository(&plan, wanted, &mut cleaned).map_err(|failure| unfinished(&worktree::in_words(&failure)))?;
    } else {
        cleaned.kept.push(format!("the repository {} is gone: nothing was looked at in it", plan.repository.display()));
    }
    remove_whole(folder.path()).map_err(|error| unfinished(&format!("{}: {error}", folder.path().display())))?;
    cleaned.removed.push(format!("the folder {}", folder.path().display()));
    Ok(cleaned)
}

/// Why a run may not be cleaned, and whether it may be if that is asked for.
struct Problem {
    text: String,
    is_forced: bool,
}

fn problems(folder: &RunFolder, plan: &Plan, wanted: &Wanted<'_>) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mut note = |text: String, is_forced| problems.push(Problem { text, is_forced });
    let is_over = folder.report().is_ok() || folder.progress().is_ok_and(|progress| progress.phase == "over");
    if !is_over {
        note("it is not over: wait for its end, or stop it".to_owned(), false);
    }
    if !wanted.force {
        if !(wanted.is_recorded)(&plan.run_id)? {
            note("its report is not recorded: `heyaira run record` puts it on the task".to_owned(), true);
        }
        if plan.made_worktree && is_over {
            for text in losses(plan, wanted.path) {
                note(text, true);
            }
        }
    }
    Ok(problems)
}

/// What would be lost with the worktree.
fn losses(plan: &Plan, path: &OsStr) -> Vec<String> {
    if plan.worktree.join(".git").symlink_metadata().is_err() {
        // Without it git knows no worktree there; whatever lies there was not made by it.
        let is_empty = fs::read_dir(&plan.worktree).map_or(true, |mut entries| entries.next().is_none());
        let told = format!("{} has files and is no worktree any more: see to them", plan.worktree.display());
        return if is_empty { Vec::new() } else { vec![told] };
    }
    let mut uncommitted = 0;
    let looked = Since::open(path, &plan.worktree, Instant::now() + GIT).and_then(|since| {
        since.changes(|_, _| uncommitted += 1)?;
        if since.head()?.1.is_none() {
            Ok(0)
        } else {
            since.count(&["HEAD", "--not", "--branches", "--tags", "--remotes"])
        }
    });
    let place = plan.worktree.display();
    let mut losses = Vec::new();
    if uncommitted > 0 {
        losses.push(format!("{uncommitted} files in {place} are not committed: commit them or delete them"));
    }
    match looked {
        Ok(0) => {}
        Ok(count) => losses.push(format!("{count} commits in {place} are on no branch: make one with `git branch`")),
        Err(failure) => losses.push(format!("what is in {place} is not known: {}", worktree::in_words(&failure))),
    }
    losses
}

/// The worktree and the branch, where the run made them.
fn repository(plan: &Plan, wanted: &Wanted<'_>, cleaned: &mut Cleaned) -> Result<(), Failure> {
    let until = Instant::now() + GIT;
    let (git, _) = Git::find(wanted.path, &plan.git_folder, until)?;
    let writer = Writer::new(&git, wanted.path, &plan.git_folder, until);
    if plan.made_worktree {
        let was_there = plan.worktree.exists();
        make_writable(&plan.worktree);
        writer.remove(&plan.worktree)?;
        if was_there {
            cleaned.removed.push(format!("the worktree {}", plan.worktree.display()));
        }
    } else {
        cleaned.kept.push(format!("the worktree {} was there before the run", plan.worktree.display()));
    }
    if plan.made_branch {
        branch(plan, &git, &writer, wanted.path, cleaned)
    } else {
        cleaned.kept.push(format!("the branch {} was there before the run", plan.branch));
        Ok(())
    }
}

fn branch(plan: &Plan, git: &Git, writer: &Writer, path: &OsStr, cleaned: &mut Cleaned) -> Result<(), Failure> {
    let name = &plan.branch;
    // A git that was killed left it; the run is over, so nobody else holds it.
    let lock = plan.git_folder.join(format!("refs/heads/{name}.lock"));
    if lock.is_file() && fs::remove_file(&lock).is_ok() {
        cleaned.removed.push(format!("a lock of the branch {name}"));
    }
    let Some(branch) = worktree::branches(git, name)?.into_iter().find(|branch| branch.name == *name) else {
        return Ok(());
    };
    let since = Since::open(path, &plan.git_folder, Instant::now() + GIT)?;
    if let Some(place) = branch.worktree {
        cleaned.kept.push(format!("the branch {name} is checked out in {}", place.display()));
    } else if since.is_ancestor(&branch.commit, &plan.base_commit)? {
        writer.remove_branch(name, &branch.commit)?;
        cleaned.removed.push(format!("the branch {name}"));
    } else {
        let count = since.count(&["--end-of-options", &format!("{}..{}", plan.base_commit, branch.commit)])?;
        cleaned.kept.push(format!("the branch {name} has {count} commits: `git branch -D {name}` deletes it"));
    }
    Ok(())
}

/// Deletes a folder with all that is in it, also where a harness took the right to.
fn remove_whole(folder: &Path) -> io::Result<()> {
    make_writable(folder);
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Gives its owner back the right to delete what is in a folder. Links are not followed.
fn make_writable(folder: &Path) {
    let Ok(found) = folder.symlink_metadata() else { return };
    if !found.is_dir() {
        return;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = found.permissions().mode();
        if mode & 0o700 != 0o700 {
            // What cannot be changed is told by what follows.
            let _ = fs::set_permissions(folder, fs::Permissions::from_mode(mode | 0o700));
        }
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        make_writable(&entry.path());
    }
}

/// Ends what still carries the run's mark in its environment, and says how many that were. None should: it is for
/// processes that a watcher could not see.
fn end_processes(run_id: &str) -> usize {
    let mark = format!("HEYAIRA_RUN={run_id}");
    let mut met = std::collections::BTreeSet::new();
    let until = Instant::now() + ENDING;
    loop {
        let left = marked(mark.as_bytes());
        if left.is_empty() || Instant::now() > until {
            return met.len();
        }
        for id in left {
            met.insert(id);
            #[cfg(unix)]
            if let Some(id) = rustix::process::Pid::from_raw(id) {
                // It may be gone already.
                let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
            }
        }
        std::thread::sleep(AGAIN);
    }
}

/// The processes with that mark in their environment, this one left out. Only Linux shows the environment in files; what
/// has ended shows none.
fn marked(mark: &[u8]) -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let ids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).filter(|id| *id != own);
    ids.filter(|id| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark)
    })
    .collect()
}

fn refused(plan: &Plan, problems: &[Problem]) -> Refusal {
    let texts: Vec<String> = problems.iter().map(|problem| problem.text.clone()).collect();
    let run = plan.run_id.get(..8).unwrap_or(&plan.run_id);
    let next = if problems.iter().all(|problem| problem.is_forced) {
        "See to it, or clean with --force, which throws that away. Nothing was taken away."
    } else {
        "See to it and clean again; --force does not help where a run is not over. Nothing was taken away."
    };
    Refusal::not_allowed(format!("run {run} cannot be cleaned: {}", texts.join("; ")), next).with("problems", texts)
}

fn broken(folder: &RunFolder, error: &io::Error) -> Refusal {
    let shown = folder.path().display();
    Refusal::not_allowed(
        format!("the plan of the run in {shown} cannot be read: {error}"),
        format!("What the run made is not known. Look at {shown}, and delete it by hand."),
    )
}

fn unfinished(told: &str) -> Refusal {
    Refusal::new(
        Code::Unavailable,
        format!("not all could be taken away: {told}"),
        "See to it and clean again: it goes on.",
    )
}
