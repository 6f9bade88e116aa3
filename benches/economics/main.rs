//! How long a transcript of 100 MB takes to read, and how much memory: at most a second and 50 MB. Each is read in a process
//! of its own, whose peak the kernel tells. The end of a transcript, which hooks read, is timed beside it.
//!
//! `cargo bench --bench economics`

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use heyaira::client::Client;
use heyaira::client::transcript::{Part, read};
use heyaira::domain::time::Timestamp;
use heyaira::economics::{Outlook, Prices};

const SIZE: u64 = 100 * 1024 * 1024;
/// What a hook reads at most.
const END: u64 = 1024 * 1024;
const SECONDS_MAX: f64 = 1.0;
const MEGABYTES_MAX: f64 = 50.0;
const ROUNDS: usize = 5;

/// What a transcript is made of.
struct Shape {
    name: &'static str,
    client: Client,
    /// The bytes of text in each line beside the counts.
    text: usize,
    /// How many lines without counts stand between those with them.
    between: usize,
}

const SHAPES: [Shape; 4] = [
    Shape { name: "claude-code, as sessions are", client: Client::ClaudeCode, text: 1_500, between: 6 },
    Shape { name: "claude-code, counts alone", client: Client::ClaudeCode, text: 0, between: 0 },
    Shape { name: "claude-code, lines of 8 MB", client: Client::ClaudeCode, text: 8 * 1024 * 1024, between: 1 },
    Shape { name: "codex, as sessions are", client: Client::Codex, text: 1_500, between: 6 },
];

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, child, client, path, bytes] = arguments.as_slice()
        && child == "--child"
    {
        return measured(client, Path::new(path), bytes.parse().unwrap_or(0));
    }
    let folder = tempfile::tempdir()?;
    let mut is_within = true;
    for shape in SHAPES {
        let path = folder.path().join("transcript.jsonl");
        write(&shape, &path)?;
        let all = best(&shape, &path, 0)?;
        let end = best(&shape, &path, END)?;
        is_within &= all.seconds <= SECONDS_MAX && all.megabytes <= MEGABYTES_MAX;
        println_row(&shape, &all, &end);
    }
    if is_within { Ok(()) } else { Err(io::Error::other(format!("over {SECONDS_MAX} s or {MEGABYTES_MAX} MB"))) }
}

#[expect(clippy::print_stdout, reason = "the figures are the benchmark's answer")]
fn println_row(shape: &Shape, all: &Figures, end: &Figures) {
    println!(
        "{:<30} 100 MB: {:6.3} s, {:5.1} MB at most, {:>7} requests; last 1 MB: {:6.4} s, {:5.1} MB",
        shape.name, all.seconds, all.megabytes, all.requests, end.seconds, end.megabytes
    );
}

struct Figures {
    seconds: f64,
    megabytes: f64,
    requests: u64,
}

/// The least time of several processes, and the most memory.
fn best(shape: &Shape, path: &Path, bytes: u64) -> io::Result<Figures> {
    let mut best = Figures { seconds: f64::MAX, megabytes: 0.0, requests: 0 };
    for _ in 0..ROUNDS {
        let child = Command::new(std::env::current_exe()?)
            .args(["--child", shape.client.name()])
            .arg(path)
            .arg(bytes.to_string())
            .output()?;
        let text = String::from_utf8_lossy(&child.stdout).into_owned();
        let figures: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [seconds, megabytes, requests] = figures.as_slice() else {
            return Err(io::Error::other(format!("no figures: {child:?}")));
        };
        best.seconds = best.seconds.min(*seconds);
        best.megabytes = best.megabytes.max(*megabytes);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let requests = *requests as u64;
        best.requests = requests;
    }
    Ok(best)
}

/// Reads a transcript and prints how long it took, and the most memory that this process had.
#[expect(clippy::print_stdout, reason = "the figures go to the process that asks")]
fn measured(client: &str, path: &Path, bytes: u64) -> io::Result<()> {
    let part = if bytes == 0 { Part::All } else { Part::Tail { bytes } };
    let start = Instant::now();
    let client = Client::named(client).map_err(io::Error::other)?;
    let prices = Prices::built_in().map_err(io::Error::other)?;
    let session = read(client, path, part).map_err(io::Error::other)?;
    let outlook = Outlook::of(&session, &prices, Timestamp(0));
    let seconds = start.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: f64 = peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok()).unwrap_or(f64::MAX);
    println!("{seconds} {} {}", kilobytes / 1024.0, outlook.requests);
    Ok(())
}

fn write(shape: &Shape, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    // Quotation marks and line breaks of a text stand escaped in a transcript.
    let text = "\\\"usage\\\" of what was said\\n".repeat(shape.text / 27);
    let mut written = 0;
    let mut number: u64 = 0;
    while written < SIZE {
        number += 1;
        let mut lines = String::new();
        match shape.client {
            Client::Codex => codex(number, &mut lines),
            _ => claude_code(number, &text, &mut lines),
        }
        for _ in 0..shape.between {
            let _ = writeln!(lines, "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}");
        }
        file.write_all(lines.as_bytes())?;
        written += lines.len() as u64;
    }
    file.flush()
}

/// A request told in two lines.
fn claude_code(number: u64, text: &str, lines: &mut String) {
    for output in [1, 200 + number % 100] {
        let _ = writeln!(
            lines,
            "{{\"type\":\"assistant\",\"timestamp\":\"2026-11-30T08:{:02}:{:02}.000Z\",\"sessionId\":\"s\",\"requestId\":\"req_{number:020}\",\
             \"isSidechain\":false,\"message\":{{\"id\":\"msg_{number:020}\",\"model\":\"claude-opus-5-5\",\
             \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"usage\":{{\"input_tokens\":3,\
             \"cache_creation_input_tokens\":700,\"cache_read_input_tokens\":{},\"output_tokens\":{output}}}}}}}",
            number / 60 % 60,
            number % 60,
            20_000 + number % 100_000
        );
    }
}

/// Counters that are told twice.
fn codex(number: u64, lines: &mut String) {
    if number == 1 {
        let _ = writeln!(lines, "{{\"type\":\"turn_context\",\"payload\":{{\"model\":\"gpt-6.2-sol\"}}}}");
    }
    let usage = |many: u64| {
        format!(
            "{{\"input_tokens\":{},\"cached_input_tokens\":{},\"output_tokens\":{}}}",
            many * 90_000,
            many * 80_000,
            many * 200
        )
    };
    for _ in 0..2 {
        let _ = writeln!(
            lines,
            "{{\"timestamp\":\"2026-11-30T08:{:02}:{:02}.000Z\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"token_count\",\
             \"info\":{{\"total_token_usage\":{},\"last_token_usage\":{},\"model_context_window\":475000}}}}}}",
            number / 60 % 60,
            number % 60,
            usage(number),
            usage(1)
        );
    }
}
