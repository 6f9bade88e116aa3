//! How clients tell that they could not do their part, or were not let.

use heyaira::client::Client;
use heyaira::client::harness::{Harness, Reader, Told};
use heyaira::domain::run::Exit;
use serde_json::json;

use super::{claude_begins, claude_result, told};

const CLIENTS: [Client; 5] = [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::OpenCode, Client::Copilot];

/// A run that printed nothing but this to its standard error.
fn complained(client: Client, errors: &[&str], code: i64) -> Told {
    let mut reader = Reader::new(Harness::Client(client), false);
    for line in errors {
        reader.error_line(line.as_bytes());
    }
    reader.ended(Exit { code: Some(code), signal: None })
}

#[test]
fn claude_code_that_ends_itself_for_its_budget_says_so_and_what_it_used() {
    let over = json!({
        "subtype": "error_max_budget_usd", "is_error": true, "result": null, "errors": ["Reached maximum budget ($0.5)"],
        "terminal_reason": null, "total_cost_usd": 0.800_42,
        "usage": {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0},
        "modelUsage": {
            "claude-sonnet-5-5": {
                "inputTokens": 400_000, "outputTokens": 42, "cacheReadInputTokens": 7, "cacheCreationInputTokens": 9,
                "costUSD": 0.800_42, "costBasis": "list",
            },
        },
    });
    let lines = [claude_begins(), claude_result(&over)];
    let [new, resumed] = [false, true].map(|resumes| told(Client::ClaudeCode, resumes, &lines, 1));
    assert_eq!(new.over_budget.as_deref(), Some("Reached maximum budget ($0.5)"));
    assert!(new.is_complete && !new.model_failed, "it came to an end of its own: {new:?}");
    let usage = new.usage.expect("the sums of a session that began here are this run's");
    assert_eq!((usage.input, usage.cache_read, usage.cache_write, usage.output), (400_000, 7, 9, 42));
    assert_eq!(resumed.usage, None, "the sums of a session that went on are not");
    assert_eq!(resumed.over_budget, new.over_budget);
}

#[test]
fn claude_code_that_comes_to_its_bound_of_turns_has_ended_and_says_why() {
    let over = json!({
        "subtype": "error_max_turns", "is_error": true, "result": null, "errors": ["Reached maximum number of turns (2)"],
    });
    let told = told(Client::ClaudeCode, false, &[claude_begins(), claude_result(&over)], 1);
    assert_eq!((told.is_complete, told.model_failed, told.over_budget), (true, false, None));
    assert_eq!(told.errors, ["Reached maximum number of turns (2)"]);
}

#[test]
fn gemini_that_comes_to_its_bound_of_turns_has_ended_and_says_why() {
    let result = |kind: &str, message: &str| {
        let problem = json!({"type": kind, "message": message});
        [json!({"type": "result", "status": "error", "error": problem, "stats": {"models": {}}}).to_string()]
    };
    let turns = told(Client::Gemini, false, &result("FatalTurnLimitedError", "Reached max session turns."), 53);
    assert_eq!((turns.is_complete, turns.model_failed), (true, false));
    assert_eq!(turns.errors, ["Reached max session turns."]);
    // A failure of the model has the status of its interface as the exit code, cut to a byte: 565 would be 53 too.
    let failed = told(Client::Gemini, false, &result("unknown", "[API Error: {\"error\":{\"code\":565}}]"), 53);
    assert_eq!((failed.is_complete, failed.model_failed), (false, true));
}

#[test]
fn a_client_that_prints_no_event_is_taken_at_its_word_on_standard_error() {
    let noise =
        ["a warning that nobody reads", "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found", "  at main.js:1"];
    for client in CLIENTS {
        let told = complained(client, &noise, 1);
        assert_eq!((told.is_complete, told.errors.as_slice()), (false, &["Error: Session not found".to_owned()][..]));
    }
    // Where none of the lines says that it is an error, the last ones are told.
    let lines: Vec<String> = (1..=9).map(|number| format!("line {number}")).collect();
    let told = complained(Client::Copilot, &lines.iter().map(String::as_str).collect::<Vec<_>>(), 1);
    assert_eq!(told.errors, ["line 5", "line 6", "line 7", "line 8", "line 9"]);
    // One that was ended had no last words.
    let mut reader = Reader::new(Harness::Client(Client::Copilot), false);
    reader.error_line(b"a warning that nobody reads");
    assert_eq!(reader.ended(Exit { code: None, signal: Some(15) }).errors, Vec::<String>::new());
}

#[test]
fn standard_error_is_not_listened_to_where_the_client_tells_its_errors() {
    let mut reader = Reader::new(Harness::Client(Client::Codex), false);
    reader.error_line(b"error: of something beside it");
    reader.line(json!({"type": "turn.failed", "error": {"message": "stream disconnected"}}).to_string().as_bytes());
    let told = reader.ended(Exit { code: Some(1), signal: None });
    assert_eq!(told.errors, ["stream disconnected"]);
}

#[test]
fn a_secret_on_standard_error_is_masked_and_a_line_without_an_end_is_cut() {
    let secret = format!("sk-ant-{}", "api03-".to_owned() + &"a1B2c3D4".repeat(12));
    let told = complained(Client::ClaudeCode, &[&format!("error: the key {secret} is wrong")], 1);
    assert!(told.errors.iter().all(|error| !error.contains(&secret)) && told.errors.len() == 1, "{told:?}");
    let long = complained(Client::Gemini, &[&"é".repeat(100_000)], 1);
    assert_eq!(long.errors.len(), 1);
    assert!(long.errors[0].chars().count() <= 1_000, "{}", long.errors[0].chars().count());
}

#[test]
fn an_error_of_open_code_is_one_of_its_model() {
    let event = json!({"type": "error", "sessionID": "ses_1", "error": {"name": "APIError", "data": {"message": "scripted", "statusCode": 400}}});
    let told = told(Client::OpenCode, false, &[event.to_string()], 1);
    assert_eq!((told.model_failed, told.is_complete, told.errors), (true, false, vec!["scripted".to_owned()]));
}
