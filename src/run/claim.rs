//! Who has a run in hand, and how many work at once. Must never be wrong about one whose process was killed: the kernel
//! frees what it held.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use super::file;
use super::folder::{Plan, RunFolder, Runs, TESTING, WAITING, WORKING};

/// Held by whoever starts a run, until its watcher has it.
const STARTING: &str = "starting.lock";
/// Held by its watcher, and by whoever reports on a run whose watcher is gone.
const OWNER: &str = "owner.lock";
/// Held while it works.
const PLACE: &str = "place.lock";
/// Held while places are counted, in the folder of all runs.
const PLACES: &str = "places.lock";

/// How long who looks whether a lock is held may hold it.
const MOMENT: Duration = Duration::from_millis(10);
/// How many may look one after another.
const LOOKED_AT: usize = 20;
/// How long who watches over a run that waits, works or is tested may say nothing.
const MUTE: Duration = Duration::from_secs(10);

/// A lock that is held until this is dropped, or the process ends.
#[derive(Debug)]
pub struct Held {
    file: File,
    path: PathBuf,
}

impl Held {
    /// Says that whoever holds it is at work. Where its file was taken away, which frees it for others, it is taken again;
    /// an error where somebody was faster.
    pub(super) fn keep(&mut self) -> io::Result<()> {
        if !file::is_at(&self.file, &self.path) {
            self.file = hold(&self.path)?.ok_or(io::ErrorKind::WouldBlock)?.file;
        }
        self.file.set_modified(SystemTime::now())
    }
}

/// Whether there is a place to work in.
#[derive(Debug)]
pub enum Place {
    /// There is, and it is held.
    Held(Held),
    /// There is none before these runs are over, or have one; empty where somebody else is counting.
    After(Vec<String>),
}

/// The run for who starts it.
pub fn starting(folder: &RunFolder) -> io::Result<Option<Held>> {
    hold(&folder.path().join(STARTING))
}

/// The run for who watches over it; none where somebody else does. Who only looks whether it is held holds it for a moment.
pub fn own(folder: &RunFolder) -> io::Result<Option<Held>> {
    let path = folder.path().join(OWNER);
    for _ in 0..LOOKED_AT {
        if let Some(held) = hold(&path)? {
            return Ok(Some(held));
        }
        thread::sleep(MOMENT);
    }
    Ok(None)
}

/// True while somebody starts the run or watches over it.
pub fn is_owned(folder: &RunFolder) -> io::Result<bool> {
    Ok(is_held(&folder.path().join(OWNER))? || is_held(&folder.path().join(STARTING))?)
}

/// For how long whoever watches over it has said nothing, where that is longer than it should be. Who ends a run may be
/// silent: it waits for git.
pub fn mute(folder: &RunFolder, phase: &str) -> Option<Duration> {
    if ![WAITING, WORKING, TESTING].contains(&phase) {
        return None;
    }
    let found = folder.path().join(OWNER).symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    found.modified().ok()?.elapsed().ok().filter(|silence| *silence > MUTE)
}

/// A place to work in, where fewer runs work than the plan allows and none that waits for longer could have it. Nobody waits
/// here for who counts: whoever it is may be stopped.
pub fn place(runs: &Runs, folder: &RunFolder, plan: &Plan) -> io::Result<Place> {
    let Some(_counting) = hold(&runs.path().join(PLACES))? else { return Ok(Place::After(Vec::new())) };
    let (mut working, mut before, mut most) = (Vec::new(), Vec::new(), 0_usize);
    for other in runs.all()?.iter().filter(|other| other.path() != folder.path()) {
        let name = || other.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_held(&other.path().join(PLACE))? {
            working.push(name());
        } else if is_held(&other.path().join(OWNER))?
            && let Some(theirs) = waits_for_longer(other, plan)
        {
            before.push(name());
            most = most.max(usize::try_from(theirs).unwrap_or(usize::MAX));
        }
    }
    let own = usize::try_from(plan.max.max(1)).unwrap_or(usize::MAX);
    if working.len() < own && working.len() >= most {
        return Ok(hold(&folder.path().join(PLACE))?.map_or(Place::After(Vec::new()), Place::Held));
    }
    if working.len() < most {
        working.append(&mut before);
    }
    Ok(Place::After(working))
}

/// How many may work at once for a run that waits and was asked for before this one. One that is not able to begin, such as
/// one whose watcher is stopped, keeps nobody waiting.
fn waits_for_longer(other: &RunFolder, plan: &Plan) -> Option<u32> {
    let theirs = other.plan().ok()?;
    let waits = other.progress().is_ok_and(|progress| progress.phase == WAITING) && mute(other, WAITING).is_none();
    (waits && (&theirs.asked, &theirs.run_id) < (&plan.asked, &plan.run_id)).then(|| theirs.max.max(1))
}

fn hold(path: &Path) -> io::Result<Option<Held>> {
    let file = file::lock(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Held { file, path: path.to_owned() })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// A file that is not there is held by nobody, nor is what is no file; and looking makes none.
fn is_held(path: &Path) -> io::Result<bool> {
    let file = match file::open(path) {
        Ok(file) => file,
        Err(_) if !file::is_regular(path) => return Ok(false),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
