//! Processes that are stopped, or hang: the watcher, the harness, a test command, who started the run.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Detached, Yard, is_alive, number_in, processes_of, signal, wait_for, wait_until};
use crate::program::Answer;

/// Works until the file `go` is there.
const WAITS: &str =
    "echo work >work.txt; echo $$ >$TOLD/harness; until test -e $TOLD/go; do sleep 0.02; done; echo done";
/// Does not let its watcher go on.
const STOPS: &str =
    "trap '' TERM; echo work >work.txt; echo $$ >$TOLD/harness; while :; do kill -STOP $PPID; sleep 0.02; done";

/// True for a process that a signal has stopped.
fn is_stopped(id: i32) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", &id.to_string()]).output().expect("ps runs");
    String::from_utf8_lossy(&state.stdout).trim().starts_with('T')
}

fn stop(id: i32) {
    signal(id, Signal::STOP);
    wait_until("it is stopped", || is_stopped(id));
}

/// The run as the list has it.
fn listed(yard: &Yard, run: &Detached) -> Value {
    let list = yard.run(&["list", "--json"]).json();
    let rows = list["working"].as_array().cloned().unwrap_or_default();
    rows.into_iter().find(|row| row["run"] == run.id[..8]).unwrap_or_else(|| panic!("it is not listed: {list}"))
}

fn problems(report: &Value) -> String {
    report["problems"].to_string()
}

#[test]
fn a_watcher_that_is_kept_from_going_on_is_killed_and_its_run_is_ended_and_reported() {
    let yard = Yard::new();
    let run = yard.detached(&[], STOPS);
    let (harness, watcher) = (number_in(&yard.told().join("harness")), run.watcher());
    wait_until("it is stopped", || is_stopped(watcher));
    let row = listed(&yard, &run);
    assert_eq!(
        (&row["watcher"], &row["next"]),
        (&json!("is stopped"), &json!(format!("heyaira run stop {}", &run.id[..8])))
    );
    let cleaned = yard.run(&["clean", "--force", &run.id]);
    assert!(cleaned.err.contains("its watcher is stopped: end it with heyaira run stop"), "{cleaned:?}");

    let begun = Instant::now();
    let stopped = yard.run(&["stop", &run.id, "--json"]);
    assert!(begun.elapsed() < Duration::from_secs(30), "it took {:?}", begun.elapsed());
    assert_eq!((stopped.code, &stopped.json()["runs"][0]["outcome"]), (0, &json!("interrupted")), "{stopped:?}");
    assert!(!is_alive(harness) && !is_alive(watcher));
    assert_eq!(processes_of(&run.id), [0; 0]);
    let report = run.report().expect("a report");
    assert_eq!(
        (&report["reason"], &report["work"]["uncommitted"]),
        (&json!("It was interrupted."), &json!(["work.txt"]))
    );
    assert!(problems(&report).contains("was stopped and did not go on, and was killed"), "{report}");
    assert_eq!(yard.run(&["clean", "--force", &run.id]).code, 0);
}

#[test]
fn a_watcher_that_was_stopped_once_ends_its_run_itself() {
    let yard = Yard::new();
    let run = yard.detached(&[], WAITS);
    number_in(&yard.told().join("harness"));
    wait_until("it works", || run.progress()["phase"] == "working");
    stop(run.watcher());
    let stopped = yard.run(&["stop", &run.id, "--json"]);
    assert_eq!((stopped.code, &stopped.json()["runs"][0]["outcome"]), (0, &json!("interrupted")), "{stopped:?}");
    // Nobody but its watcher knows that.
    assert_eq!(run.report().expect("a report")["exit"], json!({"signal": 15}));
}

#[test]
fn a_process_that_hangs_in_the_place_of_the_watcher_is_killed_too() {
    let yard = Yard::new();
    let run = yard.detached(&[], WAITS);
    let harness = number_in(&yard.told().join("harness"));
    let watcher = run.watcher();
    signal(watcher, Signal::KILL);
    wait_until("the end of the watcher", || !is_alive(watcher));
    // It hears no signal, and waits for whoever reads what it says.
    let mut hanging = Command::new("sh")
        .args(["-c", "trap '' TERM; exec yes run watch \"$RUN\""])
        .env("RUN", &run.id)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a program");
    let _ = hanging.stdout.as_mut().expect("a pipe").read(&mut [0]);
    let begun = Instant::now();
    let stopped = yard.run(&["stop", &run.id, "--json"]);
    assert!(begun.elapsed() < Duration::from_mins(1), "it took {:?}", begun.elapsed());
    assert_eq!((stopped.code, &stopped.json()["runs"][0]["outcome"]), (0, &json!("interrupted")), "{stopped:?}");
    assert!(problems(&run.report().expect("a report")).contains("did not answer for 10 seconds, and was killed"));
    assert!(!is_alive(harness));
    hanging.wait().expect("it ended");
}

#[test]
fn what_happens_while_a_watcher_is_stopped_is_not_lost() {
    let yard = Yard::new();
    let run = yard.detached(&["--silence", "2", "--timeout", "5"], WAITS);
    let harness = number_in(&yard.told().join("harness"));
    wait_until("it works", || run.progress()["phase"] == "working");
    stop(run.watcher());
    std::fs::write(yard.told().join("go"), "").expect("a file");
    wait_until("its end", || !is_alive(harness));
    let stopped = Instant::now();
    wait_until("both bounds are over", || stopped.elapsed() > Duration::from_secs(6));
    signal(run.watcher(), Signal::CONT);
    let report = run.ended();
    assert_eq!((&report["outcome"], &report["log"]["bytes"]), (&json!("succeeded"), &json!(5)), "{report}");
}

#[test]
fn nobody_was_silent_while_the_watcher_was_stopped() {
    let yard = Yard::new();
    let lines = "echo $$ >$TOLD/harness; until test -e $TOLD/go; do sleep 0.02; done; echo said; touch $TOLD/spoke; \
                 until test -e $TOLD/end; do sleep 0.02; done";
    let run = yard.detached(&["--silence", "3"], lines);
    number_in(&yard.told().join("harness"));
    stop(run.watcher());
    std::fs::write(yard.told().join("go"), "").expect("a file");
    wait_until("it spoke", || yard.told().join("spoke").exists());
    let stopped = Instant::now();
    wait_until("the bound is over", || stopped.elapsed() > Duration::from_secs(6));
    signal(run.watcher(), Signal::CONT);
    wait_until("the output", || std::fs::read(run.folder.join("output.log")).is_ok_and(|kept| kept == b"said\n"));
    std::fs::write(yard.told().join("end"), "").expect("a file");
    let report = run.ended();
    assert_eq!(report["outcome"], "no_work", "{report}");
    assert!(problems(&report).contains("was stopped, or got no time, for"), "{report}");
}

#[test]
fn time_counts_while_a_watcher_is_stopped() {
    let yard = Yard::new();
    let run = yard.detached(&["--timeout", "3"], WAITS);
    number_in(&yard.told().join("harness"));
    stop(run.watcher());
    let stopped = Instant::now();
    wait_until("its time is over", || stopped.elapsed() > Duration::from_secs(3));
    signal(run.watcher(), Signal::CONT);
    assert_eq!(run.ended()["outcome"], "timed_out");
}

/// `heyaira run start`, and what it says meanwhile.
fn foreground(yard: &Yard, lines: &str) -> (Child, std::path::PathBuf) {
    let said = yard.told().join("said");
    let mut command = yard.command(&["start", "--json", "--", "sh", "-c", lines]);
    let errors = std::fs::File::create(&said).expect("a file");
    (command.stdout(Stdio::piped()).stderr(errors).spawn().expect("the program runs"), said)
}

fn id(child: &Child) -> i32 {
    i32::try_from(child.id()).expect("a number")
}

#[test]
fn who_follows_a_run_is_told_that_its_watcher_is_stopped_and_ctrl_c_ends_it() {
    let yard = Yard::new();
    let (child, said) = foreground(&yard, STOPS);
    let harness = number_in(&yard.told().join("harness"));
    wait_until("it is said", || {
        std::fs::read_to_string(&said)
            .is_ok_and(|said| said.contains("its watcher is stopped: Ctrl-C or heyaira run stop"))
    });
    for _ in 0..2 {
        signal(id(&child), Signal::INT);
    }
    let output = child.wait_with_output().expect("it ends");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!((output.status.code(), &report["outcome"]), (Some(17), &json!("interrupted")), "{report}");
    assert!(!is_alive(harness));
    assert_eq!(processes_of(report["run_id"].as_str().expect("an id")), [0; 0]);
}

#[test]
fn who_follows_a_run_may_be_stopped_meanwhile() {
    let yard = Yard::new();
    let (child, _) = foreground(&yard, WAITS);
    number_in(&yard.told().join("harness"));
    stop(id(&child));
    std::fs::write(yard.told().join("go"), "").expect("a file");
    wait_for("the report", || {
        let folder = yard.state().join("runs").join(yard.runs().first()?);
        super::json_of(&folder.join("run-report.json"))
    });
    signal(id(&child), Signal::CONT);
    let output = child.wait_with_output().expect("it ends");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!((output.status.code(), &report["outcome"]), (Some(0), &json!("succeeded")), "{report}");
}

#[test]
fn who_waits_says_for_whom_and_a_place_is_held_while_its_watcher_is_stopped() {
    let yard = Yard::new();
    let first = yard.detached(&["--max", "1"], STOPS);
    number_in(&yard.told().join("harness"));
    let second = yard.detached(&["--max", "1"], "true");
    wait_until("it waits", || second.progress()["waits_for"] == json!([first.id]));
    assert_eq!(listed(&yard, &second)["waits_for"], json!([first.id[..8]]));
    assert_eq!(listed(&yard, &first)["watcher"], "is stopped");
    assert!(second.report().is_none());
    // One that waits and is stopped keeps nobody waiting: it could not begin.
    stop(second.watcher());
    let third = yard.detached(&["--max", "1"], "true");
    assert_eq!(yard.run(&["stop", &first.id]).code, 0);
    assert_eq!(third.ended()["outcome"], "no_work");
    signal(second.watcher(), Signal::CONT);
    assert_eq!(second.ended()["outcome"], "no_work");
}

#[test]
fn a_harness_that_stops_itself_is_ended_and_hears_that_it_is_to_end() {
    let yard = Yard::new();
    let lines = "trap 'echo bye >$TOLD/bye; exit 0' TERM; kill -STOP $$; sleep 600";
    for (flags, outcome) in [(["--timeout", "1"], "timed_out"), (["--silence", "1"], "silent")] {
        let (report, code) = yard.shell(&flags, lines);
        assert_eq!((report["outcome"].as_str(), code), (Some(outcome), 16), "{report}");
        std::fs::remove_file(yard.told().join("bye")).expect("it heard");
    }
    // A group that is stopped as a whole.
    let (report, _) = yard.shell(&["--timeout", "1"], "trap '' TERM; sh -c 'sleep 600' & kill -STOP 0");
    assert_eq!(report["outcome"], "timed_out", "{report}");
    assert_eq!(processes_of(report["run_id"].as_str().expect("an id")), [0; 0]);
}

#[test]
fn test_commands_end_as_harnesses_do() {
    let yard = Yard::new();
    let daemon = "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo $$ >$TOLD/daemon; while :; do sleep 0.05; done' >/dev/null 2>&1 &)";
    let stopped = "trap 'echo bye >$TOLD/bye; exit 0' TERM; kill -STOP $$; sleep 600";
    for (test, is_late) in
        [(format!("{daemon}; exit 0"), false), (format!("{daemon}; while :; do sleep 1; done"), true)]
    {
        let (report, _) = yard.shell(&["--test", &test, "--test-timeout", "1"], "echo work >work.txt");
        assert_eq!((&report["tests"][0]["timed_out"], &report["problems"]), (&json!(is_late), &json!([])), "{report}");
        assert!(!is_alive(number_in(&yard.told().join("daemon"))), "the daemon goes on");
        assert_eq!(processes_of(report["run_id"].as_str().expect("an id")), [0; 0]);
    }
    let (report, _) = yard.shell(&["--test", stopped, "--test-timeout", "1"], "echo work >work.txt");
    assert_eq!(report["outcome"], "tests_failed", "{report}");
    assert!(yard.told().join("bye").exists(), "it heard");
    let both = "echo out; echo err >&2; echo out";
    let (report, _) = yard.shell(&["--test", both], "echo work >work.txt");
    let log = report["tests"][0]["log"]["path"].as_str().expect("a path");
    assert_eq!(std::fs::read_to_string(log).expect("a log"), "out\nerr\nout\n");
}

#[test]
fn several_runs_are_ended_at_once_and_what_is_named_twice_once() {
    let yard = Yard::new();
    let runs = [yard.detached(&[], STOPS), yard.detached(&[], STOPS), yard.detached(&[], WAITS)];
    for run in &runs[..2] {
        wait_until("it is stopped", || is_stopped(run.watcher()));
    }
    let begun = Instant::now();
    let stopped: Answer = yard.run(&["stop", &runs[0].id, &runs[1].id, &runs[2].id, &runs[0].id[..8], "--json"]);
    assert!(begun.elapsed() < Duration::from_secs(30), "it took {:?}", begun.elapsed());
    let stopped = stopped.json();
    let outcomes: Vec<_> = stopped["runs"].as_array().expect("rows").iter().map(|row| row["outcome"].clone()).collect();
    assert_eq!(outcomes, vec![json!("interrupted"); 3], "{stopped}");
}
