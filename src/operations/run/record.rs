//! `run_record`: the receipt and the handoff of a run onto its task, once. Must never change a status unasked, and never
//! write over what somebody else wrote since the caller looked.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::domain::change::Change;
use crate::domain::handoff;
use crate::domain::receipt::Receipt;
use crate::domain::run::Report;
use crate::domain::session::Observed;
use crate::domain::task::{Status, Task, check_length, short_id};
use crate::domain::text::{SUMMARY_MAX, grouped, length};
use crate::error::{Code, Refusal, Result};
use crate::operation::{Audience, Context, Effect, Operation};
use crate::operations::budget::clipped;
use crate::operations::run::{call, recorded};
use crate::operations::task::update::{Writing, facts, write};
use crate::operations::task::{actor, conflict, load, recorder};
use crate::store::run::{self, Recorded, Short};

/// What a text of a merge may cost in a refusal.
const TEXT: usize = 6_000;

/// Put the receipt and the handoff of a run onto its task.
///
/// Both are made of the run's report; what is given here takes the place of what would be made. The status stays as it is
/// unless one is given. Recording a run again answers `existing` with the version of the first time.
#[derive(Deserialize, JsonSchema)]
pub struct RunRecord {
    /// The run: its full id or exactly the first 8 characters.
    #[schemars(extend("x-check" = "run-exact", "x-position" = true))]
    run: String,
    /// The version of the task that you read; if it is at another one, nothing is written, and what would be is shown.
    #[schemars(range(min = 1))]
    expected_version: i64,
    /// The task, where the run was started without one.
    #[schemars(extend("x-check" = "task-exact"))]
    task_id: Option<String>,
    /// The one string from the connection profile that keeps the write in its project.
    #[expect(dead_code, reason = "checked by call before the operation runs")]
    #[schemars(extend("x-agents-must" = true))]
    write_context: Option<String>,
    /// A word of your own: the same call with the same key happens once.
    #[expect(dead_code, reason = "kept by call")]
    #[schemars(length(max = 200), extend("x-check" = "key"))]
    idempotency_key: Option<String>,
    /// Put the receipt alone onto the task, whatever its status is; its handoff, summary and status stay as they are.
    receipt_only: Option<bool>,
    /// The new status of the task.
    status: Option<Status>,
    /// The state in one sentence, in place of the one that is made.
    #[schemars(length(min = 1, max = SUMMARY_MAX))]
    summary: Option<String>,
    /// The next steps, in place of those that are made; the old ones are not kept then.
    handoff_next: Option<String>,
    /// What blocks; without it the task's blockers stay as they are.
    handoff_blockers: Option<String>,
}

impl Operation for RunRecord {
    const NAME: &'static str = "run_record";
    const COMMAND: &'static str = "run record";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;

    fn problems(given: &Map<String, Value>, _observed: &Observed) -> Vec<String> {
        if given.get("receipt_only") != Some(&json!(true)) {
            return Vec::new();
        }
        let texts = ["status", "summary", "handoff_next", "handoff_blockers"].into_iter();
        texts
            .filter(|name| given.contains_key(*name))
            .map(|name| format!("{name} cannot be given with receipt_only, which leaves it as it is"))
            .collect()
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let project_id = context.project()?.project_id;
        let found = context.transaction.ask(run::find(project_id, &self.run)).await?;
        let run = &found.short;
        if let (Some(recorded), Some(task_id)) = (&run.recorded, run.task_id) {
            let task = load(context, &task_id.to_string()).await?;
            self.check_task(run, &task)?;
            return Ok(existing(run, &task, recorded));
        }
        let task = self.task(context, run).await?;
        if !self.is_receipt_only() {
            check_open(&task, run)?;
        }
        let report = found.parsed()?;
        let change = self.change(&report, &task, &context.project()?.language);
        let actor = actor(context, Some(&run.session_ref));
        if task.version != self.expected_version {
            let asked = asked(&change);
            let refusal = conflict::refusal(context, &task, self.expected_version, &actor, &asked).await?;
            return Err(self.with_merge(refusal, &task, run, &change));
        }
        let facts = facts(context, &task, &change, Some(&run.session_ref)).await?;
        let changed = task.apply(change, &actor, &facts, context.now)?;
        if !self.is_receipt_only() {
            check_length("handoff_completed", &changed.task.content.handoff_completed)?;
        }
        let writing = Writing { actor: &actor, result: None, touched: &self.touched(), given: Some(&self.given()) };
        let answer = write(context, &task, changed, writing).await?;
        let recorded = Recorded { version: task.version + 1, at: context.now, by: recorder(context) };
        if !run::record(context.transaction, run.run_key, task.task_id, &recorded).await? {
            return Err(recorded_meanwhile(run));
        }
        Ok(with_run(run, answer))
    }
}

impl RunRecord {
    fn is_receipt_only(&self) -> bool {
        self.receipt_only == Some(true)
    }

    /// The task that the run belongs to, or else the one that is named.
    async fn task(&self, context: &mut Context<'_>, run: &Short) -> Result<Task> {
        match (run.task_id, &self.task_id) {
            (Some(task_id), _) => {
                let task = load(context, &task_id.to_string()).await?;
                self.check_task(run, &task)?;
                Ok(task)
            }
            (None, Some(named)) => load(context, named).await,
            (None, None) => Err(Refusal::argument(format!(
                "task_id is missing: run {} was started without a task",
                short_id(run.run_id)
            ))),
        }
    }

    /// Refuses another task than the run's.
    fn check_task(&self, run: &Short, task: &Task) -> Result<()> {
        let Some(named) = &self.task_id else { return Ok(()) };
        let named = named.to_ascii_lowercase().replace('-', "");
        if task.task_id.simple().to_string().starts_with(&named) {
            return Ok(());
        }
        let (run, id) = (short_id(run.run_id), task.short_id());
        Err(Refusal::not_allowed(
            format!("run {run} belongs to task {id}"),
            "Leave task_id out, or name that task. Nothing was written.",
        ))
    }

    /// What is written: made of the report, and what was given in its place.
    fn change(&self, report: &Report, task: &Task, language: &str) -> Change {
        let mut receipt = report.receipt(language);
        if self.is_receipt_only() {
            return Change { work_receipt: Some(receipt), ..Change::default() };
        }
        let made = report.handoff(task, language);
        if let Some(first) = self.handoff_next.as_deref().and_then(|next| next.lines().next()) {
            receipt.next_step = Some(first.to_owned());
        }
        if let Some(blockers) = &self.handoff_blockers {
            receipt.blockers = Some(blockers.clone());
        }
        Change {
            status: self.status,
            summary: Some(self.summary.clone().unwrap_or(made.summary)),
            handoff_next: Some(self.handoff_next.clone().unwrap_or(made.next)),
            handoff_blockers: self.handoff_blockers.clone(),
            handoff_completed_append: Some(made.completed),
            work_receipt: Some(receipt),
            ..Change::default()
        }
    }

    /// The fields that the caller gave: those alone can be refused for what a rule finds.
    fn given(&self) -> Vec<&'static str> {
        let given = [
            ("status", self.status.is_some()),
            ("summary", self.summary.is_some()),
            ("handoff_next", self.handoff_next.is_some()),
            ("handoff_blockers", self.handoff_blockers.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }

    /// The fields that are written.
    fn touched(&self) -> Vec<&'static str> {
        if self.is_receipt_only() {
            return vec!["work_receipt"];
        }
        let mut touched = vec!["summary", "handoff_next", "handoff_completed", "work_receipt"];
        let more = self.given().into_iter().filter(|name| !touched.contains(name)).collect::<Vec<_>>();
        touched.extend(more);
        touched
    }

    /// The refusal with what would be written on top of the present version, and the call for it.
    fn with_merge(&self, refusal: Refusal, task: &Task, run: &Short, change: &Change) -> Refusal {
        if self.expected_version > task.version {
            return refusal;
        }
        let id = short_id(run.run_id);
        let mut command = call_on(run, task, self.is_receipt_only());
        let mut arguments = json!({"run": id, "expected_version": task.version});
        if run.task_id.is_none() {
            arguments["task_id"] = json!(task.short_id());
        }
        if self.is_receipt_only() {
            arguments["receipt_only"] = json!(true);
        }
        if let Some(status) = self.status {
            command = format!("{command} --status {status}");
            arguments["status"] = json!(status);
        }
        let texts = [
            ("summary", &self.summary),
            ("handoff_next", &self.handoff_next),
            ("handoff_blockers", &self.handoff_blockers),
        ];
        let texts: Vec<_> = texts.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?))).collect();
        for (name, text) in &texts {
            arguments[*name] = json!(text);
        }
        let again = if texts.is_empty() { "" } else { " with the same texts" };
        let taken = if refusal.next.contains("tell the owner") {
            "Ask the owner first, as another session has the task. "
        } else {
            ""
        };
        let next = format!(
            "{taken}What would be written on top of version {} is told as merge. If it is right: {command}{again}. Nothing was written.",
            task.version
        );
        let merge = merge(task, change, &json!({"operation": Self::NAME, "arguments": arguments}));
        Refusal { next, ..refusal }.with("merge", merge)
    }
}

/// The call that records a run on a task as it is now.
fn call_on(run: &Short, task: &Task, receipt_only: bool) -> String {
    let named = run.task_id.is_none().then(|| task.short_id());
    call(&short_id(run.run_id), named.as_deref(), &task.version.to_string(), receipt_only)
}

/// What a change sets, as history names it.
fn asked(change: &Change) -> Map<String, Value> {
    let fields = [
        ("status", change.status.map(|status| json!(status))),
        ("summary", change.summary.as_ref().map(|text| json!(text))),
        ("handoff_next", change.handoff_next.as_ref().map(|text| json!(text))),
        ("handoff_blockers", change.handoff_blockers.as_ref().map(|text| json!(text))),
        ("handoff_completed", change.handoff_completed_append.as_ref().map(|text| json!(text))),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// What would be written on top of a task.
fn merge(task: &Task, change: &Change, call: &Value) -> Value {
    let mut fields = Map::new();
    fields.insert("version".to_owned(), json!(task.version));
    fields.extend(change.status.map(|status| ("status".to_owned(), json!(status))));
    let texts = [
        ("summary", &change.summary),
        ("handoff_completed_append", &change.handoff_completed_append),
        ("handoff_next", &change.handoff_next),
        ("handoff_blockers", &change.handoff_blockers),
    ];
    for (name, text) in texts.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?))) {
        let shown = clipped(text, TEXT);
        if length(&shown) < length(text) {
            fields.insert(format!("{name}_characters"), json!(grouped(length(text))));
        }
        fields.insert(name.to_owned(), json!(shown));
    }
    if let Some(receipt) = &change.work_receipt {
        fields.insert("work_receipt".to_owned(), told(receipt));
    }
    fields.insert("call".to_owned(), call.clone());
    Value::Object(fields)
}

fn told(receipt: &Receipt) -> Value {
    let fields = receipt.fields().into_iter();
    fields.filter_map(|(name, text)| Some((name.to_owned(), json!(clipped(text.as_deref()?, TEXT))))).collect()
}

/// Refuses a task that is finished: what is put onto it nobody would find.
fn check_open(task: &Task, run: &Short) -> Result<()> {
    let status = task.content.status;
    if status.is_open() {
        return Ok(());
    }
    let (id, version) = (task.short_id(), task.version);
    let receipt_only = call_on(run, task, true);
    let run = short_id(run.run_id);
    Err(Refusal::not_allowed(
        format!("task {id} is {status}, so that nobody would go on from run {run}"),
        format!(
            "If it must go on, reopen it first: heyaira task update {id} --expected-version {version} --status todo. If nothing \
             is left to do, keep the run's receipt alone: {receipt_only}; or heyaira run dismiss {run}. Nothing was written."
        ),
    ))
}

fn recorded_meanwhile(run: &Short) -> Refusal {
    let id = short_id(run.run_id);
    Refusal::new(
        Code::Unavailable,
        format!("run {id} was recorded by another call at the same moment"),
        format!("heyaira run show {id} tells where. Nothing was written by this call."),
    )
}

/// The answer for a run that is recorded already.
fn existing(run: &Short, task: &Task, kept: &Recorded) -> Value {
    let mut answer = Map::new();
    answer.insert("run_id".to_owned(), json!(run.run_id));
    answer.insert("existing".to_owned(), json!(true));
    answer.insert("task_id".to_owned(), json!(task.task_id));
    answer.insert("version".to_owned(), json!(kept.version));
    answer.insert("line".to_owned(), json!(handoff::line(task.task_id, kept.version)));
    answer.insert("recorded".to_owned(), recorded(kept));
    if task.version > kept.version {
        answer.insert("current_version".to_owned(), json!(task.version));
    }
    Value::Object(answer)
}

fn with_run(run: &Short, answer: Value) -> Value {
    let mut told = Map::new();
    told.insert("run_id".to_owned(), json!(run.run_id));
    told.insert("existing".to_owned(), json!(false));
    if let Value::Object(answer) = answer {
        told.extend(answer);
    }
    Value::Object(told)
}
