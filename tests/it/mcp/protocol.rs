//! Both eras: the handshake, discovery, versions, and what is said about this server.

use heyaira::surface::mcp::handler::INSTRUCTIONS;
use serde_json::{Value, json};

use super::home::Home;
use super::wire::{LEGACY, MODERN, Wire, modern_meta};

fn test_client() -> Value {
    json!({"name": "test-client", "version": "1.0"})
}

#[tokio::test]
async fn every_version_gets_an_answer_and_a_version_that_is_served() {
    let home = Home::new().await;
    let cases = [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("", "2025-11-25"),
        ("latest", "2025-11-25"),
    ];
    for (asked, expected) in cases {
        let mut wire = Wire::new(home.handler());
        let result = wire.initialize(asked, &test_client()).await;
        assert_eq!(result["protocolVersion"], json!(expected), "for {asked:?}");
        assert_eq!(wire.answer("server_identity", json!({})).await["project"], json!("demo"));
        assert_eq!(wire.finish().await, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn a_malformed_handshake_is_answered_too() {
    let home = Home::new().await;
    let params = [
        json!({"protocolVersion": null, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}),
        json!({"protocolVersion": 20_251_125, "clientInfo": {"name": "x"}}),
        json!({}),
    ];
    for params in params {
        let mut wire = Wire::new(home.handler());
        let answer = wire.ask("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], json!(LEGACY), "{answer}");
        assert_eq!(wire.answer("server_identity", json!({})).await["project"], json!("demo"));
    }
    let mut wire = Wire::new(home.handler());
    wire.send(r#"{"jsonrpc":"2.0","id":"a","method":"initialize"}"#).await;
    let answer = wire.message().await;
    assert_eq!(answer["id"], json!("a"));
    assert_eq!(answer["result"]["protocolVersion"], json!(LEGACY), "{answer}");
}

#[tokio::test]
async fn the_handshake_says_who_this_is_and_what_it_can() {
    let home = Home::new().await;
    let result = Wire::new(home.handler()).initialize(LEGACY, &test_client()).await;
    assert_eq!(result["serverInfo"]["name"], json!("heyaira"));
    assert_eq!(result["serverInfo"]["version"], json!(env!("CARGO_PKG_VERSION")));
    assert_eq!(result["capabilities"], json!({"tools": {}, "prompts": {}, "resources": {"subscribe": true}}));
    assert_eq!(result["instructions"], json!(INSTRUCTIONS));
}

#[tokio::test]
async fn a_client_that_makes_tools_of_resources_is_not_told_of_them() {
    let home = Home::new().await;
    // The prompts are not offered where a client would take them for a clash with its skills.
    let offered = [("gemini-cli-mcp-client", json!({"tools": {}})), ("opencode", json!({"tools": {}, "prompts": {}}))];
    for (name, capabilities) in offered {
        let mut wire = Wire::new(home.handler());
        let result = wire.initialize(LEGACY, &json!({"name": name, "version": "1.0"})).await;
        assert_eq!(result["capabilities"], capabilities, "{name}");
        let page = wire.ask("resources/read", json!({"uri": "heyaira://procedures/work-contract"})).await;
        assert!(page["result"]["contents"].is_array(), "{page}");
    }
}

#[test]
fn the_instructions_are_short_and_begin_with_when_to_use_this() {
    assert!(INSTRUCTIONS.chars().count() <= 1_600, "{}", INSTRUCTIONS.chars().count());
    // All that Codex shows at the start.
    let first = INSTRUCTIONS.lines().next().expect("a line");
    assert!(first.chars().count() <= 250, "{}", first.chars().count());
    for word in ["Resume", "hand", "handoff: 8e287857 v7", "continuity_context", "task_takeover", "task_update"] {
        assert!(first.contains(word), "{word}");
    }
}

#[tokio::test]
async fn discovery_says_the_same_without_a_handshake() {
    let home = Home::new().await;
    let mut wire = Wire::modern(home.handler());
    let result = wire.ask("server/discover", json!({})).await["result"].clone();
    let versions = json!(["2024-11-05", "2025-03-26", "2025-06-18", LEGACY, MODERN]);
    assert_eq!(result["supportedVersions"], versions);
    assert_eq!(result["capabilities"], json!({"tools": {}, "prompts": {}, "resources": {"subscribe": true}}));
    assert_eq!(result["instructions"], json!(INSTRUCTIONS));
    assert_eq!(result["resultType"], json!("complete"));
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(3_600_000), &json!("public")));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], json!("heyaira"));
    assert_eq!(wire.answer("server_identity", json!({})).await["project"], json!("demo"));
}

#[tokio::test]
async fn a_client_that_only_probes_leaves_in_peace() {
    let home = Home::new().await;
    let mut wire = Wire::modern(home.handler());
    wire.ask("server/discover", json!({})).await;
    assert_eq!(wire.finish().await, Vec::<Value>::new());
    // And one that says nothing at all.
    assert_eq!(Wire::new(home.handler()).finish().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_client_may_probe_and_then_shake_hands() {
    let home = Home::new().await;
    let mut wire = Wire::new(home.handler());
    let meta = modern_meta(&test_client());
    let probe = wire.ask("server/discover", json!({"_meta": meta})).await;
    assert!(probe["result"]["supportedVersions"].is_array());
    // What the library's handshake takes for a broken client.
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#).await;
    wire.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    assert_eq!(wire.initialize(LEGACY, &test_client()).await["protocolVersion"], json!(LEGACY));
    assert_eq!(wire.answer("server_identity", json!({})).await["project"], json!("demo"));
}

#[tokio::test]
async fn requests_before_any_choice_are_answered_and_do_no_harm() {
    let home = Home::new().await;
    let mut wire = Wire::new(home.handler());
    assert_eq!(wire.ask("ping", json!({})).await["result"], json!({}));
    let answer = wire.ask("tools/list", json!({})).await;
    assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
    wire.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!(wire.initialize(LEGACY, &test_client()).await["protocolVersion"], json!(LEGACY));
}

#[tokio::test]
async fn a_modern_request_of_an_unknown_version_is_told_what_is_served() {
    let home = Home::new().await;
    let mut wire = Wire::new(home.handler());
    let mut meta = modern_meta(&test_client());
    meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), json!("2099-01-01"));
    let answer = wire.ask("tools/list", json!({"_meta": meta})).await;
    assert_eq!(answer["error"]["code"], json!(-32022), "{answer}");
    assert!(answer["error"]["data"]["supported"].as_array().expect("a list").contains(&json!(MODERN)));
    // A client that then chooses a version that is served goes on.
    let answer = wire.ask("tools/list", json!({"_meta": modern_meta(&test_client())})).await;
    assert!(answer["result"]["tools"].is_array());
}

#[tokio::test]
async fn unknown_methods_are_told_and_known_ones_with_wrong_parameters_too() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    for (method, params, code) in [
        ("tools/destroy", json!({}), -32601),
        ("logging/setLevel", json!({"level": "info"}), -32601),
        ("resources/subscribe", json!({"uri": 7}), -32602),
        ("resources/read", json!({"uri": 7}), -32602),
        ("prompts/get", json!({}), -32602),
        ("prompts/get", json!({"name": "take-over-session", "arguments": "x"}), -32602),
    ] {
        let answer = wire.ask(method, params).await;
        assert_eq!(answer["error"]["code"], json!(code), "{method}: {answer}");
    }
    assert_eq!(wire.ask("ping", json!({})).await["result"], json!({}));
}
