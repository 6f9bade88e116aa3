//! Every outcome, each by a harness that does that one thing.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::json;

use super::{Yard, is_alive, number_in, processes_of};

const COMMIT: &str = "echo work >work.txt; git add work.txt; git commit --quiet -m 'Do the work'";

#[test]
fn each_outcome_is_told_by_the_report_and_the_exit_code() {
    let yard = Yard::new();
    let rows: &[(&[&str], &str, &str, i32)] = &[
        (&[], COMMIT, "succeeded", 0),
        (&["--test", "test -f work.txt", "--test", "true"], COMMIT, "succeeded", 0),
        (&[], "echo left >left.txt", "succeeded", 0),
        (&[], "echo 'I have fixed everything.'", "no_work", 13),
        (&[], "exit 3", "failed", 14),
        (&[], "echo work >work.txt; exit 3", "failed", 14),
        (&[], "kill -9 $$", "failed", 14),
        (&["--test", "true", "--test", "exit 4"], COMMIT, "tests_failed", 15),
        (&["--test", "sleep 60", "--test-timeout", "1"], COMMIT, "tests_failed", 15),
        (&["--timeout", "1"], "sleep 60", "timed_out", 16),
        (&["--silence", "1"], "echo once; sleep 60", "silent", 16),
        (&["--silence", "1", "--timeout", "3"], "while :; do echo still here; sleep 0.2; done", "timed_out", 16),
    ];
    for (flags, lines, outcome, code) in rows {
        let (report, exit) = yard.shell(flags, lines);
        assert_eq!((report["outcome"].as_str(), exit), (Some(*outcome), *code), "{lines}: {report}");
        assert_eq!(report["schema"], "heyaira.run-report");
        assert_eq!(processes_of(report["run_id"].as_str().expect("an id")), [0; 0], "{lines}");
    }
}

#[test]
fn the_report_holds_what_git_and_the_tests_say() {
    let yard = Yard::new();
    let base = yard.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let task = yard.place.task("Work");
    let lines = format!("{COMMIT}; echo left >left.txt; echo done");
    let (report, _) = yard.shell(&["--task", &task, "--test", "cat work.txt", "--branch", "work"], &lines);
    assert_eq!(report["task_id"], task.as_str());
    assert_eq!(report["task_version"], 1);
    assert_eq!(report["work"]["base_commit"], base.as_str());
    assert_eq!(report["work"]["branch"], "work");
    assert_eq!(report["work"]["commits"][0]["subject"], "Do the work");
    assert_eq!(report["work"]["result_commit"], yard.git(&["rev-parse", "work"]).trim());
    assert_eq!(report["work"]["uncommitted"], json!(["left.txt"]));
    assert_eq!(report["tests"][0]["exit"], json!({"code": 0}));
    assert_eq!(report["exit"], json!({"code": 0}));
    assert_eq!(report["log"]["bytes"], 5);
    assert_eq!(std::fs::read_to_string(report["log"]["path"].as_str().expect("a path")).expect("a log"), "done\n");
    assert_eq!(report["session_ref"], format!("run:{}", report["run_id"].as_str().expect("an id")));
    // The run changed nothing of the task, and the main working tree is as it was.
    assert_eq!(yard.place.ask(&["task", "get", &task])["version"], 1);
    assert_eq!(yard.git(&["status", "--short"]), "");
    let shown = yard.run(&["list", "--json"]).json();
    assert_eq!(shown["runs"].as_array().map(Vec::len), Some(1), "{shown}");
}

#[test]
fn what_ignores_signals_and_leaves_its_session_is_ended_too() {
    let yard = Yard::new();
    let late = yard.told().join("late");
    let lines = "trap '' TERM; \
                 (trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ >$TOLD/daemon; while :; do echo x >>$TOLD/late; sleep 0.05; done' \
                 >/dev/null 2>&1 &); \
                 while :; do sleep 1; done";
    let (report, code) = yard.shell(&["--timeout", "1"], lines);
    let length = std::fs::metadata(&late).expect("it wrote").len();
    assert_eq!((report["outcome"].as_str(), code), (Some("timed_out"), 16), "{report}");
    assert!(report["ended_processes"].as_i64() >= Some(3), "{report}");
    assert_eq!(report["problems"], json!([]));
    assert!(!is_alive(number_in(&yard.told().join("daemon"))), "the daemon goes on");
    assert_eq!(processes_of(report["run_id"].as_str().expect("an id")), [0; 0]);
    assert_eq!(std::fs::metadata(&late).expect("it is there").len(), length, "it wrote after the report");
}

#[test]
fn what_a_harness_and_a_test_leave_running_is_ended_before_git_is_asked() {
    let yard = Yard::new();
    let daemon = |name: &str| format!("setsid sh -c 'echo $$ >$TOLD/{name}; exec sleep 600' >/dev/null 2>&1 & ");
    let wait = |name: &str| format!("until test -s $TOLD/{name}; do sleep 0.01; done; ");
    let lines = format!("{}{}{COMMIT}", daemon("harness"), wait("harness"));
    let test = format!("{}{}true", daemon("test"), wait("test"));
    let (report, _) = yard.shell(&["--test", &test], &lines);
    assert_eq!(report["outcome"], "succeeded", "{report}");
    assert_eq!(report["ended_processes"], 1, "{report}");
    for name in ["harness", "test"] {
        assert!(!is_alive(number_in(&yard.told().join(name))), "what the {name} left goes on");
    }
}

#[test]
fn nobody_answers_who_asks() {
    let yard = Yard::new();
    let ask = |lines: &str| {
        let mut command = yard.command(&["start", "--json", "--timeout", "20", "--", "sh", "-c", lines]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program runs");
        std::io::Write::write_all(child.stdin.as_mut().expect("a pipe"), b"yes\n").expect("a line");
        let output = child.wait_with_output().expect("it ends");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("a report")
    };
    let report = ask("read answer && exit 5; exit 6");
    assert_eq!(
        (&report["outcome"], &report["exit"]["code"]),
        (&json!("failed"), &json!(6)),
        "standard input is closed"
    );
    let report = ask("read answer </dev/tty && exit 5; exit 6");
    assert_eq!((&report["outcome"], &report["exit"]["code"]), (&json!("failed"), &json!(6)), "there is no terminal");
}

/// A program of that name that comes first in `PATH`.
fn fake(yard: &Yard, name: &str, lines: &str) -> std::ffi::OsString {
    let folder = yard.place.folder.path().join("bin");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join(name);
    std::fs::write(&file, format!("#!/bin/sh\n{lines}\n")).expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path))).expect("folders")
}

#[test]
fn a_client_is_not_believed() {
    let yard = Yard::new();
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"done","total_cost_usd":5.5,"session_id":"0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31"}"#;
    let rows: &[(&[&str], String, &str)] = &[
        (&[], "echo '{\"type\":'; exit 0".to_owned(), "harness_error"),
        (&[], "echo hello; exit 0".to_owned(), "harness_error"),
        (&["--resume", "5f6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31"], "echo hello; exit 0".to_owned(), "harness_error"),
        (&[], format!("echo '{result}'"), "no_work"),
        (&["--budget", "2"], format!("echo '{result}'; sleep 60"), "over_budget"),
        (&[], "kill -11 $$".to_owned(), "failed"),
    ];
    for (flags, lines, outcome) in rows {
        let path = fake(&yard, "claude", &format!("[ \"$1\" = --version ] && exit\n{lines}"));
        let words =
            [&["start", "--json", "--harness", "claude-code", "--instructions", "Work.", "--timeout", "20"], *flags]
                .concat();
        let answer: crate::program::Answer = yard.command(&words).env("PATH", path).output().expect("runs").into();
        let report = answer.json();
        assert_eq!(report["outcome"], *outcome, "{lines}: {report}");
        // Only what it said is its session, not what it was asked for.
        let said = lines.contains("session_id").then_some("0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31");
        assert_eq!(report["native_session_id"].as_str(), said, "{lines}: {report}");
        let run = format!("run:{}", report["run_id"].as_str().expect("an id"));
        let named = said.map_or(run, |said| format!("claude-code:{said}"));
        assert_eq!(report["session_ref"], named.as_str(), "{lines}: {report}");
    }
}

#[test]
fn a_client_that_ends_itself_or_only_complains_is_told_with_its_words() {
    let yard = Yard::new();
    let ended = |subtype: &str, error: &str| {
        let event = json!({"type": "result", "subtype": subtype, "is_error": true, "errors": [error]});
        format!("echo '{event}'; exit 1")
    };
    let rows = [
        (ended("error_max_budget_usd", "Reached maximum budget ($2)"), "over_budget", "Reached maximum budget ($2)"),
        (ended("error_max_turns", "Reached maximum number of turns (3)"), "failed", "turns (3)"),
        ("echo 'error: no such option' >&2; exit 1".to_owned(), "harness_error", "no such option"),
        // More than is kept of one line, and no end.
        ("head -c 9000000 /dev/zero | tr '\\0' x >&2; exit 1".to_owned(), "harness_error", "xxxx"),
    ];
    for (lines, outcome, reason) in &rows {
        let path = fake(&yard, "claude", &format!("[ \"$1\" = --version ] && exit\n{lines}"));
        let words = ["start", "--json", "--harness", "claude-code", "--instructions", "Work.", "--timeout", "20"];
        let answer: crate::program::Answer = yard.command(&words).env("PATH", path).output().expect("runs").into();
        let report = answer.json();
        assert_eq!(report["outcome"], *outcome, "{lines}: {report}");
        let told = report["reason"].as_str().expect("a reason");
        assert!(told.contains(reason) && told.len() < 2_000, "{lines}: {report}");
    }
}

#[test]
fn a_program_that_cannot_be_run_is_an_error_of_the_harness() {
    let yard = Yard::new();
    let file = yard.place.folder.path().join("no-program");
    std::fs::write(&file, "nothing\n").expect("a file");
    let answer = yard.run(&["start", "--json", "--", file.to_str().expect("text")]);
    assert_eq!(answer.code, 18, "{answer:?}");
    let report = answer.json();
    assert_eq!(report["outcome"], "harness_error");
    assert_eq!(report["exit"], json!({}));
}

#[test]
fn the_harness_knows_its_run_and_its_brief_and_not_who_asked() {
    let yard = Yard::new();
    let task = yard.place.task("Brief");
    let lines = "cat \"$HEYAIRA_RUN_BRIEF\"; echo \"run=$HEYAIRA_RUN session=$HEYAIRA_SESSION folder=$PWD\"";
    let mut command = yard.command(&["start", "--json", "--task", &task, "--", "sh", "-c", lines]);
    let answer: crate::program::Answer =
        command.env("HEYAIRA_SESSION", "label:who asked").output().expect("runs").into();
    let report = answer.json();
    let log = std::fs::read_to_string(report["log"]["path"].as_str().expect("a path")).expect("a log");
    assert!(log.contains(&task), "the brief holds the packet: {log}");
    let last = log.lines().last().expect("a line");
    let (run, worktree) = (report["run_id"].as_str().expect("id"), report["work"]["worktree"].as_str().expect("path"));
    assert_eq!(last, format!("run={run} session= folder={worktree}"));
}

#[test]
fn test_commands_that_were_not_run_are_in_the_report() {
    let yard = Yard::new();
    let tests = ["--test", "test -f work.txt", "--test", "exit 4"];
    let rows: &[(&[&str], &str, &str)] = &[
        (&[], "echo 'I have fixed everything.'", "no_work"),
        (&[], "echo work >work.txt; exit 3", "failed"),
        (&["--timeout", "1"], "echo work >work.txt; sleep 60", "timed_out"),
    ];
    for (flags, lines, outcome) in rows {
        let (report, _) = yard.shell(&[&tests, *flags].concat(), lines);
        assert_eq!((&report["outcome"], &report["problems"]), (&json!(outcome), &json!([])), "{report}");
        for (place, command) in ["test -f work.txt", "exit 4"].into_iter().enumerate() {
            let test = &report["tests"][place];
            assert_eq!((&test["command"], &test["not_run"]), (&json!(command), &json!(true)), "{report}");
            assert_eq!(test["exit"], json!({}), "{report}");
        }
    }
    // One that was run does not say so.
    let (report, _) = yard.shell(&tests, COMMIT);
    assert_eq!(report["outcome"], "tests_failed", "{report}");
    let said: Vec<_> = (0..2).map(|place| report["tests"][place].get("not_run")).collect();
    assert_eq!(said, [None, None], "{report}");
    let told = yard.run(&["start", "--test", "exit 4", "--", "true"]);
    assert!(told.out.contains("test_1: not run: exit 4"), "{told:?}");
}

#[test]
fn the_brief_holds_what_the_task_asks_for() {
    let yard = Yard::new();
    let brief = |task: &str| {
        let (report, _) = yard.shell(&["--task", task], "cat \"$HEYAIRA_RUN_BRIEF\"");
        let log = std::fs::read_to_string(report["log"]["path"].as_str().expect("a path")).expect("a log");
        let packet = log.lines().find(|line| line.starts_with('{')).expect("the packet");
        serde_json::from_str::<serde_json::Value>(packet).expect("JSON")
    };
    let task = |description: &str| {
        let words = ["task", "create", "--title", "Import", "--summary", "new", "--description", description];
        yard.place.ask(&words)["task_id"].as_str().expect("an id").to_owned()
    };
    let short = task("Import camt.053, batch by batch.");
    let long = task(&"試験 ".repeat(4_000));
    for (task, version) in [(&short, "1"), (&long, "1")] {
        yard.place.ask(&[
            "task",
            "update",
            task,
            "--expected-version",
            version,
            "--summary",
            "begun",
            "--handoff-next",
            "cargo test",
        ]);
    }
    assert_eq!(brief(&short)["description"], "Import camt.053, batch by batch.");
    let told = brief(&long)["description"].as_str().expect("a text").to_owned();
    let mark = format!(
        "\n[cut: 8,000 of 12,000 characters; the rest: `heyaira task get {} --field description --offset 8000`]",
        &long[..8]
    );
    assert!(told.ends_with(&mark) && told.starts_with(&"試験 ".repeat(2_666)), "{told}");
    let rest = yard.place.ask(&["task", "get", &long, "--field", "description", "--offset", "8000"]);
    assert_eq!(rest["offset"], 8_000, "{rest}");
    // Where nothing is described there is nothing to be told.
    assert!(brief(&yard.place.task("Work")).get("description").is_none());
}
