//! Races of real processes: of equal claims one wins, and every acknowledged write is stored.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::http::served::{Served, Way};
use crate::program::{Agent, Place};

const CLAIMERS: usize = 8;
const ROUNDS: usize = 50;
const WRITES: usize = 200;

/// An agent of its own: on standard input and output, by MCP and by plain HTTP over the network, in turn.
fn agent(place: &Place, served: &Served, number: usize) -> Box<dyn Agent> {
    match number % 3 {
        0 => Box::new(place.server()),
        1 => Box::new(served.agent(place, Way::Mcp)),
        _ => Box::new(served.agent(place, Way::Plain)),
    }
}

/// One claim, by the way in that this claimer has.
enum Claimer {
    Agent(Box<dyn Agent>),
    CommandLine,
}

impl Claimer {
    /// Of each way in as many.
    fn all(place: &Place, served: &Served) -> Vec<Self> {
        let of = |number: usize| match number % 4 {
            3 => Self::CommandLine,
            number => Self::Agent(agent(place, served, number)),
        };
        (0..CLAIMERS).map(of).collect()
    }

    /// The same claim from everyone: nothing in it tells the claimers apart.
    fn claim(&mut self, place: &Place, task: &str) -> Result<i64, String> {
        match self {
            Self::Agent(agent) => {
                let arguments =
                    json!({"task_id": task, "expected_version": 1, "status": "in_progress", "summary": "mine"});
                let answer = agent.call("task_update", arguments)?;
                answer["version"].as_i64().ok_or_else(|| answer.to_string())
            }
            Self::CommandLine => {
                let words =
                    ["task", "update", task, "--expected-version", "1", "--status", "in_progress", "--summary", "mine"];
                let answer = place.cli(&[words.as_slice(), &["--json"]].concat());
                let body = answer.json();
                match body["error"]["code"].as_str() {
                    Some(code) => Err(format!("{code}: exit {}", answer.code)),
                    None => body["version"].as_i64().ok_or_else(|| body.to_string()),
                }
            }
        }
    }
}

#[test]
fn of_eight_equal_claims_exactly_one_wins() {
    let place = Place::new();
    let served = Served::open(&place);
    let tasks: Vec<String> = (0..ROUNDS).map(|round| place.task(&format!("round {round}"))).collect();
    let barrier = Barrier::new(CLAIMERS);
    let outcomes: Vec<Result<i64, String>> = thread::scope(|scope| {
        let run = |mut claimer: Claimer| {
            let (place, tasks, barrier) = (&place, &tasks, &barrier);
            scope.spawn(move || {
                let mut outcomes = Vec::new();
                for task in tasks {
                    barrier.wait();
                    outcomes.push(claimer.claim(place, task));
                }
                outcomes
            })
        };
        let threads: Vec<_> = Claimer::all(&place, &served).into_iter().map(run).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no claimer fails")).collect()
    });
    let won = outcomes.iter().filter(|outcome| **outcome == Ok(2)).count();
    let lost = outcomes
        .iter()
        .filter(|outcome| outcome.as_ref().is_err_and(|text| text.starts_with("version_conflict:")))
        .count();
    println!("{CLAIMERS} claimers, {ROUNDS} rounds: {won} won, {lost} version_conflict, {} in all", outcomes.len());
    assert_eq!((won, lost), (ROUNDS, ROUNDS * (CLAIMERS - 1)), "{outcomes:?}");
    for task in &tasks {
        assert_eq!(place.ask(&["task", "get", task])["version"], 2);
    }
}

/// Writes to the task until `WRITES` are acknowledged, reading again after each conflict; answers the longest wait.
fn write_all(server: &mut dyn Agent, task: &str) -> Duration {
    let (mut acknowledged, mut version, mut longest) = (0, 1, Duration::ZERO);
    while acknowledged < WRITES {
        let started = Instant::now();
        let arguments =
            json!({"task_id": task, "expected_version": version, "summary": format!("write {acknowledged}")});
        let outcome = server.call("task_update", arguments);
        longest = longest.max(started.elapsed());
        match outcome {
            Ok(answer) => {
                version = answer["version"].as_i64().expect("a version");
                acknowledged += 1;
            }
            Err(text) => {
                assert!(text.starts_with("version_conflict:"), "{text}");
                let current = server.call("task_get", json!({"task_id": task})).expect("the task");
                version = current["version"].as_i64().expect("a version");
            }
        }
    }
    longest
}

fn writers(place: &Place, task_of: impl Fn(usize) -> String) -> Duration {
    let barrier = Barrier::new(CLAIMERS);
    let served = Served::open(place);
    let started = Instant::now();
    let longest = thread::scope(|scope| {
        let threads: Vec<_> = (0..CLAIMERS)
            .map(|number| {
                let (mut agent, task, barrier) = (agent(place, &served, number), task_of(number), &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    write_all(agent.as_mut(), &task)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no writer fails")).max()
    });
    let longest = longest.expect("writers");
    let rate = f64::from(u32::try_from(CLAIMERS * WRITES).expect("few")) / started.elapsed().as_secs_f64();
    println!("{CLAIMERS} x {WRITES} writes: {rate:.0}/s, longest wait of a writer {} ms", longest.as_millis());
    longest
}

fn stored(place: &Place, task: &str) -> usize {
    let version = place.ask(&["task", "get", task])["version"].as_u64().expect("a version");
    usize::try_from(version).expect("few") - 1
}

#[test]
fn eight_writers_to_own_tasks_store_what_they_were_told() {
    let place = Place::new();
    let tasks: Vec<String> = (0..CLAIMERS).map(|number| place.task(&format!("own {number}"))).collect();
    writers(&place, |number| tasks[number].clone());
    for task in &tasks {
        assert_eq!(stored(&place, task), WRITES);
    }
    assert_eq!(place.bare(&["verify"]).code, 0, "no version gap");
}

#[test]
fn eight_writers_to_one_task_store_what_they_were_told() {
    let place = Place::new();
    let task = place.task("shared");
    writers(&place, |_| task.clone());
    assert_eq!(stored(&place, &task), CLAIMERS * WRITES);
    assert_eq!(place.bare(&["verify"]).code, 0, "no version gap");
}

/// Two servers and a command line write while backups and whole checks of the database run beside them.
#[test]
fn rw_020_writers_wait_for_each_other_and_for_backups() {
    const EACH: i64 = 50;
    let place = Place::new();
    let tasks: Vec<String> = (0..3).map(|number| place.task(&format!("busy {number}"))).collect();
    thread::scope(|scope| {
        for task in &tasks[..2] {
            let mut server = place.server();
            scope.spawn(move || {
                for version in 1..=EACH {
                    let arguments = json!({"task_id": task, "expected_version": version, "summary": "stdio"});
                    server.call("task_update", arguments).expect("waiting is fine, failing is not");
                }
            });
        }
        let (place, by_hand) = (&place, &tasks[2]);
        scope.spawn(move || {
            for version in 1..=EACH {
                let version = version.to_string();
                place.ask(&["task", "update", by_hand, "--expected-version", &version, "--summary", "command line"]);
            }
        });
        scope.spawn(move || {
            for number in 0..10 {
                let name = format!("copy-{number}.db");
                assert_eq!(place.bare(&["backup", &name]).code, 0);
                assert_eq!(place.bare(&["verify", "--database", &name]).code, 0, "a backup is consistent");
            }
        });
    });
    for task in &tasks {
        assert_eq!(place.ask(&["task", "get", task])["version"], EACH + 1);
    }
    assert_eq!(place.bare(&["verify"]).code, 0);
}
