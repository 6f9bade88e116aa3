//! Copies of a database: which are beside it, and whether one still holds a passage that was redacted. Must never change
//! a copy.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;

use crate::domain::redaction::Passage;
use crate::error::Result;
use crate::store::backend::{Store, work};
use crate::store::file;
use crate::store::redaction;

/// How much of a file is read at once.
const CHUNK: usize = 1 << 20;

/// What a look into a copy found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copy {
    /// The passage is in it.
    Holds,
    /// It is not.
    Clean,
    /// There is no such file.
    Gone,
    /// It cannot be looked into, for this reason.
    Unread(String),
}

/// The copies that this program has made beside a database by itself: before a migration or a restore, or saved from a
/// lost log.
pub fn beside(database: &Path) -> Vec<PathBuf> {
    let name = database.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let marks = ["before-schema-", "before-restore-", "rescued-"];
    let is_copy = |path: &PathBuf| {
        let other = path.file_name().map(|other| other.to_string_lossy().into_owned()).unwrap_or_default();
        let ending = other.strip_prefix(&name).and_then(|rest| rest.strip_prefix('.'));
        ending.is_some_and(|ending| marks.iter().any(|mark| ending.starts_with(mark)))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_copy).collect();
    found.sort();
    found
}

/// Looks for a passage in a copy: in its bytes, free space included, and in its texts, which a file may hold in pieces.
pub fn search(copy: &Path, passage: &Passage) -> Copy {
    if !copy.exists() {
        return Copy::Gone;
    }
    match bytes_hold(copy, passage) {
        Ok(true) => return Copy::Holds,
        Ok(false) => {}
        Err(refusal) => return Copy::Unread(refusal.message),
    }
    let passage = passage.clone();
    let found = Store::look_into(
        copy,
        work(move |transaction| {
            let passage = passage.clone();
            Box::pin(async move { redaction::find(transaction, &passage).await })
        }),
    );
    match found {
        Ok(report) if report.is_empty() => Copy::Clean,
        Ok(_) => Copy::Holds,
        Err(refusal) => Copy::Unread(refusal.message),
    }
}

/// True if the bytes of a database's file or of its log hold a passage, be it in free space.
pub fn bytes_hold(database: &Path, passage: &Passage) -> Result<bool> {
    let log = file::beside(database, "wal");
    Ok(file_holds(database, passage)? || (log.exists() && file_holds(&log, passage)?))
}

fn file_holds(path: &Path, passage: &Passage) -> Result<bool> {
    let failed = |error| file::failed("read", path, &error);
    let mut file = File::open(path).map_err(failed)?;
    let needles = [passage.as_text().as_bytes(), passage.as_json().as_bytes()];
    let finders = needles.map(Finder::new);
    let overlap = needles.iter().map(|needle| needle.len()).max().unwrap_or_default();
    let mut window = Vec::with_capacity(CHUNK + overlap);
    loop {
        let kept = window.len().saturating_sub(overlap);
        window.drain(..kept);
        let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut window).map_err(failed)?;
        if finders.iter().any(|finder| finder.find(&window).is_some()) {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
    }
}
