//! Secrets that no stored text may hold. Must never repeat the secret it found.
//!
//! `HeyAira`'s own are refused whatever is set; those of others as the project says. The formats of providers are rows
//! of `formats`; what is told by its place in a text is a rule of its own. See ADR 10.

mod assigned;
mod block;
mod command;
mod formats;
mod header;
mod own;
mod password;
mod random;
mod scan;
mod sealed;
mod shape;
mod sighting;
mod url;
mod web_token;

use std::borrow::Cow;

use serde_json::Value;

use crate::error::Result;

pub use own::{TOKEN_BODY, TOKEN_PREFIX};
pub use scan::{Found, scan};
pub use sighting::{Sightings, mend};

/// The length of a pin in characters.
pub const PIN_LENGTH: usize = 16;

/// True if a text holds a secret, `HeyAira`'s own or another's.
pub fn holds(text: &str) -> bool {
    !scan(text).is_empty()
}

/// Refuses a text that holds one, whatever is set; `field` says where it stands.
pub fn refuse_text(field: &str, text: &str) -> Result<()> {
    Sightings::in_text(field, text).refuse()
}

/// Masks every text in a value, and every name.
pub fn mask_json(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(without) = masked(text) {
                *text = without;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask_json),
        Value::Object(fields) => {
            fields.values_mut().for_each(mask_json);
            if fields.keys().any(|name| holds(name)) {
                let all = std::mem::take(fields);
                fields.extend(all.into_iter().map(|(name, value)| (masked(&name).into_owned(), value)));
            }
        }
        _ => {}
    }
}

/// The text with `[REDACTED:…]` where a secret stands, for whatever is told of what was not accepted.
pub fn masked(text: &str) -> Cow<'_, str> {
    let found = scan(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut end = 0;
    for one in &found {
        shown.push_str(&text[end..one.range.start]);
        shown.push_str(&mend(one.sort));
        end = one.range.end;
    }
    shown.push_str(&text[end..]);
    Cow::Owned(shown)
}
