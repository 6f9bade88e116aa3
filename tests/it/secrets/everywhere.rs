//! A secret that was refused is nowhere: not in an answer, not in what the programs print or log, not in the bytes of
//! the database and what stands beside it.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use heyaira::domain::secret::holds;
use serde_json::{Value, json};

use super::set::drawn;
use crate::bridge::Bridge;
use crate::database::TestDatabase;
use crate::dice::Dice;
use crate::http::served::{Client, Served};
use crate::program::{Answer, Place, Server};

/// A text with a secret.
#[derive(Clone, Debug)]
pub struct Planted {
    /// The text.
    pub text: String,
    /// The secret itself, or a part of it that nothing else holds.
    pub value: String,
    /// What it is called.
    pub sort: &'static str,
}

/// One of each way in which secrets are found, the first of them a GitHub token.
pub fn planted() -> Vec<Planted> {
    let mut dice = Dice::new(11);
    let mut one = |sort, before: &str, specs: &[&str], after: &str| {
        let value: String = specs
            .iter()
            .map(|spec| spec.strip_prefix('=').map_or_else(|| drawn(spec, &mut dice), str::to_owned))
            .collect();
        Planted { text: format!("{before}{value}{after}"), value, sort }
    };
    let mut all = vec![
        one("a GitHub token", "export GH=", &["=ghp_", "check:30"], " && push"),
        one("an AWS access key id", "aws: ", &["=AKIA", "base32:16"], ""),
        one("an Anthropic key", "KEY: ", &["=sk-ant-api03-", "word:93", "=AA"], "\nnext"),
        one("a Slack token", "> ", &["=xoxb-", "digits:12", "=-", "digits:12", "=-", "alnum:24"], ""),
        one("a JSON Web Token", "jwt ", &["jwt"], "."),
        one("a password in a URL", "psql postgres://app:", &["password:16"], "@db.prod.internal/ledger"),
        one("a credential of a header", "Authorization: Bearer ", &["alnum:40"], ""),
        one("an assigned password", "DB_PASSWORD='", &["password:16"], "'"),
        one("an assigned key or token", "\"apiKey\": \"", &["alnum:40"], "\","),
    ];
    let block = drawn("pem:RSA PRIVATE KEY", &mut dice);
    let value = block.lines().nth(3).expect("lines").to_owned();
    all.push(Planted { text: block, value, sort: "a private key" });
    all
}

/// Everything that was said by any part of the program, and who said it.
#[derive(Default)]
struct Witness(Vec<(String, String)>);

impl Witness {
    fn hear(&mut self, who: &str, said: impl std::fmt::Display) {
        self.0.push((who.to_owned(), said.to_string()));
    }

    fn hear_refusal(&mut self, who: &str, answer: Result<Value, String>) {
        let told = answer.expect_err(who);
        assert!(told.starts_with("secret_refused: "), "{who}: {told}");
        self.hear(who, told);
    }

    fn hear_command(&mut self, who: &str, answer: &Answer) {
        assert_eq!(answer.code, 2, "{who}: {answer:?}");
        self.hear(who, &answer.out);
        self.hear(who, &answer.err);
    }
}

fn logged(mut command: Command, log: &Path) -> Command {
    command.env("RUST_LOG", "trace").stderr(File::create(log).expect("a log"));
    command
}

/// What any agent may do with a secret by a tool.
fn attempts(task: &str, one: &Planted) -> Vec<(&'static str, Value)> {
    let text = &one.text;
    let update = |more: Value| {
        let mut arguments = json!({"task_id": task, "expected_version": 1, "summary": "s"});
        for (name, value) in more.as_object().expect("an object") {
            arguments[name] = value.clone();
        }
        ("task_update", arguments)
    };
    vec![
        update(json!({"handoff_next": text, "idempotency_key": "k1"})),
        update(json!({"summary": text})),
        update(json!({"work_receipt": {"session_ref": "label:a", "tests": text}})),
        update(json!({"result": text, "status": "done"})),
        update(json!({"idempotency_key": text})),
        update(json!({"status": text})),
        update(json!({text.clone(): 1})),
        ("task_create", json!({"title": text, "summary": "s", "tags": [text], "idempotency_key": "k2"})),
        ("memory_add", json!({"kind": "fact", "summary": "s", "body": text})),
        ("message_send", json!({"to": task, "text": text, "session_ref": "label:a"})),
        ("task_get", json!({"task_id": text})),
        ("memory_search", json!({"query": text})),
        ("task_list", json!({"owner": text, "cursor": text})),
    ]
}

fn by_stdio(witness: &mut Witness, place: &Place, task: &str, log: &Path) {
    let mut command = place.command();
    command.args(["mcp", "--project", "ledger"]);
    let mut server = Server::start(logged(command, log), &place.write_context);
    for one in planted() {
        for (tool, arguments) in attempts(task, &one) {
            witness.hear_refusal(&format!("stdio {tool} {}", one.sort), server.call(tool, arguments));
        }
        for (method, params) in [
            ("tools/call", json!({"name": one.text, "arguments": {}})),
            ("tools/call", json!({"name": one.text, "arguments": [one.text]})),
            ("prompts/get", json!({"name": one.text})),
            ("prompts/get", json!({"name": "take-over-session", "arguments": {"handoff": one.text}})),
            ("resources/read", json!({"uri": format!("heyaira://ledger/{}", one.text)})),
            ("resources/unsubscribe", json!({"uri": one.text})),
            ("tools/list", json!({"cursor": one.text})),
        ] {
            witness.hear(&format!("stdio {method} {}", one.sort), server.request(method, &params));
        }
    }
    assert_eq!(server.end(), Some(0));
}

fn by_http(witness: &mut Witness, place: &Place, task: &str, log: &Path) {
    let mut command = place.command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--auth", "none"]).env("RUST_LOG", "trace");
    let mut served = Served::run_with(command, File::create(log).expect("a log").into());
    let mut client = served.client();
    for one in planted() {
        for (tool, arguments) in attempts(task, &one) {
            let arguments = crate::program::with_profile(tool, arguments, &place.write_context);
            let who = format!("http {tool} {}", one.sort);
            witness.hear_refusal(&who, client.call(tool, &arguments).expect("an answer"));
            let reply = client.api(tool, &arguments);
            assert_eq!((reply.status, reply.code().as_str()), (422, "secret_refused"), "{who}: {reply:?}");
            witness.hear(&who, reply.body);
        }
        by_headers(witness, &mut client, place, task, &one);
    }
    by_bridge(witness, &served, place, task, &log.with_extension("bridge"));
    served.kill();
}

fn by_headers(witness: &mut Witness, client: &mut Client, place: &Place, task: &str, one: &Planted) {
    let takeover = json!({"task_id": task, "expected_version": 1, "write_context": place.write_context}).to_string();
    // Only what fits into a header as it is.
    let line = one.text.lines().next().filter(|line| line.contains(&one.value) && holds(line));
    let Some(line) = line else { return };
    for header in ["HeyAira-Session", "HeyAira-Harness", "HeyAira-Model", "Idempotency-Key"] {
        let value = if header == "HeyAira-Session" { format!("label:{line}") } else { line.to_owned() };
        let headers = [("Content-Type", "application/json"), (header, value.as_str())];
        let reply = client.ask("POST", "/api/ledger/task_takeover", &headers, &takeover).expect("an answer");
        assert_eq!(reply.status, 422, "{header} {reply:?}");
        witness.hear(header, reply.body);
    }
    let agent = [("Content-Type", "application/json"), ("User-Agent", one.value.as_str())];
    let list = client.ask("POST", "/api/ledger/task_list", &agent, "{}").expect("an answer");
    witness.hear("User-Agent", list.body);
    let path: String =
        one.value.chars().filter(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(*letter)).collect();
    if path == one.value && holds(&path) {
        for path in [format!("/api/{path}/task_list"), format!("/mcp/{path}"), format!("/api/ledger/{path}")] {
            let reply = client.post(&path, &json!({}));
            assert_eq!(reply.status, 404, "{reply:?}");
            witness.hear("a path", reply.body);
        }
    }
}

fn by_bridge(witness: &mut Witness, served: &Served, place: &Place, task: &str, log: &Path) {
    let (command, folder) = Bridge::to(&served.address).in_project("ledger").into_command();
    let mut bridge = Server::start(logged(command, log), &place.write_context);
    for one in planted() {
        for (tool, arguments) in attempts(task, &one) {
            witness.hear_refusal(&format!("bridge {tool} {}", one.sort), bridge.call(tool, arguments));
        }
    }
    assert_eq!(bridge.end(), Some(0));
    drop(folder);
}

fn by_command_line(witness: &mut Witness, place: &Place, task: &str, inputs: &Path) {
    let run = |words: &[&str], input: &str| -> Answer {
        let mut command = place.command();
        command
            .args(words)
            .env("RUST_LOG", "trace")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("its input");
        child.wait_with_output().expect("it ends").into()
    };
    let file = inputs.join("input.md");
    let named = format!("@{}", file.display());
    for one in planted() {
        let Planted { text, value, sort } = &one;
        // A password alone looks like any word.
        let alone = if holds(value) { value } else { text };
        fs::write(&file, text).expect("a file");
        let receipt = json!({"session_ref": "label:a", "next_step": text}).to_string();
        let update = ["task", "update", task, "--expected-version", "1", "--summary", "s", "--project", "ledger"];
        for more in [
            vec!["--handoff-next", text],
            vec!["--handoff-next", named.as_str(), "--json"],
            vec!["--handoff-completed", "@-"],
            vec!["--work-receipt", receipt.as_str()],
            vec!["--receipt-branch", text, "--receipt-session-ref", "label:a", "--json"],
        ] {
            let answer = run(&[&update[..], &more].concat(), text);
            assert!(format!("{}{}", answer.out, answer.err).contains("secret_refused"), "{sort} {answer:?}");
            witness.hear_command(sort, &answer);
        }
        for words in [
            vec!["memory", "add", "--kind", "fact", "--summary", text, "--project", "ledger"],
            vec!["message", "send", "--to", task, "--text", text, "--project", "ledger"],
            vec!["project", "create", "shop", "--name", text],
            vec!["token", "create", alone],
            vec!["task", "list", "--status", text, "--project", "ledger", "--json"],
            vec!["task", "frobnicate", text],
            vec!["task", "list", "--no-such", text, "--json"],
            vec!["task", "list", "--project", alone],
            vec!["init", "--resource", text],
        ] {
            witness.hear_command(&format!("{sort} {words:?}"), &run(&words, ""));
        }
    }
    fs::remove_file(&file).expect("our file");
    by_what_is_set_up(witness, place);
}

/// What is stored without being an argument of an operation.
fn by_what_is_set_up(witness: &mut Witness, place: &Place) {
    let all = planted();
    let (github, url) = (&all[0], &all[5]);
    let resource = url.text.trim_start_matches("psql ").replace("postgres", "https");
    let other = place.folder.path().join("other.db");
    let answer = place.bare(&["init", "--database", &other.to_string_lossy(), "--resource", &resource]);
    assert!(answer.err.starts_with("secret_refused: resource line 1"), "{answer:?}");
    assert!(!other.exists(), "nothing was set up");
    witness.hear_command("init", &answer);
    let mut command = place.command();
    command.args(["task", "create", "--title", "By a shell", "--project", "ledger"]);
    command.env("USER", &github.value).env("HEYAIRA_SESSION", format!("label:{}", github.value));
    let made = Answer::from(command.output().expect("the program runs"));
    assert_eq!(made.code, 0, "{made:?}");
    witness.hear("environment", &made.out);
    witness.hear("environment", &made.err);
}

/// Every file of a folder and below.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files(&path, all) } else { all.push(path) }
    }
}

#[test]
fn what_was_refused_stands_nowhere() {
    let place = Place::on(TestDatabase::of_file);
    let outside = tempfile::tempdir().expect("a folder");
    let task = place.task("Import");
    let mut witness = Witness::default();
    by_stdio(&mut witness, &place, &task, &outside.path().join("stdio.log"));
    by_http(&mut witness, &place, &task, &outside.path().join("serve.log"));
    by_command_line(&mut witness, &place, &task, outside.path());
    // What is written afterwards flushes nothing that was kept back.
    assert_eq!(place.ask(&["task", "get", &task])["version"], 1);
    let mut paths = Vec::new();
    files(place.folder.path(), &mut paths);
    files(outside.path(), &mut paths);
    assert!(paths.iter().any(|path| path.ends_with("heyaira.db")), "{paths:?}");
    for name in ["stdio.log", "serve.log"] {
        let log = fs::read_to_string(outside.path().join(name)).expect("a log");
        assert!(log.contains("secret_refused"), "{name} tells of the calls");
    }
    let mut leaks = Vec::new();
    for one in planted() {
        // Half a secret is too much as well.
        let needles = [&one.value[..one.value.len() / 2], &one.value[one.value.len() / 2..]];
        let holds = |bytes: &[u8]| {
            needles.iter().any(|needle| bytes.windows(needle.len()).any(|part| part == needle.as_bytes()))
        };
        let said = witness.0.iter().filter(|(_, said)| holds(said.as_bytes()));
        leaks.extend(said.map(|(who, said)| format!("{}: {who} said {said}", one.sort)));
        let kept = paths.iter().filter(|path| holds(&fs::read(path).expect("a file")));
        leaks.extend(kept.map(|path| format!("{}: in {}", one.sort, path.display())));
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks[..leaks.len().min(30)].join("\n"));
}
