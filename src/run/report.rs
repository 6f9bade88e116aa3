//! From what was seen of a run to its report. Must never hold a secret, whoever put it there.

use std::time::Duration;

use super::folder::Plan;
use super::now;
use crate::client::harness::Spent;
use crate::client::harness::Told;
use crate::domain::run::{Cost, Exit, Log, Outcome, Program, Report, SCHEMA, SCHEMA_VERSION, Said, Test, Work};
use crate::domain::secret::masked;
use crate::domain::session::session_ref_problem;
use crate::domain::text;
use crate::domain::time::Timestamp;

/// How much of the last message is kept, in characters.
const MESSAGE: usize = 20_000;
/// How much of one error is kept, in characters.
const ERROR: usize = 2_000;

/// What was seen.
#[derive(Clone, Debug)]
pub struct Parts {
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// When the harness was started, in microseconds since 1970.
    pub started_micros: i64,
    /// How long it ran.
    pub took: Duration,
    /// How its process ended.
    pub exit: Exit,
    /// What it told.
    pub told: Told,
    /// What it cost.
    pub spent: Option<Spent>,
    /// The program.
    pub program: Program,
    /// What git says.
    pub work: Work,
    /// What was tested: the first of the plan's test commands, or all of them.
    pub tests: Vec<Test>,
    /// Where its output is.
    pub log: Log,
    /// How many processes had to be ended.
    pub processes: i64,
    /// What could not be found out, a sentence each.
    pub problems: Vec<String>,
}

/// The report, without secrets: a harness can put one into a commit's subject, a file's name or its command's words.
pub fn assemble(plan: &Plan, parts: Parts) -> Report {
    let told = parts.told;
    let native = told.session_id.filter(|id| !id.is_empty());
    let native_ref = native.as_ref().map(|id| format!("{}:{id}", plan.harness));
    let session_ref = native_ref.filter(|named| session_ref_problem(named).is_none());
    let unknown = Cost { usd: None, basis: "unknown".to_owned() };
    let spent = parts.spent;
    let model = spent.as_ref().and_then(|spent| spent.model.clone());
    let report = Report {
        schema: SCHEMA.to_owned(),
        schema_version: SCHEMA_VERSION,
        run_id: plan.run_id.clone(),
        project: plan.project.clone(),
        task_id: plan.task_id.clone(),
        task_version: plan.task_version,
        outcome: parts.outcome,
        reason: parts.reason,
        started: Timestamp(parts.started_micros).rfc3339(),
        ended: Timestamp(now()).rfc3339(),
        harness_ms: i64::try_from(parts.took.as_millis()).unwrap_or(i64::MAX),
        session_ref: session_ref.unwrap_or_else(|| format!("run:{}", plan.run_id)),
        native_session_id: native,
        is_resumed: plan.resume.is_some(),
        harness: Program { version: told.version.or(parts.program.version), ..parts.program },
        model: model.or(told.model),
        usage: spent.as_ref().and_then(Spent::tokens),
        cost: spent.as_ref().map_or(unknown, Spent::cost),
        exit: parts.exit,
        work: parts.work,
        tests: whole(&plan.tests, parts.tests),
        said: Said {
            final_message: told.final_message.map(|message| kept(&message, MESSAGE)),
            denied_tools: told.denied,
            errors: told.errors.iter().map(|error| kept(error, ERROR)).collect(),
        },
        log: parts.log,
        ended_processes: parts.processes,
        problems: parts.problems,
    };
    report.masked()
}

/// What was tested, and each command that was not run behind it.
fn whole(commands: &[String], mut tests: Vec<Test>) -> Vec<Test> {
    let others = commands.iter().skip(tests.len());
    let not_run = |command: &String| Test { command: command.clone(), not_run: true, ..Test::default() };
    tests.extend(others.map(not_run).collect::<Vec<_>>());
    tests
}

/// A text of the harness's without secrets. What is cut off would no longer be known for one, so they are taken out first.
fn kept(said: &str, most: usize) -> String {
    let said = masked(said);
    let length = text::length(&said);
    if length <= most {
        return said.into_owned();
    }
    format!("{}\n[heyaira: {} of {length} characters are left out here]", text::head(&said, most), length - most)
}
