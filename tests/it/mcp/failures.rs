//! What goes wrong behind the protocol: no database, panics, calls that hang, cancelled calls.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use heyaira::error::{Code, Refusal};
use heyaira::surface::mcp::Opener;
use heyaira::surface::mcp::handler::Handler;
use serde_json::{Value, json};

use super::home::{Gate, Home};
use super::wire::{LEGACY, MODERN, Wire, text};

/// An opener that fails at first.
fn failing(home: &Home, times: usize, fail: fn() -> Refusal) -> Opener {
    let open = home.open();
    let asked = AtomicUsize::new(0);
    Box::new(move || if asked.fetch_add(1, Ordering::SeqCst) < times { Err(fail()) } else { Ok(open.clone()) })
}

#[tokio::test]
async fn without_a_database_everything_is_listed_and_each_call_says_what_to_do() {
    let home = Home::new().await;
    for version in [LEGACY, MODERN] {
        let refusal = || Refusal::new(Code::NoProject, "this connection names no project", "Run heyaira start.");
        let mut wire = Wire::of_era(Handler::new(failing(&home, 3, refusal), Vec::new()), version).await;
        assert_eq!(wire.ask("tools/list", json!({})).await["result"]["tools"].as_array().map(Vec::len), Some(11));
        for _ in 0..3 {
            let refusal = wire.refusal("server_identity", json!({})).await;
            assert_eq!(refusal, "no_project: this connection names no project. Run heyaira start.");
        }
        assert_eq!(wire.answer("server_identity", json!({})).await["project"], json!("demo"));
        assert_eq!(wire.answer("server_identity", json!({})).await["project"], json!("demo"));
    }
}

#[tokio::test]
async fn a_panic_answers_internal_and_the_server_lives_on() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.test_handler()).await;
    for _ in 0..40 {
        let refusal = wire.refusal("fault", json!({})).await;
        assert!(refusal.starts_with("internal: "), "{refusal}");
        assert!(!refusal.contains("secret"), "{refusal}");
    }
    assert_eq!(wire.answer("echo", json!({})).await["session_ref"], json!(null));
}

#[tokio::test]
async fn a_panic_while_opening_answers_internal_and_is_forgotten() {
    let home = Home::new().await;
    let opener = failing(&home, 1, || panic!("a fault with a secret text"));
    let mut wire = Wire::legacy(Handler::new(opener, Vec::new())).await;
    let refusal = wire.refusal("server_identity", json!({})).await;
    assert!(refusal.starts_with("internal: ") && !refusal.contains("secret"), "{refusal}");
    assert_eq!(wire.answer("server_identity", json!({})).await["project"], json!("demo"));
}

#[tokio::test]
async fn a_call_that_hangs_is_given_up_and_others_are_answered_meanwhile() {
    let home = Home::new().await;
    let (gate, number) = Gate::closed();
    let mut wire = Wire::legacy(home.test_handler()).await;
    let (hanging, line) = wire.request("tools/call", json!({"name": "gate_pass", "arguments": {"gate": number}}));
    wire.send(&line).await;
    gate.holds(1).await;
    assert_eq!(wire.answer("echo", json!({})).await["session_ref"], json!(null));
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(14)).await;
    tokio::time::resume();
    assert_eq!(wire.answer("echo", json!({})).await["session_ref"], json!(null));
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(25)).await;
    tokio::time::resume();
    let answer = wire.message().await;
    assert_eq!(answer["id"], json!(hanging));
    assert!(text(&answer["result"]).starts_with("unavailable: "), "{answer}");
    gate.open();
}

#[tokio::test]
async fn a_cancelled_call_is_not_answered_but_runs_to_its_end() {
    let home = Home::new().await;
    let (gate, number) = Gate::closed();
    let mut wire = Wire::legacy(home.test_handler()).await;
    let (id, line) = wire.request("tools/call", json!({"name": "gate_pass", "arguments": {"gate": number}}));
    wire.send(&line).await;
    gate.holds(1).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    wire.send(&cancel.to_string()).await;
    // Whoever asks after the cancellation was read is answered; the cancelled call is not.
    wire.answer("echo", json!({})).await;
    gate.open();
    assert_eq!(wire.finish().await, Vec::<Value>::new());
    assert_eq!(gate.through(), 1);
}

#[tokio::test]
async fn a_write_that_was_cancelled_is_whole_or_not_there() {
    let home = Home::new().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let context = home.write_context.clone();
    for round in 0..20 {
        let task = json!({"write_context": context, "title": format!("Task {round}"), "summary": "New."});
        let (id, line) = wire.request("tools/call", json!({"name": "task_create", "arguments": task}));
        wire.send(&line).await;
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        wire.send(&cancel.to_string()).await;
    }
    wire.finish().await;
    let mut wire = Wire::legacy(home.handler()).await;
    let list = wire.answer("task_list", json!({"limit": 50})).await;
    for task in list["tasks"].as_array().expect("tasks") {
        let whole = wire.answer("task_get", json!({"task_id": task["id"]})).await;
        assert_eq!((&whole["version"], &whole["summary"]), (&json!(1), &json!("New.")));
    }
}

#[tokio::test]
async fn the_database_is_one_closed_file_when_the_server_has_left() {
    let home = Home::new().await;
    let context = home.write_context.clone();
    let (database, _folder, opener) = home.reopening();
    assert!(database.is_closed(), "left by the home");
    let mut wire = Wire::legacy(Handler::new(opener, Vec::new())).await;
    let task = json!({"write_context": context, "title": "Move house", "summary": "New."});
    wire.answer("task_create", task).await;
    assert!(database.is_open());
    wire.finish().await;
    assert!(database.is_closed(), "left by the server");
}
