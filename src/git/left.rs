//! What a session left in its repository, for one that ends without a handoff. Must never read what stands in a file.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Instant;

use super::look::{Now, Told, answered, count_changes, head, open};
use super::{Failure, Git};

/// How many commits are named.
const COMMITS: usize = 50;
/// How many files are named.
const FILES: usize = 50;

/// Branch, commits, and what is not committed.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// The branch, unless none is checked out.
    pub branch: Option<String>,
    /// The commit that is checked out.
    pub commit: Option<String>,
    /// The commits behind the one that was named, the newest first.
    pub commits: Vec<String>,
    /// How many files differ from the last commit.
    pub uncommitted: u64,
    /// How many files git does not know.
    pub untracked: u64,
    /// The first of both by name.
    pub files: Vec<String>,
}

/// The commit that is checked out.
pub fn commit(path: &OsStr, folder: &Path, until: Instant) -> Result<Option<String>, Failure> {
    let (git, _) = Git::find(path, folder, until)?;
    let said = git.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}"])?;
    Ok(Some(said.out.trim().to_owned()).filter(|id| said.code == 0 && !id.is_empty()))
}

/// From when on something is a session's: the commit that was checked out, if it is known, and the second, since 1970.
/// Commits that are older were pulled, merged or checked out, not made.
pub type Since<'s> = (Option<&'s str>, i64);

/// What is there now that was not then.
pub fn left(path: &OsStr, folder: &Path, since: Since<'_>, until: Instant, now: Now) -> Result<Left, Failure> {
    let (git, _) = Git::find(path, folder, until)?;
    let (git, _) = open(git, now)?;
    let head = head(&git, now)?;
    let (base, second) = since;
    let commits = match (base, &head.commit) {
        (Some(base), Some(last)) if base != last => commits(&git, base, second, last)?,
        _ => Vec::new(),
    };
    let mut files = Vec::new();
    let (uncommitted, untracked) = count_changes(&git, &mut files, FILES)?;
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    let (uncommitted, untracked) = (count(uncommitted), count(untracked));
    Ok(Left { branch: head.branch, commit: head.commit, commits, uncommitted, untracked, files })
}

/// None where the first is not there any more: then nothing is known of what lies between.
fn commits(git: &Git, base: &str, second: i64, last: &str) -> Told<Vec<String>> {
    let is_there = git.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{base}^{{commit}}")])?;
    if is_there.code != 0 {
        return Ok(Vec::new());
    }
    let most = format!("--max-count={COMMITS}");
    let youngest = format!("--max-age={second}");
    let said = answered(git.ask(&["rev-list", &most, &youngest, "--end-of-options", &format!("{base}..{last}")])?)?;
    Ok(said.lines().map(str::to_owned).collect())
}
