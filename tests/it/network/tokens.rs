//! Guessing of tokens.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use socket2::{Domain, Socket, Type};

use super::client::{Answer, Client, Served};
use crate::program::Place;

fn call(token: &str) -> String {
    format!(
        "POST /api/ledger/server_identity HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {token}\r\nContent-Length: 2\r\n\r\n{{}}"
    )
}

fn from(address: [u8; 4], to: SocketAddr, request: &str) -> Answer {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from((Ipv4Addr::from(address), 0)).into()).expect("all of 127.0.0.0/8 is this machine");
    socket.connect(&to.into()).expect("a connection");
    let mut client = Client::over(socket.into());
    client.send(request);
    client.answer().expect("an answer")
}

#[test]
fn guessing_is_slowed_and_a_valid_token_is_served_meanwhile() {
    let place = Place::new();
    let made = place.bare(&["token", "create", "ci", "--project", "ledger", "--json"]).json();
    let token = made["token"].as_str().expect("a token").to_owned();
    let served = Served::start(place, &[]);
    let (mut guesser, mut owner) = (served.client(), served.client());
    let began = Instant::now();
    let (mut told, mut limited) = (0, 0);
    for number in 0..2_000 {
        guesser.send(call(&format!("hya_{number:043}")));
        let answer = guesser.answer().expect("an answer");
        if answer.status == 401 {
            answer.refused(401, "unauthenticated");
            assert_eq!(limited, 0, "once limited, it stays so for the minute");
            told += 1;
        } else {
            answer.refused(429, "rate_limited");
            let seconds: u64 = answer.header("retry-after").and_then(|seconds| seconds.parse().ok()).expect("seconds");
            assert!((1..=60).contains(&seconds), "{seconds}");
            limited += 1;
        }
        if number % 100 == 0 {
            owner.send(call(&token));
            assert_eq!(owner.answer().map(|answer| answer.status), Some(200), "the same address, a valid token");
        }
        assert!(!answer.body.contains("hya_0"), "no credential is repeated");
    }
    println!(
        "2000 guesses in {:.1?}: {told} times 401, then {limited} times 429; {:?}",
        began.elapsed(),
        served.memory()
    );
    assert_eq!(told, 20);
    from([127, 0, 0, 2], served.address, &call("hya_wrong")).refused(401, "unauthenticated");
}

#[test]
fn more_addresses_than_are_remembered_take_no_memory() {
    let place = Place::new();
    let made = place.bare(&["token", "create", "ci", "--project", "ledger", "--json"]).json();
    let token = made["token"].as_str().expect("a token").to_owned();
    let served = Served::start(place, &[]);
    let before = served.memory();
    for number in 0..4_200_u16 {
        let [high, low] = number.to_be_bytes();
        let answer = from([127, 1, high, low.max(1)], served.address, &call("hya_wrong"));
        assert!([401, 429].contains(&answer.status), "{answer:?}");
    }
    let last = from([127, 2, 0, 1], served.address, &call("hya_wrong"));
    last.refused(429, "rate_limited");
    assert_eq!(from([127, 2, 0, 1], served.address, &call(&token)).status, 200, "a valid token is served");
    let after = served.memory();
    println!("4200 addresses: {} to {} KiB anonymous", before.anonymous, after.anonymous);
    assert!(after.anonymous < before.anonymous + 8 * 1024);
}

#[test]
fn who_has_no_token_is_told_so_before_a_body_is_sent() {
    let served = Served::start(Place::new(), &[]);
    let bare = |headers: &str| format!("POST /api/ledger/server_identity HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    for headers in [
        "Content-Length: 1000000\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Content-Length: 9\r\nExpect: 100-continue\r\n",
    ] {
        let mut client = served.client();
        client.send(bare(headers));
        let answer = client.answer().expect("an answer");
        answer.refused(401, "unauthenticated");
        assert_eq!(answer.header("connection"), Some("close"), "what comes next is no request");
        assert_eq!(client.rest(), "");
    }
    let mut small = served.client();
    for _ in 0..3 {
        small.send(bare("Content-Length: 2\r\n"));
        small.send("{}");
        let answer = small.answer().expect("an answer");
        answer.refused(401, "unauthenticated");
        assert_eq!(answer.header("connection"), None, "a small body is read, and the connection goes on");
    }
}
