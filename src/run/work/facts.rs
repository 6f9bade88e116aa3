//! What git says of a run's worktree once no process is left in it. Must never believe what the harness said, nor run what
//! it left there.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

use super::super::folder::Plan;
use super::losses;
use crate::domain::run::{Commit, Work};
use crate::domain::secret::masked;
use crate::domain::text::{first_of, head};
use crate::git::Failure;
use crate::git::since::{Since, Step};
use crate::git::worktree::in_words;

/// How long git may take for all questions.
const QUESTIONS: Duration = Duration::from_mins(2);
/// How many commits are named.
const COMMITS: usize = 100;
/// How many files are named.
const FILES: usize = 100;
/// How many of several are named in a sentence.
const NAMED: usize = 3;
/// How much of a commit's subject is kept, in characters.
const SUBJECT: usize = 500;
/// How many commits that were made here are asked for.
const MADE: usize = 200;

/// What is there now that was not there when the run began; and what could not be found out or has to be seen to, a
/// sentence each.
pub fn facts(plan: &Plan) -> (Work, Vec<String>) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let work = Work {
        repository: plan.repository.display().to_string(),
        worktree: plan.worktree.display().to_string(),
        base_commit: plan.base_commit.clone(),
        ..Work::default()
    };
    let mut look = Look { plan, work, problems: Vec::new() };
    let until = Instant::now() + QUESTIONS;
    match look.open(&path, until) {
        Some(since) => {
            look.work.remote.clone_from(&since.remote);
            look.worktree(&since);
        }
        None => look.branch_alone(&path, until),
    }
    // Several questions may fail for one reason.
    let mut problems: Vec<String> = Vec::new();
    for problem in look.problems {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    (look.work, problems)
}

/// Where the run's branch ends.
enum Tip {
    At(String),
    /// At a commit that cannot be read.
    Broken(String),
    Gone,
    Unknown,
}

/// What the work ended with.
enum Found {
    Commit(String),
    /// Nothing of this run.
    Nothing,
    Unknown,
}

struct Look<'l> {
    plan: &'l Plan,
    work: Work,
    problems: Vec<String>,
}

impl Look<'_> {
    /// Git in the worktree, unless that is no longer one of this repository: git would look at whatever is above it.
    fn open(&mut self, path: &OsStr, until: Instant) -> Option<Since> {
        let folder = &self.plan.worktree;
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        if !folder.is_dir() || (is_link(folder) && folder.canonicalize().ok().as_deref() != Some(folder)) {
            if let Some(place) = losses::moved(path, self.plan, until) {
                // It may be somebody else's by now, who has the branch.
                self.work.worktree = place.display().to_string();
                self.problems.push(format!(
                    "The worktree is not where it was made: git has one of this run in {}, which was not looked at.",
                    place.display()
                ));
            } else {
                self.work.worktree_gone = true;
                self.problems.push("The worktree is gone: what was not committed in it is lost.".to_owned());
            }
            return None;
        }
        if folder.join(".git").symlink_metadata().is_err() {
            self.problems.push("The worktree's .git is gone: what was not committed in it cannot be told.".to_owned());
            return None;
        }
        match Since::open(path, folder, until) {
            Ok(since) if since.git_folder == self.plan.git_folder && !since.is_bare => Some(since),
            Ok(_) => {
                self.problems
                    .push("The worktree belongs to another repository now: nothing in it was looked at.".to_owned());
                None
            }
            Err(failure) => {
                self.problems.push(format!("git does not open the worktree: {}.", in_words(&failure)));
                None
            }
        }
    }

    /// What the branch says where there is no worktree any more.
    fn branch_alone(&mut self, path: &OsStr, until: Instant) {
        let Some(since) = self.kept(Since::open(path, &self.plan.git_folder, until)) else { return };
        // Git looks at whatever is above a folder that is no repository any more.
        if since.git_folder != self.plan.git_folder {
            self.problems.push("The repository is gone: what was committed in it cannot be told.".to_owned());
            return;
        }
        self.work.remote.clone_from(&since.remote);
        match self.tip(&since) {
            Tip::At(tip) => {
                self.work.branch = Some(self.plan.branch.clone());
                self.result(&since, &tip);
            }
            Tip::Broken(tip) => self.broken(tip),
            Tip::Gone => self.problems.push(format!("The branch {} is gone.", self.plan.branch)),
            Tip::Unknown => {}
        }
    }

    fn tip(&mut self, since: &Since) -> Tip {
        let name = format!("refs/heads/{}", self.plan.branch);
        match self.kept(since.commit(&name)) {
            None => Tip::Unknown,
            Some(Some(commit)) => Tip::At(commit),
            Some(None) => match self.kept(since.object(&name)) {
                None => Tip::Unknown,
                Some(Some(object)) => Tip::Broken(object),
                Some(None) => Tip::Gone,
            },
        }
    }

    fn broken(&mut self, commit: String) {
        let shown = commit[..commit.len().min(12)].to_owned();
        self.problems
            .push(format!("The branch {} ends at {shown}, which git cannot read as a commit.", self.plan.branch));
        self.work.branch = Some(self.plan.branch.clone());
        self.work.result_commit = Some(commit);
    }

    fn worktree(&mut self, since: &Since) {
        let tip = self.tip(since);
        match (self.kept(since.head()), tip) {
            (_, Tip::Broken(tip)) => self.broken(tip),
            (Some((branch, commit)), tip) => self.head(since, branch, commit, &tip),
            (None, Tip::At(tip)) => self.result(since, &tip),
            (None, _) => {}
        }
        self.uncommitted(since);
        self.hidden(since);
        self.left_behind(since);
        self.problems.extend(losses::told(self.plan, &self.work.uncommitted));
    }

    /// What is checked out, and the result that goes with it.
    fn head(&mut self, since: &Since, branch: Option<String>, commit: Option<String>, tip: &Tip) {
        self.told_of_head(branch.as_deref(), tip);
        let steps = since.steps().unwrap_or_default();
        // What git noted tells what was done only as far as it goes on to what is there now: it can be turned off or emptied.
        let is_noted = steps.last().is_some_and(|last| commit.as_ref().is_none_or(|commit| *commit == last.commit));
        let is_on_branch = branch.as_deref() == Some(&self.plan.branch);
        // A branch without a commit is a name that nothing bears.
        self.work.branch = branch.filter(|_| commit.is_some());
        let made = made(&self.of_run(steps));
        let found = match (tip, commit) {
            (Tip::At(tip), _) if is_on_branch || *tip != self.plan.base_commit => Found::Commit(tip.clone()),
            (Tip::Unknown | Tip::Broken(_), _) => Found::Unknown,
            (_, Some(commit)) => self.result_elsewhere(since, commit, &made, is_noted),
            (_, None) => self.result_nowhere(since, &made, is_noted),
        };
        let result = match found {
            Found::Commit(commit) => commit,
            Found::Nothing => self.plan.base_commit.clone(),
            Found::Unknown => return,
        };
        self.result(since, &result);
        self.others(since, &result, &made);
    }

    /// Which commit is the result where another branch, or none, is checked out and the run's branch did not go on: what was
    /// committed here. What only lay on the branch that was changed to is nobody's work here.
    fn result_elsewhere(&mut self, since: &Since, commit: String, made: &[String], is_noted: bool) -> Found {
        if !is_noted {
            return Found::Commit(commit);
        }
        for one in made {
            match self.kept(since.is_ancestor(one, &commit)) {
                Some(true) => return Found::Commit(commit),
                Some(false) => {}
                None => return Found::Unknown,
            }
        }
        Found::Nothing
    }

    /// The same where no commit is checked out, as on a branch that was deleted: what was committed here last.
    fn result_nowhere(&mut self, since: &Since, made: &[String], is_noted: bool) -> Found {
        self.problems.push("No commit is checked out, so that git counts every file as not committed.".to_owned());
        match made.first() {
            Some(last) if self.kept(since.commit(last)).flatten().is_some() => Found::Commit(last.clone()),
            None if is_noted => Found::Nothing,
            _ => {
                self.problems.push("What was committed here last cannot be told.".to_owned());
                Found::Unknown
            }
        }
    }

    fn told_of_head(&mut self, branch: Option<&str>, tip: &Tip) {
        let own = &self.plan.branch;
        match branch {
            Some(branch) if branch == own => {}
            Some(branch) => self.problems.push(format!("The harness left {branch} checked out, not {own}.")),
            None => self.problems.push(format!("The harness left no branch checked out, not {own}.")),
        }
        if matches!(tip, Tip::Gone) {
            self.problems.push(format!("The branch {own} is gone."));
        }
    }

    /// Commits and differences between the base and the result.
    fn result(&mut self, since: &Since, result: &str) {
        let base = self.plan.base_commit.as_str();
        self.work.result_commit = Some(result.to_owned());
        if result == base {
            let none = Some(0);
            let work = &mut self.work;
            (work.commits_total, work.files_changed, work.insertions, work.deletions) = (none, none, none, none);
            return;
        }
        let range = format!("{base}..{result}");
        match self.kept(since.is_ancestor(base, result)) {
            Some(false) if since.is_shallow => {
                self.problems.push(
                    "History ends before the base, as in a shallow clone: how many commits are new cannot be told."
                        .to_owned(),
                );
            }
            is_ancestor => {
                if is_ancestor == Some(false) {
                    self.problems.push("History was rewritten: the base is no ancestor of the result.".to_owned());
                }
                self.work.commits_total = self.kept(since.count(&["--end-of-options", &range]));
                let commits = self.kept(since.commits(base, result, COMMITS)).unwrap_or_default();
                let shown = |(commit, subject): (String, String)| Commit { commit, subject: shortened(&subject) };
                self.work.commits = commits.into_iter().map(shown).collect();
            }
        }
        let (mut files, mut lines) = (0, (0, 0));
        let looked = since.differences(base, result, |(added, taken)| {
            files += 1;
            lines = (lines.0 + added, lines.1 + taken);
        });
        if self.kept(looked).is_some() {
            self.work.files_changed = Some(files);
            (self.work.insertions, self.work.deletions) = (Some(lines.0), Some(lines.1));
        }
    }

    /// The commits that were made here and are not part of the result.
    fn others(&mut self, since: &Since, result: &str, made: &[String]) {
        let (not_result, not_base) = (format!("^{result}"), format!("^{}", self.plan.base_commit));
        let outside: Vec<String> = made
            .iter()
            .filter(|commit| since.count(&[commit, &not_result, &not_base]).is_ok_and(|count| count > 0))
            .map(|commit| commit[..commit.len().min(12)].to_owned())
            .collect();
        if !outside.is_empty() {
            let (count, named) = (outside.len(), first_of(&outside, NAMED));
            self.problems.push(format!(
                "{count} commits that were made here are not in the result (rebased, reset, or elsewhere): {named}."
            ));
        }
    }

    fn uncommitted(&mut self, since: &Since) {
        let (mut files, mut total, mut nested) = (Vec::new(), 0, Vec::new());
        let looked = since.changes(|is_untracked, name| {
            total += 1;
            if is_untracked && name.ends_with('/') {
                nested.push(name.clone());
            }
            if files.len() < FILES {
                files.push(name);
            }
        });
        let Some(failed) = self.kept(looked) else { return };
        let is_whole = failed.is_empty();
        for failed in failed {
            self.problems.push(format!("Uncommitted files may be missing: {failed}."));
        }
        // None seen where not everything was looked at is not none.
        self.work.uncommitted_total = Some(total).filter(|total| *total > 0 || is_whole);
        self.work.uncommitted = files;
        if !nested.is_empty() {
            let named = first_of(&nested, NAMED);
            self.problems.push(format!(
                "Repositories of their own lie in {named}: what is in them is on no branch of this one."
            ));
        }
    }

    /// Changed files that git was told to overlook are not committed all the same.
    fn hidden(&mut self, since: &Since) {
        let mut hidden = Vec::new();
        let Some(failed) = self.kept(since.hidden(|name| hidden.push(name))) else { return };
        for failed in failed {
            self.problems.push(format!("Uncommitted files may be missing: {failed}."));
        }
        if hidden.is_empty() {
            return;
        }
        let (count, named) = (hidden.len(), first_of(&hidden, NAMED));
        self.problems.push(format!(
            "{count} changed files are hidden from git status by git update-index (--assume-unchanged, --skip-worktree): {named}."
        ));
        hidden.retain(|name| !self.work.uncommitted.contains(name));
        let total = self.work.uncommitted_total.unwrap_or_default();
        self.work.uncommitted_total = Some(total + i64::try_from(hidden.len()).unwrap_or(i64::MAX));
        let room = FILES.saturating_sub(self.work.uncommitted.len());
        self.work.uncommitted.extend(hidden.into_iter().take(room));
    }

    /// What was begun and not ended, locks, and stashes.
    fn left_behind(&mut self, since: &Since) {
        for what in since.unfinished() {
            self.problems.push(format!("In the worktree {what} was begun and not ended."));
        }
        for lock in since.locks() {
            self.problems.push(format!("In the worktree git's {lock} was left."));
        }
        let own = [format!("WIP on {}:", self.plan.branch), format!("On {}:", self.plan.branch)];
        let is_own = |step: &Step| own.iter().any(|own| step.what.starts_with(own));
        let stashes = self.of_run(since.stashes()).into_iter().filter(is_own).count();
        if stashes > 0 {
            self.problems.push(format!("{stashes} stashes were made on {}, which are on no branch.", self.plan.branch));
        }
    }

    /// The steps of this run: of a worktree or a branch that was there before, those since it was asked for.
    fn of_run(&self, steps: Vec<Step>) -> Vec<Step> {
        let asked: Option<jiff::Timestamp> = self.plan.asked.parse().ok();
        let asked = asked.filter(|_| !self.plan.made_worktree || !self.plan.made_branch);
        steps.into_iter().filter(|step| asked.is_none_or(|asked| step.second >= asked.as_second())).collect()
    }

    fn kept<T>(&mut self, found: Result<T, Failure>) -> Option<T> {
        found.map_err(|failure| self.problems.push(format!("Not all could be found out: {}.", in_words(&failure)))).ok()
    }
}

/// The commits that were made, not only checked out; the last of them first, each once.
pub(super) fn made(steps: &[Step]) -> Vec<String> {
    let doings = ["commit", "cherry-pick", "revert", "merge", "rebase", "am", "pull"];
    let mut made: Vec<String> = Vec::new();
    let mut is_amended = false;
    for step in steps.iter().rev() {
        let doing = step.what.split([':', ' ']).next().unwrap_or_default();
        // What an amend put another commit in the place of is meant to be gone.
        let is_meant = !std::mem::replace(&mut is_amended, step.what.starts_with("commit (amend)"));
        let is_moved = ["(start)", "(finish)", "(abort)", "Fast-forward"].iter().any(|sign| step.what.contains(sign));
        if is_meant && !is_moved && doings.contains(&doing) && !made.contains(&step.commit) && made.len() < MADE {
            made.push(step.commit.clone());
        }
    }
    made
}

/// What is cut off would no longer be known for a secret, so secrets are taken out first.
fn shortened(subject: &str) -> String {
    let subject = &*masked(subject);
    let kept = head(subject, SUBJECT);
    if kept.len() < subject.len() { format!("{kept}…") } else { kept.to_owned() }
}
