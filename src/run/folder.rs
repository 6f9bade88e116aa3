//! The folder of a run: what was asked for, how far it is, and the report. Every file is written whole or not at all, and
//! a report is on disk before anybody is told of it.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::file;
use crate::client::state::State;
use crate::domain::run::{Outcome, Report};

/// The report's name.
pub const REPORT: &str = "run-report.json";
/// The phase of a run that has no place yet.
pub const WAITING: &str = "waiting";
/// The phase of a run whose harness works.
pub const WORKING: &str = "working";
/// The phase of a run whose test commands run.
pub const TESTING: &str = "testing";
/// The phase of a run whose processes are ended, and that git is asked about.
pub const ENDING: &str = "ending";
/// While there is a report.
pub const OVER: &str = "over";
/// What was asked for.
const PLAN: &str = "run.json";
/// How far it is.
const PROGRESS: &str = "progress.json";

/// What a run is to do, settled before anything is started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The run, a UUID.
    pub run_id: String,
    /// The instance that its project is in.
    pub instance: String,
    /// The project's name.
    pub project: String,
    /// The task that it works on, in full.
    pub task_id: Option<String>,
    /// The version of the task that is in the brief.
    pub task_version: Option<i64>,
    /// The harness by its name.
    pub harness: String,
    /// The model by its name.
    pub model: Option<String>,
    /// The native id of a session that goes on.
    pub resume: Option<String>,
    /// An id for a new session.
    pub session_id: String,
    /// The main working tree.
    pub repository: PathBuf,
    /// Where git keeps the repository.
    pub git_folder: PathBuf,
    /// The folder to work in.
    pub worktree: PathBuf,
    /// True if the run made the worktree, and may take it away.
    pub made_worktree: bool,
    /// The branch.
    pub branch: String,
    /// True if the run made the branch.
    pub made_branch: bool,
    /// The commit that it begins from.
    pub base_commit: String,
    /// The test commands.
    pub tests: Vec<String>,
    /// How long the harness may take, in milliseconds.
    pub timeout_ms: u64,
    /// How long it may be silent, in milliseconds; none for as long as it likes.
    pub silence_ms: Option<u64>,
    /// How long one test command may take, in milliseconds.
    pub test_timeout_ms: u64,
    /// What it may cost, in US dollars.
    pub budget_usd: Option<f64>,
    /// How many runs may work at once, this one among them.
    #[serde(default)]
    pub max: u32,
    /// How much of each output is kept, in bytes.
    pub log_limit: u64,
    /// What was written after the `--`.
    pub extra: Vec<String>,
    /// Who started it.
    pub caller: String,
    /// When, RFC 3339 in UTC.
    pub asked: String,
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// `waiting`, `working`, `testing`, `ending`, `over`.
    pub phase: String,
    /// The watcher's process, and when it began, in the kernel's own units: numbers of processes are used again.
    pub watcher: Option<(u32, u64)>,
    /// The runs that it waits for, while it has no place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// The harness's process group.
    pub group: Option<i32>,
    /// When the harness was started, in microseconds since 1970.
    pub started_micros: i64,
    /// When something last came from it.
    pub active_micros: i64,
    /// Tokens sent and received so far, where known.
    pub tokens: Option<u64>,
    /// US dollars so far, where known.
    pub cost_usd: Option<f64>,
    /// The native id of the session, once known.
    pub native_session_id: Option<String>,
    /// How it ended, once it has.
    pub outcome: Option<Outcome>,
    /// True once the database has the report.
    #[serde(default)]
    pub is_delivered: bool,
    /// What later versions keep here.
    #[serde(flatten)]
    pub more: BTreeMap<String, serde_json::Value>,
}

/// The folder of all runs of this user.
#[derive(Clone, Debug)]
pub struct Runs {
    folder: PathBuf,
}

impl Runs {
    /// Below the folder of the state.
    pub fn of(state: &State) -> Self {
        Self { folder: state.folder().join("runs") }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The folder of one run, which need not exist.
    pub fn run(&self, run_id: &str) -> RunFolder {
        RunFolder { folder: self.folder.join(run_id) }
    }

    /// The folders of all runs that have a plan, by id.
    pub fn all(&self) -> io::Result<Vec<RunFolder>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut folders = Vec::new();
        for entry in entries {
            let entry = entry?;
            let folder = entry.path();
            let run = RunFolder { folder };
            let has_plan = || file::is_regular(&run.folder.join(PLAN)) || file::is_regular(&run.second_plan());
            if entry.file_type().is_ok_and(|found| found.is_dir()) && has_plan() {
                folders.push(run);
            }
        }
        folders.sort_by(|one, other| one.folder.cmp(&other.folder));
        Ok(folders)
    }
}

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    folder: PathBuf,
}

/// What makes folders, and those above them, for this user alone.
pub(super) fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

impl RunFolder {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// All runs that have their folders beside it, itself among them.
    pub fn siblings(&self) -> Runs {
        Runs { folder: self.folder.parent().unwrap_or(&self.folder).to_owned() }
    }

    /// Makes it, for this user alone.
    pub fn make(&self) -> io::Result<()> {
        file::make_folder(&self.folder)
    }

    /// Makes a file in it, in the place of whatever has that name.
    pub fn create(&self, name: &str) -> io::Result<File> {
        file::create(&self.folder.join(name))
    }

    /// The plan; the second one, where a harness took the one in its folder away.
    pub fn plan(&self) -> io::Result<Plan> {
        self.own_plan().or_else(|error| {
            let second = file::read(&self.second_plan()).map_err(|_| error)?;
            serde_json::from_slice(&second).map_err(io::Error::other)
        })
    }

    /// The plan in its own folder.
    pub fn own_plan(&self) -> io::Result<Plan> {
        self.read(PLAN)
    }

    /// Writes the plan, and a second one elsewhere: without a plan a run whose watcher was killed could not be reported on.
    pub fn write_plan(&self, plan: &Plan) -> io::Result<()> {
        let second = self.second_plan();
        if let Some(folder) = second.parent() {
            file::make_folder(folder)?;
        }
        serde_json::to_writer(file::create(&second)?, plan).map_err(io::Error::other)?;
        self.write(PLAN, plan)
    }

    /// Takes the second plan away, once there is a report.
    pub fn remove_second_plan(&self) {
        // One that is not there is none.
        let _ = fs::remove_file(self.second_plan());
    }

    fn second_plan(&self) -> PathBuf {
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        self.siblings().folder.with_file_name("plans").join(format!("{name}.json"))
    }

    /// How far the run is.
    pub fn progress(&self) -> io::Result<Progress> {
        self.read(PROGRESS)
    }

    /// True where it is written down how far the run is, in a folder that is none of another name.
    pub fn has_progress(&self) -> bool {
        self.folder.symlink_metadata().is_ok_and(|found| found.is_dir())
            && file::is_regular(&self.folder.join(PROGRESS))
    }

    /// Writes how far the run is.
    pub fn write_progress(&self, progress: &Progress) -> io::Result<()> {
        self.write(PROGRESS, progress)
    }

    /// The report; an error of the kind `NotFound` where there is none yet.
    pub fn report(&self) -> io::Result<Report> {
        self.read(REPORT)
    }

    /// True once there is one. What cannot be read is none, nor is that of another run, nor what stands there while the
    /// harness still works or the tests do: whoever writes one says before that the run is ending.
    pub fn is_reported(&self) -> bool {
        let is_ending = self.progress().map_or(true, |progress| [ENDING, OVER].contains(&progress.phase.as_str()));
        is_ending
            && self.report().is_ok_and(|report| self.folder.file_name().is_some_and(|name| *name == *report.run_id))
    }

    /// Writes the report, and is sure that it is on disk.
    pub fn write_report(&self, report: &Report) -> io::Result<()> {
        self.write(REPORT, report)
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<T> {
        let text = file::read(&self.folder.join(name))?;
        serde_json::from_slice(&text).map_err(io::Error::other)
    }

    fn write<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        let (whole, part) = (self.folder.join(name), format!("{name}.part"));
        // A harness can do what its user can: what it took away or put in the way keeps no report from being written.
        self.make()?;
        if whole.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            fs::remove_dir_all(&whole)?;
        }
        let mut file = self.create(&part)?;
        let mut text = serde_json::to_vec_pretty(value)?;
        text.push(b'\n');
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(self.folder.join(part), &whole)?;
        File::open(&self.folder)?.sync_all()
    }
}
