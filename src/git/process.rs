//! A process that must end in time. Must never wait for one that was ended, nor keep more than was asked for.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// How much of standard error is kept.
const ERRORS: u64 = 4_096;
/// How often a process that has said everything is asked whether it has ended.
const ASKED_AGAIN: Duration = Duration::from_millis(2);

/// How a process ended.
pub(crate) struct Ended {
    /// Its exit code; -1 if it was ended by a signal.
    pub(crate) code: i32,
    /// The beginning of its standard error.
    pub(crate) err: String,
}

/// Runs a process whose outputs are piped; `take` sees its output as it comes, and says whether it wants more.
///
/// An error of the kind `TimedOut` where it did not end until then, `FileTooLarge` where `take` wanted no more.
pub(crate) fn run(command: Command, input: &str, until: Instant, take: &mut dyn FnMut(&[u8]) -> bool) -> Result<Ended> {
    run_ending(command, input, until, take, |_| ())
}

/// The same in a process group of its own, which is ended whole where it must be: what it started goes with it.
pub(crate) fn run_group(command: Command, until: Instant, take: &mut dyn FnMut(&[u8]) -> bool) -> Result<Ended> {
    run_ending(of_group(command), "", until, take, end_group)
}

#[cfg(unix)]
fn of_group(mut command: Command) -> Command {
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

#[cfg(not(unix))]
fn of_group(command: Command) -> Command {
    command
}

#[cfg(unix)]
fn end_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may be gone already.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end_group(_child: &Child) {}

fn run_ending(
    mut command: Command,
    input: &str,
    until: Instant,
    take: &mut dyn FnMut(&[u8]) -> bool,
    end_others: impl FnOnce(&Child),
) -> Result<Ended> {
    if !input.is_empty() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn()?;
    let ended = follow(&mut child, input, until, take);
    if ended.is_err() {
        end_others(&child);
        // It may have ended by itself in the meantime.
        let _ = child.kill();
        let _ = child.wait();
    }
    ended
}

fn follow(child: &mut Child, input: &str, until: Instant, take: &mut dyn FnMut(&[u8]) -> bool) -> Result<Ended> {
    if let Some(mut pipe) = child.stdin.take() {
        // It is a few lines, which a pipe holds. Whoever does not read them says so by its exit code.
        let _ = pipe.write_all(input.as_bytes());
    }
    let output = child.stdout.take().map(read);
    let errors = child.stderr.take().map(read_beginning);
    let late = || Error::new(ErrorKind::TimedOut, "it took too long");
    let next = |from: &Option<Receiver<Vec<u8>>>| match from {
        None => Ok(None),
        Some(from) => match from.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(late()),
        },
    };
    while let Some(bytes) = next(&output)? {
        if !take(&bytes) {
            return Err(Error::new(ErrorKind::FileTooLarge, "it says too much"));
        }
    }
    let mut err = Vec::new();
    while let Some(bytes) = next(&errors)? {
        err.extend(bytes);
    }
    loop {
        if let Some(status) = child.try_wait()? {
            let err = String::from_utf8_lossy(&err).into_owned();
            return Ok(Ended { code: status.code().unwrap_or(-1), err });
        }
        if Instant::now() > until {
            return Err(late());
        }
        thread::sleep(ASKED_AGAIN);
    }
}

/// The beginning of what a pipe brings, once it has brought everything: a full pipe would stop who writes into it.
fn read_beginning(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (tell, told) = sync_channel(1);
    thread::spawn(move || {
        let mut kept = Vec::new();
        let read = pipe.by_ref().take(ERRORS).read_to_end(&mut kept);
        let _ = read.and_then(|_| std::io::copy(&mut pipe, &mut std::io::sink()));
        // Nobody listens any more where the process was ended.
        let _ = tell.send(kept);
    });
    told
}

/// What a pipe brings, piece by piece. Its thread ends with the pipe, or once nobody listens.
pub(crate) fn read(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (tell, told) = sync_channel(4);
    thread::spawn(move || {
        let mut piece = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = pipe.read(&mut piece) {
            if tell.send(piece[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    told
}
