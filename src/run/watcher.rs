//! What watches over a run, seen from outside. Must never take another process for it: a harness can write any number into
//! the run's folder, so it is known by the words that it was started with as well.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::claim;
use super::family::{self, Member};
use super::folder::RunFolder;

/// What it was started with, before the run's id.
pub const WORDS: [&str; 2] = ["run", "watch"];

/// A process that watches over a run.
#[derive(Clone, Copy, Debug)]
pub struct Watcher {
    process: Member,
    mute: Option<Duration>,
}

/// Whether it does what it is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is at work.
    Working,
    /// A signal or a debugger stopped it.
    Stopped,
    /// It has said nothing for that long.
    Mute(Duration),
}

impl Watcher {
    /// The one of a run, where there is one.
    pub fn of(folder: &RunFolder) -> Option<Self> {
        let name = folder.path().file_name()?.to_str()?;
        let words = [WORDS[0], WORDS[1], name];
        let progress = folder.progress().unwrap_or_default();
        let noted = progress.watcher.and_then(|(id, began)| {
            family::find(id).filter(|found| found.began == began && family::is_started_with(found, &words))
        });
        let process = noted.or_else(|| family::started_with(&words))?;
        Some(Self { process, mute: claim::mute(folder, &progress.phase) })
    }

    /// Its process.
    pub fn id(&self) -> i32 {
        self.process.id
    }

    /// What it does.
    pub fn state(&self) -> State {
        match self.mute {
            _ if self.process.is_stopped => State::Stopped,
            Some(silence) => State::Mute(silence),
            None => State::Working,
        }
    }

    /// Why it cannot be waited for, in words that follow "its watcher"; none while it works.
    pub fn trouble(&self) -> Option<String> {
        match self.state() {
            State::Working => None,
            State::Stopped => Some("is stopped".to_owned()),
            State::Mute(silence) => Some(format!("has not answered for {} seconds", silence.as_secs())),
        }
    }

    /// Sends it a signal.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(id) = Pid::from_raw(self.process.id) {
            // It may have come to its end in this moment.
            let _ = kill_process(id, signal);
        }
    }

    /// True for the same process.
    pub(super) fn is(&self, other: &Self) -> bool {
        (self.process.id, self.process.began) == (other.process.id, other.process.began)
    }
}

/// What a process is known by: its number, and when it began in the kernel's own units.
pub(super) fn known_by(id: u32) -> Option<(u32, u64)> {
    family::find(id).map(|found| (id, found.began))
}
