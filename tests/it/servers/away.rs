//! A database that is stopped, frozen, held or waits for a standby: calls are refused in time, and go on by themselves.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use heyaira::error::{Code, Refusal};
use heyaira::store::backend::{Database, Store, Work, work};
use heyaira::store::project;
use serde_json::json;

use super::cluster::{Cluster, Session, until};
use crate::http::served::Served;

/// What one machine that is busy may take longer.
const SLACK: Duration = Duration::from_secs(5);

fn open(cluster: &Cluster) -> Store {
    cluster.place();
    Store::open(&Database::of(&cluster.url).expect("an address"), false).expect("it opens")
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

fn read(store: &Store, within: Duration) -> Result<(), Refusal> {
    let read = work(|transaction| Box::pin(project::instance_id(transaction)));
    wait(store.read(Instant::now() + within, read)).map(drop)
}

fn write(store: &Store, within: Duration) -> Result<(), Refusal> {
    wait(store.write(Instant::now() + within, work(|transaction| Box::pin(project::touch(transaction)))))
}

#[test]
fn while_the_database_is_stopped_calls_are_refused_at_once_and_then_go_on() {
    let cluster = Cluster::start();
    let place = cluster.place();
    let task = place.task("Here");
    let served = Served::open(&place);
    let mut client = served.client();
    assert_eq!(client.api("task_get", &json!({"task_id": task})).status, 200);
    cluster.stop();
    // The first ones find out.
    until(|| client.ask("GET", "/readyz", &[], "").expect("an answer").status == 503, "not ready");
    for _ in 0..10 {
        let began = Instant::now();
        let refused = client.api("task_get", &json!({"task_id": task}));
        assert_eq!((refused.status, refused.code().as_str()), (503, "unavailable"), "{refused:?}");
        assert!(refused.json()["error"]["details"]["retry_after_seconds"].is_i64(), "{refused:?}");
        assert!(!refused.body.contains("127.0.0.1"), "whoever calls is not told where it is: {refused:?}");
        assert!(began.elapsed() < Duration::from_secs(1), "refused after {:?}", began.elapsed());
    }
    assert_eq!(client.ask("GET", "/healthz", &[], "").expect("an answer").status, 200);
    let refused = place.bare(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code, 7, "{refused:?}");
    assert!(refused.err.contains("refuses the connection"), "{refused:?}");
    cluster.start_again();
    let began = Instant::now();
    until(|| client.ask("GET", "/readyz", &[], "").expect("an answer").status == 200, "ready");
    assert!(began.elapsed() < Duration::from_secs(2) + SLACK, "ready after {:?}", began.elapsed());
    assert_eq!(client.api("task_get", &json!({"task_id": task})).status, 200);
}

#[test]
fn connections_that_were_cut_are_replaced_within_the_call() {
    let cluster = Cluster::start();
    let store = open(&cluster);
    let session = Session::new(&cluster.url);
    for _ in 0..5 {
        session.ask(
            "select pg_terminate_backend(pid) from pg_stat_activity \
             where application_name = 'heyaira' and backend_type = 'client backend'",
        );
        read(&store, Duration::from_secs(20)).expect("another connection");
        write(&store, Duration::from_secs(20)).expect("another connection");
    }
}

#[test]
fn a_call_past_its_deadline_is_refused_and_leaves_nothing_running() {
    let cluster = Cluster::start();
    let store = open(&cluster);
    let session = Session::new(&cluster.url);
    session.ask("begin; update instance set resource = resource");
    let began = Instant::now();
    let sleeps =
        || work(|transaction| Box::pin(async { transaction.rows("select pg_sleep(60)", &[]).await.map(drop) }));
    let within = |milliseconds| Instant::now() + Duration::from_millis(milliseconds);
    for refused in [
        wait(store.read(within(300), sleeps())),
        wait(store.write(within(300), sleeps())),
        write(&store, Duration::from_millis(300)),
    ] {
        let refused = refused.expect_err("it is held");
        assert_eq!(refused.code, Code::Unavailable, "{refused}");
        assert!(!refused.details.contains_key("uncertain"), "{refused:?}");
    }
    assert!(began.elapsed() < SLACK, "refused after {:?}", began.elapsed());
    let busy = "select count(*) from pg_stat_activity where application_name = 'heyaira' and state <> 'idle'";
    // A transaction sees one state of the activity for all its time.
    cluster.wait_for(busy, "0");
    session.ask("rollback");
    write(&store, Duration::from_secs(20)).expect("nobody holds it");
}

#[test]
fn a_database_that_is_frozen_is_unavailable_in_time_and_comes_back() {
    let cluster = Cluster::start();
    let store = open(&cluster);
    cluster.freeze();
    for number in 0..3 {
        let began = Instant::now();
        let refused = read(&store, Duration::from_secs(1)).and(write(&store, Duration::from_secs(1)));
        assert_eq!(refused.expect_err("it is frozen").code, Code::Unavailable);
        assert!(began.elapsed() < Duration::from_secs(8) + SLACK, "call {number} after {:?}", began.elapsed());
    }
    cluster.thaw();
    until(|| write(&store, Duration::from_secs(1)).is_ok(), "it comes back");
}

/// A write of a row that no other write is about.
fn insert(number: i64) -> impl Work<()> {
    work(move |transaction| {
        Box::pin(async move { transaction.execute("insert into probe values (?1)", &[number.into()]).await.map(drop) })
    })
}

#[test]
fn a_commit_that_waits_for_a_standby_is_not_acknowledged_and_leaves_room_for_reads() {
    let cluster = Cluster::start();
    let store = open(&cluster);
    let session = Session::new(&cluster.url);
    session.ask("create table probe (number bigint)");
    session.ask("alter system set synchronous_standby_names = 'nobody'");
    session.ask("select pg_reload_conf()");
    cluster.wait_for("show synchronous_standby_names", "nobody");
    let began = Instant::now();
    let within = Instant::now() + Duration::from_secs(2);
    let outcomes = wait(join_all((0..30).map(|number| store.write(within, insert(number)))));
    assert!(began.elapsed() < Duration::from_secs(4) + SLACK, "refused after {:?}", began.elapsed());
    let mut uncertain = 0;
    for outcome in outcomes {
        let refused = outcome.expect_err("the standby is not there");
        assert_eq!(refused.code, Code::Unavailable, "{refused}");
        uncertain += usize::from(refused.details.get("uncertain") == Some(&json!(true)));
    }
    assert_eq!(uncertain, 12, "three quarters of the connections write");
    read(&store, Duration::from_secs(20)).expect("some are left for reading");
    assert_eq!(session.ask("select count(*) from probe"), ["0"], "nobody sees what is not acknowledged");
    session.ask("alter system reset synchronous_standby_names");
    session.ask("select pg_reload_conf()");
    until(|| session.ask("select count(*) from probe") == ["12"], "the commits end");
    until(|| write(&store, Duration::from_secs(20)).is_ok(), "nothing is waited for");
}

#[test]
fn work_that_panics_leaves_no_open_transaction() {
    let cluster = Cluster::start();
    let store = open(&cluster);
    let panics = work(|transaction| {
        Box::pin(async move {
            project::touch(transaction).await?;
            assert!(transaction.slot().is_empty(), "as a fault of ours would");
            Ok(())
        })
    });
    let refused = wait(store.write(Instant::now() + Duration::from_secs(20), panics)).expect_err("it panicked");
    assert_eq!(refused.code, Code::Internal, "{refused}");
    let open = "select count(*) from pg_stat_activity where application_name = 'heyaira' and state like 'idle in%'";
    cluster.wait_for(open, "0");
    write(&store, Duration::from_secs(20)).expect("nobody holds the row");
}
