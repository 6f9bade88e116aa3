//! An unattended run and its report: how it ended, and what a machine saw of it. Must never hold a word of the harness or its
//! model outside of [`Said`]: what they claim is no fact.

pub mod brief;
pub mod check;
mod handoff;
mod mask;
pub mod outcome;
mod problems;
mod receipt;
mod shown;
mod speech;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{session, task};

pub use handoff::Handoff;

/// Which format a report has; another one is refused.
pub const SCHEMA: &str = "heyaira.run-report";
/// The format's version. A field that is added does not change it, one that is taken away or means something else does.
pub const SCHEMA_VERSION: i64 = 1;

/// The JSON Schema of a report.
pub fn schema() -> serde_json::Value {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.into_generator().into_root_schema_for::<Report>().to_value()
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Outcome {
    /// The harness ended well, something changed, and every test command passed.
    Succeeded,
    /// The harness ended well, and nothing changed: no commit and no file.
    NoWork,
    /// The harness ended with an exit code of its own other than 0, or by a signal that was not ours; or it ended well, and
    /// git cannot say whether anything is there.
    Failed,
    /// The harness ended well and changed something, and a test command failed.
    TestsFailed,
    /// It took longer than it may.
    TimedOut,
    /// Nothing came from it for longer than it may be silent.
    Silent,
    /// It cost more than it may, or what it costs cannot be known.
    OverBudget,
    /// Somebody ended it, or what watched over it was ended.
    Interrupted,
    /// The harness did not do its part: it cannot be started, its model cannot be reached, or what it prints is no report.
    HarnessError,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Succeeded,
        Self::NoWork,
        Self::Failed,
        Self::TestsFailed,
        Self::TimedOut,
        Self::Silent,
        Self::OverBudget,
        Self::Interrupted,
        Self::HarnessError,
    ];

    /// Its word in a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::NoWork => "no_work",
            Self::Failed => "failed",
            Self::TestsFailed => "tests_failed",
            Self::TimedOut => "timed_out",
            Self::Silent => "silent",
            Self::OverBudget => "over_budget",
            Self::Interrupted => "interrupted",
            Self::HarnessError => "harness_error",
        }
    }
}

/// What is known of a run after its end: `run-report.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always `heyaira.run-report`.
    pub schema: String,
    /// The version of this format, 1.
    pub schema_version: i64,
    /// The run, a UUID.
    pub run_id: String,
    /// The project that it was started for.
    pub project: String,
    /// The task that it worked on, in full; none where it was started without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The version of the task that the run was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_version: Option<i64>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why that is the outcome, in one sentence of ours.
    pub reason: String,
    /// When the harness was started, RFC 3339 in UTC.
    pub started: String,
    /// When the run was over, its processes gone and its tests run, RFC 3339 in UTC.
    pub ended: String,
    /// How long the harness ran, in milliseconds.
    pub harness_ms: i64,
    /// Who did the work, as a receipt names it: `<harness>:<native id>`, or `run:<run_id>` where there is no native id.
    pub session_ref: String,
    /// The id that the harness gives its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_session_id: Option<String>,
    /// True if the session had begun before this run.
    #[serde(default)]
    pub is_resumed: bool,
    /// The program that did the work.
    pub harness: Program,
    /// The model that answered, as the harness or its transcript names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What this run sent and received, none of an earlier one of the same session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Tokens>,
    /// What this run cost.
    pub cost: Cost,
    /// How the harness's process ended.
    pub exit: Exit,
    /// What git says.
    pub work: Work,
    /// Every test command that was given, in their order, those that were not run too; empty where none was given.
    pub tests: Vec<Test>,
    /// What the harness and its model said. Nothing of it was checked.
    pub said: Said,
    /// Where the output is.
    pub log: Log,
    /// How many processes were still there when the harness had ended or had to, and were ended.
    pub ended_processes: i64,
    /// What could not be found out or has to be seen to, a sentence each.
    #[serde(default)]
    pub problems: Vec<String>,
}

impl Report {
    /// The first 8 characters of its id, by which people name it.
    pub fn short_id(&self) -> &str {
        self.run_id.get(..8).unwrap_or(&self.run_id)
    }

    /// Who did the work, as receipts and versions name it: what the report says, or `run:<run_id>` where that is no
    /// session reference.
    pub fn session(&self) -> String {
        match session::session_ref_problem(&self.session_ref) {
            None => self.session_ref.clone(),
            Some(_) => session_of(&self.run_id),
        }
    }

    /// The call that tells the whole of it.
    fn show_call(&self) -> String {
        format!("heyaira run show {}", self.short_id())
    }
}

/// The session of a run that has no native one.
pub fn session_of(run_id: &str) -> String {
    format!("{RUN_SESSION}{run_id}")
}

/// What is wrong with a run's id or its beginning for reading, if anything is; to follow the field's name.
pub fn reference_problem(given: &str) -> Option<String> {
    task::reference_problem(given).map(|problem| problem.replace("task id", "run id"))
}

/// What is wrong with a run's id for writing, if anything is: the full id or exactly its first 8 characters.
pub fn pointer_problem(given: &str) -> Option<String> {
    task::pointer_problem(given).map(|problem| problem.replace("task id", "run id"))
}

/// How a session reference begins that names a run.
pub const RUN_SESSION: &str = "run:";

/// A harness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Program {
    /// Its name: `claude-code`, `codex`, `gemini`, `opencode`, `copilot` or `command`.
    pub name: String,
    /// Its version as it says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The program and its arguments, without the brief.
    pub command: Vec<String>,
}

/// Tokens, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Tokens {
    /// Sent, neither read from a cache nor written into one.
    pub input: i64,
    /// Read from the cache.
    pub cache_read: i64,
    /// Written into the cache.
    pub cache_write: i64,
    /// What came back.
    pub output: i64,
}

/// Money.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Cost {
    /// US dollars; none where they are not known, which is not 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// `prices`: reckoned from the tokens and the price list; `harness`: as the harness says; `unknown`.
    pub basis: String,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Exit {
    /// Its exit code; none if a signal ended it or it never began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i64>,
}

/// What git says of the run's worktree, once no process was left in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Work {
    /// The main working tree of the repository.
    pub repository: String,
    /// What others call the repository: `owner/name` or the address of its remote, without user and password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The folder that the harness worked in.
    pub worktree: String,
    /// The branch that is checked out there, or the run's own where git does not open that folder; none if the harness left
    /// none, or where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that it began from.
    pub base_commit: String,
    /// True if the folder was gone when git was asked: what was not committed in it is lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worktree_gone: bool,
    /// The last commit; the base where nothing was committed, none where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_commit: Option<String>,
    /// The commits since the base, the oldest first, at most 100.
    pub commits: Vec<Commit>,
    /// How many there are; none where git could not say, which is not 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits_total: Option<i64>,
    /// The files that differ between base and result, binary ones too; none where git could not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files_changed: Option<i64>,
    /// Lines added between base and result; none where git could not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insertions: Option<i64>,
    /// Lines taken away; none where git could not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletions: Option<i64>,
    /// The files that are not committed, those that git does not know among them, at most 100.
    pub uncommitted: Vec<String>,
    /// How many there are; none where git could not say, which is not 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncommitted_total: Option<i64>,
}

impl Work {
    /// Whether something is there that was not there before; none where that is not known. What is known of one of commits
    /// and files is enough for yes, not for no.
    pub fn is_any(&self) -> Option<bool> {
        match (self.commits_total, self.uncommitted_total) {
            (Some(1..), _) | (_, Some(1..)) => Some(true),
            (Some(_), Some(_)) => Some(false),
            _ => None,
        }
    }
}

/// A commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Commit {
    /// Its full hash.
    pub commit: String,
    /// The first line of its message, which is the harness's word.
    pub subject: String,
}

/// A test command, which is run after the harness has ended well and left something to be tested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Test {
    /// The command as it was given, run by `sh -c` in the worktree.
    pub command: String,
    /// True if it was not run, or not to its end because the run was ended: it neither passed nor failed then, and has no
    /// exit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_run: bool,
    /// How it ended.
    pub exit: Exit,
    /// True if it took too long and was ended.
    #[serde(default)]
    pub timed_out: bool,
    /// How long it ran, in milliseconds.
    pub ms: i64,
    /// What it counted, where its output is one of a known runner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub totals: Option<Totals>,
    /// Where its output is.
    pub log: Log,
}

impl Test {
    /// True where it passed.
    pub fn is_passed(&self) -> bool {
        !self.not_run && self.exit.code == Some(0) && !self.timed_out
    }

    /// True where it was run and did not pass.
    pub fn is_failed(&self) -> bool {
        !self.not_run && !self.is_passed()
    }

    /// What became of it, in a word.
    pub fn word(&self) -> &'static str {
        match (self.not_run, self.is_passed()) {
            (true, _) => "not run",
            (_, true) => "passed",
            (_, false) => "failed",
        }
    }
}

/// What a test runner counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Totals {
    /// Whose output it was: `cargo test`, `pytest` and so on.
    pub runner: String,
    /// How many passed.
    pub passed: i64,
    /// How many failed.
    pub failed: i64,
    /// How many were left out.
    pub skipped: i64,
}

/// What the harness and its model said: claims, not facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Said {
    /// The model's last message. A secret in it is masked; what is longer than 20,000 characters is cut, which its end says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_message: Option<String>,
    /// The tools that the harness refused to its model, and how often.
    #[serde(default)]
    pub denied_tools: Vec<Denied>,
    /// What the harness told of errors, at most 20.
    #[serde(default)]
    pub errors: Vec<String>,
}

/// A tool that was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Denied {
    /// Its name.
    pub tool: String,
    /// How often.
    pub times: i64,
}

/// Output that was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Log {
    /// The file.
    pub path: String,
    /// How many bytes were put out.
    pub bytes: i64,
    /// How many of them are not in the file: its beginning and its end are.
    #[serde(default)]
    pub left_out: i64,
}
