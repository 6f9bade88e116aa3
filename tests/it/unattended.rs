//! What belongs to an unattended run reads and never writes, by whichever way in.

use serde_json::json;

use crate::bridge::Bridge;
use crate::hooks::repository::{CLAUDE, Repository};
use crate::http::served::Served;
use crate::program::{Place, Server};

const RUN: (&str, &str) = ("HEYAIRA_RUN", "5d0c9a44-7a0e-4f3e-9a53-0f5b1c1f2a77");

fn is_refused(text: &str) {
    assert!(text.starts_with("forbidden: "), "{text}");
    assert!(text.contains("the unattended run \"5d0c9a44-7a0e-4f3e-9a53-0f5b1c1f2a77\", which reads alone"), "{text}");
    assert!(text.contains("Put it into your last message"), "{text}");
}

/// Writes are refused on a connection, and reads are answered.
fn expect_reads_alone(server: &mut Server, task: &str) {
    let update = json!({"task_id": task, "expected_version": 1, "summary": "changed"});
    is_refused(&server.call("task_update", update).expect_err("a refusal"));
    let message = json!({"to": task, "text": "words"});
    is_refused(&server.call("message_send", message).expect_err("a refusal"));
    let read = server.call("task_get", json!({"task_id": task})).expect("an answer");
    assert_eq!((&read["version"], &read["summary"]), (&json!(1), &json!("new")));
}

#[test]
fn the_command_line_reads_alone() {
    let place = Place::new();
    let task = place.task("Import statements");
    let within = |words: &[&str]| {
        let words = [words, &["--project", "ledger"]].concat();
        crate::program::Answer::from(place.command().envs([RUN]).args(words).output().expect("the program runs"))
    };
    for words in [
        &["task", "update", &task, "--expected-version", "1", "--summary", "changed"][..],
        &["task", "takeover", &task, "--expected-version", "1", "--session-ref", "label:run"],
        &["memory", "add", "--kind", "fact", "--summary", "words"],
        &["profile", "rotate"],
        &["init"],
        &["restore", "nothing.db", "--same-instance"],
        &["setup", "codex"],
        &["serve"],
        &["start"],
    ] {
        let words: Vec<&str> = words.to_vec();
        let refused = within(&words);
        assert_eq!(refused.code, 6, "{words:?}: {refused:?}");
        is_refused(refused.err.trim());
    }
    let found = within(&["task", "get", &task, "--json"]);
    assert_eq!((found.code, &found.json()["version"]), (0, &json!(1)));
    assert_eq!(within(&["verify"]).code, 0);
}

#[test]
fn a_client_that_is_run_reads_alone_here_and_elsewhere() {
    let place = Place::new();
    let task = place.task("Import statements");
    let mut command = place.command();
    command.args(["mcp", "--project", "ledger"]).envs([RUN]);
    expect_reads_alone(&mut Server::start(command, &place.write_context), &task);

    let served = Served::open(&place);
    let bridge = Bridge::to(&served.address).in_project("ledger").with_variable(RUN.0, RUN.1);
    expect_reads_alone(&mut bridge.start(&place.write_context), &task);
}

#[test]
fn its_hooks_say_nothing_and_keep_nothing() {
    let here = Repository::new();
    let started = here.claude(CLAUDE, "SessionStart", json!({"source": "startup"}));
    let said = here.hook("claude", &started, &[RUN]);
    assert_eq!((said.out.as_str(), said.err.as_str()), ("", ""));
    assert!(!here.state().folder().exists());
    assert!(here.hook("claude", &started, &[]).out.contains(CLAUDE), "without a run it is told");
}
