//! The counts of transcripts: against an independent count, and in what a client may leave behind.

use std::path::{Path, PathBuf};
use std::process::Command;

use heyaira::client::Client;
use heyaira::client::transcript::{Part, read};
use heyaira::economics::misses::Cause;
use heyaira::economics::{Outlook, Session};
use serde_json::{Value, json};

use super::{at, built_in, fixtures};

fn claude(name: &str) -> PathBuf {
    fixtures()
        .join("claude-code/projects/-home-dev-ledger")
        .join(format!("5f0c1a52-7b0e-4c55-9d5e-2f6a0d3b1c{name}.jsonl"))
}

fn session(client: Client, path: &Path) -> Session {
    read(client, path, Part::All).unwrap_or_else(|refusal| panic!("{}: {refusal}", path.display()))
}

/// The totals as the program counts them, in the shape of the other count.
fn counted(session: &Session) -> Value {
    let total = session.total();
    json!({
        "input": total.input,
        "cache_read": total.cache_read,
        "cache_write": total.cache_write,
        "cache_write_long": total.cache_write_long,
        "output": total.output,
    })
}

/// The totals as Python counts them.
fn independent(client: Client, path: &Path) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/economics/count.py");
    let output = Command::new("python3").arg(script).arg(client.name()).arg(path).output().expect("python3 runs");
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Every transcript below a folder, each with its client.
fn below(folder: &Path) -> Vec<(Client, PathBuf)> {
    let mut folders = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() && !entry.ends_with("subagents") {
                folders.push(entry);
            } else if let Some(client) = heyaira::client::transcript::kind::of(&entry) {
                found.push((client, entry));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn totals_equal_an_independent_count() {
    let transcripts = below(&fixtures());
    assert!(transcripts.len() == 8, "{transcripts:?}");
    for (client, path) in transcripts {
        assert_eq!(counted(&session(client, &path)), independent(client, &path), "{}", path.display());
    }
}

/// Transcripts that are not ours: `HEYAIRA_TRANSCRIPTS` names a folder of them.
#[test]
fn totals_of_other_transcripts_equal_an_independent_count() {
    let Some(folder) = std::env::var_os("HEYAIRA_TRANSCRIPTS") else {
        return;
    };
    for (client, path) in below(Path::new(&folder)) {
        let session = session(client, &path);
        let outlook = Outlook::of(&session, &built_in(), at("2026-11-30T12:00:00Z"));
        println!("{} {}: {}", client.name(), path.display(), counted(&session));
        println!("  cost {:?}, lines {:?}", outlook.cost, session.lines);
        for miss in &outlook.misses {
            println!("  {miss:?}");
        }
        println!("  {}", outlook.sentence());
        assert_eq!(counted(&session), independent(client, &path), "{}", path.display());
    }
}

#[test]
fn claude_code_is_read_with_repeats_side_work_compactions_and_what_a_crash_left() {
    let session = session(Client::ClaudeCode, &claude("01"));
    assert_eq!(session.id.as_deref(), Some("5f0c1a52-7b0e-4c55-9d5e-2f6a0d3b1c01"));
    assert_eq!(session.models, ["claude-opus-5-5", "claude-haiku-5-5"]);
    // Eight of the conversation, one beside it in the same file, two in a subagent's; the last line of each counts.
    assert_eq!(session.conversation().count(), 8);
    assert_eq!(session.requests.iter().filter(|request| request.is_beside).count(), 3);
    let outputs: Vec<u64> = session.conversation().map(|(_, request)| request.usage.output).collect();
    assert_eq!(outputs, [250, 340, 500, 610, 900, 300, 400, 700]);
    assert_eq!(session.lines.repeated, 5);
    assert_eq!(session.lines.broken, 2, "one that a crash cut, one whose count is a text");
    assert_eq!(session.lines.unknown, 1, "a kind of line of tomorrow");
    assert!(session.lines.is_unfinished);
    assert_eq!(session.told_cost_usd, Some(2.5), "the last word of the client");
    assert_eq!(session.compactions.len(), 1);
    assert_eq!(
        (session.compactions[0].tokens_before, session.compactions[0].tokens_after),
        (Some(103_302), Some(9_000))
    );
    assert_eq!(session.context_tokens(), 2 + 22_002 + 500 + 700, "the subagent's last request is none of it");
    assert!(!session.is_part);
}

#[test]
fn cache_misses_are_found_with_their_cause() {
    let session = session(Client::ClaudeCode, &claude("01"));
    let outlook = Outlook::of(&session, &built_in(), at("2026-11-30T10:02:00Z"));
    let found: Vec<_> = outlook.misses.iter().map(|miss| (miss.cause, miss.gap_seconds, miss.written_tokens)).collect();
    assert_eq!(found, [(Cause::Expired, Some(7_202), 39_900), (Cause::Other, Some(20), 91_000)]);
    // 38,907 tokens were there to be read; written for an hour they cost 8 and not 0.20 for a million.
    let extra = outlook.misses[0].extra_usd.expect("a price");
    assert!((extra - 38_907.0 * 7.8 / 1e6).abs() < 1e-9, "{extra}");
}

#[test]
fn what_has_no_price_is_told_and_is_not_zero() {
    let outlook = Outlook::of(&session(Client::ClaudeCode, &claude("02")), &built_in(), at("2026-11-30T10:02:00Z"));
    assert_eq!(outlook.cost.unknown_models, ["claude-unheard-of-1", "claude-opus-5-5 fast"]);
    assert_eq!(outlook.cost.unknown_tokens, 2_110 + 3_110);
    // 10 in, 1,000 written for five minutes, 100 out; then 10 in, 4,000 read, 100 written, 100 out.
    let usd =
        (10.0 * 4.0 + 1_000.0 * 5.0 + 100.0 * 20.0 + 10.0 * 4.0 + 4_000.0 * 0.2 + 100.0 * 5.0 + 100.0 * 20.0) / 1e6;
    assert!((outlook.cost.usd - usd).abs() < 1e-12, "{}", outlook.cost.usd);
}

#[test]
fn the_end_of_a_transcript_is_read_alone_and_says_so() {
    let path = claude("01");
    let length = path.metadata().expect("a file").len();
    let end = read(Client::ClaudeCode, &path, Part::Tail { bytes: 2_500 }).expect("the end");
    assert!(end.is_part);
    assert_eq!(end.lines.read, 9, "of 26, whole lines only");
    assert_eq!(end.context_tokens(), 23_204);
    let most = read(Client::ClaudeCode, &path, Part::Tail { bytes: length }).expect("all of the file");
    assert!(most.is_part, "its subagents are left out");
    assert_eq!(most.requests.len(), session(Client::ClaudeCode, &path).requests.len() - 2);
}

#[test]
fn a_line_longer_than_any_buffer_is_read_for_its_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.jsonl");
    let line = |id: &str, text: &str, output: u64| {
        json!({
            "type": "assistant", "sessionId": "s", "requestId": id, "timestamp": "2026-11-30T08:00:00Z",
            "message": {"id": id, "model": "claude-opus-5-5", "content": [{"type": "text", "text": text}],
                "usage": {"input_tokens": 1, "output_tokens": output}},
        })
        .to_string()
    };
    let long = "a \"usage\" ".repeat(700_000);
    let lines = [line("a", "short", 1), line("b", &long, 2), line("c", "short", 4), format!("{{\"x\": \"{long}")];
    std::fs::write(&path, lines.join("\n")).expect("a file");
    let session = session(Client::ClaudeCode, &path);
    assert_eq!(session.total().output, 7);
    assert_eq!(session.lines.read, 4);
}

#[test]
fn a_file_that_is_not_there_is_refused() {
    let refusal = read(Client::ClaudeCode, Path::new("/nowhere/at.jsonl"), Part::All).expect_err("no file");
    assert_eq!(refusal.code, heyaira::error::Code::NotFound);
    assert!(refusal.message.contains("/nowhere/at.jsonl"), "{refusal}");
    let refusal = read(Client::Zed, Path::new("/nowhere/at.jsonl"), Part::All).expect_err("no tokens");
    assert!(refusal.next.contains("claude-code"), "{refusal}");
}

/// Writes lines into a file of a new folder.
fn written(name: &str, lines: &[Value]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).expect("a file");
    (folder, path)
}

fn answer(id: &str, model: &str, usage: &Value) -> Value {
    json!({
        "type": "assistant", "sessionId": "s", "requestId": id, "timestamp": "2026-11-30T08:00:00Z",
        "message": {"id": id, "model": model, "usage": usage},
    })
}

#[test]
fn what_a_subagents_file_repeats_of_the_conversation_stays_a_part_of_it() {
    let usage = |output: u64| json!({"input_tokens": 1, "cache_read_input_tokens": 50_000, "output_tokens": output});
    let lines = [answer("a", "claude-opus-5-5", &usage(5)), answer("b", "claude-opus-5-5", &usage(9))];
    let (folder, path) = written("s.jsonl", &lines);
    let beside = folder.path().join("s/subagents");
    std::fs::create_dir_all(&beside).expect("a folder");
    let forked = [answer("b", "claude-opus-5-5", &usage(9)), answer("c", "claude-opus-5-5", &usage(7))];
    let text: String = forked.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(beside.join("agent-1.jsonl"), text).expect("a file");
    let session = session(Client::ClaudeCode, &path);
    assert_eq!(session.conversation().count(), 2);
    assert_eq!(session.requests.len(), 3);
    assert_eq!(session.context_tokens(), 50_010);
}

#[test]
fn an_answer_without_counts_is_no_request() {
    let whole = json!({"input_tokens": 1, "cache_read_input_tokens": 300_000, "output_tokens": 9});
    let zeros = json!({"input_tokens": 0, "output_tokens": 0});
    let model = "claude-opus-5-5";
    let lines = [answer("a", model, &whole), answer("b", model, &json!({})), answer("c", model, &zeros)];
    let (_folder, path) = written("s.jsonl", &lines);
    let session = session(Client::ClaudeCode, &path);
    assert_eq!((session.requests.len(), session.lines.unknown), (1, 1));
    assert_eq!(session.context_tokens(), 300_010);
}

#[test]
fn a_name_that_no_model_has_is_not_kept() {
    let usage = json!({"input_tokens": 1, "output_tokens": 9});
    let lines = [answer("a", &"m".repeat(201), &usage), answer("b", &"n".repeat(200), &usage)];
    let (_folder, path) = written("s.jsonl", &lines);
    let session = session(Client::ClaudeCode, &path);
    assert_eq!(session.models, ["(a name of more than 200 characters)".to_owned(), "n".repeat(200)]);
}

#[test]
fn where_nothing_could_be_counted_the_cost_is_unknown() {
    let lines = [answer("a", "claude-opus-5-5", &json!({"input_tokens": -1, "output_tokens": 9}))];
    let (_folder, path) = written("s.jsonl", &lines);
    let broken = session(Client::ClaudeCode, &path);
    assert_eq!(broken.lines.broken, 1);
    assert!(Outlook::of(&broken, &built_in(), at("2026-11-30T12:00:00Z")).cost.is_unknown());
    let empty = Session::default();
    assert!(!Outlook::of(&empty, &built_in(), at("2026-11-30T12:00:00Z")).cost.is_unknown(), "nothing costs nothing");
}
