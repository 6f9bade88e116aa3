//! Both sides: asks each the same and compares what they say, word for word but for what lawfully differs.

use std::fmt;

use heyaira::domain::task::Task;
use heyaira::error::{Code, Result};
use heyaira::store::backend::{Work, work};
use heyaira::store::{task, verify, version};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::side::Side;
use super::step::Step;

/// What lawfully differs by database: an operation's field, and why.
const MASKED: [(&str, &str, &str); 1] = [(
    "memory_search",
    "next_cursor",
    "it holds the database's own key of the last row; that it leads to the same rows is seen by following it",
)];

/// Everything stored beside tasks and their history, without the database's own keys.
const TABLES: [&str; 10] = [
    "select instance_id, resource, created_at from instance",
    "select slug, name, language, generation, stale_hours, archived_at, created_at from project order by slug",
    "select p.slug, c.status, cast(sum(c.tasks) as bigint) from task_count c join project p on p.project_id = c.project_id \
     group by p.slug, c.status order by p.slug, c.status",
    "select k.name, k.hash, p.slug, k.role, k.created_by, k.created_at, k.expires_at, k.revoked_at \
     from token k left join project p on p.project_id = k.project_id order by k.name",
    "select task_id, version, session_ref, fields, observed, carried, at from receipt order by task_id, version",
    "select session_ref, task_id, first_version, last_version, handed_off_version from task_session \
     order by session_ref, task_id",
    "select memory_id, kind, summary, body, tags, task_id, task_version, supersedes, superseded_by, caller, connection, \
     session_ref, at, fingerprint from memory order by memory_id",
    "select message_id, task_id, to_session, from_session, caller, connection, at, expires_at, acknowledged_at, \
     acknowledged_by, text from message order by message_id",
    "select caller, operation, idempotency_key, fingerprint, answer, expires_at from idempotency \
     order by caller, operation, idempotency_key, fingerprint",
    "select tag, task_id from task_tag order by tag, task_id",
];

/// The codes that no call of a healthy database is answered, whatever was asked.
const NEVER: [Code; 3] = [Code::Internal, Code::Unavailable, Code::Damaged];

/// Two answers to one question.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    /// What each side is called.
    names: [&'static str; 2],
    /// What each said.
    sides: Unequal,
}

/// What two sides said that is not the same.
type Unequal = [String; 2];

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const AROUND: usize = 300;
        let [left, right] = &self.sides;
        let same = left.chars().zip(right.chars()).take_while(|(one, other)| one == other).count();
        for (name, side) in self.names.into_iter().zip(&self.sides) {
            let from = same.saturating_sub(AROUND);
            let part: String = side.chars().skip(from).take(2 * AROUND).collect();
            let before = if from > 0 { "…" } else { "" };
            let after = if side.chars().count() > from + 2 * AROUND { "…" } else { "" };
            writeln!(formatter, "  {name}: {before}{part}{after}")?;
        }
        Ok(())
    }
}

/// Two databases.
pub(super) struct Pair {
    runtime: Runtime,
    sides: [Side; 2],
    /// The secrets that were handed out.
    secrets: Vec<String>,
}

impl Pair {
    /// Two fresh ones; the first is spoilt by `fault`, if there is one.
    pub(super) fn new(seed: u64, fault: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let sides = [Side::on_a_file(&runtime, seed), Side::on_the_server(&runtime, seed)];
        sides[0].spoil(fault);
        Self { runtime, sides, secrets: Vec::new() }
    }

    /// The answer of both sides, if it is one.
    pub(super) fn ask(&mut self, step: &Step) -> Result<Result<Value>, Difference> {
        let [left, right] = &mut self.sides;
        let (left, right) = self.runtime.block_on(async { tokio::join!(left.ask(step), right.ask(step)) });
        let is_failure = left.as_ref().is_err_and(|refusal| NEVER.contains(&refusal.code));
        let sides = [told(step, &left), told(step, &right)];
        if is_failure || sides[0] != sides[1] {
            return Err(self.difference(sides));
        }
        let secret = left.as_ref().ok().and_then(|answer| answer.get("token")).and_then(Value::as_str);
        self.secrets.extend(secret.map(str::to_owned));
        Ok(left)
    }

    fn difference(&self, sides: Unequal) -> Difference {
        Difference { names: self.sides.each_ref().map(|side| side.name), sides }
    }

    /// Compares what no single call shows: every task with its whole history, every row of the other tables, and what
    /// every secret opens. Each database must pass the check of `heyaira verify`.
    pub(super) fn look_at_everything(&self) -> Result<(), Difference> {
        self.runtime.block_on(self.looked_at()).map_err(|sides| self.difference(sides))
    }

    async fn looked_at(&self) -> Result<(), Unequal> {
        let [left, right] = &self.sides;
        for secret in &self.secrets {
            equal([left.opened_by(secret).await, right.opened_by(secret).await])?;
        }
        let mut after = Uuid::nil();
        loop {
            let (tasks, others) = (batch(left, after).await, batch(right, after).await);
            let ids = |batch: &[(Uuid, i64)]| batch.iter().map(|(id, _)| format!("{id} ")).collect::<String>();
            equal([ids(&tasks), ids(&others)])?;
            let Some((last, _)) = tasks.last() else {
                break;
            };
            after = *last;
            for (one, other) in tasks.iter().zip(&others) {
                equal([everything(left, *one).await, everything(right, *other).await])?;
            }
        }
        for sql in TABLES {
            equal([rows(left, sql).await, rows(right, sql).await])?;
        }
        let problems = [tables(left).await, tables(right).await];
        if problems.iter().all(String::is_empty) { Ok(()) } else { Err(problems) }
    }
}

fn equal(sides: Unequal) -> Result<(), Unequal> {
    if sides[0] == sides[1] { Ok(()) } else { Err(sides) }
}

/// An outcome as text, without what may differ.
fn told(step: &Step, outcome: &Result<Value>) -> String {
    let mut told = match outcome {
        Ok(answer) => answer.clone(),
        Err(refusal) => refusal.body(),
    };
    for (operation, field, why) in MASKED {
        if step.operation == operation
            && let Some(value) = told.get_mut(field)
        {
            *value = json!(why);
        }
    }
    told.to_string()
}

/// What a side read, as text; a failure names the side, so that it never equals another one's.
async fn read<T: Send + 'static>(side: &Side, reading: impl Work<T>, told: impl FnOnce(T) -> String) -> String {
    side.read(reading).await.map_or_else(|refusal| format!("{}: {refusal}", side.name), told)
}

async fn batch(side: &Side, after: Uuid) -> Vec<(Uuid, i64)> {
    let found = work(move |transaction| Box::pin(async move { verify::tasks_behind(transaction, after).await }));
    side.read(found).await.expect("tasks are listed")
}

/// A task with all its versions, and what is wrong with it.
async fn everything(side: &Side, (task_id, project_id): (Uuid, i64)) -> String {
    let found = work(move |transaction| {
        Box::pin(async move {
            // Its key is the database's own: whether that of a removed row is given again is not ours to say.
            let task = task::get(transaction, project_id, task_id).await?.map(|task| Task { task_key: 0, ..task });
            let history = version::after(transaction, task_id, 0, i64::MAX).await?;
            let problems = verify::task_problems(transaction, project_id, task_id).await?;
            Ok((problems, format!("{task:?} {history:?}")))
        })
    });
    let name = side.name;
    let told = |(problems, told): (Vec<String>, String)| {
        if problems.is_empty() { told } else { format!("{name}: {}", problems.join("; ")) }
    };
    read(side, found, told).await
}

async fn rows(side: &Side, sql: &'static str) -> String {
    let found = work(move |transaction| Box::pin(async move { transaction.rows(sql, &[]).await }));
    read(side, found, |rows| format!("{sql}: {rows:?}")).await
}

async fn tables(side: &Side) -> String {
    let found = work(move |transaction| Box::pin(async move { verify::table_problems(transaction).await }));
    read(side, found, |problems| problems.join("; ")).await
}
