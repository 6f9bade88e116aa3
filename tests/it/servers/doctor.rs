//! What `doctor` finds on a server that is set up badly, and on one that is not.

use serde_json::{Value, json};

use super::cluster::Cluster;
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
fn a_standby_is_looked_at_and_refuses_writes_as_one() {
    let cluster = Cluster::start();
    let place = cluster.place();
    cluster.become_standby();
    let url = cluster.url_with("target_session_attrs=any");
    let (code, told) = doctor(&place, &["--database", &url]);
    assert_eq!((code, check(&told, "writes").0.as_str()), (7, "failed"), "{told}");
    assert!(check(&told, "durable write").1.contains("takes no writes now"), "{told}");
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
