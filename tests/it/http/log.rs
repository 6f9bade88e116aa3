//! What a server writes on standard error.

use std::io::Read;
use std::process::Stdio;

use serde_json::json;

use super::served::{Served, Way, token};
use crate::program::{Agent, Place};

/// A word of a text that is stored, one of an argument that is refused, and one that stands in an address as no
/// lawful name.
const WORDS: [&str; 3] = ["quokka", "wombat", "numbat"];

#[test]
fn it_says_who_did_what_and_never_what_was_said() {
    let place = Place::new();
    let secret = token(&place, "night agent", &["--project", "ledger"]);
    let mut command = place.command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--json"]).env("RUST_LOG", "trace,rmcp::service=trace");
    let mut served = Served::logging(command);
    let [stored, refused, address] = WORDS;
    let mut client = served.client_with(&secret);
    let create =
        json!({"write_context": place.write_context, "title": stored, "summary": stored, "description": stored});
    let made = client.api("task_create", &create).json();
    assert_eq!(client.api("task_get", &json!({"task_id": made["task_id"]})).status, 200);
    assert_eq!(client.api("task_list", &json!({"status": refused})).status, 422);
    assert_eq!(client.post(&format!("/api/ledger/{address}"), &json!({})).status, 404);
    assert_eq!(client.post(&format!("/mcp/{address}_"), &json!({})).status, 404);
    client.call("task_list", &json!({"query": stored})).expect("an answer").expect("found");
    served.agent(&place, Way::Plain).call("task_list", json!({})).expect_err("no token");
    served.kill();
    let log = served.log();
    for word in WORDS.iter().copied().chain([secret.as_str(), place.write_context.as_str(), "hya_"]) {
        assert!(!log.contains(word), "{word}: {log}");
    }
    let said = log.lines().find(|line| line.contains("task_create")).unwrap_or_else(|| panic!("{log}"));
    for part in ["method=POST", "status=200", "code=\"ok\"", "caller=\"night agent\"", "project=\"ledger\"", "micros="]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = log.lines().find(|line| line.contains("invalid_argument")).unwrap_or_else(|| panic!("{log}"));
    assert!(said.contains("status=422") && said.contains("caller=\"night agent\""), "{said}");
    assert!(log.contains("status=401 code=\"unauthenticated\""), "{log}");
}

/// Who knocks where is seen, also where nobody is let in.
#[test]
fn it_shows_an_attack() {
    let place = Place::new();
    assert_eq!(place.bare(&["project", "create", "secret"]).code, 0);
    let good = token(&place, "curious", &["--project", "ledger"]);
    let mut command = place.command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--json"]).env("RUST_LOG", "debug");
    let mut served = Served::logging(command);
    let mut client = served.client_with(&good);
    assert_eq!(client.post("/api/secret/task_list", &json!({})).status, 404);
    assert_eq!(client.post("/mcp/elsewhere", &json!({})).status, 404);
    assert_eq!(client.post("/api/No_Slug/task_list", &json!({})).status, 404);
    let headers = [("Content-Type", "application/json"), ("HeyAira-Session", "none")];
    assert_eq!(client.ask("POST", "/api/ledger/task_list", &headers, "{}").expect("an answer").status, 422);
    assert_eq!(client.ask("GET", "/mcp/ledger", &[], "").expect("an answer").status, 405);
    assert_eq!(served.client().post("/api/secret/task_list", &json!({})).status, 401);
    assert_eq!(served.client().ask("GET", "/", &[("Host", "evil.example")], "").expect("an answer").status, 403);
    assert_eq!(served.client().ask("GET", "/healthz", &[], "").expect("an answer").status, 200);
    assert_eq!(served.client().raw("no request\r\n\r\n").expect("an answer").status, 400);
    served.kill();
    let log = served.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(" served ") || line.contains(" refused ")).collect();
    let said = [
        ["status=404", "caller=\"curious\"", "project=\"secret\""],
        ["status=404", "caller=\"curious\"", "project=\"elsewhere\""],
        ["status=404", "caller=\"curious\"", "project=\"\""],
        ["status=422", "caller=\"curious\"", "project=\"ledger\""],
        ["status=405", "caller=\"\"", "project=\"\""],
        ["status=401", "caller=\"\"", "project=\"\""],
        ["status=403", "caller=\"\"", "project=\"\""],
        ["status=200", "route=\"/healthz\"", "code=\"ok\""],
        ["status=400", "refused", "code=\"invalid_argument\""],
    ];
    assert_eq!(lines.len(), said.len(), "{log}");
    for (line, parts) in lines.iter().zip(said) {
        for part in parts.into_iter().chain(["peer=127.0.0.1"]) {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
    assert!(!log.contains("No_Slug") && !log.contains("hya_"), "{log}");
}

impl Served {
    /// Runs a command that prints where it listens, and keeps its standard error.
    fn logging(command: std::process::Command) -> Self {
        Self::run_with(command, Stdio::piped())
    }

    /// All of standard error, once the process has ended.
    fn log(&mut self) -> String {
        let mut text = String::new();
        self.stderr().expect("kept").read_to_string(&mut text).expect("UTF-8");
        text
    }
}
