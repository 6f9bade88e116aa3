//! Tools: the list, and the shape of answers.

use heyaira::operation::{Audience, Effect};
use heyaira::operations;
use serde_json::{Value, json};

use super::home::Home;
use super::wire::{LEGACY, MODERN, Wire, text};

async fn listed(version: &str) -> Value {
    let home = Home::new().await;
    let mut wire = Wire::of_era(home.handler(), version).await;
    wire.ask("tools/list", json!({})).await["result"].clone()
}

#[tokio::test]
async fn the_list_is_that_of_the_operations_in_one_page() {
    let expected: Vec<&str> =
        operations::all().iter().filter(|entry| entry.audience == Audience::Everyone).map(|entry| entry.name).collect();
    for version in [LEGACY, MODERN] {
        let result = listed(version).await;
        let names: Vec<&str> =
            result["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, expected);
        assert_eq!(result.get("nextCursor"), None);
    }
}

#[tokio::test]
async fn the_list_says_how_long_it_is_good_only_where_the_era_knows_that() {
    let modern = listed(MODERN).await;
    assert_eq!(modern["ttlMs"], json!(3_600_000));
    assert_eq!(modern["cacheScope"], json!("public"));
    assert_eq!(modern["resultType"], json!("complete"));
    let legacy = listed(LEGACY).await;
    assert_eq!(legacy.as_object().expect("an object").keys().collect::<Vec<_>>(), ["tools"]);
    assert_eq!(legacy["tools"], modern["tools"]);
}

#[tokio::test]
async fn every_tool_has_all_hints_and_nothing_that_clients_choke_on() {
    let result = listed(LEGACY).await;
    for tool in result["tools"].as_array().expect("tools") {
        let entry = operations::named(tool["name"].as_str().expect("a name")).expect("an operation");
        let reads = entry.effect == Effect::Reads;
        let hints = json!({
            "readOnlyHint": reads,
            "destructiveHint": false,
            "idempotentHint": reads,
            "openWorldHint": false,
        });
        assert_eq!(tool["annotations"], hints, "{}", entry.name);
        assert_eq!(tool["description"], json!(entry.description()));
        assert_eq!(tool["inputSchema"], Value::Object(entry.wire_schema()));
        let meta = entry.always_load.then(|| json!({"anthropic/alwaysLoad": true}));
        assert_eq!(tool.get("_meta"), meta.as_ref(), "{}", entry.name);
        let written = tool.to_string();
        for word in ["\"title\":\"", "outputSchema", "$schema", "$ref", "anyOf", "\"x-", "\"format\""] {
            assert!(!written.contains(word), "{} has {word}", entry.name);
        }
        assert_eq!(tool["inputSchema"]["type"], json!("object"));
        assert_eq!(tool["inputSchema"]["additionalProperties"], json!(false));
    }
}

#[tokio::test]
async fn a_cursor_of_the_list_is_refused() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let answer = wire.ask("tools/list", json!({"cursor": "2"})).await;
    assert_eq!(answer["error"]["code"], json!(-32602));
    let answer = wire.ask("tools/list", json!({"cursor": ""})).await;
    assert!(answer["result"]["tools"].is_array());
}

#[tokio::test]
async fn a_success_is_one_text_of_compact_json() {
    let home = Home::new().await;
    for version in [LEGACY, MODERN] {
        let mut wire = Wire::of_era(home.handler(), version).await;
        let result = wire.call("server_identity", json!({})).await;
        let text = text(&result);
        let value: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(value.to_string(), text, "compact");
        assert_eq!(value["project"], json!("demo"));
        let mut keys: Vec<&String> = result.as_object().expect("an object").keys().collect();
        keys.retain(|key| *key != "resultType");
        assert_eq!(keys, ["content", "isError"]);
        assert_eq!(result["isError"], json!(false));
        assert_eq!(result.get("resultType").is_some(), version == MODERN);
    }
}

#[tokio::test]
async fn a_refusal_is_one_text_that_says_all() {
    let home = Home::new().await;
    for version in [LEGACY, MODERN] {
        let mut wire = Wire::of_era(home.handler(), version).await;
        let result = wire.call("task_get", json!({"task_id": "ffffffff"})).await;
        assert_eq!(result["isError"], json!(true));
        assert!(text(&result).starts_with("not_found: "), "{result}");
        assert_eq!(result.get("structuredContent"), None);
    }
}

#[tokio::test]
async fn a_stale_update_is_told_as_a_conflict() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let context = home.write_context.clone();
    let task = json!({"write_context": context, "title": "Move house", "summary": "Not begun."});
    let task = wire.answer("task_create", task).await;
    let id = &task["task_id"];
    let update = json!({"task_id": id, "expected_version": 1, "write_context": context, "summary": "Begun."});
    assert_eq!(wire.answer("task_update", update).await["version"], json!(2));
    let update = json!({"task_id": id, "expected_version": 1, "write_context": context, "summary": "stale"});
    let refusal = wire.refusal("task_update", update).await;
    assert!(refusal.starts_with("version_conflict: "), "{refusal}");
    assert!(refusal.contains("version 2"), "{refusal}");
}

#[tokio::test]
async fn unknown_tools_and_tools_for_people_are_protocol_errors() {
    let home = Home::new().await;
    for version in [LEGACY, MODERN] {
        let mut wire = Wire::of_era(home.handler(), version).await;
        for name in ["task_gett", "project_purge", "", "server_identity "] {
            let answer = wire.ask("tools/call", json!({"name": name, "arguments": {}})).await;
            assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
            let message = answer["error"]["message"].as_str().expect("a message");
            assert!(message.contains("task_get,"), "{message}");
        }
    }
}

#[tokio::test]
async fn arguments_may_be_missing_null_or_json_in_a_text() {
    let home = Home::new().await;
    for version in [LEGACY, MODERN] {
        let mut wire = Wire::of_era(home.handler(), version).await;
        for arguments in [json!(null), json!({}), json!("{}"), json!("{\"limit\": \"5\"}")] {
            assert_eq!(wire.answer("task_list", arguments).await["total"], json!(0));
        }
        let result = wire.ask("tools/call", json!({"name": "task_list"})).await["result"].clone();
        assert_eq!(result["isError"], json!(false), "{result}");
        assert_eq!(result.get("resultType").is_some(), version == MODERN);
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_told_to_the_model() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    for arguments in [json!([]), json!("status=open"), json!(7)] {
        let refusal = wire.refusal("task_list", arguments).await;
        assert!(refusal.starts_with("invalid_argument: "), "{refusal}");
    }
}

#[tokio::test]
async fn a_call_without_a_name_is_a_protocol_error() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    for params in [json!({}), json!({"name": 7, "arguments": {}}), json!({"name": null})] {
        let answer = wire.ask("tools/call", params).await;
        assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
    }
}
