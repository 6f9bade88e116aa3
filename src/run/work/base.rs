//! What a run's base lacks: what was committed for its task before, and what is not committed at all. Must never ask git about a word that is no hash: a
//! receipt is somebody's text.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::QUESTIONS;
use crate::git::Git;
use crate::git::since::Since;
use crate::git::worktree::{branches, is_branch_name};

/// True where the repository has a commit that the base does not contain; false where that cannot be found out.
pub fn lacks(path: &OsStr, folder: &Path, base: &str, commit: &str) -> bool {
    let is_hash = (4..=64).contains(&commit.len()) && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let looked = || {
        let since = Since::open(path, folder, Instant::now() + QUESTIONS).ok()?;
        let commit = since.commit(commit).ok()??;
        since.is_ancestor(&commit, base).ok()
    };
    is_hash && looked() == Some(false)
}

/// How many files of the working tree that a run is asked for in are not committed, and that tree's folder; none where that
/// is not what the base is taken from, or cannot be found out.
pub fn uncommitted(path: &OsStr, folder: &Path, base: &str) -> Option<(usize, PathBuf)> {
    let top = folder.ancestors().find(|one| one.join(".git").symlink_metadata().is_ok())?;
    let since = Since::open(path, top, Instant::now() + QUESTIONS).ok()?;
    let mut count = 0;
    since.changes(|_, _| count += 1).ok()?;
    let is_at_base = since.head().ok()?.1.as_deref() == Some(base);
    (count > 0 && is_at_base).then(|| (count, top.to_owned()))
}

/// True where the repository has a branch of that name.
pub fn has_branch(path: &OsStr, folder: &Path, name: &str) -> bool {
    let looked = || {
        let (git, _) = Git::find(path, folder, Instant::now() + QUESTIONS).ok()?;
        let is_name = is_branch_name(&git, name).ok()?;
        Some(is_name && branches(&git, name).ok()?.iter().any(|branch| branch.name == name))
    };
    looked() == Some(true)
}
