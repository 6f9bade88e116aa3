//! The worktree and the branch of a run: made before it begins, all or nothing. Must never make anything where something is
//! refused, and never take away what it did not make.

pub mod base;
pub mod facts;
pub mod losses;
pub mod shared;
#[cfg(unix)]
pub mod tested;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::folder::{OVER, Plan, Runs, private};
use crate::domain::text::quoted;
use crate::error::{Code, Refusal, Result};
use crate::git::since::Since;
use crate::git::worktree::{self, Branch, Repository, Turn, Writer};
use crate::git::{Failure, Git};

pub use facts::facts;

/// How long git may take for questions.
const QUESTIONS: Duration = Duration::from_mins(1);
/// How long git may take to check out all files.
const CHECKOUT: Duration = Duration::from_mins(10);
/// How much of a name is told, in characters.
const NAME: usize = 200;

/// What is to be prepared.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'w> {
    /// Where programs are, as in `PATH`.
    pub path: &'w OsStr,
    /// The folder that the run is asked for in.
    pub folder: &'w Path,
    /// All runs of this user.
    pub runs: &'w Runs,
    /// The run.
    pub run_id: &'w str,
    /// What the branch begins at; HEAD, or the branch's end, where nobody says.
    pub base: Option<&'w str>,
    /// The branch; `heyaira/run-<the first 8 of the run>` where nobody says.
    pub branch: Option<&'w str>,
    /// The folder to work in; one in the run's folder where nobody says.
    pub worktree: Option<&'w Path>,
}

/// Where a run works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    /// The main working tree.
    pub repository: PathBuf,
    /// Where git keeps the repository.
    pub git_folder: PathBuf,
    /// The folder to work in.
    pub worktree: PathBuf,
    /// True if it was made.
    pub made_worktree: bool,
    /// The branch.
    pub branch: String,
    /// True if it was made.
    pub made_branch: bool,
    /// The commit that it begins from.
    pub base_commit: String,
}

impl Prepared {
    /// Writes it into a plan.
    pub fn note_in(self, plan: &mut Plan) {
        plan.repository = self.repository;
        plan.git_folder = self.git_folder;
        plan.worktree = self.worktree;
        plan.made_worktree = self.made_worktree;
        plan.branch = self.branch;
        plan.made_branch = self.made_branch;
        plan.base_commit = self.base_commit;
    }

    /// Takes back what was made, where a run does not begin after all.
    pub fn take_back(&self, path: &OsStr) -> Result<()> {
        let _turn = Turn::wait(&self.git_folder, Instant::now() + CHECKOUT).map_err(unavailable)?;
        let (git, _) = Git::find(path, &self.git_folder, Instant::now() + QUESTIONS).map_err(unavailable)?;
        let writer = Writer::new(&git, path, &self.git_folder, Instant::now() + CHECKOUT);
        if self.made_worktree {
            writer.remove(&self.worktree).map_err(unavailable)?;
        }
        if self.made_branch {
            writer.remove_branch(&self.branch, &self.base_commit).map_err(unavailable)?;
        }
        Ok(())
    }
}

/// Where a run would work, of which nothing is made. Every reason why not is told at once.
pub fn planned(wanted: &Wanted<'_>) -> Result<Prepared> {
    settled(wanted).map(|(_, _, prepared)| prepared)
}

/// Makes the worktree and the branch of a run. Every reason why not is told at once, before anything is made.
pub fn prepare(wanted: &Wanted<'_>) -> Result<Prepared> {
    let (git, _turn, prepared) = settled(wanted)?;
    make(&git, wanted, prepared)
}

/// What stands then is still so while the turn is kept.
fn settled(wanted: &Wanted<'_>) -> Result<(Git, Turn, Prepared)> {
    let git = Git::find(wanted.path, wanted.folder, Instant::now() + QUESTIONS);
    let (git, _) = git.map_err(|failure| no_repository(failure, wanted.folder))?;
    let repository = worktree::repository(&git).map_err(|failure| no_repository(failure, wanted.folder))?;
    if repository.is_bare {
        return Err(Refusal::not_allowed(
            format!("{} is in no working tree: it is a bare repository, or git's own folder", wanted.folder.display()),
            "Start the run from a working tree of the repository; `git worktree add` makes one.",
        ));
    }
    let turn = Turn::wait(&repository.git_folder, Instant::now() + CHECKOUT).map_err(unavailable)?;
    // The time for questions begins with its turn.
    let (git, _) = Git::find(wanted.path, wanted.folder, Instant::now() + QUESTIONS).map_err(unavailable)?;
    let prepared = Planning { git: &git, wanted, repository: &repository, problems: Vec::new() }.settle()?;
    Ok((git, turn, prepared))
}

/// Looks at everything that was asked for, and keeps what is wrong with it.
struct Planning<'p> {
    git: &'p Git,
    wanted: &'p Wanted<'p>,
    repository: &'p Repository,
    problems: Vec<String>,
}

impl Planning<'_> {
    fn settle(mut self) -> Result<Prepared> {
        let base = self.base().map_err(unavailable)?;
        let standard = format!("heyaira/run-{}", self.wanted.run_id.get(..8).unwrap_or(self.wanted.run_id));
        let name = self.wanted.branch.unwrap_or(&standard);
        let branch = self.branch(name).map_err(unavailable)?;
        let start = self.start(name, base, branch.as_ref());
        let (folder, is_used) = self.folder(name, branch.as_ref());
        let elsewhere = branch.as_ref().and_then(|branch| branch.worktree.as_ref()).filter(|_| !is_used);
        if let Some(place) = elsewhere {
            self.problems.push(checked_out(name, place));
        }
        if !self.problems.is_empty() {
            return Err(refused(&self.problems));
        }
        Ok(Prepared {
            repository: self.repository.main.clone(),
            git_folder: self.repository.git_folder.clone(),
            worktree: folder,
            made_worktree: !is_used,
            branch: name.to_owned(),
            made_branch: branch.is_none(),
            base_commit: start.unwrap_or_default(),
        })
    }

    /// The commit that was named, or HEAD's.
    fn base(&mut self) -> Result<Option<String>, Failure> {
        let word = self.wanted.base.unwrap_or("HEAD");
        let found = worktree::commit(self.git, word)?;
        if found.is_none() {
            self.problems.push(if word == "HEAD" {
                "the repository has no commit yet: make a first one".to_owned()
            } else {
                format!("there is no commit {} here: give --base a branch, a tag or a commit", quoted(word, NAME))
            });
        }
        Ok(found)
    }

    /// The branch where it is there; whatever keeps it from being made is noted.
    fn branch(&mut self, name: &str) -> Result<Option<Branch>, Failure> {
        if !worktree::is_branch_name(self.git, name)? {
            self.problems.push(format!("{} is no name of a branch: give --branch another one", quoted(name, NAME)));
            return Ok(None);
        }
        let near = worktree::branches(self.git, name)?;
        let found = near.iter().find(|one| one.name == name).cloned();
        if let Some(other) = near.first().filter(|_| found.is_none()) {
            let (name, other) = (quoted(name, NAME), quoted(&other.name, NAME));
            self.problems
                .push(format!("no branch can be {name} beside the branch {other}: give --branch another name"));
        }
        Ok(found)
    }

    /// Where the work begins: at the base, or where a branch that is there ends.
    fn start(&mut self, name: &str, base: Option<String>, branch: Option<&Branch>) -> Option<String> {
        let Some(branch) = branch else { return base };
        if let Some(base) = base.filter(|base| self.wanted.base.is_some() && *base != branch.commit) {
            let (tip, base, name) = (&branch.commit[..12], &base[..12], quoted(name, NAME));
            self.problems.push(format!(
                "the branch {name} is there and ends at {tip}, not at the base {base}: leave --base out to go on from its end, \
                 or give --branch a new name to begin at the base"
            ));
        }
        Some(branch.commit.clone())
    }

    /// The folder to work in, and whether it is a worktree that is there already.
    fn folder(&mut self, name: &str, branch: Option<&Branch>) -> (PathBuf, bool) {
        let standard = self.wanted.runs.run(self.wanted.run_id).path().join("worktree");
        let given = self.wanted.worktree.map_or(standard, |given| self.wanted.folder.join(given));
        let folder = resolved(&given);
        let shown = folder.display();
        if folder.to_str().is_none() {
            self.problems.push(format!("{shown} is no UTF-8: give --worktree another folder"));
        }
        if folder.starts_with(&self.repository.git_folder) {
            self.problems.push(format!("{shown} is inside git's own folder: give --worktree another one"));
        }
        match fs::read_dir(&folder).map(|mut entries| entries.next().is_none()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return (folder, false),
            Err(error) => self.problems.push(format!("--worktree {shown} cannot be used: {error}")),
            Ok(true) => return (folder, false),
            Ok(false) if branch.is_some_and(|branch| branch.worktree.as_ref() == Some(&folder)) => {
                self.used(&folder);
                return (folder, true);
            }
            Ok(false) => {
                let name = quoted(name, NAME);
                self.problems.push(format!(
                    "--worktree {shown} is not empty, and no worktree of this repository that is on {name}: \
                     give a new folder, or --branch with the branch that it is on"
                ));
            }
        }
        (folder, false)
    }

    /// What keeps a run from working in a worktree that is there: another run, and what could not be told from its work.
    fn used(&mut self, folder: &Path) {
        let of_run = self.wanted.runs.all().unwrap_or_default().into_iter().find_map(|run| {
            let plan = run.plan().ok().filter(|plan| plan.worktree == folder && plan.run_id != self.wanted.run_id)?;
            let is_over = run.report().is_ok() || run.progress().is_ok_and(|progress| progress.phase == OVER);
            (!is_over).then_some(plan.run_id)
        });
        if let Some(run) = of_run {
            let run = run.get(..8).unwrap_or(&run);
            self.problems.push(format!("{} is where run {run} works: wait for its end, or stop it", folder.display()));
        }
        let mut changed = 0_usize;
        let since = Since::open(self.wanted.path, folder, Instant::now() + QUESTIONS);
        match since.and_then(|since| since.changes(|_, _| changed += 1)) {
            Ok(_) if changed == 0 => {}
            Ok(_) => self.problems.push(format!(
                "{} has {changed} uncommitted files, which nobody could tell from those of the run: commit them, or put them away",
                folder.display()
            )),
            Err(failure) => self.problems.push(format!("{}: {}", folder.display(), worktree::in_words(&failure))),
        }
    }
}

/// The folder from the root and without links, as far as it is there.
fn resolved(folder: &Path) -> PathBuf {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let there = folder.ancestors().find_map(|one| Some((one, one.canonicalize().ok()?)));
    let Some((there, whole)) = there else { return folder };
    folder.strip_prefix(there).map_or_else(
        |_| folder.clone(),
        |rest| {
            if rest.as_os_str().is_empty() { whole.clone() } else { whole.join(rest) }
        },
    )
}

fn checked_out(name: &str, place: &Path) -> String {
    let (name, shown) = (quoted(name, NAME), place.display());
    if place.exists() {
        format!("the branch {name} is checked out in {shown}: give --worktree {shown}, or another --branch")
    } else {
        format!("the branch {name} belongs to the worktree {shown}, which is gone: `git worktree prune` lets it go")
    }
}

fn refused(problems: &[String]) -> Refusal {
    Refusal::new(Code::InvalidArgument, problems.join("; "), "Correct it and start the run again. Nothing was made.")
        .with("problems", problems.to_vec())
}

fn no_repository(failure: Failure, folder: &Path) -> Refusal {
    let shown = folder.display();
    match &failure {
        Failure::Failed(_, told) if told.contains("not a git repository") => Refusal::not_allowed(
            format!("{shown} is in no git repository"),
            "A run works in a worktree of its own: start it inside a repository, or make one with `git init` and a commit.",
        ),
        Failure::Failed(_, told) if told.contains("dubious ownership") => Refusal::not_allowed(
            format!("git does not trust the repository of {shown}, which belongs to somebody else"),
            "If you do, say so to git: `git config --global --add safe.directory FOLDER`.",
        ),
        _ => unavailable(failure),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands on")]
fn unavailable(failure: Failure) -> Refusal {
    Refusal::not_allowed(worktree::in_words(&failure), "See to it that git works in this repository, and call again.")
}

/// Makes what was settled; what was made is taken back where a later step fails.
fn make(git: &Git, wanted: &Wanted<'_>, plan: Prepared) -> Result<Prepared> {
    let writer = Writer::new(git, wanted.path, &plan.git_folder, Instant::now() + CHECKOUT);
    if plan.made_branch {
        writer.make_branch(&plan.branch, &plan.base_commit).map_err(|failure| failed(&failure, &[]))?;
    }
    if !plan.made_worktree {
        return Ok(plan);
    }
    let was_there = plan.worktree.is_dir();
    let folders = missing_folders(&plan.worktree);
    let made = make_folders(&folders).and_then(|()| writer.add(&plan.worktree, &plan.branch));
    let Err(failure) = made else { return Ok(plan) };
    let mut left = Vec::new();
    left.extend(writer.remove(&plan.worktree).err());
    if was_there {
        let _ = fs::create_dir(&plan.worktree);
    }
    // The deepest first; one that somebody else uses meanwhile stays.
    folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    if plan.made_branch {
        left.extend(writer.remove_branch(&plan.branch, &plan.base_commit).err());
    }
    Err(failed(&failure, &left))
}

/// The folders above one that are not there, the highest first.
fn missing_folders(folder: &Path) -> Vec<PathBuf> {
    let above = folder.ancestors().skip(1).take_while(|one| !one.exists());
    let mut missing: Vec<PathBuf> = above.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

fn make_folders(folders: &[PathBuf]) -> Result<(), Failure> {
    folders.iter().try_for_each(|folder| {
        private().create(folder).map_err(|error| Failure::Failed(None, format!("{}: {error}", folder.display())))
    })
}

fn failed(failure: &Failure, left: &[Failure]) -> Refusal {
    let mut message = format!("the worktree could not be made: {}", worktree::in_words(failure));
    let mut next = "Nothing of it is left. See to the cause and start the run again.".to_owned();
    if let Failure::Failed(_, told) = failure
        && told.contains("smudge")
    {
        next.push_str(" With Git LFS, GIT_LFS_SKIP_SMUDGE=1 checks out without its files.");
    }
    if let Some(first) = left.first() {
        message = format!("{message}; and not all of it could be taken back: {}", worktree::in_words(first));
        "`git worktree list` and `git branch --list 'heyaira/*'` show what is left.".clone_into(&mut next);
    }
    Refusal::new(Code::Unavailable, message, next)
}
