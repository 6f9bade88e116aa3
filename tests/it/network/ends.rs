//! The end of a server that is asked to end.

use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, Served};
use super::floods::{calls_in_flight, finished};

#[test]
fn calls_in_flight_are_finished_and_new_ones_refused() {
    let mut served = Served::open(&[]);
    let mut holders = calls_in_flight(&served, 20);
    let mut idle: Vec<Client> = (0..20).map(|_| served.client()).collect();
    let mut half: Vec<Client> = (0..20).map(|_| served.client()).collect();
    for client in &mut idle {
        assert_eq!(client.call("server_identity", &json!({})).status, 200);
    }
    for client in &mut half {
        client.send("POST /api/ledger/server_identity HTTP/1.1\r\nHo");
    }
    served.terminate();
    let began = Instant::now();
    while Client::try_new(served.address).is_ok() {
        assert!(began.elapsed() < Duration::from_secs(10), "it still accepts");
    }
    for client in idle.iter_mut().chain(&mut half) {
        assert_eq!(client.rest(), "", "what is no call yet ends");
    }
    drop((idle, half));
    let made = finished(&served, &mut holders);
    drop(holders);
    assert_eq!(served.ended(), Some(0));
    println!("ended {:.1?} after it was asked to, with 20 calls in flight", began.elapsed());
    for id in made {
        assert_eq!(served.place.ask(&["task", "get", &id])["version"], 1, "an answered write is stored");
    }
}

#[test]
fn the_end_waits_for_nobody_beyond_its_time() {
    let mut served = Served::open(&["--stop-timeout", "1"]);
    let holders = calls_in_flight(&served, 5);
    served.terminate();
    let began = Instant::now();
    assert_eq!(served.ended(), Some(0));
    println!("ended after {:.1?} with 5 calls that never came to an end", began.elapsed());
    assert!((Duration::from_millis(900)..Duration::from_secs(10)).contains(&began.elapsed()));
    drop(holders);
}
