//! Runs that somebody ends, and watchers and starters that are killed.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;

use super::{Yard, is_alive, number_in, processes_of, signal, wait_for, wait_until};
use crate::program::Answer;

/// Works until the file `go` is there.
const WAITS: &str = "echo $$ >$TOLD/harness; until test -e $TOLD/go; do sleep 0.02; done; echo work >work.txt";

#[test]
fn ctrl_c_ends_the_run_and_reports_it() {
    let yard = Yard::new();
    for word in [Signal::INT, Signal::TERM] {
        let _ = std::fs::remove_file(yard.told().join("harness"));
        let mut command = yard.command(&["start", "--json", "--", "sh", "-c", WAITS]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program runs");
        let harness = number_in(&yard.told().join("harness"));
        signal(i32::try_from(child.id()).expect("a number"), word);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(17));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
        assert_eq!(report["outcome"], "interrupted");
        assert!(!is_alive(harness));
    }
}

#[test]
fn a_run_outlives_who_started_it() {
    let yard = Yard::new();
    let mut command = yard.command(&["start", "--", "sh", "-c", WAITS]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs");
    number_in(&yard.told().join("harness"));
    child.kill().expect("it is ours");
    child.wait().expect("it ended");
    // What watches over it says so a moment after the harness began.
    wait_until("the run at work", || yard.run(&["list", "--json"]).json()["working"][0]["phase"] == "working");
    std::fs::write(yard.told().join("go"), "").expect("a file");
    let listed = wait_for("the report in the list", || {
        let listed = yard.run(&["list", "--json"]).json();
        listed["runs"].as_array().is_some_and(|runs| !runs.is_empty()).then_some(listed)
    });
    assert_eq!(listed["runs"][0]["outcome"], "succeeded", "{listed}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_whose_watcher_was_killed_is_ended_and_reported_by_whoever_looks() {
    let yard = Yard::new();
    let lines = "trap '' TERM; \
                 (setsid sh -c 'trap \"\" TERM; echo $$ >$TOLD/daemon; while :; do sleep 0.05; done' >/dev/null 2>&1 &); \
                 (env -i sh -c 'trap \"\" TERM; while :; do sleep 0.05; done' >/dev/null 2>&1 & echo $! >$TOLD/unmarked); \
                 git tag left; echo said; echo work >work.txt; echo $$ >$TOLD/harness; while :; do sleep 0.05; done";
    let run = yard.detached(&["--test", "make check"], lines);
    let ids = ["harness", "daemon", "unmarked"].map(|name| number_in(&yard.told().join(name)));
    wait_until("the output", || std::fs::read(run.folder.join("output.log")).is_ok_and(|kept| kept == b"said\n"));
    signal(run.watcher(), Signal::KILL);
    wait_until("the end of the watcher", || !is_alive(run.watcher()));
    let listed = yard.run(&["list", "--json"]).json();
    assert_eq!(listed["runs"][0]["outcome"], "interrupted", "{listed}");
    for id in ids {
        assert!(!is_alive(id), "{id} of {ids:?} goes on");
    }
    assert_eq!(processes_of(&run.id), [0; 0]);
    let report = run.report().expect("a report");
    assert_eq!(report["work"]["uncommitted"], json!(["work.txt"]), "{report}");
    assert_eq!(report["log"]["bytes"], 5);
    assert!(report["problems"].to_string().contains("tag left appeared"), "{report}");
    assert_eq!((&report["tests"][0]["command"], &report["tests"][0]["not_run"]), (&json!("make check"), &json!(true)));
}

#[test]
fn stop_ends_runs_by_the_beginning_of_their_ids() {
    let yard = Yard::new();
    let runs = [yard.detached(&[], WAITS), yard.detached(&[], WAITS)];
    number_in(&yard.told().join("harness"));
    let unknown = yard.run(&["stop", &runs[0].id[..8], "ffff0000", "abc", "--json"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(unknown.out.contains("ffff0000") && unknown.out.contains("abc"), "{unknown:?}");
    assert!(runs[0].report().is_none(), "nothing was stopped");
    let stopped = yard.run(&["stop", &runs[0].id[..8], &runs[1].id, "--json"]);
    assert_eq!(stopped.code, 0, "{stopped:?}");
    for (run, row) in runs.iter().zip(stopped.json()["runs"].as_array().expect("rows")) {
        assert_eq!((&row["outcome"], &row["was_over"]), (&json!("interrupted"), &json!(false)));
        assert_eq!(run.report().expect("a report")["outcome"], "interrupted");
        assert_eq!(processes_of(&run.id), [0; 0]);
    }
    let again = yard.run(&["stop", &runs[0].id, "--json"]).json();
    assert_eq!(again["runs"][0]["was_over"], true);
}

#[test]
fn a_stop_while_tests_run_is_an_interruption() {
    let yard = Yard::new();
    let tests = ["--test", "echo $$ >$TOLD/test; sleep 600", "--test", "make check"];
    let run = yard.detached(&tests, "echo work >work.txt");
    let test = number_in(&yard.told().join("test"));
    assert_eq!(run.progress()["phase"], "testing");
    let stopped: Answer = yard.run(&["stop", &run.id, "--json"]);
    assert_eq!(stopped.json()["runs"][0]["outcome"], "interrupted");
    assert!(!is_alive(test));
    assert!(run.worktree.join("work.txt").exists());
    let report = run.report().expect("a report");
    assert_eq!(report["tests"][1]["command"], "make check", "{report}");
    // One that was cut off did not fail.
    for test in report["tests"].as_array().expect("tests") {
        assert_eq!((&test["not_run"], &test["exit"]), (&json!(true), &json!({})), "{report}");
    }
    assert!(report["tests"][0]["log"]["path"].as_str().is_some_and(|log| log.ends_with("test-1.log")), "{report}");
    assert_eq!(report["problems"], json!([]), "{report}");
}

#[test]
fn a_run_whose_start_was_killed_before_it_began_lost_nothing() {
    let yard = Yard::new();
    let (over, _) = yard.shell(&[], "true");
    let (old, new) = (over["run_id"].as_str().expect("an id"), "0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31");
    let runs = yard.state().join("runs");
    // As it stands before there is a worktree, a branch or a watcher.
    let plan = std::fs::read_to_string(runs.join(old).join("run.json")).expect("a plan").replace(old, new);
    std::fs::create_dir(runs.join(new)).expect("a folder");
    std::fs::write(runs.join(new).join("run.json"), plan.replace(&old[..8], &new[..8])).expect("a plan");
    let shown = yard.run(&["show", new, "--json"]).json();
    let report = &shown["report"];
    assert_eq!((&report["outcome"], &report["problems"]), (&"interrupted".into(), &serde_json::json!([])), "{shown}");
    assert_eq!(report["reason"], "It never began: who started it was killed.");
    assert_eq!((&report["work"]["commits_total"], &report["work"]["uncommitted_total"]), (&0.into(), &0.into()));
    assert_eq!(yard.run(&["clean", new, "--force"]).code, 0);
}

#[test]
fn a_run_whose_plan_was_taken_away_with_its_watcher_is_reported() {
    let yard = Yard::new();
    let run = yard.detached(&[], "rm \"$(dirname \"$HEYAIRA_RUN_BRIEF\")/run.json\"; kill -9 $PPID; sleep 60");
    let watcher = run.watcher();
    wait_until("the watcher's end", || !is_alive(watcher));
    let listed = yard.run(&["list", "--json"]).json();
    assert_eq!((&listed["total"], &listed["runs"][0]["outcome"]), (&1.into(), &"interrupted".into()), "{listed}");
    assert!(!yard.state().join("plans").join(format!("{}.json", run.id)).exists());
    assert_eq!(yard.run(&["clean", &run.id, "--force"]).code, 0);
}
