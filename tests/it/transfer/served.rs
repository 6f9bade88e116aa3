//! A move while servers write to the source: what was acknowledged is in the target, and the rest is told where to go.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use serde_json::json;

use super::{PATIENCE, Scene, number, rows, shown, state};
use crate::http::served::{Served, Way};
use crate::program::Agent;

/// Writes until it is refused for the move; answers the ids of the tasks that were acknowledged, and the refusal.
fn write(mut agent: Box<dyn Agent>, written: &AtomicUsize) -> (Vec<String>, String) {
    let (mut acknowledged, until) = (Vec::new(), Instant::now() + PATIENCE);
    loop {
        assert!(Instant::now() < until, "never refused");
        match agent.call("task_create", json!({"title": "t", "summary": "written while it is moved"})) {
            Ok(made) => acknowledged.push(made["task_id"].as_str().expect("an id").to_owned()),
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
    let scene = Scene::new();
    let place = &scene.place;
    let served = [Served::open(place), Served::open(place)];
    let mut agents: Vec<Box<dyn Agent>> = vec![Box::new(place.server()), Box::new(place.server())];
    for (server, way) in served.iter().cycle().zip([Way::Mcp, Way::Plain, Way::Plain, Way::Mcp, Way::Plain, Way::Plain])
    {
        agents.push(Box::new(server.agent(place, way)));
    }
    let written = AtomicUsize::new(0);
    let told = thread::scope(|scope| {
        let writers: Vec<_> = agents.into_iter().map(|agent| scope.spawn(|| write(agent, &written))).collect();
        let until = Instant::now() + PATIENCE;
        while written.load(Ordering::Relaxed) < 100 {
            assert!(Instant::now() < until, "too little is written");
            thread::yield_now();
        }
        scene.must_move();
        writers.into_iter().map(|writer| writer.join().expect("no panic")).collect::<Vec<_>>()
    });
    let ids = rows(&scene.target, "select task_id from task", |row| row.uuid(0));
    let there: BTreeSet<String> = ids.into_iter().map(|id| id.to_string()).collect();
    let mut acknowledged = 0;
    for (ids, refused) in told {
        assert!(refused.starts_with("unavailable: ") && refused.contains("read-only"), "{refused}");
        assert!(!refused.contains(&shown(&scene.target)) && refused.contains("Nothing was written"), "{refused}");
        for id in ids {
            acknowledged += 1;
            assert!(there.contains(&id), "{id} was acknowledged and is not in the target");
        }
    }
    assert_eq!(acknowledged, there.len());
    let mut late = served[0].agent(place, Way::Mcp);
    let refused = late.call("task_create", json!({"title": "late", "summary": "s"})).expect_err("read-only for ever");
    assert!(refused.contains("it was moved. ") && !refused.contains(&shown(&scene.target)), "{refused}");
}

/// What looked at the source before it was leaving, and writes after that, does not know of it.
#[test]
fn a_write_that_had_begun_is_moved_too() {
    let scene = Scene::new().with(1);
    let begun = scene.source().begin();
    let moved = thread::scope(|scope| {
        let mover = scope.spawn(|| scene.run_to_target());
        let until = Instant::now() + PATIENCE;
        while begun.lets_others_write() && state(scene.source()) != "leaving" {
            assert!(Instant::now() < until, "the move does not begin");
        }
        begun.end(
            "insert into project (slug, name, language, generation, stale_hours, created_at) \
             values ('late', 'Late', 'en', 1, 24, 0)",
        );
        mover.join().expect("no panic")
    });
    assert_eq!(moved.code, 0, "{moved:?}");
    assert_eq!(number(&scene.target, "select count(*) from project where slug = 'late'"), 1);
}
