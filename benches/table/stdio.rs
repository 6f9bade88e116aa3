//! The built program as a client runs it: started, greeted, asked line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::asked::Asked;
use crate::database::{Database, PROJECT};

/// A running program whose greeting is over.
pub(crate) struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    number: u64,
}

impl Program {
    /// Starts the program and waits for the answer to `initialize`.
    pub(crate) fn start(database: &Database) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_heyaira"))
            .args(["mcp", "--project", PROJECT])
            .env("HEYAIRA_DATABASE", &database.path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut program = Self { child, input, output, number: 0 };
        program.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            }),
        );
        program.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        program
    }

    /// Calls a tool; fails if the answer is an error.
    pub(crate) fn ask(&mut self, asked: &Asked) {
        let answer = self.request("tools/call", &json!({"name": asked.tool, "arguments": asked.arguments}));
        assert!(answer["result"]["isError"] != true && answer.get("error").is_none(), "{}: {answer}", asked.tool);
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        let number = self.number;
        self.send(&json!({"jsonrpc": "2.0", "id": number, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("a line");
            assert!(read > 0, "the program ended during {method}");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == number {
                return answer;
            }
        }
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("still open");
        writeln!(input, "{message}").and_then(|()| input.flush()).expect("the program reads");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // End of input is how a client takes leave.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// The resident bytes of a program that was greeted and asked once; 0 where the system does not tell.
pub(crate) fn idle_memory(database: &Database) -> u64 {
    let mut program = Program::start(database);
    program.ask(&Asked::reading("continuity_context", json!({})));
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}
