//! Resources: the pages, and tasks by address.

use heyaira::error::{Code, Refusal};
use heyaira::surface::mcp::handler::Handler;
use serde_json::{Value, json};

use super::home::Home;
use super::wire::{LEGACY, MODERN, Wire};

#[tokio::test]
async fn the_pages_are_listed_and_read() {
    let home = Home::new().await;
    for version in [LEGACY, MODERN] {
        let mut wire = Wire::of_era(home.handler(), version).await;
        let result = wire.ask("resources/list", json!({})).await["result"].clone();
        let resources = result["resources"].as_array().expect("resources");
        let addresses: Vec<&str> = resources.iter().filter_map(|resource| resource["uri"].as_str()).collect();
        let expected = [
            "heyaira://procedures/session-handoff",
            "heyaira://procedures/write-session-handoff",
            "heyaira://procedures/take-over-session",
            "heyaira://procedures/safe-mutations",
            "heyaira://procedures/work-contract",
        ];
        assert_eq!(addresses, expected);
        for resource in resources {
            assert_eq!(resource["mimeType"], json!("text/markdown"));
            let read = wire.ask("resources/read", json!({"uri": resource["uri"]})).await["result"].clone();
            let contents = read["contents"].as_array().expect("contents");
            assert_eq!(contents.len(), 1);
            let text = contents[0]["text"].as_str().expect("a text");
            assert_eq!(resource["size"], json!(text.len()));
            assert!(text.starts_with("# "), "{text}");
            assert_eq!(contents[0]["mimeType"], json!("text/markdown"));
            assert_eq!(contents[0]["uri"], resource["uri"]);
            let good = (version == MODERN).then(|| (json!(3_600_000), json!("public")));
            assert_eq!(read.get("ttlMs"), good.as_ref().map(|good| &good.0));
            assert_eq!(read.get("cacheScope"), good.as_ref().map(|good| &good.1));
        }
    }
}

#[tokio::test]
async fn the_templates_are_addresses_of_tasks() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let result = wire.ask("resources/templates/list", json!({})).await["result"].clone();
    let templates = result["resourceTemplates"].as_array().expect("templates");
    let addresses: Vec<&str> = templates.iter().filter_map(|template| template["uriTemplate"].as_str()).collect();
    assert_eq!(addresses, ["heyaira://{project}/task/{task_id}", "heyaira://{project}/task/{task_id}/v{version}"]);
}

async fn with_task(home: &Home, wire: &mut Wire) -> String {
    let context = &home.write_context;
    let task = json!({"write_context": context, "title": "Move house", "summary": "Not begun."});
    let task = wire.answer("task_create", task).await;
    let id = task["task_id"].as_str().expect("an id").to_owned();
    let update = json!({"task_id": id, "expected_version": 1, "write_context": context, "summary": "Begun."});
    wire.answer("task_update", update).await;
    id
}

#[tokio::test]
async fn a_task_is_read_as_its_operation_gives_it() {
    let home = Home::new().await;
    for version in [LEGACY, MODERN] {
        let mut wire = Wire::of_era(home.handler(), version).await;
        let id = with_task(&home, &mut wire).await;
        for (uri, summary) in [
            (format!("heyaira://demo/task/{id}"), "Begun."),
            (format!("heyaira://demo/task/{}", &id[..8]), "Begun."),
            (format!("heyaira://demo/task/{}/v1", &id[..8]), "Not begun."),
            (format!("heyaira://demo/task/{id}/v2"), "Begun."),
        ] {
            let answer = wire.ask("resources/read", json!({"uri": uri})).await;
            let contents = &answer["result"]["contents"][0];
            assert_eq!(contents["mimeType"], json!("application/json"), "{answer}");
            assert_eq!(contents["uri"], json!(uri));
            let task: Value = serde_json::from_str(contents["text"].as_str().expect("a text")).expect("JSON");
            assert_eq!(task["summary"], json!(summary));
            let good = (version == MODERN).then(|| (json!(0), json!("private")));
            assert_eq!(answer["result"].get("ttlMs"), good.as_ref().map(|good| &good.0));
            assert_eq!(answer["result"].get("cacheScope"), good.as_ref().map(|good| &good.1));
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_in_the_code_of_the_era() {
    let home = Home::new().await;
    for (version, code) in [(LEGACY, -32002), (MODERN, -32602)] {
        let mut wire = Wire::of_era(home.handler(), version).await;
        let id = with_task(&home, &mut wire).await;
        for uri in [
            format!("heyaira://other/task/{id}"),
            format!("heyaira://nowhere/task/{id}"),
            format!("heyaira://demo/task/{id}/v3"),
            format!("heyaira://demo/task/{id}/vx"),
            format!("heyaira://demo/task/{id}/v1/more"),
            format!("heyaira://demo/memory/{id}"),
            "heyaira://demo/task/ffffffff".to_owned(),
            "heyaira://demo/task/".to_owned(),
            "heyaira://procedures/nothing".to_owned(),
            "heyaira://procedures/../docs".to_owned(),
            "file:///etc/passwd".to_owned(),
            "test://nonexistent-resource-for-conformance-testing".to_owned(),
            String::new(),
        ] {
            let answer = wire.ask("resources/read", json!({"uri": uri})).await;
            assert_eq!(answer["error"]["code"], json!(code), "{uri}: {answer}");
            assert_eq!(answer["error"]["data"], json!({"uri": uri}), "{answer}");
        }
    }
}

#[tokio::test]
async fn an_address_with_a_secret_is_the_callers_fault_and_is_not_said_again() {
    let home = Home::new().await;
    for legacy in [true, false] {
        let mut wire = if legacy { Wire::legacy(home.handler()).await } else { Wire::modern(home.handler()) };
        let uri = format!("heyaira://demo/task/{}", home.write_context);
        let answer = wire.ask("resources/read", json!({"uri": uri})).await;
        assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
        let told = answer["error"]["message"].as_str().expect("a message");
        assert!(told.starts_with("secret_refused: "), "{told}");
        assert!(!answer.to_string().contains(&home.write_context), "{answer}");
    }
}

#[tokio::test]
async fn pages_are_served_also_where_the_database_is_not() {
    let refuse = || Err(Refusal::new(Code::Unavailable, "there is no database", "Run heyaira start."));
    let mut wire = Wire::legacy(Handler::new(Box::new(refuse), Vec::new())).await;
    let answer = wire.ask("resources/read", json!({"uri": "heyaira://procedures/work-contract"})).await;
    assert!(answer["result"]["contents"].is_array());
    let answer = wire.ask("resources/read", json!({"uri": "heyaira://demo/task/8e287857"})).await;
    assert_eq!(answer["error"]["code"], json!(-32603), "{answer}");
    assert!(answer["error"]["message"].as_str().expect("a message").contains("there is no database"));
}
