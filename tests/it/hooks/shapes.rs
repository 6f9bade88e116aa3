//! Every event of each client, as it gives it, answered in its form; and no stored text in any answer.

use serde_json::Value;

use super::repository::{Repository, fixtures};

const CLIENTS: [&str; 7] = ["claude-code", "codex", "gemini", "copilot", "opencode", "cursor", "vscode"];

/// How an answer to a start is formed in each client.
fn told_at_start<'a>(client: &str, answer: &'a Value) -> &'a Value {
    match client {
        "copilot" | "opencode" => &answer["additionalContext"],
        "cursor" => &answer["additional_context"],
        _ => &answer["hookSpecificOutput"]["additionalContext"],
    }
}

/// The fields that each client knows at the top of an answer.
fn known(client: &str) -> &'static [&'static str] {
    match client {
        "copilot" | "opencode" => &["additionalContext"],
        "cursor" => &["additional_context", "user_message"],
        _ => &["hookSpecificOutput", "systemMessage"],
    }
}

/// The name of an event in the input, as far as it has one.
fn event(input: &Value) -> &str {
    let names = ["hook_event_name", "hookEventName"];
    names.iter().find_map(|name| input[*name].as_str()).unwrap_or_default()
}

fn is_start(input: &Value) -> bool {
    event(input).eq_ignore_ascii_case("SessionStart") || (event(input).is_empty() && input["source"].is_string())
}

#[test]
fn every_event_of_every_client_is_answered_in_its_form() {
    for client in CLIENTS {
        let here = Repository::new();
        let line = here.handed_off("MARKER of a title", "codex:01a2f6de-5c1b-7a80-9f44-3b7d20c9e815");
        for (variables, input) in fixtures(client, &here.tree) {
            let variables: Vec<(&str, &str)> =
                variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let answer = here.hook(client, &input, &variables);
            assert_eq!(answer.err, "", "{client}: {input}");
            if answer.out.is_empty() {
                assert!(!is_start(&input), "{client} is told of the handoff: {input}");
                continue;
            }
            let told = answer.json();
            let fields = told.as_object().expect("an object");
            assert!(fields.keys().all(|field| known(client).contains(&field.as_str())), "{client}: {told}");
            if is_start(&input) {
                let context = told_at_start(client, &told).as_str().unwrap_or_default();
                assert!(context.contains(&line), "{client}: {told}");
                let session = ["session_id", "sessionId"].iter().find_map(|name| input[*name].as_str());
                let session_ref = format!("{client}:{}", session.expect("a session"));
                assert!(context.contains(&session_ref), "{client}: {told}");
            }
            if let Some(inner) = told.get("hookSpecificOutput") {
                assert_eq!(inner["hookEventName"], event(&input), "{client}: {told}");
            }
        }
        assert_eq!(here.log(), "", "{client}");
    }
}

#[test]
fn nothing_that_somebody_wrote_gets_out() {
    let here = Repository::new();
    here.git(&["checkout", "--quiet", "-b", "MARKER-of-a-branch"]);
    let line = here.handed_off("MARKER of a title", "claude-code:3f9d2c61-8a47-4e05-9b1c-6d20f7a5e813");
    here.place.ask(&["message", "send", "--to", &line["handoff: ".len()..][..8], "--text", "MARKER of a message"]);
    for round in 0..2 {
        for client in CLIENTS {
            for (variables, input) in fixtures(client, &here.tree) {
                let variables: Vec<(&str, &str)> =
                    variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                let answer = here.hook(client, &input, &variables);
                assert!(!format!("{answer:?}").contains("MARKER"), "{client}: {input}: {answer:?}");
                std::fs::write(here.tree.join(format!("MARKER-{client}-{round}")), "MARKER").expect("a file");
            }
        }
        here.git(&["add", "."]);
        here.git(&["commit", "--quiet", "-m", "MARKER of a commit"]);
    }
    assert!(!here.log().contains("MARKER"), "{}", here.log());
}

#[test]
fn the_plugin_of_three_clients_tells_them_apart() {
    let here = Repository::new();
    for client in ["claude-code", "codex", "copilot", "cursor", "vscode"] {
        for (variables, input) in fixtures(client, &here.tree).into_iter().filter(|(_, input)| is_start(input)) {
            // A client that was started in a shell of Claude Code has that one's variables too.
            for outer in
                [&[][..], &[("CLAUDECODE", "1"), ("CLAUDE_PID", "1"), ("CLAUDE_CODE_SESSION_ID", "another")][..]]
            {
                let own = variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                let all: Vec<(&str, &str)> = outer.iter().copied().chain(own).collect();
                let answer = here.hook("claude", &input, &all);
                assert!(answer.out.contains(&format!("session_ref is {client}:")), "{client}: {answer:?}");
            }
        }
    }
}
