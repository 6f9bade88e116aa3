//! Servers and database nodes are killed while many clients write: nothing that was acknowledged may be lost, and what each
//! client was told of a task must be one order of its versions.
//!
//! `HEYAIRA_CHAOS_SECONDS` says for how long (30 if it is not set), `HEYAIRA_CHAOS_SEED` which faults; both are printed. The
//! moments at which the faults meet the calls are the machine's.

mod client;
mod faults;
mod home;
mod nodes;
mod ports;
mod report;
mod stored;
mod wire;

use std::path::Path;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::chaos::client::{Client, HOT, Log, Scene};
use crate::chaos::faults::{fail_over, kill_servers};
use crate::chaos::home::{Home, Server};
use crate::chaos::nodes::Nodes;
use crate::chaos::report::Run;
use crate::chaos::wire::{Told, Wire};
use crate::dice::Dice;

const CLIENTS: usize = 64;
const SERVERS: usize = 3;
/// How long servers may take until they are ready after the last fault.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many tasks are read through the servers in the end.
const READ_IN_THE_END: usize = 100;

fn seconds() -> u64 {
    match std::env::var("HEYAIRA_CHAOS_SECONDS") {
        Ok(named) => named.parse().unwrap_or_else(|error| panic!("no number of seconds ({error}): {named}")),
        Err(_) => 30,
    }
}

/// Lets the clients work while servers and, where there are nodes, primaries are killed; then checks everything.
fn run(home: &Home, nodes: &mut Option<Nodes>, seed: u64) -> Run {
    let mut dice = Dice::new(seed);
    let servers: Vec<Server> = (0..SERVERS).map(|number| Server::start(home, number)).collect();
    let (tasks, stop) = (RwLock::default(), AtomicBool::new(false));
    let scene = Scene { home, servers: &servers, tasks, began: Instant::now(), stop };
    let mut log = Client::new(CLIENTS, &scene, dice.split()).prepare(HOT);
    let until = Instant::now() + Duration::from_secs(seconds());
    let ended = AtomicBool::new(false);
    let (kills, fail_overs) = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let client = Client::new(number, &scene, dice.split());
                scope.spawn(move || client.run())
            })
            .collect();
        for server in &servers {
            scope.spawn(|| server.look_after(home, &ended));
        }
        let (for_servers, for_nodes, scene) = (dice.split(), dice.split(), &scene);
        let killer = scope.spawn(move || kill_servers(scene, for_servers, until));
        let operator = nodes.as_mut().map(|nodes| scope.spawn(move || fail_over(scene, nodes, for_nodes, until)));
        let kills = killer.join();
        let fail_overs = operator.map(thread::ScopedJoinHandle::join);
        scene.stop.store(true, Ordering::Relaxed);
        for client in clients {
            log.add(client.join().expect("no client fails"));
        }
        ended.store(true, Ordering::Relaxed);
        (kills.expect("servers are killed"), fail_overs.map_or(Vec::new(), |one| one.expect("the standby takes over")))
    });
    let ready = until_ready(&servers);
    log.add(read_in_the_end(&scene, dice.split()));
    let ended_by_themselves = servers.iter().map(|server| server.ended_by_itself.load(Ordering::Relaxed)).sum();
    let verified = home.run(&["verify", "--json"]);
    let rows = nodes.as_ref().map_or_else(|| stored::in_file(Path::new(home.database())), stored::on_nodes);
    let verdict = stored::judge(&log, rows);
    Run { log, kills, fail_overs, ended_by_themselves, ready, verified, verdict }
}

/// Waits until every server can serve; answers how long that took.
fn until_ready(servers: &[Server]) -> Duration {
    let began = Instant::now();
    for server in servers {
        while !wire::is_ready(server.address) {
            assert!(began.elapsed() < PATIENCE, "a server is not ready after {PATIENCE:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }
    began.elapsed()
}

/// The last word of the servers on the tasks that were fought for, and on some others.
fn read_in_the_end(scene: &Scene<'_>, dice: Dice) -> Log {
    let tasks = scene.tasks.read().expect("no holder panics").clone();
    let tasks: Vec<(String, String)> = tasks.into_iter().take(READ_IN_THE_END).collect();
    Client::new(CLIENTS + 1, scene, dice).read_all(&tasks)
}

/// Fails unless the run is good.
fn assert_good(run: &Run) {
    assert!(run.verified.code == 0 && run.verified.json()["clean"] == true, "{:?}", run.verified);
    assert_eq!(run.verdict.violations, Vec::<String>::new(), "not linearizable, or not what is stored");
    assert_eq!(run.log.unexpected, Vec::<String>::new(), "answers that should not be");
    assert_eq!(
        run.count("by key: unresolved") + run.count("by reading: unresolved"),
        0,
        "writes that nobody could tell of"
    );
    assert!(run.log.acknowledged.len() > 100, "hardly anything was written");
    let few = usize::try_from(seconds() / 5).expect("a short run");
    assert!(run.kills.len() >= few, "hardly any server was killed");
}

/// PostgreSQL waits for ever for a standby that is gone; nobody who calls does.
#[test]
#[ignore = "waits for the end of a call's time"]
fn a_commit_whose_standby_is_gone_is_told_as_uncertain() {
    let mut nodes = Nodes::start();
    let home = Home::new(Some(nodes.url()));
    let server = Server::start(&home, 0);
    let mut wire = Wire::new(server.address);
    let mut call = |tool: &str, arguments: Value| match wire.call(tool, &home.tokens[0], &arguments.to_string()) {
        Told::Answer(status, retry_after, answer) => (status, retry_after, answer),
        other => panic!("{tool}: {other:?}"),
    };
    let context = &home.write_context;
    let (_, _, task) = call("task_create", json!({"write_context": context, "title": "t", "summary": "first"}));
    let write = json!({
        "write_context": context, "task_id": task["task_id"], "expected_version": 1, "summary": "second",
        "idempotency_key": "k",
    });
    nodes.kill_standby();
    let (status, retry_after, answer) = call("task_update", write.clone());
    assert_eq!((status, retry_after), (503, Some(1)), "{answer}");
    assert_eq!(answer["error"]["details"]["uncertain"], true, "{answer}");
    let (_, _, read) = call("task_get", json!({"task_id": task["task_id"]}));
    assert_eq!(read["version"], 1, "not seen before the standby has it");
    nodes.attach();
    let (status, _, answer) = call("task_update", write);
    assert_eq!((status, &answer["version"], &answer["replayed"]), (200, &json!(2), &json!(true)), "{answer}");
}

#[test]
#[ignore = "half a minute of kills"]
fn servers_on_one_file_are_killed() {
    let seed = Dice::seed("HEYAIRA_CHAOS_SEED");
    println!("HEYAIRA_CHAOS_SEED={seed} HEYAIRA_CHAOS_SECONDS={}", seconds());
    let home = Home::new(None);
    let run = run(&home, &mut None, seed);
    run.print(&format!("{CLIENTS} clients, {SERVERS} servers, one file, seed {seed}"));
    assert_good(&run);
}

#[test]
#[ignore = "half a minute of kills"]
fn servers_and_primaries_are_killed() {
    let seed = Dice::seed("HEYAIRA_CHAOS_SEED");
    println!("HEYAIRA_CHAOS_SEED={seed} HEYAIRA_CHAOS_SECONDS={}", seconds());
    let mut nodes = Some(Nodes::start());
    let home = Home::new(nodes.as_ref().map(Nodes::url));
    let run = run(&home, &mut nodes, seed);
    run.print(&format!("{CLIENTS} clients, {SERVERS} servers, PostgreSQL with a synchronous standby, seed {seed}"));
    assert_good(&run);
    assert!(!run.fail_overs.is_empty(), "no primary was killed");
}
