//! What coding clients print when nobody watches, and what is taken from it.

mod failures;
mod launches;
mod refusals;

use heyaira::client::Client;
use heyaira::client::harness::{Harness, Reader, Told};
use heyaira::domain::run::{Denied, Exit};
use serde_json::json;

const SESSION: &str = "0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31";

fn told(client: Client, resumes: bool, lines: &[String], code: i64) -> Told {
    let mut reader = Reader::new(Harness::Client(client), resumes);
    for line in lines {
        reader.line(line.as_bytes());
    }
    reader.ended(Exit { code: Some(code), signal: None })
}

/// The last event of Claude Code, with these fields over those of a run that went well.
fn claude_result(over: &serde_json::Value) -> String {
    let mut result = json!({
        "type": "result", "subtype": "success", "is_error": false, "terminal_reason": "completed",
        "session_id": SESSION, "result": "All is done.", "total_cost_usd": 0.027_987_4,
        "usage": {
            "input_tokens": 3, "cache_creation_input_tokens": 1252, "cache_read_input_tokens": 11290, "output_tokens": 42,
            "cache_creation": {"ephemeral_1h_input_tokens": 200},
        },
        "modelUsage": {"claude-opus-5-5": {"inputTokens": 9, "costUSD": 0.027_987_4, "costBasis": "list"}},
        "permission_denials": [],
    });
    result.as_object_mut().expect("an object").extend(over.as_object().expect("an object").clone());
    result.to_string()
}

fn claude_begins() -> String {
    json!({
        "type": "system", "subtype": "init", "session_id": SESSION, "model": "claude-opus-5-5",
        "claude_code_version": "2.1.332", "tools": ["Bash"],
    })
    .to_string()
}

#[test]
fn the_sum_of_a_resumed_session_is_not_the_cost_of_this_run() {
    let lines = [claude_begins(), claude_result(&json!({}))];
    let [new, resumed] = [false, true].map(|resumes| told(Client::ClaudeCode, resumes, &lines, 0));
    assert_eq!((new.cost_usd, resumed.cost_usd), (Some(0.027_987_4), None));
    let usage = resumed.usage.expect("the tokens are this run's");
    assert_eq!((usage.input, usage.cache_read, usage.output), (3, 11290, 42));
    assert_eq!((usage.cache_write, usage.cache_write_long), (1052, 200));
    assert_eq!((new.session_id.as_deref(), new.version.as_deref()), (Some(SESSION), Some("2.1.332")));
    assert_eq!((new.model.as_deref(), new.final_message.as_deref()), (Some("claude-opus-5-5"), Some("All is done.")));
    assert!(new.is_complete && !new.model_failed);
}

#[test]
fn denied_tools_are_told_though_the_exit_code_is_0() {
    let denials = json!([
        {"tool_name": "Bash", "tool_use_id": "toolu_1"},
        {"tool_name": "Bash", "tool_use_id": "toolu_2"},
        {"tool_name": "mcp__heyaira__task_update", "tool_use_id": "toolu_3"},
    ]);
    let told = told(Client::ClaudeCode, false, &[claude_result(&json!({"permission_denials": denials}))], 0);
    let denied = |tool: &str, times| Denied { tool: tool.to_owned(), times };
    assert_eq!(told.denied, [denied("Bash", 2), denied("mcp__heyaira__task_update", 1)]);
    assert!(told.is_complete);
}

#[test]
fn a_failure_of_the_model_that_calls_itself_success_is_none() {
    let failed = json!({
        "is_error": true, "terminal_reason": "api_error", "result": "API Error: Connection refused", "total_cost_usd": 0,
    });
    let told = told(Client::ClaudeCode, false, &[claude_begins(), claude_result(&failed)], 1);
    assert!(told.model_failed && !told.is_complete);
    assert_eq!(told.errors, ["API Error: Connection refused"]);
    assert_eq!(told.final_message, None, "an error is no last message");
}

#[test]
fn a_cost_that_is_a_guess_is_not_known() {
    let over = json!({"modelUsage": {"some-model": {"costUSD": 0.5, "costBasis": "unknown"}}});
    assert_eq!(told(Client::ClaudeCode, false, &[claude_result(&over)], 0).cost_usd, None);
}

#[test]
fn a_turn_of_codex_that_failed_is_no_end() {
    let begins = json!({"type": "thread.started", "thread_id": SESSION}).to_string();
    let failed = json!({"type": "turn.failed", "error": {"message": "stream disconnected"}}).to_string();
    let answered =
        json!({"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": "Done."}});
    let completed = json!({"type": "turn.completed", "usage": {
        "input_tokens": 21874, "cached_input_tokens": 9888, "cache_write_input_tokens": 0, "output_tokens": 84,
    }});
    let bad = told(Client::Codex, false, &[begins.clone(), failed], 1);
    assert!(bad.model_failed && !bad.is_complete, "{bad:?}");
    assert!(bad.errors.iter().any(|error| error.contains("stream disconnected")), "{bad:?}");
    let lines = [begins, answered.to_string(), completed.to_string()];
    let [new, resumed] = [false, true].map(|resumes| told(Client::Codex, resumes, &lines, 0));
    assert!(new.is_complete && !new.model_failed);
    assert_eq!((new.session_id.as_deref(), new.final_message.as_deref()), (Some(SESSION), Some("Done.")));
    let usage = new.usage.expect("tokens");
    assert_eq!((usage.input, usage.cache_read, usage.output), (11986, 9888, 84));
    assert_eq!(resumed.usage, None, "it tells the sum of the session");
}

#[test]
fn what_is_no_json_is_counted_and_no_end() {
    for client in [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::OpenCode, Client::Copilot] {
        let told = told(client, false, &["{\"type\":".to_owned(), "hello".to_owned()], 0);
        assert!(!told.is_complete, "{client:?}: {told:?}");
        assert!(told.broken_lines >= 1, "{client:?}: {told:?}");
    }
}
