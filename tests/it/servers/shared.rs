//! A server and a database that HeyAira does not have for itself: limits that somebody set, tables of another program.

use std::time::{Duration, Instant};

use heyaira::store::backend::{Database, Store, work};
use heyaira::store::project;
use serde_json::json;

use super::cluster::{Cluster, Session};
use crate::http::served::Served;
use crate::program::{Place, Server};

/// A database of that name, with what the statements make.
fn database(cluster: &Cluster, name: &str, statements: &[&str]) -> String {
    cluster.ask(&format!("create database {name} template template0 encoding utf8"));
    let (base, _) = cluster.url.rsplit_once('/').expect("a database");
    let url = format!("{base}/{name}");
    let session = Session::new(&url);
    for statement in statements {
        session.ask(statement);
    }
    url
}

/// What `init` says of a database that it refuses.
fn refused(place: &Place, url: &str) -> String {
    let refused = place.bare(&["init", "--database", url]);
    assert_eq!(refused.code, 7, "{refused:?}");
    assert!(refused.err.contains("unavailable: "), "{refused:?}");
    refused.err
}

#[test]
fn another_programs_tables_are_told_and_left_alone() {
    let cluster = Cluster::start();
    let place = cluster.place();
    let url = database(&cluster, "first", &["create table migration (version text)"]);
    assert!(refused(&place, &url).contains("is another program's"));
    let url = database(&cluster, "second", &["create table task (id bigint)"]);
    assert!(refused(&place, &url).contains("a table of another program"));
    assert_eq!(Session::new(&url).ask("select relname from pg_class where relname = 'migration'"), [""; 0]);
    let url = database(&cluster, "third", &[]) + "?options=-c%20search_path%3Dnowhere";
    assert!(refused(&place, &url).contains("names no schema"));
}

#[test]
fn a_limit_of_the_role_on_waiting_for_locks_refuses_no_call() {
    let cluster = Cluster::start();
    let place = cluster.place();
    let url = cluster.url_with("options=-c%20lock_timeout%3D1");
    let store = Store::open(&Database::of(&url).expect("an address"), false).expect("it opens");
    let session = Session::new(&cluster.url);
    session.ask("begin");
    session.ask("lock table instance in access exclusive mode");
    let ended = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let within = Instant::now() + Duration::from_secs(20);
        runtime.block_on(store.write(within, work(|transaction| Box::pin(project::touch(transaction)))))
    });
    cluster.wait_for("select count(*) from pg_locks where not granted", "1");
    session.ask("rollback");
    ended.join().expect("no panic").expect("it waited");
    drop(place);
}

#[test]
fn a_server_without_another_connection_serves_by_those_that_it_has() {
    let cluster = Cluster::start();
    let place = cluster.place();
    cluster.ask("create role crowded login password 'crowded' connection limit 2");
    cluster.ask("grant all on all tables in schema public to crowded");
    let (_, host) = cluster.url.rsplit_once('@').expect("a host");
    let url = format!("postgres://crowded:crowded@{host}");
    let store = Store::open(&Database::of(&url).expect("an address"), false).expect("it opens");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let within = Instant::now() + Duration::from_secs(20);
    let writes = (0..30).map(|_| store.write(within, work(|transaction| Box::pin(project::touch(transaction)))));
    for outcome in runtime.block_on(futures_util::future::join_all(writes)) {
        outcome.expect("a connection");
    }
    drop(place);
}

#[test]
fn connections_that_nobody_uses_are_let_go() {
    let cluster = Cluster::start();
    let place = cluster.place();
    let served = Served::open(&place);
    let mut client = served.client();
    assert_eq!(client.api("task_list", &json!({})).status, 200);
    let ours = "select count(*) from pg_stat_activity where application_name = 'heyaira'";
    assert_ne!(cluster.ask(ours), ["0"]);
    cluster.wait_for(ours, "0");
    assert_eq!(client.api("task_list", &json!({})).status, 200);
}

#[test]
fn a_database_that_cannot_keep_every_text_is_not_set_up() {
    let cluster = Cluster::start();
    let place = cluster.place();
    cluster.ask("create database latin template template0 encoding latin1 locale 'C'");
    let (base, _) = cluster.url.rsplit_once('/').expect("a database");
    let url = format!("{base}/latin");
    let refused = place.bare(&["init", "--database", &url]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("is LATIN1, and must be UTF8"), "{refused:?}");
    assert_eq!(Session::new(&url).ask("select count(*) from pg_class where relname in ('task', 'migration')"), ["0"]);
}

#[test]
fn the_lines_that_connect_a_client_say_that_it_needs_the_url() {
    let cluster = Cluster::start();
    let place = cluster.place();
    let told = place.bare(&["profile", "ledger"]);
    assert!(told.out.contains("set HEYAIRA_DATABASE in the environment"), "{told:?}");
    let told = place.bare(&["profile", "ledger", "--json"]).json();
    assert!(told["connect_needs"].as_str().expect("words").contains("HEYAIRA_DATABASE"), "{told}");
}

#[test]
fn where_a_database_is_is_told_to_its_owner_and_not_to_an_agent() {
    let place = Place::new();
    let url = "postgres://maria@127.0.0.1:1/ledger";
    let told = place.bare(&["task", "list", "--project", "ledger", "--database", url]);
    assert!(told.code == 7 && told.err.contains("127.0.0.1:1 refuses the connection"), "{told:?}");
    let log = place.folder.path().join("log");
    let mut command = place.command();
    command.env("HEYAIRA_DATABASE", url).args(["mcp", "--project", "ledger"]);
    command.stderr(std::fs::File::create(&log).expect("a file"));
    let mut agent = Server::start(command, &place.write_context);
    let refused = agent.call("task_list", json!({})).expect_err("there is no database");
    assert!(refused.starts_with("unavailable: the database cannot be reached. "), "{refused}");
    assert!(!refused.contains("127.0.0.1"), "{refused}");
    assert_eq!(agent.end(), Some(0));
    let log = std::fs::read_to_string(log).expect("a log");
    assert!(log.contains("127.0.0.1:1 refuses the connection"), "{log}");
}
