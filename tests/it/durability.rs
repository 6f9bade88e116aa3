//! Acknowledged writes are on disk: after `kill -9`, and by counting the flushes that a kill cannot show.

use std::collections::HashSet;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::http::served::{Served, Way};
use crate::program::{Place, Server};

const KILLS: usize = 50;

/// What one killed server had acknowledged, and how many calls were still in flight.
struct Killed {
    acknowledged: Vec<(String, i64)>,
    in_flight: usize,
}

/// Sends a burst of writes to several tasks, reads some answers, and kills the server between them.
fn kill_in_mid_write(place: &Place, tasks: &[String], versions: &[i64], round: usize) -> Killed {
    let mut server = place.server();
    let mut sent = Vec::new();
    for burst in 0..6 {
        for (task, version) in tasks.iter().zip(versions.iter()) {
            let arguments = json!({
                "task_id": task, "expected_version": version + burst, "summary": format!("round {round} burst {burst}"),
            });
            sent.push((server.send_call("task_update", arguments), task.clone()));
        }
    }
    // Each round kills after another number of answers, so that the moment moves over the whole of a write.
    let wanted = round % (sent.len() - 1) + 1;
    let mut acknowledged = Vec::new();
    let mut answered = 0;
    while answered < wanted
        && let Some(answer) = server.next()
    {
        answered += 1;
        acknowledged.extend(acknowledgement(&answer, &sent));
    }
    server.kill();
    // What was in the pipe when the process died had been acknowledged too.
    while let Some(answer) = server.next() {
        answered += 1;
        acknowledged.extend(acknowledgement(&answer, &sent));
    }
    Killed { acknowledged, in_flight: sent.len() - answered }
}

fn acknowledgement(answer: &Value, sent: &[(i64, String)]) -> Option<(String, i64)> {
    let text = answer["result"]["content"][0]["text"].as_str()?;
    let body: Value = serde_json::from_str(text).ok()?;
    let (_, task) = sent.iter().find(|(id, _)| answer["id"] == *id)?;
    Some((task.clone(), body["version"].as_i64()?))
}

#[test]
fn every_acknowledged_version_survives_fifty_kills() {
    survive("over standard input", kill_in_mid_write);
}

#[test]
fn every_acknowledged_version_survives_fifty_kills_of_a_server_on_the_network() {
    survive("over the network", kill_a_served_one);
}

fn survive(way: &str, kill: impl Fn(&Place, &[String], &[i64], usize) -> Killed) {
    let place = Place::new();
    let tasks: Vec<String> = (0..4).map(|number| place.task(&format!("task {number}"))).collect();
    let mut versions = vec![1; tasks.len()];
    let (mut acknowledged, mut rounds_with_acks, mut rounds_in_flight) = (0, 0, 0);
    for round in 0..KILLS {
        let killed = kill(&place, &tasks, &versions, round);
        acknowledged += killed.acknowledged.len();
        rounds_with_acks += usize::from(!killed.acknowledged.is_empty());
        rounds_in_flight += usize::from(killed.in_flight > 0);
        for (task, version) in tasks.iter().zip(versions.iter_mut()) {
            let stored = place.ask(&["task", "get", task])["version"].as_i64().expect("a version");
            let told = killed.acknowledged.iter().filter(|(one, _)| one == task).map(|(_, version)| *version).max();
            assert!(told.is_none_or(|told| told <= stored), "round {round}: told {told:?}, stored {stored}");
            *version = stored;
        }
        let verified = place.bare(&["verify", "--json"]);
        assert_eq!(verified.json()["clean"], true, "round {round}: {verified:?}");
    }
    println!(
        "{KILLS} kills {way}: {acknowledged} writes acknowledged, {rounds_with_acks} rounds with acknowledged writes, \
         {rounds_in_flight} rounds with writes in flight"
    );
    assert!(rounds_with_acks > KILLS / 2 && rounds_in_flight > KILLS / 2, "most kills must hit writes in flight");
}

/// Four agents write over the network until the server is killed; answers what they were told.
fn kill_a_served_one(place: &Place, tasks: &[String], versions: &[i64], round: usize) -> Killed {
    let mut served = Served::open(place);
    let enough = AtomicUsize::new(0);
    let (acknowledged, in_flight) = thread::scope(|scope| {
        let write = |(number, (task, version)): (usize, (&String, &i64))| {
            let way = if number.is_multiple_of(2) { Way::Mcp } else { Way::Plain };
            let (mut agent, task, mut version) = (served.agent(place, way), task.clone(), *version);
            let enough = &enough;
            scope.spawn(move || {
                let mut acknowledged = Vec::new();
                loop {
                    let arguments =
                        json!({"task_id": task, "expected_version": version, "summary": format!("round {round}")});
                    let Some(outcome) = agent.try_call("task_update", arguments) else {
                        return acknowledged;
                    };
                    version = outcome.expect("nobody else writes")["version"].as_i64().expect("a version");
                    acknowledged.push((task.clone(), version));
                    enough.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let threads: Vec<_> = tasks.iter().zip(versions).enumerate().map(write).collect();
        while enough.load(Ordering::Relaxed) < round % 20 + 1 {
            thread::yield_now();
        }
        // Whoever still writes has a call in flight, as each waits for its answer only.
        let in_flight = threads.iter().filter(|thread| !thread.is_finished()).count();
        served.kill();
        let told = threads.into_iter().flat_map(|thread| thread.join().expect("no writer fails")).collect();
        (told, in_flight)
    });
    Killed { acknowledged, in_flight }
}

#[test]
fn a_write_that_is_sent_again_after_a_kill_is_recognised_by_its_key() {
    let place = Place::new();
    let task = place.task("once");
    let write = json!({"task_id": task, "expected_version": 1, "summary": "once", "idempotency_key": "k-1"});
    let mut served = Served::open(&place);
    let first = served.agent(&place, Way::Plain).try_call("task_update", write.clone());
    served.kill();
    let first = first.expect("an answer").expect("accepted");
    for way in [Way::Mcp, Way::Plain] {
        let again = Served::open(&place).agent(&place, way).try_call("task_update", write.clone());
        let again = again.expect("an answer").expect("recognised");
        assert_eq!((&again["version"], &again["replayed"]), (&first["version"], &json!(true)));
    }
    let other = json!({"task_id": task, "expected_version": 2, "summary": "other", "idempotency_key": "k-1"});
    let refused = Served::open(&place).agent(&place, Way::Mcp).try_call("task_update", other).expect("an answer");
    assert!(refused.as_ref().is_err_and(|text| text.starts_with("not_allowed: ")), "{refused:?}");
    assert_eq!(place.ask(&["task", "get", &task])["version"], 2, "written once");
}

/// The system calls of a traced server in order: flushes, temporary files, and answers that acknowledge a write.
fn traced(place: &Place, calls: impl FnOnce(&mut Server)) -> Vec<&'static str> {
    let record = place.folder.path().join("trace");
    let mut command = Command::new("strace");
    place.dress(&mut command);
    command.args([
        "-f",
        "-qq",
        "-s",
        "65536",
        "-e",
        "trace=fdatasync,fsync,openat,write,writev",
        "-e",
        "signal=none",
        "-o",
    ]);
    command.arg(&record).arg(crate::program::HEYAIRA).args(["mcp", "--project", "ledger"]);
    let mut server = Server::start(command, &place.write_context);
    calls(&mut server);
    assert_eq!(server.end(), Some(0));
    let text = fs::read_to_string(record).expect("strace wrote its record");
    text.lines().flat_map(events).collect()
}

/// What one line of the record says: a flush that has returned, a temporary file, or the answers that one write holds.
fn events(line: &str) -> Vec<&'static str> {
    let call = line.split_whitespace().nth(1).unwrap_or_default();
    let flush = ["fdatasync(", "fsync("].iter().any(|name| call.starts_with(name)) || line.contains("sync resumed>");
    if flush && line.contains("= 0") {
        return vec!["flush"];
    }
    if call.starts_with("openat(") && ["O_TMPFILE", "etilqs_"].iter().any(|sign| line.contains(sign)) {
        return vec!["temporary file"];
    }
    let writes = call.starts_with("write(1,") || call.starts_with("writev(1,");
    vec!["answer"; if writes { line.matches("changed_fields").count() } else { 0 }]
}

#[test]
fn a_flush_lies_before_every_answer_of_a_write() {
    let place = Place::new();
    let task = place.task("one after the other");
    let events = traced(&place, |server| {
        for version in 1..=20 {
            server
                .call("task_update", json!({"task_id": task, "expected_version": version, "summary": "written"}))
                .expect("accepted");
        }
    });
    let answers = events.iter().filter(|event| **event == "answer").count();
    assert_eq!(answers, 20, "{events:?}");
    let pairs: HashSet<(&str, &str)> = events.windows(2).map(|pair| (pair[0], pair[1])).collect();
    assert!(!pairs.contains(&("answer", "answer")), "an answer without a flush before it: {events:?}");
    println!("20 writes one after the other: {} flushes", events.len() - answers);
}

#[test]
fn a_group_of_writes_is_flushed_before_its_first_answer() {
    let place = Place::new();
    let tasks: Vec<String> = (0..20).map(|number| place.task(&format!("task {number}"))).collect();
    let (alone, together) = tasks.split_first().expect("tasks");
    // Long enough that the pages of one write do not fit into what is kept in memory anyway.
    let long = "many words that differ ".repeat(4_000);
    let written =
        |task: &String| json!({"task_id": task, "expected_version": 1, "summary": "written", "description": long});
    let events = traced(&place, |server| {
        // The first write of a log flushes it in any mode; only what comes after tells.
        server.call("task_update", written(alone)).expect("accepted");
        for task in together {
            server.send_call("task_update", written(task));
        }
        for _ in together {
            server.next().expect("an answer");
        }
    });
    let answers = events.iter().filter(|event| **event == "answer").count();
    println!("19 writes at once: {} flushes", events.len() - answers - 1);
    assert_eq!(answers, 20, "{events:?}");
    assert!(!events.contains(&"temporary file"), "stored text outside the folder: {events:?}");
    let after_first = events.iter().skip_while(|event| **event != "answer").nth(1);
    assert_eq!(after_first, Some(&"flush"), "{events:?}");
}
