//! The test commands of a run, after its harness is gone: each whole, in the worktree, with its own log and time. Must never
//! leave a process behind, nor hand a credential of ours to a command.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::folder::{Plan, RunFolder};
use super::log::BoundedLog;
use super::process::GRACE;
use super::totals::Reader;
use crate::domain::run::{Exit, Test};
use crate::git::process;

/// How often a command is looked after while it says nothing.
const AGAIN: Duration = Duration::from_millis(20);
/// How long its output may stay open after its processes were ended.
const DRAINED: Duration = Duration::from_secs(2);
/// What a command does not get: it is the work of a harness that has no credential either.
const CREDENTIALS: [&str; 3] = ["HEYAIRA_TOKEN", "HEYAIRA_DATABASE", "HEYAIRA_WRITE_CONTEXT"];

/// Runs the test commands in their order. `is_stopped` is asked between and while; what was not run then is not told.
pub fn run(plan: &Plan, folder: &RunFolder, is_stopped: &dyn Fn() -> bool) -> (Vec<Test>, Vec<String>) {
    let (mut tests, mut problems) = (Vec::new(), Vec::new());
    for (place, command) in plan.tests.iter().enumerate() {
        if is_stopped() {
            problems.push(format!("{} test commands were not run: the run was stopped.", plan.tests.len() - place));
            break;
        }
        let log = folder.path().join(format!("test-{}.log", place + 1));
        match one(plan, command, &log, is_stopped) {
            Ok((test, told)) => {
                tests.push(test);
                problems.extend(told);
            }
            Err(error) => {
                problems.push(format!("Test command {} could not be run: {error}.", place + 1));
                tests.push(Test { command: command.clone(), ..Test::default() });
            }
        }
    }
    (tests, problems)
}

fn one(plan: &Plan, command: &str, log: &Path, is_stopped: &dyn Fn() -> bool) -> io::Result<(Test, Vec<String>)> {
    let mut reader = Reader::default();
    let mut kept = BoundedLog::new(log.to_owned(), plan.log_limit);
    let begin = Instant::now();
    let until = begin + Duration::from_millis(plan.test_timeout_ms);
    let ended = whole(shell(plan, command), until, is_stopped, &mut |bytes| {
        reader.take(bytes);
        kept.write(bytes);
    })?;
    let (log, problems) = kept.close();
    let test = Test {
        command: command.to_owned(),
        exit: ended.exit,
        timed_out: ended.timed_out,
        ms: i64::try_from(begin.elapsed().as_millis()).unwrap_or(i64::MAX),
        totals: if ended.timed_out { None } else { reader.totals() },
        log,
    };
    Ok((test, problems))
}

fn shell(plan: &Plan, words: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(words).current_dir(&plan.worktree).stdin(Stdio::null());
    for name in CREDENTIALS {
        command.env_remove(name);
    }
    command.env("HEYAIRA_RUN", &plan.run_id);
    command
}

/// How a command ended.
struct Ended {
    exit: Exit,
    timed_out: bool,
}

/// Runs a command in a group of its own, both its outputs in one, and ends what it leaves running.
fn whole(
    mut command: Command,
    until: Instant,
    is_stopped: &dyn Fn() -> bool,
    take: &mut dyn FnMut(&[u8]),
) -> io::Result<Ended> {
    let (reader, writer) = io::pipe()?;
    command.stdout(OwnedFd::from(writer.try_clone()?)).stderr(OwnedFd::from(writer));
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    // It holds the other end of the pipe, which has to close.
    drop(command);
    let output = process::read(reader);
    let mut timed_out = false;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        timed_out = Instant::now() >= until;
        if timed_out || is_stopped() {
            break None;
        }
        match output.recv_timeout(AGAIN) {
            Ok(bytes) => take(&bytes),
            Err(RecvTimeoutError::Timeout) => {}
            // It closed its output and goes on.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(AGAIN),
        }
    };
    end_group(&mut child, status.is_some(), &output, take)?;
    let drained = Instant::now() + DRAINED;
    while let Ok(bytes) = output.recv_timeout(drained.saturating_duration_since(Instant::now())) {
        take(&bytes);
    }
    let exit = exit(status.map_or_else(|| child.wait(), Ok)?);
    Ok(Ended { exit, timed_out })
}

/// Asks the group to end, waits a little, and kills what is left of it.
fn end_group(
    child: &mut Child,
    has_ended: bool,
    output: &Receiver<Vec<u8>>,
    keep: &mut dyn FnMut(&[u8]),
) -> io::Result<()> {
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
    let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return Ok(()) };
    // What is gone cannot be signalled.
    let _ = kill_process_group(group, Signal::TERM);
    let until = Instant::now() + GRACE;
    let mut is_gone = has_ended;
    while Instant::now() < until && !(is_gone && test_kill_process_group(group).is_err()) {
        is_gone = is_gone || child.try_wait()?.is_some();
        if let Ok(bytes) = output.recv_timeout(AGAIN) {
            keep(&bytes);
        }
    }
    let _ = kill_process_group(group, Signal::KILL);
    Ok(())
}

fn exit(status: ExitStatus) -> Exit {
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    Exit { code: status.code().map(i64::from), signal: signal.map(i64::from) }
}
