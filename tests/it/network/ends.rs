//! The end of a server that is asked to end.

use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Answer, Client, PATIENCE, Served, post};
use super::floods::{calls_in_flight, finished};

#[test]
fn calls_in_flight_are_finished_and_new_ones_refused() {
    let mut served = Served::open(&["--drain-timeout", "1"]);
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
    for client in &mut idle {
        assert_eq!(client.rest(), "", "a connection without a call ends");
    }
    for client in &mut half {
        client.answer().expect("what has begun to arrive is told").refused(503, "unavailable");
        assert_eq!(client.rest(), "", "and is no call");
    }
    assert!(Client::try_new(served.address).is_err(), "those are told once nobody else is accepted");
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

/// Waits until it says of itself that it is not ready.
fn not_ready(served: &Served) -> Answer {
    let began = Instant::now();
    loop {
        let answer = served.ask("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        if answer.status != 200 {
            return answer;
        }
        assert!(began.elapsed() < PATIENCE, "it says that it is ready");
    }
}

#[test]
fn requests_that_arrive_while_it_drains_are_answered() {
    let mut served = Served::open(&["--drain-timeout", "20"]);
    let (mut idle, mut begun, mut used) = (served.client(), served.client(), served.client());
    let (request, arguments) = (post("server_identity", "{}"), json!({}));
    for client in [&mut idle, &mut used] {
        assert_eq!(client.call("server_identity", &arguments).status, 200);
    }
    begun.send(&request[..40]);
    used.send(&request[..40]);
    served.terminate();
    let began = Instant::now();
    let told = not_ready(&served);
    assert_eq!((told.status, told.header("connection")), (503, Some("close")), "{told:?}");
    assert_eq!(idle.rest(), "", "an idle connection ends at once");
    let new = served.ask(&request);
    assert_eq!((new.status, new.header("connection")), (200, Some("close")), "a proxy may not know yet: {new:?}");
    for client in [&mut begun, &mut used] {
        client.send(&request[40..]);
        let answer = client.answer().expect("a request that was arriving is answered");
        assert_eq!((answer.status, answer.header("connection")), (200, Some("close")), "{answer:?}");
    }
    drop((begun, used, idle));
    assert_eq!(served.ended(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(15), "it ends when nobody is connected: {:?}", began.elapsed());
}

#[test]
fn no_call_on_a_kept_connection_is_cut() {
    let mut served = Served::open(&[]);
    let (called, calling) = std::sync::mpsc::channel();
    let mut clients: Vec<Client> = (0..20).map(|_| served.client()).collect();
    // One after the other, as a proxy's: each of them is idle for nearly all of the time.
    let proxy = std::thread::spawn(move || {
        for round in 1.. {
            clients.retain_mut(|client| {
                client.send(post("server_identity", "{}"));
                let answer = client.answer().unwrap_or_else(|| panic!("cut in round {round}"));
                assert_eq!(answer.status, 200, "{answer:?}");
                answer.header("connection") != Some("close")
            });
            let _ = called.send(round);
            if clients.is_empty() {
                break;
            }
        }
    });
    assert_eq!(calling.recv_timeout(PATIENCE), Ok(1));
    served.terminate();
    proxy.join().expect("no call is cut");
    assert_eq!(served.ended(), Some(0));
}

#[test]
fn a_second_signal_ends_it_now() {
    let mut served = Served::open(&[]);
    let holders = calls_in_flight(&served, 5);
    served.terminate();
    let began = Instant::now();
    not_ready(&served);
    served.terminate();
    assert_eq!(served.ended(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(4), "sooner than requests are taken: {:?}", began.elapsed());
    drop(holders);
}
