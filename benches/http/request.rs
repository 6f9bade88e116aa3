//! Requests as clients send them, whole: head and body.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::asked::Asked;
use crate::database::PROJECT;

/// The protocol that MCP is spoken in.
const PROTOCOL: &str = "2026-07-28";

/// How a server is spoken to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Plain HTTP.
    Plain,
    /// MCP.
    Mcp,
}

impl Way {
    /// Both.
    pub(crate) const BOTH: [Self; 2] = [Self::Plain, Self::Mcp];

    /// The name in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain HTTP",
            Self::Mcp => "MCP",
        }
    }

    /// A piece of an answer's JSON as it stands in the body; MCP carries the answer as a text.
    pub(crate) fn carried(self, piece: &str) -> String {
        match self {
            Self::Plain => piece.to_owned(),
            Self::Mcp => piece.replace('"', "\\\""),
        }
    }
}

/// A request, and what its answer must hold.
pub(crate) struct Request {
    /// All bytes.
    pub(crate) bytes: Vec<u8>,
    /// Some bytes that only the right answer has.
    pub(crate) wanted: String,
}

/// Where requests go, and as whom.
#[derive(Clone)]
pub(crate) struct Address {
    /// The server.
    pub(crate) socket: SocketAddr,
    /// The token.
    pub(crate) token: String,
}

impl Address {
    /// The request of a call.
    pub(crate) fn request(&self, way: Way, asked: &Asked) -> Vec<u8> {
        match way {
            Way::Plain => self.plain(asked.tool, &asked.arguments),
            Way::Mcp => self.message(asked),
        }
    }

    fn plain(&self, tool: &str, body: &Value) -> Vec<u8> {
        self.post(&format!("/api/{PROJECT}/{tool}"), "Accept: application/json\r\n", body)
    }

    fn message(&self, asked: &Asked) -> Vec<u8> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": PROTOCOL,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        });
        let params = json!({"name": asked.tool, "arguments": asked.arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let headers = format!(
            "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {PROTOCOL}\r\n\
            Mcp-Method: tools/call\r\nMcp-Name: {}\r\n",
            asked.tool
        );
        self.post(&format!("/mcp/{PROJECT}"), &headers, &body)
    }

    fn post(&self, path: &str, headers: &str, body: &Value) -> Vec<u8> {
        let (Self { socket, token }, body) = (self, body.to_string());
        format!(
            "POST {path} HTTP/1.1\r\nHost: {socket}\r\nUser-Agent: bench/1\r\nAuthorization: Bearer {token}\r\n\
            Content-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}
