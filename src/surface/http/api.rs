//! Plain HTTP: `POST /api/<project>/<tool>` with the arguments as a JSON object. Must never know an operation by name.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use serde_json::Value;

use crate::domain::text::quoted;
use crate::error::Refusal;
use crate::operation::{Connection, Door, Entry};
use crate::operations;
use crate::surface::http::Server;
use crate::surface::http::answer::{self, Denied};
use crate::surface::http::caller::{self, Caller, Project};
use crate::surface::http::gate::Named;
use crate::surface::http::headers::{CONNECTION, NAMED_SESSION, encoded};

/// The operations that are served: those of one project.
pub fn served() -> impl Iterator<Item = &'static Entry> {
    operations::all().iter().filter(|entry| entry.in_project)
}

/// Answers one call.
pub async fn call(
    State(server): State<Arc<Server>>,
    path: Result<Path<(String, String)>, PathRejection>,
    request: Request<Body>,
) -> Response {
    let Ok(Path((project, tool))) = path else {
        return super::router::unknown_address().into_response();
    };
    match ask(&server, &project, &tool, request).await {
        Ok(response) => response,
        Err(denied) => denied.into_response(),
    }
}

async fn ask(server: &Server, project: &str, tool: &str, request: Request<Body>) -> Result<Response, Denied> {
    if request.method() != Method::POST {
        return Err(Denied::method(request.method(), "POST"));
    }
    let (parts, body) = request.into_parts();
    let caller = caller::admit(server, &parts, project, Door::Http, Project::Asked).await?;
    let entry = served().find(|entry| entry.name == tool);
    let answer = answered(server, &caller, &parts.headers, body, entry.ok_or(tool)).await;
    let mut response = answer.map_or_else(IntoResponse::into_response, |answer| answer::given(&answer));
    tell_bridge(&caller.connection, response.headers_mut());
    response.extensions_mut().insert(Named::of(&caller.connection, entry));
    Ok(response)
}

/// What a bridge needs to know of its connection before its next call.
fn tell_bridge(connection: &Connection, told: &mut HeaderMap) {
    if connection.door != Door::Bridge {
        return;
    }
    let session = connection.named_session();
    for (name, text) in [(CONNECTION, Some(connection.id.as_str())), (NAMED_SESSION, session.as_deref())] {
        if let Some(value) = text.and_then(|text| HeaderValue::from_str(&encoded(text)).ok()) {
            told.insert(name, value);
        }
    }
}

async fn answered(
    server: &Server,
    caller: &Caller,
    headers: &HeaderMap,
    body: Body,
    entry: Result<&'static Entry, &str>,
) -> Result<Value, Denied> {
    check_media(headers)?;
    let whole = server.room.read(headers, body).await?;
    let entry = entry.map_err(unknown_tool)?;
    let arguments = arguments(&whole.bytes)?;
    Ok(server.call(&caller.connection, &caller.told, entry, arguments).await?)
}

fn unknown_tool(tool: &str) -> Refusal {
    let known: Vec<&str> = served().map(|entry| entry.name).collect();
    Refusal::not_found(format!("there is no tool {}", quoted(tool, 60)), format!("The tools are {}.", known.join(", ")))
}

fn arguments(body: &[u8]) -> Result<Value, Denied> {
    if body.trim_ascii().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(body).map_err(|error| {
        // Not the parser's own words, which may quote the body.
        let words = error.to_string();
        let what = if words.contains("recursion limit") {
            "is nested deeper than 127 levels"
        } else if words.contains("surrogate") || words.contains("hex escape") {
            "holds half of a surrogate pair (\\ud800 to \\udfff alone)"
        } else if words.contains("number out of range") {
            "holds a number that is too large"
        } else {
            "is no JSON"
        };
        let message = format!("the body {what}, as seen at line {} column {}", error.line(), error.column());
        Denied::invalid(StatusCode::BAD_REQUEST, message, "Send one JSON object. Nothing was written.")
    })
}

fn check_media(headers: &HeaderMap) -> Result<(), Denied> {
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.to_str().unwrap_or_default());
    if !kind.is_some_and(is_json) {
        let message = "the body is not said to be JSON";
        let next = "Send the header Content-Type: application/json. Nothing was written.";
        return Err(Denied::invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, message, next));
    }
    let mut accepted = headers.get_all(ACCEPT).iter().map(|value| value.to_str().unwrap_or_default()).peekable();
    let takes_json = |list: &str| list.split(',').any(|one| is_json(one) || is_any(one));
    if accepted.peek().is_some() && !accepted.any(takes_json) {
        let next = "Send the header Accept: application/json, or none. Nothing was written.";
        return Err(Denied::invalid(StatusCode::NOT_ACCEPTABLE, "answers are JSON, which is not accepted", next));
    }
    Ok(())
}

fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

/// True for the media type of JSON, whatever its parameters.
pub fn is_json(kind: &str) -> bool {
    essence(kind).eq_ignore_ascii_case("application/json")
}

fn is_any(kind: &str) -> bool {
    matches!(essence(kind), "*/*" | "application/*")
}
