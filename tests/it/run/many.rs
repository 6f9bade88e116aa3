//! Several runs at once, each in its worktree.

use super::{Yard, processes_of, wait_until};

#[test]
fn ten_runs_at_once_are_all_reported() {
    let yard = Yard::new();
    // Each waits until all of them are there.
    let lines = "mkdir $TOLD/$HEYAIRA_RUN; until test \"$(ls $TOLD | wc -l)\" -ge 10; do sleep 0.05; done; \
                 echo $HEYAIRA_RUN >work.txt; git add work.txt; git commit --quiet -m Work";
    let flags = ["--max", "10", "--test", "grep -q $HEYAIRA_RUN work.txt"];
    let runs: Vec<_> = (0..10).map(|_| yard.detached(&flags, lines)).collect();
    for run in &runs {
        let report = run.ended();
        assert_eq!(report["outcome"], "succeeded", "{report}");
        assert_eq!(report["work"]["commits_total"], 1);
        assert_eq!(processes_of(&run.id), [0; 0]);
    }
    wait_until("all in the database", || {
        let listed = yard.run(&["list", "--limit", "20", "--json"]).json();
        listed["runs"].as_array().is_some_and(|runs| runs.len() == 10)
    });
}

#[test]
fn no_more_work_at_once_than_may_and_a_killed_one_frees_its_place() {
    let yard = Yard::new();
    let seen = yard.told().join("seen");
    let lines =
        "mkdir $TOLD/d-$HEYAIRA_RUN; ls -d $TOLD/d-* | wc -l >>$TOLD/seen; sleep 0.3; rmdir $TOLD/d-$HEYAIRA_RUN";
    let blocking = yard.detached(&["--max", "2"], "sleep 600");
    wait_until("the first", || blocking.progress()["phase"] == "working");
    let runs: Vec<_> = (0..4).map(|_| yard.detached(&["--max", "2"], lines)).collect();
    for run in &runs {
        assert_eq!(run.ended()["outcome"], "no_work");
    }
    let counts = |path: &std::path::Path| std::fs::read_to_string(path).expect("counts");
    assert_eq!(
        counts(&seen).lines().map(str::trim).collect::<Vec<_>>(),
        ["1"; 4],
        "beside the first there is one place"
    );
    let one = yard.detached(&["--max", "2"], "sleep 600");
    let waiting = yard.detached(&["--max", "2"], "true");
    wait_until("the second", || one.progress()["phase"] == "working" || waiting.report().is_some());
    super::signal(blocking.watcher(), rustix::process::Signal::KILL);
    assert_eq!(waiting.ended()["outcome"], "no_work");
    let stopped = yard.run(&["stop", &one.id, &blocking.id, "--json"]);
    assert_eq!(stopped.code, 0, "{stopped:?}");
    assert_eq!(processes_of(&blocking.id), [0; 0]);
}

#[test]
fn a_run_that_waits_can_be_stopped() {
    let yard = Yard::new();
    let first = yard.detached(&["--max", "1"], "sleep 600");
    wait_until("the first", || first.progress()["phase"] == "working");
    let second = yard.detached(&["--max", "1"], "echo work >work.txt");
    wait_until("the second", || second.progress()["phase"] == "waiting");
    let stopped = yard.run(&["stop", &second.id, &first.id, "--json"]);
    assert_eq!(stopped.json()["runs"][0]["outcome"], "interrupted", "{stopped:?}");
    assert!(!second.worktree.join("work.txt").exists());
}

#[test]
fn who_waits_for_longer_works_first() {
    let yard = Yard::new();
    let first = yard.detached(&["--max", "1"], "until test -e $TOLD/go; do sleep 0.02; done");
    wait_until("the first", || first.progress()["phase"] == "working");
    let waiting = |name: &str| {
        let run = yard.detached(&["--max", "1"], &format!("echo {name} >>$TOLD/order"));
        wait_until(name, || run.progress()["phase"] == "waiting");
        run
    };
    let asked =
        |run: &super::Detached| super::json_of(&run.folder.join("run.json")).expect("a plan")["asked"].to_string();
    let mut runs = vec![waiting("one")];
    for name in ["two", "three"] {
        let before = asked(runs.last().expect("a run"));
        // Moments are told in whole seconds.
        let now = || format!("\"{}\"", heyaira::surface::cli::now().rfc3339());
        wait_until("the next second", || now() != before);
        runs.push(waiting(name));
    }
    std::fs::write(yard.told().join("go"), "").expect("a file");
    for run in &runs {
        run.ended();
    }
    assert_eq!(std::fs::read_to_string(yard.told().join("order")).expect("names"), "one\ntwo\nthree\n");
}
