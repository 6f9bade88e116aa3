//! What a harness does to its run's folder: nobody hangs, nothing else is written, and nothing is lost.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Detached, Yard, is_alive, processes_of, signal, wait_until};
use crate::program::Answer;

/// The run's folder in a line of shell.
const FOLDER: &str = "cd \"$(dirname \"$HEYAIRA_RUN_BRIEF\")\"";
/// What can be in the place of a file.
const SORTS: [&str; 5] =
    ["mkfifo $f", "mkdir -p $f/x", "ln -s $TOLD/victim $f", "ln $TOLD/victim $f", "head -c 70000000 /dev/zero >$f"];

/// A harness that, unless its watcher is faster, spoils those files of its run, says so, and waits.
fn spoiled(yard: &Yard, names: &str, how: &str, then: &str) -> Detached {
    for name in ["go", "spoiled"] {
        let _ = std::fs::remove_file(yard.told().join(name));
    }
    std::fs::write(yard.told().join("victim"), "mine\n").expect("a file");
    let lines = format!(
        "echo work >work.txt; echo said; home=$PWD; {FOLDER}; for f in {names}; do rm -rf $f; {how} 2>/dev/null; done; cd $home; \
         touch $TOLD/spoiled; {then} until test -e $TOLD/go; do sleep 0.02; done"
    );
    let run = yard.detached(&["--test", "echo tested"], &lines);
    wait_until("it is spoiled", || yard.told().join("spoiled").exists());
    run
}

fn go(yard: &Yard) {
    std::fs::write(yard.told().join("go"), "").expect("a file");
}

fn victim(yard: &Yard) -> String {
    std::fs::read_to_string(yard.told().join("victim")).expect("the victim")
}

/// The report, once nobody has the run in hand: before, the file may be the harness's.
fn over(yard: &Yard, run: &Detached) -> Value {
    wait_until("it is over", || yard.in_time(&["list", "--json"]).json()["working"].is_null());
    run.report().expect("a report")
}

#[test]
fn whatever_is_in_the_place_of_a_file_nobody_waits_for_it_or_writes_through_it() {
    let yard = Yard::new();
    let names = "progress.json progress.json.part run.json run.json.part run-report.json run-report.json.part output.log \
                 test-1.log owner.lock place.lock starting.lock ../places.lock";
    for how in SORTS {
        let run = spoiled(&yard, names, how, "");
        wait_until("it is found again", || {
            let listed = yard.in_time(&["list", "--json"]).json();
            listed["working"][0]["run"] == run.id[..8]
        });
        assert!(run.folder.join("owner.lock").exists());
        go(&yard);
        let report = over(&yard, &run);
        assert_eq!(report["outcome"], "succeeded", "{how}: {report}");
        assert_eq!(victim(&yard), "mine\n", "{how}");
        let kept = |name: &str| {
            assert!(run.folder.join(name).symlink_metadata().is_ok_and(|found| found.is_file()), "{how}: {name}");
            std::fs::read_to_string(run.folder.join(name)).expect("a log")
        };
        assert_eq!((kept("output.log").as_str(), kept("test-1.log").as_str()), ("said\n", "tested\n"), "{how}");
        assert_eq!(yard.in_time(&["clean", "--force", &run.id]).code, 0);
        assert_eq!(victim(&yard), "mine\n", "{how}");
    }
}

#[test]
fn the_same_where_its_watcher_is_killed() {
    let yard = Yard::new();
    let names = "progress.json run-report.json output.log owner.lock place.lock starting.lock ../places.lock";
    for how in SORTS {
        let run = spoiled(&yard, names, how, "kill -9 $PPID;");
        wait_until("it is reported", || yard.in_time(&["list", "--json"]).json()["working"].is_null());
        let report = run.report().expect("a report");
        assert_eq!(report["outcome"], "interrupted", "{how}: {report}");
        assert_eq!(processes_of(&run.id), [0; 0], "{how}");
        assert_eq!(victim(&yard), "mine\n", "{how}");
        assert_eq!(yard.in_time(&["clean", "--force", &run.id]).code, 0);
    }
}

#[test]
fn a_folder_that_is_moved_away_is_made_again_and_not_written_where_it_went() {
    let yard = Yard::new();
    let lines = format!(
        "{FOLDER}; run=$PWD; cd ..; mv $run $TOLD/away; ln -s $TOLD/away $run; touch $TOLD/spoiled; \
         until test -e $TOLD/go; do sleep 0.02; done"
    );
    let run = yard.detached(&[], &lines);
    wait_until("it is spoiled", || yard.told().join("spoiled").exists());
    wait_until("it is made again", || run.folder.symlink_metadata().is_ok_and(|found| found.is_dir()));
    assert_eq!(yard.in_time(&["list", "--json"]).json()["working"][0]["run"], run.id[..8]);
    go(&yard);
    let report = over(&yard, &run);
    assert!(report["problems"].to_string().contains("The worktree is gone"), "{report}");
    assert!(!yard.told().join("away").join("run-report.json").exists());
}

#[test]
fn a_folder_without_rights_is_given_them_back() {
    let yard = Yard::new();
    let lines = format!(
        "echo work >work.txt; {FOLDER}; chmod 000 *.lock *.json output.log .; touch $TOLD/spoiled; until test -e $TOLD/go; do sleep 0.02; done"
    );
    let run = yard.detached(&[], &lines);
    wait_until("it is spoiled", || yard.told().join("spoiled").exists());
    go(&yard);
    assert_eq!(over(&yard, &run)["outcome"], "succeeded");
}

#[test]
fn a_run_stays_in_hand_though_its_locks_are_taken_away() {
    let yard = Yard::new();
    let run = spoiled(&yard, "owner.lock place.lock starting.lock progress.json run.json", "true", "");
    let watcher = run.watcher();
    for _ in 0..5 {
        yard.in_time(&["list", "--json"]);
        assert!(run.report().is_none() && is_alive(watcher), "somebody else reported on it");
    }
    wait_until("it is held again", || {
        run.folder.join("owner.lock").exists()
            && run.folder.join("place.lock").exists()
            && run.folder.join("run.json").exists()
    });
    go(&yard);
    assert_eq!(over(&yard, &run)["outcome"], "succeeded");
}

#[test]
fn locks_that_a_harness_holds_keep_nobody_waiting() {
    let yard = Yard::new();
    let hold = "for f in owner.lock starting.lock; do (flock -x $f sleep 600 >/dev/null 2>&1 &); done; \
                (flock -x ../places.lock sh -c 'echo >$TOLD/places; sleep 600' >/dev/null 2>&1 &); \
                until test -e $TOLD/places; do sleep 0.02; done";
    let run = yard.detached(&[], &format!("{FOLDER}; {hold}; touch $TOLD/spoiled; while :; do sleep 1; done"));
    wait_until("they are held", || yard.told().join("spoiled").exists());
    let waiting = yard.detached(&[], "true");
    assert_eq!(waiting.progress()["phase"], "waiting");
    assert_eq!(yard.in_time(&["stop", &waiting.id, "--json"]).json()["runs"][0]["outcome"], "interrupted");
    let watcher = run.watcher();
    signal(watcher, Signal::KILL);
    wait_until("the end of the watcher", || !is_alive(watcher));
    let stopped = yard.in_time(&["stop", &run.id, "--json"]);
    assert_eq!((stopped.code, &stopped.json()["runs"][0]["outcome"]), (0, &json!("interrupted")), "{stopped:?}");
    assert_eq!(processes_of(&run.id), [0; 0]);
}

#[test]
fn a_report_that_a_harness_wrote_is_none() {
    let yard = Yard::new();
    let (other, _) = yard.shell(&[], "true");
    let forged = other.to_string().replace("no_work", "succeeded");
    std::fs::write(yard.told().join("forged"), &forged).expect("a file");
    let forge =
        "sed \"s/$OTHER/$HEYAIRA_RUN/g\" $TOLD/forged >$f".replace("$OTHER", other["run_id"].as_str().expect("an id"));
    let run = spoiled(&yard, "run-report.json", &forge, "");
    let listed = yard.in_time(&["list", "--json"]).json();
    assert_eq!(listed["working"][0]["run"], run.id[..8], "{listed}");
    let stopped = yard.in_time(&["stop", &run.id, "--json"]);
    assert_eq!(stopped.json()["runs"][0]["outcome"], "interrupted", "{stopped:?}");
    let shown = yard.in_time(&["show", &run.id[..8], "--json"]);
    assert_eq!(shown.json()["outcome"], "interrupted", "{shown:?}");
}

#[test]
fn a_harness_gets_no_file_of_its_watcher() {
    let yard = Yard::new();
    let (report, _) = yard.shell(&[], "for f in /proc/$$/fd/*; do readlink $f; done");
    let log = std::fs::read_to_string(report["log"]["path"].as_str().expect("a path")).expect("a log");
    assert!(log.contains("/dev/null") && log.contains("pipe:"), "{log}");
    assert!(!log.contains(yard.place.folder.path().to_str().expect("UTF-8")), "{log}");
}

fn modes(folder: &Path) -> Vec<(String, u32)> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mode = |entry: &std::fs::DirEntry| entry.metadata().expect("it is there").permissions().mode() & 0o777;
    let named = |entry: std::fs::DirEntry| (entry.file_name().to_string_lossy().into_owned(), mode(&entry));
    entries.map(named).filter(|(name, _)| !name.starts_with("heyaira-")).collect()
}

#[test]
fn only_its_user_reads_what_a_run_keeps_and_no_secret_is_in_its_report() {
    let yard = Yard::new();
    let secret = format!("sk-{}{}", "sp-Zq9", "dK3mX7wLp2Rt8Vn4Bc.Yh6Jf1Gs5Ta0Ue");
    let lines = "umask 0; exec \"$0\" run start --json --test \"echo $SECRET\" -- sh -c 'echo $SECRET; echo $SECRET >$SECRET; \
                 git commit --quiet --allow-empty -m \"Use $SECRET\"' \"$SECRET\"";
    let mut command = std::process::Command::new("sh");
    yard.dress(&mut command);
    command.args(["-c", lines, crate::program::HEYAIRA]).env("SECRET", &secret);
    let answer: Answer = command.output().expect("it runs").into();
    assert!(!answer.out.contains(&secret), "{answer:?}");
    let report = answer.json();
    assert_eq!(report["outcome"], "succeeded", "{report}");
    let folder = yard.state().join("runs").join(report["run_id"].as_str().expect("an id"));
    let kept = std::fs::read_to_string(folder.join("run-report.json")).expect("a report");
    assert!(!kept.contains(&secret), "{kept}");
    let kept: Value = serde_json::from_str(&kept).expect("a report");
    for text in [&kept["work"]["commits"][0]["subject"], &kept["work"]["uncommitted"][0], &kept["tests"][0]["command"]]
    {
        assert!(text.as_str().is_some_and(|text| text.contains("[REDACTED")), "{kept}");
    }
    let shown = yard.run(&["show", report["run_id"].as_str().expect("an id"), "--json"]).json();
    assert_eq!(shown["report"], kept, "the database has the same");
    // A log is what was printed.
    assert_eq!(std::fs::read_to_string(folder.join("output.log")).expect("a log"), format!("{secret}\n"));
    assert_eq!(folder.metadata().expect("a folder").permissions().mode() & 0o777, 0o700);
    let open: Vec<_> = modes(&folder).into_iter().filter(|(_, mode)| *mode != 0o600).collect();
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_report_that_a_harness_wrote_is_none_though_its_watcher_is_killed() {
    let yard = Yard::new();
    let (other, _) = yard.shell(&["--test", "true"], "echo x >work.txt");
    std::fs::write(yard.told().join("forged"), other.to_string()).expect("a file");
    let other = other["run_id"].as_str().expect("an id");
    let lines = format!(
        "cd \"$(dirname \"$HEYAIRA_RUN_BRIEF\")\"; sed \"s/{other}/$HEYAIRA_RUN/g\" \"$TOLD/forged\" >run-report.json; \
         kill -9 $PPID; sleep 1"
    );
    let (report, _) = yard.shell(&["--test", "false"], &lines);
    assert_eq!(report["outcome"], "interrupted", "{report}");
}
