//! Git's records of worktrees, read from its files. Must be read before git is asked in a worktree: git itself turns a
//! record round to whatever folder asks by it, and takes it from the worktree that has it. Must never write.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// How much of one of git's files is read.
const FILE: u64 = 64 * 1024;

/// What stands behind a folder's `.git`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Its own record in this repository, or the repository itself in its main working tree.
    Own,
    /// A record that leads to another folder, if it leads anywhere.
    Another(Option<PathBuf>),
    /// Something of another repository.
    Foreign,
    /// Nothing that is there: git says why it does not open it.
    Missing,
}

/// What a working tree's folder has for its own folder of git's, in the repository with that folder and main working tree.
pub fn of(folder: &Path, git_folder: &Path, main: &Path) -> Record {
    let Some(own) = own_folder(folder) else { return Record::Missing };
    if own == git_folder {
        let is_main = folder == main || own.parent() == Some(folder);
        return if is_main { Record::Own } else { Record::Another(Some(main.to_owned())) };
    }
    if own.parent() != whole(&git_folder.join("worktrees")).as_deref() {
        return Record::Foreign;
    }
    let leads = leads_to(&own);
    if leads.as_deref() == whole(folder).as_deref() { Record::Own } else { Record::Another(leads) }
}

/// Each record of the repository by its name, with the folder that it leads to, if it leads anywhere.
pub fn all(git_folder: &Path) -> Vec<(String, Option<PathBuf>)> {
    let entries = git_folder.join("worktrees").read_dir().into_iter().flatten().flatten();
    entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), leads_to(&entry.path()))).collect()
}

/// Git's own folder of a working tree, as its `.git` names it.
fn own_folder(folder: &Path) -> Option<PathBuf> {
    let mark = folder.join(".git");
    let own = if mark.is_dir() { mark } else { folder.join(path(&mark, "gitdir: ")?) };
    own.join("HEAD").symlink_metadata().ok()?;
    own.canonicalize().ok()
}

/// The folder that a record leads to, without links as far as it is there.
fn leads_to(own: &Path) -> Option<PathBuf> {
    let mark = own.join(path(&own.join("gitdir"), "")?);
    let folder = mark.parent()?;
    Some(whole(folder).unwrap_or_else(|| folder.to_owned()))
}

fn whole(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// The path that a file of git's holds after some words. Whoever opens a pipe waits for its other end.
fn path(file: &Path, words: &str) -> Option<PathBuf> {
    fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    let mut text = Vec::new();
    File::open(file).ok()?.take(FILE).read_to_end(&mut text).ok()?;
    let text = text.strip_prefix(words.as_bytes())?;
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))?;
    Some(PathBuf::from(named(&text[..=end])))
}

#[cfg(unix)]
fn named(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

#[cfg(not(unix))]
fn named(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
