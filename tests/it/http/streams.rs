//! Streams of 2026-07-28 over real sockets: told of what other programs write, and ended with the server, the client or
//! the token.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::served::{Served, token};
use crate::program::Place;

const MODERN: &str = "2026-07-28";
const UPDATED: &str = "notifications/resources/updated";
/// A test that waits longer than this hangs.
const HANGS: Duration = Duration::from_mins(1);

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The messages of one stream, read as they come; closed when the stream is.
pub struct Stream {
    connection: TcpStream,
    messages: Receiver<Value>,
}

impl Stream {
    /// Subscribes to these addresses.
    pub fn open(served: &Served, id: i64, uris: &[&str], token: Option<&str>) -> Self {
        let params = json!({"_meta": meta(), "notifications": {"resourceSubscriptions": uris}});
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params}).to_string();
        let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let head = format!(
            "POST /mcp/ledger HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {MODERN}\r\n\
             Mcp-Method: subscriptions/listen\r\nConnection: close\r\n{authorization}Content-Length: {}\r\n\r\n",
            served.address,
            body.len()
        );
        let mut connection = TcpStream::connect(&served.address).expect("a server");
        connection.write_all(format!("{head}{body}").as_bytes()).expect("a server that reads");
        let (sender, messages) = channel();
        let lines = BufReader::new(connection.try_clone().expect("a connection")).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let data = line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty());
                if let Some(data) = data {
                    let _ = sender.send(serde_json::from_str(data).expect("a message"));
                }
            }
        });
        Self { connection, messages }
    }

    fn next(&self) -> Value {
        self.messages.recv_timeout(HANGS).expect("a message in time")
    }

    /// Reads the acknowledgement, and the one notification that stands for what changed before it.
    pub fn begun(&self) {
        assert_eq!(self.next()["method"], json!("notifications/subscriptions/acknowledged"));
        assert_eq!(self.next()["method"], json!(UPDATED));
    }

    /// Waits until it is told of that address.
    pub fn told(&self, uri: &str) {
        let message = self.next();
        assert_eq!((&message["method"], &message["params"]["uri"]), (&json!(UPDATED), &json!(uri)), "{message}");
    }

    /// Waits for the end of the stream; answers what came before it.
    fn rest(&self) -> Vec<Value> {
        let mut rest = Vec::new();
        loop {
            match self.messages.recv_timeout(HANGS) {
                Ok(message) => rest.push(message),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return rest,
                Err(error) => panic!("{error}: the stream is still open after {rest:?}"),
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn streams_are_told_and_answered_when_the_server_ends() {
    let place = Place::new();
    let (one, two) = (place.task("One"), place.task("Two"));
    let uri = |task: &str| format!("heyaira://ledger/task/{}", &task[..8]);
    let mut served = Served::open(&place);
    let first = Stream::open(&served, 7, &[&uri(&one)], None);
    let second = Stream::open(&served, 8, &[&uri(&two)], None);
    first.begun();
    second.begun();
    place.ask(&["message", "send", "--to", &two, "--text", "Mind the seal."]);
    second.told(&uri(&two));
    let mut server = place.server();
    server.call("task_update", json!({"task_id": one, "expected_version": 1, "summary": "Begun."})).expect("updated");
    first.told(&uri(&one));
    // A client that is gone takes nobody with it.
    drop(second.connection.shutdown(std::net::Shutdown::Both));
    let mut client = served.client();
    client.api("message_send", &json!({"to": one, "text": "Again.", "write_context": place.write_context}));
    first.told(&uri(&one));
    assert_eq!(server.end(), Some(0));
    drop(client);
    let since = Instant::now();
    assert_eq!(served.end(), Some(0));
    assert!(since.elapsed() < Duration::from_secs(5), "ended after {:?}", since.elapsed());
    let rest = first.rest();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!((&rest[0]["id"], &rest[0]["result"]["resultType"]), (&json!(7), &json!("complete")), "{rest:?}");
    assert!(place.database.is_closed());
}

#[test]
fn a_foreign_task_ends_the_stream_with_the_words_of_reading_it() {
    let place = Place::new();
    let served = Served::open(&place);
    for uri in ["heyaira://ledger/task/ffffffff", "heyaira://other/task/ffffffff", "file:///etc/passwd"] {
        let stream = Stream::open(&served, 7, &[uri], None);
        assert_eq!(stream.next()["method"], json!("notifications/subscriptions/acknowledged"));
        let refused = stream.next();
        let params = json!({"uri": uri, "_meta": meta()});
        let mut client = served.client();
        client.headers.push(("Mcp-Name".to_owned(), uri.to_owned()));
        let read = client.message("resources/read", &params, MODERN).expect("an answer").json();
        assert_eq!((&refused["id"], &refused["error"]), (&json!(7), &read["error"]), "{uri}");
        assert_eq!(stream.rest(), Vec::<Value>::new());
    }
}

#[test]
fn a_stream_whose_token_was_revoked_tells_nothing_more() {
    let place = Place::new();
    let task = place.task("Watched");
    let uri = format!("heyaira://ledger/task/{task}");
    let token = token(&place, "agent", &["--project", "ledger"]);
    let served = Served::start(&place, &[]);
    let stream = Stream::open(&served, 7, &[&uri], Some(&token));
    stream.begun();
    place.ask(&["message", "send", "--to", &task, "--text", "Mind the seal."]);
    stream.told(&uri);
    assert_eq!(place.bare(&["token", "revoke", "agent"]).code, 0);
    place.ask(&["message", "send", "--to", &task, "--text", "Again."]);
    assert_eq!(stream.rest(), Vec::<Value>::new());
}

#[test]
fn over_http_a_client_with_a_handshake_is_offered_no_subscriptions() {
    let place = Place::new();
    let task = place.task("Watched");
    let served = Served::open(&place);
    let mut client = served.client();
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}});
    let hello = client.message("initialize", &hello, "2025-11-25").expect("an answer").json();
    assert_eq!(hello["result"]["capabilities"]["resources"], json!({}), "{hello}");
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let uri = format!("heyaira://ledger/task/{task}");
        let answer = client.message(method, &json!({"uri": uri}), "2025-11-25").expect("an answer").json();
        assert_eq!(answer["error"]["code"], json!(-32601), "{answer}");
    }
}
