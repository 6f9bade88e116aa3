//! Advice on money: by the end of the transcript, once for each reason, and never by force.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;

use super::repository::{CLAUDE, Repository, context};
use crate::program::Answer;

const OTHER: &str = "b07e44d9-15c8-4c6a-8f32-90ab6c1de574";

/// A transcript of Claude Code: so many requests, the last so many minutes ago, each with so much context.
struct Transcript {
    requests: usize,
    context: usize,
    minutes_ago: i64,
    model: &'static str,
}

const LONG: Transcript = Transcript { requests: 60, context: 400_000, minutes_ago: 0, model: "claude-opus-5-5" };

impl Transcript {
    /// Writes it; `before` stands in front.
    fn write(&self, here: &Repository, session: &str, before: &str) -> PathBuf {
        let mut text = before.to_owned();
        let now = jiff::Timestamp::now();
        for number in 0..self.requests {
            let ago = self.minutes_ago * 60 + i64::try_from(self.requests - number - 1).expect("a number");
            let at = now - jiff::SignedDuration::from_secs(ago);
            let usage = json!({
                "input_tokens": 10, "output_tokens": 500, "cache_read_input_tokens": self.context - 1_010,
                "cache_creation_input_tokens": 1_000,
                "cache_creation": {"ephemeral_5m_input_tokens": 1_000, "ephemeral_1h_input_tokens": 0},
            });
            let line = json!({
                "type": "assistant", "sessionId": session, "timestamp": at.to_string(), "requestId": format!("req_{number}"),
                "promptCacheRequested": "5m", "isSidechain": false,
                "message": {"id": format!("msg_{number}"), "model": self.model, "role": "assistant", "usage": usage,
                    "content": [{"type": "text", "text": "MARKER of an answer"}]},
            });
            let _ = writeln!(text, "{line}");
        }
        let file = here.place.folder.path().join(format!("{session}.jsonl"));
        std::fs::write(&file, text).expect("a transcript");
        file
    }
}

fn turn(here: &Repository, session: &str, event: &str, transcript: &PathBuf, variables: &[(&str, &str)]) -> Answer {
    let mut input = here.claude(session, event, json!({"prompt_id": "1", "prompt": "MARKER"}));
    input["transcript_path"] = json!(transcript);
    let answer = here.hook("claude", &input, variables);
    assert!(!answer.out.contains("MARKER"), "{answer:?}");
    answer
}

fn notice(answer: &Answer) -> String {
    let told = answer.json();
    assert_eq!(told.as_object().map(serde_json::Map::len), Some(1), "nothing that goes on by force: {told}");
    told["systemMessage"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

#[test]
fn a_long_session_is_advised_once_and_so_is_its_person() {
    let here = Repository::new();
    let file = LONG.write(&here, CLAUDE, "");
    let told = notice(&turn(&here, CLAUDE, "Stop", &file, &[]));
    assert!(
        told.starts_with("HeyAira: Hand off: with 400,") && told.contains("a fresh session is cheaper after"),
        "{told}"
    );
    assert_eq!(turn(&here, CLAUDE, "Stop", &file, &[]).out, "", "never a nag");
    let told = context(&turn(&here, CLAUDE, "UserPromptSubmit", &file, &[]));
    assert!(told.contains("Hand off: with 400,") && told.contains("theirs to decide"), "{told}");
    assert_eq!(turn(&here, CLAUDE, "UserPromptSubmit", &file, &[]).out, "");
    let file = LONG.write(&here, OTHER, "");
    assert!(!turn(&here, OTHER, "Stop", &file, &[]).out.is_empty(), "another session is advised itself");
    assert_eq!(here.log(), "");
}

#[test]
fn before_a_pause_that_the_cache_does_not_outlive_a_person_is_told_so() {
    let here = Repository::new();
    let file = Transcript { requests: 3, ..LONG }.write(&here, CLAUDE, "");
    assert_eq!(turn(&here, CLAUDE, "UserPromptSubmit", &file, &[]).out, "", "who goes on need not hear it");
    let told = notice(&turn(&here, CLAUDE, "Stop", &file, &[]));
    assert!(
        told.starts_with("HeyAira, in case you pause here: Hand off before the pause: the cache lives 5 minutes"),
        "{told}"
    );
    assert_eq!(turn(&here, CLAUDE, "Stop", &file, &[]).out, "");
}

#[test]
fn after_a_pause_the_model_is_told_before_it_begins() {
    let here = Repository::new();
    let file = Transcript { requests: 3, minutes_ago: 120, ..LONG }.write(&here, CLAUDE, "");
    let told = context(&turn(&here, CLAUDE, "UserPromptSubmit", &file, &[]));
    assert!(told.contains("No handoff of this session waits") && told.contains("cache expired 1 hour ago"), "{told}");
    assert!(told.contains("staying is cheaper for the next request"), "{told}");
}

#[test]
fn what_the_start_said_of_a_cold_cache_is_not_said_again() {
    let here = Repository::new();
    let file = Transcript { requests: 3, minutes_ago: 120, ..LONG }.write(&here, CLAUDE, "");
    let resumed = json!({
        "source": "resume", "seconds_since_last_response": 7_200, "context_tokens": 400_000,
        "prompt_cache_likely_expired": true, "estimated_cache_write_usd": 2.5,
    });
    let told = context(&here.hook("claude", &here.claude(CLAUDE, "SessionStart", resumed), &[]));
    assert!(told.contains("the prompt cache has likely expired"), "{told}");
    assert_eq!(turn(&here, CLAUDE, "UserPromptSubmit", &file, &[]).out, "");
    assert_eq!(turn(&here, CLAUDE, "Stop", &file, &[]).out, "");
}

#[test]
fn a_session_that_is_cheap_is_left_alone() {
    let here = Repository::new();
    for (session, transcript) in [
        (CLAUDE, Transcript { context: 30_000, ..LONG }),
        (OTHER, Transcript { requests: 0, ..LONG }),
        ("11111111-2222-4333-8444-555555555555", Transcript { model: "nobody-s-model", requests: 2, ..LONG }),
    ] {
        let file = transcript.write(&here, session, "");
        for event in ["Stop", "UserPromptSubmit"] {
            assert_eq!(turn(&here, session, event, &file, &[]).out, "", "{session} {event}");
        }
    }
    assert_eq!(turn(&here, CLAUDE, "Stop", &here.tree.join("none.jsonl"), &[]).out, "");
    assert_eq!(turn(&here, CLAUDE, "Stop", &here.tree, &[]).out, "");
    assert_eq!(here.log(), "");
}

#[test]
fn who_has_handed_off_is_not_told_to() {
    let here = Repository::new();
    let file = LONG.write(&here, CLAUDE, "");
    here.handed_off("Work", &format!("claude-code:{CLAUDE}"));
    assert_eq!(turn(&here, CLAUDE, "Stop", &file, &[]).out, "");
    assert_eq!(turn(&here, CLAUDE, "UserPromptSubmit", &file, &[]).out, "");
    let cold = Transcript { minutes_ago: 120, ..LONG }.write(&here, CLAUDE, "");
    let told = context(&turn(&here, CLAUDE, "UserPromptSubmit", &cold, &[]));
    assert!(told.contains("Start fresh from the saved handoff"), "{told}");
}

#[test]
fn advice_can_be_left_out_and_needs_a_project() {
    let here = Repository::new();
    let file = LONG.write(&here, CLAUDE, "");
    assert_eq!(turn(&here, CLAUDE, "Stop", &file, &[("HEYAIRA_HOOKS_WITHOUT", "advice")]).out, "");
    let bare = Repository::without_project();
    let file = LONG.write(&bare, CLAUDE, "");
    assert_eq!(turn(&bare, CLAUDE, "Stop", &file, &[]).out, "");
}

#[test]
fn of_a_long_transcript_the_end_is_enough() {
    let here = Repository::new();
    let line = json!({"type": "user", "message": {"content": "x".repeat(100_000)}});
    let before = format!("{line}\n").repeat(300);
    let file = LONG.write(&here, CLAUDE, &before);
    assert!(file.metadata().expect("a file").len() > 30_000_000);
    assert!(notice(&turn(&here, CLAUDE, "Stop", &file, &[])).contains("Hand off: with 400,"));
}

#[test]
fn clients_without_a_way_to_be_told_are_told_nothing() {
    let here = Repository::new();
    let file = LONG.write(&here, CLAUDE, "");
    let input = json!({
        "sessionId": CLAUDE, "timestamp": 1, "cwd": here.tree, "transcriptPath": file, "stopReason": "end_turn",
    });
    assert_eq!(here.hook("copilot", &input, &[]).out, "");
}

#[test]
fn opencode_s_sessions_are_read_where_they_are() {
    let here = Repository::new();
    let folder = here.place.folder.path().join(".local/share/opencode");
    std::fs::create_dir_all(&folder).expect("a folder");
    let database = rusqlite::Connection::open(folder.join("opencode.db")).expect("a database");
    let tables = "create table session (id text, parent_id text, directory text, cost real, time_updated integer);
        create table message (id text, session_id text, data text);";
    database.execute_batch(tables).expect("tables");
    let session = "insert into session values ('ses_1', null, ?1, 0, 1)";
    database.execute(session, [here.tree.display().to_string()]).expect("a session");
    for number in 0..60 {
        let at = jiff::Timestamp::now().as_millisecond() - 60_000 + number * 1_000;
        let data = json!({
            "role": "assistant", "modelID": "claude-opus-5-5", "providerID": "anthropic", "cost": 0.1,
            "time": {"created": at, "completed": at + 500},
            "tokens": {"input": 10, "output": 500, "reasoning": 0, "cache": {"read": 400_000, "write": 1_000}},
        });
        let row = (format!("msg_{number:03}"), data.to_string());
        database.execute("insert into message values (?1, 'ses_1', ?2)", row).expect("a message");
    }
    let event = |name: &str| json!({"hook_event_name": name, "session_id": "ses_1", "cwd": here.tree});
    for name in ["Stop", "UserPromptSubmit"] {
        let told = here.hook("opencode", &event(name), &[]).json();
        let said = told["additionalContext"].as_str().unwrap_or_else(|| panic!("{told}"));
        assert!(said.contains("Hand off"), "{said}");
        assert_eq!(here.hook("opencode", &event(name), &[]).out, "");
    }
    assert_eq!(here.log(), "");
}

#[test]
fn gemini_s_compaction_is_believed_where_the_context_is_large() {
    let here = Repository::new();
    let file = here.place.folder.path().join("session-2026-11-30T09-15-7c1e5a90.jsonl");
    let event = json!({
        "session_id": CLAUDE, "transcript_path": file, "cwd": here.tree, "hook_event_name": "PreCompress",
        "timestamp": "2026-11-30T09:15:02.481Z", "trigger": "auto",
    });
    let said = |context: i64| {
        let mut text = format!("{}\n", json!({"sessionId": CLAUDE, "projectHash": "x", "kind": "main"}));
        for number in 0..10 {
            let tokens = json!({"input": context, "output": 300, "cached": context - 900, "thoughts": 0, "tool": 0,
                "total": context + 300});
            let line = json!({"id": number.to_string(), "timestamp": jiff::Timestamp::now().to_string(), "type": "gemini",
                "model": "gemini-3.8-flash", "tokens": tokens, "content": "MARKER"});
            let _ = writeln!(text, "{line}");
        }
        std::fs::write(&file, text).expect("a transcript");
        here.hook("gemini", &event, &[]).out
    };
    assert_eq!(said(20_000), "", "at every turn");
    assert!(said(980_000).contains("a handoff keeps more than a compaction"));
    assert_eq!(said(980_000), "", "once");
    assert_eq!(here.log(), "");
}
