//! `handoff_check` and `handoff_line`, and the warnings of an update.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::handoff::{self, Finding, Form, Grade, Level, NamedMemory, Subject};
use crate::domain::project::Project;
use crate::domain::receipt::Receipt;
use crate::domain::rule::{Rule, Setting, Settings};
use crate::domain::task::{Content, Status, Task};
use crate::domain::text::quoted_value;
use crate::domain::verification;
use crate::error::{Refusal, Result};
use crate::operation::arguments::Reading;
use crate::operation::{Audience, Context, Effect, Operation, schema};
use crate::operations::budget::{self, cost_of, rows_that_fit};
use crate::operations::task::load;
use crate::store::{memory, version};

/// What the task's id and version cost, and what is said where findings are left out.
const OVERHEAD: usize = 200;
/// How many decisions of a session are looked at.
const UNNAMED: i64 = 200;

/// What to fix in a saved handoff. `task_update` tells up to 5 of it when it saves one.
#[derive(Deserialize, JsonSchema)]
pub struct HandoffCheck {
    /// The task; a draft is laid over what is saved.
    #[schemars(extend("x-check" = "task", "x-position" = true, "x-agents-must" = true))]
    task_id: Option<String>,
    /// A handoff that is not saved yet: an object with the fields of task update.
    #[schemars(extend("x-people" = true))]
    draft: Option<Draft>,
}

/// A handoff that is not saved yet.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Draft {
    /// The title.
    title: Option<String>,
    /// The status.
    status: Option<Status>,
    /// The state in one sentence.
    summary: Option<String>,
    /// The next steps.
    handoff_next: Option<String>,
    /// The blockers.
    handoff_blockers: Option<String>,
    /// What is done.
    handoff_completed: Option<String>,
    /// The receipt.
    work_receipt: Option<Receipt>,
}

impl Operation for HandoffCheck {
    const NAME: &'static str = "handoff_check";
    const COMMAND: &'static str = "handoff check";
    const EFFECT: Effect = Effect::Reads;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        if self.task_id.is_none() && self.draft.is_none() {
            return Err(Refusal::argument("task_id is missing: name a task, or give a draft"));
        }
        let task = match &self.task_id {
            Some(reference) => Some(load(context, reference).await?),
            None => None,
        };
        let saved = task.as_ref().map(|task| task.content.clone()).unwrap_or_default();
        let (content, receipt, next_by) = match self.draft {
            Some(draft) => {
                // Who is to write what is not saved yet is not known.
                let is_kept = draft.handoff_next.is_none();
                let (content, receipt) = draft.over(saved);
                (content, receipt, next_by(task.as_ref()).filter(|_| is_kept))
            }
            None => (saved, None, next_by(task.as_ref())),
        };
        let found = findings(context, task.as_ref(), &content, receipt, next_by.as_deref(), true).await?;
        let mut answer = answer(&found);
        if let (Some(task), Some(fields)) = (task, answer.as_object_mut()) {
            fields.shift_insert(0, "task_id".to_owned(), json!(task.task_id));
            fields.shift_insert(1, "version".to_owned(), json!(task.version));
        }
        Ok(answer)
    }
}

fn answer(found: &Found) -> Value {
    let mut answer = json!({"grade": found.grade(), "findings": []});
    if !found.differences.is_empty() {
        answer["verified"] = json!("contradicted");
        answer["differences"] = json!(found.differences);
    }
    let rows = found.findings.iter().map(|finding| json!(finding)).collect();
    let (shown, left) = rows_that_fit(rows, budget::ANSWER.saturating_sub(cost_of(&answer) + OVERHEAD));
    answer["findings"] = Value::Array(shown);
    if left > 0 {
        answer["more"] = json!(left);
        answer["next"] = json!("Fix these, then check again.");
    }
    answer
}

/// What speaks against a handoff.
#[derive(Default)]
struct Found {
    /// What the rules find.
    findings: Vec<Finding>,
    /// What a repository contradicted when the receipt was last verified.
    differences: Vec<String>,
}

impl Found {
    fn grade(&self) -> Grade {
        Grade::of_findings(&self.findings).with_git(!self.differences.is_empty())
    }
}

/// Who wrote the next steps of a task since its takeover.
fn next_by(task: Option<&Task>) -> Option<String> {
    let marks = &task?.marks;
    marks.next_by.clone().filter(|_| marks.next_version > 0)
}

/// The answer for a handoff in a file of its own, which no project knows: a document, or a draft as JSON.
///
/// `language` is the working language, where it is known. Memories and sessions are not looked up.
pub fn check_loose(text: &str, language: Option<&str>) -> Result<Value> {
    let is_json = text.trim_start().starts_with('{') || serde_json::from_str::<Value>(text).is_ok();
    let (form, content, receipt) = if is_json {
        let draft = given_draft(text)?;
        let (content, receipt) = draft.over(Content::default());
        (Form::Task, content, receipt)
    } else {
        (Form::Document, handoff::document(text), None)
    };
    let settings = Settings::default();
    let subject = Subject {
        form,
        content: &content,
        receipt: receipt.as_ref(),
        next_by: None,
        language,
        named: &[],
        unnamed_decisions: &[],
        settings: &settings,
        is_whole: true,
    };
    Ok(answer(&Found { findings: handoff::check(&subject), ..Found::default() }))
}

/// A draft out of JSON, checked as if it had been sent.
fn given_draft(text: &str) -> Result<Draft> {
    let given: Value = serde_json::from_str(text)
        .map_err(|error| Refusal::argument(format!("the file is no JSON object: {error}")))?;
    if !given.is_object() {
        let shown = quoted_value(&given, 60);
        return Err(Refusal::argument(format!("the file is JSON and no object with the fields of a draft: {shown}")));
    }
    let schema = schema::full::<HandoffCheck>();
    let reading = Reading { schema: &schema, reads: true, by_person: true, whole: true };
    let checked = reading.parse(json!({"draft": given}), |_| Vec::new())?;
    let check: HandoffCheck =
        serde_json::from_value(Value::Object(checked)).map_err(|error| Refusal::internal(&error))?;
    Ok(check.draft.unwrap_or_default())
}

impl Draft {
    fn over(self, saved: Content) -> (Content, Option<Receipt>) {
        let content = Content {
            title: self.title.unwrap_or(saved.title),
            status: self.status.unwrap_or(saved.status),
            summary: self.summary.unwrap_or(saved.summary),
            handoff_next: self.handoff_next.unwrap_or(saved.handoff_next),
            handoff_blockers: self.handoff_blockers.unwrap_or(saved.handoff_blockers),
            handoff_completed: self.handoff_completed.unwrap_or(saved.handoff_completed),
            ..saved
        };
        (content, self.work_receipt)
    }
}

/// All that speaks against a content; the receipt is the given one, else the last since the task's takeover.
async fn findings(
    context: &mut Context<'_>,
    task: Option<&Task>,
    content: &Content,
    receipt: Option<Receipt>,
    next_by: Option<&str>,
    is_whole: bool,
) -> Result<Found> {
    let project = context.project()?.clone();
    let project_id = project.project_id;
    let mut receipt = receipt;
    let mut differences = Vec::new();
    if let Some(task) = task
        && receipt.is_none()
    {
        let last = context.transaction.ask(version::last_receipt(task.task_id, task.version)).await?;
        // A handoff that was taken over is still checked with the receipt that came with it.
        let is_new = task.marks.next_version > 0;
        let last = last.filter(|last| !is_new || last.version >= task.marks.takeover_version);
        if let Some(contradicting) = last.as_ref().and_then(verification::contradicts) {
            differences.extend(contradicting.contradictions().into_iter().map(str::to_owned));
        }
        receipt = last.map(|last| last.receipt);
    }
    let ids = handoff::memories_named(content);
    let mut named = Vec::with_capacity(ids.len());
    for memory_id in &ids {
        let found = memory::get(context.transaction, project_id, memory_id).await?;
        named.push(NamedMemory {
            memory_id: memory_id.clone(),
            exists: found.is_some(),
            superseded_by: found.and_then(|found| found.superseded_by),
        });
    }
    let session = receipt.as_ref().and_then(|receipt| receipt.session_ref.clone());
    let unnamed = match (task, session) {
        (Some(task), Some(session_ref)) => unnamed_decisions(context, task, session_ref, &ids).await?,
        _ => Vec::new(),
    };
    let findings = handoff::check(&Subject {
        form: Form::Task,
        content,
        receipt: receipt.as_ref(),
        next_by,
        language: Some(&project.language),
        named: &named,
        unnamed_decisions: &unnamed,
        settings: &project.rules,
        is_whole,
    });
    Ok(Found { findings, differences })
}

/// Decisions of this session for this task since its takeover that no text names.
async fn unnamed_decisions(
    context: &mut Context<'_>,
    task: &Task,
    session_ref: String,
    named: &[String],
) -> Result<Vec<String>> {
    let project_id = context.project()?.project_id;
    let filter = memory::Filter {
        kind: Some("decision".to_owned()),
        task_id: Some(task.task_id),
        session_ref: Some(session_ref),
        after_task_version: Some(task.marks.takeover_version - 1),
        ..memory::Filter::default()
    };
    let found = memory::page(context.transaction, project_id, &filter, None, UNNAMED).await?;
    Ok(found.into_iter().map(|one| one.memory_id).filter(|id| !named.contains(id)).collect())
}

/// What the rules say of a task that an update is about to write.
pub(crate) struct Judged {
    /// What is told of the fields that it touched, the worst first.
    told: Vec<Finding>,
    /// The grade of the whole handoff, where one was judged.
    pub grade: Option<Grade>,
}

impl Judged {
    /// Judges the task after an update. Only one that touched the handoff is judged whole; of another, what no reader
    /// could see.
    pub(crate) async fn of(
        context: &mut Context<'_>,
        after: &Task,
        receipt: Option<&Receipt>,
        touched: &[&str],
    ) -> Result<Self> {
        let is_judged = touched.iter().any(|field| field.starts_with("handoff_") || *field == "work_receipt")
            || (after.marks.pending_version > 0
                && touched.iter().any(|field| ["status", "summary", "title"].contains(field)));
        let tags = after.content.tags.join("\n");
        if !is_judged {
            let texts = after.content.texts().into_iter().chain([
                ("title", after.content.title.as_str()),
                ("summary", &after.content.summary),
                ("tags", &tags),
            ]);
            let texts: Vec<(&str, &str)> = texts.filter(|(name, _)| touched.contains(name)).collect();
            return Ok(Self { told: handoff::hidden(&texts, &context.project()?.rules), grade: None });
        }
        // Without a handoff that waits, or that this update writes, nothing is missing and nothing is graded.
        let is_whole = after.marks.pending_version > 0 || is_handoff(touched);
        let next_by = next_by(Some(after));
        let found =
            findings(context, Some(after), &after.content, receipt.cloned(), next_by.as_deref(), is_whole).await?;
        // What git says is looked at when the grade is shown: it may be asked later, and again.
        let grade = is_whole.then(|| Grade::of_findings(&found.findings));
        let completes = after.marks.pending_version == after.version;
        let mut told: Vec<Finding> =
            found.findings.into_iter().filter_map(|finding| told(finding, touched, completes)).collect();
        // Tags are no part of a handoff, and what nobody could see in them is told as it is elsewhere.
        let tags = touched.contains(&"tags").then_some(("tags", tags.as_str()));
        told.extend(handoff::hidden(tags.as_slice(), &context.project()?.rules));
        told.sort_by_key(|finding| (!finding.contradicts, finding.level != Level::Error));
        Ok(Self { told, grade })
    }

    /// The findings as warnings, or a refusal with all of them where the project refuses what one of the rules finds.
    /// Where only some fields were `given`, and others made by a program, what is found in those is never refused.
    pub(crate) fn warnings(self, project: &Project, given: Option<&[&str]>) -> Result<Vec<Value>> {
        let Some(given) = given else { return warnings(&self.told, project) };
        let is_given = |finding: &&Finding| given.contains(&finding.field.as_str());
        let refusable: Vec<Finding> = self.told.iter().filter(is_given).cloned().collect();
        warnings(&refusable, project)?;
        Ok(self.told.iter().map(warning).collect())
    }
}

/// Findings as warnings, or a refusal with all of them where the project refuses what one of the rules finds.
pub(crate) fn warnings(told: &[Finding], project: &Project) -> Result<Vec<Value>> {
    let is_refused = |finding: &&Finding| project.setting(finding.rule) == Setting::Refuse;
    let refused: Vec<String> = told
        .iter()
        .filter(is_refused)
        .map(|finding| format!("{} ({}): {}", finding.field, finding.rule.as_str(), finding.fix))
        .collect();
    if !refused.is_empty() {
        let message = format!("project {} refuses this: {}", project.slug, refused.join(". "));
        let next = "Correct it and send the whole update again. Nothing was written.";
        return Err(Refusal::not_allowed(message, next).with("findings", json!(told)));
    }
    Ok(told.iter().map(warning).collect())
}

fn warning(finding: &Finding) -> Value {
    json!({"rule": finding.rule, "field": finding.field, "fix": finding.fix})
}

/// What a write of these texts is warned of, whatever it writes.
pub(crate) fn warnings_of_texts(texts: &[(&str, &str)], project: &Project) -> Result<Vec<Value>> {
    warnings(&handoff::hidden(texts, &project.rules), project)
}

/// True for an update that sets one half of a handoff.
fn is_handoff(touched: &[&str]) -> bool {
    touched.contains(&"handoff_next") || touched.contains(&"work_receipt")
}

/// The finding, if an update that touched these fields is to be told of it. One that completes a handoff is told of all that
/// the handoff lacks, in whatever field.
fn told(mut finding: Finding, touched: &[&str], completes: bool) -> Option<Finding> {
    // An update that sets neither half of a handoff is no handoff: what it lacks is not told.
    if finding.lacks && !is_handoff(touched) {
        return None;
    }
    if finding.lacks && completes {
        return Some(finding);
    }
    let is_touched = |field: &str| touched.contains(&field.split('.').next().unwrap_or(field));
    if is_touched(&finding.field) || finding.rule == Rule::ReceiptComplete {
        return Some(finding);
    }
    let other = finding.or_field.filter(|field| is_touched(field))?;
    other.clone_into(&mut finding.field);
    Some(finding)
}

/// The line to paste into the next session.
#[derive(Deserialize, JsonSchema)]
pub struct HandoffLine {
    /// The task: its id or the beginning of it, at least 4 characters.
    #[schemars(extend("x-check" = "task", "x-position" = true))]
    task_id: String,
}

impl Operation for HandoffLine {
    const NAME: &'static str = "handoff_line";
    const COMMAND: &'static str = "handoff line";
    const EFFECT: Effect = Effect::Reads;
    const AUDIENCE: Audience = Audience::People;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let task = load(context, &self.task_id).await?;
        Ok(json!({"line": task.line()}))
    }
}
