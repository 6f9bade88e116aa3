//! The token of a bridge: where it comes from, what it opens, and that it is shown nowhere.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use heyaira::surface::mcp::remote::address::Address;
use serde_json::{Value, json};

use super::Bridge;
use super::front::{Act, Front};
use crate::http::served::{Served, token};
use crate::program::{Answer, HEYAIRA, Place, Server, outcome, write_file};

const LEDGER: [&str; 2] = ["--project", "ledger"];

fn refusal(bridge: &mut Server, code: &str, parts: &[&str]) {
    let refused = bridge.call("task_list", json!({})).expect_err("refused");
    assert!(refused.starts_with(&format!("{code}: ")), "{refused}");
    for part in parts {
        assert!(refused.contains(part), "{part} is not in: {refused}");
    }
    assert!(!refused.contains("hya_A") && !refused.contains("AAAA"), "{refused}");
}

#[test]
fn a_token_opens_what_it_opens_and_every_other_is_refused_with_the_mend() {
    let place = Place::new();
    assert_eq!(place.bare(&["project", "create", "other"]).code, 0);
    let (writes, reads) =
        (token(&place, "agent", &LEDGER), token(&place, "reader", &["--project", "ledger", "--role", "read"]));
    let served = Served::start(&place, &[]);
    let bridge = |token: &str, project: &str| {
        Bridge::to(&served.address).with_token(token).in_project(project).start(&place.write_context)
    };
    let mut good = bridge(&writes, "ledger");
    let identity = good.call("server_identity", json!({})).expect("an identity");
    assert_eq!((&identity["caller"], &identity["role"]), (&json!("agent"), &json!("write")));
    let refused =
        bridge(&reads, "ledger").call("memory_add", json!({"kind": "fact", "summary": "s"})).expect_err("reads");
    assert!(refused.starts_with("forbidden: memory_add needs the role write, this connection has read"), "{refused}");
    refusal(&mut bridge(&writes, "other"), "not_found", &["there is no project other for this caller"]);
    let wrong = format!("hya_{}", "A".repeat(43));
    refusal(&mut bridge(&wrong, "ledger"), "unauthenticated", &["not valid here", "It was taken from HEYAIRA_TOKEN."]);
    let mut without = Bridge::to(&served.address).in_project("ledger").start(&place.write_context);
    refusal(&mut without, "unauthenticated", &["no token was sent", "HEYAIRA_TOKEN or --token-file"]);
    // What is no token of ours is not sent to anyone.
    let front = Front::new(&served.address, |_, _| Act::Pass);
    let mut foreign =
        Bridge::to(&front.address).with_token("ghp_AAAA").in_project("ledger").start(&place.write_context);
    refusal(&mut foreign, "unauthenticated", &["HEYAIRA_TOKEN holds no token of HeyAira", "Nothing was sent."]);
    assert_eq!(front.requests(), 0);
    assert_eq!(place.bare(&["token", "revoke", "agent"]).code, 0);
    refusal(&mut good, "unauthenticated", &["no longer"]);
}

#[test]
fn too_many_wrong_tokens_are_told_to_wait() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let wrong = format!("hya_{}", "A".repeat(43));
    let mut bridge = Bridge::to(&served.address).with_token(&wrong).in_project("ledger").start(&place.write_context);
    let last = (0..40)
        .map(|_| bridge.call("task_list", json!({})).expect_err("refused"))
        .find(|text| text.starts_with("rate_limited: "));
    assert!(last.expect("a limit").contains("seconds"));
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("our file");
}

#[cfg(unix)]
#[test]
fn a_token_file_is_its_owners_alone_and_read_anew_for_each_call() {
    let place = Place::new();
    let secret = token(&place, "agent", &LEDGER);
    let served = Served::start(&place, &[]);
    let bridge =
        Bridge::to(&served.address).with_token("ghp_AAAA").in_project("ledger").with(&["--token-file", "token"]);
    let file = bridge.folder().join("token");
    let mut bridge = bridge.start(&place.write_context);
    refusal(&mut bridge, "unauthenticated", &["the token file token cannot be read", "Nothing was sent."]);
    std::fs::create_dir(&file).expect("a folder");
    refusal(&mut bridge, "unauthenticated", &["the token file token is no regular file"]);
    std::fs::remove_dir(&file).expect("our folder");
    let made = Command::new("mkfifo").args(["-m", "600"]).arg(&file).status();
    assert!(made.expect("mkfifo runs").success());
    refusal(&mut bridge, "unauthenticated", &["the token file token is no regular file"]);
    std::fs::remove_file(&file).expect("our pipe");
    std::fs::write(&file, format!("{secret}\n")).expect("a file");
    for mode in [0o640, 0o604, 0o660, 0o644] {
        set_mode(&file, mode);
        refusal(&mut bridge, "unauthenticated", &[&format!("(mode {mode:04o})"), "chmod 600 token"]);
    }
    set_mode(&file, 0o600);
    assert_eq!(bridge.call("server_identity", json!({})).expect("an identity")["caller"], "agent");
    set_mode(&file, 0o400);
    bridge.call("server_identity", json!({})).expect("a file that its owner may only read");
    set_mode(&file, 0o600);
    for wrong in
        [String::new(), "hya_".to_owned(), format!("{secret}x"), format!("{secret}\n{secret}"), "A".repeat(5_000)]
    {
        std::fs::write(&file, wrong).expect("a file");
        refusal(&mut bridge, "unauthenticated", &["the token file token holds no token of HeyAira"]);
    }
    std::fs::write(&file, token(&place, "second", &LEDGER)).expect("a file");
    assert_eq!(bridge.call("server_identity", json!({})).expect("an identity")["caller"], "second");
}

/// Everything that a bridge prints while it is refused, answered and ended, as loud as it can be.
#[test]
fn the_token_is_in_no_log_no_error_and_no_list_of_processes() {
    let place = Place::new();
    let secret = token(&place, "agent", &LEDGER);
    let mut served = Served::start(&place, &[]);
    let bridge =
        Bridge::to(&served.address).with_token(&secret).in_project("ledger").with_variable("RUST_LOG", "trace");
    let (mut command, _folder) = bridge.into_command();
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the program runs");
    let mut errors = child.stderr.take().expect("a pipe");
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        errors.read_to_string(&mut text).expect("text");
        text
    });
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut ask = |message: Value| {
        writeln!(input, "{message}").expect("it reads");
        let mut line = String::new();
        output.read_line(&mut line).expect("an answer");
        line
    };
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}});
    let call =
        |id: u8| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "server_identity"}});
    let mut shown = ask(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}));
    shown += &ask(call(1));
    assert!(shown.contains("\\\"caller\\\":\\\"agent\\\""), "{shown}");
    #[cfg(target_os = "linux")]
    {
        let words = std::fs::read(format!("/proc/{}/cmdline", child.id())).expect("our process");
        assert!(!String::from_utf8_lossy(&words).contains("hya_"));
    }
    assert_eq!(place.bare(&["token", "revoke", "agent"]).code, 0);
    shown += &ask(call(2));
    served.kill();
    let last = ask(call(3));
    assert!(outcome(&serde_json::from_str(&last).expect("a message")).expect_err("gone").starts_with("unavailable: "));
    shown += &last;
    drop(input);
    assert!(child.wait().expect("it ends").success());
    shown += &reading.join().expect("no panic");
    assert!(shown.contains("a call was not answered"), "the log is there: {shown}");
    assert!(!shown.contains("hya_") && !shown.contains(&secret[4..20]), "{shown}");
}

fn run(words: &[&str]) -> Answer {
    let mut command = Command::new(HEYAIRA);
    command.env_clear().env("HOME", "/nonexistent").stdin(Stdio::null());
    Answer::from(command.arg("mcp").args(words).output().expect("the program runs"))
}

#[test]
fn what_cannot_be_a_bridge_is_refused_at_once_without_an_echo_of_secrets() {
    let secret = format!("hya_{}", "A".repeat(43));
    let with_user = format!("https://agent:{secret}@heyaira.example.org");
    let with_query = format!("https://heyaira.example.org/?token={secret}");
    for (words, part) in [
        (vec!["--remote", "http://heyaira.example.org"], "over http everyone on the way reads the token"),
        (vec!["--remote", "http://192.0.2.7:7420"], "--insecure-http"),
        (vec!["--remote", "http://localhost.example.org"], "is another machine"),
        (vec!["--remote", "heyaira.example.org"], "is no address such as https://"),
        (vec!["--remote", "ftp://heyaira.example.org"], "is no address such as https://"),
        (vec!["--remote", ""], "is no address such as https://"),
        (vec!["--remote", "https://heyaira.example.org/mcp/ledger"], "without /mcp/NAME"),
        (vec!["--remote", &with_user], "holds more than an address"),
        (vec!["--remote", &with_query], "holds more than an address"),
        (vec!["--remote", "https://heyaira.example.org", "--database", "here.db"], "cannot be used with"),
        (vec!["--remote", "https://heyaira.example.org", &format!("--token={secret}")], "unexpected argument"),
        (vec!["--remote", "https://heyaira.example.org", "--token", &secret], "unexpected argument"),
        (vec!["--token-file", "token"], "--remote"),
        (vec!["--insecure-http"], "--remote"),
    ] {
        let answer = run(&words);
        assert_eq!(answer.code, 2, "{words:?}: {answer:?}");
        assert!(answer.err.contains(part), "{words:?}: {answer:?}");
        assert!(!answer.err.contains("AAAA") && answer.out.is_empty(), "{answer:?}");
    }
}

#[test]
fn http_is_for_this_machine_unless_it_is_asked_for() {
    for here in
        ["http://127.0.0.1:7420", "http://127.9.9.9", "http://[::1]:7420/", "http://localhost", "HTTP://LOCALHOST:1/"]
    {
        Address::new(here, false).expect(here);
    }
    for there in ["http://192.0.2.7:7420", "http://heyaira.example.org/tasks"] {
        Address::new(there, false).expect_err(there);
        assert!(!Address::new(there, true).expect(there).secure);
    }
    let address = Address::new("https://heyaira.example.org:8443/tasks/", false).expect("an address");
    assert!(address.secure);
    assert_eq!(address.tool("ledger", "task_get"), "https://heyaira.example.org:8443/tasks/api/ledger/task_get");
}

#[test]
fn a_token_in_a_profile_or_in_the_place_of_a_file_is_refused_without_an_echo() {
    let place = Place::new();
    let secret = token(&place, "agent", &LEDGER);
    let served = Served::start(&place, &[]);
    let bridge = Bridge::to(&served.address);
    let instance = place.ask(&["profile", "ledger"])["instance"].clone();
    write_file(
        bridge.folder(),
        "heyaira.toml",
        &format!("project = \"ledger\"\ninstance = {instance}\ntoken = \"{secret}\"\n"),
    );
    let mut bridge = bridge.with_token(&secret).start(&place.write_context);
    let refused = bridge.call("task_list", json!({})).expect_err("refused");
    assert!(refused.starts_with("identity_mismatch: ") && refused.contains("has a token"), "{refused}");
    assert!(!refused.contains(&secret[4..20]), "{refused}");
    let named = Bridge::to(&served.address).in_project("ledger").with(&["--token-file", &secret]);
    let refused = named.start(&place.write_context).call("task_list", json!({})).expect_err("refused");
    assert!(refused.starts_with("unauthenticated: ") && refused.contains("cannot be read"), "{refused}");
    assert!(!refused.contains(&secret[4..20]), "{refused}");
}
