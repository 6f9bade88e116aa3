//! The reports of unattended runs: taking one in, listing them, showing one. Must never change a task, and never refuse or
//! repeat what a model said.

pub mod dismiss;
pub mod record;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::domain::run::{Report, check};
use crate::domain::secret::mask_json;
use crate::domain::session::{self, Observed};
use crate::domain::task::{Task, short_id};
use crate::domain::time::Timestamp;
use crate::error::{Refusal, Result};
use crate::operation::{Audience, Context, Effect, Operation, arguments};
use crate::operations::budget::{Section, cost_of, rows_at_a_glance};
use crate::operations::page::{self, Size};
use crate::operations::task::load;
use crate::operations::{cursor, task};
use crate::store::backend::Question;
use crate::store::list::TOTAL_EXACT;
use crate::store::run::{self, Dismissed, Filter, New, Recorded, Short};
use crate::store::task::{from_json, to_json};

/// How many unrecorded runs are shown where somebody asks for something else.
const SHOWN: i64 = 5;
/// What they may take of an answer while other parts of it are cut.
const MOST: usize = 1_000;
/// What the first needs, with what to do.
const LEAST: usize = 700;

/// Take in the report of an unattended run, as `run-report.json` has it.
///
/// The same report again is `existing`, another one of the same run is refused. Secrets in it are masked.
#[derive(Deserialize, JsonSchema)]
pub struct RunReport {
    /// The report.
    #[schemars(with = "Report", extend("x-open" = true))]
    report: Value,
    /// The one string from the connection profile that keeps the write in its project.
    #[expect(dead_code, reason = "checked by call before the operation runs")]
    #[schemars(extend("x-agents-must" = true))]
    write_context: Option<String>,
    /// A word of your own: the same call with the same key happens once.
    #[expect(dead_code, reason = "kept by call")]
    #[schemars(length(max = 200), extend("x-check" = "key"))]
    idempotency_key: Option<String>,
}

impl Operation for RunReport {
    const NAME: &'static str = "run_report";
    const COMMAND: &'static str = "run report";
    const EFFECT: Effect = Effect::Adds;
    const AUDIENCE: Audience = Audience::People;
    // What a model said is masked, not refused.
    const MAY_HOLD_SECRET: Option<&'static str> = Some("report");

    fn problems(given: &Map<String, Value>, _observed: &Observed) -> Vec<String> {
        given.get("report").and_then(|report| check::report(report).err()).unwrap_or_default()
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let Value::Object(mut given) = self.report else {
            return Err(Refusal::argument("report is no object"));
        };
        let report = read(&Value::Object(given.clone()))?;
        check_project(context, &report)?;
        let task = match &report.task_id {
            Some(task_id) => Some(load(context, task_id).await?),
            None => None,
        };
        let mut masked = Value::Object(std::mem::take(&mut given));
        mask_json(&mut masked);
        let is_new = keep(context, &report, task.as_ref(), &masked).await?;
        let kept = context.transaction.ask(run::find(context.project()?.project_id, &report.run_id)).await?;
        let mut answer = Map::new();
        answer.insert("run_id".to_owned(), json!(kept.short.run_id));
        answer.insert("existing".to_owned(), json!(!is_new));
        tell(&mut answer, &kept.short);
        if kept.short.recorded.is_none() {
            answer.insert("next".to_owned(), json!(record_call(&kept.short)));
        }
        Ok(Value::Object(answer))
    }
}

/// A report that was checked.
fn read(report: &Value) -> Result<Report> {
    check::report(report).map_err(|problems| Refusal::argument(problems.join("; ")))
}

fn check_project(context: &Context<'_>, report: &Report) -> Result<()> {
    let project = context.project()?;
    if report.project == project.slug {
        return Ok(());
    }
    Err(Refusal::not_allowed(
        format!("the report is not of project {}", project.slug),
        "Use the connection of the project that it names. Nothing was written.",
    ))
}

/// Adds a report; false if it is known already.
async fn keep(context: &mut Context<'_>, report: &Report, task: Option<&Task>, masked: &Value) -> Result<bool> {
    let project = context.project()?.clone();
    let fields = masked.as_object().cloned().unwrap_or_default();
    let fingerprint = arguments::fingerprint(&Map::new(), &fields, None);
    let shown: Report =
        serde_json::from_value(masked.clone()).map_err(|_| Refusal::argument("report cannot be read"))?;
    let moment = |text: &str| Timestamp::of_rfc3339(text).unwrap_or_default();
    let run_id = Uuid::try_parse(&report.run_id).map_err(|error| Refusal::internal(&error))?;
    let (summary, text) = (shown.summary(&project.language), to_json(masked)?);
    let new = New {
        report: &shown,
        run_id,
        task_id: task.map(|task| task.task_id),
        times: (moment(&report.started), moment(&report.ended)),
        summary: &summary,
        text: &text,
        fingerprint,
        by: &context.connection.caller,
        at: context.now,
    };
    if run::insert(context.transaction, project.project_id, &new).await? {
        return Ok(true);
    }
    match run::kept(context.transaction, run_id).await? {
        Some((of, before)) if of == project.project_id && before.as_ref().is_none_or(|one| one[..] == fingerprint) => {
            Ok(false)
        }
        _ => Err(Refusal::not_allowed(
            format!("another report of run {} is kept already", report.short_id()),
            format!("heyaira run show {} tells it; the first one stays. Nothing was written.", report.short_id()),
        )),
    }
}

/// The call that records a run, as it works when it is typed: with a task where the run has none, and for a task that is
/// finished with the receipt alone.
fn record_call(run: &Short) -> String {
    let id = short_id(run.run_id);
    match run.of_task {
        Some(task) => call(&id, None, &task.version.to_string(), !task.is_open),
        None => call(&id, Some("TASK"), "N", false),
    }
}

/// The same of its words.
fn call(run: &str, task_id: Option<&str>, version: &str, receipt_only: bool) -> String {
    let task_id = task_id.map_or_else(String::new, |task_id| format!(" --task-id {task_id}"));
    let receipt_only = if receipt_only { " --receipt-only" } else { "" };
    format!("heyaira run record {run}{task_id} --expected-version {version}{receipt_only}")
}

/// What is told of a run wherever it is told by itself.
fn tell(answer: &mut Map<String, Value>, run: &Short) {
    answer.extend(run.task_id.map(|task_id| ("task_id".to_owned(), json!(task_id))));
    answer.insert("outcome".to_owned(), json!(run.outcome));
    answer.insert("summary".to_owned(), json!(run.summary));
    answer.extend(problems(run));
    answer.insert("recorded".to_owned(), run.recorded.as_ref().map_or(json!(false), recorded));
    answer.extend(run.dismissed.as_ref().map(|one| ("dismissed".to_owned(), dismissed(one))));
}

/// How many problems its report has, where it has any.
fn problems(run: &Short) -> Option<(String, Value)> {
    run.problems.filter(|count| *count > 0).map(|count| ("problems".to_owned(), json!(count)))
}

fn recorded(recorded: &Recorded) -> Value {
    json!({"version": recorded.version, "at": recorded.at.rfc3339(), "by": session::clipped(&recorded.by)})
}

fn dismissed(dismissed: &Dismissed) -> Value {
    json!({"at": dismissed.at.rfc3339(), "by": session::clipped(&dismissed.by)})
}

/// The reports of runs, those that ended last first.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct RunList {
    /// Only recorded ones, or only those that are neither recorded nor dismissed.
    recorded: Option<bool>,
    /// Only of this task.
    #[schemars(extend("x-check" = "task"))]
    task: Option<String>,
    /// How many rows, 1 to 200; 20 if left out.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<i64>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

impl Operation for RunList {
    const NAME: &'static str = "run_list";
    const COMMAND: &'static str = "run list";
    const EFFECT: Effect = Effect::Reads;
    const AUDIENCE: Audience = Audience::People;

    async fn run(mut self, context: &mut Context<'_>) -> Result<Value> {
        let (now, project) = (context.now, context.project()?.clone());
        let (limit, cursor) = (self.limit.take(), self.cursor.take());
        let list_id = json!(["runs", project.slug, &self]);
        let after = cursor.map(|cursor| position(&list_id, &cursor)).transpose()?;
        let task_id = match &self.task {
            Some(task) => task::resolve_all(context, std::slice::from_ref(task)).await?.first().copied(),
            None => None,
        };
        let size = Size::of(limit);
        let filter = Filter { recorded: self.recorded, task_id };
        let asked = run::page(project.project_id, filter, after, (size.to_read(), TOTAL_EXACT + 1));
        let (found, total) = context.transaction.ask(asked).await?;
        let rows = found.iter().map(|run| row(run, now)).collect();
        let position = |last: usize| {
            let run = found.get(last)?;
            Some((vec![run.ended.0], run.run_id.simple().to_string()))
        };
        Ok(page::answer("runs", &size, rows, total, &list_id, position))
    }
}

fn position(list: &Value, given: &str) -> Result<(i64, Uuid)> {
    let (keys, id) = cursor::decode(list, given)?;
    let damaged = || Refusal::argument("cursor is damaged");
    let ended = keys.first().copied().ok_or_else(damaged)?;
    Ok((ended, id.parse().map_err(|_| damaged())?))
}

fn row(run: &Short, now: Timestamp) -> Value {
    let mut row = in_short(run, now);
    row.insert("harness".to_owned(), json!(run.harness));
    row.extend(run.branch.as_ref().map(|branch| ("branch".to_owned(), json!(branch))));
    if let Some(recorded) = &run.recorded {
        row.insert("recorded".to_owned(), json!(format!("v{}", recorded.version)));
    }
    if run.dismissed.is_some() {
        row.insert("dismissed".to_owned(), json!(true));
    }
    Value::Object(row)
}

/// What names a run and says what came of it.
fn in_short(run: &Short, now: Timestamp) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("run".to_owned(), json!(short_id(run.run_id)));
    row.extend(run.task_id.map(|task_id| ("task".to_owned(), json!(short_id(task_id)))));
    row.insert("outcome".to_owned(), json!(run.outcome));
    row.insert("summary".to_owned(), json!(run.summary));
    row.extend(problems(run));
    row.insert("age".to_owned(), json!(run.ended.age(now)));
    row
}

/// A run with its whole report.
#[derive(Deserialize, JsonSchema)]
pub struct RunShow {
    /// The run: its id or the beginning of it, at least 4 characters.
    #[schemars(extend("x-check" = "run", "x-position" = true))]
    run: String,
}

impl Operation for RunShow {
    const NAME: &'static str = "run_show";
    const COMMAND: &'static str = "run show";
    const EFFECT: Effect = Effect::Reads;
    const AUDIENCE: Audience = Audience::People;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let project_id = context.project()?.project_id;
        let found = context.transaction.ask(run::find(project_id, &self.run)).await?;
        let mut answer = Map::new();
        answer.insert("run_id".to_owned(), json!(found.short.run_id));
        tell(&mut answer, &found.short);
        answer.insert("received".to_owned(), json!(found.received.rfc3339()));
        answer.insert("received_by".to_owned(), json!(found.received_by));
        if found.short.recorded.is_none() {
            answer.insert("next".to_owned(), json!(record_call(&found.short)));
        }
        answer.insert("report".to_owned(), from_json(&found.report)?);
        Ok(Value::Object(answer))
    }
}

/// The runs that are neither recorded nor dismissed, where somebody asks for something else.
pub(crate) struct Unrecorded {
    found: Vec<Short>,
    count: i64,
    task: Option<Uuid>,
    now: Timestamp,
}

impl Unrecorded {
    /// Of a project, or of one task of it.
    pub(crate) fn of(context: &Context<'_>, task: Option<Uuid>) -> Result<Question<Self>> {
        let (project_id, now) = (context.project()?.project_id, context.now);
        let filter = Filter { recorded: Some(false), task_id: task };
        let asked = run::page(project_id, filter, None, (SHOWN, TOTAL_EXACT));
        Ok(asked.then(move |(found, count)| Self { found, count, task, now }))
    }

    /// What they may take of an answer, and what they need to be told at all.
    pub(crate) fn section(&self) -> Section {
        let cost = self.within(usize::MAX).as_ref().map_or(0, cost_of);
        Section { cost, least: LEAST, most: MOST }
    }

    /// How many there are, those that fit into `room`, and what to do; nothing where there are none.
    pub(crate) fn within(&self, room: usize) -> Option<Value> {
        if self.found.is_empty() {
            return None;
        }
        let task = self.task.map_or_else(String::new, |task_id| format!(" --task {}", short_id(task_id)));
        let all = format!("heyaira run list --recorded=false{task}");
        let rows = self.found.iter().map(|run| {
            let mut row = in_short(run, self.now);
            if self.task.is_some() {
                row.shift_remove("task");
            }
            Value::Object(row)
        });
        let rows: Vec<Value> = rows.collect();
        let is_all = |rows: &[Value]| i64::try_from(rows.len()).is_ok_and(|shown| shown == self.count);
        let mut answer = json!({"count": self.count, "rows": rows, "next": self.next(rows.len())});
        if is_all(&rows) && cost_of(&answer) <= room {
            return Some(answer);
        }
        answer["rest"] = json!(all);
        answer["rows"] = json!([]);
        // The longest that it can be.
        answer["next"] = json!(self.next(1));
        let rows = rows_at_a_glance(rows, room.saturating_sub(cost_of(&answer)));
        if is_all(&rows)
            && let Some(fields) = answer.as_object_mut()
        {
            fields.shift_remove("rest");
        }
        answer["next"] = json!(self.next(rows.len()));
        answer["rows"] = Value::Array(rows);
        Some(answer)
    }

    /// What to do where so many are shown: of one its own call, of one task's what they have in common.
    fn next(&self, shown: usize) -> String {
        let first = self.found.first();
        let (record, run) = match first {
            Some(run) if shown == 1 => (record_call(run), short_id(run.run_id)),
            _ => {
                let task = first.and_then(|run| run.of_task).filter(|_| self.task.is_some());
                let version = task.map_or_else(|| "N".to_owned(), |task| task.version.to_string());
                (call("RUN", None, &version, task.is_some_and(|task| !task.is_open)), "RUN".to_owned())
            }
        };
        format!("{record}, or task_update with work_receipt.session_ref run:{run}")
    }
}
