//! What is refused is refused whole, and leaves nothing behind.

use super::Yard;

#[test]
fn everything_that_is_wrong_is_told_at_once_and_nothing_is_left() {
    let yard = Yard::new();
    let refused = yard.run(&[
        "start",
        "--harness",
        "nobody",
        "--timeout",
        "5x",
        "--silence",
        "q",
        "--max",
        "0",
        "--base",
        "nowhere",
        "--budget",
        "-1",
        "--task",
        "ffffffff",
        "--log-limit",
        "1",
        "--branch",
        "a..b",
        "--json",
    ]);
    assert_eq!(refused.code, 2, "{refused:?}");
    let message = refused.json()["error"]["message"].as_str().expect("text").to_owned();
    for word in ["nobody", "--timeout", "--silence", "--max", "nowhere", "--budget", "ffffffff", "--log-limit", "a..b"]
    {
        assert!(message.contains(word), "{word} is not in {message}");
    }
    assert_nothing_is_left(&yard);
}

fn assert_nothing_is_left(yard: &Yard) {
    assert_eq!(yard.runs(), [""; 0]);
    assert_eq!(yard.git(&["branch", "--format=%(refname:short)"]), "main\n");
    assert_eq!(yard.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn each_refusal_has_its_reason() {
    let yard = Yard::new();
    let rows: &[(&[&str], i32, &str)] = &[
        (&[], 2, "command is missing"),
        (&["--", "no-such-program"], 2, r#"no program "no-such-program" that could be started: give its path"#),
        (&["--", "echo a && echo b"], 2, "a line for a shell is given as -- sh -c"),
        (&["--model", "m", "--", "true"], 2, "--model"),
        (&["--timeout", "0", "--", "true"], 2, "no time at all"),
        (&["--timeout", "99999999999999999999h", "--", "true"], 2, "longer than a year"),
        (&["--task", "ffffffff", "--", "true"], 3, "ffffffff"),
        (&["--task", "nope", "--", "true"], 2, r#"--task "nope" is no task id: give its id"#),
        (&["--task", "8e2", "--", "true"], 2, "--task \"8e2\" is too short"),
        (&["--task", "handoff: 8e28 v7", "--", "true"], 2, "a line needs all 8"),
        (&["--project", "other", "--", "true"], 5, "other"),
        (&["--branch", "main", "--", "true"], 2, "main"),
    ];
    for (words, code, reason) in rows {
        let refused = yard.run(&[&["start"], *words].concat());
        assert_eq!(refused.code, *code, "{words:?}: {refused:?}");
        assert!(refused.err.contains(reason), "{words:?}: {refused:?}");
        assert_nothing_is_left(&yard);
    }
}

#[test]
fn within_a_run_none_is_started() {
    let yard = Yard::new();
    let mut command = yard.command(&["start", "--", "true"]);
    let output = command.env("HEYAIRA_RUN", "0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31").output().expect("runs");
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    assert_nothing_is_left(&yard);
}

#[test]
fn a_task_that_is_finished_is_given_to_nobody() {
    let yard = Yard::new();
    let task = yard.place.task("Import statements");
    for (version, status) in [(1, "cancelled"), (2, "todo")] {
        let expected = version.to_string();
        let words = ["task", "update", &task, "--expected-version", &expected, "--status", status, "--summary", status];
        assert_eq!(yard.place.cli(&words).code, 0);
        let answer = yard.run(&["start", "--task", &task, "--json", "--", "true"]);
        if status == "todo" {
            assert_eq!(answer.code, 13, "{answer:?}");
            continue;
        }
        assert_eq!(answer.code, 2, "{answer:?}");
        let error = answer.json()["error"].to_string();
        let call = format!("heyaira task update {} --expected-version 2 --status todo", &task[..8]);
        assert!(error.contains("is cancelled") && error.contains(&call), "{error}");
        assert_nothing_is_left(&yard);
    }
}

#[test]
fn everything_that_is_wrong_keeps_what_to_do_about_it() {
    let yard = Yard::new();
    let mut command = yard.command(&["start", "--harness", "codex", "--task", "ffffffff", "--json"]);
    let nowhere = yard.place.folder.path().join("nowhere");
    std::fs::create_dir(&nowhere).expect("a folder");
    // Git is found, a client is not.
    let programs = nowhere.join("programs");
    std::fs::create_dir(&programs).expect("a folder");
    let found = std::process::Command::new("sh").args(["-c", "command -v git"]).output().expect("sh runs").stdout;
    let git = String::from_utf8(found).expect("UTF-8");
    std::os::unix::fs::symlink(git.trim(), programs.join("git")).expect("a link");
    let output = command.current_dir(&nowhere).env("PATH", &programs).output().expect("the program runs");
    let refused = crate::program::Answer::from(output);
    assert_eq!(refused.code, 2, "{refused:?}");
    let error = refused.json()["error"].clone();
    for part in ["is in no git repository", "install Codex and sign in", "ffffffff"] {
        assert!(error["message"].as_str().is_some_and(|text| text.contains(part)), "{part}: {error}");
    }
    assert!(error["next"].as_str().is_some_and(|text| text.contains("`git init`")), "{error}");
}
