//! The real program in a place of its own: a temporary folder with one database and one project.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::database::TestDatabase;

/// The built program.
pub const HEYAIRA: &str = env!("CARGO_BIN_EXE_heyaira");

/// A folder with a database and the project `ledger`.
pub struct Place {
    /// The folder.
    pub folder: tempfile::TempDir,
    /// The database.
    pub database: TestDatabase,
    /// The profile's string.
    pub write_context: String,
}

/// What a command answered.
#[derive(Debug)]
pub struct Answer {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Answer {
    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("output is UTF-8"),
            err: String::from_utf8(output.stderr).expect("errors are UTF-8"),
        }
    }
}

impl Place {
    /// A new place.
    pub fn new() -> Self {
        Self::on(TestDatabase::new)
    }

    /// A new place with the database that is made for the path of a file.
    pub fn on(database: impl FnOnce(PathBuf) -> TestDatabase) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database = database(folder.path().join("data").join("heyaira.db"));
        let mut place = Self { folder, database, write_context: String::new() };
        assert_eq!(place.bare(&["init"]).code, 0);
        assert_eq!(place.bare(&["project", "create", "ledger"]).code, 0);
        let profile = place.bare(&["profile", "ledger", "--json"]).json();
        profile["write_context"].as_str().expect("a profile has a write_context").clone_into(&mut place.write_context);
        place
    }

    /// The program with a clean environment, in this place's folder.
    pub fn command(&self) -> Command {
        let mut command = Command::new(HEYAIRA);
        self.dress(&mut command);
        command
    }

    /// Gives a command this place's environment and folder.
    pub fn dress(&self, command: &mut Command) {
        command.env_clear().current_dir(self.folder.path());
        command.env("HEYAIRA_DATABASE", self.database.address()).env("HOME", self.folder.path()).env("USER", "maria");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    }

    /// Runs a command line without a project.
    pub fn bare(&self, words: &[&str]) -> Answer {
        self.command().args(words).output().expect("the program runs").into()
    }

    /// Runs a command line in the project.
    pub fn cli(&self, words: &[&str]) -> Answer {
        self.command().args(words).args(["--project", "ledger"]).output().expect("the program runs").into()
    }

    /// Runs a command line in the project; answers its JSON, which must be a success.
    pub fn ask(&self, words: &[&str]) -> Value {
        let answer = self.command().args(words).args(["--project", "ledger", "--json"]).output();
        let answer = Answer::from(answer.expect("the program runs"));
        assert_eq!(answer.code, 0, "{words:?}: {answer:?}");
        answer.json()
    }

    /// A new task's id.
    pub fn task(&self, title: &str) -> String {
        let made = self.ask(&["task", "create", "--title", title, "--summary", "new"]);
        made["task_id"].as_str().expect("an id").to_owned()
    }

    /// A server on standard input and output.
    pub fn server(&self) -> Server {
        let mut command = self.command();
        command.args(["mcp", "--project", "ledger"]);
        Server::start(command, &self.write_context)
    }
}

/// A running MCP server and the client's end of it.
pub struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    write_context: String,
    last_id: i64,
    folder: Option<tempfile::TempDir>,
}

impl Server {
    /// Starts the command and shakes hands.
    pub fn start(mut command: Command, write_context: &str) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program runs");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut server =
            Self { child, input, output, write_context: write_context.to_owned(), last_id: 0, folder: None };
        let hello = server.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "tests", "version": "1"},
            }),
        );
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    /// Keeps a folder for as long as it runs.
    pub fn keep(&mut self, folder: tempfile::TempDir) {
        self.folder = Some(folder);
    }

    /// Writes one message.
    pub fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("the input is open");
        // A server that was killed is noticed when its answer is read.
        let _ = writeln!(input, "{message}").and_then(|()| input.flush());
    }

    /// Writes the call of a tool; answers its id.
    pub fn send_call(&mut self, tool: &str, arguments: Value) -> i64 {
        let arguments = with_profile(tool, arguments, &self.write_context);
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments},
        }));
        id
    }

    /// The next message, `None` at the end.
    pub fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("no message ({error}): {line}"))),
        }
    }

    /// One request and its answer.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer = self.next().expect("an answer");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool: its answer, or the text of its refusal.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        let id = self.send_call(tool, arguments);
        let answer = self.next().expect("an answer");
        assert_eq!(answer["id"], id, "{answer}");
        outcome(&answer)
    }

    /// Ends the input; answers the exit code.
    pub fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().expect("the program ends").code()
    }

    /// Kills the process at once.
    pub fn kill(&mut self) {
        self.child.kill().expect("the process is ours");
        self.child.wait().expect("the process ends");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Tools that need the `write_context`.
const WRITES: [&str; 5] = ["task_create", "task_update", "task_takeover", "memory_add", "message_send"];

/// The arguments, with the profile's string where the tool needs it and it is not given.
pub fn with_profile(tool: &str, mut arguments: Value, write_context: &str) -> Value {
    if WRITES.contains(&tool) && arguments.get("write_context").is_none() {
        arguments["write_context"] = json!(write_context);
    }
    arguments
}

/// Whoever calls tools with the profile at hand, whatever the way in.
pub trait Agent: Send {
    /// Calls a tool: its answer, or the text of its refusal.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String>;
}

impl Agent for Server {
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        Self::call(self, tool, arguments)
    }
}

/// The answer of a tool, or the text of its refusal.
pub fn outcome(answer: &Value) -> Result<Value, String> {
    let result = &answer["result"];
    let content = result["content"].as_array().unwrap_or_else(|| panic!("no content: {answer}"));
    assert_eq!(content.len(), 1, "one block: {answer}");
    assert!(result.get("structuredContent").is_none(), "{answer}");
    let text = content[0]["text"].as_str().expect("text").to_owned();
    if result["isError"] == json!(true) {
        return Err(text);
    }
    Ok(serde_json::from_str(&text).unwrap_or_else(|error| panic!("no JSON ({error}): {text}")))
}

/// Writes a file into a folder.
pub fn write_file(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file");
}
