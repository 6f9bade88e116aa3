//! Two servers on one database: what one of them writes, revokes or has answered holds at the other at once.

use std::time::{Duration, Instant};

use serde_json::json;

use super::cluster::{Cluster, Session, until};
use crate::http::served::{Served, token};
use crate::http::streams::Stream;

/// The connections that listen.
const LISTENERS: &str = "select count(*) from pg_stat_activity where query = 'listen heyaira'";
/// How soon a write is to be heard of. Whoever heard of nothing would look after up to five seconds.
const SOON: Duration = Duration::from_secs(2);

#[test]
fn a_write_at_one_server_is_heard_of_at_the_other_also_after_its_listener_was_lost() {
    let cluster = Cluster::start();
    let place = cluster.place();
    let task = place.task("Watched");
    let uri = format!("heyaira://ledger/task/{task}");
    let (one, two) = (Served::open(&place), Served::open(&place));
    let mut writer = two.client();
    let mut version = 1;
    let mut hears = |stream: &Stream| {
        for _ in 0..4 {
            let began = Instant::now();
            let update = json!({
                "task_id": task, "expected_version": version, "summary": format!("After {version}."),
                "write_context": place.write_context,
            });
            let written = writer.api("task_update", &update);
            assert_eq!(written.status, 200, "{written:?}");
            version += 1;
            stream.told(&uri);
            assert!(began.elapsed() < SOON, "heard after {:?}", began.elapsed());
        }
    };
    let session = Session::new(&cluster.url);
    assert_eq!(session.ask(LISTENERS), ["0"], "nobody listens for nobody");
    let stream = Stream::open(&one, 7, &[&uri], None);
    stream.begun();
    cluster.wait_for(LISTENERS, "1");
    hears(&stream);
    // The process of the next listener is another one.
    let lost = "select pid from pg_stat_activity where query = 'listen heyaira'";
    let before = session.ask(lost);
    session.ask("select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen heyaira'");
    until(|| matches!(session.ask(lost).as_slice(), [one] if *one != before[0]), "another listener");
    hears(&stream);
    drop(stream);
    drop(one);
    cluster.wait_for(LISTENERS, "0");
}

#[test]
fn what_a_command_writes_is_heard_of_at_a_server() {
    let cluster = Cluster::start();
    let place = cluster.place();
    let task = place.task("Watched");
    let uri = format!("heyaira://ledger/task/{task}");
    let served = Served::open(&place);
    let stream = Stream::open(&served, 7, &[&uri], None);
    stream.begun();
    cluster.wait_for(LISTENERS, "1");
    for number in 0..3 {
        place.ask(&["message", "send", "--to", &task, "--text", &format!("Message {number}.")]);
        let began = Instant::now();
        stream.told(&uri);
        assert!(began.elapsed() < SOON, "heard after {:?}", began.elapsed());
    }
}

#[test]
fn reads_tell_nobody_anything() {
    let cluster = Cluster::start();
    let place = cluster.place();
    let task = place.task("Read");
    let served = Served::open(&place);
    let mut client = served.client();
    let told = "select count(*) from pg_stat_activity where query like '%pg_notify(''heyaira''%'";
    let session = Session::new(&cluster.url);
    for _ in 0..20 {
        assert_eq!(client.api("task_get", &json!({"task_id": task})).status, 200);
        assert_eq!(session.ask(told), ["0"]);
    }
    let sent = json!({"to": task, "text": "Mind the seal.", "write_context": place.write_context});
    assert_eq!(client.api("message_send", &sent).status, 200);
    cluster.wait_for(told, "1");
}

#[test]
fn a_token_that_is_revoked_at_one_server_is_refused_at_the_other() {
    let cluster = Cluster::start();
    let place = cluster.place();
    let secret = token(&place, "agent", &["--project", "ledger"]);
    let (one, two) = (Served::start(&place, &[]), Served::start(&place, &[]));
    let (mut first, mut second) = (one.client_with(&secret), two.client_with(&secret));
    for client in [&mut first, &mut second] {
        assert_eq!(client.api("task_list", &json!({})).status, 200);
    }
    assert_eq!(place.bare(&["token", "revoke", "agent"]).code, 0);
    for client in [&mut first, &mut second] {
        assert_eq!(client.api("task_list", &json!({})).status, 401);
    }
}

#[test]
fn a_key_that_was_used_at_one_server_is_a_replay_at_the_other() {
    let cluster = Cluster::start();
    let place = cluster.place();
    let (one, two) = (Served::open(&place), Served::open(&place));
    let create = json!({
        "title": "Once", "summary": "new", "idempotency_key": "once-1", "write_context": place.write_context,
    });
    let first = one.client().api("task_create", &create);
    let second = two.client().api("task_create", &create);
    assert_eq!((first.status, second.status), (200, 200), "{second:?}");
    assert_eq!(first.json()["task_id"], second.json()["task_id"]);
    assert_eq!(place.ask(&["task", "list"])["total"], 1);
}
