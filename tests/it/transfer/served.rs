//! A move while servers write to the source: what was acknowledged is in the target, and the rest is told where to go.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use serde_json::json;

use super::{PATIENCE, TARGET, must_move, rows, target};
use crate::http::served::{Served, Way};
use crate::program::{Agent, Place};

/// Writes until it is refused for the move; answers the ids of the tasks that were acknowledged, and the refusal.
fn write(mut agent: Box<dyn Agent>, written: &AtomicUsize) -> (Vec<String>, String) {
    let (mut acknowledged, until) = (Vec::new(), Instant::now() + PATIENCE);
    loop {
        assert!(Instant::now() < until, "never refused");
        match agent.call("task_create", json!({"title": "t", "summary": "written while it is moved"})) {
            Ok(made) => acknowledged.push(made["task_id"].as_str().expect("an id").replace('-', "")),
            Err(refused) => {
                agent.call("task_list", json!({})).expect("reads go on");
                return (acknowledged, refused);
            }
        }
        written.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn no_acknowledged_write_is_lost() {
    let place = Place::new();
    let served = Served::open(&place);
    let mut agents: Vec<Box<dyn Agent>> = vec![Box::new(place.server()), Box::new(place.server())];
    for way in [Way::Mcp, Way::Plain, Way::Plain] {
        agents.push(Box::new(served.agent(&place, way)));
    }
    let written = AtomicUsize::new(0);
    let told = thread::scope(|scope| {
        let writers: Vec<_> = agents.into_iter().map(|agent| scope.spawn(|| write(agent, &written))).collect();
        let until = Instant::now() + PATIENCE;
        while written.load(Ordering::Relaxed) < 100 {
            assert!(Instant::now() < until, "too little is written");
            thread::yield_now();
        }
        must_move(&place);
        writers.into_iter().map(|writer| writer.join().expect("no panic")).collect::<Vec<_>>()
    });
    let there: BTreeSet<String> = rows(&target(&place), "select lower(hex(task_id)) from task")
        .into_iter()
        .map(|mut row| row.remove(0))
        .collect();
    let mut acknowledged = 0;
    for (ids, refused) in told {
        assert!(refused.starts_with("unavailable: ") && refused.contains("moved to"), "{refused}");
        assert!(refused.contains(TARGET) && refused.contains("Nothing was written"), "{refused}");
        for id in ids {
            acknowledged += 1;
            assert!(there.contains(&id), "{id} was acknowledged and is not in the target");
        }
    }
    assert_eq!(acknowledged, there.len());
    let mut late = served.agent(&place, Way::Mcp);
    let refused = late.call("task_create", json!({"title": "late", "summary": "s"})).expect_err("read-only for ever");
    assert!(refused.contains("it was moved to"), "{refused}");
}
