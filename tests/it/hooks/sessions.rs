//! Which session writes: as the hooks of the same client process say, over what a call and the environment say.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::repository::{CLAUDE, Repository};
use crate::program::HEYAIRA;

const CLEARED: &str = "b07e44d9-15c8-4c6a-8f32-90ab6c1de574";

/// A client in a process of its own, which starts the server and the hooks as real ones do: the server itself, hooks
/// through a shell.
const CLIENT: &str = r#"
import json, subprocess, sys
server = None
for line in sys.stdin:
    order = json.loads(line)
    if order["do"] == "serve":
        server = subprocess.Popen([order["program"], "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=order["env"], cwd=order["cwd"])
        answer = None
    elif order["do"] == "hook":
        command = "sleep 0; '%s' hook %s; :" % (order["program"], order["client"])
        ran = subprocess.run(["sh", "-c", command], input=json.dumps(order["input"]).encode(), env=order["env"],
            stdout=subprocess.PIPE, cwd=order["cwd"])
        answer = ran.stdout.decode()
    else:
        server.stdin.write(json.dumps(order["message"]).encode() + b"\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline()) if "id" in order["message"] else None
    print(json.dumps(answer), flush=True)
"#;

struct Client<'h> {
    here: &'h Repository,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    variables: Value,
    last_id: i64,
}

impl<'h> Client<'h> {
    /// A client that calls itself that, with these variables, after its handshake.
    fn new(here: &'h Repository, name: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", CLIENT]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python3 runs");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut all = json!({
            "HOME": here.place.folder.path(), "USER": "maria", "HEYAIRA_HOOK_WAIT_MS": "20000",
            "HEYAIRA_DATABASE": here.place.database.address(), "PATH": std::env::var("PATH").unwrap_or_default(),
        });
        for (name, value) in variables {
            all[*name] = json!(value);
        }
        let mut client = Self { here, child, input, output, variables: all, last_id: 0 };
        client.order(json!({"do": "serve"}));
        let info = json!({"name": name, "version": "1.0"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        client.request("initialize", &hello, json!({}));
        client.order(json!({"do": "send", "message": {"jsonrpc": "2.0", "method": "notifications/initialized"}}));
        client
    }

    fn order(&mut self, mut order: Value) -> Value {
        order["program"] = json!(HEYAIRA);
        order["env"] = self.variables.clone();
        order["cwd"] = json!(self.here.tree);
        writeln!(self.input, "{order}").expect("a client");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a client");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn hook(&mut self, client: &str, session: &str, event: &str, more: Value) {
        let input = self.here.claude(session, event, more);
        self.order(json!({"do": "hook", "client": client, "input": input}));
    }

    fn request(&mut self, method: &str, parameters: &Value, meta: Value) -> Value {
        self.last_id += 1;
        let mut parameters = parameters.clone();
        parameters["_meta"] = meta;
        let message = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": parameters});
        self.order(json!({"do": "send", "message": message}))
    }

    /// Who a task belongs to that is taken over without a word on the session.
    fn owner(&mut self, meta: Value) -> String {
        let id = self.here.place.task("Somebody's");
        let context = &self.here.place.write_context;
        let arguments = json!({"task_id": id, "expected_version": 1, "write_context": context});
        let call = json!({"name": "task_takeover", "arguments": arguments});
        let answer = self.request("tools/call", &call, meta);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(!answer["result"]["isError"].as_bool().unwrap_or(false), "{text}");
        let shown = self.here.place.ask(&["task", "get", &id]);
        shown["owner"].as_str().unwrap_or_else(|| panic!("{shown}")).to_owned()
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn after_a_clear_the_receipt_has_the_new_session() {
    let here = Repository::new();
    let mut client = Client::new(&here, "claude-code", &[("CLAUDE_CODE_SESSION_ID", CLAUDE)]);
    let started = |session: &str| format!("claude-code:{session}");
    assert_eq!(client.owner(json!({})), started(CLAUDE), "without hooks the environment tells");
    client.hook("claude", CLAUDE, "SessionStart", json!({"source": "startup"}));
    assert_eq!(client.owner(json!({})), started(CLAUDE));
    client.hook("claude", CLAUDE, "SessionEnd", json!({"reason": "clear"}));
    client.hook("claude", CLEARED, "SessionStart", json!({"source": "clear"}));
    assert_eq!(client.owner(json!({})), started(CLEARED), "the environment is stale");
    let stale = json!({"claudecode/sessionId": CLAUDE});
    assert_eq!(client.owner(stale), started(CLEARED), "hooks come before metadata");
}

#[test]
fn a_client_that_says_no_session_has_that_of_its_hooks() {
    let here = Repository::new();
    let mut gemini = Client::new(&here, "gemini-cli-mcp-client", &[]);
    gemini.hook("gemini", CLAUDE, "SessionStart", json!({"source": "startup"}));
    assert_eq!(gemini.owner(json!({})), format!("gemini:{CLAUDE}"));
    // Also where the end of the session before was missed.
    gemini.hook("gemini", CLEARED, "SessionStart", json!({"source": "clear"}));
    assert_eq!(gemini.owner(json!({})), format!("gemini:{CLEARED}"));
    let mut opencode = Client::new(&here, "opencode", &[]);
    opencode.hook("opencode", "ses_5c0f9e2a17ffe41RbQmT8vKdWz3", "SessionStart", json!({}));
    assert_eq!(opencode.owner(json!({})), "opencode:ses_5c0f9e2a17ffe41RbQmT8vKdWz3");
}

#[test]
fn of_two_sessions_in_one_process_only_the_call_chooses() {
    let here = Repository::new();
    let mut opencode = Client::new(&here, "opencode", &[]);
    for session in ["ses_one", "ses_two"] {
        opencode.hook("opencode", session, "SessionStart", json!({}));
    }
    assert_eq!(opencode.owner(json!({})), "maria", "nobody's session is guessed");
    opencode.hook("opencode", "ses_two", "SessionEnd", json!({}));
    assert_eq!(opencode.owner(json!({})), "opencode:ses_one");
    let mut codex = Client::new(&here, "codex-mcp-client", &[]);
    for session in [CLAUDE, CLEARED] {
        codex.hook("codex", session, "SessionStart", json!({"source": "startup"}));
    }
    assert_eq!(codex.owner(json!({"sessionId": CLAUDE})), format!("codex:{CLAUDE}"));
}

#[test]
fn another_client_s_session_is_never_taken() {
    let here = Repository::new();
    let mut one = Client::new(&here, "claude-code", &[("CLAUDE_CODE_SESSION_ID", CLAUDE)]);
    let mut other = Client::new(&here, "claude-code", &[]);
    // The same folders and the same parents: only the process differs.
    other.hook("claude", CLEARED, "SessionStart", json!({"source": "startup"}));
    assert_eq!(one.owner(json!({})), format!("claude-code:{CLAUDE}"));
    assert_eq!(other.owner(json!({})), format!("claude-code:{CLEARED}"));
    // Nor that of another sort of client in the same process.
    let mut gemini = Client::new(&here, "gemini-cli-mcp-client", &[]);
    gemini.hook("codex", CLEARED, "SessionStart", json!({"source": "startup"}));
    assert_eq!(gemini.owner(json!({})), "maria");
}
