//! What the server is measured against: axum alone, which parses a JSON body and answers it, and rmcp alone, whose one
//! tool answers a constant text. A process of its own, as the server is one; it ends with its standard input.

use std::io::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use bytes::Bytes;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio::net::TcpListener;

/// The argument with which the benchmark starts itself as this process; the text of the tool follows it.
pub(crate) const ARGUMENT: &str = "--echo";

/// Serves until standard input ends; its address is the first line on standard output.
pub(crate) fn serve(text: String) {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let told = writeln!(std::io::stdout(), "{}", serde_json::json!({"listening": address}));
        told.expect("the benchmark reads");
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a setting"));
        axum::serve(listener, router(text)).await.expect("it serves");
    });
}

fn router(text: String) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts();
    let tool = Constant(Arc::from(text));
    let messages =
        StreamableHttpService::new(move || Ok(tool.clone()), Arc::new(NeverSessionManager::default()), config);
    Router::new().route("/api/{project}/{tool}", post(echo)).route_service("/mcp/{project}", messages)
}

async fn echo(body: Bytes) -> Response {
    match serde_json::from_slice::<Value>(&body) {
        Ok(value) => ([(CONTENT_TYPE, "application/json")], value.to_string()).into_response(),
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

#[derive(Clone)]
struct Constant(Arc<str>);

impl ServerHandler for Constant {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(&*self.0)]).into())
    }
}
