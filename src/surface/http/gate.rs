//! What every request passes: the check of host and origin, the headers of every answer, the log.
//! Must never log a body, a credential or stored text.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONNECTION, EXPECT, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{Method, Request};
use http_body::Body as _;

use crate::operation::{Connection, Effect, Entry};
use crate::surface::http::Server;
use crate::surface::http::answer::Told;
use crate::surface::http::body::Lent;

/// What the log says of a call.
#[derive(Clone, Debug)]
pub struct Named {
    caller: String,
    project: String,
    tool: Option<&'static str>,
    reads: bool,
}

impl Named {
    /// Who called what.
    pub fn of(connection: &Connection, entry: Option<&'static Entry>) -> Self {
        Self {
            caller: connection.caller.clone(),
            project: connection.pinned.as_ref().map(|pinned| pinned.project.clone()).unwrap_or_default(),
            tool: entry.map(|entry| entry.name),
            reads: entry.is_none_or(|entry| entry.effect == Effect::Reads),
        }
    }
}

/// Lets a request through.
pub async fn pass(State(server): State<Arc<Server>>, request: Request<Body>, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let (parts, body) = request.into_parts();
    let (body, asks) = (Lent::new(body), parts.headers.contains_key(EXPECT));
    let mut response = match server.places.check(&parts.uri, &parts.headers) {
        Ok(()) => next.run(Request::from_parts(parts, Body::new(body.clone()))).await,
        Err(denied) => denied.into_response(),
    };
    let headers = response.headers_mut();
    // A client that asked whether to send is not told to go on for nothing.
    if !body.is_end_stream() && (headers.contains_key(CONNECTION) || asks || !body.drop_rest().await) {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    log(&method, route.as_ref(), &response, began);
    response
}

/// Reads that went well are many and say little.
fn log(method: &Method, route: Option<&MatchedPath>, response: &Response, began: Instant) {
    let named = response.extensions().get::<Named>();
    let status = response.status();
    let (route, micros) = (route.map_or("", MatchedPath::as_str), began.elapsed().as_micros());
    let code = response.extensions().get::<Told>().map_or("ok", |told| told.0.as_str());
    let (caller, project) = named.map_or(("", ""), |named| (named.caller.as_str(), named.project.as_str()));
    let tool = named.and_then(|named| named.tool).unwrap_or_default();
    let quiet = status.is_success() && named.is_none_or(|named| named.reads);
    if quiet {
        tracing::debug!(%method, route, status = status.as_u16(), code, caller, project, tool, micros, "served");
    } else {
        tracing::info!(%method, route, status = status.as_u16(), code, caller, project, tool, micros, "served");
    }
}
