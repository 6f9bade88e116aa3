//! Many connections: idle, busy, that never read, that vanish.

use std::collections::VecDeque;
use std::io::{ErrorKind, Write};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, PATIENCE, Served, affordable, head, post};
use crate::program::{HEYAIRA, Place};

/// Connections that send nothing, beside a client that is served.
fn idle(wanted: usize, places: usize, mebibytes: u64) {
    let number = affordable(wanted);
    let served = Served::open(&["--max-connections", &places.to_string()]);
    let name = format!("{number} idle connections on {places} places");
    let mut clients = served.endure(&name, mebibytes, || -> Vec<Client> {
        let mut clients: Vec<Client> = (0..number).map(|_| served.client()).collect();
        for client in clients.iter_mut().step_by(2) {
            client.send("GET /hea");
        }
        clients
    });
    let mut newest = clients.pop().expect("there are some");
    newest.send(post("server_identity", "{}"));
    assert_eq!(newest.answer().map(|answer| answer.status), Some(200), "the newest is served");
    let (first, is_kept) = (&mut clients[1], number < places);
    first.send(post("server_identity", "{}"));
    assert_eq!(first.answer().is_some(), is_kept, "the one that was idle longest made room if need was");
}

#[test]
fn idle_connections_make_room_for_others() {
    idle(1_000, 300, 100);
}

#[test]
#[ignore = "20,000 connections take a while"]
fn ten_thousand_idle_connections() {
    idle(10_000, 1_024, 150);
    idle(10_000, 12_000, 300);
}

/// Calls that are in flight for as long as their clients like.
pub fn calls_in_flight(served: &Served, number: usize) -> Vec<Client> {
    let mut holders: Vec<Client> = (0..number).map(|_| served.client()).collect();
    for (number, client) in holders.iter_mut().enumerate() {
        let body =
            json!({"title": format!("held {number}"), "summary": "new", "write_context": served.place.write_context})
                .to_string();
        let first = &body[..5];
        client.send(head("task_create", &format!("Content-Length: {}\r\nExpect: 100-continue\r\n", body.len())));
        assert_eq!(client.answer().map(|answer| answer.status), Some(100), "the call is in flight");
        client.send(first);
    }
    holders
}

/// Sends the rest; answers the new tasks' ids.
pub fn finished(served: &Served, holders: &mut [Client]) -> Vec<String> {
    let release = |(number, client): (usize, &mut Client)| {
        let body =
            json!({"title": format!("held {number}"), "summary": "new", "write_context": served.place.write_context})
                .to_string();
        client.send(&body[5..]);
        let answer = client.answer().expect("a call in flight is finished");
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["task_id"].as_str().expect("an id").to_owned()
    };
    holders.iter_mut().enumerate().map(release).collect()
}

#[test]
fn a_flood_beyond_the_limit_ends_no_call_in_flight() {
    let served = Served::open(&["--max-connections", "20"]);
    let mut holders = calls_in_flight(&served, 20);
    let (mut told, mut untold) = (0, 0);
    let mut crowd: Vec<Client> = (0..500).map(|_| served.client()).collect();
    for client in &mut crowd {
        client.send(post("server_identity", "{}"));
        match client.answer() {
            Some(answer) => {
                answer.refused(503, "unavailable");
                assert_eq!((answer.header("retry-after"), answer.header("connection")), (Some("1"), Some("close")));
                assert_eq!(client.rest(), "", "the length of the body is exact");
                told += 1;
            }
            None => untold += 1,
        }
    }
    println!("500 beyond 20 busy ones: {told} told 503, {untold} closed; {:?}", served.memory());
    assert!(told > 0, "some are told");
    assert_eq!(finished(&served, &mut holders).len(), 20);
    assert_eq!(served.client().call("server_identity", &json!({})).status, 200, "then there is room");
}

/// A client that writes one request after the other and never reads, once the server takes no more.
fn stuffed(served: &Served, requests: &[u8]) -> Client {
    let mut client = served.client();
    client.stream.set_write_timeout(Some(Duration::from_millis(300))).expect("a socket");
    while client.send(requests) {}
    client
}

/// Requests that are long and have longer answers, so that few of them fill what the system holds.
fn long_requests(served: &Served) -> Vec<u8> {
    let task = served.place.task("read by nobody");
    let headers = format!("X-Long: {}\r\n", "a".repeat(12_000));
    let body = json!({"task_id": task}).to_string();
    (head("task_get", &format!("{headers}Content-Length: {}\r\n", body.len())) + &body).repeat(20).into_bytes()
}

/// That many at once.
fn all_stuffed(served: &Served, number: usize) -> Vec<Client> {
    let requests = long_requests(served);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..number).map(|_| scope.spawn(|| stuffed(served, &requests))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a client")).collect()
    })
}

#[test]
fn pipelining_without_reading_takes_bounded_memory_and_ends() {
    let served = Served::open(&["--write-timeout", "1"]);
    served.endure("3 clients that pipeline and never read", 100, || {
        for client in &mut all_stuffed(&served, 3) {
            let began = Instant::now();
            while matches!(client.stream.write(b"G"), Err(error) if error.kind() == ErrorKind::WouldBlock) {
                assert!(began.elapsed() < PATIENCE, "the server keeps a client that reads nothing");
            }
        }
    });
}

#[test]
fn pipelined_calls_are_answered_in_order() {
    let served = Served::open(&[]);
    let mut client = served.client();
    let tasks: Vec<String> = (0..10).map(|number| served.place.task(&format!("task {number}"))).collect();
    let requests: Vec<u8> =
        tasks.iter().flat_map(|task| post("task_get", &json!({"task_id": task}).to_string())).collect();
    client.send(requests);
    for number in 0..tasks.len() {
        let answer = client.answer().expect("an answer");
        assert_eq!(answer.json()["title"], format!("task {number}"));
    }
}

#[test]
#[ignore = "waits for the patience with clients that never read"]
fn clients_that_never_read_make_room() {
    let served = Served::open(&["--max-connections", "10"]);
    let stuffed = all_stuffed(&served, 10);
    let began = Instant::now();
    let refused = served.refused_until_room();
    println!("{} that never read: room after {:.1?} and {refused} refusals", stuffed.len(), began.elapsed());
}

/// The state of a task that one call may have written to.
fn stored(client: &mut Client, task: &str) -> (i64, String) {
    let answer = client.call("task_get", &json!({"task_id": task})).json();
    (answer["version"].as_i64().expect("a version"), answer["summary"].as_str().expect("a summary").to_owned())
}

fn update(served: &Served, task: &str) -> Vec<u8> {
    let arguments: Value = json!({
        "task_id": task, "expected_version": 1, "summary": "written", "write_context": served.place.write_context,
    });
    post("task_update", &arguments.to_string())
}

/// New tasks at version 1.
fn tasks(served: &Served, number: usize) -> Vec<String> {
    let mut client = served.client();
    let create = |number| {
        let arguments =
            json!({"title": format!("task {number}"), "summary": "new", "write_context": served.place.write_context});
        let answer = client.call("task_create", &arguments);
        answer.json()["task_id"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
    };
    (0..number).map(create).collect()
}

#[test]
fn clients_that_vanish_leave_whole_writes_or_none() {
    let served = Served::open(&[]);
    let tasks = tasks(&served, 200);
    served.endure("200 clients that vanish in the middle of a write", 100, || {
        for (number, task) in tasks.iter().enumerate() {
            let request = update(&served, task);
            let mut client = served.client();
            // At every place of the request, and after it.
            client.send(&request[..request.len().min(request.len() * number / 100)]);
            if number % 2 == 0 { client.vanish() } else { drop(client) }
        }
    });
    let mut client = served.client();
    let mut written = 0;
    for task in &tasks {
        let (version, summary) = stored(&mut client, task);
        assert!([(1, "new"), (2, "written")].contains(&(version, summary.as_str())), "{version} {summary}");
        written += usize::from(version == 2);
    }
    println!("{written} of 200 were written");
    assert_eq!(served.place.bare(&["verify", "--json"]).json()["clean"], true);
}

#[test]
fn making_room_loses_no_answer_of_a_write_that_was_made() {
    let served = Served::open(&["--max-connections", "8"]);
    let tasks = tasks(&served, 400);
    let done = AtomicBool::new(false);
    let (mut answered, mut closed) = (0, Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut crowd = VecDeque::new();
            while !done.load(Ordering::Acquire) {
                crowd.push_back(Client::try_new(served.address));
                if crowd.len() > 16
                    && let Some(Ok(mut oldest)) = crowd.pop_front()
                {
                    // Closed to make room; the crowd does not run ahead of the server.
                    oldest.rest();
                }
            }
        });
        for task in &tasks {
            let mut client = served.client();
            client.send(update(&served, task));
            match client.answer() {
                Some(answer) if answer.status == 200 => answered += 1,
                Some(answer) => {
                    answer.refused(503, "unavailable");
                    closed.push(task);
                }
                None => closed.push(task),
            }
        }
        done.store(true, Ordering::Release);
    });
    println!("400 writes amid a flood: {answered} answered, {} not begun", closed.len());
    assert!(answered > 200, "{answered}");
    for task in closed {
        assert_eq!(stored(&mut served.client(), task).0, 1, "no answer, so nothing was written");
    }
}

#[test]
fn few_files_are_no_end() {
    let place = Place::new();
    let mut command = Command::new("sh");
    place.dress(&mut command);
    command.args(["-c", "ulimit -n 300; exec \"$0\" \"$@\"", HEYAIRA, "serve", "--json", "--auth", "none"]);
    command.args(["--listen", "127.0.0.1:0"]);
    let served = Served::spawn(place, command);
    let _clients = served.endure("400 idle connections with 300 files", 100, || -> Vec<Client> {
        (0..400).map(|_| served.client()).collect()
    });
}
