//! From one line to one message, or to the error that answers it. Must never answer a line that wants no answer, and
//! never repeat what a client sent.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

/// What a line is.
#[derive(Debug)]
pub enum Parsed {
    /// A message for the service.
    Message(Box<ClientJsonRpcMessage>),
    /// A bad line, and the line that answers it.
    Bad(Vec<u8>),
    /// Nothing that wants an answer.
    Nothing,
}

/// What can be known of a message that is not one of ours. All other fields are skipped without a look at their
/// strings, so that half of a surrogate pair in a text does not hide whose answer is missing.
#[derive(Deserialize)]
struct Head {
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<Value>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// Tells a field that is null from one that is not there.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Head {
    /// A notification, or an answer to a question that was never asked: answering those could go on for ever.
    fn wants_no_answer(&self) -> bool {
        let answers = self.method.is_none() && (self.result.is_some() || self.error.is_some());
        answers || (self.id.is_none() && self.method.as_ref().is_some_and(Value::is_string))
    }
}

/// Parses one line.
pub fn parse(line: &[u8]) -> Parsed {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Parsed::Nothing;
    }
    let Ok(text) = std::str::from_utf8(line) else {
        return bad(&ErrorData::parse_error("Parse error: the message is not UTF-8", None), None);
    };
    match serde_json::from_str::<ClientJsonRpcMessage>(text) {
        Ok(message) => Parsed::Message(Box::new(mended(message, text))),
        Err(error) => refuse(text, &error),
    }
}

fn bad(error: &ErrorData, id: Option<&RequestId>) -> Parsed {
    Parsed::Bad(error_line(error, id))
}

/// The line of an error. Without a known id it is null, as JSON-RPC has it; the library would leave it out.
pub fn error_line(error: &ErrorData, id: Option<&RequestId>) -> Vec<u8> {
    let mut line = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string().into_bytes();
    line.push(b'\n');
    line
}

fn refuse(text: &str, error: &serde_json::Error) -> Parsed {
    if text.starts_with('[') && serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return bad(&ErrorData::invalid_request("Invalid request: send one message at a time, no batch", None), None);
    }
    let head = match serde_json::from_str::<Head>(text) {
        Ok(head) if text.starts_with('{') => head,
        Err(error) if error.is_syntax() || error.is_eof() => {
            return bad(&ErrorData::parse_error("Parse error: the message is not JSON", None), None);
        }
        _ => return bad(&ErrorData::invalid_request("Invalid request: no JSON-RPC 2.0 message", None), None),
    };
    if head.wants_no_answer() {
        return Parsed::Nothing;
    }
    let reason = error.to_string();
    let what = if reason.contains("surrogate") || reason.contains("hex escape") {
        "Invalid request: a text holds half of a surrogate pair (\\ud800 to \\udfff alone); send whole characters"
    } else if error.is_syntax() {
        "Invalid request: the JSON is not valid"
    } else {
        "Invalid request: no JSON-RPC 2.0 message with a string or integer as id"
    };
    let id: Option<RequestId> = head.id.and_then(|id| serde_json::from_value(id).ok());
    bad(&ErrorData::invalid_request(what, None), id.as_ref())
}

/// An `initialize` in a form that the library does not know comes as a custom request; every client gets an answer,
/// so what it left out or sent in another type is filled in.
fn mended(message: ClientJsonRpcMessage, text: &str) -> ClientJsonRpcMessage {
    let ClientJsonRpcMessage::Request(request) = &message else {
        return message;
    };
    let ClientRequest::CustomRequest(custom) = &request.request else {
        return message;
    };
    if custom.method != "initialize" {
        return message;
    }
    let given = serde_json::from_str::<Value>(text).unwrap_or_default();
    let given = &given["params"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let client = &given["clientInfo"];
    let lawful = json!({"jsonrpc": "2.0", "id": request.id, "method": "initialize", "params": {
        "protocolVersion": text(&given["protocolVersion"]),
        "capabilities": {},
        "clientInfo": {"name": text(&client["name"]), "version": text(&client["version"])},
    }});
    serde_json::from_value(lawful).unwrap_or(message)
}
