//! What would be lost with a run's worktree and folder, and is not on its branch: commits of repositories in it, other
//! worktrees, commits that no branch has. Must never take for kept what could not be looked at.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::folder::Plan;
use super::facts::made;
use crate::domain::text::{first_of, quoted};
use crate::git::inside::{self, Inside};
use crate::git::since::Since;
use crate::git::since::unseen::{Alone, alone_in};
use crate::git::worktree::in_words;

/// How long looking may take.
const LOOKING: Duration = Duration::from_mins(2);
/// How many repositories are looked at.
const REPOSITORIES: usize = 100;
/// How much of a name is told, in characters.
const NAME: usize = 200;
/// How many of several are named in a sentence.
const NAMED: usize = 3;

/// Something that is nowhere else.
enum Loss {
    /// Commits of a repository in the worktree: what it is called, where it is, a remote that takes them.
    Commits { name: String, place: PathBuf, alone: Alone, has_remote: bool },
    /// Files of such a repository that are not committed, and that git does not tell with those of the worktree.
    Files { name: String, files: Vec<String> },
    /// Another repository or worktree in the run's folder or its worktree.
    Other(PathBuf),
    /// Commits that were made here and are on no branch.
    Unnamed(Alone),
    /// What could not be looked at, and why.
    Unknown(String),
}

/// What a report says of it, a sentence each; `known` are the files that it names as not committed.
pub fn told(plan: &Plan, known: &[String]) -> Vec<String> {
    let sentence = |loss: Loss| match loss {
        Loss::Commits { name, alone, .. } => Some(format!(
            "The commits of {name} lie in this worktree alone: {} up to {}, on no branch of a remote.",
            alone.count,
            short(&alone.last)
        )),
        Loss::Files { name, files } => {
            let (count, shown) = (files.len(), first_of(&files, NAMED));
            Some(format!("{count} files of {name} are not committed: {shown}."))
        }
        Loss::Other(place) => {
            Some(format!("Another repository or worktree lies in the run's folder: {}.", shown(&place)))
        }
        // The report tells of them by what is in the result.
        Loss::Unnamed(_) => None,
        Loss::Unknown(why) => Some(format!("Not all could be looked at: {why}.")),
    };
    let folder = run_folder(plan);
    Look::new(plan).everything(folder.as_deref(), known).into_iter().filter_map(sentence).collect()
}

/// Why a run is not taken away, a sentence each, with what can be done.
pub fn refused(folder: &Path, plan: &Plan, run: &str) -> Vec<String> {
    let reason = |loss: Loss| match loss {
        Loss::Commits { name, place, alone, has_remote } => {
            let (count, last, place) = (alone.count, &alone.last, place.display());
            let to = format!("{last}:refs/heads/NAME");
            let push = if has_remote { format!("git -C {place} push REMOTE {to}, or ") } else { String::new() };
            format!(
                "the commits of {name} lie in the worktree of run {run} alone ({count} up to {}): {push}git -C CLONE fetch \
                 {place} {to} and then --force",
                short(last)
            )
        }
        Loss::Files { name, files } => {
            let shown = first_of(&files, NAMED);
            format!("run {run} left files of {name} that are not committed ({shown}): commit and push them, or --force")
        }
        Loss::Other(place) => format!(
            "another repository or worktree lies in the folder of run {run}: move {} elsewhere, or --force",
            shown(&place)
        ),
        Loss::Unnamed(alone) => {
            let (count, repository) = (alone.count, plan.repository.display());
            format!(
                "{count} commits that run {run} made are on no branch: git -C {repository} branch NAME {} keeps the last, or \
                 --force",
                alone.last
            )
        }
        Loss::Unknown(why) => format!("not all that run {run} left could be looked at ({why}): see to it, or --force"),
    };
    Look::new(plan).everything(Some(folder), &[]).into_iter().map(reason).collect()
}

/// Where git has the worktree of a run that is not where it was made.
pub fn moved(path: &OsStr, plan: &Plan, until: Instant) -> Option<PathBuf> {
    let known = Since::open(path, &plan.git_folder, until).and_then(|since| since.worktrees()).ok()?;
    let is_moved = |(place, branch): &(PathBuf, Option<String>)| {
        let is_of_run = branch.as_ref() == Some(&plan.branch) || is_in_run(place, plan);
        is_of_run && *place != plan.worktree && place.is_dir()
    };
    known.into_iter().find(is_moved).map(|(place, _)| place)
}

struct Look<'l> {
    plan: &'l Plan,
    path: OsString,
    until: Instant,
    losses: Vec<Loss>,
}

impl<'l> Look<'l> {
    fn new(plan: &'l Plan) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self { plan, path, until: Instant::now() + LOOKING, losses: Vec::new() }
    }

    fn everything(mut self, folder: Option<&Path>, known: &[String]) -> Vec<Loss> {
        let worktree = self.plan.worktree.as_path();
        // A link in its place is all that would be taken away.
        let is_made = self.plan.made_worktree && worktree.symlink_metadata().is_ok_and(|found| found.is_dir());
        let folder = folder.and_then(|folder| folder.canonicalize().ok());
        let mut tops: Vec<&Path> = folder.as_deref().into_iter().collect();
        if is_made && !folder.as_ref().is_some_and(|folder| worktree.starts_with(folder)) {
            tops.push(worktree);
        }
        let mut found = inside::inside(&tops, self.until);
        let outer = if is_made { Since::open_own(&self.path, worktree, self.until).ok() } else { None };
        let modules = outer.as_ref().map(|outer| outer.own_folder.join("modules"));
        if let Some(modules) = modules.as_ref().filter(|modules| modules.is_dir()) {
            let more = inside::modules(modules, self.until);
            found.git_folders.extend(more.git_folders);
            found.unread.extend(more.unread);
        }
        if let Some(outer) = &outer {
            self.unnamed(outer);
        }
        self.found(found, outer.as_ref(), known);
        self.losses
    }

    /// The commits that were made in the worktree, and that only its own log still names.
    fn unnamed(&mut self, outer: &Since) {
        let mut steps = outer.steps().unwrap_or_default();
        // What a rebase makes is in its result, or was put together with what is.
        steps.retain(|step| !step.what.starts_with("rebase") && !step.what.starts_with("pull --rebase"));
        let branch = Some(self.plan.branch.as_str()).filter(|_| self.stays(outer));
        match outer.unreachable(&made(&steps), branch) {
            Ok(lost) => self.losses.extend(lost.map(Loss::Unnamed)),
            Err(failure) => self.losses.push(Loss::Unknown(in_words(&failure))),
        }
    }

    /// True where the branch, and what git noted of it, outlives the worktree.
    fn stays(&self, outer: &Since) -> bool {
        let tip = outer.commit(&format!("refs/heads/{}", self.plan.branch)).ok().flatten();
        let is_without_work = |tip: &str| outer.is_ancestor(tip, &self.plan.base_commit).unwrap_or(true);
        tip.is_some_and(|tip| !self.plan.made_branch || !is_without_work(&tip))
    }

    fn found(&mut self, found: Inside, outer: Option<&Since>, known: &[String]) {
        let worktree = self.plan.worktree.as_path();
        self.losses.extend(found.unread.into_iter().map(Loss::Unknown));
        let (mut looked_at, mut count) = (Vec::new(), 0);
        for place in found.repositories.into_iter().filter(|place| place != worktree) {
            count += 1;
            let own = inside::git_folder(&place);
            let is_of_worktree = own.as_ref().is_none_or(|own| {
                own.starts_with(worktree)
                    || outer.is_some_and(|outer| own.starts_with(outer.own_folder.join("modules")))
            });
            if !place.starts_with(worktree) || !is_of_worktree {
                self.losses.push(Loss::Other(place));
            } else if count <= REPOSITORIES {
                self.repository(&place, outer, known);
                looked_at.extend(own);
            }
        }
        for place in found.git_folders.into_iter().filter(|place| !looked_at.contains(place)) {
            count += 1;
            if count <= REPOSITORIES {
                self.git_folder(place);
            }
        }
        if count > REPOSITORIES {
            self.losses.push(Loss::Unknown(format!("{} more repositories", count - REPOSITORIES)));
        }
    }

    /// A repository whose files lie in the worktree.
    fn repository(&mut self, place: &Path, outer: Option<&Since>, known: &[String]) {
        let within = place.strip_prefix(&self.plan.worktree).unwrap_or(place).to_string_lossy();
        let name = format!("submodule {}", quoted(&within, NAME));
        // What the repository named before the run, it can be had by from elsewhere.
        let base = outer.and_then(|outer| outer.object(&format!("{}:{within}", self.plan.base_commit)).ok().flatten());
        let (mut files, mut hidden) = (Vec::new(), Vec::new());
        let looked = Since::open_own(&self.path, place, self.until).and_then(|since| {
            let mut unread = since.changes(|_, file| files.push(file))?;
            unread.extend(since.hidden(|file| hidden.push(file))?);
            Ok((since.alone(base.as_deref())?, since.remote.is_some(), unread))
        });
        files.extend(hidden);
        match looked {
            Ok((alone, has_remote, unread)) => {
                let commits = |alone| Loss::Commits { name: name.clone(), place: place.to_owned(), alone, has_remote };
                self.losses.extend(alone.map(commits));
                self.losses.extend(unread.into_iter().map(|why| Loss::Unknown(format!("{name}: {why}"))));
            }
            Err(failure) => self.losses.push(Loss::Unknown(format!("{name}: {}", in_words(&failure)))),
        }
        let before = format!("{within}/");
        if !files.is_empty() && !known.iter().any(|one| one.starts_with(&before)) {
            self.losses.push(Loss::Files { name, files });
        }
    }

    /// What git kept of a submodule whose files are gone.
    fn git_folder(&mut self, place: PathBuf) {
        let name = format!("the submodule whose files are gone, of {}", shown(&place));
        match alone_in(&self.path, &place, self.until) {
            Ok(alone) => {
                self.losses.extend(alone.map(|alone| Loss::Commits { name, place, alone, has_remote: false }));
            }
            Err(failure) => self.losses.push(Loss::Unknown(format!("{name}: {}", in_words(&failure)))),
        }
    }
}

/// The run's folder, where its worktree lies in it.
fn run_folder(plan: &Plan) -> Option<PathBuf> {
    let folder = plan.worktree.parent()?;
    (folder.file_name() == Some(OsStr::new(&plan.run_id))).then(|| folder.to_owned())
}

fn is_in_run(place: &Path, plan: &Plan) -> bool {
    place.iter().any(|part| part == OsStr::new(&plan.run_id))
}

fn short(commit: &str) -> &str {
    &commit[..commit.len().min(12)]
}

fn shown(place: &Path) -> String {
    quoted(&place.to_string_lossy(), NAME)
}
