//! What each client's transcripts are like: counters, repeats, sums, databases.

use std::path::{Path, PathBuf};

use heyaira::client::Client;
use heyaira::client::transcript::{Part, read};
use heyaira::economics::misses::Cause;
use heyaira::economics::{Outlook, Session, Usage};
use rusqlite::Connection;
use serde_json::json;

use super::{at, built_in, fixtures};

const CODEX: &str = "codex/sessions/2026/11/30/rollout-2026-11-30T08-00-00-01a22c00-0000-7000-8000-000000000001.jsonl";
const GEMINI: &str = "gemini/tmp/ledger/chats/session-2026-11-30T08-00-7d3f9a10.jsonl";
const COPILOT: &str = "copilot/session-state/c0b11071-0000-4000-8000-00000000000";

fn session(client: Client, path: impl AsRef<Path>) -> Session {
    read(client, &fixtures().join(path), Part::All).expect("a transcript")
}

fn usage(input: u64, cache_read: u64, cache_write: u64, output: u64) -> Usage {
    Usage { input, cache_read, cache_write, cache_write_long: 0, output }
}

#[test]
fn counters_of_codex_are_counted_once_whatever_tells_them() {
    let session = session(Client::Codex, CODEX);
    let each: Vec<Usage> = session.requests.iter().map(|request| request.usage).collect();
    let expected = [
        usage(0, 0, 60_000, 500),
        usage(1_596, 59_904, 0, 700),
        usage(38_560, 61_440, 100_000, 900),
        usage(200_500, 0, 0, 100),
        usage(0, 0, 280_000, 1_000),
        usage(10_000, 20_000, 0, 300),
    ];
    assert_eq!(each, expected);
    assert_eq!(session.models, ["gpt-6.2-sol", "gpt-6-luna"]);
    assert_eq!(session.window_tokens, Some(475_000));
    assert_eq!((session.lines.repeated, session.lines.broken), (5, 0));
    assert!(session.lines.is_unfinished);
    assert_eq!(session.compactions.len(), 1);
    assert_eq!(session.id.as_deref(), Some("01a22c00-0000-7000-8000-000000000001"));
}

#[test]
fn another_model_and_a_request_beyond_the_step_are_seen_in_codex() {
    let outlook = Outlook::of(&session(Client::Codex, CODEX), &built_in(), at("2026-11-30T08:34:50Z"));
    let causes: Vec<Cause> = outlook.misses.iter().map(|miss| miss.cause).collect();
    assert_eq!(causes, [Cause::OtherModel, Cause::OtherModel], "{:?}", outlook.misses);
    let million = |tokens: f64, usd: f64| tokens * usd / 1e6;
    let expected = million(60_000.0, 2.5)
        + million(500.0, 10.0)
        + million(1_596.0, 2.0)
        + million(59_904.0, 0.1)
        + million(700.0, 10.0)
        + million(38_560.0, 2.0)
        + million(61_440.0, 0.1)
        + million(100_000.0, 2.5)
        + million(900.0, 10.0)
        + million(200_500.0, 0.1)
        + million(100.0, 0.5)
        + million(280_000.0, 5.0)
        + million(1_000.0, 15.0)
        + million(10_000.0, 2.0)
        + million(20_000.0, 0.1)
        + million(300.0, 10.0);
    assert!((outlook.cost.usd - expected).abs() < 1e-9, "{} {expected}", outlook.cost.usd);
    // No transcript of Codex tells how long its cache lives.
    let cache = outlook.cache.expect("a cache");
    assert_eq!((cache.lifetime_seconds, cache.source.as_str(), cache.is_warm), (1_800, "assumed", Some(true)));
    assert_eq!(outlook.steps.len(), 1);
    assert_eq!(outlook.steps[0].tokens_until, 272_000 - 30_300);
}

#[test]
fn the_end_of_a_codex_transcript_knows_only_what_was_added_there() {
    let end = read(Client::Codex, &fixtures().join(CODEX), Part::Tail { bytes: 1_500 }).expect("the end");
    assert!(end.is_part);
    assert_eq!(end.requests.last().map(|request| request.usage), Some(usage(10_000, 20_000, 0, 300)));
    assert_eq!(end.window_tokens, Some(475_000));
}

#[test]
fn the_first_counter_in_the_end_of_a_codex_transcript_is_no_request() {
    let count = |input: u64| {
        let total = json!({"input_tokens": input, "cached_input_tokens": 0, "output_tokens": 0});
        let payload = json!({"type": "token_count", "info": {"total_token_usage": total}});
        format!("{}\n", json!({"timestamp": "2026-11-30T08:00:00Z", "type": "event_msg", "payload": payload}))
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rollout.jsonl");
    let lines = [count(9_000_000), count(10_000_000), count(10_021_000)];
    std::fs::write(&path, lines.concat()).expect("a file");
    // So many bytes that the first line is cut.
    let bytes = u64::try_from(lines[1].len() + lines[2].len() + 5).expect("few");
    let end = read(Client::Codex, &path, Part::Tail { bytes }).expect("the end");
    let each: Vec<Usage> = end.requests.iter().map(|request| request.usage).collect();
    assert_eq!(each, [usage(21_000, 0, 0, 0)]);
    let all = read(Client::Codex, &path, Part::Tail { bytes: 1 << 20 }).expect("all");
    assert_eq!(all.requests.len(), 3, "from its start the first total is the first request");
}

#[test]
fn a_message_of_gemini_counts_as_it_was_last_told() {
    let session = session(Client::Gemini, GEMINI);
    let each: Vec<Usage> = session.requests.iter().map(|request| request.usage).collect();
    assert_eq!(each, [usage(9_000, 0, 0, 60), usage(3_040, 9_000, 0, 105), usage(3_200, 11_800, 0, 90)]);
    assert_eq!(session.lines.repeated, 1);
    let outlook = Outlook::of(&session, &built_in(), at("2026-11-30T08:01:00Z"));
    let usd = (15_240.0 * 0.75 + 20_800.0 * 0.075 + 255.0 * 3.75) / 1e6;
    assert!((outlook.cost.usd - usd).abs() < 1e-12);
    assert_eq!(outlook.cache, None, "nobody says how long it lives");
    assert_eq!(outlook.window.map(|window| window.tokens), Some(1_048_576));
    // The same tokens a year later, at the full price.
    let mut later = session;
    for request in &mut later.requests {
        request.started = Some(at("2027-11-30T08:00:00Z"));
    }
    let later = Outlook::of(&later, &built_in(), at("2027-11-30T08:01:00Z"));
    assert!((later.cost.usd - 2.0 * usd).abs() < 1e-12);
}

#[test]
fn a_document_of_an_older_gemini_is_read_too() {
    let session = session(Client::Gemini, "gemini/tmp/ledger/chats/session-2025-11-30T08-00-7d3f9a10.json");
    assert_eq!(session.total(), usage(60, 40, 0, 11));
    assert_eq!(session.id.as_deref(), Some("7d3f9a10-1111-4222-8333-944445555667"));
}

#[test]
fn an_export_of_opencode_has_requests_and_the_clients_own_cost() {
    let session = session(Client::OpenCode, "opencode/export.json");
    assert_eq!(session.requests.len(), 3, "an answer that failed has no tokens");
    assert_eq!(session.total(), usage(18, 20_000, 42_400, 630));
    assert_eq!(session.told_cost_usd, Some(0.03));
    let outlook = Outlook::of(&session, &built_in(), at("2026-11-30T08:07:00Z"));
    assert_eq!(outlook.misses.len(), 1);
    assert_eq!((outlook.misses[0].cause, outlook.misses[0].gap_seconds), (Cause::Expired, Some(392)));
}

/// A database as `OpenCode` keeps it, with what is read of it: a session, its subagent, and an older session.
fn database(folder: &Path) -> PathBuf {
    let path = folder.join("opencode.db");
    let connection = Connection::open(&path).expect("a database");
    let schema = "
        pragma journal_mode = wal;
        create table session (id text primary key, parent_id text, directory text not null, title text not null,
            cost real default 0 not null, time_updated integer not null);
        create table message (id text primary key, session_id text not null, time_created integer not null,
            data text not null);
        insert into session values
            ('ses_new', null, '/home/dev/ledger', 'a title', 0.5, 3000), ('ses_sub', 'ses_new', '/home/dev/ledger', '', 0.25, 4000),
            ('ses_old', null, '/home/dev/other', '', 1.5, 1000);";
    connection.execute_batch(schema).expect("a schema");
    let mut number = 0;
    let mut add = |session: &str, data: String| {
        number += 1;
        let id = format!("msg_{number:03}");
        connection
            .execute("insert into message values (?1, ?2, ?3, ?4)", (id, session, number, data))
            .expect("a message");
    };
    let answer = |created: u64, input: u64| {
        let tokens = json!({"input": input, "output": 10, "reasoning": 1, "cache": {"read": 5, "write": 7}});
        json!({
            "role": "assistant", "modelID": "claude-opus-5-5", "time": {"created": created, "completed": created + 500},
            "tokens": tokens,
        })
        .to_string()
    };
    add("ses_new", json!({"role": "user", "time": {"created": 1_000}}).to_string());
    add("ses_new", answer(3_000, 300));
    add("ses_new", answer(2_000, 200));
    add("ses_sub", answer(2_500, 4_000));
    add("ses_old", answer(1_000, 50_000));
    path
}

#[test]
fn a_database_of_opencode_is_read_and_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = database(folder.path());
    let before = std::fs::read(&path).expect("its bytes");
    let session = session(Client::OpenCode, &path);
    assert_eq!(session.id.as_deref(), Some("ses_new"));
    let each: Vec<(bool, u64)> =
        session.requests.iter().map(|request| (request.is_beside, request.usage.input)).collect();
    assert_eq!(each, [(false, 200), (false, 300), (true, 4_000)]);
    assert_eq!(session.told_cost_usd, Some(0.75), "with its subagent");
    assert_eq!(session.requests[0].ended, Some(at("1970-01-01T00:00:02.5Z")));
    assert_eq!(std::fs::read(&path).expect("its bytes"), before);
}

#[test]
fn a_message_of_opencode_that_makes_no_sense_is_counted_and_the_rest_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = database(folder.path());
    let connection = Connection::open(&path).expect("a database");
    let broken = json!({"role": "assistant", "modelID": "m", "time": {"created": 1}, "tokens": {"input": "many"}});
    let rows = [("msg_900", broken.to_string()), ("msg_901", "{\"role\": \"assist".to_owned())];
    for (id, data) in rows {
        connection.execute("insert into message values (?1, 'ses_new', 1, ?2)", (id, data)).expect("a message");
    }
    let session = session(Client::OpenCode, &path);
    assert_eq!(session.requests.len(), 3);
    assert_eq!(session.lines.broken, 1);
}

#[test]
fn requests_of_copilot_count_and_sums_only_where_there_are_none() {
    let now = at("2026-11-30T08:01:00Z");
    let newer = session(Client::Copilot, format!("{COPILOT}1/events.jsonl"));
    assert_eq!(newer.requests.len(), 3);
    assert_eq!(newer.requests.iter().filter(|request| request.is_beside).count(), 1);
    assert_eq!(newer.window_tokens, Some(168_000));
    let older = session(Client::Copilot, format!("{COPILOT}2/events.jsonl"));
    assert!(older.requests.is_empty());
    assert_eq!(older.total(), newer.total());
    let (newer, older) = (Outlook::of(&newer, &built_in(), now), Outlook::of(&older, &built_in(), now));
    assert_eq!(newer.context_tokens, 16_200);
    assert!((newer.cost.usd - older.cost.usd).abs() < 1e-12 && newer.cost.usd > 0.0);
}

/// Lines that a version to come may write, and what is no transcript at all.
#[test]
fn nothing_that_a_file_holds_is_a_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("odd.jsonl");
    let odd: [&[u8]; 7] = [
        b"",
        b"\n\n\n",
        b"\xff\xfe\"usage\" \"token_count\" \"tokens\" \"session.usage_record\"\n",
        b"[1, 2, \"usage\", \"tokens\"]\n",
        b"{\"type\": 5, \"usage\": [], \"payload\": 7, \"tokens\": true, \"data\": \"token_count\"}\n",
        b"{\"type\": \"assistant\", \"message\": {\"usage\": {\"input_tokens\": -1}}}\n",
        b"{\"type\": \"event_msg\", \"payload\": {\"type\": \"token_count\", \"info\": {}}}",
    ];
    for bytes in odd {
        std::fs::write(&path, bytes).expect("a file");
        for client in [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::Copilot] {
            for part in [Part::All, Part::Tail { bytes: 7 }] {
                let session = read(client, &path, part).unwrap_or_else(|refusal| panic!("{client:?}: {refusal}"));
                assert_eq!(session.total(), Usage::default());
            }
        }
    }
}
