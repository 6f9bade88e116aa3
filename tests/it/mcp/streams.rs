//! Streams of 2026-07-28 where the library alone stands before the handler, as it does over HTTP.

use std::sync::Arc;
use std::time::{Duration, Instant};

use heyaira::surface::mcp::end::End;
use heyaira::surface::mcp::handler::Handler;
use heyaira::surface::mcp::transport::LineTransport;
use http_body_util::{BodyExt, Full};
use rmcp::model::{
    ErrorData, ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SubscribeRequestParams,
    UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::Notify;

use super::home::Home;
use super::wire::{LEGACY, MODERN, Wire, modern_meta};

const HANGS: Duration = Duration::from_mins(1);
const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

async fn task(home: &Home) -> (String, String) {
    let task = json!({"title": "Watched", "summary": "New.", "write_context": home.write_context});
    let task = home.administer("task_create", task).await;
    let id = task["task_id"].as_str().expect("an id").to_owned();
    let uri = format!("heyaira://demo/task/{id}");
    (id, uri)
}

async fn say(home: &Home, task: &str) {
    let message = json!({"to": task, "text": "Mind the seal.", "write_context": home.write_context});
    home.administer("message_send", message).await;
}

fn listen(id: i64, uri: &str) -> Value {
    let meta = modern_meta(&json!({"name": "test-client", "version": "1.0"}));
    let params = json!({"_meta": meta, "notifications": {"resourceSubscriptions": [uri]}});
    json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params})
}

/// A connection to a server that the library serves as it is.
struct Lines {
    to: DuplexStream,
    from: tokio::io::Lines<BufReader<DuplexStream>>,
}

impl Lines {
    fn over(server: impl ServerHandler) -> Self {
        let (to, reader) = tokio::io::duplex(64 * 1024);
        let (writer, from) = tokio::io::duplex(64 * 1024);
        let transport = LineTransport::new(reader, writer, End::default(), Duration::from_secs(1));
        tokio::spawn(async move { server.serve(transport).await.expect("a client").waiting().await });
        Self { to, from: BufReader::new(from).lines() }
    }

    async fn send(&mut self, message: &Value) {
        self.to.write_all(format!("{message}\n").as_bytes()).await.expect("an open pipe");
    }

    /// Waits until so many look at the database.
    async fn subscribed(&self, home: &Home, watchers: usize) {
        let until = Instant::now() + HANGS;
        while home.open().service.store.watchers() != watchers {
            assert!(Instant::now() < until, "never subscribed");
            tokio::task::yield_now().await;
        }
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(HANGS, self.from.next_line()).await.expect("a line in time");
        serde_json::from_str(&line.expect("an open pipe").expect("a line")).expect("a message")
    }
}

#[tokio::test]
async fn a_stream_that_was_not_prepared_is_told_once_at_its_beginning() {
    let home = Home::new().await;
    let (id, uri) = task(&home).await;
    let mut lines = Lines::over(home.handler());
    for (id, uri) in [(7, uri.as_str()), (8, "heyaira://other/task/8e287857")] {
        lines.send(&listen(id, uri)).await;
        assert_eq!(lines.next().await["method"], json!(ACKNOWLEDGED));
        let message = lines.next().await;
        if id == 7 {
            assert_eq!((&message["method"], &message["params"]["uri"]), (&json!(UPDATED), &json!(uri)), "{message}");
        } else {
            assert_eq!((&message["id"], &message["error"]["code"]), (&json!(8), &json!(-32602)), "{message}");
        }
    }
    say(&home, &id).await;
    assert_eq!(lines.next().await["params"]["uri"], json!(uri));
}

/// A server whose answer to a subscription takes its time.
struct Slow {
    handler: Handler,
    answers: Arc<Notify>,
}

impl ServerHandler for Slow {
    fn get_info(&self) -> ServerConfig {
        self.handler.get_info()
    }

    #[expect(deprecated, reason = "clients with a handshake know no other way")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let subscribed = self.handler.subscribe(request, context).await;
        self.answers.notified().await;
        subscribed
    }

    #[expect(deprecated, reason = "clients with a handshake know no other way")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.unsubscribe(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.handler.read_resource(request, context).await
    }
}

#[tokio::test]
async fn a_change_while_a_subscription_is_being_answered_is_told_after_the_answer() {
    let home = Home::new().await;
    let (id, uri) = task(&home).await;
    let mut other = Wire::legacy(home.handler()).await;
    assert_eq!(other.ask("resources/subscribe", json!({"uri": uri})).await["result"], json!({}));
    let answers = Arc::new(Notify::new());
    let mut lines = Lines::over(Slow { handler: home.handler(), answers: Arc::clone(&answers) });
    let client = json!({"name": "test-client", "version": "1.0"});
    let hello = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client});
    lines.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})).await;
    assert_eq!(lines.next().await["id"], json!(1));
    lines.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": uri}})).await;
    lines.subscribed(&home, 2).await;
    // By the time that the other was told of three changes, this one would have been told as well.
    for _ in 0..3 {
        say(&home, &id).await;
        assert_eq!(other.message().await["method"], json!(UPDATED));
    }
    answers.notify_one();
    let first = lines.next().await;
    assert_eq!((&first["id"], &first["result"]), (&json!(2), &json!({})), "{first}");
    assert_eq!(lines.next().await["method"], json!(UPDATED));
    // The same for one that was ended meanwhile: then it is not told at all.
    lines.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "resources/unsubscribe", "params": {"uri": uri}})).await;
    // The changes after the first may be told once more.
    let mut answer = lines.next().await;
    while answer["method"] == json!(UPDATED) {
        answer = lines.next().await;
    }
    assert_eq!(answer["id"], json!(3));
    // Not before: calls that are under way together may come in any order.
    lines.send(&json!({"jsonrpc": "2.0", "id": 4, "method": "resources/subscribe", "params": {"uri": uri}})).await;
    lines.subscribed(&home, 2).await;
    for _ in 0..3 {
        say(&home, &id).await;
        assert_eq!(other.message().await["method"], json!(UPDATED));
    }
    lines.send(&json!({"jsonrpc": "2.0", "id": 5, "method": "resources/unsubscribe", "params": {"uri": uri}})).await;
    assert_eq!(lines.next().await["id"], json!(5));
    answers.notify_one();
    assert_eq!(lines.next().await["id"], json!(4));
    let read = json!({"jsonrpc": "2.0", "id": 6, "method": "resources/read", "params": {"uri": uri}});
    for _ in 0..3 {
        lines.send(&read).await;
        let answer = lines.next().await;
        assert_eq!(answer["id"], json!(6), "{answer}");
    }
}

#[tokio::test]
async fn a_stream_over_stateless_http_is_told_and_ends_with_its_client() {
    let home = Home::new().await;
    let (id, uri) = task(&home).await;
    let handler = home.handler();
    let subscriptions = Arc::clone(handler.subscriptions().expect("some"));
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(LocalSessionManager::default()), config);
    let open = async |id: i64| {
        let request = http::Request::post("/mcp")
            .header("host", "127.0.0.1")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", "subscriptions/listen")
            .body(Full::new(bytes::Bytes::from(listen(id, &uri).to_string())))
            .expect("a request");
        let response = service.handle(request).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        response.into_body()
    };
    let mut body = open(7).await;
    let mut gone = open(8).await;
    for _ in 0..3 {
        if event(&mut gone).await["method"] == json!(UPDATED) {
            break;
        }
    }
    drop(gone);
    assert_eq!(event(&mut body).await["method"], json!(ACKNOWLEDGED));
    assert_eq!(event(&mut body).await["params"]["uri"], json!(uri));
    for _ in 0..3 {
        say(&home, &id).await;
        let told = event(&mut body).await;
        assert_eq!((&told["method"], &told["params"]["uri"]), (&json!(UPDATED), &json!(uri)), "{told}");
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], json!(7));
    }
    let mut another = open(9).await;
    assert_eq!(event(&mut another).await["method"], json!(ACKNOWLEDGED));
    // The end of the server is an answer on every stream.
    subscriptions.close().await;
    let ended = event(&mut body).await;
    assert_eq!((&ended["id"], &ended["result"]["resultType"]), (&json!(7), &json!("complete")), "{ended}");
    assert_eq!(home.open().service.store.watchers(), 0);
}

/// The next message of an event stream.
async fn event(body: &mut (impl http_body::Body<Data = bytes::Bytes, Error: std::fmt::Debug> + Unpin)) -> Value {
    let mut text = String::new();
    loop {
        let frame = tokio::time::timeout(HANGS, body.frame()).await.expect("an event in time");
        let frame = frame.expect("an open stream").expect("no error");
        text.push_str(std::str::from_utf8(frame.data_ref().expect("data")).expect("text"));
        let data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        if let Some(message) = data.filter(|data| !data.is_empty()).find_map(|data| serde_json::from_str(data).ok()) {
            return message;
        }
    }
}
