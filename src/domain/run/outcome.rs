//! How a run ended, decided from what was seen of it. Must never read a word of the harness but that its model failed and
//! that it came to an end of its own, and never take exit code 0 for success.

use super::brief::duration;
use super::{Exit, Outcome, Test};

/// Who or what ended the harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It ended by itself.
    Own,
    /// Somebody asked for it, or what watched over it is gone; in words of ours.
    Interrupted(String),
    /// It had taken that long, in milliseconds.
    TimedOut(u64),
    /// It had been silent for that long, in milliseconds.
    Silent(u64),
    /// It had cost what it may; in words of ours.
    OverBudget(String),
    /// It was never there: why it cannot be started.
    NotStarted(String),
}

/// What was seen of a run.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'s> {
    /// Who or what ended the harness.
    pub ending: &'s Ending,
    /// How its process ended.
    pub exit: Exit,
    /// True if it said that its model could not be reached or did not answer.
    pub model_failed: bool,
    /// True if it printed the last event that it prints when it works; of a command always.
    pub is_complete: bool,
    /// What it told last of errors.
    pub error: Option<&'s str>,
    /// Whether anything is there that was not there before; none where git could not say.
    pub is_work: Option<bool>,
    /// The test commands that were run.
    pub tests: &'s [Test],
}

/// How it ended, and why in one sentence.
///
/// What ended it comes first: whatever else is seen then was cut off. Then whether the harness did its part, then its exit,
/// then whether there is anything, then the tests.
pub fn decide(seen: &Seen<'_>) -> (Outcome, String) {
    match seen.ending {
        Ending::Interrupted(why) => (Outcome::Interrupted, why.clone()),
        Ending::TimedOut(limit) => {
            (Outcome::TimedOut, format!("It had not ended after {}, and was ended.", duration(*limit)))
        }
        Ending::Silent(limit) => {
            (Outcome::Silent, format!("Nothing had come from it for {}, and it was ended.", duration(*limit)))
        }
        Ending::OverBudget(why) => (Outcome::OverBudget, why.clone()),
        Ending::NotStarted(why) => (Outcome::HarnessError, format!("It could not be started: {why}.")),
        Ending::Own => by_itself(seen),
    }
}

fn by_itself(seen: &Seen<'_>) -> (Outcome, String) {
    let told = |what: &str| match seen.error {
        Some(error) => format!("{what}: {error}"),
        None => format!("{what}."),
    };
    if seen.model_failed {
        return (Outcome::HarnessError, told("Its model could not be reached or did not answer"));
    }
    if let Some(signal) = seen.exit.signal {
        return (Outcome::Failed, format!("Signal {signal} ended it, which did not come from here."));
    }
    if !seen.is_complete {
        let code = seen.exit.code.map_or_else(|| "no exit code".to_owned(), |code| format!("exit code {code}"));
        return (Outcome::HarnessError, told(&format!("It ended with {code} before it had said that it was done")));
    }
    match seen.exit.code {
        Some(0) => finished(seen),
        Some(code) => (Outcome::Failed, format!("It ended with exit code {code}.")),
        None => (Outcome::Failed, "How its process ended is not known.".to_owned()),
    }
}

fn finished(seen: &Seen<'_>) -> (Outcome, String) {
    match seen.is_work {
        None => {
            let why = "It ended with exit code 0, and git could not say whether anything changed.";
            return (Outcome::Failed, why.to_owned());
        }
        Some(false) => {
            return (Outcome::NoWork, "It ended with exit code 0, and no commit and no file is new.".to_owned());
        }
        Some(true) => {}
    }
    let failed: Vec<&Test> = seen.tests.iter().filter(|test| !test.is_passed()).collect();
    match (failed.first(), seen.tests.len()) {
        (Some(first), count) => {
            let shown = crate::domain::text::quoted(&first.command, 80);
            let which = if failed.len() == 1 { String::new() } else { ", the first of them".to_owned() };
            let why = failing(first);
            (Outcome::TestsFailed, format!("{} of {count} test commands failed; {shown}{which} {why}.", failed.len()))
        }
        (None, 0) => {
            (Outcome::Succeeded, "It ended with exit code 0 and changed something; no test was asked for.".to_owned())
        }
        (None, 1) => {
            (Outcome::Succeeded, "It ended with exit code 0 and changed something; the test command passed.".to_owned())
        }
        (None, count) => (
            Outcome::Succeeded,
            format!("It ended with exit code 0 and changed something; all {count} test commands passed."),
        ),
    }
}

fn failing(test: &Test) -> String {
    match test.exit {
        _ if test.timed_out => "took too long".to_owned(),
        Exit { signal: Some(signal), .. } => format!("was ended by signal {signal}"),
        Exit { code: Some(code), .. } => format!("ended with exit code {code}"),
        Exit { .. } => "could not be run".to_owned(),
    }
}
