//! The real process: how it ends, and what it writes to its standard output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Place, outcome};

/// In what time the process leaves.
const LEAVES: Duration = Duration::from_secs(2);

struct Process {
    child: Child,
    output: Option<BufReader<ChildStdout>>,
}

impl Process {
    fn start(place: &Place) -> Self {
        Self::of(place.command().args(["mcp", "--project", "ledger"]))
    }

    fn of(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the program runs");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, output: Some(output) }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.as_mut().expect("an open output").read_line(&mut line).expect("text");
        line
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().expect("an open input"), "{message}").expect("a server that reads");
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"))
    }

    fn shake_hands(&mut self) {
        let client = json!({"name": "tests", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        assert_eq!(self.ask(&hello)["result"]["protocolVersion"], json!("2025-11-25"));
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Waits for the process, which must leave in time, with success; answers what it wrote to standard error.
    fn left(mut self, since: Instant) -> String {
        let status = self.child.wait().expect("a process");
        assert!(since.elapsed() < LEAVES, "left after {:?}", since.elapsed());
        assert_eq!(status.code(), Some(0), "{status}");
        let mut errors = String::new();
        self.child.stderr.take().expect("a pipe").read_to_string(&mut errors).expect("text");
        errors
    }
}

fn call(id: i64, name: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

#[test]
fn it_leaves_with_its_input_and_leaves_one_closed_file() {
    let place = Place::new();
    for round in 0..30 {
        let mut process = Process::start(&place);
        process.shake_hands();
        let task = json!({"write_context": place.write_context, "title": format!("Task {round}"), "summary": "New."});
        outcome(&process.ask(&call(1, "task_create", &task))).expect("a task");
        let since = Instant::now();
        drop(process.child.stdin.take());
        assert_eq!(process.left(since), "");
        assert!(place.database.is_closed(), "round {round}");
    }
}

#[test]
fn a_client_that_only_probes_or_says_nothing_leaves_no_noise() {
    let place = Place::new();
    let client = json!({"name": "claude-code", "version": "2.1.332"});
    let params = json!({"_meta": super::wire::modern_meta(&client)});
    let mut process = Process::start(&place);
    let probe = json!({"jsonrpc": "2.0", "id": "probe-1", "method": "server/discover", "params": params});
    assert!(process.ask(&probe)["result"]["supportedVersions"].is_array());
    for mut process in [process, Process::start(&place)] {
        let since = Instant::now();
        drop(process.child.stdin.take());
        assert_eq!(process.left(since), "");
    }
}

#[cfg(unix)]
#[test]
fn it_leaves_at_a_signal_though_its_input_stays_open() {
    let place = Place::new();
    for signal in ["INT", "TERM"] {
        let mut process = Process::start(&place);
        process.shake_hands();
        let since = Instant::now();
        process.signal(signal);
        assert_eq!(process.left(since), "");
    }
}

#[cfg(unix)]
#[test]
fn it_leaves_at_a_signal_though_nobody_reads_its_output() {
    let place = Place::new();
    let mut process = Process::start(&place);
    process.shake_hands();
    // Each answer has many times the size of its question, so the output is soon full.
    for id in 1..2_000 {
        process.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}));
    }
    assert!(process.line().contains("tools"));
    let since = Instant::now();
    process.signal("TERM");
    process.left(since);
}

#[cfg(unix)]
#[test]
fn it_leaves_at_a_signal_though_a_write_waits_for_another_process() {
    let place = Place::new();
    let mut process = Process::start(&place);
    process.shake_hands();
    outcome(&process.ask(&call(1, "server_identity", &json!({})))).expect("an identity");
    let hold = place.database.hold_writers();
    let task = json!({"write_context": place.write_context, "title": "Never", "summary": "New."});
    process.send(&call(2, "task_create", &task));
    // Answered after the write was read, and so while it waits.
    outcome(&process.ask(&call(3, "server_identity", &json!({})))).expect("an identity");
    let since = Instant::now();
    process.signal("TERM");
    process.left(since);
    drop(hold);
    assert_eq!(place.ask(&["task", "list"])["total"], json!(0));
}

#[test]
fn it_leaves_at_the_next_write_when_its_output_is_closed() {
    let place = Place::new();
    let mut process = Process::start(&place);
    process.shake_hands();
    drop(process.output.take());
    let since = Instant::now();
    process.send(&call(1, "server_identity", &json!({})));
    assert_eq!(process.left(since), "");
}

#[test]
fn rw_035_standard_output_carries_nothing_but_messages_however_much_is_logged() {
    let place = Place::new();
    let mut process = Process::of(place.command().args(["mcp", "--project", "ledger"]).env("RUST_LOG", "trace"));
    let mut input = process.child.stdin.take().expect("an open input");
    let errors = process.child.stderr.take().expect("a pipe");
    let reading = std::thread::spawn(move || BufReader::new(errors).lines().map_while(Result::ok).collect::<Vec<_>>());
    let client = json!({"name": "tests", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
        call(1, "server_identity", &json!({})),
        call(2, "task_get", &json!({"task_id": "ffffffff"})),
        call(3, "no_such_tool", &json!({})),
        json!("no message"),
    ];
    for line in &lines {
        writeln!(input, "{line}").expect("a server that reads");
    }
    drop(input);
    let output = process.output.take().expect("an open output");
    let messages: Vec<String> = output.lines().map(|line| line.expect("text")).collect();
    assert_eq!(messages.len(), lines.len());
    for message in messages {
        let message: Value = serde_json::from_str(&message).unwrap_or_else(|_| panic!("no message: {message}"));
        assert_eq!(message["jsonrpc"], json!("2.0"));
    }
    assert!(process.child.wait().expect("a process").success());
    let log = reading.join().expect("no panic");
    let says = |words: &[&str]| log.iter().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(says(&["server_identity", "code=\"ok\""]) && says(&["task_get", "code=\"not_found\""]), "{log:?}");
    assert!(!says(&["ffffffff"]), "what was asked is not logged: {log:?}");
}

#[test]
fn a_database_that_is_set_up_later_is_found_by_the_next_call() {
    let place = Place::new();
    let file = place.database.file();
    let away = file.with_extension("away");
    std::fs::rename(file, &away).expect("a database");
    let mut process = Process::start(&place);
    process.shake_hands();
    let refusal = outcome(&process.ask(&call(1, "server_identity", &json!({})))).expect_err("no database");
    assert!(refusal.starts_with("unavailable: "), "{refusal}");
    std::fs::rename(&away, file).expect("a database");
    let identity = outcome(&process.ask(&call(2, "server_identity", &json!({})))).expect("an identity");
    assert_eq!(identity["project"], json!("ledger"));
    let since = Instant::now();
    drop(process.child.stdin.take());
    process.left(since);
}
