//! The options of a client's command line: ours, and after them those of whoever asks for the run. Theirs win: what they
//! say too is left out of ours, because some clients refuse an option that comes twice. Must never let them take away what
//! a run lives from, such as the stream of events: that is refused.

use std::ffi::OsString;

use crate::client::harness::{Input, Launch, Wanted};
use crate::domain::text::quoted;
use crate::error::{Refusal, Result};

/// A command line that is being put together.
pub(super) struct Options<'w> {
    extra: &'w [String],
    ours: Vec<OsString>,
    problems: Vec<String>,
}

impl<'w> Options<'w> {
    /// None of ours yet, and all of theirs.
    pub(super) fn new(extra: &'w [String]) -> Self {
        Self { extra, ours: Vec::new(), problems: Vec::new() }
    }

    /// True if theirs have one of these options.
    pub(super) fn theirs(&self, names: &[&str]) -> bool {
        self.extra.iter().any(|argument| names.iter().any(|name| is_option(argument, name)))
    }

    /// One of ours.
    pub(super) fn add(&mut self, argument: impl Into<OsString>) {
        self.ours.push(argument.into());
    }

    /// One of ours, unless theirs have one of these.
    pub(super) fn add_unless(&mut self, names: &[&str], argument: impl Into<OsString>) {
        if !self.theirs(names) {
            self.add(argument);
        }
    }

    /// Refuses the options that belong to the run, each with what is to be done instead.
    pub(super) fn refuse(&mut self, all: &[Refused]) {
        for Refused { names, instead } in all {
            for argument in self.extra.iter().filter(|argument| names.iter().any(|name| is_option(argument, name))) {
                self.problems.push(format!("{} after the -- cannot be: {instead}", quoted(argument, 60)));
            }
        }
    }

    /// One more reason why there is no command.
    pub(super) fn problem(&mut self, problem: String) {
        self.problems.push(problem);
    }

    /// All of them in their order, theirs behind ours.
    pub(super) fn finish(self) -> Result<Vec<OsString>> {
        if !self.problems.is_empty() {
            return Err(Refusal::argument(self.problems.join("; ")));
        }
        let theirs = self.extra.iter().map(OsString::from);
        Ok(self.ours.into_iter().chain(theirs).collect())
    }

    /// The command of a client that takes an id for a new session.
    pub(super) fn launch_with_id(mut self, program: &str, wanted: &Wanted<'_>) -> Result<Launch> {
        let (option, id) = match wanted.resume {
            Some(id) => ("--resume", id),
            None => ("--session-id", wanted.session_id),
        };
        self.add(format!("{option}={id}"));
        Ok(Launch::of(program, self.finish()?, Some(id)))
    }
}

impl Launch {
    /// A client that reads the brief.
    pub(super) fn of(program: &str, arguments: Vec<OsString>, session_id: Option<&str>) -> Self {
        Self {
            program: program.into(),
            arguments,
            environment: Vec::new(),
            input: Input::Brief,
            session_id: session_id.map(str::to_owned),
        }
    }
}

/// True if an argument is that option: `--model`, `--model=x`, `-m`, `-mx`.
fn is_option(argument: &str, name: &str) -> bool {
    match argument.strip_prefix(name) {
        None => false,
        Some(rest) if name.starts_with("--") => rest.is_empty() || rest.starts_with('='),
        Some(_) => !argument.starts_with("--"),
    }
}

/// Options that belong to the run itself.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// What they are called.
    pub names: &'static [&'static str],
    /// What is to be done instead.
    pub instead: &'static str,
}

impl Refused {
    /// The run says which session goes on.
    pub(super) const fn by_resume(names: &'static [&'static str]) -> Self {
        Self { names, instead: "a session goes on with --resume of the run" }
    }

    /// What it prints has to be read.
    pub(super) const fn by_stream(names: &'static [&'static str]) -> Self {
        Self { names, instead: "the run reads the events that it prints" }
    }

    /// Where it works is the run's.
    pub(super) const fn by_worktree(names: &'static [&'static str]) -> Self {
        Self { names, instead: "the run has a worktree of its own, which --worktree names" }
    }

    /// What it is asked is the brief.
    pub(super) const fn by_brief(names: &'static [&'static str]) -> Self {
        Self { names, instead: "the run's brief is what it is asked" }
    }
}
