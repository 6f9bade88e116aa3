//! Coding clients without a person: how each is started for one brief, and what it prints while it works. Must never
//! start anything itself, and never take what a harness says of its own success for a fact.

mod claude_code;
mod codex;
mod copilot;
mod events;
mod gemini;
mod meter;
mod opencode;
mod options;
mod servers;
mod version;

use std::ffi::OsString;
use std::path::Path;

use crate::client::Client;
use crate::client::transcript::Environment;
use crate::domain::run::{Denied, Exit};
use crate::economics::session::Usage;
use crate::error::{Refusal, Result};

pub use meter::{Meter, Place, Spent, Variable};
pub use options::Refused;
pub use version::version;

/// Who works in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harness {
    /// A coding client, one of those that can run without a person.
    Client(Client),
    /// Any command: what follows the `--`.
    Command,
}

impl Harness {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Client(Client::ClaudeCode),
        Self::Client(Client::Codex),
        Self::Client(Client::Gemini),
        Self::Client(Client::OpenCode),
        Self::Client(Client::Copilot),
        Self::Command,
    ];

    /// Its name on the command line; also the harness in a `session_ref`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client(client) => client.name(),
            Self::Command => "command",
        }
    }

    /// The harness of that name.
    pub fn named(name: &str) -> Result<Self> {
        let name = if name == "claude" { Client::ClaudeCode.name() } else { name };
        Self::ALL.into_iter().find(|harness| harness.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            let given = crate::domain::text::quoted(name, 40);
            Refusal::argument(format!("there is no harness {given}; known are {names}"))
        })
    }
}

/// What a harness is to be started for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The file that holds the brief.
    pub brief: &'a Path,
    /// What it holds.
    pub text: &'a str,
    /// The folder to work in.
    pub worktree: &'a Path,
    /// The folder in which git keeps the repository: commits are written there, outside of the worktree.
    pub git_folder: &'a Path,
    /// The model by its name.
    pub model: Option<&'a str>,
    /// The native id of a session that goes on.
    pub resume: Option<&'a str>,
    /// An id for a new session, where the harness lets us choose it.
    pub session_id: &'a str,
    /// What it may cost, in US dollars.
    pub budget: Option<f64>,
    /// What its user wrote after the `--`: of a command all of it, of a client what is added.
    pub extra: &'a [String],
}

/// What standard input is. It always ends: there is nobody to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Nothing.
    Closed,
    /// The brief's file.
    Brief,
}

/// A command to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program, looked for in `PATH` unless it is a path.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables that are set over its environment.
    pub environment: Vec<(String, OsString)>,
    /// What it reads.
    pub input: Input,
    /// The native id of its session, where it is known before it begins.
    pub session_id: Option<String>,
}

/// What a harness told while it worked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// The native id of its session.
    pub session_id: Option<String>,
    /// The harness's version.
    pub version: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The model's last message.
    pub final_message: Option<String>,
    /// Tools that were refused.
    pub denied: Vec<Denied>,
    /// Errors that it told, at most 20.
    pub errors: Vec<String>,
    /// True if it said that its model could not be reached or did not answer, whatever its exit code is.
    pub model_failed: bool,
    /// What it said where it ended itself because of what it cost, as it was asked to.
    pub over_budget: Option<String>,
    /// True if it came to an end of its own: the last event that it prints when it works.
    pub is_complete: bool,
    /// The tokens of this run, where it tells them.
    pub usage: Option<Usage>,
    /// What this run cost as it says; none where it tells the sum of a session that had begun before.
    pub cost_usd: Option<f64>,
    /// Lines that should have been JSON and are none.
    pub broken_lines: u64,
}

/// The command for a harness, as this process's environment has the client set up; every reason at once why there is
/// none.
pub fn launch(harness: Harness, wanted: &Wanted<'_>) -> Result<Launch> {
    let variable = |name: &str| std::env::var(name).ok();
    let home = etcetera::home_dir().ok();
    launch_in(harness, wanted, &Environment { folder: wanted.worktree.to_owned(), home, variable: &variable })
}

/// The same, for a client that is set up as that environment says.
pub fn launch_in(harness: Harness, wanted: &Wanted<'_>, environment: &Environment<'_>) -> Result<Launch> {
    match harness {
        Harness::Command => command(wanted),
        Harness::Client(Client::ClaudeCode) => claude_code::launch(wanted),
        Harness::Client(Client::Codex) => codex::launch(wanted, environment),
        Harness::Client(Client::Gemini) => gemini::launch(wanted),
        Harness::Client(Client::OpenCode) => opencode::launch(wanted, environment),
        Harness::Client(Client::Copilot) => copilot::launch(wanted, environment),
        Harness::Client(client) => Err(Refusal::argument(format!("{} does not run without a person", client.title()))),
    }
}

/// What may not be given to a harness after the `--`, because the run says it itself.
pub fn refused(harness: Harness) -> &'static [Refused] {
    match harness {
        Harness::Client(Client::ClaudeCode) => &claude_code::REFUSED,
        Harness::Client(Client::Codex) => &codex::REFUSED,
        Harness::Client(Client::Gemini) => &gemini::REFUSED,
        Harness::Client(Client::OpenCode) => &opencode::REFUSED,
        Harness::Client(Client::Copilot) => &copilot::REFUSED,
        Harness::Client(_) | Harness::Command => &[],
    }
}

/// What its user wrote, with the brief's file in `HEYAIRA_RUN_BRIEF`.
fn command(wanted: &Wanted<'_>) -> Result<Launch> {
    let Some((program, arguments)) = wanted.extra.split_first() else {
        return Err(Refusal::argument("the command is missing: write it after --, e.g. -- make lint"));
    };
    let refused = [
        ("--model", wanted.model.is_some()),
        ("--resume", wanted.resume.is_some()),
        ("--budget", wanted.budget.is_some()),
    ];
    let refused: Vec<&str> = refused.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag).collect();
    if !refused.is_empty() {
        let flags = refused.join(", ");
        return Err(Refusal::argument(format!("{flags}: a command has no model and tells no cost; leave it out")));
    }
    Ok(Launch {
        program: program.into(),
        arguments: arguments.iter().map(OsString::from).collect(),
        environment: Vec::new(),
        input: Input::Closed,
        session_id: None,
    })
}

/// Takes what a harness prints on its standard output, line by line.
#[derive(Debug)]
pub struct Reader {
    harness: Harness,
    told: Told,
    events: events::Events,
}

impl Reader {
    /// For a run of that harness; `resumes` where its session had begun before.
    pub fn new(harness: Harness, resumes: bool) -> Self {
        let told = Told { is_complete: harness == Harness::Command, ..Told::default() };
        Self { harness, told, events: events::Events::new(resumes) }
    }

    /// One line without its end. One that is too long to be kept comes as nothing but its beginning.
    pub fn line(&mut self, line: &[u8]) {
        let Harness::Client(client) = self.harness else {
            return;
        };
        match client {
            Client::ClaudeCode => self.events.take(line, &mut self.told, claude_code::take),
            Client::Codex => self.events.take(line, &mut self.told, codex::take),
            Client::Gemini => self.events.take(line, &mut self.told, gemini::take),
            Client::OpenCode => self.events.take(line, &mut self.told, opencode::take),
            Client::Copilot => self.events.take(line, &mut self.told, copilot::take),
            _ => {}
        }
    }

    /// One line of its standard error without its end. One that is too long to be kept comes as its beginning.
    pub fn error_line(&mut self, line: &[u8]) {
        if let Harness::Client(client) = self.harness {
            let text = self.events.complaint(line);
            if client == Client::Codex {
                codex::refused(&text, &mut self.events, &mut self.told);
            }
        }
    }

    /// What was told so far.
    pub fn told(&self) -> &Told {
        &self.told
    }

    /// What was told in all, once the process has ended that way.
    pub fn ended(self, exit: Exit) -> Told {
        let Self { harness, mut told, events } = self;
        match harness {
            Harness::Client(Client::Gemini) => gemini::ended(exit, &mut told),
            Harness::Client(Client::OpenCode) => opencode::ended(exit, &events, &mut told),
            _ => {}
        }
        events.ended(exit, &mut told);
        told
    }
}
