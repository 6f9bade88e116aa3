//! Ends a run from outside: asks what watches over it, and kills that where it does not answer, and reports in its place.
//! Must never signal a process that watches over no run, nor wait without a bound.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::folder::{ENDING, RunFolder};
use super::watcher::{State, Watcher};
use super::{claim, recover};
use crate::domain::run::Report;

/// How long a watcher that was stopped may take to go on once it is told to.
const GOES_ON: Duration = Duration::from_secs(1);
/// How long a watcher may take to say that it ends its run.
const ANSWERS: Duration = Duration::from_secs(10);
/// How long it may take to end it: its processes, git, the report.
const ENDS: Duration = Duration::from_mins(3);
/// How long the same may take from outside after that. Until then the run is ended, or it is said why it is not.
pub const LAST: Duration = Duration::from_mins(6);
/// How often it is looked how far it is.
const AGAIN: Duration = Duration::from_millis(50);

/// Ends a run, and answers its report; else what keeps it from ending, in words that follow "the run".
pub fn end(folder: &RunFolder) -> Result<Report, String> {
    let mut ending = Ending { folder, begun: Instant::now(), asked: None, why: None };
    loop {
        if let Some(report) = over(folder) {
            return Ok(report);
        }
        let keeps = ending.step();
        if ending.begun.elapsed() >= LAST {
            return Err(keeps);
        }
        thread::sleep(AGAIN);
    }
}

/// Waits for the report of a run whose watcher has ended. Whoever is reporting on it in this moment is waited for.
pub fn reported(folder: &RunFolder) -> Result<Report, String> {
    let until = Instant::now() + LAST;
    loop {
        let failed = recover::one(folder).err();
        if let Some(report) = over(folder) {
            return Ok(report);
        }
        if Instant::now() >= until || failed.is_some() {
            let why = failed.map_or_else(|| "another process has it in hand".to_owned(), |error| error.to_string());
            return Err(format!("has no report: {why}"));
        }
        thread::sleep(AGAIN);
    }
}

/// The report of a run that nobody has in hand any more. While somebody has, a harness may have written it.
pub fn over(folder: &RunFolder) -> Option<Report> {
    let report = folder.report().ok()?;
    (folder.is_reported() && !claim::is_owned(folder).unwrap_or(true)).then_some(report)
}

struct Ending<'f> {
    folder: &'f RunFolder,
    begun: Instant,
    /// Which watcher was asked, and when.
    asked: Option<(Watcher, Instant)>,
    /// Why it was killed.
    why: Option<&'static str>,
}

impl Ending<'_> {
    /// One look, and what is to be done then; what the run waits for.
    fn step(&mut self) -> String {
        let Some(watcher) = Watcher::of(self.folder) else {
            return match recover::because(self.folder, self.why) {
                Ok(_) => "is held by a process that cannot be seen from here, or is being started".to_owned(),
                Err(error) => format!("cannot be reported on: {error}"),
            };
        };
        let asked = match self.asked {
            Some((one, at)) if one.is(&watcher) => at,
            _ => self.ask(watcher),
        };
        if let Some(why) = self.no_answer(&watcher, asked) {
            self.why = Some(why);
            watcher.signal(Signal::KILL);
        }
        format!("goes on: its watcher, process {}, does not end, though it was killed", watcher.id())
    }

    /// Asks it to end the run. One that is stopped hears that once it goes on.
    fn ask(&mut self, watcher: Watcher) -> Instant {
        let now = Instant::now();
        watcher.signal(Signal::TERM);
        watcher.signal(Signal::CONT);
        self.asked = Some((watcher, now));
        now
    }

    /// Why it is not waited for any longer.
    fn no_answer(&self, watcher: &Watcher, asked: Instant) -> Option<&'static str> {
        let is_ending = || self.folder.progress().is_ok_and(|progress| progress.phase == ENDING);
        match asked.elapsed() {
            time if time >= ENDS => Some("had not ended it after 3 minutes, and was killed"),
            time if time >= GOES_ON && watcher.state() == State::Stopped => {
                Some("was stopped and did not go on, and was killed")
            }
            time if time >= ANSWERS && !is_ending() => Some("did not answer for 10 seconds, and was killed"),
            _ => None,
        }
    }
}
