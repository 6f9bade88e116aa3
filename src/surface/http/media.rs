//! What a body is said to be, and what a client takes as an answer. Must never read a body as what it is not.

use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::surface::headers::{essence, is_json};
use crate::surface::http::answer::Denied;

/// The one coding of a body, which is none.
const IDENTITY: &str = "identity";

/// Refuses a body that is not said to be JSON as it is.
pub fn check_body(headers: &HeaderMap) -> Result<(), Denied> {
    if !listed(headers, &CONTENT_ENCODING).all(|coding| coding.eq_ignore_ascii_case(IDENTITY)) {
        let next = "Send it as it is, without the header Content-Encoding or with identity. Nothing was written.";
        let denied = Denied::invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body is said to be encoded", next);
        return Err(denied.with_header(ACCEPT_ENCODING, HeaderValue::from_static(IDENTITY)));
    }
    if headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).is_some_and(is_json) {
        return Ok(());
    }
    let next = "Send the header Content-Type: application/json. Nothing was written.";
    Err(Denied::invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body is not said to be JSON", next))
}

/// Refuses a client that takes no JSON.
pub fn check_accepted(headers: &HeaderMap) -> Result<(), Denied> {
    if !headers.contains_key(ACCEPT) || listed(headers, &ACCEPT).any(|kind| is_json(kind) || is_any(kind)) {
        return Ok(());
    }
    let next = "Send the header Accept: application/json, or none. Nothing was written.";
    Err(Denied::invalid(StatusCode::NOT_ACCEPTABLE, "answers are JSON, which is not accepted", next))
}

/// The members of a list, in one header or several.
fn listed<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let lists = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
    lists.flat_map(|list| list.split(',')).map(str::trim)
}

fn is_any(kind: &str) -> bool {
    matches!(essence(kind), "*/*" | "application/*")
}
