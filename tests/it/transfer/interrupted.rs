//! A move that is killed, abandoned or disturbed: it can be run again at any moment, or given up before it is finished.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use super::{TARGET, at, move_to_target, moved, must_move, place_with, rows, server_at, state, tamper, target};
use crate::program::Place;

/// How many lines of progress a move of a small database tells: copied, read back from both.
const LINES: usize = 5 + 2 * 6;

/// Runs a move and kills it as soon as it has told so many lines of progress; false if it ended before.
fn kill_after(place: &Place, lines: usize) -> bool {
    let mut command = place.command();
    command.args(["move", "--to", TARGET, "--from"]).arg(place.database());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let told = BufReader::new(child.stderr.take().expect("a pipe")).lines().take(lines).count();
    let _ = child.kill();
    let ended = child.wait().expect("it ends");
    told == lines && !ended.success()
}

/// At no moment are both in use; the target is refused until it is.
fn only_one_is_in_use(place: &Place) {
    let writes = |database: &Path| {
        at(place, database, &["task", "create", "--project", "ledger", "--title", "t", "--summary", "s", "--json"])
    };
    let is_there = target(place).exists();
    let states = (state(&place.database()), if is_there { state(&target(place)) } else { "empty".to_owned() });
    if states.0 == "leaving" && states.1 != "here" {
        let refused = writes(&place.database());
        assert_eq!(refused.json()["error"]["code"], "unavailable", "{refused:?}");
        assert_eq!(at(place, &place.database(), &["task", "list", "--project", "ledger"]).code, 0, "reads go on");
        if is_there {
            for words in [vec!["task", "list", "--project", "ledger"], vec!["start", "--no-serve"], vec!["init"]] {
                let refused = at(place, &target(place), &words);
                assert!(states.1 == "empty" || refused.code == 7, "{states:?} {words:?}: {refused:?}");
            }
        }
    }
    assert!(states.0 != "here" || states.1 != "here", "{states:?}");
}

#[test]
fn a_killed_move_is_finished_by_the_next_run() {
    let mut killed = 0;
    for lines in 0..=LINES {
        let place = place_with(40);
        killed += usize::from(kill_after(&place, lines));
        // An empty target takes any owner; the one of this move is asked first.
        if !target(&place).exists() || state(&target(&place)) != "empty" {
            only_one_is_in_use(&place);
        }
        let told = must_move(&place);
        assert!(told["rows"].as_u64() > Some(200), "{told}");
        assert_eq!(at(&place, &target(&place), &["verify"]).code, 0);
        assert_eq!(rows(&target(&place), "select count(*) from task")[0][0], "40");
    }
    assert!(killed >= LINES * 3 / 4, "{killed} of {LINES} were killed before their end");
}

#[test]
fn one_move_survives_being_killed_again_and_again() {
    let place = place_with(60);
    for lines in [1, 2, 3, 1, 4, 5, 9, 16, 2] {
        kill_after(&place, lines);
    }
    must_move(&place);
    assert_eq!(at(&place, &target(&place), &["verify"]).code, 0);
}

/// Between the last two steps the instance lives in the target and the source does not know it yet.
#[test]
fn the_last_step_is_made_up_for() {
    let place = place_with(3);
    must_move(&place);
    tamper(&place.database(), "update instance set state = 'leaving'");
    let refused = moved(&place, &["--abandon"]);
    assert!(refused.code == 2 && refused.out.contains("the move is finished"), "{refused:?}");
    server_at(&place, &target(&place)).call("task_create", json!({"title": "t", "summary": "s"})).expect("in use");
    let told = move_to_target(&place).json();
    assert_eq!((&told["finished_before"], &told["equal"]), (&json!(true), &json!(false)), "{told}");
    assert_eq!(state(&place.database()), "moved");
    assert_eq!(rows(&target(&place), "select count(*) from task")[0][0], "4", "what came later is kept");
}

#[test]
fn an_abandoned_move_leaves_the_source_in_use_and_the_target_empty() {
    let place = place_with(20);
    assert!(kill_after(&place, 4));
    let refused = at(&place, &place.database(), &["task", "create", "--project", "ledger", "--title", "t"]);
    assert_eq!(refused.code, 7, "{refused:?}");
    let elsewhere = moved(&place, &["--abandon", "--to", "elsewhere.db"]);
    assert_eq!(elsewhere.code, 2, "{elsewhere:?}");
    let told = moved(&place, &["--abandon"]);
    assert_eq!((told.code, &told.json()["abandoned"]), (0, &json!(true)), "{told:?}");
    assert_eq!(state(&target(&place)), "empty");
    place.task("written here again");
    assert_eq!(moved(&place, &["--abandon"]).code, 2, "nothing is left to abandon");
    must_move(&place);
    assert_eq!(rows(&target(&place), "select count(*) from task")[0][0], "21");
    assert_eq!(at(&place, &target(&place), &["verify"]).code, 0);
}

/// The target's disk is lost, the move given up; then the half of it turns up again.
#[test]
fn a_target_that_was_given_up_unseen_is_emptied_by_the_next_move() {
    let place = place_with(20);
    assert!(kill_after(&place, 4));
    let away = place.folder.path().join("away.db");
    std::fs::rename(target(&place), &away).expect("moved away");
    for ending in ["-wal", "-shm"] {
        let beside = place.folder.path().join(format!("{TARGET}{ending}"));
        if beside.exists() {
            std::fs::rename(beside, place.folder.path().join(format!("away.db{ending}"))).expect("moved away");
        }
    }
    let refused = moved(&place, &["--abandon"]);
    assert!(refused.code == 2 && refused.out.contains("--target-is-gone"), "{refused:?}");
    assert_eq!(moved(&place, &["--abandon", "--target-is-gone"]).code, 0);
    place.task("written here again");
    let told = moved(&place, &["--to", "away.db", "--dry-run"]).json();
    assert!(told["state"].as_str().expect("a state").contains("abandoned"), "{told}");
    assert_eq!(moved(&place, &["--to", "away.db"]).json()["equal"], true);
    assert_eq!(at(&place, &away, &["verify"]).code, 0);
}

/// Of two runs at once one finishes the move, whatever the other does.
#[test]
fn two_moves_at_once_do_no_harm() {
    let place = place_with(60);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..2).map(|_| scope.spawn(|| move_to_target(&place))).collect();
        runs.into_iter().map(|run| run.join().expect("no panic")).collect()
    });
    for answer in &answers {
        let is_refused = answer.json()["error"]["code"] == "unavailable";
        assert!(answer.code == 0 || (is_refused && answer.code == 7), "{answer:?}");
    }
    must_move(&place);
    assert_eq!(at(&place, &target(&place), &["verify"]).code, 0);
}

#[test]
fn a_copy_that_differs_is_never_in_use() {
    let place = place_with(20);
    assert!(kill_after(&place, 4));
    tamper(&target(&place), "update task set title = 'torn' where task_key = 7");
    let refused = move_to_target(&place);
    assert_eq!(refused.json()["error"]["code"], "damaged", "{refused:?}");
    assert!(refused.out.contains("differs from the source in task"), "{refused:?}");
    assert_eq!(at(&place, &target(&place), &["task", "list", "--project", "ledger"]).code, 7);
    assert_eq!(moved(&place, &["--abandon"]).code, 0);
    must_move(&place);
}
