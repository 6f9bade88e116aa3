//! The headers that go beside a call, as both ends of the network read them, and any text as the value of one. Must
//! never lose or change a character.

use std::borrow::Cow;

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, ORIGIN};

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// In which a client names its session.
pub const SESSION: &str = "heyaira-session";
/// In which a client names its program.
pub const HARNESS: &str = "heyaira-harness";
/// In which a client names its model.
pub const MODEL: &str = "heyaira-model";
/// In which a client names the instance of its profile.
pub const INSTANCE: &str = "heyaira-instance";
/// In which a bridge names its connection, one of an agent, whose calls follow each other; the answer repeats it.
pub const CONNECTION: &str = "heyaira-connection";
/// In which an answer tells a bridge the session that its connection wrote as, to be sent with its next calls.
pub const NAMED_SESSION: &str = "heyaira-named-session";
/// In which a client marks a write that it may have to send twice; an `idempotency_key` among the arguments wins.
pub const KEY: &str = "idempotency-key";

/// In which a client of MCP says which version of it a message is in.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// How all headers of ours begin.
const OURS: &str = "heyaira-";

/// How a text that is not plain starts: an extended value of RFC 8187, in UTF-8 and without a language.
const EXTENDED: &str = "UTF-8''";
/// What is written as it is: the characters of a token, few enough for every reader.
const ESCAPED: AsciiSet = CONTROLS.add(b' ').add(b'%').add(b'"').add(b'\'').add(b'(').add(b')').add(b'*');

/// A text as the value of a header: as it is where that is plain ASCII, else as an extended value.
pub fn encoded(text: &str) -> Cow<'_, str> {
    let is_plain = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if is_plain && text.trim() == text && !text.starts_with(EXTENDED) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{EXTENDED}{}", utf8_percent_encode(text, &ESCAPED)))
}

/// The text of a value; `None` for an extended one that is not UTF-8.
pub fn decoded(value: &str) -> Option<Cow<'_, str>> {
    match value.strip_prefix(EXTENDED) {
        Some(extended) => percent_decode_str(extended).decode_utf8().ok(),
        None => Some(Cow::Borrowed(value)),
    }
}

/// A header that counts and stands there twice: whoever reads the first and whoever reads the last would differ.
pub fn repeated(headers: &HeaderMap) -> Option<&HeaderName> {
    // Most requests repeat none, and are not looked at any further.
    if headers.len() == headers.keys_len() {
        return None;
    }
    headers.keys().find(|name| counts(name) && headers.get_all(*name).iter().nth(1).is_some())
}

fn counts(name: &HeaderName) -> bool {
    name == ORIGIN
        || name == CONTENT_TYPE
        || name.as_str().starts_with(OURS)
        || matches!(name.as_str(), KEY | PROTOCOL_VERSION)
}

/// True for the media type of JSON, whatever its parameters.
pub fn is_json(kind: &str) -> bool {
    essence(kind).eq_ignore_ascii_case("application/json")
}

/// A media type without its parameters.
pub fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}
