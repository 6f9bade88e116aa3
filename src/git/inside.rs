//! Which repositories lie in a folder, as its files tell. Must never follow a link, open what is no plain file, or take a
//! folder for looked at that was not.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How many files and folders are looked at.
const ENTRIES: usize = 5_000_000;
/// How much a `.git` that is a file may hold.
const LINK: u64 = 16 * 1024;
/// How many folders are named that could not be looked at.
const UNREAD: usize = 3;

/// What lies in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// The folders that have a `.git`.
    pub repositories: Vec<PathBuf>,
    /// Git's own folders that lie beside their files: those of submodules.
    pub git_folders: Vec<PathBuf>,
    /// What was not looked at, and why.
    pub unread: Vec<String>,
}

/// Where the `.git` of a folder leads; none where it leads nowhere.
pub fn git_folder(folder: &Path) -> Option<PathBuf> {
    let place = folder.join(".git");
    let found = place.metadata().ok()?;
    if found.is_dir() {
        return place.canonicalize().ok();
    }
    // Whoever opens a pipe waits for its other end.
    if !found.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(place).ok()?.take(LINK).read_to_string(&mut text).ok()?;
    let target = text.strip_prefix("gitdir: ")?.trim_end_matches(['\n', '\r']);
    folder.join(target).canonicalize().ok().filter(|target| target.is_dir())
}

/// Looks through whole folders, the given ones included.
pub fn inside(folders: &[&Path], until: Instant) -> Inside {
    let mut walk = Walk { inside: Inside::default(), left: ENTRIES, until };
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| (*folder).to_owned()).collect();
    while let Some(folder) = open.pop() {
        let mut modules = false;
        walk.entries(&folder, |name, path, is_folder| {
            if name == ".git" {
                modules = true;
            } else if is_folder {
                open.push(path);
            }
        });
        if modules {
            walk.modules(&folder.join(".git/modules"));
            walk.inside.repositories.push(folder);
        }
    }
    walk.inside
}

/// The git folders of submodules that lie in such a folder of git's own.
pub fn modules(folder: &Path, until: Instant) -> Inside {
    let mut walk = Walk { inside: Inside::default(), left: ENTRIES, until };
    walk.modules(folder);
    walk.inside
}

struct Walk {
    inside: Inside,
    left: usize,
    until: Instant,
}

impl Walk {
    fn modules(&mut self, folder: &Path) {
        let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let mut open = Vec::from([folder.to_owned()]);
        while let Some(folder) = open.pop().filter(|folder| is_folder(folder)) {
            if folder.join("HEAD").symlink_metadata().is_ok() && is_folder(&folder.join("objects")) {
                open.push(folder.join("modules"));
                self.inside.git_folders.push(folder);
                continue;
            }
            // A submodule's name may have several parts.
            self.entries(&folder, |_, path, is_folder| {
                if is_folder {
                    open.push(path);
                }
            });
        }
    }

    fn entries(&mut self, folder: &Path, mut each: impl FnMut(&str, PathBuf, bool)) {
        let why = if self.left == 0 || Instant::now() >= self.until {
            "there are too many files".to_owned()
        } else {
            match fs::read_dir(folder) {
                Ok(entries) => {
                    for entry in entries.flatten() {
                        self.left = self.left.saturating_sub(1);
                        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                        each(&entry.file_name().to_string_lossy(), entry.path(), is_folder);
                    }
                    return;
                }
                Err(error) => error.to_string(),
            }
        };
        if self.inside.unread.len() < UNREAD {
            self.inside.unread.push(format!("{}: {why}", folder.display()));
        }
    }
}
