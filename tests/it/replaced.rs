//! A database that is deleted or replaced under a running server: nothing is acknowledged that nobody will ever read.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::http::served::Served;
use crate::program::{Place, Server, with_profile};

/// The file of that ending beside the database.
fn beside(place: &Place, ending: &str) -> PathBuf {
    place.database.file().with_file_name(format!("heyaira.db{ending}"))
}

/// What the refusals name: the log that belongs to another database is put away.
fn move_log_away(place: &Place) {
    for ending in ["-wal", "-shm"] {
        let from = beside(place, ending);
        if from.exists() {
            std::fs::rename(&from, place.folder.path().join(format!("away{ending}"))).expect("moved");
        }
    }
}

fn task(title: &str) -> Value {
    json!({"title": title, "summary": "s"})
}

/// The titles of all tasks in a database.
fn titles(place: &Place, database: &Path) -> Vec<String> {
    let words = ["task", "list", "--project", "ledger", "--json"];
    let listed = place.command().args(words).env("HEYAIRA_DATABASE", database).output().expect("the program runs");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap_or_else(|_| panic!("no list: {listed:?}"));
    let tasks = listed["tasks"].as_array().expect("tasks");
    let mut titles: Vec<String> =
        tasks.iter().map(|task| task["title"].as_str().expect("a title").to_owned()).collect();
    titles.sort();
    titles
}

/// The copies of that kind that were made beside the database.
fn kept(place: &Place, kind: &str) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(place.database.file().parent().expect("a folder")).expect("a folder");
    let paths = folder.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.to_string_lossy().contains(kind)).collect()
}

fn is_sound(place: &Place) {
    let verified = place.bare(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

/// A server that has written since the backup `copy.db` of one task, `early`.
fn written_since_backup(place: &Place) -> Server {
    place.task("early");
    assert_eq!(place.bare(&["backup", "copy.db"]).code, 0);
    let mut server = place.server();
    server.call("task_create", task("late")).expect("there");
    server
}

fn remove(place: &Place) {
    let folder = place.database.file().parent().expect("a folder").to_owned();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        std::fs::remove_file(entry.expect("an entry").path()).expect("removed");
    }
}

#[test]
fn a_write_after_the_database_was_deleted_is_refused() {
    let place = Place::new();
    let mut server = place.server();
    server.call("task_create", json!({"title": "before", "summary": "s"})).expect("there");
    remove(&place);
    for tool in ["task_create", "task_list"] {
        let refused = server.call(tool, json!({"title": "after", "summary": "s"})).expect_err("nowhere to write");
        assert!(refused.starts_with("unavailable: ") || refused.starts_with("invalid_argument: "), "{refused}");
    }
    let refused = server.call("task_create", json!({"title": "after", "summary": "s"})).expect_err("nowhere to write");
    assert!(refused.starts_with("unavailable: there is no database at "), "{refused}");
}

#[test]
fn a_new_database_in_its_place_is_another_instance() {
    let place = Place::new();
    let mut server = place.server();
    let old = server.call("server_identity", json!({})).expect("there");
    remove(&place);
    assert_eq!(place.bare(&["start", "--no-serve", "--project", "ledger"]).code, 0);
    let refused = server.call("task_create", json!({"title": "lost", "summary": "s"})).expect_err("the old profile");
    assert!(refused.starts_with("identity_mismatch: "), "{refused}");
    let new = server.call("server_identity", json!({})).expect("there");
    assert_ne!(old["instance"], new["instance"]);
    assert_eq!(place.ask(&["task", "list"])["total"], 0);
}

#[test]
fn after_a_restored_backup_server_and_command_line_see_the_same() {
    let place = Place::new();
    let task = place.task("claimed");
    let mut server = place.server();
    server.call("task_list", json!({})).expect("there");
    assert_eq!(place.bare(&["backup", "copy.db"]).code, 0);
    std::fs::rename(place.folder.path().join("copy.db"), place.database.file()).expect("restored");
    for ending in ["wal", "shm"] {
        let _ = std::fs::remove_file(place.database.file().with_file_name(format!("heyaira.db-{ending}")));
    }
    let claim = json!({"task_id": task, "expected_version": 1, "session_ref": "label:server"});
    server.call("task_takeover", claim).expect("the file that is there now");
    let late = place.cli(&["task", "takeover", &task, "--expected-version", "1", "--session-ref", "label:cli"]);
    assert_eq!(late.code, 4, "{late:?}");
    assert_eq!(place.bare(&["verify"]).code, 0);
}

/// A process that holds the lock and does nothing keeps nobody from reading.
#[cfg(unix)]
#[test]
fn reading_goes_on_beside_a_stuck_writer() {
    let place = Place::new();
    place.task("readable");
    let lock = std::fs::File::options().write(true).open(place.database.file().with_file_name("heyaira.db-lock"));
    let lock = lock.expect("the lock file");
    lock.lock().expect("taken");
    assert_eq!(place.ask(&["task", "list"])["total"], 1);
    let mut server = place.server();
    assert_eq!(server.call("task_list", json!({})).expect("read")["total"], 1);
}

#[test]
fn a_purged_project_leaves_no_text_in_the_file() {
    let place = Place::new();
    let secret = "zanzibar-unmistakable";
    let task = place.task(secret);
    place.ask(&["task", "update", &task, "--expected-version", "1", "--summary", secret, "--description", secret]);
    assert_eq!(place.bare(&["project", "purge", "ledger", "--confirm", "ledger"]).code, 0);
    let holds = |path: &std::path::Path| {
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
    };
    for ending in ["", "-wal"] {
        let path = place.database.file().with_file_name(format!("heyaira.db{ending}"));
        assert!(!holds(&path), "{}", path.display());
    }
}

#[test]
fn without_its_log_a_server_refuses_and_takes_nothing_from_others() {
    let place = Place::new();
    let mut server = place.server();
    server.call("task_create", task("before")).expect("there");
    for ending in ["-wal", "-shm"] {
        std::fs::remove_file(beside(&place, ending)).expect("removed");
    }
    for title in ["one", "two", "three"] {
        place.task(title);
    }
    for tool in ["task_create", "task_list"] {
        let refused = server.call(tool, task("after")).expect_err("nobody would read it");
        assert!(refused.starts_with("unavailable: ") && refused.contains("heyaira.db-wal, which"), "{refused}");
    }
    assert_eq!(server.end(), Some(0));
    assert_eq!(titles(&place, place.database.file()), ["one", "three", "two"]);
    is_sound(&place);
    let rescued = kept(&place, ".rescued-");
    assert_eq!(rescued.len(), 1, "{rescued:?}");
    assert_eq!(titles(&place, &rescued[0]), ["before"]);
}

#[test]
fn without_the_index_of_its_log_a_server_overwrites_nothing() {
    let place = Place::new();
    let mut server = place.server();
    server.call("task_create", task("before")).expect("there");
    std::fs::remove_file(beside(&place, "-shm")).expect("removed");
    for title in ["one", "two", "three"] {
        place.task(title);
    }
    let refused = server.call("task_create", task("after")).expect_err("it would be written over the others");
    assert!(refused.starts_with("unavailable: ") && refused.contains("heyaira.db-shm, which"), "{refused}");
    assert_eq!(server.end(), Some(0));
    assert_eq!(titles(&place, place.database.file()), ["before", "one", "three", "two"]);
    is_sound(&place);
}

/// Ended without a call that would have noticed.
#[cfg(unix)]
#[test]
fn a_server_that_ends_without_its_log_takes_nothing_from_others() {
    let place = Place::new();
    let mut served = Served::open(&place);
    assert_eq!(
        served.client().api("task_create", &with_profile("task_create", task("before"), &place.write_context)).status,
        200
    );
    for ending in ["-wal", "-shm"] {
        std::fs::remove_file(beside(&place, ending)).expect("removed");
    }
    place.task("one");
    assert_eq!(served.end(), Some(0));
    assert_eq!(titles(&place, place.database.file()), ["one"]);
    assert_eq!(titles(&place, &kept(&place, ".rescued-")[0]), ["before"]);
    is_sound(&place);
}

#[test]
fn a_lost_log_that_nobody_replaced_is_still_moved_into_the_database() {
    let place = Place::new();
    let mut server = place.server();
    server.call("task_create", task("before")).expect("there");
    for ending in ["-wal", "-shm"] {
        std::fs::remove_file(beside(&place, ending)).expect("removed");
    }
    server.call("task_create", task("after")).expect_err("nobody would read it");
    assert_eq!(server.end(), Some(0));
    assert_eq!(titles(&place, place.database.file()), ["before"]);
    is_sound(&place);
}

/// Refused by everyone until the log is moved away; then the backup is there, and sound.
fn refused_until_moved_away(place: &Place) {
    for words in [["task", "list"], ["memory", "search"]] {
        let refused = place.cli(&words);
        assert_eq!(refused.code, 7, "{refused:?}");
        assert!(refused.err.contains("heyaira.db-wal and ") && refused.err.contains("heyaira restore"), "{refused:?}");
    }
    move_log_away(place);
    assert_eq!(titles(place, place.database.file()), ["early"]);
    place.task("new");
    is_sound(place);
}

#[test]
fn a_backup_moved_into_place_under_a_server_is_not_mixed_with_the_old_log() {
    let place = Place::new();
    let mut server = written_since_backup(&place);
    let served = Served::open(&place);
    let mut client = served.client();
    assert_eq!(client.api("task_list", &json!({})).status, 200);
    std::fs::rename(place.folder.path().join("copy.db"), place.database.file()).expect("restored");
    for _ in 0..3 {
        let refused = server.call("task_create", task("lost")).expect_err("the log is another's");
        assert!(refused.starts_with("unavailable: ") && refused.contains("heyaira.db-wal"), "{refused}");
    }
    assert_eq!(client.ask("GET", "/readyz", &[], "").expect("an answer").status, 503);
    let refused = client.api("task_list", &json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (503, "unavailable"));
    assert!(refused.body.contains("heyaira.db-wal"), "{refused:?}");
    drop(served);
    assert_eq!(server.end(), Some(0));
    refused_until_moved_away(&place);
}

#[cfg(unix)]
#[test]
fn a_backup_copied_over_the_database_of_a_server_is_noticed_before_the_next_write() {
    let place = Place::new();
    let mut server = written_since_backup(&place);
    std::fs::copy(place.folder.path().join("copy.db"), place.database.file()).expect("copied");
    for _ in 0..3 {
        let refused = server.call("task_create", task("lost")).expect_err("another database");
        assert!(refused.starts_with("damaged: ") && refused.contains("was overwritten"), "{refused}");
    }
    assert_eq!(server.end(), Some(0));
    refused_until_moved_away(&place);
}

#[test]
fn a_backup_copied_beside_the_log_of_a_killed_server_is_refused() {
    let place = Place::new();
    let mut server = written_since_backup(&place);
    server.kill();
    std::fs::copy(place.folder.path().join("copy.db"), place.database.file()).expect("copied");
    refused_until_moved_away(&place);
}

#[test]
fn a_restored_backup_is_seen_by_running_servers_and_what_was_there_is_kept() {
    let place = Place::new();
    let mut server = written_since_backup(&place);
    let restored = place.bare(&["restore", "copy.db", "--same-instance", "--json"]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert_eq!(server.call("task_list", json!({})).expect("read")["total"], 1);
    server.call("task_create", task("new")).expect("the same instance");
    assert_eq!(titles(&place, place.database.file()), ["early", "new"]);
    is_sound(&place);
    assert_eq!(server.end(), Some(0));
    assert_eq!(titles(&place, place.database.file()), ["early", "new"]);
    assert_eq!(titles(&place, Path::new(restored.json()["kept"].as_str().expect("a path"))), ["early", "late"]);
    assert_eq!(kept(&place, ".restoring-"), Vec::<PathBuf>::new());
    is_sound(&place);
}

#[test]
fn a_backup_is_restored_as_another_instance_unless_it_is_to_stay_the_same() {
    let place = Place::new();
    let mut server = written_since_backup(&place);
    let old = server.call("server_identity", json!({})).expect("read");
    let restored = place.bare(&["restore", "copy.db", "--json"]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert_ne!(restored.json()["instance"], old["instance"]);
    let refused = server.call("task_create", task("lost")).expect_err("the old profile");
    assert!(refused.starts_with("identity_mismatch: "), "{refused}");
    let again = place.bare(&["restore", "copy.db", "--same-instance"]);
    assert_eq!(again.code, 5, "the backup is of the old instance: {again:?}");
}

#[test]
fn what_is_no_backup_of_this_instance_changes_nothing() {
    let (place, other) = (Place::new(), Place::new());
    place.task("mine");
    assert_eq!(other.bare(&["backup", "copy.db"]).code, 0);
    let foreign = other.folder.path().join("copy.db");
    let foreign = foreign.to_str().expect("UTF-8");
    std::fs::write(place.folder.path().join("junk.db"), vec![b'x'; 20_000]).expect("written");
    for (file, code) in [(foreign, 5), ("junk.db", 8), ("nowhere.db", 2)] {
        for words in [vec!["restore", file], vec!["restore", file, "--same-instance"]] {
            let refused = place.bare(&words);
            assert_eq!(refused.code, code, "{words:?}: {refused:?}");
        }
    }
    assert_eq!(titles(&place, place.database.file()), ["mine"]);
    assert_eq!(kept(&place, ".restoring-"), Vec::<PathBuf>::new());
    let elsewhere = place.folder.path().join("new").join("moved.db");
    let restored =
        place.bare(&["restore", foreign, "--same-instance", "--database", elsewhere.to_str().expect("UTF-8")]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert_eq!(titles(&place, &elsewhere), Vec::<String>::new());
}

#[test]
fn a_server_of_a_damaged_database_is_not_ready() {
    let place = Place::new();
    let task = place.task("damaged");
    let connection = rusqlite::Connection::open(place.database.file()).expect("opened");
    connection.execute("update task set tags = 'no JSON'", []).expect("damaged");
    drop(connection);
    let served = Served::open(&place);
    let mut client = served.client();
    assert_eq!(client.ask("GET", "/readyz", &[], "").expect("an answer").status, 200);
    let refused = client.api("task_get", &json!({"task_id": task}));
    assert_eq!((refused.status, refused.code().as_str()), (500, "damaged"));
    assert_eq!(client.ask("GET", "/readyz", &[], "").expect("an answer").status, 503);
}

/// The disk is full for the compaction only: a limit on the size of files that the purge itself keeps within.
#[cfg(unix)]
#[test]
fn a_purge_stands_though_the_file_cannot_be_written_anew() {
    let place = Place::new();
    assert_eq!(place.bare(&["project", "create", "small"]).code, 0);
    let mut server = place.server();
    for number in 0..40 {
        let arguments =
            json!({"title": format!("task {number}"), "summary": "s", "description": "word ".repeat(8_000)});
        server.call("task_create", arguments).expect("written");
    }
    assert_eq!(server.end(), Some(0));
    let limited = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" project purge small --confirm small";
    let mut command = std::process::Command::new("bash");
    place.dress(&mut command);
    let purged = command.args(["-c", limited, crate::program::HEYAIRA]).output().expect("bash runs");
    let told = String::from_utf8_lossy(&purged.stderr);
    assert!(purged.status.success(), "{told}");
    assert!(told.contains("could not be written anew"), "{told}");
    assert!(!place.bare(&["project", "list"]).out.contains("small"));
    is_sound(&place);
}

#[test]
fn another_instance_says_what_is_to_be_done_with_its_profiles() {
    let place = Place::new();
    place.task("early");
    assert_eq!(place.bare(&["backup", "copy.db"]).code, 0);
    let same = place.bare(&["restore", "copy.db", "--same-instance", "--json"]);
    assert_eq!((same.code, same.json().get("next")), (0, None), "{same:?}");
    let restored = place.bare(&["restore", "copy.db"]);
    for part in ["another instance", "refused", "heyaira.toml", "heyaira profile PROJECT --write"] {
        assert!(restored.out.contains(part), "no {part}: {restored:?}");
    }
}

#[test]
fn a_database_is_not_restored_into_itself() {
    let place = Place::new();
    place.task("mine");
    let file = place.database.file();
    let link = place.folder.path().join("link.db");
    std::fs::hard_link(file, &link).expect("a link");
    for named in [file.to_owned(), link, file.parent().expect("a folder").join("../data/heyaira.db")] {
        for more in [&["--same-instance"][..], &[]] {
            let words = [&["restore", named.to_str().expect("UTF-8")], more].concat();
            let refused = place.bare(&words);
            assert_eq!(refused.code, 2, "{words:?}: {refused:?}");
            assert!(refused.err.contains("is this database itself"), "{refused:?}");
        }
    }
    assert_eq!(titles(&place, file), ["mine"]);
    assert_eq!(kept(&place, ".before-restore-"), Vec::<PathBuf>::new());
}

#[test]
fn restored_into_a_new_file_keeps_no_copy_of_nothing() {
    let place = Place::new();
    place.task("mine");
    assert_eq!(place.bare(&["backup", "copy.db"]).code, 0);
    let elsewhere = place.folder.path().join("new").join("moved.db");
    let words = ["restore", "copy.db", "--json", "--database", elsewhere.to_str().expect("UTF-8")];
    let restored = place.bare(&words);
    assert_eq!((restored.code, restored.json().get("kept")), (0, None), "{restored:?}");
    let entries = std::fs::read_dir(elsewhere.parent().expect("a folder")).expect("a folder");
    let names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| !name.contains("before-restore")), "{names:?}");
    assert_eq!(titles(&place, &elsewhere), ["mine"]);
    // What was there is kept again, and once.
    let again = place.bare(&words);
    assert_eq!(again.code, 5, "the restored one is another instance: {again:?}");
    let same = place.folder.path().join("new").join("same.db");
    let words = ["restore", "copy.db", "--json", "--same-instance", "--database", same.to_str().expect("UTF-8")];
    assert_eq!(place.bare(&words).json().get("kept"), None);
    assert!(place.bare(&words).json()["kept"].is_string());
}
