//! Plain HTTP: `POST /api/<project>/<tool>` with the arguments as a JSON object. Must never know an operation by name.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use serde_json::Value;
use serde_json::error::Category;

use crate::domain::text::quoted;
use crate::error::Refusal;
use crate::operation::{Connection, Door, Entry};
use crate::operations;
use crate::surface::headers::{CONNECTION, NAMED_SESSION, encoded};
use crate::surface::http::Server;
use crate::surface::http::answer::{self, Denied};
use crate::surface::http::caller::{self, Caller, Project};
use crate::surface::http::gate::Named;
use crate::surface::http::media;

/// The operations that are served: those of one project.
pub fn served() -> impl Iterator<Item = &'static Entry> {
    operations::all().iter().filter(|entry| entry.in_project)
}

/// Answers one call.
pub async fn call(
    State(server): State<Arc<Server>>,
    path: Result<Path<(String, String)>, PathRejection>,
    request: Request<Body>,
) -> Result<Response, Denied> {
    let Path((project, tool)) = path.map_err(|_| super::router::unknown_address())?;
    ask(&server, &project, &tool, request).await
}

async fn ask(server: &Server, project: &str, tool: &str, request: Request<Body>) -> Result<Response, Denied> {
    if request.method() != Method::POST {
        return Err(Denied::method(request.method(), "POST"));
    }
    let (parts, body) = request.into_parts();
    let caller = caller::admit(server, &parts, project, Door::Http, Project::Asked).await?;
    let entry = served().find(|entry| entry.name == tool);
    let answer = answered(server, &caller, &parts, body, entry.ok_or(tool)).await;
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
    parts: &Parts,
    body: Body,
    entry: Result<&'static Entry, &str>,
) -> Result<Value, Denied> {
    check_address(&parts.uri)?;
    media::check_body(&parts.headers)?;
    media::check_accepted(&parts.headers)?;
    let whole = server.room.read(&caller.connection.caller, &parts.headers, body).await?;
    let entry = entry.map_err(unknown_tool)?;
    let arguments = arguments(&whole.bytes)?;
    Ok(server.call(&caller.connection, &caller.told, entry, arguments).await?)
}

fn unknown_tool(tool: &str) -> Refusal {
    let known: Vec<&str> = served().map(|entry| entry.name).collect();
    Refusal::not_found(format!("there is no tool {}", quoted(tool, 60)), format!("The tools are {}.", known.join(", ")))
}

fn check_address(uri: &Uri) -> Result<(), Denied> {
    if uri.query().is_none_or(str::is_empty) {
        return Ok(());
    }
    let next = "Send the arguments in the body, as one JSON object. Nothing was written.";
    Err(Denied::invalid(
        StatusCode::BAD_REQUEST,
        "the address has a query, and arguments are not read from there",
        next,
    ))
}

fn arguments(body: &[u8]) -> Result<Value, Denied> {
    if body.trim_ascii().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(body).map_err(|error| {
        // Not the parser's own words, which may quote the body.
        let what = match error.classify() {
            Category::Eof => "breaks off",
            Category::Io | Category::Syntax | Category::Data => "is no JSON that can be taken",
        };
        let message = format!("the body {what}, as seen at line {} column {}", error.line(), error.column());
        let next = "Send one JSON object in UTF-8, at most 127 levels deep, without half of a surrogate pair (\\ud800 to \\udfff \
                    alone) and without numbers beyond those of 64 bits. Nothing was written.";
        Denied::invalid(StatusCode::BAD_REQUEST, message, next)
    })
}
