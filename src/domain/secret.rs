//! Secrets that no stored text may hold. Must never repeat the secret it found.
//!
//! Refused here from the start: `HeyAira`'s own write contexts and tokens. Rules for other providers' keys go beside
//! them, as further rows of [`SORTS`].

use serde_json::Value;

use crate::error::{Code, Refusal, Result};

/// A sort of secret: its name, and where in a text one starts.
struct Sort {
    name: &'static str,
    mend: &'static str,
    find: fn(&str) -> Option<usize>,
}

const SORTS: [Sort; 2] = [
    Sort { name: "a HeyAira write_context", mend: "[REDACTED:write-context]", find: find_write_context },
    Sort { name: "a HeyAira token", mend: "[REDACTED:heyaira-token]", find: find_token },
];

/// The length of the random part of a token in characters.
pub const TOKEN_BODY: usize = 43;
/// How every token starts.
pub const TOKEN_PREFIX: &str = "hya_";
/// The length of a pin in characters.
pub const PIN_LENGTH: usize = 16;

/// Refuses arguments that hold one of `HeyAira`'s own secrets anywhere but in `write_context` and the argument that may
/// be one, names included.
pub fn refuse_own(arguments: &Value, may_be_one: Option<&str>) -> Result<()> {
    let Some(fields) = arguments.as_object() else {
        return refuse_in("the arguments", arguments);
    };
    for (name, value) in fields {
        refuse_text("a name of an argument", name)?;
        let may_be = name == "write_context" || may_be_one == Some(name);
        if !may_be || !value.is_string() {
            refuse_in(name, value)?;
        }
    }
    Ok(())
}

/// True if a text holds one of `HeyAira`'s own secrets.
pub fn is_own(text: &str) -> bool {
    SORTS.iter().any(|sort| (sort.find)(text).is_some())
}

fn refuse_in(field: &str, value: &Value) -> Result<()> {
    match value {
        Value::String(text) => refuse_text(field, text),
        Value::Array(items) => items.iter().try_for_each(|item| refuse_in(field, item)),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            refuse_text("a name of an argument", name)?;
            refuse_in(&format!("{field}.{name}"), value)
        }),
        _ => Ok(()),
    }
}

/// Refuses a text that holds one of them; `field` says where it stands.
pub fn refuse_text(field: &str, text: &str) -> Result<()> {
    for sort in &SORTS {
        if let Some(start) = (sort.find)(text) {
            let before = &text[..start];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            return Err(Refusal::new(
                Code::SecretRefused,
                format!("{field} line {line} column {column} looks like {}", sort.name),
                format!("Remove it or write {}. Nothing was written.", sort.mend),
            ));
        }
    }
    Ok(())
}

/// `<project>@<8 hex>#<pin>`: the pin's length and alphabet make a chance hit practically impossible.
fn find_write_context(text: &str) -> Option<usize> {
    text.match_indices('#').find_map(|(hash, _)| {
        let pin = text[hash + 1..].bytes().take_while(u8::is_ascii_alphanumeric).count();
        let before = &text.as_bytes()[..hash];
        let at = before.len().checked_sub(9)?;
        let is_instance = before[at] == b'@' && before[at + 1..].iter().all(u8::is_ascii_hexdigit);
        let slug = before[..at].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
        (pin >= PIN_LENGTH && is_instance && slug > 0).then_some(at - slug)
    })
}

fn find_token(text: &str) -> Option<usize> {
    text.match_indices(TOKEN_PREFIX).map(|(start, _)| start).find(|start| {
        let body = text[start + TOKEN_PREFIX.len()..].bytes();
        body.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')).count() >= TOKEN_BODY
    })
}
