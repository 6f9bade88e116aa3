//! How clients tell of tools that they refused: all of them end with exit code 0.

use heyaira::client::Client;
use heyaira::client::harness::{Harness, Reader, Told};
use heyaira::domain::run::{Denied, Exit};
use serde_json::{Value, json};

use super::told;

fn lines(events: &[Value]) -> Vec<String> {
    events.iter().map(Value::to_string).collect()
}

fn denied(told: &Told) -> Vec<(&str, i64)> {
    told.denied.iter().map(|Denied { tool, times }| (tool.as_str(), *times)).collect()
}

/// One call of Claude Code's model and its answer, of an agent of its own where it has a parent.
fn claude_call(id: &str, tool: &str, answer: &Value, is_error: bool, parent: Option<&str>) -> [Value; 2] {
    let call = json!([{"type": "tool_use", "id": id, "name": tool, "input": {}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": id, "content": answer, "is_error": is_error}]);
    [
        json!({"type": "assistant", "parent_tool_use_id": parent, "message": {"model": "claude-opus-5-5", "content": call}}),
        json!({"type": "user", "parent_tool_use_id": parent, "message": {"role": "user", "content": result}}),
    ]
}

#[test]
fn claude_code_tells_of_a_tool_that_is_not_there_only_in_its_answer() {
    let missing = json!("<tool_use_error>Error: No such tool available: mcp__heyaira__task_update</tool_use_error>");
    let quoted = json!([{"type": "text", "text": "No such tool available: said by a file"}]);
    let events = [
        claude_call("toolu_1", "mcp__heyaira__task_update", &missing, true, None),
        claude_call("toolu_2", "mcp__heyaira__task_update", &missing, true, Some("toolu_0")),
        // A file that says the same, and a command that fails, are no refusals.
        claude_call("toolu_3", "Read", &json!("No such tool available: x"), false, None),
        claude_call("toolu_4", "Read", &quoted, true, None),
        claude_call("toolu_5", "Bash", &json!("Exit code 1"), true, None),
    ]
    .concat();
    let told = told(Client::ClaudeCode, false, &lines(&events), 0);
    assert_eq!(denied(&told), [("mcp__heyaira__task_update", 2)]);
}

#[test]
fn claude_code_tells_of_a_permission_twice_and_it_is_one() {
    let event = json!({
        "type": "system", "subtype": "permission_denied", "tool_name": "Write", "tool_use_id": "toolu_1",
        "decision_reason_type": "workingDir", "message": "That file is elsewhere.",
    });
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "terminal_reason": "completed",
        "permission_denials": [{"tool_name": "Write", "tool_use_id": "toolu_1", "tool_input": {}}],
    });
    assert_eq!(denied(&told(Client::ClaudeCode, false, &lines(&[event, result]), 0)), [("Write", 1)]);
}

/// A run of Codex that wrote these lines to its standard error.
fn codex(errors: &[&str]) -> Told {
    let mut reader = Reader::new(Harness::Client(Client::Codex), false);
    for line in errors {
        reader.error_line(line.as_bytes());
    }
    reader.line(json!({"type": "turn.completed", "usage": {}}).to_string().as_bytes());
    reader.ended(Exit { code: Some(0), signal: None })
}

#[test]
fn codex_tells_of_refusals_in_its_log_alone() {
    let logged =
        |problem: &str| format!("2026-11-30T07:58:03.694385Z ERROR codex_core::tools::router: error={problem}");
    let refusals = [
        "approval policy is Never; reject command — you cannot ask for escalated permissions",
        "exec_command failed: CreateProcess { message: \"Rejected(\\\"`git push` rejected: by a rule\\\")\" }",
        "patch rejected: writing outside of the project; rejected by user approval settings",
        "request_user_input is unavailable in Default mode",
        "unsupported call: no_such_tool",
    ]
    .map(logged);
    let told = codex(&refusals.each_ref().map(String::as_str));
    let names = [("exec_command", 2), ("apply_patch", 1), ("request_user_input", 1), ("no_such_tool", 1)];
    assert_eq!(denied(&told), names);
    assert_eq!(told.errors, Vec::<String>::new(), "a run that ended well has no error of its log");
    // What failed was no refusal, and neither is what only speaks of one.
    let failed =
        [logged("failed to parse function arguments: unknown field `x`"), refusals[2].replace("router", "other")];
    assert_eq!(denied(&codex(&failed.each_ref().map(String::as_str))), []);
}

fn gemini_call(id: &str, tool: &str, kind: &str, message: &str) -> [Value; 2] {
    let problem = json!({"type": kind, "message": message});
    [
        json!({"type": "tool_use", "tool_name": tool, "tool_id": id, "parameters": {}}),
        json!({"type": "tool_result", "tool_id": id, "status": "error", "output": message, "error": problem}),
    ]
}

#[test]
fn gemini_tells_of_refusals_by_the_kind_of_the_error() {
    let events = [
        gemini_call(
            "write_file__1",
            "write_file",
            "invalid_tool_params",
            "Path not in workspace: that one is elsewhere",
        ),
        gemini_call(
            "mcp_heyaira__task_get__2",
            "mcp_heyaira__task_get",
            "tool_not_registered",
            "There is no such tool.",
        ),
        gemini_call("run_shell_command__3", "run_shell_command", "policy_violation", "A policy says no."),
        gemini_call("read_file__4", "read_file", "path_not_in_workspace", "Elsewhere."),
        gemini_call("replace__5", "replace", "edit_no_occurrence_found", "Nothing to replace."),
        gemini_call("replace__6", "replace", "invalid_tool_params", "A parameter is missing."),
    ]
    .concat();
    let told = told(Client::Gemini, false, &lines(&events), 0);
    let names = [("write_file", 1), ("mcp_heyaira__task_get", 1), ("run_shell_command", 1), ("read_file", 1)];
    assert_eq!(denied(&told), names);
}

fn open_code_call(id: &str, tool: &str, state: &Value) -> Value {
    json!({"type": "tool_use", "sessionID": "ses_1", "part": {"type": "tool", "id": id, "tool": tool, "state": state}})
}

#[test]
fn open_code_answers_for_a_tool_that_is_not_there_with_one_of_its_own() {
    let missing = json!({"status": "completed", "input": {"tool": "question", "error": "Model tried to call unavailable tool 'question'."}});
    let wrong =
        json!({"status": "completed", "input": {"tool": "bash", "error": "Invalid input for tool bash: command"}});
    let ruled = json!({"status": "error", "input": {"command": "git push"}, "error": "The user has specified a rule which prevents you from using this specific tool call."});
    let rejected = json!({"status": "error", "input": {}, "error": "The user rejected permission to use this specific tool call."});
    let failed = json!({"status": "error", "input": {"path": "x"}, "error": "There is no file of that name."});
    let events = [
        open_code_call("prt_1", "invalid", &missing),
        open_code_call("prt_2", "invalid", &wrong),
        open_code_call("prt_3", "bash", &ruled),
        open_code_call("prt_4", "webfetch", &rejected),
        open_code_call("prt_5", "read", &failed),
    ];
    let told = told(Client::OpenCode, false, &lines(&events), 0);
    assert_eq!(denied(&told), [("question", 1), ("bash", 1), ("webfetch", 1)]);
}

fn copilot_call(id: &str, tool: &str, code: &str, message: &str) -> [Value; 2] {
    let problem = json!({"message": message, "code": code});
    [
        json!({"type": "tool.execution_start", "data": {"toolCallId": id, "toolName": tool}}),
        json!({"type": "tool.execution_complete", "data": {"toolCallId": id, "success": false, "error": problem}}),
    ]
}

#[test]
fn copilot_tells_of_a_tool_that_is_not_there_as_of_one_that_failed() {
    let events = [
        copilot_call("call_1", "bash", "denied", "A rule says no."),
        copilot_call("call_2", "heyaira-task_get", "failure", "Tool 'heyaira-task_get' does not exist."),
        copilot_call("call_3", "view", "failure", "The path '/x' does not exist."),
        copilot_call("call_4", "bash", "rejected", "Nobody is there to be asked."),
    ]
    .concat();
    let told = told(Client::Copilot, false, &lines(&events), 0);
    assert_eq!(denied(&told), [("bash", 2), ("heyaira-task_get", 1)]);
}
