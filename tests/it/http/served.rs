//! A server of a place, and a client that says exactly what it is told to say.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Agent, Place, outcome, with_profile};

/// How long a client waits for an answer before the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running `heyaira serve`.
pub struct Served {
    child: Child,
    /// The address it listens on.
    pub address: String,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: HashMap<String, String>,
    /// The body.
    pub body: String,
}

impl Reply {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// The code of the error in the body.
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_else(|| panic!("no error: {self:?}")).to_owned()
    }
}

impl Served {
    /// Serves a place, with these further words on the command line.
    pub fn start(place: &Place, words: &[&str]) -> Self {
        let mut command = place.command();
        command.args(["serve", "--listen", "127.0.0.1:0", "--json"]).args(words);
        Self::run(command)
    }

    /// Runs a command that prints where it listens.
    pub fn run(command: std::process::Command) -> Self {
        Self::run_with(command, Stdio::null())
    }

    /// The same, with its standard error going there.
    pub fn run_with(mut command: std::process::Command, stderr: Stdio) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).stdin(Stdio::null()).spawn().expect("it runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("no JSON ({error}): {line}"));
        let address = told["listening"].as_str().map(str::to_owned);
        let of_url = || told["url"].as_str().and_then(|url| url.split('/').nth(2)).map(str::to_owned);
        Self { child, address: address.or_else(of_url).expect("an address") }
    }

    /// Serves everyone.
    pub fn open(place: &Place) -> Self {
        Self::start(place, &["--auth", "none"])
    }

    /// A client without a credential.
    pub fn client(&self) -> Client {
        Client::new(&self.address, None)
    }

    /// A client with a token.
    pub fn client_with(&self, token: &str) -> Client {
        Client::new(&self.address, Some(token))
    }

    /// Its standard error, where it is kept.
    pub fn stderr(&mut self) -> Option<&mut std::process::ChildStderr> {
        self.child.stderr.as_mut()
    }

    /// Kills the process at once.
    pub fn kill(&mut self) {
        self.child.kill().expect("the process is ours");
        self.child.wait().expect("the process ends");
    }

    /// Sends SIGTERM; answers the exit code.
    #[cfg(unix)]
    pub fn end(&mut self) -> Option<i32> {
        let id = rustix::process::Pid::from_raw(self.child.id().try_into().expect("a process id")).expect("not 0");
        rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("the process is ours");
        self.child.wait().expect("the process ends").code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A token of a place for the project `ledger`.
pub fn token(place: &Place, name: &str, words: &[&str]) -> String {
    let made = place.bare(&[&["token", "create", name, "--json"], words].concat());
    assert_eq!(made.code, 0, "{made:?}");
    made.json()["token"].as_str().expect("a token").to_owned()
}

/// One connection to a server.
pub struct Client {
    address: String,
    stream: Option<BufReader<TcpStream>>,
    token: Option<String>,
    /// Further headers of every request.
    pub headers: Vec<(String, String)>,
    last_id: i64,
}

impl Client {
    fn new(address: &str, token: Option<&str>) -> Self {
        let token = token.map(str::to_owned);
        Self { address: address.to_owned(), stream: None, token, headers: Vec::new(), last_id: 0 }
    }

    /// One request and its answer; `None` if the server is gone.
    pub fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Option<Reply> {
        let mut lines = vec![format!("{method} {path} HTTP/1.1")];
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            lines.push(format!("Host: {}", self.address));
        }
        lines.extend(self.token.iter().map(|token| format!("Authorization: Bearer {token}")));
        lines.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        if method == "POST" {
            lines.push(format!("Content-Length: {}", body.len()));
        }
        let head = lines.join("\r\n");
        let stream = self.connected()?;
        write!(stream.get_mut(), "{head}\r\n\r\n{body}").ok()?;
        read_reply(stream, method)
    }

    /// A request as it is written.
    pub fn raw(&mut self, request: &str) -> Option<Reply> {
        let stream = self.connected()?;
        stream.get_mut().write_all(request.as_bytes()).ok()?;
        read_reply(stream, "")
    }

    fn connected(&mut self) -> Option<&mut BufReader<TcpStream>> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.address).ok()?;
            stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
            stream.set_nodelay(true).expect("no delay");
            self.stream = Some(BufReader::new(stream));
        }
        self.stream.as_mut()
    }

    /// `POST` of JSON.
    pub fn post(&mut self, path: &str, body: &Value) -> Reply {
        self.ask("POST", path, &[("Content-Type", "application/json")], &body.to_string()).expect("an answer")
    }

    /// Calls a tool of the project `ledger` by plain HTTP.
    pub fn api(&mut self, tool: &str, arguments: &Value) -> Reply {
        self.post(&format!("/api/ledger/{tool}"), arguments)
    }

    /// One message to the project `ledger`, in the era that its parameters say.
    pub fn message(&mut self, method: &str, params: &Value, version: &str) -> Option<Reply> {
        self.last_id += 1;
        let body = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}).to_string();
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", version),
            ("Mcp-Method", method),
        ];
        if let Some(name) = params["name"].as_str() {
            headers.push(("Mcp-Name", name));
        }
        self.ask("POST", "/mcp/ledger", &headers, &body)
    }

    /// Calls a tool by MCP: its answer, or the text of its refusal. `None` if the server is gone.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Option<Result<Value, String>> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let reply = self.message("tools/call", &params, "2026-07-28")?;
        assert_eq!(reply.status, 200, "{reply:?}");
        Some(outcome(&reply.json()))
    }
}

/// How an agent talks over the network.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// MCP.
    Mcp,
    /// Plain HTTP.
    Plain,
}

/// An agent with the profile of a place.
pub struct Networked {
    client: Client,
    write_context: String,
    way: Way,
}

impl Served {
    /// An agent that talks this way, without a credential.
    pub fn agent(&self, place: &Place, way: Way) -> Networked {
        Networked { client: self.client(), write_context: place.write_context.clone(), way }
    }
}

impl Networked {
    /// Calls a tool; `None` if the server is gone.
    pub fn try_call(&mut self, tool: &str, arguments: Value) -> Option<Result<Value, String>> {
        let arguments = with_profile(tool, arguments, &self.write_context);
        match self.way {
            Way::Mcp => self.client.call(tool, &arguments),
            Way::Plain => {
                let headers = [("Content-Type", "application/json")];
                let reply =
                    self.client.ask("POST", &format!("/api/ledger/{tool}"), &headers, &arguments.to_string())?;
                Some(if reply.status == 200 { Ok(reply.json()) } else { Err(sentence(&reply.json())) })
            }
        }
    }
}

impl Agent for Networked {
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        self.try_call(tool, arguments).expect("the server is there")
    }
}

/// The sentence that a body says in parts.
pub fn sentence(body: &Value) -> String {
    let word = |name: &str| body["error"][name].as_str().unwrap_or_default().to_owned();
    let message = word("message");
    let stop = if message.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{}: {message}{stop} {}", word("code"), word("next"))
}

/// Reads one answer; `None` at the end of the stream.
pub fn read_reply(stream: &mut BufReader<TcpStream>, method: &str) -> Option<Reply> {
    let mut line = String::new();
    if stream.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let mut headers = HashMap::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; if method == "HEAD" { 0 } else { length }];
    stream.read_exact(&mut body).ok()?;
    Some(Reply { status, headers, body: String::from_utf8(body).expect("UTF-8") })
}
