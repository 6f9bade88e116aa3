//! JSON Web Tokens: three parts of base64, the first of which is a JSON object that names an algorithm.

use std::ops::Range;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::random::is_random;
use super::scan::Found;
use super::shape::{Alphabet, starts_word};

/// The fewest characters of a signature or of the tag of an encrypted token.
const LAST_LEAST: usize = 20;
/// The longest part that is read, in bytes.
const PART_MAX: usize = 16 * 1024;

/// A signed or encrypted token that starts at `start`.
pub(super) fn web_token(text: &str, start: Range<usize>) -> Option<Found> {
    let bytes = text.as_bytes();
    if !starts_word(bytes, start.start) || !text[start.clone()].starts_with("eyJ") {
        return None;
    }
    let header = part(bytes, start.start);
    let payload = part(bytes, header.end + 1);
    let mut last = part(bytes, payload.end + 1);
    let are_parts = [&header, &payload, &last].into_iter().all(|part| !part.is_empty())
        && bytes.get(header.end) == Some(&b'.')
        && bytes.get(payload.end) == Some(&b'.');
    if !are_parts {
        return None;
    }
    let is_object = names_algorithm(&text[header])?;
    if last.len() < LAST_LEAST || !is_random(&bytes[last.clone()]) || is_shown_to_all(&text[payload]) {
        return None;
    }
    // An encrypted one has five.
    while bytes.get(last.end) == Some(&b'.') && !part(bytes, last.end + 1).is_empty() {
        last = part(bytes, last.end + 1);
    }
    is_object.then(|| Found::new("a JSON Web Token", start.start..last.end))
}

fn part(bytes: &[u8], start: usize) -> Range<usize> {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.iter().take(PART_MAX).take_while(|byte| Alphabet::Word.holds(**byte)).count();
    start..start + length
}

fn object(part: &str) -> Option<Map<String, Value>> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(part).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn names_algorithm(header: &str) -> Option<bool> {
    object(header).map(|header| header.contains_key("alg") || header.contains_key("enc"))
}

/// True for the keys that every local Supabase has.
fn is_shown_to_all(payload: &str) -> bool {
    object(payload).is_some_and(|claims| claims.get("iss").and_then(Value::as_str) == Some("supabase-demo"))
}
