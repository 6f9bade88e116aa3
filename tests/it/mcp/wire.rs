//! A client that sees nothing but lines.

use std::time::Duration;

use heyaira::surface::mcp::end::End;
use heyaira::surface::mcp::handler::Handler;
use heyaira::surface::mcp::serve;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::task::JoinHandle;

/// A test that waits longer than this hangs.
const HANGS: Duration = Duration::from_mins(1);

/// The eras that are served, by their newest version with a handshake, and the one without.
pub const MODERN: &str = "2026-07-28";
/// The newest version with a handshake.
pub const LEGACY: &str = "2025-11-25";

/// One connection.
pub struct Wire {
    to: Option<DuplexStream>,
    from: BufReader<DuplexStream>,
    served: JoinHandle<()>,
    /// The end of the server.
    pub end: End,
    next_id: i64,
    /// What every request carries.
    meta: Map<String, Value>,
}

impl Wire {
    /// A connection on which nothing was said yet.
    pub fn new(handler: Handler) -> Self {
        let (to, reader) = tokio::io::duplex(64 * 1024);
        let (writer, from) = tokio::io::duplex(64 * 1024);
        let end = End::default();
        let served = tokio::spawn(serve(handler, reader, writer, end.clone()));
        Self { to: Some(to), from: BufReader::new(from), served, end, next_id: 1, meta: Map::new() }
    }

    /// A connection of a client with a handshake.
    pub async fn legacy(handler: Handler) -> Self {
        let mut wire = Self::new(handler);
        wire.initialize(LEGACY, &json!({"name": "test-client", "version": "1.0"})).await;
        wire
    }

    /// A connection of a client without one.
    pub fn modern(handler: Handler) -> Self {
        let mut wire = Self::new(handler);
        wire.meta = modern_meta(&json!({"name": "test-client", "version": "1.0"}));
        wire
    }

    /// A connection of either sort.
    pub async fn of_era(handler: Handler, version: &str) -> Self {
        if version == MODERN { Self::modern(handler) } else { Self::legacy(handler).await }
    }

    /// The handshake; answers the result.
    pub async fn initialize(&mut self, version: &str, client: &Value) -> Value {
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let answer = self.ask("initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        answer["result"].clone()
    }

    /// Sends one line.
    pub async fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes()).await;
        self.send_bytes(b"\n").await;
    }

    /// Sends bytes as they are.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let to = self.to.as_mut().expect("an open input");
        tokio::time::timeout(HANGS, to.write_all(bytes)).await.expect("a server that reads").expect("an open pipe");
    }

    /// The next line, or `None` at the end of the output.
    pub async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = tokio::time::timeout(HANGS, self.from.read_line(&mut line));
        let count = read.await.expect("a line in time").expect("an open pipe");
        (count > 0).then(|| {
            assert!(line.ends_with('\n'), "a line without an end: {line}");
            line.trim_end().to_owned()
        })
    }

    /// The next message.
    pub async fn message(&mut self) -> Value {
        let line = self.line().await.expect("a message");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"))
    }

    /// A request's line with the next id.
    pub fn request(&mut self, method: &str, mut params: Value) -> (i64, String) {
        let id = self.next_id;
        self.next_id += 1;
        if !self.meta.is_empty() {
            let meta = params.as_object_mut().expect("params").entry("_meta").or_insert_with(|| json!({}));
            let meta = meta.as_object_mut().expect("an object");
            meta.extend(self.meta.clone());
        }
        (id, json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
    }

    /// Sends a request and reads its answer, which must be the next message.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let (id, line) = self.request(method, params);
        self.send(&line).await;
        let answer = self.message().await;
        assert_eq!(answer["id"], json!(id), "the answer to {line} is {answer}");
        answer
    }

    /// Calls a tool; answers the result.
    pub async fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": name, "arguments": arguments})).await["result"].clone()
    }

    /// Calls a tool that succeeds; answers the value in its text.
    pub async fn answer(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments).await;
        let text = text(&result);
        assert_ne!(result["isError"], json!(true), "{text}");
        serde_json::from_str(text).expect("JSON in the text")
    }

    /// Calls a tool that refuses; answers the refusal.
    pub async fn refusal(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result["isError"], json!(true), "{result}");
        text(&result).to_owned()
    }

    /// Closes the input.
    pub async fn close_input(&mut self) {
        if let Some(mut to) = self.to.take() {
            to.shutdown().await.expect("an open pipe");
        }
    }

    /// Closes the input, reads all that is still written, and waits for the server to leave.
    pub async fn finish(mut self) -> Vec<Value> {
        self.close_input().await;
        self.rest().await
    }

    /// Reads all that is still written, and waits for the server to leave.
    pub async fn rest(mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(line) = self.line().await {
            messages.push(serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}")));
        }
        tokio::time::timeout(HANGS, self.served).await.expect("a server that leaves").expect("no panic");
        messages
    }

    /// The two directions apart.
    pub fn halves(self) -> (DuplexStream, Receiver) {
        (self.to.expect("an open input"), Receiver { from: self.from, served: self.served })
    }

    /// Closes the output; answers the input and what ends with the server.
    pub fn deaf(self) -> (DuplexStream, JoinHandle<()>) {
        (self.to.expect("an open input"), self.served)
    }

    /// Closes both directions and waits for the server to leave.
    pub async fn hang_up(self) {
        let Self { to, from, served, .. } = self;
        drop((to, from));
        tokio::time::timeout(HANGS, served).await.expect("a server that leaves").expect("no panic");
    }
}

/// The reading half of a connection.
pub struct Receiver {
    from: BufReader<DuplexStream>,
    served: JoinHandle<()>,
}

impl Receiver {
    /// The next message; `None` when the server has left.
    pub async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = tokio::time::timeout(HANGS, self.from.read_line(&mut line));
        if read.await.expect("a line in time").expect("an open pipe") == 0 {
            tokio::time::timeout(HANGS, &mut self.served).await.expect("a server that leaves").expect("no panic");
            return None;
        }
        Some(serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}")))
    }
}

/// What a request without a handshake says about its client.
pub fn modern_meta(client: &Value) -> Map<String, Value> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": client,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    meta.as_object().expect("an object").clone()
}

/// The one text block of a tool's result.
pub fn text(result: &Value) -> &str {
    let content = result["content"].as_array().unwrap_or_else(|| panic!("no content: {result}"));
    assert_eq!(content.len(), 1, "{result}");
    assert_eq!(content[0]["type"], json!("text"));
    assert_eq!(content[0].as_object().expect("an object").len(), 2, "{result}");
    content[0]["text"].as_str().expect("a text")
}
