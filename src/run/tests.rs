//! The test commands of a run, after its harness is gone: each in the worktree, with its own log and time, and ended as a
//! harness is. Must never leave a process behind, nor hand a credential of ours to a command.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::VARIABLE;
use super::folder::{Plan, RunFolder};
use super::log::BoundedLog;
use super::output::Output;
use super::process::{Event, Running};
use super::stop::Stop;
use super::totals::Reader;
use super::work::record::stray;
use crate::domain::run::{Exit, Test};

/// What a command does not get: it is the work of a harness that has no credential either.
const CREDENTIALS: [&str; 3] = ["HEYAIRA_TOKEN", "HEYAIRA_DATABASE", "HEYAIRA_WRITE_CONTEXT"];
/// How often it is said meanwhile that somebody is at work.
const TICK: Duration = Duration::from_secs(1);

/// Runs the test commands in their order, until somebody wants the run to end: what was not run then is not answered. `tick`
/// is called about every second.
pub fn run(plan: &Plan, folder: &RunFolder, stop: &Stop, tick: &mut dyn FnMut()) -> (Vec<Test>, Vec<String>) {
    let (mut tests, mut problems) = (Vec::new(), Vec::new());
    for (place, command) in plan.tests.iter().enumerate() {
        if stop.is_asked() {
            break;
        }
        let log = folder.path().join(format!("test-{}.log", place + 1));
        match one(plan, command, &log, stop, tick) {
            Ok((test, told)) => {
                tests.push(test);
                problems.extend(told.iter().map(|problem| format!("Test command {}: {problem}", place + 1)));
            }
            Err(error) => {
                problems.push(format!("Test command {} could not be run: {error}.", place + 1));
                tests.push(Test { command: command.clone(), ..Test::default() });
            }
        }
    }
    (tests, problems)
}

fn one(plan: &Plan, words: &str, log: &Path, stop: &Stop, tick: &mut dyn FnMut()) -> io::Result<(Test, Vec<String>)> {
    if let Some(why) = stray(plan) {
        return Err(io::Error::other(why));
    }
    let reader = Arc::new(Mutex::new(Reader::default()));
    let listener = Arc::clone(&reader);
    let log = BoundedLog::new(log.to_owned(), plan.log_limit);
    let output = Arc::new(Output::in_one(log, move |bytes| {
        listener.lock().unwrap_or_else(PoisonError::into_inner).take(bytes);
    }));
    let begin = Instant::now();
    let mut running = Running::start(&mut shell(plan, words), &super::mark(&plan.run_id), &output)?;
    stop.wake(running.stopper());
    let end = wait(&mut running, begin + Duration::from_millis(plan.test_timeout_ms), stop, tick);
    let ended = running.end();
    let (log, mut problems) = output.close();
    problems.extend(ended.problems);
    let reader = std::mem::take(&mut *reader.lock().unwrap_or_else(PoisonError::into_inner));
    let is_own = matches!(end, End::Own);
    let test = Test {
        command: words.to_owned(),
        not_run: matches!(end, End::Stopped),
        exit: if matches!(end, End::Stopped) { Exit::default() } else { ended.exit },
        timed_out: matches!(end, End::Late),
        ms: i64::try_from(begin.elapsed().as_millis()).unwrap_or(i64::MAX),
        totals: if is_own { reader.totals() } else { None },
        log,
    };
    Ok((test, problems))
}

/// What a test command has come to.
enum End {
    /// It ended by itself.
    Own,
    /// Its time is over.
    Late,
    /// Somebody wants the run to end: whether it would have passed, nobody knows.
    Stopped,
}

/// Waits until it ends or has to.
fn wait(running: &mut Running, late: Instant, stop: &Stop, tick: &mut dyn FnMut()) -> End {
    while !stop.is_asked() {
        tick();
        if let Some(Event::Ended(_)) = running.next(late.min(Instant::now() + TICK)) {
            return End::Own;
        }
        // What ended while this process was stopped had ended in time.
        if Instant::now() >= late {
            return if running.catch_up().is_some() { End::Own } else { End::Late };
        }
    }
    if running.catch_up().is_some() { End::Own } else { End::Stopped }
}

fn shell(plan: &Plan, words: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(words).current_dir(&plan.worktree).stdin(Stdio::null());
    for name in CREDENTIALS {
        command.env_remove(name);
    }
    command.env(VARIABLE, &plan.run_id);
    command
}
