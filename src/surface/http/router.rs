//! All addresses of the server.

use std::sync::Arc;

use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Router, body::Body};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Method, Request};
use tower_http::cors::CorsLayer;

use crate::error::Refusal;
use crate::surface::headers::{HARNESS, INSTANCE, KEY, MODEL, PROTOCOL_VERSION, SESSION};
use crate::surface::http::answer::Denied;
use crate::surface::http::{Server, api, gate, health, mcp, openapi};

/// The addresses, each with what serves it.
pub fn router(server: &Arc<Server>) -> Router {
    let messages = mcp::messages(server);
    let mcp = any(mcp::message).with_state((Arc::clone(server), messages));
    let router = Router::new()
        .route("/mcp/{project}", mcp)
        .route("/api/{project}/{tool}", any(api::call))
        .route(health::ALIVE, get(health::alive).fallback(only_get))
        .route(health::READY, get(health::ready).fallback(only_get))
        .route("/openapi.json", get(openapi::served).fallback(only_get))
        .fallback(async || unknown_address().into_response())
        .with_state(Arc::clone(server));
    // Without such pages nobody pays for asking.
    let origins = &server.settings.origins;
    let router = if origins.is_empty() { router } else { router.layer(pages(origins)) };
    router.layer(from_fn_with_state(Arc::clone(server), gate::pass))
}

/// What browsers ask before they let a page of another origin call: only the origins that the owner named are told yes.
fn pages(origins: &[String]) -> CorsLayer {
    let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin.trim_end_matches('/')).ok());
    let headers = [PROTOCOL_VERSION, "mcp-method", "mcp-name", SESSION, HARNESS, MODEL, INSTANCE, KEY];
    CorsLayer::new()
        .allow_origin(origins.collect::<Vec<_>>())
        .allow_methods([Method::GET, Method::POST])
        .allow_headers(
            [ACCEPT, AUTHORIZATION, CONTENT_TYPE]
                .into_iter()
                .chain(headers.map(HeaderName::from_static))
                .collect::<Vec<_>>(),
        )
        .expose_headers([RETRY_AFTER, WWW_AUTHENTICATE])
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
