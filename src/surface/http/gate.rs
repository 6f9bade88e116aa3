//! What every request passes: the check of host and origin, the headers of every answer, the log.
//! Must never log a body, a credential or stored text.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, EXPECT, HeaderValue};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body::Body as _;

use crate::operation::{Connection, Effect, Entry};
use crate::surface::headers::repeated;
use crate::surface::http::Server;
use crate::surface::http::answer::{Asked, Denied, Told, protect};
use crate::surface::http::body::Lent;
use crate::surface::http::connections::Peer;
use crate::surface::http::health;

/// What the log says of a call.
#[derive(Clone)]
pub struct Named {
    connection: Arc<Connection>,
    entry: Option<&'static Entry>,
}

impl Named {
    /// Who called what.
    pub fn of(connection: &Arc<Connection>, entry: Option<&'static Entry>) -> Self {
        Self { connection: Arc::clone(connection), entry }
    }

    fn project(&self) -> &str {
        self.connection.pinned.as_ref().map_or("", |pinned| pinned.project.as_str())
    }

    fn reads(&self) -> bool {
        self.entry.is_none_or(|entry| entry.effect == Effect::Reads)
    }
}

/// Lets a request through.
pub async fn pass(State(server): State<Arc<Server>>, request: Request<Body>, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let (parts, body) = request.into_parts();
    let (body, asks) = (Lent::new(body), parts.headers.contains_key(EXPECT));
    let peer = parts.extensions.get::<Peer>().map(|peer| peer.0.ip().to_canonical());
    let mut response = match check(&server, route.as_ref(), &parts) {
        Ok(()) => next.run(Request::from_parts(parts, Body::new(body.clone()))).await,
        Err(denied) => denied.into_response(),
    };
    let headers = response.headers_mut();
    // A client that asked whether to send is not told to go on for nothing.
    let is_unread = !body.is_end_stream() && (headers.contains_key(CONNECTION) || asks || !body.drop_rest().await);
    // Asked last: the answer that ends a connection is the only way to tell its client to send nothing more on it.
    if is_unread || server.ending().has_begun() {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    protect(headers);
    log(peer, &method, route.as_ref(), &response, began);
    response
}

/// Balancers and supervisors ask for the health by an address of their own, or in HTTP/1.0 by none at all.
fn check(server: &Server, route: Option<&MatchedPath>, parts: &Parts) -> Result<(), Denied> {
    if route.is_some_and(|route| health::PATHS.contains(&route.as_str())) {
        server.places.check_origin(&parts.uri, &parts.headers)?;
    } else {
        server.places.check(&parts.uri, &parts.headers)?;
    }
    let Some(name) = repeated(&parts.headers) else {
        return Ok(());
    };
    let next = "Send it once. Nothing was written.";
    Err(Denied::invalid(StatusCode::BAD_REQUEST, format!("header {name} is there several times"), next))
}

/// Reads that went well are many and say little.
fn log(peer: Option<IpAddr>, method: &Method, route: Option<&MatchedPath>, response: &Response, began: Instant) {
    let named = response.extensions().get::<Named>();
    let status = response.status();
    let (route, micros) = (route.map_or("", MatchedPath::as_str), began.elapsed().as_micros());
    let code = response.extensions().get::<Told>().map_or("ok", |told| told.0.as_str());
    let asked = response.extensions().get::<Asked>().map(|asked| (asked.caller.as_str(), asked.project.as_str()));
    let (caller, project) =
        named.map(|named| (named.connection.caller.as_str(), named.project())).or(asked).unwrap_or_default();
    let peer = peer.map(tracing::field::display);
    let tool = named.and_then(|named| named.entry).map_or("", |entry| entry.name);
    let quiet = status.is_success() && named.is_none_or(Named::reads);
    if quiet {
        tracing::debug!(peer, %method, route, status = status.as_u16(), code, caller, project, tool, micros, "served");
    } else {
        tracing::info!(peer, %method, route, status = status.as_u16(), code, caller, project, tool, micros, "served");
    }
}
