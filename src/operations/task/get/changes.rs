//! What changed in a task after a version: both values of every field in short. Must never leave a version out unsaid.

use serde_json::{Map, Value, json};

use crate::domain::session;
use crate::domain::task::Task;
use crate::domain::text::{self, length};
use crate::error::Result;
use crate::operation::Context;
use crate::operations::budget::{self, cost_of, rows_that_fit};
use crate::operations::task::get::ReadOn;
use crate::store::version::{self, Version};

/// How long a value may be before it is cut, in characters: the longest at which at least one version fits.
const VALUES: [usize; 5] = [300, 120, 60, 30, 12];
/// The most versions that are looked at for one answer.
const VERSIONS: i64 = 200;
/// What the rows may cost together.
const ROOM: usize = budget::ANSWER - 500;

/// The changes after version `since`, oldest first, as many as fit.
pub(super) async fn since(context: &mut Context<'_>, task: &Task, since: i64) -> Result<Value> {
    let versions = version::after(context.transaction, task.task_id, since, VERSIONS).await?;
    let before = version::fields_at(context.transaction, task.task_id, since).await?;
    let mut first_cut = None;
    let mut rows = Vec::new();
    for most in VALUES {
        (rows, first_cut) = rows_of(task, &versions, before.clone(), most);
        if rows.first().is_none_or(|row| cost_of(row) <= ROOM) {
            break;
        }
    }
    let (rows, _) = rows_that_fit(rows, ROOM);
    let mut answer = Map::new();
    answer.insert("task_id".to_owned(), json!(task.task_id));
    answer.insert("version".to_owned(), json!(task.version));
    answer.insert("since".to_owned(), json!(since));
    let last = rows.last().and_then(|row| row["v"].as_i64()).unwrap_or(since);
    answer.insert("changes".to_owned(), Value::Array(rows));
    if let Some((version, call)) = first_cut.filter(|(version, _)| *version <= last) {
        answer.insert(
            "cut".to_owned(),
            json!({"version": version, "rest": call, "next": "the same for other values with …"}),
        );
    }
    if last < task.version {
        let rest = format!("task_get task_id={} since_version={last}", task.short_id());
        answer.insert("more".to_owned(), json!({"versions": task.version - last, "rest": rest}));
    }
    Ok(Value::Object(answer))
}

/// A row for each version with values of at most so many characters; and the call for the first value that was cut.
fn rows_of(
    task: &Task,
    versions: &[Version],
    mut before: Map<String, Value>,
    most: usize,
) -> (Vec<Value>, Option<(i64, String)>) {
    let mut first_cut = None;
    let mut rows = Vec::new();
    for one in versions {
        let mut fields = Map::new();
        for (name, value) in &one.content {
            let old = before.insert(name.clone(), value.clone()).unwrap_or(Value::Null);
            let (shown, is_cut) = difference(&old, value, most);
            fields.insert(name.clone(), shown);
            if is_cut && first_cut.is_none() {
                first_cut = Some((one.version, ReadOn::new(task, one.version).field(name)));
            }
        }
        if one.changed.iter().any(|name| name == "receipts") {
            fields.insert("receipts".to_owned(), json!("one more"));
        }
        rows.push(json!({
            "v": one.version,
            "who": one.author.caller,
            "session_ref": one.author.session_ref.as_deref().map(session::clipped),
            "at": one.at.rfc3339(),
            "fields": fields,
        }));
    }
    (rows, first_cut)
}

/// Both values in short; where lines were only added, the added part. And whether one of them was cut.
fn difference(old: &Value, new: &Value, most: usize) -> (Value, bool) {
    if let (Some(old), Some(new)) = (old.as_str(), new.as_str())
        && let Some(added) = new.strip_prefix(old).filter(|_| !old.is_empty())
    {
        let added = added.trim_start_matches('\n');
        return (json!({"added": in_short(added, most)}), length(added) > most);
    }
    let ((from, from_cut), (to, to_cut)) = (value_in_short(old, most), value_in_short(new, most));
    (json!({"from": from, "to": to}), from_cut || to_cut)
}

fn value_in_short(value: &Value, most: usize) -> (Value, bool) {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if length(&text) <= most { (value.clone(), false) } else { (json!(in_short(&text, most)), true) }
}

fn in_short(text: &str, most: usize) -> String {
    let of = length(text);
    if of <= most {
        return text.to_owned();
    }
    format!("{}… ({} characters)", text::head(text, most), text::grouped(of))
}
