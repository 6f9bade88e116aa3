//! What was there before a set-up, so that it can be put back: a list and copies in the person's own state folder,
//! readable by nobody else. Must never lose the copy of a file whose set-up can still be undone.

use std::fs::{self, File};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::client::setup::edit::Edit;
use crate::client::setup::file::{make_private_folder, open_private, write_private};
use crate::domain::text::hex;
use crate::error::{Code, Refusal, Result};

const LIST: &str = "files.json";
const VERSION: u32 = 1;

/// For whom a file was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The client's name.
    pub client: String,
    /// The repository, for what stands in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<PathBuf>,
}

/// A file that a set-up changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// Where it is, behind all links.
    pub target: PathBuf,
    /// The name of the copy of what was there, or nothing if there was no file.
    pub before: Option<String>,
    /// The hash of what the set-up left there.
    pub after: String,
    /// Folders that the set-up made for it, outermost first.
    pub folders: Vec<PathBuf>,
    /// What was put in.
    pub edits: Vec<Edit>,
    /// For whom.
    pub users: Vec<User>,
}

#[derive(Debug, Serialize, Deserialize)]
struct List {
    version: u32,
    files: Vec<Kept>,
}

/// The record of one person. While it is held, no other process sets up.
#[derive(Debug)]
pub struct Record {
    folder: PathBuf,
    /// Every file that can be put back.
    pub files: Vec<Kept>,
    lock: Option<File>,
}

impl Record {
    /// Reads the record of a folder, without making one: for looking only.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(LIST);
        let files = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed("read", &path, &error)),
            Ok(bytes) => list(&path, &bytes)?,
        };
        Ok(Self { folder: folder.to_owned(), files, lock: None })
    }

    /// Reads it and keeps others out until it is dropped.
    pub fn hold(folder: &Path) -> Result<Self> {
        make_private_folder(folder).map_err(|error| failed("make the folder", folder, &error))?;
        let path = folder.join("lock");
        let lock = open_private(&path).map_err(|error| failed("open", &path, &error))?;
        lock.lock().map_err(|error| failed("lock", &path, &error))?;
        Ok(Self { lock: Some(lock), ..Self::read(folder)? })
    }

    /// The entry of a file.
    pub fn of(&self, target: &Path) -> Option<&Kept> {
        self.files.iter().find(|kept| kept.target == target)
    }

    /// The entry of a file, to be changed.
    pub fn of_mut(&mut self, target: &Path) -> Option<&mut Kept> {
        self.files.iter_mut().find(|kept| kept.target == target)
    }

    /// The repositories in which a client uses what was set up in the person's own files: of their own they have the
    /// block and the profile alone.
    pub fn sharing(&self, client: &str) -> Vec<PathBuf> {
        let of_client = |kept: &Kept| -> Vec<PathBuf> {
            let users = kept.users.iter().filter(|user| user.client == client);
            users.filter_map(|user| user.repository.clone()).collect()
        };
        let is_document = |edit: &Edit| matches!(edit, Edit::Block { .. } | Edit::Whole { replaces: true, .. });
        let (documents, others): (Vec<&Kept>, Vec<&Kept>) =
            self.files.iter().partition(|kept| kept.edits.iter().all(is_document));
        let own: Vec<PathBuf> = others.into_iter().flat_map(of_client).collect();
        let mut found: Vec<PathBuf> = documents.into_iter().flat_map(of_client).collect();
        found.retain(|root| !own.contains(root) && root.is_dir());
        found.sort();
        found.dedup();
        found
    }

    /// Where the copy of what was there before is, for people.
    pub fn copy(&self, kept: &Kept) -> Option<PathBuf> {
        kept.before.as_ref().map(|name| self.folder.join(name))
    }

    /// What was there before.
    pub fn before(&self, kept: &Kept) -> Result<Option<Vec<u8>>> {
        let path = self.copy(kept);
        path.map(|path| fs::read(&path).map_err(|error| failed("read", &path, &error))).transpose()
    }

    /// Keeps a copy; answers its name, which is told by the content and the place.
    pub fn keep(&self, target: &Path, bytes: &[u8]) -> Result<String> {
        let place = hash(target.as_os_str().as_encoded_bytes());
        let name = format!("{}-{}", &place[..16], &hash(bytes)[..16]);
        let path = self.folder.join(&name);
        write_private(&path, bytes).map_err(|error| failed("write", &path, &error))?;
        Ok(name)
    }

    /// Writes the list, then removes the copies that it no longer names.
    pub fn save(&self) -> Result<()> {
        debug_assert!(self.lock.is_some(), "a record is held while it is written");
        let path = self.folder.join(LIST);
        if self.files.is_empty() {
            remove(&path)?;
            self.remove_unnamed();
            return Ok(());
        }
        let list = List { version: VERSION, files: self.files.clone() };
        let text = serde_json::to_vec_pretty(&list).map_err(|error| Refusal::internal(&error))?;
        write_private(&path, &text).map_err(|error| failed("write", &path, &error))?;
        self.remove_unnamed();
        Ok(())
    }

    fn remove_unnamed(&self) {
        let is_copy = |name: &str| name.len() == 33 && name.as_bytes()[16] == b'-';
        let named = |name: &str| self.files.iter().any(|kept| kept.before.as_deref() == Some(name));
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| is_copy(name) && !named(name)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Removes a file that may be gone already.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", path, &error)),
        _ => Ok(()),
    }
}

fn list(path: &Path, bytes: &[u8]) -> Result<Vec<Kept>> {
    let next = "Move it away to set up without it: what earlier set-ups changed can then be undone by hand only, from \
                the copies beside it.";
    let refuse = |what: &str| Err(Refusal::new(Code::Unavailable, format!("{} {what}", path.display()), next));
    match serde_json::from_slice::<List>(bytes) {
        Ok(list) if list.version == VERSION => Ok(list.files),
        Ok(_) => refuse("is of another version of heyaira"),
        Err(_) => refuse("is damaged"),
    }
}

/// The hash by which a file is known again.
pub fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A file operation that failed, in our words.
pub fn failed(what: &str, path: &Path, error: &Error) -> Refusal {
    let message = format!("cannot {what} {}: {error}", path.display());
    Refusal::new(Code::Unavailable, message, "Check the path, its permissions and the free space, then run it again.")
}
