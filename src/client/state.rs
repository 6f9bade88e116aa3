//! The folder in which hooks keep what they must remember: which session a client is in, what was said, drafts, a log.
//! Must never hold what a conversation or a task says, and never be needed: whoever cannot write there goes on without.

pub mod draft;
pub mod log;
pub mod processes;
pub mod session;

use crate::domain::text::hex;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// The largest record that is read, in bytes.
const RECORD_MAX: u64 = 256 * 1024;
/// After how long without a change a record is forgotten.
const KEPT: Duration = Duration::from_hours(30 * 24);
/// Where it stands when that was done last.
const PRUNED: &str = "pruned";
/// How often it is done.
const PRUNED_EVERY: Duration = Duration::from_hours(24);
/// How many records of one sort are looked at for those that are to be forgotten.
const LOOKED_AT: usize = 2_000;

/// The folder. It need not exist.
#[derive(Clone, Debug)]
pub struct State {
    folder: PathBuf,
}

impl State {
    /// Where the environment says: `HEYAIRA_STATE`, else the platform's folder for the state of a user's programs.
    /// `None` where there is no home, and where what is named is not named from the root: it would be another folder
    /// wherever a client is.
    pub fn find(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(named) = set("HEYAIRA_STATE") {
            return named.is_absolute().then(|| Self::at(named));
        }
        let folder = |name: &str| set(name).filter(|folder| folder.is_absolute());
        let states = if cfg!(windows) {
            folder("LOCALAPPDATA")
        } else {
            folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local").join("state")))
        };
        states.map(|states| Self::at(states.join("heyaira")))
    }

    /// This folder.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder's path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A record, if there is one that can be read.
    fn read<T: DeserializeOwned>(&self, place: &Path) -> Option<T> {
        let mut text = Vec::new();
        let place = self.folder.join(place);
        place.metadata().ok().filter(fs::Metadata::is_file)?;
        fs::File::open(place).ok()?.take(RECORD_MAX + 1).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Puts a record in its place at once: a reader sees the old one or the new one.
    fn write(&self, place: &Path, record: &impl Serialize) -> io::Result<()> {
        let place = self.prepared(place)?;
        let folder = place.parent().unwrap_or(&self.folder);
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut file, record)?;
        file.persist(&place).map(drop).map_err(|failure| failure.error)
    }

    /// Leaves a mark; false if it was there already. Of two that do it at once one is answered true.
    fn mark(&self, place: &Path) -> io::Result<bool> {
        let place = self.prepared(place)?;
        match private(OpenOptions::new().write(true).create_new(true)).open(place) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Adds a line to a file; false if it has so many bytes already.
    fn append(&self, place: &Path, line: &str, most: u64) -> io::Result<bool> {
        let place = self.prepared(place)?;
        // Whoever opens a pipe waits for its other end.
        if place.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(ErrorKind::InvalidInput.into());
        }
        let mut file = private(OpenOptions::new().append(true).create(true)).open(place)?;
        if file.metadata()?.len() > most {
            return Ok(false);
        }
        // In one write, so that lines of several processes do not mix.
        file.write_all(format!("{line}\n").as_bytes()).map(|()| true)
    }

    /// The names in a folder.
    fn names(&self, place: &Path) -> Vec<String> {
        let entries = fs::read_dir(self.folder.join(place)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).take(LOOKED_AT).collect()
    }

    fn prepared(&self, place: &Path) -> io::Result<PathBuf> {
        let place = self.folder.join(place);
        if let Some(folder) = place.parent() {
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(folder)?;
        }
        Ok(place)
    }

    /// Forgets what nobody changed for 30 days, once a day.
    pub fn prune(&self, now: SystemTime) {
        let last = self.folder.join(PRUNED);
        let age = last.metadata().and_then(|found| found.modified()).ok().and_then(|at| now.duration_since(at).ok());
        if age.is_some_and(|age| age < PRUNED_EVERY) || self.write(Path::new(PRUNED), &()).is_err() {
            return;
        }
        for sort in [session::FOLDER, processes::FOLDER, draft::FOLDER] {
            for name in self.names(Path::new(sort)) {
                let place = self.folder.join(sort).join(name);
                let changed = place.metadata().and_then(|found| found.modified());
                let is_old = |at| now.duration_since(at).is_ok_and(|age| age > KEPT);
                if changed.is_ok_and(is_old) {
                    // Another process may be at it as well.
                    let _ = fs::remove_dir_all(place);
                }
            }
        }
    }
}

/// A name for a file that stands for a text, whatever is in the text.
fn name_of(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hex(&hash[..16])
}

/// Readable by its owner alone, if it is new.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
