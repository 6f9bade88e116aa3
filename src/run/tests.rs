//! The test commands of a run, after its harness is gone: each whole, in the worktree, with its own log and time. Must never
//! leave a process behind, nor hand a credential of ours to a command.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::folder::{Plan, RunFolder};
use super::totals::Reader;
use crate::domain::run::{Exit, Log, Test};

/// How often a command is looked after while it says nothing.
const AGAIN: Duration = Duration::from_millis(20);
/// How long what it left running may take to end after it was asked to.
const GRACE: Duration = Duration::from_millis(1_500);
/// How long its output may stay open after its processes were ended.
const DRAINED: Duration = Duration::from_secs(2);
/// The most that is kept of an output's end.
const END: usize = 1024 * 1024;
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
            Ok(test) => tests.push(test),
            Err(error) => {
                problems.push(format!("Test command {} could not be run: {error}.", place + 1));
                tests.push(Test { command: command.clone(), ..Test::default() });
            }
        }
    }
    (tests, problems)
}

fn one(plan: &Plan, command: &str, log: &Path, is_stopped: &dyn Fn() -> bool) -> io::Result<Test> {
    let mut reader = Reader::default();
    let mut kept = Kept::new(log, plan.log_limit)?;
    let begin = Instant::now();
    let until = begin + Duration::from_millis(plan.test_timeout_ms);
    let ended = whole(shell(plan, command), until, is_stopped, &mut |bytes| {
        reader.take(bytes);
        kept.take(bytes)
    })?;
    Ok(Test {
        command: command.to_owned(),
        exit: ended.exit,
        timed_out: ended.timed_out,
        ms: i64::try_from(begin.elapsed().as_millis()).unwrap_or(i64::MAX),
        totals: if ended.timed_out { None } else { reader.totals() },
        log: kept.close(log)?,
    })
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
    take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Ended> {
    let (reader, writer) = io::pipe()?;
    command.stdout(OwnedFd::from(writer.try_clone()?)).stderr(OwnedFd::from(writer));
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    // It holds the other end of the pipe, which has to close.
    drop(command);
    let output = pieces(reader);
    let mut failed = None;
    let mut keep = |bytes: &[u8]| {
        failed = failed.take().or_else(|| take(bytes).err());
    };
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() >= until || is_stopped() {
            break None;
        }
        match output.recv_timeout(AGAIN) {
            Ok(bytes) => keep(&bytes),
            Err(RecvTimeoutError::Timeout) => {}
            // It closed its output and goes on.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(AGAIN),
        }
    };
    end_group(&mut child, status.is_some(), &output, &mut keep)?;
    let drained = Instant::now() + DRAINED;
    while let Ok(bytes) = output.recv_timeout(drained.saturating_duration_since(Instant::now())) {
        keep(&bytes);
    }
    let timed_out = status.is_none() && Instant::now() >= until;
    let exit = exit(status.map_or_else(|| child.wait(), Ok)?);
    failed.map_or(Ok(Ended { exit, timed_out }), Err)
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

/// What a pipe brings, piece by piece. Its thread ends with the pipe, or once nobody listens.
fn pieces(mut pipe: io::PipeReader) -> Receiver<Vec<u8>> {
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

/// An output in a file: its beginning, and its end where it is longer than it may be.
struct Kept {
    file: std::fs::File,
    limit: u64,
    beginning: u64,
    end: Vec<u8>,
    bytes: u64,
}

impl Kept {
    fn new(path: &Path, limit: u64) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self { file: options.open(path)?, limit, beginning: 0, end: Vec::new(), bytes: 0 })
    }

    /// How much of the end is kept.
    fn end_limit(&self) -> usize {
        usize::try_from(self.limit / 2).unwrap_or(usize::MAX).min(END)
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        let room = self.limit - self.end_limit() as u64 - self.beginning;
        let now = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.file.write_all(&bytes[..now])?;
        self.beginning += now as u64;
        self.end.extend_from_slice(&bytes[now..]);
        // Not with every piece: what is taken from its front moves all the rest.
        if self.end.len() > 2 * self.end_limit() + 64 * 1024 {
            self.end.drain(..self.end.len() - self.end_limit());
        }
        Ok(())
    }

    fn close(mut self, path: &Path) -> io::Result<Log> {
        let end = &self.end[self.end.len().saturating_sub(self.end_limit())..];
        let left_out = self.bytes - self.beginning - end.len() as u64;
        if left_out > 0 {
            writeln!(self.file, "\n[{left_out} bytes are left out here]")?;
        }
        self.file.write_all(end)?;
        let number = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        Ok(Log { path: path.display().to_string(), bytes: number(self.bytes), left_out: number(left_out) })
    }
}
