//! What a client's program says, and whether the command of its entry answers. Must never take longer than it is given.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::git::process;

/// How long one question to one program may take.
const QUESTION: Duration = Duration::from_secs(10);
/// No program says so much; one that does is not listened to.
const ANSWER_MOST: usize = 256 * 1024;

/// The environment in which clients neither update themselves nor report, for what is asked here.
const QUIET: [(&str, &str); 7] = [
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    // It would start itself once more, and that one would outlive the question.
    ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ("NO_COLOR", "1"),
];

/// What a program prints until it ends, its time is over, or `is_enough`; none if it does not start.
fn output(mut command: Command, input: &str, is_enough: &dyn Fn(&str) -> bool) -> Option<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut kept = Vec::new();
    let mut take = |bytes: &[u8]| {
        kept.extend_from_slice(bytes);
        kept.len() < ANSWER_MOST && !is_enough(&String::from_utf8_lossy(&kept))
    };
    let ended = process::run(command, input, Instant::now() + QUESTION, &mut take);
    // One of them writes its list where others write errors.
    let errors = ended.as_ref().map(|ended| ended.err.clone()).unwrap_or_default();
    let started = ended.is_ok() || !kept.is_empty();
    started.then(|| format!("{}\n{errors}\n", String::from_utf8_lossy(&kept)))
}

fn ask(program: &Path, words: &[&str], folder: &Path, is_enough: &dyn Fn(&str) -> bool) -> Option<String> {
    let mut command = Command::new(program);
    command.args(words).current_dir(folder).envs(QUIET);
    output(command, "", is_enough)
}

/// The version that a program tells.
pub fn version(program: &Path, folder: &Path) -> Option<String> {
    let told = ask(program, &["--version"], folder, &|_| false)?;
    let word = told.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    Some(word.trim_end_matches('.').to_owned())
}

/// The word for a client that said nothing in time.
pub const SILENT: &str = "nothing";

/// The words with which a client is asked for its servers, and what the line about ours holds.
pub type Question = (&'static [&'static str], &'static str);

/// What the client itself says of the server.
pub fn own_word(program: &Path, (words, wanted): Question, folder: &Path) -> Option<String> {
    let line_of = |told: &str| {
        let plain = without_colours(told);
        plain.split_inclusive('\n').find(|line| line.contains(wanted) && line.ends_with('\n')).map(str::to_owned)
    };
    // One that does not end by itself has said enough with that line.
    let told = ask(program, words, folder, &|told| line_of(told).is_some());
    let Some(line) = told.as_deref().and_then(line_of) else { return Some(SILENT.to_owned()) };
    // All of them end in success, also where they do not connect, so their words are read.
    let says = |word: &str| line.to_lowercase().contains(word);
    let bad = ["failed", "disconnected", "disabled", "pending", "needs", "error", "not connected"];
    let found = bad.into_iter().find(|word| says(word));
    Some(found.or_else(|| says("connected").then_some("connected")).unwrap_or("unknown").to_owned())
}

fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |whole, piece| whole + piece.split_once('m').map_or(piece, |(_, rest)| rest))
}

/// The project that the command of an entry answers for, by a handshake of our own.
pub fn handshake(client: Client, command: &[String], folder: &Path) -> Result<String, String> {
    let [program, words @ ..] = command else { return Err("the entry has no command".to_owned()) };
    let mut server = Command::new(program);
    server.args(words).current_dir(folder);
    if client == Client::Codex {
        // As Codex starts it.
        server.env_clear();
        for name in ["HOME", "LANG", "PATH", "TERM", "HEYAIRA_TOKEN", "HEYAIRA_DATABASE"] {
            if let Some(value) = std::env::var_os(name) {
                server.env(name, value);
            }
        }
    }
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "heyaira-doctor", "version": env!("CARGO_PKG_VERSION")},
    }});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "server_identity", "arguments": {}}});
    let told = output(server, &format!("{hello}\n{ready}\n{call}\n"), &|_| false);
    let told = told.ok_or_else(|| "it does not start, or does not answer in time".to_owned())?;
    let mut messages = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer =
        messages.find(|message| message["id"] == 2).ok_or_else(|| "it does not answer as an MCP server".to_owned())?;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    match serde_json::from_str::<Value>(text) {
        Ok(identity) => Ok(identity["project"].as_str().unwrap_or_default().to_owned()),
        Err(_) => Err(text.to_owned()),
    }
}
