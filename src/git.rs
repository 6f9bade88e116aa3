//! The git program, asked about a repository that nobody vouches for. Must never run what the repository names, never
//! write into it, never wait for an answer of a person or a network, and never outlast its time.
//!
//! What a repository's configuration can have git run is set aside by ours, which git takes over its own: monitors,
//! hooks, and one by one the filters that it names. Logs and aliases, which can run more, are not asked for, and a
//! difference only between two commits, by the command that runs nothing. [`worktree`] alone writes, by rules of its own.

pub mod inside;
pub mod left;
pub mod look;
pub(crate) mod process;
pub mod record;
pub mod since;
pub mod worktree;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use process::Ended;

/// The oldest git that is asked: from here on it takes settings that no name can break out of.
const OLDEST: [u32; 2] = [2, 31];
/// How much an answer may have where all of it is kept.
const KEPT: usize = 1024 * 1024;
/// Which part of the whole time one question may take, so that others get an answer beside a slow one.
const QUESTION: u32 = 3;

/// What git takes over from a person's environment: where its programs and the person's own settings are.
const TAKEN: [&str; 10] = [
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "TMPDIR",
    "USERPROFILE",
    "SYSTEMROOT",
    "TEMP",
];

/// What git is told by its environment. No protocol may be used, so that nothing is fetched that is missing.
const TOLD: [(&str, &str); 12] = [
    ("LC_ALL", "C"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", ":"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
];

/// What git is told over the repository's configuration.
const SET: [(&str, &str); 10] = [
    ("core.fsmonitor", ""),
    ("core.hooksPath", "/dev/null"),
    ("core.untrackedCache", "false"),
    ("core.askPass", ""),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("status.submoduleSummary", "false"),
];

/// Why git did not answer.
#[derive(Debug)]
pub enum Failure {
    /// There is no such program.
    Absent,
    /// It is older than this.
    Old(String),
    /// It took too long.
    Late(String),
    /// It ended with an error: its code and its first words.
    Failed(Option<i32>, String),
}

/// What git said.
#[derive(Debug, Default)]
pub struct Said {
    /// Its exit code; 0 and 1 are answers.
    pub code: i32,
    /// Its standard output.
    pub out: String,
    /// The beginning of its standard error.
    pub err: String,
}

/// Git in one folder.
#[derive(Clone)]
pub struct Git {
    program: PathBuf,
    path: OsString,
    folder: PathBuf,
    /// Settings over those of the repository.
    set: Vec<(String, String)>,
    until: Instant,
    /// How long one question may take.
    question: Duration,
}

impl Git {
    /// The program that `path` leads to, for a folder, and its version.
    pub fn find(path: &OsStr, folder: &Path, until: Instant) -> Result<(Self, String), Failure> {
        // A folder that is not named from the root is another one in every repository, and may be the repository's own.
        let folders: Vec<PathBuf> = std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect();
        let name = format!("git{}", std::env::consts::EXE_SUFFIX);
        let program = folders.iter().map(|folder| folder.join(&name)).find(|file| file.is_file());
        let program = program.ok_or(Failure::Absent)?;
        let path = std::env::join_paths(folders).unwrap_or_default();
        let set = SET.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let question = until.saturating_duration_since(Instant::now()) / QUESTION;
        let git = Self { program, path, folder: folder.to_owned(), set, until, question };
        let said = git.ask(&["version"])?;
        let version = said.out.trim().trim_start_matches("git version ").to_owned();
        let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
        let found = [numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()];
        if found < OLDEST { Err(Failure::Old(version)) } else { Ok((git, version)) }
    }

    /// The same git in another folder, without what was set aside for this one.
    #[must_use]
    fn at(&self, folder: PathBuf) -> Self {
        Self { folder, set: self.set[..SET.len()].to_vec(), ..self.clone() }
    }

    /// Sets something over the repository's configuration.
    fn set(&mut self, name: String, value: &str) {
        self.set.push((name, value.to_owned()));
    }

    /// Asks; 0 and 1 are answers, everything else is a failure.
    pub fn ask(&self, words: &[&str]) -> Result<Said, Failure> {
        self.ask_with(words, "")
    }

    /// Asks, with something on standard input.
    fn ask_with(&self, words: &[&str], input: &str) -> Result<Said, Failure> {
        let mut kept = Vec::new();
        let ended = self.run(words, input, &mut |bytes| {
            kept.extend_from_slice(bytes);
            kept.len() <= KEPT
        })?;
        let out = String::from_utf8_lossy(&kept).into_owned();
        Ok(Said { code: ended.code, out, err: ended.err })
    }

    /// Asks for records that end with a NUL, however many there are; each is seen once and none is kept.
    fn ask_each(&self, words: &[&str], each: impl FnMut(&[u8])) -> Result<(), Failure> {
        self.ask_each_warned(words, each).map(drop)
    }

    /// The same, with the beginning of what git said beside its answer: an answer may have holes that only this tells.
    fn ask_each_warned(&self, words: &[&str], mut each: impl FnMut(&[u8])) -> Result<String, Failure> {
        let mut rest: Vec<u8> = Vec::new();
        let ended = self.run(words, "", &mut |bytes| {
            rest.extend_from_slice(bytes);
            let mut start = 0;
            while let Some(length) = rest[start..].iter().position(|byte| *byte == 0) {
                each(&rest[start..start + length]);
                start += length + 1;
            }
            rest.drain(..start);
            rest.len() <= KEPT
        })?;
        if ended.code == 0 { Ok(ended.err) } else { Err(Failure::Failed(Some(ended.code), ended.err)) }
    }

    fn run(&self, words: &[&str], input: &str, take: &mut dyn FnMut(&[u8]) -> bool) -> Result<Ended, Failure> {
        let what = format!("git {}", words.first().copied().unwrap_or_default());
        let until = self.until.min(Instant::now() + self.question);
        let ended = process::run(self.command(words), input, until, take);
        let ended = ended.map_err(|error| match error.kind() {
            std::io::ErrorKind::TimedOut => Failure::Late(what.clone()),
            std::io::ErrorKind::FileTooLarge => Failure::Failed(None, format!("{what} answers too much")),
            _ => Failure::Failed(None, format!("{what} cannot be run: {error}")),
        })?;
        if matches!(ended.code, 0 | 1) { Ok(ended) } else { Err(Failure::Failed(Some(ended.code), ended.err)) }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("PATH", &self.path).envs(TOLD);
        command.envs(TAKEN.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))));
        command.env("GIT_CONFIG_COUNT", self.set.len().to_string());
        for (place, (name, value)) in self.set.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{place}"), name).env(format!("GIT_CONFIG_VALUE_{place}"), value);
        }
        command.arg("-C").arg(&self.folder).arg("--no-pager").args(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}
