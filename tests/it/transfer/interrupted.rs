//! A move that is killed, abandoned or disturbed: it can be run again at any moment, or given up before it is finished.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::json;

use super::{Scene, number, state};
use crate::database::TestDatabase;

/// How many lines of progress a move of a small database tells: copied, read back from both.
const LINES: usize = 5 + 2 * 6;

/// How many moves may be over before they are killed.
const KILLS: usize = 25;

/// Runs a move and kills it as soon as it has told so many lines of progress; false if it ended before.
fn kill_after(scene: &Scene, lines: usize) -> bool {
    let mut command = scene.place.command();
    command.args(["move", "--to", scene.target.address(), "--from", scene.source().address()]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let told = BufReader::new(child.stderr.take().expect("a pipe")).lines().take(lines).count();
    let _ = child.kill();
    let ended = child.wait().expect("it ends");
    told == lines && !ended.success()
}

/// A scene whose move was killed after so many lines. A small move is over in no time, so that the kill may come too late:
/// then there is another scene.
fn killed_after(lines: usize, new: impl Fn() -> Scene) -> Scene {
    let mut scenes = (0..KILLS).map(|_| new());
    scenes.find(|scene| kill_after(scene, lines)).expect("one of many moves is killed before its end")
}

/// At no moment are both in use; the target is refused until it is.
fn only_one_is_in_use(scene: &Scene) {
    let states = (state(scene.source()), state(&scene.target));
    assert!(states.0 != "here" || states.1 != "here", "{states:?}");
    if states.0 == "leaving" && states.1 != "here" {
        let words = ["task", "create", "--project", "ledger", "--title", "t", "--summary", "s", "--json"];
        let refused = scene.at(scene.source(), &words);
        assert_eq!(refused.json()["error"]["code"], "unavailable", "{refused:?}");
        assert_eq!(scene.at(scene.source(), &["task", "list", "--project", "ledger"]).code, 0, "reads go on");
    }
    if states.1 == "arriving" {
        for words in [vec!["task", "list", "--project", "ledger"], vec!["start", "--no-serve"], vec!["init"]] {
            let refused = scene.at(&scene.target, &words);
            assert!(refused.code == 7 && refused.err.contains("is not finished"), "{words:?}: {refused:?}");
        }
    }
}

/// The earlier kills are sure to come in time; the later ones come in time or not, and must do no harm either way.
#[test]
fn a_killed_move_is_finished_by_the_next_run() {
    let new = || Scene::new().with(20);
    for lines in (0..=LINES).step_by(3) {
        let scene = if lines < LINES / 2 {
            killed_after(lines, new)
        } else {
            let scene = new();
            kill_after(&scene, lines);
            scene
        };
        only_one_is_in_use(&scene);
        let told = scene.must_move();
        assert!(told["rows"].as_u64() > Some(100), "{told}");
        scene.target_is_sound();
        assert_eq!(number(&scene.target, "select count(*) from task"), 20);
    }
}

#[test]
fn one_move_survives_being_killed_again_and_again() {
    let scene = Scene::new().with(40);
    for lines in [1, 2, 3, 1, 4, 5, 9, 16, 2] {
        kill_after(&scene, lines);
    }
    scene.must_move();
    scene.target_is_sound();
}

/// Between the last two steps the instance lives in the target and the source does not know it yet.
#[test]
fn the_last_step_is_made_up_for() {
    let scene = Scene::new().with(3);
    scene.must_move();
    scene.source().damage("update instance set state = 'leaving'");
    let refused = scene.run(&["--abandon", "--to", scene.target.address()]);
    assert!(refused.code == 2 && refused.out.contains("the move is finished"), "{refused:?}");
    scene.server_at(&scene.target).call("task_create", json!({"title": "t", "summary": "s"})).expect("in use");
    let told = scene.run_to_target().json();
    assert_eq!((&told["finished_before"], &told["equal"]), (&json!(true), &json!(false)), "{told}");
    assert_eq!(state(scene.source()), "moved");
    assert_eq!(number(&scene.target, "select count(*) from task"), 4, "what came later is kept");
}

#[test]
fn an_abandoned_move_leaves_the_source_in_use_and_the_target_empty() {
    let scene = killed_after(4, || Scene::new().with(20));
    let refused = scene.at(scene.source(), &["task", "create", "--project", "ledger", "--title", "t"]);
    assert_eq!(refused.code, 7, "{refused:?}");
    let elsewhere = scene.run(&["--abandon", "--to", "elsewhere.db"]);
    assert_eq!(elsewhere.code, 2, "{elsewhere:?}");
    if scene.target.is_on_a_server() {
        let unnamed = scene.run(&["--abandon"]);
        assert!(unnamed.code == 7 && unnamed.out.contains("with --to"), "its password is not kept: {unnamed:?}");
    }
    let told = scene.run(&["--abandon", "--to", scene.target.address()]);
    assert_eq!((told.code, &told.json()["abandoned"]), (0, &json!(true)), "{told:?}");
    assert_eq!(state(&scene.target), "empty");
    scene.place.task("written here again");
    assert_eq!(scene.run(&["--abandon"]).code, 2, "nothing is left to abandon");
    scene.must_move();
    assert_eq!(number(&scene.target, "select count(*) from task"), 21);
    scene.target_is_sound();
}

/// The target's disk is lost, the move given up; then the half of it turns up again.
#[test]
fn a_target_that_was_given_up_unseen_is_emptied_by_the_next_move() {
    let scene = killed_after(4, || Scene::in_files().with(20));
    let folder = scene.place.folder.path();
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::rename(folder.join(format!("moved.db{ending}")), folder.join(format!("away.db{ending}")));
    }
    let away = TestDatabase::of_file(folder.join("away.db"));
    let refused = scene.run(&["--abandon"]);
    assert!(refused.code == 2 && refused.out.contains("--target-is-gone"), "{refused:?}");
    assert_eq!(scene.run(&["--abandon", "--target-is-gone"]).code, 0);
    scene.place.task("written here again");
    let told = scene.run(&["--to", away.address(), "--dry-run"]).json();
    assert!(told["state"].as_str().expect("a state").contains("abandoned"), "{told}");
    assert_eq!(scene.run(&["--to", away.address()]).json()["equal"], true);
    assert_eq!(scene.at(&away, &["verify"]).code, 0);
}

/// Of two runs at once one finishes the move, whatever the other does.
#[test]
fn two_moves_at_once_do_no_harm() {
    let scene = Scene::new().with(40);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..2).map(|_| scope.spawn(|| scene.run_to_target())).collect();
        runs.into_iter().map(|run| run.join().expect("no panic")).collect()
    });
    for answer in &answers {
        assert!(answer.code == 0 || answer.json()["error"]["code"] == "unavailable", "{answer:?}");
    }
    scene.must_move();
    scene.target_is_sound();
}

#[test]
fn a_copy_that_differs_is_never_in_use() {
    let scene = killed_after(4, || Scene::new().with(20));
    scene.target.damage("update task set title = 'torn' where task_key = 7");
    let refused = scene.run_to_target();
    assert_eq!(refused.json()["error"]["code"], "damaged", "{refused:?}");
    assert!(refused.out.contains("differs from the source in task"), "{refused:?}");
    assert_eq!(scene.at(&scene.target, &["task", "list", "--project", "ledger"]).code, 7);
    assert_eq!(scene.run(&["--abandon", "--to", scene.target.address()]).code, 0);
    scene.must_move();
}

/// A file needs no password: where the move goes is known.
#[test]
fn a_move_into_a_file_is_abandoned_without_naming_it() {
    let scene = Scene::in_files().with(10);
    assert!(kill_after(&scene, 4));
    let told = scene.run(&["--abandon"]);
    assert_eq!((told.code, &told.json()["was_bound_for"]), (0, &json!(super::shown(&scene.target))), "{told:?}");
    scene.place.task("written here again");
    assert_eq!(state(&scene.target), "empty");
}
