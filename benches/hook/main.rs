//! What a hook costs its client: the whole process, from its start to its end, beside the start of a process that does
//! nothing in the same run. Ratios are what to quote; times differ between machines.
//!
//! `cargo bench --bench hook`, or with `-- --quick` for a smaller database and fewer rounds.

#[path = "../both/clock.rs"]
mod clock;
#[path = "../both/database.rs"]
#[expect(dead_code, reason = "hooks call no operation on a random task")]
mod database;
#[path = "../both/generator.rs"]
mod generator;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::database::{Database, PROJECT};

const PROGRAM: &str = env!("CARGO_BIN_EXE_heyaira");
/// What all of a hook may take.
const BOUND: Duration = Duration::from_millis(50);
/// The size of the long transcript, in bytes.
const TRANSCRIPT: usize = 100 * 1024 * 1024;

/// One thing that is timed.
struct Row {
    name: &'static str,
    words: Vec<&'static str>,
    program: &'static str,
    input: String,
    has_project: bool,
    times: Vec<Duration>,
}

fn row(name: &'static str, program: &'static str, words: &[&'static str], input: &Value) -> Row {
    let input = if input.is_null() { String::new() } else { input.to_string() };
    Row { name, words: words.to_vec(), program, input, has_project: true, times: Vec::new() }
}

#[expect(clippy::print_stdout, reason = "the table is the benchmark's answer")]
fn main() {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let (size, rounds) = if is_quick { (1_000, 20) } else { (1_000_000, 200) };
    let database = Database::of(size);
    let home = tempfile::tempdir().expect("a folder");
    let tree = home.path().join("tree");
    let transcript = prepare(home.path(), &tree);
    let mut rows = rows(&tree, &transcript);
    for round in 0..rounds {
        for row in &mut rows {
            let once = time(row, &database.path, home.path(), &tree, round);
            row.times.push(once);
        }
    }
    let floor = middle(&mut rows[0].times);
    println!("milliseconds of a whole process, {rounds} rounds, {size} tasks, a transcript of {TRANSCRIPT} bytes\n");
    println!("| process | median | of 20 the slowest | slowest | times the first | above {} ms |", BOUND.as_millis());
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for row in &mut rows {
        let median = middle(&mut row.times);
        let late = row.times.iter().filter(|time| **time > BOUND).count();
        let of_20 = row.times[row.times.len() * 19 / 20];
        let slowest = row.times.last().copied().unwrap_or_default();
        let factor = median.as_secs_f64() / floor.as_secs_f64();
        let [median, of_20, slowest] = [median, of_20, slowest].map(|time| format!("{:.1}", time.as_secs_f64() * 1e3));
        println!("| {} | {median} | {of_20} | {slowest} | {factor:.1} | {late} |", row.name);
    }
}

/// A repository with a commit, and a long transcript; answers the transcript's path.
fn prepare(home: &Path, tree: &Path) -> String {
    fs::create_dir(tree).expect("a folder");
    for words in [&["init", "--quiet"][..], &["commit", "--quiet", "--allow-empty", "-m", "Begin"][..]] {
        let who = ["-c", "user.name=Maria", "-c", "user.email=maria@example.org"];
        let ran = Command::new("git").args(who).args(words).current_dir(tree).env("HOME", home).status();
        assert!(ran.is_ok_and(|status| status.success()), "git {words:?}");
    }
    let mut text = String::with_capacity(TRANSCRIPT + 100_000);
    while text.len() < TRANSCRIPT {
        let number = text.len();
        let usage = json!({"input_tokens": 10, "output_tokens": 500, "cache_read_input_tokens": 300_000,
            "cache_creation_input_tokens": 1_000});
        let message = json!({"id": format!("msg_{number}"), "model": "claude-opus-5-5", "usage": usage,
            "content": [{"type": "text", "text": "x".repeat(6_000)}]});
        let line = json!({"type": "assistant", "requestId": format!("req_{number}"), "message": message,
            "timestamp": jiff::Timestamp::now().to_string()});
        let _ = writeln!(text, "{line}");
    }
    let file = home.join("transcript.jsonl");
    fs::write(&file, text).expect("a transcript");
    file.display().to_string()
}

fn rows(tree: &Path, transcript: &str) -> Vec<Row> {
    let hook = |name, event: &str, more: Value| {
        let mut input =
            json!({"session_id": "{session}", "transcript_path": transcript, "cwd": tree, "hook_event_name": event});
        let Value::Object(more) = more else { unreachable!("an object") };
        input.as_object_mut().expect("an object").extend(more);
        row(name, PROGRAM, &["hook", "claude"], &input)
    };
    let start = json!({"source": "startup"});
    let mut elsewhere = hook("SessionStart without a project", "SessionStart", start.clone());
    elsewhere.has_project = false;
    vec![
        row("true", "true", &[], &Value::Null),
        row("heyaira --version", PROGRAM, &["--version"], &Value::Null),
        elsewhere,
        hook("SessionStart", "SessionStart", start),
        hook("UserPromptSubmit", "UserPromptSubmit", json!({"prompt": "go on"})),
        hook("Stop", "Stop", json!({"stop_hook_active": false, "last_assistant_message": "done"})),
        hook("PreCompact", "PreCompact", json!({"trigger": "auto"})),
        hook("PostToolUse, which is passed over", "PostToolUse", json!({"tool_name": "Bash"})),
        hook("SessionEnd, with git", "SessionEnd", json!({"reason": "other"})),
    ]
}

/// The time of one process. Each round is a session of its own, with a file that it changed.
fn time(row: &Row, database: &Path, home: &Path, tree: &Path, round: usize) -> Duration {
    fs::write(tree.join("work.txt"), round.to_string()).expect("a file");
    let mut command = Command::new(row.program);
    command.args(&row.words).env("HOME", home).env("HEYAIRA_DATABASE", database).current_dir(tree);
    command.env_remove("HEYAIRA_STATE").env_remove("XDG_STATE_HOME").env_remove("HEYAIRA_HOOK_WAIT_MS");
    if row.has_project {
        command.env("HEYAIRA_PROJECT", PROJECT);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let input = row.input.replace("{session}", &format!("session-{round}"));
    let start = Instant::now();
    let mut child = command.spawn().expect("a process");
    // Who does not read it has ended.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("its end");
    let elapsed = start.elapsed();
    assert!(output.status.success(), "{}", row.name);
    elapsed
}

/// The median; the times are in order afterwards.
fn middle(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
