//! The reports of unattended runs, and whether each is recorded on its task. A report is added once; what changes afterwards is
//! that it was recorded, also once, or until then that it was dismissed.

use uuid::Uuid;

use crate::domain::run::{Outcome, RUN_SESSION, Report, pointer_problem};
use crate::domain::text::quoted;
use crate::domain::time::Timestamp;
use crate::error::{Code, Refusal, Result};
use crate::store::backend::{Question, Statement, Transaction};
use crate::store::cell::{Cell, Row};
use crate::store::task::{from_json, range_of};

/// That a run's receipt and handoff stand with its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The version of the task that they came with.
    pub version: i64,
    /// When.
    pub at: Timestamp,
    /// By whom: the session where known, else the caller.
    pub by: String,
}

/// That nobody is to record a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dismissed {
    /// Since when.
    pub at: Timestamp,
    /// By whom: the session where known, else the caller.
    pub by: String,
}

/// The task of a run as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfTask {
    /// Its version.
    pub version: i64,
    /// False once it is done or cancelled.
    pub is_open: bool,
}

/// A run as lists show it.
#[derive(Clone, Debug)]
pub struct Short {
    /// The database's own number of it.
    pub run_key: i64,
    /// The run.
    pub run_id: Uuid,
    /// The task that it worked on or was recorded on.
    pub task_id: Option<Uuid>,
    /// How it ended.
    pub outcome: String,
    /// Who did the work, as receipts name it.
    pub session_ref: String,
    /// The program that did it.
    pub harness: String,
    /// The branch.
    pub branch: Option<String>,
    /// When it began.
    pub started: Timestamp,
    /// When it was over.
    pub ended: Timestamp,
    /// How it ended and what there is of it, in one sentence of ours.
    pub summary: String,
    /// Where it is recorded, if it is.
    pub recorded: Option<Recorded>,
    /// How many problems its report has; none where nobody counted them.
    pub problems: Option<i64>,
    /// Whether somebody said that it is not to be recorded. Nothing that is recorded is dismissed.
    pub dismissed: Option<Dismissed>,
    /// How its task is now, if it has one.
    pub of_task: Option<OfTask>,
}

impl Short {
    /// True while somebody has to look at its report.
    pub fn is_unrecorded(&self) -> bool {
        self.recorded.is_none() && self.dismissed.is_none()
    }
}

/// A run with its report.
#[derive(Clone, Debug)]
pub struct Whole {
    /// What lists show.
    pub short: Short,
    /// When the report came.
    pub received: Timestamp,
    /// Whose credential brought it.
    pub received_by: String,
    /// The report as it was sent, but for secrets.
    pub report: String,
}

impl Whole {
    /// The report as it is understood.
    pub fn parsed(&self) -> Result<Report> {
        from_json(&self.report)
    }
}

/// A report that is to be added.
#[derive(Debug)]
pub struct New<'n> {
    /// What is understood of it.
    pub report: &'n Report,
    /// The run.
    pub run_id: Uuid,
    /// The task.
    pub task_id: Option<Uuid>,
    /// The two ends in time.
    pub times: (Timestamp, Timestamp),
    /// What lists show.
    pub summary: &'n str,
    /// The whole of it, as text.
    pub text: &'n str,
    /// A digest of that.
    pub fingerprint: [u8; 32],
    /// Whose credential brings it.
    pub by: &'n str,
    /// When.
    pub at: Timestamp,
}

/// How many candidates of an ambiguous prefix are told.
const CANDIDATES: i64 = 5;
const SHORT: &str = "r.run_key, r.run_id, r.task_id, r.outcome, r.session_ref, r.harness, r.branch, r.started_at, r.ended_at, \
    r.summary, r.recorded_version, r.recorded_at, r.recorded_by, r.problems, r.dismissed_at, r.dismissed_by, t.version, t.is_open";
/// How many columns that are.
const SHORT_COLUMNS: usize = 18;
const FROM: &str = "run_report r left join task t on t.task_id = r.task_id";
const WHOLE: &str = "r.received_at, r.received_by, r.report";

fn short(row: &mut Row) -> Result<Short> {
    let recorded = match row.maybe_integer(10)? {
        None => None,
        Some(version) => Some(Recorded {
            version,
            at: Timestamp(row.maybe_integer(11)?.unwrap_or_default()),
            by: row.maybe_text(12)?.unwrap_or_default(),
        }),
    };
    let dismissed = match row.maybe_integer(14)? {
        Some(at) if recorded.is_none() => {
            Some(Dismissed { at: Timestamp(at), by: row.maybe_text(15)?.unwrap_or_default() })
        }
        _ => None,
    };
    let is_open = row.maybe_integer(17)? == Some(1);
    Ok(Short {
        run_key: row.integer(0)?,
        run_id: row.uuid(1)?,
        task_id: row.maybe_uuid(2)?,
        outcome: row.text(3)?,
        session_ref: row.text(4)?,
        harness: row.text(5)?,
        branch: row.maybe_text(6)?,
        started: Timestamp(row.integer(7)?),
        ended: Timestamp(row.integer(8)?),
        summary: row.text(9)?,
        recorded,
        problems: row.maybe_integer(13)?,
        dismissed,
        of_task: row.maybe_integer(16)?.map(|version| OfTask { version, is_open }),
    })
}

fn whole(mut row: Row) -> Result<Whole> {
    Ok(Whole {
        short: short(&mut row)?,
        received: Timestamp(row.integer(SHORT_COLUMNS)?),
        received_by: row.text(SHORT_COLUMNS + 1)?,
        report: row.text(SHORT_COLUMNS + 2)?,
    })
}

/// Adds a report; false if there is one of that run, in whatever project.
pub async fn insert(transaction: &mut Transaction, project_id: i64, new: &New<'_>) -> Result<bool> {
    let sql = "insert into run_report (run_id, project_id, task_id, outcome, session_ref, native, harness, branch, started_at, \
        ended_at, summary, received_at, received_by, fingerprint, report, problems) \
        values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) on conflict (run_id) do nothing";
    let report = new.report;
    let outcome: Outcome = report.outcome;
    let values: [Cell; 16] = [
        new.run_id.into(),
        project_id.into(),
        new.task_id.into(),
        outcome.as_str().into(),
        report.session().into(),
        report.native_session_id.as_deref().map(without_nul).into(),
        without_nul(&report.harness.name).into(),
        report.work.branch.as_deref().map(without_nul).into(),
        new.times.0.0.into(),
        new.times.1.0.into(),
        new.summary.into(),
        new.at.0.into(),
        new.by.into(),
        new.fingerprint.into(),
        new.text.into(),
        i64::try_from(report.problems.len()).unwrap_or(i64::MAX).into(),
    ];
    Ok(transaction.execute(sql, &values).await? == 1)
}

/// A text as every database takes it; the report itself, as JSON, writes the character out.
fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// What is kept of the report of a run: its project and the digest of what was sent, if it still tells.
pub async fn kept(transaction: &mut Transaction, run_id: Uuid) -> Result<Option<(i64, Option<Vec<u8>>)>> {
    let sql = "select project_id, fingerprint from run_report where run_id = ?1";
    let Some(row) = transaction.row(sql, &[run_id.into()]).await? else { return Ok(None) };
    let fingerprint = if row.is_null(1) { None } else { Some(row.bytes(1)?.to_vec()) };
    Ok(Some((row.integer(0)?, fingerprint)))
}

/// The one run whose id is or starts with `reference`.
///
/// Errors: `not_found`, and `ambiguous_id` with the candidates.
pub fn find(project_id: i64, reference: &str) -> Question<Whole> {
    let (low, high) = range_of(reference);
    let sql = format!(
        "select {SHORT}, {WHOLE} from {FROM} where +r.project_id = ?1 and r.run_id between ?2 and ?3 \
         order by r.run_id limit ?4"
    );
    let reference = reference.to_owned();
    Question::new(Statement::new(sql, [project_id.into(), low.into(), high.into(), CANDIDATES.into()]), move |rows| {
        the_one(&reference, rows.into_iter().map(whole).collect::<Result<Vec<_>>>()?)
    })
}

fn the_one(reference: &str, mut runs: Vec<Whole>) -> Result<Whole> {
    match runs.pop() {
        None => Err(Refusal::not_found(
            format!("no report of a run {} in this project", quoted(reference, 60)),
            "heyaira run list shows the runs; check the id. Nothing was written.",
        )),
        Some(one) if runs.is_empty() => Ok(one),
        Some(last) => {
            runs.push(last);
            let told = |one: &Whole| format!("{} {}", one.short.run_id, one.short.outcome);
            let candidates: Vec<String> = runs.iter().map(told).collect();
            Err(Refusal::new(
                Code::AmbiguousId,
                format!("several runs start with {reference}: {}", candidates.join("; ")),
                "Call again with the full id.",
            )
            .with("candidates", candidates))
        }
    }
}

/// Which runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    /// Recorded, or not and not dismissed either.
    pub recorded: Option<bool>,
    /// Of this task.
    pub task_id: Option<Uuid>,
}

/// The runs of a project, those that ended last first, at most `limit` behind a position, and how many there are up to
/// `counted`. A project without any costs one look into an index.
pub fn page(
    project_id: i64,
    filter: Filter,
    after: Option<(i64, Uuid)>,
    (limit, counted): (i64, i64),
) -> Question<(Vec<Short>, i64)> {
    let mut conditions = vec!["r.project_id = ?1".to_owned()];
    let mut values: Vec<Cell> = vec![project_id.into(), limit.into(), counted.into()];
    if let Some(task_id) = filter.task_id {
        values.push(task_id.into());
        conditions.push(format!("r.task_id = ?{}", values.len()));
    }
    match filter.recorded {
        Some(true) => conditions.push("r.recorded_version is not null".to_owned()),
        Some(false) => conditions.push("r.recorded_version is null and r.dismissed_at is null".to_owned()),
        None => {}
    }
    let all = conditions.join(" and ");
    if let Some((ended, run_id)) = after {
        values.extend([ended.into(), run_id.into()]);
        conditions.push(format!("(r.ended_at, r.run_id) < (?{}, ?{})", values.len() - 1, values.len()));
    }
    let sql = format!(
        "select {SHORT}, (select count(*) from (select 1 as one from run_report r where {all} limit ?3) counted) \
         from {FROM} where {} order by r.ended_at desc, r.run_id desc limit ?2",
        conditions.join(" and ")
    );
    Question::new(Statement::new(sql, values), |mut rows| {
        let count = rows.first().map_or(Ok(0), |row| row.integer(SHORT_COLUMNS))?;
        Ok((rows.iter_mut().map(short).collect::<Result<_>>()?, count))
    })
}

/// Marks a run as recorded on that version of its task; false if it is already, or if it belongs to another task.
pub async fn record(transaction: &mut Transaction, run_key: i64, task_id: Uuid, recorded: &Recorded) -> Result<bool> {
    let sql = "update run_report set task_id = ?2, recorded_version = ?3, recorded_at = ?4, recorded_by = ?5, \
        dismissed_at = null, dismissed_by = null where run_key = ?1 and recorded_version is null and (task_id is null or task_id = ?2)";
    let values =
        [run_key.into(), task_id.into(), recorded.version.into(), recorded.at.0.into(), recorded.by.as_str().into()];
    Ok(transaction.execute(sql, &values).await? == 1)
}

/// Marks a run as one that nobody is to record; false if it is already, or if it is recorded.
pub async fn dismiss(transaction: &mut Transaction, run_key: i64, dismissed: &Dismissed) -> Result<bool> {
    let sql = "update run_report set dismissed_at = ?2, dismissed_by = ?3 \
        where run_key = ?1 and recorded_version is null and dismissed_at is null";
    let values = [run_key.into(), dismissed.at.0.into(), dismissed.by.as_str().into()];
    Ok(transaction.execute(sql, &values).await? == 1)
}

/// Marks as recorded what a task has unrecorded of a session, which a receipt names: by its own reference, or by a run's id,
/// whole or its first 8 characters. Nothing is waited for.
pub fn record_session(
    transaction: &mut Transaction,
    task_id: Uuid,
    session_ref: &str,
    recorded: &Recorded,
) -> Result<()> {
    let named = session_ref.strip_prefix(RUN_SESSION).filter(|id| names_run(id)).map(range_of);
    // Of no run is this the id, as a random one has its version in it.
    let (low, high) = named.unwrap_or((Uuid::nil(), Uuid::nil()));
    let sql = "update run_report set recorded_version = ?5, recorded_at = ?6, recorded_by = ?7, \
        dismissed_at = null, dismissed_by = null \
        where task_id = ?1 and recorded_version is null and (session_ref = ?2 or run_id between ?3 and ?4)";
    let values: [Cell; 7] = [
        task_id.into(),
        session_ref.into(),
        low.into(),
        high.into(),
        recorded.version.into(),
        recorded.at.0.into(),
        recorded.by.as_str().into(),
    ];
    transaction.execute_later(Statement::new(sql, values))
}

/// True for the whole id of a run or its first 8 characters.
fn names_run(id: &str) -> bool {
    pointer_problem(id).is_none()
}
