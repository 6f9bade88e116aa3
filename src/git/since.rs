//! What became of a worktree since a commit, for the report of a run. Must never run what the worktree or its repository
//! names, however hostile who worked there was, and never write into it.

pub mod unseen;

use std::ffi::OsStr;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::look::{Told, answered, each_change, head, open, submodules};
use super::{Failure, Git};
use crate::domain::text::visible;

/// How much of git's own log of a reference is read, from its end.
const REFLOG: u64 = 1024 * 1024;
/// How many warnings are told.
const WARNINGS: usize = 3;

/// Git in a worktree, with everything set aside that the repository names to be run.
pub struct Since {
    git: Git,
    /// Where git keeps what belongs to this worktree alone.
    pub own_folder: PathBuf,
    /// Where git keeps what all worktrees share.
    pub git_folder: PathBuf,
    /// The address of its remote, `origin` before others, without user and password.
    pub remote: Option<String>,
    /// True if history ends somewhere before its beginning.
    pub is_shallow: bool,
    /// True where there are no files to look at.
    pub is_bare: bool,
}

/// A file's count: lines added, taken away; 0 for a binary one.
pub type Lines = (i64, i64);

/// One line of git's own log of what was checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The commit after it.
    pub commit: String,
    /// When, in seconds since 1970, as git was told.
    pub second: i64,
    /// What was done.
    pub what: String,
}

fn timeless() -> String {
    String::new()
}

impl Since {
    /// Opens the worktree at a folder, or git's own folder of a repository.
    pub fn open(path: &OsStr, folder: &Path, until: Instant) -> Told<Self> {
        let (git, _) = Git::find(path, folder, until)?;
        let (git, repository) = open(git, timeless)?;
        let place = |word: &str| -> Told<PathBuf> {
            let said = answered(git.ask(&["rev-parse", "--path-format=absolute", word])?)?;
            let place = PathBuf::from(said.strip_suffix('\n').unwrap_or(&said));
            Ok(place.canonicalize().unwrap_or(place))
        };
        let (own_folder, git_folder) = (place("--git-dir")?, place("--git-common-dir")?);
        let origin = repository.remotes.iter().find(|remote| remote.name == "origin");
        let remote = origin.or(repository.remotes.first()).map(|remote| remote.url.clone());
        let remote = remote.filter(|url| !url.is_empty());
        Ok(Self { own_folder, git_folder, remote, is_shallow: repository.shallow, is_bare: repository.bare, git })
    }

    /// The branch and the commit that are checked out.
    pub fn head(&self) -> Told<(Option<String>, Option<String>)> {
        let head = head(&self.git, timeless)?;
        Ok((head.branch, head.commit))
    }

    /// The commit that a name stands for.
    pub fn commit(&self, name: &str) -> Told<Option<String>> {
        super::worktree::commit(&self.git, name)
    }

    /// True if `one` is `end` or lies before it.
    pub fn is_ancestor(&self, one: &str, end: &str) -> Told<bool> {
        Ok(self.git.ask(&["merge-base", "--is-ancestor", one, end])?.code == 0)
    }

    /// How many commits `words` of `git rev-list` choose.
    pub fn count(&self, words: &[&str]) -> Told<i64> {
        let said = answered(self.git.ask(&[&["rev-list", "--count"], words].concat())?)?;
        said.trim().parse().map_err(|_| Failure::Failed(None, said))
    }

    /// The first commits after `base` up to `end`, the oldest first, each with the first line of its message.
    pub fn commits(&self, base: &str, end: &str, most: usize) -> Told<Vec<(String, String)>> {
        let range = format!("{base}..{end}");
        let words = ["rev-list", "--reverse", "--topo-order", "--encoding=UTF-8", "--format=%H%x00%s%x00"];
        let (mut commits, mut hash) = (Vec::new(), None::<String>);
        self.git.ask_each(&[&words[..], &["--end-of-options", &range]].concat(), |field| {
            let field = String::from_utf8_lossy(field);
            match hash.take() {
                // Before it stands a line of its own, which names it as well.
                None => hash = Some(field.lines().last().unwrap_or_default().to_owned()),
                Some(hash) if commits.len() < most => commits.push((hash, one_line(&field))),
                Some(_) => {}
            }
        })?;
        Ok(commits)
    }

    /// The files that differ between two commits.
    pub fn differences(&self, base: &str, end: &str, mut each: impl FnMut(Lines)) -> Told<()> {
        let words = ["diff-tree", "-r", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let ends = ["--ignore-submodules=none", "--end-of-options", base, end];
        self.git.ask_each(&[&words[..], &ends].concat(), |record| {
            let mut numbers = record.split(|byte| *byte == b'\t').map(|part| {
                // A binary file has a dash for each.
                String::from_utf8_lossy(part).parse::<i64>().unwrap_or_default()
            });
            each((numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()));
        })
    }

    /// Each file that is not committed, by a name that can be shown; those in submodules too. `is_untracked` where git
    /// does not know it. The answer is what could not be looked at.
    pub fn changes(&self, mut each: impl FnMut(bool, String)) -> Told<Vec<String>> {
        let warned = each_change(&self.git, |is_untracked, path| {
            each(is_untracked, one_line(&String::from_utf8_lossy(path)));
        })?;
        let mut failed = unread(&warned);
        let top = answered(self.git.ask(&["rev-parse", "--path-format=absolute", "--show-toplevel"])?)?;
        let (found, more) = submodules(&self.git, Path::new(top.trim_end_matches('\n')))?;
        for (path, folder) in found {
            let looked = unseen::own(&self.git, &folder).and_then(|git| {
                each_change(&git, |is_untracked, inner| {
                    each(is_untracked, format!("{path}/{}", one_line(&String::from_utf8_lossy(inner))));
                })
            });
            match looked {
                Ok(warned) => failed.extend(unread(&warned).iter().map(|warning| format!("{path}: {warning}"))),
                Err(failure) => failed.push(format!("{path}: {}", super::worktree::in_words(&failure))),
            }
        }
        if more > 0 {
            failed.push(format!("{more} more submodules were not looked at"));
        }
        Ok(failed)
    }

    /// What a name stands for, though its object may not be there.
    pub fn object(&self, name: &str) -> Told<Option<String>> {
        let said = self.git.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", name])?;
        Ok(Some(said.out.trim().to_owned()).filter(|id| said.code == 0 && !id.is_empty()))
    }

    /// Every reference in the order of their names, with the object that it stands for.
    pub fn references(&self, mut each: impl FnMut(&[u8], &[u8])) -> Told<()> {
        let mut name: Option<Vec<u8>> = None;
        let words = ["for-each-ref", "--sort=refname", "--format=%(refname)%00%(objectname)%00"];
        self.git.ask_each(&words, |field| match name.take() {
            // Before it stands the end of the line before.
            None => name = Some(field.trim_ascii_start().to_owned()),
            Some(name) => each(&name, field),
        })
    }

    /// The settings of a file of git's, each by its key and its value; no other file is read for them.
    pub fn settings(&self, file: &Path, mut each: impl FnMut(&str, &[u8])) -> Told<()> {
        let file = file.to_str().ok_or_else(|| Failure::Failed(None, "its name is no UTF-8".to_owned()))?;
        self.git.ask_each(&["config", "--file", file, "--no-includes", "--list", "-z"], |record| {
            let end = record.iter().position(|byte| *byte == b'\n').unwrap_or(record.len());
            each(&String::from_utf8_lossy(&record[..end]), &record[end..]);
        })
    }

    /// What git noted of this worktree's HEAD, the oldest first; none where it notes nothing.
    pub fn steps(&self) -> Option<Vec<Step>> {
        steps(&self.own_folder.join("logs/HEAD"))
    }

    /// What git noted of stashes, which all worktrees share.
    pub fn stashes(&self) -> Vec<Step> {
        steps(&self.git_folder.join("logs/refs/stash")).unwrap_or_default()
    }

    /// What was begun in this worktree and not ended, as git names it.
    pub fn unfinished(&self) -> Vec<&'static str> {
        let signs = [
            ("rebase-merge", "a rebase"),
            ("rebase-apply", "a rebase or git am"),
            ("MERGE_HEAD", "a merge"),
            ("CHERRY_PICK_HEAD", "a cherry-pick"),
            ("REVERT_HEAD", "a revert"),
            ("BISECT_LOG", "a bisect"),
        ];
        signs.into_iter().filter(|(sign, _)| self.own_folder.join(sign).exists()).map(|(_, name)| name).collect()
    }

    /// The locks that are left of this worktree.
    pub fn locks(&self) -> Vec<&'static str> {
        ["index.lock", "HEAD.lock"].into_iter().filter(|lock| self.own_folder.join(lock).exists()).collect()
    }
}

/// The folders that git could not look into, as it warned of them.
fn unread(warned: &str) -> Vec<String> {
    let lines = warned.lines().filter_map(|line| line.strip_prefix("warning: could not open directory "));
    lines.take(WARNINGS).map(|line| format!("git could not open {}", one_line(line))).collect()
}

/// A text as one line that can be shown.
pub fn one_line(text: &str) -> String {
    visible(&text.replace('\n', "\\n").replace('\t', "\\t"))
}

fn steps(file: &Path) -> Option<Vec<Step>> {
    // Whoever opens a pipe waits for its other end.
    file.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut file = std::fs::File::open(file).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(REFLOG))).ok()?;
    let mut text = Vec::new();
    file.take(REFLOG).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).lines().filter_map(step).collect())
}

/// `<old> <new> <name> <address> <second> <zone>`, a tab, and what was done.
fn step(line: &str) -> Option<Step> {
    let (who, what) = line.split_once('\t').unwrap_or((line, ""));
    let commit = who.split(' ').nth(1)?.to_owned();
    let second = who.rsplit(' ').nth(1)?.parse().ok()?;
    commit.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| Step { commit, second, what: what.to_owned() })
}
