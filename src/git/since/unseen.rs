//! What `git status` does not show of a worktree: files that it was told to overlook, commits that lie in one repository
//! alone, where a worktree is now. Must never write, nor run what the repository names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::super::look::{Told, answered, open, submodules};
use super::super::worktree::in_words;
use super::super::{Failure, Git, inside};
use super::{Since, one_line, timeless};

/// How many files that git was told to overlook are looked at.
const HIDDEN: usize = 20_000;
/// How many bytes of names are asked for at once: a pipe holds them.
const NAMES: usize = 12 * 1024;

/// Commits that are on no branch of a remote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alone {
    /// How many.
    pub count: i64,
    /// The last of them.
    pub last: String,
}

/// A file that git was told to overlook, and is there.
struct Marked {
    path: String,
    hash: String,
    is_link: bool,
}

impl Since {
    /// Opens the repository whose `.git` is in this folder, and no other: git goes on to what is above a broken one.
    pub fn open_own(path: &OsStr, folder: &Path, until: Instant) -> Told<Self> {
        let since = Self::open(path, folder, until)?;
        let expected = if folder.join(".git").symlink_metadata().is_ok() {
            inside::git_folder(folder)
        } else {
            folder.canonicalize().ok()
        };
        if expected.as_ref() == Some(&since.own_folder) { Ok(since) } else { Err(foreign()) }
    }

    /// The commits that no branch of a remote has, of everything that the repository names; `known` is one that is
    /// elsewhere too.
    pub fn alone(&self, known: Option<&str>) -> Told<Option<Alone>> {
        let known = known.map(|known| self.commit(known)).transpose()?.flatten();
        alone(&self.git, &[], known.as_deref())
    }

    /// The first of these commits that no reference leads to, nor what git noted of a branch that stays; and how many
    /// there are.
    pub fn unreachable(&self, commits: &[String], branch: Option<&str>) -> Told<Option<Alone>> {
        let log = branch.map(|branch| self.git_folder.join("logs/refs/heads").join(branch));
        let noted = log.and_then(|log| super::steps(&log)).unwrap_or_default();
        let is_noted = |commit: &str| noted.iter().any(|step| step.commit == commit);
        let rest: Vec<&str> = commits.iter().map(String::as_str).filter(|commit| !is_noted(commit)).collect();
        let is_lost = |commits: &[&str]| -> Told<bool> {
            Ok(self.count(&[&["--ignore-missing"], commits, &["--not", "--all"]].concat())? > 0)
        };
        let mut lost: Option<Alone> = None;
        if rest.is_empty() || !is_lost(&rest)? {
            return Ok(lost);
        }
        for commit in rest {
            if is_lost(&[commit])? {
                lost.get_or_insert_with(|| Alone { count: 0, last: commit.to_owned() }).count += 1;
            }
        }
        Ok(lost)
    }

    /// The worktrees of the repository that git knows, each with the branch that it has checked out.
    pub fn worktrees(&self) -> Told<Vec<(PathBuf, Option<String>)>> {
        let said = answered(self.git.ask(&["worktree", "list", "--porcelain"])?)?;
        let mut found: Vec<(PathBuf, Option<String>)> = Vec::new();
        for line in said.lines() {
            if let Some(path) = line.strip_prefix("worktree ") {
                found.push((PathBuf::from(path), None));
            } else if let (Some(branch), Some(last)) = (line.strip_prefix("branch refs/heads/"), found.last_mut()) {
                last.1 = Some(branch.to_owned());
            }
        }
        Ok(found)
    }

    /// Each file that differs from the index and that git was told to overlook; those in submodules too. The answer is
    /// what could not be looked at.
    pub fn hidden(&self, mut each: impl FnMut(String)) -> Told<Vec<String>> {
        let top = answered(self.git.ask(&["rev-parse", "--path-format=absolute", "--show-toplevel"])?)?;
        let top = Path::new(top.trim_end_matches('\n'));
        let mut failed = hidden(&self.git, top, &mut each)?;
        for (path, folder) in submodules(&self.git, top)?.0 {
            let looked =
                own(&self.git, &folder).and_then(|git| hidden(&git, &folder, |inner| each(format!("{path}/{inner}"))));
            match looked {
                Ok(inner) => failed.extend(inner.into_iter().map(|inner| format!("{path}/{inner}"))),
                Err(failure) => failed.push(format!("{path}: {}", in_words(&failure))),
            }
        }
        Ok(failed)
    }
}

/// The same of a git folder whose files may be gone.
pub fn alone_in(path: &OsStr, git_folder: &Path, until: Instant) -> Told<Option<Alone>> {
    let (git, _) = Git::find(path, git_folder, until)?;
    // Git refuses to look where the files are that its settings name, if they are gone.
    let here = "--work-tree=.";
    let said = answered(git.ask(&[here, "rev-parse", "--path-format=absolute", "--git-dir"])?)?;
    let opened = Path::new(said.trim_end_matches('\n')).canonicalize().ok();
    if opened.is_none() || opened != git_folder.canonicalize().ok() {
        return Err(foreign());
    }
    alone(&git, &[here], None)
}

fn alone(git: &Git, before: &[&str], known: Option<&str>) -> Told<Option<Alone>> {
    let mut words = vec!["--all", "--not", "--remotes"];
    words.extend(known);
    let said = answered(git.ask(&[before, &["rev-list", "--count"], &words[..]].concat())?)?;
    let count = said.trim().parse().map_err(|_| Failure::Failed(None, said))?;
    if count == 0 {
        return Ok(None);
    }
    let last = answered(git.ask(&[before, &["rev-list", "--max-count=1"], &words[..]].concat())?)?;
    Ok(Some(Alone { count, last: last.trim().to_owned() }))
}

/// Git in a submodule, with what its own repository names set aside; none where its `.git` is broken.
pub(in super::super) fn own(git: &Git, folder: &Path) -> Told<Git> {
    let (git, _) = open(git.at(folder.to_owned()), timeless)?;
    let said = answered(git.ask(&["rev-parse", "--path-format=absolute", "--git-dir"])?)?;
    let opened = Path::new(said.trim_end_matches('\n')).canonicalize().ok();
    if opened.is_some() && opened == inside::git_folder(folder) { Ok(git) } else { Err(foreign()) }
}

fn foreign() -> Failure {
    Failure::Failed(None, "its .git does not lead to a repository".to_owned())
}

/// The same of one repository.
fn hidden(git: &Git, top: &Path, mut each: impl FnMut(String)) -> Told<Vec<String>> {
    let (marked, mut failed) = marked(git, top, &mut each)?;
    let (plain, odd): (Vec<Marked>, Vec<Marked>) = marked.into_iter().partition(is_plain);
    let mut rest = plain.as_slice();
    while !rest.is_empty() {
        let (some, others) = rest.split_at(batch(rest));
        rest = others;
        let names: String = some.iter().map(|one| format!("{}\n", one.path)).collect();
        match git.ask_with(&["hash-object", "--stdin-paths"], &names).and_then(answered) {
            Ok(said) if said.lines().count() == some.len() => {
                let differing = some.iter().zip(said.lines()).filter(|(one, hash)| one.hash != *hash);
                differing.for_each(|(one, _)| each(one_line(&one.path)));
            }
            Ok(_) => failed.push("files that are hidden from git status cannot be read".to_owned()),
            Err(failure) => failed.push(format!("files that are hidden from git status: {}", in_words(&failure))),
        }
    }
    for one in odd {
        match hash(git, top, &one) {
            Ok(hash) if hash == one.hash => {}
            Ok(_) => each(one_line(&one.path)),
            Err(failure) => failed.push(format!("{}: {}", one_line(&one.path), in_words(&failure))),
        }
    }
    Ok(failed)
}

/// The files that git was told to overlook and whose content has to be compared; `each` sees those that are of another
/// kind now. With them what cannot be looked at.
fn marked(git: &Git, top: &Path, mut each: impl FnMut(String)) -> Told<(Vec<Marked>, Vec<String>)> {
    let (mut marked, mut failed, mut more) = (Vec::new(), Vec::new(), 0);
    git.ask_each(&["ls-files", "-z", "-v", "--stage"], |record| {
        let record = String::from_utf8_lossy(record);
        let Some((entry, path)) = record.split_once('\t') else { return };
        let mut words = entry.split(' ');
        let (Some(tag), Some(mode), Some(hash)) = (words.next(), words.next(), words.next()) else { return };
        if mode == "160000" {
            if is_orphaned(&top.join(path)) {
                failed.push(format!("{}: it has files and no .git", one_line(path)));
            }
            return;
        }
        // A lower-case letter is a file that is assumed to be unchanged, S one that is left out of the worktree.
        if tag != "S" && !tag.starts_with(|letter: char| letter.is_ascii_lowercase()) {
            return;
        }
        // What is left out lawfully is not there.
        let Ok(found) = top.join(path).symlink_metadata() else { return };
        let (is_file, is_link) = (found.is_file(), found.is_symlink());
        if marked.len() >= HIDDEN {
            more += 1;
        } else if is_link == (mode == "120000") && (is_file || is_link) {
            marked.push(Marked { path: path.to_owned(), hash: hash.to_owned(), is_link });
        } else {
            each(one_line(path));
        }
    })?;
    if more > 0 {
        failed.push(format!("{more} more files that are hidden from git status were not looked at"));
    }
    Ok((marked, failed))
}

/// True for a submodule's folder with files that no repository knows.
fn is_orphaned(folder: &Path) -> bool {
    let is_folder = folder.symlink_metadata().is_ok_and(|found| found.is_dir());
    let is_empty = || folder.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    is_folder && folder.join(".git").symlink_metadata().is_err() && !is_empty()
}

/// True for a file whose name git reads from a line as it is.
fn is_plain(one: &Marked) -> bool {
    !one.is_link && !one.path.contains(['\n', '\r']) && !one.path.starts_with('"')
}

/// How many are asked for at once.
fn batch(files: &[Marked]) -> usize {
    let mut bytes = 0;
    let fitting = files.iter().take_while(|one| {
        bytes += one.path.len() + 1;
        bytes <= NAMES
    });
    fitting.count().max(1)
}

/// The hash of one file, or of where a link leads.
fn hash(git: &Git, top: &Path, one: &Marked) -> Told<String> {
    let said = if one.is_link {
        let target = top.join(&one.path).read_link().ok().and_then(|target| target.to_str().map(str::to_owned));
        let target = target.ok_or_else(|| Failure::Failed(None, "the link cannot be read".to_owned()))?;
        git.ask_with(&["hash-object", "--stdin"], &target)?
    } else {
        git.ask(&["hash-object", "--", &one.path])?
    };
    Ok(answered(said)?.trim().to_owned())
}
