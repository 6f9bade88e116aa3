//! What `doctor` finds on a server that is set up badly, and on one that is not.

use serde_json::{Value, json};

use super::cluster::{Cluster, Session};
use crate::program::Place;

fn doctor(place: &Place, words: &[&str]) -> (i32, Value) {
    let answer = place.bare(&[&["doctor", "--json", "--project", "ledger"], words].concat());
    (answer.code, answer.json())
}

/// The state and the text of a check.
fn check(told: &Value, name: &str) -> (String, String) {
    let checks = told["checks"].as_array().expect("checks");
    let one = checks.iter().find(|one| one["check"] == name).unwrap_or_else(|| panic!("no {name}: {told}"));
    let word = |key: &str| one[key].as_str().expect("text").to_owned();
    (word("state"), word("told"))
}

#[test]
fn doctor_tells_what_a_lost_machine_would_take_with_it() {
    let cluster = Cluster::start();
    let place = cluster.place();
    // The tests' clusters do not flush.
    let (code, told) = doctor(&place, &[]);
    assert_eq!((code, &told["healthy"]), (7, &json!(false)), "{told}");
    for name in ["fsync", "full_page_writes"] {
        let (state, text) = check(&told, name);
        assert!(state == "failed" && text.starts_with("off: a crash"), "{text}");
    }
    assert_eq!(check(&told, "standby").0, "warning", "{told}");
    cluster.set("fsync = on\nfull_page_writes = on\nsynchronous_commit = off\nmax_connections = 30");
    let (code, told) = doctor(&place, &[]);
    assert_eq!((code, &told["healthy"]), (0, &json!(true)), "{told}");
    for (name, state, text) in [
        ("postgresql", "ok", "1"),
        ("schema", "ok", ""),
        ("writes", "ok", "taken"),
        ("encoding", "ok", "UTF8"),
        ("fsync", "ok", "on"),
        ("synchronous_commit", "warning", "off: HeyAira switches it on"),
        ("connections", "warning", "16 for each server that serves, of 27"),
        ("encryption", "ok", "none"),
        ("read", "ok", ""),
        ("durable write", "ok", ""),
        ("project", "ok", "ledger on instance"),
    ] {
        let found = check(&told, name);
        assert!(found.0 == state && found.1.starts_with(text), "{name}: {found:?}");
    }
    assert_eq!(check(&doctor(&place, &["--database-connections", "4"]).1, "connections").0, "ok");
}

#[test]
fn a_server_that_takes_no_writes_is_found_out() {
    let cluster = Cluster::start();
    let place = cluster.place();
    cluster.ask("alter database postgres set default_transaction_read_only = on");
    let refused = place.bare(&["doctor", "--json"]);
    assert_eq!(refused.code, 7, "{refused:?}");
    assert!(check(&refused.json(), "database").1.contains("takes no writes"), "{refused:?}");
}

#[test]
fn a_standby_reads_is_looked_at_and_refuses_writes() {
    let cluster = Cluster::start();
    let place = cluster.place();
    cluster.become_standby();
    let url = cluster.url_with("target_session_attrs=any");
    let listed = place.bare(&["task", "list", "--project", "ledger", "--database", &url]);
    assert_eq!(listed.code, 0, "{listed:?}");
    let refused = place.bare(&["project", "create", "other", "--database", &url]);
    assert!(refused.code == 7 && refused.err.contains("takes no writes now"), "{refused:?}");
    let (code, told) = doctor(&place, &["--database", &url]);
    assert_eq!((code, check(&told, "writes").0.as_str()), (7, "failed"), "{told}");
    assert!(check(&told, "writes").1.contains("this is a standby"), "{told}");
    assert_eq!(check(&told, "standby").0, "ok", "it is one: {told}");
    assert!(check(&told, "durable write").1.contains("takes no writes now"), "{told}");
    let moved = place.bare(&["move", "--from", &url, "--to", "moved.db"]);
    assert!(moved.code == 7 && moved.err.contains("takes no writes now"), "{moved:?}");
    let left = std::fs::read_dir(place.folder.path()).expect("a folder");
    let left = left.filter_map(|entry| entry.expect("an entry").file_name().into_string().ok());
    assert_eq!(left.filter(|name| name.starts_with("moved")).collect::<Vec<_>>(), [""; 0], "nothing was made");
}

#[test]
fn who_is_set_read_only_writes_nothing() {
    let cluster = Cluster::start();
    let place = cluster.place();
    cluster.ask("alter role postgres set default_transaction_read_only = on");
    let url = cluster.url_with("target_session_attrs=any");
    assert_eq!(place.bare(&["task", "list", "--project", "ledger", "--database", &url]).code, 0);
    let refused = place.bare(&["project", "create", "other", "--database", &url]);
    assert_eq!(refused.code, 7, "{refused:?}");
    assert!(
        refused.err.contains("read-only") && refused.err.contains("default_transaction_read_only off"),
        "{refused:?}"
    );
    let (code, told) = doctor(&place, &["--database", &url]);
    assert_eq!((code, check(&told, "writes").0.as_str()), (7, "failed"), "{told}");
    assert!(check(&told, "writes").1.contains("default_transaction_read_only is on"), "{told}");
    assert_eq!(check(&told, "standby").0, "warning", "a primary has none: {told}");
    let new = Session::new(&cluster.url);
    new.ask("set default_transaction_read_only = off");
    new.ask("create database fresh template template0");
    let (base, _) = cluster.url.rsplit_once('/').expect("a database");
    let refused = place.bare(&["init", "--database", &format!("{base}/fresh?target_session_attrs=any")]);
    assert!(refused.code == 7 && refused.err.contains("read-only"), "{refused:?}");
}

#[test]
fn the_number_of_connections_is_checked() {
    let cluster = Cluster::start();
    let place = cluster.place();
    for number in ["0", "many", "1001"] {
        assert_eq!(place.bare(&["serve", "--database-connections", number]).code, 2, "{number}");
        let mut command = place.command();
        command.env("HEYAIRA_DATABASE_CONNECTIONS", number).args(["serve", "--listen", "127.0.0.1:0"]);
        let refused = command.output().expect("it runs");
        assert!(!refused.status.success());
        assert!(String::from_utf8_lossy(&refused.stderr).contains("it is a number from 1 to 1000"), "{refused:?}");
    }
}
