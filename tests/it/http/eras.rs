//! Both eras of MCP on one address: what went with the newer one is unknown there, and goes on for the older.

use serde_json::{Value, json};

use super::served::{Reply, Served};
use crate::program::Place;

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

fn meta() -> Value {
    json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }})
}

#[test]
fn methods_that_went_with_an_era_are_unknown_in_it() {
    let place = Place::new();
    let served = Served::open(&place);
    let mut client = served.client();
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        let reply = client.message(method, &meta(), MODERN).expect("an answer");
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (404, &json!(-32601)), "{method}: {reply:?}");
    }
    let hello = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}});
    let is_served = |reply: Option<Reply>| reply.expect("an answer").json()["result"].is_object();
    assert!(is_served(client.message("initialize", &hello, LEGACY)));
    assert!(is_served(client.message("ping", &json!({}), LEGACY)));
}

#[test]
fn a_resource_that_is_not_there_is_named_in_the_error() {
    let place = Place::new();
    let served = Served::open(&place);
    let mut client = served.client();
    client.headers.push(("Mcp-Name".to_owned(), "test://nothing".to_owned()));
    let mut params = meta();
    params["uri"] = json!("test://nothing");
    let error = client.message("resources/read", &params, MODERN).expect("an answer").json()["error"].clone();
    assert_eq!((&error["code"], &error["data"]), (&json!(-32602), &json!({"uri": "test://nothing"})));
    client.headers.clear();
    let answer = client.message("resources/read", &json!({"uri": "test://nothing"}), LEGACY).expect("an answer").json();
    assert_eq!(answer["error"]["code"], json!(-32002), "{answer}");
}

#[test]
fn a_version_that_is_not_served_is_told_which_are() {
    let place = Place::new();
    let served = Served::open(&place);
    let mut client = served.client();
    for version in ["2099-01-01", "none"] {
        let reply = client.message("tools/list", &json!({}), version).expect("an answer");
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_argument"), "{reply:?}");
        let next = reply.json()["error"]["next"].as_str().expect("a text").to_owned();
        assert!(next.contains(LEGACY) && next.contains(MODERN), "{next}");
    }
}
