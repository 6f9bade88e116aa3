//! What clients tell about themselves, as they really say it.

use heyaira::surface::mcp::handler::Handler;
use serde_json::{Value, json};

use super::home::{Home, TEST_ONLY};
use super::wire::{LEGACY, Wire, modern_meta, text};

const SESSION: &str = "0d6abdb3-f143-4464-baba-8fdefa099573";
const OTHER: &str = "01a2271e-b211-74b0-9172-7937c84f82ea";

fn handler(home: &Home, environment: &[(&str, &str)]) -> Handler {
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Handler::with_entries(home.opener(), environment, &TEST_ONLY)
}

/// What is observed of a client after a handshake, in a call with this metadata.
async fn shaken(client: Value, environment: &[(&str, &str)], meta: Value) -> Value {
    let home = Home::new().await;
    let mut wire = Wire::new(handler(&home, environment));
    wire.initialize(LEGACY, &client).await;
    told(&mut wire, meta).await
}

async fn told(wire: &mut Wire, meta: Value) -> Value {
    let answer = wire.ask("tools/call", json!({"name": "echo", "arguments": {}, "_meta": meta})).await;
    serde_json::from_str(text(&answer["result"])).expect("JSON")
}

fn claude() -> Value {
    json!({"name": "claude-code", "title": "Claude Code", "version": "2.1.332",
        "description": "Anthropic's agentic coding tool", "websiteUrl": "https://claude.com/claude-code"})
}

#[tokio::test]
async fn claude_code_is_known_by_its_environment() {
    let environment = [
        ("AI_AGENT", "claude-code_2-1-332_harness"),
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_SESSION_ID", SESSION),
        ("CODEX_SESSION_ID", OTHER),
    ];
    let expected =
        json!({"harness": "claude-code 2.1.332", "model": null, "session_ref": format!("claude-code:{SESSION}")});
    let meta = json!({"claudecode/toolUseId": "toolu_d2c0e3d5661dfee84dca5aac", "progressToken": 4});
    assert_eq!(shaken(claude(), &environment, meta).await, expected);
}

#[tokio::test]
async fn claude_code_is_known_without_a_handshake() {
    let home = Home::new().await;
    let mut wire = Wire::new(handler(&home, &[("CLAUDE_CODE_SESSION_ID", SESSION)]));
    let seen = told(&mut wire, Value::Object(modern_meta(&claude()))).await;
    assert_eq!(seen["harness"], json!("claude-code 2.1.332"));
    assert_eq!(seen["session_ref"], json!(format!("claude-code:{SESSION}")));
}

#[tokio::test]
async fn what_a_call_says_wins_over_an_environment_that_may_be_stale() {
    let meta = json!({"claudecode/sessionId": OTHER});
    let seen = shaken(claude(), &[("CLAUDE_CODE_SESSION_ID", SESSION)], meta).await;
    assert_eq!(seen["session_ref"], json!(format!("claude-code:{OTHER}")));
}

#[tokio::test]
async fn codex_says_everything_in_each_call() {
    let meta = json!({
        "callId": "call_0d684909e94f9fbd61232911",
        "x-codex-turn-metadata": {
            "session_id": OTHER, "thread_id": OTHER, "model": "gpt-5.6-codex",
            "turn_id": "01a2271e-b23b-7993-b2a0-fe8c075424ad", "turn_trigger": "exec", "sandbox": "none",
            "workspaces": {"/home/dev/project": {"latest_git_commit_hash": "55afbe46", "has_changes": true}},
            "codex_version": "0.171.0",
        },
        "threadId": OTHER, "sessionId": OTHER, "windowId": format!("{OTHER}:0"), "progressToken": 1,
    });
    let client = json!({"name": "codex-mcp-client", "title": "Codex", "version": "0.171.0"});
    let expected =
        json!({"harness": "codex 0.171.0", "model": "gpt-5.6-codex", "session_ref": format!("codex:{OTHER}")});
    assert_eq!(shaken(client.clone(), &[], meta).await, expected);
    let meta = json!({"x-codex-turn-metadata": {"thread_id": OTHER}});
    assert_eq!(shaken(client, &[], meta).await["session_ref"], json!(format!("codex:{OTHER}")));
}

#[tokio::test]
async fn copilot_and_gemini_are_known_by_their_environment() {
    let environment = [("COPILOT_AGENT_SESSION_ID", SESSION), ("COPILOT_MODEL", "gpt-5.4")];
    let client = json!({"name": "copilot-cli", "version": "1.0.102"});
    let expected =
        json!({"harness": "copilot 1.0.102", "model": "gpt-5.4", "session_ref": format!("copilot:{SESSION}")});
    assert_eq!(shaken(client, &environment, json!({"progressToken": 3})).await, expected);

    let client = json!({"name": "gemini-cli-mcp-client", "version": "0.61.0"});
    let seen = shaken(client, &[("GEMINI_SESSION_ID", SESSION)], json!({})).await;
    assert_eq!(seen["harness"], json!("gemini 0.61.0"));
    assert_eq!(seen["session_ref"], json!(format!("gemini:{SESSION}")));
}

#[tokio::test]
async fn clients_that_tell_no_session_have_none() {
    for (name, version, harness) in [
        ("opencode", "1.18.33", "opencode 1.18.33"),
        ("qwen-cli-mcp-client-probe", "0.0.1", "qwen 0.0.1"),
        ("Zed", "0.200", "Zed 0.200"),
        ("Visual Studio Code", "1.110", "Visual Studio Code 1.110"),
        ("unversioned", "", "unversioned"),
    ] {
        // The session is Claude Code's, in whose shell another client was started.
        let environment = [("CLAUDE_CODE_SESSION_ID", SESSION), ("COPILOT_MODEL", "gpt-5.4")];
        let meta = json!({"sessionId": OTHER, "claudecode/sessionId": OTHER});
        let seen = shaken(json!({"name": name, "version": version}), &environment, meta).await;
        assert_eq!(seen, json!({"harness": harness, "model": null, "session_ref": null}), "{name}");
    }
}

#[tokio::test]
async fn a_client_without_a_name_is_the_agent_that_started_it_but_has_no_session() {
    let home = Home::new().await;
    let environment = [("AI_AGENT", "claude-code_2-1-332_harness"), ("CLAUDE_CODE_SESSION_ID", SESSION)];
    let mut wire = Wire::new(handler(&home, &environment));
    let mut meta = modern_meta(&json!(null));
    meta.remove("io.modelcontextprotocol/clientInfo");
    let seen = told(&mut wire, Value::Object(meta)).await;
    assert_eq!(seen, json!({"harness": "claude-code 2.1.332", "model": null, "session_ref": null}));
}

#[tokio::test]
async fn what_is_malformed_is_ignored() {
    let long = "x".repeat(300);
    for id in ["", "  ", "two words", "a/path", "back\\slash", "line\nbreak", long.as_str()] {
        let seen = shaken(claude(), &[("CLAUDE_CODE_SESSION_ID", id)], json!({"claudecode/sessionId": id})).await;
        assert_eq!(seen["session_ref"], json!(null), "{id:?}");
    }
    // A bad id in the call does not hide a good one in the environment.
    let seen = shaken(claude(), &[("CLAUDE_CODE_SESSION_ID", SESSION)], json!({"claudecode/sessionId": 7})).await;
    assert_eq!(seen["session_ref"], json!(format!("claude-code:{SESSION}")));
    let client = json!({"name": long, "version": "1\n2"});
    assert_eq!(shaken(client, &[], json!({})).await["harness"], json!(null));
    let client = json!({"name": "codex-mcp-client", "version": long});
    let meta = json!({"x-codex-turn-metadata": "gpt", "threadId": ["x"]});
    assert_eq!(shaken(client, &[], meta).await, json!({"harness": "codex", "model": null, "session_ref": null}));
}

#[tokio::test]
async fn a_takeover_is_in_the_name_of_the_observed_session() {
    let home = Home::new().await;
    let environment = vec![("CLAUDE_CODE_SESSION_ID".to_owned(), SESSION.to_owned())];
    let mut wire = Wire::new(Handler::new(home.opener(), environment));
    wire.initialize(LEGACY, &claude()).await;
    let context = &home.write_context;
    let task = json!({"write_context": context, "title": "Move house", "summary": "Not begun."});
    let task = wire.answer("task_create", task).await;
    let claim = json!({"task_id": task["task_id"], "expected_version": 1, "write_context": context});
    wire.answer("task_takeover", claim).await;
    let task = wire.answer("task_get", json!({"task_id": task["task_id"]})).await;
    assert_eq!(task["owner"], json!(format!("claude-code:{SESSION}")));
}
