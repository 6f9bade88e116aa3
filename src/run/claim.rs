//! Who has a run in hand, and how many work at once. Must never be wrong about one whose process was killed: the kernel
//! frees what it held.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::folder::{Plan, RunFolder, Runs, WAITING};

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

/// A place to work in, where fewer runs work than the plan allows and none that waits for longer could have it; else none.
pub fn place(runs: &Runs, folder: &RunFolder, plan: &Plan) -> io::Result<Option<Held>> {
    let counting = open(&runs.path().join(PLACES))?;
    counting.lock()?;
    let (mut working, mut before) = (0_u32, 0_u32);
    for other in runs.all()?.iter().filter(|other| other.path() != folder.path()) {
        if is_held(&other.path().join(PLACE))? {
            working += 1;
        } else if is_held(&other.path().join(OWNER))? {
            before = before.max(waits_for_longer(other, plan).unwrap_or_default());
        }
    }
    if working >= plan.max.max(1) || working < before { Ok(None) } else { hold(&folder.path().join(PLACE)) }
}

/// How many may work for a run that waits and was asked for before this one.
fn waits_for_longer(other: &RunFolder, plan: &Plan) -> Option<u32> {
    let theirs = other.plan().ok()?;
    let waits = other.progress().is_ok_and(|progress| progress.phase == WAITING);
    (waits && (&theirs.asked, &theirs.run_id) < (&plan.asked, &plan.run_id)).then(|| theirs.max.max(1))
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
