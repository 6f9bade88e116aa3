//! Who has a run in hand, and how many work at once. Must never be wrong about one whose process was killed: the kernel
//! frees what it held.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::folder::{RunFolder, Runs};

/// Held by whoever starts a run, until its watcher has it.
const STARTING: &str = "starting.lock";
/// Held by its watcher, and by whoever reports on a run whose watcher is gone.
const OWNER: &str = "owner.lock";
/// Held while it works.
const PLACE: &str = "place.lock";
/// Held while places are counted, in the folder of all runs.
const PLACES: &str = "places.lock";

/// A lock that is held until this is dropped, or the process ends.
#[derive(Debug)]
pub struct Held {
    _file: File,
}

/// The run for who starts it.
pub fn starting(folder: &RunFolder) -> io::Result<Option<Held>> {
    hold(&folder.path().join(STARTING))
}

/// The run for who watches over it; none where somebody else does.
pub fn own(folder: &RunFolder) -> io::Result<Option<Held>> {
    hold(&folder.path().join(OWNER))
}

/// True while somebody starts the run or watches over it.
pub fn is_owned(folder: &RunFolder) -> io::Result<bool> {
    Ok(is_held(&folder.path().join(OWNER))? || is_held(&folder.path().join(STARTING))?)
}

/// A place to work in where fewer than `max` runs work; none where there is none.
pub fn place(runs: &Runs, folder: &RunFolder, max: u32) -> io::Result<Option<Held>> {
    let counting = open(&runs.path().join(PLACES))?;
    counting.lock()?;
    let mut working = 0_u32;
    for other in runs.all()? {
        working += u32::from(is_held(&other.path().join(PLACE))?);
    }
    if working >= max { Ok(None) } else { hold(&folder.path().join(PLACE)) }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn hold(path: &Path) -> io::Result<Option<Held>> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Held { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// A file that is not there is held by nobody, and looking makes none.
fn is_held(path: &Path) -> io::Result<bool> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
