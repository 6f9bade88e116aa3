//! MCP over HTTP: `POST /mcp/<project>`, each message by itself, both eras of the protocol on one address.
//! Must never keep anything of a client between two messages.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use rmcp::model::{Extensions, ProtocolVersion};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use crate::domain::session::Observed;
use crate::error::{Refusal, Result};
use crate::operation::{Door, Entry};
use crate::operations;
use crate::surface::http::Server;
use crate::surface::http::answer::{self, Denied};
use crate::surface::http::caller::{self, Caller, Project};
use crate::surface::http::gate::Named;
use crate::surface::http::media;
use crate::surface::mcp::Served;
use crate::surface::mcp::calls::{Calls, Surroundings};
use crate::surface::mcp::subscriptions::Subscriptions;
use crate::surface::mcp::transport::message::{Parsed, parse};

/// What serves the messages.
pub type Messages = StreamableHttpService<Served, NeverSessionManager>;

/// A server of messages over the operations.
pub fn messages(server: &Arc<Server>) -> Messages {
    let handler = Served::over(Arc::new(ByMessage { server: Arc::clone(server) }), operations::all());
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config())
}

/// Stateless and in JSON: a stream only where one was asked for. Hosts, origins and sizes are checked before. Nothing
/// cancels what is running at the end: calls are finished, and streams end with their subscriptions.
fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .with_max_request_body_bytes(usize::MAX)
}

/// The operations for the caller of each message.
struct ByMessage {
    server: Arc<Server>,
}

fn caller_of(request: &Extensions) -> Result<&Caller> {
    let parts = request.get::<Parts>();
    let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
    caller.ok_or_else(|| Refusal::internal(&"a message came without its caller"))
}

impl Calls for ByMessage {
    fn call<'c>(
        &'c self,
        request: &'c Extensions,
        entry: &'static Entry,
        observed: Observed,
        arguments: Value,
    ) -> BoxFuture<'c, Result<Value>> {
        Box::pin(async move {
            let caller = caller_of(request)?;
            self.server.call(&caller.connection, &observed, entry, arguments).await
        })
    }

    fn project<'c>(&'c self, request: &'c Extensions) -> BoxFuture<'c, Result<String>> {
        let project = caller_of(request).and_then(|caller| caller.connection.pinned.clone());
        Box::pin(std::future::ready(project.map(|pinned| pinned.project)))
    }

    fn subscriptions(&self) -> Option<&Arc<Subscriptions>> {
        Some(self.server.subscriptions())
    }

    fn surroundings<'c>(&'c self, request: &'c Extensions) -> Surroundings<'c> {
        let Ok(caller) = caller_of(request) else {
            return Surroundings::default();
        };
        let headers = request.get::<Parts>().map(|parts| &parts.headers);
        Surroundings { environment: None, program: headers.and_then(caller::program), told: caller.told.clone() }
    }
}

/// Answers one message.
pub async fn message(
    State((server, messages)): State<(Arc<Server>, Messages)>,
    path: Result<Path<String>, PathRejection>,
    request: Request<Body>,
) -> Result<Response, Denied> {
    let Path(project) = path.map_err(|_| super::router::unknown_address())?;
    ask(&server, &messages, &project, request).await
}

async fn ask(
    server: &Arc<Server>,
    messages: &Messages,
    project: &str,
    request: Request<Body>,
) -> Result<Response, Denied> {
    if request.method() != Method::POST {
        return Err(Denied::method(request.method(), "POST"));
    }
    let (parts, body) = request.into_parts();
    let caller = caller::admit(server, &parts, project, Door::Mcp, Project::Checked).await?;
    let answer = answered(server, messages, &caller, parts, body).await;
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    response.extensions_mut().insert(Named::of(&caller.connection, None));
    Ok(response)
}

async fn answered(
    server: &Arc<Server>,
    messages: &Messages,
    caller: &Caller,
    mut parts: Parts,
    body: Body,
) -> Result<Response, Denied> {
    media::check_body(&parts.headers)?;
    let whole = server.room.read(&caller.connection.caller, &parts.headers, body).await?;
    parts.extensions.insert(caller.clone());
    let response = messages.handle(Request::from_parts(parts, Full::new(whole.bytes.clone()))).await;
    let response = match response.status() {
        StatusCode::NOT_ACCEPTABLE => return Err(not_acceptable()),
        // The media type was checked: it is what is in the body that the library could not read.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => no_message(&whole.bytes),
        // A line of the library's own, which says to nobody what to do.
        StatusCode::BAD_REQUEST if !response.headers().contains_key(CONTENT_TYPE) => return Err(unknown_version()),
        _ => response.map(Body::new),
    };
    let is_stream = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    if is_stream {
        return Ok(response.map(|body| while_valid(Arc::clone(server), caller.clone(), body)));
    }
    Ok(response)
}

/// A stream ends as soon as there is something to send to a caller whose token is no longer valid; something is sent
/// every few seconds.
fn while_valid(server: Arc<Server>, caller: Caller, body: Body) -> Body {
    let checked = body.into_data_stream().then(move |chunk| {
        let (server, caller) = (Arc::clone(&server), caller.clone());
        async move { (caller::still_valid(&server, &caller).await, chunk) }
    });
    let open = checked.take_while(|(valid, _)| std::future::ready(*valid)).map(|(_, chunk)| chunk);
    Body::from_stream(open)
}

fn not_acceptable() -> Denied {
    let message = "an answer is JSON or a stream of events, and both must be accepted";
    let next = "Send the header Accept: application/json, text/event-stream. Nothing was written.";
    Denied::invalid(StatusCode::NOT_ACCEPTABLE, message, next)
}

fn unknown_version() -> Denied {
    let known: Vec<String> = ProtocolVersion::KNOWN_VERSIONS.iter().map(ToString::to_string).collect();
    let message = "the header MCP-Protocol-Version names no version that is served";
    let next = format!("Send one of {}, as initialize or server/discover told. Nothing was written.", known.join(", "));
    Denied::invalid(StatusCode::BAD_REQUEST, message, next)
}

/// The answer to a body that is no message.
fn no_message(body: &Bytes) -> Response {
    let line = match parse(body) {
        Parsed::Bad(line) => line,
        _ => Vec::new(),
    };
    answer::json(StatusCode::BAD_REQUEST, line)
}
