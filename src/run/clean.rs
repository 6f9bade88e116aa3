//! Takes away what a run left that is over: its worktree, a branch without work, its folder. Must never take away what is
//! nowhere else: work that was not committed, a report that is not recorded, a branch with commits.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::folder::{Plan, RunFolder};
use super::watcher::Watcher;
use super::work::losses;
use super::work::record::{mend, stray};
use super::{claim, mark, recover};
use crate::domain::text::{first_of, quoted};
use crate::git::since::Since;
use crate::git::worktree::{Branch, Turn, Writer, branches, in_words};
use crate::git::{Failure, Git};

/// How long git may take.
const GIT: Duration = Duration::from_mins(2);
/// How often a folder is removed again into which something was written meanwhile.
const AGAIN: usize = 5;
/// How many files are named.
const NAMED: usize = 3;

/// What was taken away of a run, and what stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// What became of its worktree.
    pub worktree: Fate,
    /// What became of its branch.
    pub branch: Fate,
    /// How many processes were left and were ended.
    pub processes: i64,
}

/// What became of something that a run left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// It was gone before.
    #[default]
    Gone,
    /// It was taken away.
    Taken,
    /// It stays: why, and what can be done about it.
    Kept(String),
}

/// What stands against it, a sentence each: `is_recorded` where the report is on its task, `force` where that and
/// uncommitted work shall not matter.
pub fn problems(folder: &RunFolder, plan: &Plan, is_recorded: bool, force: bool) -> Vec<String> {
    let name = plan.run_id.get(..8).unwrap_or(&plan.run_id);
    if claim::is_owned(folder).unwrap_or(true) || folder.report().is_err() {
        let trouble = Watcher::of(folder).and_then(|watcher| watcher.trouble());
        return vec![match trouble {
            Some(trouble) => {
                format!("run {name} is not over, and its watcher {trouble}: end it with heyaira run stop {name}")
            }
            None => format!("run {name} is not over: wait for it, or end it with heyaira run stop {name}"),
        }];
    }
    let mut problems = Vec::new();
    if !is_recorded && !force {
        problems.push(format!(
            "the report of run {name} is not recorded: heyaira run record {name} --expected-version N, or --force"
        ));
    }
    if !force {
        problems.extend(losses::refused(folder.path(), plan, name));
    }
    if !force && plan.made_worktree && plan.worktree.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        problems.extend(uncommitted(plan, name));
    }
    problems
}

/// What would be lost with the worktree: files that are not committed, and commits that are on no branch.
fn uncommitted(plan: &Plan, name: &str) -> Vec<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let place = plan.worktree.display();
    // Without a record of its own git would tell of another worktree, or of a repository above it.
    let is_marked = plan.worktree.join(".git").symlink_metadata().is_ok();
    if let Some(why) = stray(plan).or_else(|| (!is_marked).then(|| "its .git is gone".to_owned())) {
        return vec![format!("what run {name} left in {place} cannot be told ({why}): {}", advice(plan, &path))];
    }
    let (mut files, mut hidden, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    let looked = Since::open(&path, &plan.worktree, Instant::now() + GIT).and_then(|since| {
        unread = since.changes(|_, file| files.push(file))?;
        unread.extend(since.hidden(|file| hidden.push(file))?);
        let has_commit = since.head()?.1.is_some();
        if has_commit { since.count(&["HEAD", "--not", "--branches", "--tags", "--remotes"]) } else { Ok(0) }
    });
    let mut losses = Vec::new();
    hidden.retain(|file| !files.contains(file));
    files.extend(hidden);
    if !files.is_empty() {
        let shown: Vec<String> = files.iter().take(NAMED).map(|file| quoted(file, 100)).collect();
        let more = if files.len() > NAMED { format!(" and {} more", files.len() - NAMED) } else { String::new() };
        let shown = shown.join(", ");
        losses.push(format!(
            "run {name} left files in {place} that are not committed ({shown}{more}): commit them, or --force"
        ));
    }
    match looked {
        Ok(0) => {}
        Ok(count) => {
            losses.push(format!(
                "run {name} left {count} commits in {place} that are on no branch: git -C {place} branch NAME HEAD keeps them, or --force"
            ));
        }
        // What git cannot look at any more may hold anything.
        Err(failure) => {
            let (told, advice) = (in_words(&failure), advice(plan, &path));
            losses.push(format!("what run {name} left in {place} cannot be told ({told}): {advice}"));
        }
    }
    if !unread.is_empty() {
        let shown = first_of(&unread, NAMED);
        losses.push(format!(
            "not all that run {name} left in {place} could be looked at ({shown}): see to it, or --force"
        ));
    }
    losses
}

/// What can be done about a worktree that git does not tell of.
fn advice(plan: &Plan, path: &OsStr) -> String {
    let branch =
        Git::find(path, &plan.git_folder, Instant::now() + GIT).and_then(|(git, _)| branches(&git, &plan.branch));
    let branch = branch.unwrap_or_default().into_iter().find(|branch| branch.name == plan.branch);
    let mended = mend(plan, branch.as_ref()).map(|command| format!(", or give it a record again ({command})"));
    format!("copy what you need out of it{}, or --force to take it away", mended.unwrap_or_default())
}

/// Takes it away. What is gone already is no failure.
pub fn clean(folder: &RunFolder, plan: &Plan) -> Result<Cleaned, String> {
    let (processes, left) = recover::end(&mark(&plan.run_id));
    if left > 0 {
        return Err(format!("{left} processes of the run could not be ended"));
    }
    let mut cleaned = Cleaned { processes, ..Cleaned::default() };
    // A repository that is gone took worktree and branch with it.
    if plan.git_folder.is_dir() {
        in_repository(plan, &mut cleaned).map_err(|failure| in_words(&failure))?;
    }
    remove_whole(folder).map_err(|error| format!("{}: {error}", folder.path().display()))?;
    Ok(cleaned)
}

/// Its watcher may note in this moment that the database has the report.
fn remove_whole(folder: &RunFolder) -> io::Result<()> {
    make_deletable(folder.path());
    let mut removed = fs::remove_dir_all(folder.path());
    for _ in 0..AGAIN {
        match &removed {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                removed = fs::remove_dir_all(folder.path());
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            _ => break,
        }
    }
    removed
}

fn in_repository(plan: &Plan, cleaned: &mut Cleaned) -> Result<(), Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let _turn = Turn::wait(&plan.git_folder, Instant::now() + GIT)?;
    let until = Instant::now() + GIT;
    let (git, _) = Git::find(&path, &plan.git_folder, until)?;
    let writer = Writer::new(&git, &path, &plan.git_folder, until);
    if plan.made_worktree {
        make_deletable(&plan.worktree);
        writer.remove(&plan.worktree)?;
        cleaned.worktree = Fate::Taken;
    } else {
        let place = quoted(&plan.worktree.to_string_lossy(), 200);
        cleaned.worktree =
            Fate::Kept(format!("it was there before the run: git worktree remove {place} takes it away"));
    }
    // A git that was killed left it; nobody else writes this branch, and the run is over.
    if plan.made_branch {
        let _ = fs::remove_file(plan.git_folder.join(format!("refs/heads/{}.lock", plan.branch)));
    }
    let since = Since::open(&path, &plan.git_folder, until)?;
    let Some(branch) = branches(&git, &plan.branch)?.into_iter().find(|branch| branch.name == plan.branch) else {
        return Ok(());
    };
    cleaned.branch = if let Some(why) = why_kept(plan, &since, &branch)? {
        Fate::Kept(why)
    } else {
        writer.remove_branch(&plan.branch, &branch.commit)?;
        Fate::Taken
    };
    Ok(())
}

/// Why a branch stays, and what can be done about it; none where it may go.
fn why_kept(plan: &Plan, since: &Since, branch: &Branch) -> Result<Option<String>, Failure> {
    let name = &branch.name;
    if !plan.made_branch {
        return Ok(Some("it was there before the run".to_owned()));
    }
    // Whoever checked it out goes on from it.
    if let Some(place) = &branch.worktree {
        let place = quoted(&place.to_string_lossy(), 200);
        return Ok(Some(format!("it is checked out in {place}: git branch -D {name} once it is not")));
    }
    if since.is_ancestor(&branch.commit, &plan.base_commit)? {
        return Ok(None);
    }
    let own = format!("--exclude={name}");
    let alone = since.count(&[&branch.commit, "--not", &own, "--branches", "--tags", "--remotes"])?;
    Ok(Some(if alone > 0 {
        let commits = if alone == 1 { "1 commit that is".to_owned() } else { format!("{alone} commits that are") };
        format!("it has {commits} nowhere else: git merge {name}, or git branch -D {name} to lose what it holds")
    } else {
        format!("it has commits, which are elsewhere too: git branch -D {name} loses nothing")
    }))
}

/// Gives its owner back the right to delete what is in a folder: harnesses and their tools keep files that nobody may
/// write. Links are not followed.
fn make_deletable(folder: &Path) {
    let Some(found) = folder.symlink_metadata().ok().filter(fs::Metadata::is_dir) else { return };
    let mode = found.permissions().mode();
    if mode & 0o700 != 0o700 {
        // What cannot be changed is told by what cannot be deleted.
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(mode | 0o700));
    }
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        make_deletable(&entry.path());
    }
}
