//! Targets and sources between which there is no move: refused, with nothing changed.

use std::path::Path;

use super::{TARGET, at, moved, must_move, place_with, target};
use crate::program::{Place, write_file};

/// What a move refuses, without touching the file or making the source read-only.
fn is_refused(place: &Place, to: &Path) {
    let (before, name) = (std::fs::read(to).ok(), to.display());
    for words in [vec![], vec!["--dry-run"]] {
        let answer = moved(place, &[&["--to", to.to_str().expect("a path")], &words[..]].concat());
        assert_eq!(
            (answer.code, answer.json()["error"]["code"].as_str()),
            (2, Some("not_allowed")),
            "{name} {answer:?}"
        );
    }
    assert_eq!(std::fs::read(to).ok(), before, "{name} was changed");
    place.task("the source is in use");
}

#[test]
fn a_target_that_holds_anything_else_is_refused_untouched() {
    let place = place_with(2);
    let folder = place.folder.path();
    write_file(folder, "text.txt", "no database");
    let foreign = rusqlite::Connection::open(folder.join("foreign.db")).expect("a database");
    foreign.execute_batch("create table note (text text); insert into note values ('mine')").expect("a table");
    drop(foreign);
    let other = Place::new();
    let unfinished = place_with(10);
    assert_eq!(at(&place, &folder.join("fresh.db"), &["init"]).code, 0);
    is_refused(&place, &folder.join("text.txt"));
    is_refused(&place, &folder.join("foreign.db"));
    is_refused(&place, &folder.join("fresh.db"));
    is_refused(&place, &other.database());
    is_refused(&place, &place.database());
    // The unfinished move of another instance is somebody's too.
    assert_eq!(moved(&unfinished, &["--to", TARGET]).code, 0);
    super::tamper(&target(&unfinished), "update instance set state = 'arriving'");
    is_refused(&place, &target(&unfinished));
    // A file without a byte is as good as none.
    write_file(folder, TARGET, "");
    must_move(&place);
}

#[test]
fn a_source_that_is_none_is_refused() {
    let place = Place::new();
    let folder = place.folder.path();
    write_file(folder, "text.txt", "no database");
    for from in ["nowhere.db", "text.txt"] {
        let answer = place.bare(&["move", "--from", from, "--to", TARGET]);
        assert_eq!(answer.code, 2, "{answer:?}");
    }
    assert!(!folder.join("nowhere.db").exists() && !target(&place).exists());
    assert_eq!(std::fs::read_to_string(folder.join("text.txt")).expect("there"), "no database");
    let both = place.bare(&["move", "--from", "a.db", "--to", "b.db", "--database", "c.db"]);
    assert_eq!(both.code, 2, "{both:?}");
}

#[test]
fn a_database_that_was_moved_away_stays_so() {
    let place = place_with(2);
    assert_eq!(place.bare(&["backup", "before.db"]).code, 0);
    must_move(&place);
    let elsewhere = moved(&place, &["--to", "elsewhere.db"]);
    assert!(elsewhere.code == 2 && elsewhere.out.contains(TARGET), "{elsewhere:?}");
    assert!(!place.folder.path().join("elsewhere.db").exists());
    let writing: [&[&str]; 6] = [
        &["task", "create", "--project", "ledger", "--title", "t"],
        &["project", "create", "other"],
        &["project", "purge", "ledger", "--confirm", "ledger"],
        &["token", "create", "x", "--all-projects"],
        &["start", "--no-serve", "--project", "ledger"],
        &["restore", "before.db", "--same-instance"],
    ];
    for words in writing {
        let refused = place.bare(words);
        assert!(refused.code == 7 && refused.err.contains("was moved to"), "{words:?} {refused:?}");
        assert!(refused.err.contains(TARGET), "{refused:?}");
    }
    let doctor = place.cli(&["doctor"]);
    assert!(doctor.code == 7 && doctor.out.contains("was moved to"), "{doctor:?}");
    assert_eq!(place.bare(&["verify"]).code, 0);
    // A copy of what is left can become another instance, which lives where it is put.
    assert_eq!(place.bare(&["backup", "after.db"]).code, 0);
    let anew = place.folder.path().join("anew.db");
    assert_eq!(at(&place, &anew, &["restore", "after.db"]).code, 0);
    assert_eq!(at(&place, &anew, &["task", "create", "--project", "ledger", "--title", "t"]).code, 0);
}
