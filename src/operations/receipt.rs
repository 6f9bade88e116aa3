//! Receipts against repositories: showing one with its verifications, comparing it with what git said, and recording that.
//! Must never ask git, and never make a version of the task.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::domain::receipt::KeptReceipt;
use crate::domain::session::{self, Observed};
use crate::domain::task::Task;
use crate::domain::text::{head, length};
use crate::domain::verification::facts::{Facts, NAME_MAX};
use crate::domain::verification::{Claims, Difference, Judgement, judge};
use crate::error::{Refusal, Result};
use crate::operation::{Audience, Context, Effect, Operation};
use crate::operations::budget::{self, cost_of_fields, rows_within};
use crate::operations::task::{actor, author, load};
use crate::store::verification::{self, Recorded};
use crate::store::version;

/// How many verifications are read.
const SHOWN: i64 = 20;

/// A receipt of a task, what it claims of a repository, and its verifications, the newest first.
///
/// With facts, as `heyaira receipt verify --json` tells them: compares the receipt with these. Nothing is recorded.
#[derive(Deserialize, JsonSchema)]
pub struct ReceiptShow {
    /// The task: its id or the beginning of it, at least 4 characters.
    #[schemars(extend("x-check" = "task", "x-position" = true))]
    task_id: String,
    /// The version that the receipt came with; the last receipt if left out.
    #[schemars(range(min = 1))]
    receipt_version: Option<i64>,
    /// What git said of a repository: the object `facts` of that answer, not the whole answer.
    facts: Option<Facts>,
}

impl Operation for ReceiptShow {
    const NAME: &'static str = "receipt_show";
    const COMMAND: &'static str = "receipt show";
    const EFFECT: Effect = Effect::Reads;
    const AUDIENCE: Audience = Audience::People;

    fn problems(given: &Map<String, Value>, _observed: &Observed) -> Vec<String> {
        problems_of_facts(given)
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let task = load(context, &self.task_id).await?;
        let kept = kept(context, &task, self.receipt_version).await?;
        let mut answer = Map::new();
        answer.insert("task_id".to_owned(), json!(task.task_id));
        answer.insert("title".to_owned(), json!(task.content.title));
        if let Some(kept) = &kept {
            answer.insert("receipt".to_owned(), claimed(kept));
        }
        if let Some(facts) = &self.facts {
            tell(&mut answer, &judged(&task, kept.as_ref(), facts));
        }
        if let Some(kept) = &kept {
            let asked = verification::newest(task.task_id, kept.version, SHOWN);
            let (found, count) = context.transaction.ask(asked).await?;
            let room = budget::ANSWER.saturating_sub(cost_of_fields(&answer) + 80);
            let (rows, _) = rows_within(found.iter().map(row).collect(), room);
            answer.insert("total".to_owned(), json!(count));
            answer.insert("verifications".to_owned(), Value::Array(rows));
        }
        Ok(Value::Object(answer))
    }
}

/// Record what came out when a receipt was compared with a repository.
///
/// `heyaira receipt verify --record` does both. It makes no version of the task, and is never changed afterwards.
#[derive(Deserialize, JsonSchema)]
pub struct ReceiptRecord {
    /// The task: its full id or exactly the first 8 characters.
    #[schemars(extend("x-check" = "task-exact", "x-position" = true))]
    task_id: String,
    /// The version that the receipt came with.
    #[schemars(range(min = 1))]
    receipt_version: i64,
    /// The one string from the connection profile that keeps the write in its project.
    #[expect(dead_code, reason = "checked by call before the operation runs")]
    #[schemars(extend("x-agents-must" = true))]
    write_context: Option<String>,
    /// A word of your own: the same call with the same key happens once.
    #[expect(dead_code, reason = "kept by call")]
    #[schemars(length(max = 200), extend("x-check" = "key"))]
    idempotency_key: Option<String>,
    /// What git said of a repository: the object `facts` of what `heyaira receipt verify --json` tells, not the whole answer.
    facts: Facts,
}

impl Operation for ReceiptRecord {
    const NAME: &'static str = "receipt_record";
    const COMMAND: &'static str = "receipt record";
    const EFFECT: Effect = Effect::Adds;
    const AUDIENCE: Audience = Audience::People;

    fn problems(given: &Map<String, Value>, _observed: &Observed) -> Vec<String> {
        problems_of_facts(given)
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let task = load(context, &self.task_id).await?;
        let kept = kept(context, &task, Some(self.receipt_version)).await?;
        let judgement = judged(&task, kept.as_ref(), &self.facts);
        let author = author(context, &actor(context, None));
        let found = (&judgement, &self.facts);
        verification::insert(context.transaction, task.task_id, self.receipt_version, &author, found, context.now)?;
        let mut answer = Map::new();
        answer.insert("task_id".to_owned(), json!(task.task_id));
        answer.insert("receipt_version".to_owned(), json!(self.receipt_version));
        answer.insert("recorded".to_owned(), json!(context.now.rfc3339()));
        tell(&mut answer, &judgement);
        Ok(Value::Object(answer))
    }
}

/// What is wrong with facts that were given.
fn problems_of_facts(given: &Map<String, Value>) -> Vec<String> {
    let facts = given.get("facts").and_then(|facts| serde_json::from_value::<Facts>(facts.clone()).ok());
    let problem = facts.and_then(|facts| facts.problem());
    problem.map(|problem| format!("facts {problem}")).into_iter().collect()
}

/// The receipt that came with a version, which must be there, or the last one.
async fn kept(context: &mut Context<'_>, task: &Task, version: Option<i64>) -> Result<Option<KeptReceipt>> {
    let Some(version) = version else {
        return context.transaction.ask(version::last_receipt(task.task_id, task.version)).await;
    };
    let found = context.transaction.ask(version::receipt_at(task.task_id, version)).await?;
    found.map(Some).ok_or_else(|| {
        Refusal::not_found(
            format!("no receipt came with version {version} of task {}", task.short_id()),
            format!("heyaira receipt show {} tells the last one. Nothing was written.", task.short_id()),
        )
    })
}

fn judged(task: &Task, kept: Option<&KeptReceipt>, facts: &Facts) -> Judgement {
    let texts = [task.content.handoff_completed.as_str(), task.content.handoff_next.as_str()];
    judge(&Claims::of(kept.map(|kept| &kept.receipt), texts), facts)
}

fn tell(answer: &mut Map<String, Value>, judgement: &Judgement) {
    answer.insert("verdict".to_owned(), json!(judgement.verdict));
    answer.insert("differences".to_owned(), json!(judgement.differences));
}

/// What a receipt claims; what is too long to be a name is clipped.
fn claimed(kept: &KeptReceipt) -> Value {
    let mut told = Map::new();
    told.insert("v".to_owned(), json!(kept.version));
    let fields = kept.receipt.fields();
    let names = ["session_ref", "branch", "base_commit", "result_commit"];
    for (name, text) in fields.into_iter().filter(|(name, _)| names.contains(name)) {
        let Some(text) = text.as_deref().filter(|text| !text.is_empty()) else { continue };
        let is_whole = length(text) <= NAME_MAX;
        let text = if name == "session_ref" { session::clipped(text) } else { text.to_owned() };
        let text = if is_whole { text } else { format!("{}…", head(&text, NAME_MAX)) };
        told.insert(name.to_owned(), json!(text));
    }
    Value::Object(told)
}

fn row(recorded: &Recorded) -> Value {
    let Recorded { caller, session_ref, verification, facts } = recorded;
    let lines: Vec<&Difference> = verification.differences.iter().collect();
    json!({
        "at": verification.at.rfc3339(),
        "verdict": verification.verdict,
        "caller": caller,
        "session_ref": session_ref.as_deref().map(session::clipped),
        "path": facts.path,
        "differences": lines.iter().map(|one| one.line.as_str()).collect::<Vec<_>>(),
    })
}
