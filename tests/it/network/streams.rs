//! Streams whose clients never read.

use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, Served};

/// Streams that are open and of which nothing is read but the head.
fn streams(served: &Served, number: usize) -> Vec<Client> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let uri = format!("heyaira://ledger/task/{}", &served.place.task("watched")[..8]);
    let params = json!({"_meta": meta, "notifications": {"resourceSubscriptions": [uri]}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).to_string();
    let request = format!(
        "POST /mcp/ledger HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: subscriptions/listen\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut streams: Vec<Client> = (0..number).map(|_| served.client()).collect();
    for client in &mut streams {
        client.send(&request);
        let head = client.answer().expect("a stream");
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")), "{head:?}");
    }
    streams
}

#[test]
fn streams_that_are_not_read_hold_up_neither_others_nor_the_end() {
    let mut served = Served::open(&[]);
    let streams = served.endure("50 streams that never read", 100, || streams(&served, 50));
    served.terminate();
    let began = Instant::now();
    assert_eq!(served.ended(), Some(0));
    println!("ended {:.1?} after it was asked to, with {} streams", began.elapsed(), streams.len());
    assert!(began.elapsed() < Duration::from_secs(15), "a stream is no call in flight");
}

#[test]
#[ignore = "waits for the patience with streams"]
fn streams_make_room_when_all_places_are_taken() {
    let served = Served::open(&["--max-connections", "10"]);
    let streams = streams(&served, 10);
    let began = Instant::now();
    let refused = served.refused_until_room();
    println!("{} streams: room after {:.1?} and {refused} refusals", streams.len(), began.elapsed());
    assert!(refused > 0, "a stream is given some time");
}
