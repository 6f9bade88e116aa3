//! Targets and sources between which there is no move: refused, with nothing changed. And nothing shows a password.

use std::path::Path;

use super::{Scene, shown};
use crate::database::TestDatabase;
use crate::program::{Answer, Place, write_file};

/// What a move refuses without making the source read-only.
fn is_refused(scene: &Scene, to: &str) {
    for words in [vec![], vec!["--dry-run"]] {
        let answer = scene.run(&[&["--to", to], &words[..]].concat());
        assert_eq!((answer.code, answer.json()["error"]["code"].as_str()), (2, Some("not_allowed")), "{answer:?}");
    }
    scene.place.task("the source is in use");
}

/// The same, and the file is what it was.
fn file_is_refused(scene: &Scene, to: &Path) {
    let before = std::fs::read(to).expect("a file");
    is_refused(scene, to.to_str().expect("UTF-8"));
    assert_eq!(std::fs::read(to).expect("a file"), before, "{} was changed", to.display());
}

#[test]
fn a_target_that_holds_anything_else_is_refused_untouched() {
    let scene = Scene::new().with(2);
    let folder = scene.place.folder.path();
    write_file(folder, "text.txt", "no database");
    let foreign = rusqlite::Connection::open(folder.join("foreign.db")).expect("a database");
    foreign.execute_batch("create table note (text text); insert into note values ('mine')").expect("a table");
    drop(foreign);
    file_is_refused(&scene, &folder.join("text.txt"));
    file_is_refused(&scene, &folder.join("foreign.db"));
    let fresh = TestDatabase::of_file(folder.join("fresh.db"));
    assert_eq!(scene.at(&fresh, &["init"]).code, 0);
    file_is_refused(&scene, fresh.file());
    is_refused(&scene, scene.source().address());
    let other = Scene::new().with(1);
    is_refused(&scene, other.source().address());
    // The unfinished move of another instance is somebody's too.
    other.must_move();
    other.target.damage("update instance set state = 'arriving'");
    is_refused(&scene, other.target.address());
    let note = TestDatabase::empty(folder.join("note.db"));
    note.damage("create table note (text text)");
    is_refused(&scene, note.address());
    scene.must_move();
}

#[test]
fn a_file_without_a_byte_is_as_good_as_none() {
    let scene = Scene::in_files().with(1);
    write_file(scene.place.folder.path(), "moved.db", "");
    scene.must_move();
}

#[test]
fn a_source_that_is_none_is_refused() {
    let place = Place::new();
    let folder = place.folder.path();
    write_file(folder, "text.txt", "no database");
    for from in ["nowhere.db", "text.txt"] {
        let answer = place.bare(&["move", "--from", from, "--to", "moved.db"]);
        assert_eq!(answer.code, 2, "{answer:?}");
    }
    assert!(!folder.join("nowhere.db").exists() && !folder.join("moved.db").exists());
    assert_eq!(std::fs::read_to_string(folder.join("text.txt")).expect("there"), "no database");
    let both = place.bare(&["move", "--from", "a.db", "--to", "b.db", "--database", "c.db"]);
    assert_eq!(both.code, 2, "{both:?}");
}

fn tells_where_it_went(scene: &Scene, words: &[&str]) {
    let refused = scene.place.bare(words);
    assert!(refused.code == 7 && refused.err.contains("was moved to"), "{words:?} {refused:?}");
    assert!(refused.err.contains(&shown(&scene.target)), "{refused:?}");
}

#[test]
fn a_database_that_was_moved_away_stays_so() {
    let scene = Scene::new().with(2);
    scene.must_move();
    let elsewhere = scene.run(&["--to", "elsewhere.db"]);
    assert!(elsewhere.code == 2 && elsewhere.out.contains(&shown(&scene.target)), "{elsewhere:?}");
    assert!(!scene.place.folder.path().join("elsewhere.db").exists());
    let writing: [&[&str]; 5] = [
        &["task", "create", "--project", "ledger", "--title", "t"],
        &["project", "create", "other"],
        &["project", "purge", "ledger", "--confirm", "ledger"],
        &["token", "create", "x", "--all-projects"],
        &["start", "--no-serve", "--project", "ledger"],
    ];
    for words in writing {
        tells_where_it_went(&scene, words);
    }
    let doctor = scene.place.cli(&["doctor"]);
    assert!(doctor.code == 7 && doctor.out.contains("was moved to"), "{doctor:?}");
    assert_eq!(scene.place.bare(&["verify"]).code, 0);
}

#[test]
fn a_file_that_was_moved_away_takes_no_backup_and_makes_none_in_use() {
    let scene = Scene::in_files().with(2);
    assert_eq!(scene.place.bare(&["backup", "before.db"]).code, 0);
    scene.must_move();
    tells_where_it_went(&scene, &["restore", "before.db", "--same-instance"]);
    assert_eq!(scene.place.bare(&["backup", "after.db"]).code, 0);
    let same = TestDatabase::of_file(scene.place.folder.path().join("same.db"));
    assert_eq!(scene.at(&same, &["restore", "after.db", "--same-instance"]).code, 0);
    assert_eq!(scene.at(&same, &["task", "create", "--project", "ledger", "--title", "t"]).code, 7);
    // As another instance it lives where it is put.
    let anew = TestDatabase::of_file(scene.place.folder.path().join("anew.db"));
    assert_eq!(scene.at(&anew, &["restore", "after.db"]).code, 0);
    assert_eq!(scene.at(&anew, &["task", "create", "--project", "ledger", "--title", "t"]).code, 0);
}

const PASSWORD: &str = "correct-horse";

/// Shows neither that password nor the one of the server of the tests.
fn is_silent(scene: &Scene, answer: &Answer) {
    let address = scene.target.address();
    let real = address.split_once('@').and_then(|(before, _)| before.rsplit_once(':')).map(|(_, password)| password);
    for password in real.into_iter().chain([PASSWORD]) {
        assert!(!answer.out.contains(password) && !answer.err.contains(password), "{answer:?}");
    }
}

#[test]
fn no_password_is_shown() {
    let scene = Scene::new().with(1);
    let nobody = format!("postgres://someone:{PASSWORD}@127.0.0.1:1/none");
    let unread = format!("postgres://someone:{PASSWORD}@127.0.0.1:port/none");
    for to in [&nobody, &unread] {
        for words in [vec!["--to", to], vec!["--to", to, "--dry-run"]] {
            let answer = scene.run(&words);
            assert!([2, 7].contains(&answer.code), "{answer:?}");
            is_silent(&scene, &answer);
        }
    }
    for words in [vec!["move", &nobody], vec!["move", "--form", &nobody], vec!["move", "--from", &nobody, &unread]] {
        let answer = scene.place.bare(&words);
        assert_eq!(answer.code, 2, "{answer:?}");
        is_silent(&scene, &answer);
    }
    let to = scene.target.address();
    let moved = scene.run(&["--to", to]);
    assert_eq!(moved.code, 0, "{moved:?}");
    is_silent(&scene, &moved);
    let again = scene.run(&["--to", to]);
    assert_eq!(again.json()["finished_before"], true, "{again:?}");
    is_silent(&scene, &again);
    is_silent(&scene, &scene.place.bare(&["task", "create", "--project", "ledger", "--title", "t"]));
    is_silent(&scene, &scene.run(&["--abandon", "--to", to]));
    let back = TestDatabase::of_file(scene.place.folder.path().join("back.db"));
    let back = scene.place.bare(&["move", "--from", to, "--to", back.address()]);
    assert_eq!(back.code, 0, "{back:?}");
    is_silent(&scene, &back);
}
