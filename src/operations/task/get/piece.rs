//! One field of a task, piece by piece: what other answers cut is read on here. Must give back every character.

use serde_json::{Map, Value, json};

use crate::domain::handoff::memories_named;
use crate::domain::text::{self, length};
use crate::domain::verification::{self, Verification};
use crate::error::{Refusal, Result};
use crate::operation::Context;
use crate::operations::budget::{self, characters_that_fit};
use crate::operations::message;
use crate::operations::task::get::{ReadOn, Shown};
use crate::store::version;

/// The field from character `offset` on, as much of it as fits.
pub(super) async fn of(context: &mut Context<'_>, shown: &Shown, field: &str, offset: i64) -> Result<Value> {
    let text = whole(context, shown, field).await?.ok_or_else(|| {
        let names: Vec<&str> = shown.content().texts().map(|(name, _)| name).to_vec();
        Refusal::argument(format!(
            "field {} is no text: title, summary, {}, receipt.<field of the last receipt>, message.<id of one that waits>, \
             receipt.differences, tags, memories or open_boxes",
            text::quoted(field, 60),
            names.join(", ")
        ))
    })?;
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let of = length(&text);
    if start > of {
        return Err(Refusal::argument(format!("offset is {start}, {field} has {of} characters")));
    }
    let rest = text::tail(&text, start);
    let count = characters_that_fit(rest, budget::ANSWER - 400);
    let mut answer = Map::new();
    answer.insert("task_id".to_owned(), json!(shown.task.task_id));
    answer.insert("version".to_owned(), json!(shown.version));
    answer.insert("field".to_owned(), json!(field));
    answer.insert("offset".to_owned(), json!(start));
    answer.insert("shown".to_owned(), json!(count));
    answer.insert("of".to_owned(), json!(of));
    answer.insert("text".to_owned(), json!(text::head(rest, count)));
    if start + count < of {
        let next = ReadOn::new(&shown.task, shown.version).from(field, start + count);
        answer.insert("rest".to_owned(), json!(next));
    }
    Ok(Value::Object(answer))
}

/// The whole text of a field; a list is the text of its JSON.
async fn whole(context: &mut Context<'_>, shown: &Shown, field: &str) -> Result<Option<String>> {
    if let Some(name) = field.strip_prefix("receipt.") {
        let kept = context.transaction.ask(version::last_receipt(shown.task.task_id, shown.version)).await?;
        if name == "differences" {
            let last = kept.as_ref().and_then(verification::last);
            return Ok(Some(json!(last.map(Verification::contradictions).unwrap_or_default()).to_string()));
        }
        let fields = kept.as_ref().map(|kept| kept.receipt.fields());
        let value = fields.and_then(|fields| fields.into_iter().find(|(one, _)| *one == name));
        return Ok(value.map(|(_, value)| value.clone().unwrap_or_default()));
    }
    if let Some(id) = field.strip_prefix("message.") {
        return message::text_of(context, shown.task.task_id, id).await;
    }
    Ok(match field {
        "memories" => Some(json!(memories_named(shown.content())).to_string()),
        "open_boxes" => {
            let labels: Vec<String> = shown.content().open_boxes().into_iter().map(|(_, label)| label).collect();
            Some(json!(labels).to_string())
        }
        _ => match shown.content().fields().shift_remove(field) {
            Some(Value::String(text)) => Some(text),
            Some(list @ Value::Array(_)) => Some(list.to_string()),
            _ => None,
        },
    })
}
