//! A database that is deleted or replaced under a running server: nothing is acknowledged that nobody will ever read.

use serde_json::json;

use crate::program::Place;

fn remove(place: &Place) {
    let folder = place.database().parent().expect("a folder").to_owned();
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
    std::fs::rename(place.folder.path().join("copy.db"), place.database()).expect("restored");
    for ending in ["wal", "shm"] {
        let _ = std::fs::remove_file(place.database().with_file_name(format!("heyaira.db-{ending}")));
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
    let lock = std::fs::File::options().write(true).open(place.database().with_file_name("heyaira.db-lock"));
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
        let path = place.database().with_file_name(format!("heyaira.db{ending}"));
        assert!(!holds(&path), "{}", path.display());
    }
}
