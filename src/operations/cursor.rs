//! Cursors: where the next page starts. A damaged one, or one of another list, is refused; never page one instead.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::domain::text::hex;
use crate::error::{Refusal, Result};

/// A cursor behind a row: the row's sort keys and id, bound to the list it came from.
pub fn encode(list: &Value, keys: &[i64], id: &str) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("{key:x}")).collect();
    let body = format!("{}:{id}", keys.join("."));
    format!("c1:{body}:{}", check(list, &body))
}

/// The keys and id of a cursor of this list.
pub fn decode(list: &Value, cursor: &str) -> Result<(Vec<i64>, String)> {
    let damaged = || {
        Refusal::argument(
            "cursor is damaged or belongs to another list: copy next_cursor whole and keep the other arguments, or leave it out for the first page",
        )
    };
    let (body, found) = cursor.strip_prefix("c1:").and_then(|rest| rest.rsplit_once(':')).ok_or_else(damaged)?;
    if check(list, body) != found {
        return Err(damaged());
    }
    let (keys, id) = body.split_once(':').ok_or_else(damaged)?;
    let keys = keys.split('.').map(|key| i64::from_str_radix(key, 16)).collect::<std::result::Result<_, _>>();
    Ok((keys.map_err(|_| damaged())?, id.to_owned()))
}

fn check(list: &Value, body: &str) -> String {
    let digest = Sha256::digest(json!([list, body]).to_string());
    hex(&digest[..4])
}
