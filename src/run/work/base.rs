//! Whether a run's base has what was committed for its task before. Must never ask git about a word that is no hash: a
//! receipt is somebody's text.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Instant;

use super::QUESTIONS;
use crate::git::since::Since;

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
