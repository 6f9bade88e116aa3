//! All addresses of the server.

use std::sync::Arc;

use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Router, body::Body};
use http::Request;

use crate::error::Refusal;
use crate::surface::http::answer::Denied;
use crate::surface::http::{Server, api, gate, health, mcp, openapi};

/// The addresses, each with what serves it.
pub fn router(server: &Arc<Server>) -> Router {
    let messages = mcp::messages(server);
    let mcp = any(mcp::message).with_state((Arc::clone(server), messages));
    Router::new()
        .route("/mcp/{project}", mcp)
        .route("/api/{project}/{tool}", any(api::call))
        .route("/healthz", get(health::alive).fallback(only_get))
        .route("/readyz", get(health::ready).fallback(only_get))
        .route("/openapi.json", get(openapi::served).fallback(only_get))
        .fallback(async || unknown_address().into_response())
        .layer(from_fn_with_state(Arc::clone(server), gate::pass))
        .with_state(Arc::clone(server))
}

async fn only_get(request: Request<Body>) -> Response {
    Denied::method(request.method(), "GET, HEAD").into_response()
}

/// Addresses that are asked for a dance of authorizations are unknown too: there is none, and a page in their place
/// would have clients begin one.
pub fn unknown_address() -> Denied {
    let next = "MCP is at /mcp/PROJECT, plain HTTP at /api/PROJECT/TOOL.";
    Refusal::not_found("there is nothing at this address", next).into()
}
