//! Subscriptions among real processes on one database: who writes is another server, the command line, or killed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::wire::{LEGACY, MODERN, modern_meta};
use crate::program::{Place, outcome};

/// A test that waits longer than this hangs.
const HANGS: Duration = Duration::from_mins(1);
const UPDATED: &str = "notifications/resources/updated";

/// A subscriber, whose messages are read as they come.
struct Subscriber {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    era: &'static str,
    last_id: i64,
}

impl Subscriber {
    fn start(place: &Place, era: &'static str) -> Self {
        let mut command = place.command();
        let command = command.args(["mcp", "--project", "ledger"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).expect("a message"));
            }
        });
        let mut one = Self { child, input, messages, era, last_id: 0 };
        if era == LEGACY {
            let client = json!({"name": "tests", "version": "1"});
            one.ask("initialize", json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}));
        }
        one
    }

    fn send(&mut self, method: &str, mut params: Value) -> i64 {
        self.last_id += 1;
        if self.era == MODERN {
            params["_meta"] = json!(modern_meta(&json!({"name": "tests", "version": "1"})));
        }
        let line = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        writeln!(self.input.as_mut().expect("an open input"), "{line}").expect("a server that reads");
        self.last_id
    }

    fn message(&self) -> Value {
        self.messages.recv_timeout(HANGS).expect("a message in time")
    }

    /// A request and its answer; what is told meanwhile is skipped.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            let message = self.message();
            if message["id"] == json!(id) {
                return message;
            }
            assert_eq!(message["method"], json!(UPDATED), "{message}");
        }
    }

    fn subscribe(&mut self, uri: &str) {
        if self.era == LEGACY {
            assert_eq!(self.ask("resources/subscribe", json!({"uri": uri}))["result"], json!({}));
        } else {
            self.send("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": [uri]}}));
            assert_eq!(self.message()["method"], json!("notifications/subscriptions/acknowledged"));
        }
    }

    /// Waits until it is told of that address, as the next message.
    fn told(&self, uri: &str) {
        let message = self.message();
        assert_eq!((&message["method"], &message["params"]["uri"]), (&json!(UPDATED), &json!(uri)), "{message}");
    }

    /// Reads whenever it is told, and at no other time, until it knows that version.
    fn learns(&mut self, uri: &str, version: i64) {
        loop {
            self.told(uri);
            let answer = self.ask("resources/read", json!({"uri": uri}));
            let text = answer["result"]["contents"][0]["text"].as_str().expect("a text");
            let task: Value = serde_json::from_str(text).expect("JSON");
            if task["version"] == json!(version) {
                return;
            }
        }
    }

    fn end(&mut self) {
        drop(self.input.take());
        assert!(self.child.wait().expect("the program ends").success());
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn change(place: &Place, task: &str, version: i64) {
    let expected = version.to_string();
    place.ask(&["task", "update", task, "--expected-version", &expected, "--summary", "Changed."]);
}

#[test]
fn the_writes_of_another_server_and_of_the_command_line_are_told() {
    let place = Place::new();
    let task = place.task("Watched");
    let uri = format!("heyaira://ledger/task/{}", &task[..8]);
    let mut writer = place.server();
    let mut version = 1;
    for era in [LEGACY, MODERN] {
        let mut one = Subscriber::start(&place, era);
        let mut two = Subscriber::start(&place, era);
        one.subscribe(&uri);
        two.subscribe(&uri);
        let update = json!({"task_id": task, "expected_version": version, "summary": "Begun."});
        writer.call("task_update", update).expect("an update");
        one.told(&uri);
        two.told(&uri);
        change(&place, &task, version + 1);
        one.told(&uri);
        two.told(&uri);
        version += 2;
        writer.call("message_send", json!({"to": task, "text": "Mind the seal."})).expect("a message");
        one.told(&uri);
        two.told(&uri);
        // One leaves; the other is still told.
        one.end();
        place.ask(&["message", "send", "--to", &task, "--text", "Again."]);
        two.told(&uri);
        two.end();
    }
}

#[test]
fn a_writer_that_is_killed_amid_its_writes_keeps_nobody_from_being_told() {
    let place = Place::new();
    let task = place.task("Watched");
    let uri = format!("heyaira://ledger/task/{task}");
    let mut one = Subscriber::start(&place, LEGACY);
    one.subscribe(&uri);
    let mut writer = place.server();
    writer.call("task_update", json!({"task_id": task, "expected_version": 1, "summary": "2"})).expect("an update");
    for version in 2..200 {
        writer.send_call("task_update", json!({"task_id": task, "expected_version": version, "summary": "More."}));
    }
    one.told(&uri);
    writer.kill();
    let version = place.ask(&["task", "get", &task])["version"].as_i64().expect("a version");
    change(&place, &task, version);
    one.learns(&uri, version + 1);
}

#[test]
fn a_database_that_was_replaced_is_watched_where_it_is_now() {
    let place = Place::new();
    let task = place.task("Watched");
    let uri = format!("heyaira://ledger/task/{task}");
    let mut one = Subscriber::start(&place, LEGACY);
    one.subscribe(&uri);
    assert_eq!(place.bare(&["backup", "copy.db"]).code, 0);
    std::fs::rename(place.folder.path().join("copy.db"), place.database.file()).expect("restored");
    for ending in ["wal", "shm"] {
        let _ = std::fs::remove_file(place.database.file().with_file_name(format!("heyaira.db-{ending}")));
    }
    change(&place, &task, 1);
    one.learns(&uri, 2);
    // A file that is gone is waited for, and the process still leaves in peace.
    let away = place.folder.path().join("away.db");
    std::fs::rename(place.database.file(), &away).expect("moved");
    let refused = outcome(&one.ask("tools/call", json!({"name": "task_list", "arguments": {}})));
    assert!(refused.expect_err("no database").starts_with("unavailable: "));
    std::fs::rename(&away, place.database.file()).expect("moved back");
    change(&place, &task, 2);
    one.learns(&uri, 3);
    one.end();
}

#[test]
fn a_subscriber_leaves_in_time_and_leaves_one_closed_file() {
    let place = Place::new();
    let task = place.task("Watched");
    let uri = format!("heyaira://ledger/task/{task}");
    for round in 0..10 {
        let era = if round % 2 == 0 { LEGACY } else { MODERN };
        let mut one = Subscriber::start(&place, era);
        one.subscribe(&uri);
        one.send(
            "tools/call",
            json!({"name": "message_send", "arguments": {
                "to": task, "text": "Mind the seal.", "write_context": place.write_context,
            }}),
        );
        one.message();
        one.message();
        let since = Instant::now();
        one.end();
        assert!(since.elapsed() < Duration::from_secs(2), "left after {:?}", since.elapsed());
        assert!(place.database.is_closed(), "round {round}");
    }
}
