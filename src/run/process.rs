//! A process and everything that it starts, as one thing that is ended whole. Must never signal a process that does not
//! descend from this one or carry the run's mark, nor call anything over while one of them is left.

use std::collections::BTreeSet;
use std::io::{self, PipeReader, Read};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, setsid, wait};

use super::family::{Member, descendants};
use super::output::{Output, Stream};
use crate::domain::run::Exit;

/// How long processes may take to end after they were asked to.
pub const GRACE: Duration = Duration::from_millis(1_500);
/// How long what ends anyway after the harness may take, before it is ended.
const SETTLING: Duration = Duration::from_millis(100);
/// How long what happened while this process was stopped may take to be heard of.
const CATCHING_UP: Duration = Duration::from_millis(500);
/// How long is tried to end processes that the kernel does not end.
const STUBBORN: Duration = Duration::from_secs(10);
/// How often it is looked for processes that were started while others were ended.
const AGAIN: Duration = Duration::from_millis(10);
/// How long an output may stay open after its last process is gone.
const DRAINING: Duration = Duration::from_secs(2);

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The process itself ended; what it started may be left.
    Ended(Exit),
    /// No child of this process is left. On Linux that is everything that descends from it.
    Childless,
    /// One of the two outputs is at its end.
    Closed,
    /// Somebody wants the run to end.
    Stop,
}

/// What is left to say once a process and everything that it started is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// How the process itself ended.
    pub exit: Exit,
    /// How many processes had to be ended.
    pub processes: i64,
    /// What went wrong, a sentence each.
    pub problems: Vec<String>,
}

/// Takes this process out of its terminal and its group, and makes it the parent of what loses its own below it.
pub fn stand_alone() -> io::Result<()> {
    // It fails where this process leads a group already, which is as good.
    let _ = setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(getpid()))?;
    Ok(())
}

/// A process that runs, in a group of its own.
#[derive(Debug)]
pub struct Running {
    leader: Pid,
    mark: String,
    events: Receiver<Event>,
    exit: Option<Exit>,
    is_childless: bool,
    /// How many outputs are not at their end.
    open: usize,
    /// Whom to tell that it is to stop, so that it does not wait for anything else.
    stopper: Sender<Event>,
}

impl Running {
    /// Starts it. `mark` is what its environment holds, as `NAME=value`, where processes cannot be told by their parents.
    ///
    /// One process runs at a time: whatever child of this process ends meanwhile is taken for one of its.
    pub fn start(command: &mut Command, mark: &str, output: &Arc<Output>) -> io::Result<Self> {
        std::os::unix::process::CommandExt::process_group(command, 0);
        let pipes = pipes(command, output.is_one())?;
        let spawned = command.spawn();
        // It holds the other ends of the pipes, which have to close with the process.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let id = i32::try_from(spawned?.id()).map_err(io::Error::other)?;
        let leader = Pid::from_raw(id).ok_or_else(|| io::Error::other("a process without a number"))?;
        let (tell, events) = channel();
        let open = pipes.len();
        for (stream, pipe) in pipes {
            drain(pipe, stream, Arc::clone(output), tell.clone());
        }
        reap(leader, tell.clone());
        let mark = mark.to_owned();
        Ok(Self { leader, mark, events, exit: None, is_childless: false, open, stopper: tell })
    }

    /// Its process group.
    pub fn group(&self) -> i32 {
        self.leader.as_raw_nonzero().get()
    }

    /// Where to send [`Event::Stop`] to.
    pub fn stopper(&self) -> Sender<Event> {
        self.stopper.clone()
    }

    /// Waits for what happens next, at most until then.
    pub fn next(&mut self, until: Instant) -> Option<Event> {
        let event = match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(event) => event,
            // This end holds a sender itself.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        };
        match event {
            Event::Ended(exit) => self.exit = Some(exit),
            Event::Childless => self.is_childless = true,
            Event::Closed => self.open = self.open.saturating_sub(1),
            Event::Stop => {}
        }
        Some(event)
    }

    /// Takes what happened while this process did nothing, as where it was stopped, until the process has ended or nothing
    /// comes any more.
    pub fn catch_up(&mut self) -> Option<Event> {
        loop {
            match self.next(Instant::now() + CATCHING_UP) {
                Some(event @ Event::Ended(_)) => return Some(event),
                Some(_) => {}
                None => return None,
            }
        }
    }

    /// Ends whatever is left of it: asks, waits a little, and kills until nothing is left.
    pub fn end(mut self) -> Ended {
        let mut ended = Ended::default();
        if self.exit.is_some() {
            self.wait(SETTLING, Self::is_gone);
        }
        let mut met = BTreeSet::new();
        self.meet(&mut met);
        if !self.is_gone() {
            self.signal(Signal::TERM);
            // One that is stopped hears it then.
            self.signal(Signal::CONT);
            self.wait(GRACE, Self::is_gone);
            let until = Instant::now() + STUBBORN;
            while !self.is_gone() && Instant::now() < until {
                self.meet(&mut met);
                self.signal(Signal::KILL);
                self.wait(AGAIN, Self::is_gone);
            }
        }
        ended.processes = i64::try_from(met.len()).unwrap_or(i64::MAX);
        if !self.is_gone() {
            let left = self.members().len();
            ended.problems.push(format!("{left} processes could not be ended."));
        }
        self.wait(DRAINING, |running| running.open == 0);
        if self.open > 0 {
            ended
                .problems
                .push("A process outside of the run holds its output open; what comes of it is not kept.".to_owned());
        }
        ended.exit = self.exit.unwrap_or_default();
        ended
    }

    /// True once nothing of it is left.
    fn is_gone(&self) -> bool {
        self.is_childless && (cfg!(target_os = "linux") || self.members().is_empty())
    }

    fn members(&self) -> Vec<Member> {
        descendants(getpid(), &self.mark)
    }

    fn meet(&self, met: &mut BTreeSet<(i32, u64)>) {
        met.extend(self.members().iter().map(|member| (member.id, member.began)));
    }

    /// Waits until something holds, at most that long.
    fn wait(&mut self, most: Duration, holds: impl Fn(&Self) -> bool) {
        let until = Instant::now() + most;
        while !holds(self) && self.next(until).is_some() {}
    }

    /// Sends a signal to the groups of all that is left, and to each of them.
    ///
    /// The kernel signals a group in one step, so that nothing which is forked meanwhile gets away.
    fn signal(&self, signal: Signal) {
        if self.exit.is_none() {
            let _ = kill_process_group(self.leader, signal);
        }
        signal_all(&self.members(), signal);
    }
}

/// Sends a signal to processes and their groups.
pub(super) fn signal_all(members: &[Member], signal: Signal) {
    let own = rustix::process::getpgrp();
    let groups: BTreeSet<i32> = members.iter().map(|member| member.group).collect();
    for group in groups.into_iter().filter_map(Pid::from_raw).filter(|group| *group != own) {
        // What has ended in the meantime cannot be signalled.
        let _ = kill_process_group(group, signal);
    }
    for id in members.iter().filter_map(|member| Pid::from_raw(member.id)) {
        let _ = kill_process(id, signal);
    }
}

/// The pipes of a command's outputs, from where they are read: one where both are one.
fn pipes(command: &mut Command, is_one: bool) -> io::Result<Vec<(Stream, PipeReader)>> {
    let (reader, writer) = io::pipe()?;
    if is_one {
        command.stdout(writer.try_clone()?).stderr(writer);
        return Ok(vec![(Stream::Output, reader)]);
    }
    let (errors, error_writer) = io::pipe()?;
    command.stdout(writer).stderr(error_writer);
    Ok(vec![(Stream::Output, reader), (Stream::Errors, errors)])
}

/// Reads a pipe to its end, whatever comes.
fn drain(mut pipe: PipeReader, stream: Stream, output: Arc<Output>, tell: Sender<Event>) {
    thread::spawn(move || {
        let mut piece = vec![0; 64 * 1024];
        loop {
            match pipe.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => output.take(stream, &piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        output.end(stream);
        // Nobody listens once the run is over.
        let _ = tell.send(Event::Closed);
    });
}

/// Takes the exit of every child, until there is none left.
fn reap(leader: Pid, tell: Sender<Event>) {
    thread::spawn(move || {
        loop {
            match wait(WaitOptions::empty()) {
                Ok(Some((id, status))) if id == leader => {
                    let exit = Exit {
                        code: status.exit_status().map(i64::from),
                        signal: status.terminating_signal().map(i64::from),
                    };
                    let _ = tell.send(Event::Ended(exit));
                }
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
        let _ = tell.send(Event::Childless);
    });
}
