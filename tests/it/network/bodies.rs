//! Bodies: slow, broken off, oversize, of wrong types and shapes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Answer, Client, Served, head, post};
use crate::program::Place;

const MEBIBYTE: usize = 1024 * 1024;

#[test]
fn slow_bodies_are_told_so_and_hold_nobody_up() {
    let served = Served::open(&["--body-timeout", "1", "--max-connections", "200"]);
    served.endure("150 slow bodies, a third of them in chunks", 100, || {
        let mut slow: Vec<Client> = (0..150).map(|_| served.client()).collect();
        for (number, client) in slow.iter_mut().enumerate() {
            let length = ["Content-Length: 100\r\n", "Content-Length: 4000000\r\n", "Transfer-Encoding: chunked\r\n"];
            client.send(head("server_identity", length[number % 3]));
            client.send(if number % 3 == 2 { "2\r\n{ " } else { "{ " });
        }
        for client in &mut slow {
            let answer = client.answer().expect("an answer");
            assert!(answer.refused(408, "invalid_argument").contains("within 1 seconds"));
        }
    });
}

#[test]
fn slow_chunked_bodies_leave_room_for_quick_ones() {
    let served = Served::open(&["--body-timeout", "20"]);
    let mut slow: Vec<Client> = (0..100).map(|_| served.client()).collect();
    for client in &mut slow {
        client.send(head("server_identity", "Transfer-Encoding: chunked\r\n") + "1\r\n{\r\n");
    }
    let began = Instant::now();
    let answer = served.ask(head("server_identity", "Transfer-Encoding: chunked\r\n") + "2\r\n{}\r\n0\r\n\r\n");
    assert_eq!(answer.status, 200, "{answer:?}");
    println!("beside 100 slow chunked bodies a quick one took {:.1?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(10), "it did not wait for the time of the slow ones");
}

/// The head of a call with a token and a body of that length.
fn large(token: &str, length: usize) -> String {
    head("task_get", &format!("Authorization: Bearer {token}\r\nContent-Length: {length}\r\n"))
}

/// What a caller only promises takes nothing from others, and what it sends takes a share.
#[test]
fn slow_large_bodies_of_one_caller_leave_room_for_others() {
    let place = Place::new();
    let token = |name: &str, role: &str| {
        let made = place.bare(&["token", "create", name, "--project", "ledger", "--role", role, "--json"]).json();
        made["token"].as_str().expect("a token").to_owned()
    };
    let (slow, other) = (token("slow", "read"), token("other", "write"));
    let served = Served::start(place, &["--body-timeout", "8"]);
    let quick = |token: &str| {
        let began = Instant::now();
        let mut client = served.client();
        client.send(large(token, 90_000));
        client.send(" ".repeat(90_000));
        (client.answer().expect("an answer"), began.elapsed())
    };
    let mut promising: Vec<Client> = (0..32).map(|_| served.client()).collect();
    for client in &mut promising {
        client.send(large(&slow, 4 * MEBIBYTE));
        client.send(" ");
    }
    for token in [&slow, &other] {
        let (answer, took) = quick(token);
        assert_eq!(answer.status, 422, "{answer:?}");
        println!("beside 32 large bodies that are promised one of 90 KB took {took:.1?}");
        assert!(took < Duration::from_secs(4), "{took:?}: what is promised holds nobody up");
    }
    let mut sending: Vec<Client> = (0..20).map(|_| served.client()).collect();
    for client in &mut sending {
        client.send(large(&slow, 4 * MEBIBYTE));
        client.send(" ".repeat(MEBIBYTE / 8));
    }
    let (answer, took) = quick(&other);
    assert_eq!(answer.status, 422, "{answer:?}");
    println!("beside 20 large bodies of another caller that have begun it took {took:.1?}");
    assert!(took < Duration::from_secs(4), "{took:?}: there is room for others");
    let (answer, _) = quick(&slow);
    answer.refused(429, "rate_limited");
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
}

/// More than the share of one caller, all at once: each waits for its turn, and none for another that waits.
#[test]
fn large_bodies_of_one_caller_are_read_one_after_another() {
    let place = Place::new();
    let made = place.bare(&["token", "create", "busy", "--project", "ledger", "--json"]).json();
    let token = made["token"].as_str().expect("a token").to_owned();
    let served = Served::start(place, &[]);
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let mut client = served.client();
                client.send(large(&token, 4 * MEBIBYTE));
                client.send(" ".repeat(4 * MEBIBYTE));
                assert_eq!(client.answer().map(|answer| answer.status), Some(422));
            });
        }
    });
}

#[test]
fn half_closed_connections_are_answered() {
    let served = Served::open(&[]);
    let mut whole = served.client();
    whole.send(post("server_identity", "{}"));
    whole.end();
    assert_eq!(whole.answer().map(|answer| answer.status), Some(200), "who has said all still reads");
    assert_eq!(whole.rest(), "", "and the connection ends");
    for lengths in ["Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n"] {
        let mut cut = served.client();
        cut.send(head("server_identity", lengths) + "2\r\n{");
        cut.end();
        let answer = cut.answer().expect("an answer");
        assert!(answer.refused(400, "invalid_argument").contains("broke off"));
    }
}

/// Sends without looking at what comes back, then reads.
fn pour(client: &mut Client, piece: &[u8], times: usize) -> (usize, Option<Answer>) {
    let sent = (0..times).take_while(|_| client.send(piece)).count();
    (sent * piece.len() / MEBIBYTE, client.answer())
}

#[test]
fn oversize_bodies_are_told_so_whatever_the_client_still_sends() {
    let served = Served::open(&[]);
    let chunk = [format!("{MEBIBYTE:x}\r\n").into_bytes(), vec![b' '; MEBIBYTE], b"\r\n".to_vec()].concat();
    served.endure("oversize bodies", 100, || {
        let mut told = served.client();
        told.send(head("server_identity", "Content-Length: 5000000\r\n"));
        told.answer().expect("before a byte of it is sent").refused(413, "too_large");
        let mut expecting = served.client();
        expecting.send(head("server_identity", "Content-Length: 5000000\r\nExpect: 100-continue\r\n"));
        expecting.answer().expect("instead of a go-ahead").refused(413, "too_large");
        for (headers, piece) in
            [("Content-Length: 67108864\r\n", &vec![b' '; MEBIBYTE]), ("Transfer-Encoding: chunked\r\n", &chunk)]
        {
            let mut client = served.client();
            client.send(head("server_identity", headers));
            let (sent, answer) = pour(&mut client, piece, 64);
            let message = answer.expect("the answer is there, after all was sent").refused(413, "too_large");
            println!("{}: {message} ({sent} MiB sent)", headers.trim());
            assert_eq!(sent, 64, "the connection was not broken under a client that was still sending");
            assert_eq!(client.rest(), "");
        }
    });
    let most = post("server_identity", &format!("{{{}}}", " ".repeat(4 * MEBIBYTE - 2)));
    assert_eq!(served.ask(most).status, 200, "the largest body is taken");
    served.ask(post("server_identity", &format!("{{{}}}", " ".repeat(4 * MEBIBYTE - 1)))).refused(413, "too_large");
}

#[test]
fn many_large_bodies_at_once_take_bounded_memory() {
    let served = Served::open(&[]);
    let values = [
        format!("[{}0]", "0,".repeat(2 * MEBIBYTE - 20)),
        format!("[{}0]", "{\"a\":0},".repeat(MEBIBYTE / 2 - 20)),
        format!("\"{}\"", "a".repeat(4 * MEBIBYTE - 100)),
    ];
    let bodies = values.map(|value| post("task_get", &format!("{{\"task_id\":{value}}}")));
    served.endure("12 bodies of 4 MiB at once", 400, || {
        std::thread::scope(|scope| {
            for number in 0..12 {
                let (served, body) = (&served, &bodies[number % 3]);
                scope.spawn(move || {
                    let answer = served.ask(body);
                    let message = answer.refused(413, "too_large");
                    assert_eq!(message.contains("values"), number % 3 < 2, "{message}");
                    assert!(answer.body.len() < 1_000, "what was sent is not sent back");
                });
            }
        });
    });
    let quoted = json!({"task_id": "[,{:".repeat(50_000) + "\\\"[[[["}).to_string();
    let message = served.ask(post("task_get", &quoted)).refused(413, "too_large");
    assert!(message.contains("characters"), "what is quoted is one value: {message}");
}

#[test]
fn wrong_media_types_are_refused() {
    let served = Served::open(&[]);
    let of = |headers: &str, path: &str| {
        served.ask(format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: 2\r\n\r\n{{}}"))
    };
    let json = "Content-Type: application/json\r\n";
    for path in ["/api/ledger/server_identity", "/mcp/ledger"] {
        let accepts = "Accept: application/json, text/event-stream\r\n";
        for kind in [
            "",
            "Content-Type: text/plain\r\n",
            "Content-Type: \r\n",
            "Content-Type: application/jsonp\r\n",
            "Content-Type: multipart/form-data\r\n",
            "Content-Type: \u{ff}\r\n",
        ] {
            of(&format!("{kind}{accepts}"), path).refused(415, "invalid_argument");
        }
        of(&format!("{json}Accept: text/html\r\n"), path).refused(406, "invalid_argument");
        of(&format!("{json}Accept: \u{ff}\r\n"), path).refused(406, "invalid_argument");
    }
    assert_eq!(of("Content-Type: Application/JSON ; charset=utf-8\r\n", "/api/ledger/server_identity").status, 200);
    for method in ["GET", "PUT", "DELETE", "TRACE", "BREW"] {
        for path in ["/api/ledger/server_identity", "/mcp/ledger"] {
            let answer = served.ask(format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
            answer.refused(405, "invalid_argument");
            assert_eq!(answer.header("allow"), Some("POST"));
        }
    }
}

fn nested(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}

#[test]
fn json_of_wrong_shapes_is_refused() {
    let served = Served::open(&[]);
    let task = served.place.task("shapes");
    let long = format!("{{\"task_id\":{}}}", "9".repeat(100_000));
    let deep = format!("{{\"task_id\":{}}}", nested(30_000));
    let deeper = format!("{{\"task_id\":{}}}", nested(100_000));
    let endless = "[".repeat(100_000);
    let rows: [(&str, &[u8], u16); 18] = [
        ("an array", b"[]", 422),
        ("a text", b"\"task_id\"", 422),
        ("a number", b"1", 422),
        ("cut", b"{\"task_id\":", 400),
        ("two values", b"{} {}", 400),
        ("a comma at the end", b"{\"task_id\":\"a\",}", 400),
        ("not a number", b"{\"task_id\":NaN}", 400),
        ("no UTF-8", b"{\"task_id\":\"\xff\xfe\"}", 400),
        ("half a pair", b"{\"task_id\":\"\\ud800\"}", 400),
        ("the other half", b"{\"task_id\":\"\\udc00\"}", 400),
        ("a control character", b"{\"task_id\":\"\x00\"}", 400),
        ("beyond all numbers", b"{\"task_id\":1e999}", 400),
        ("a long number", long.as_bytes(), 400),
        ("a fraction", b"{\"task_id\":1.5}", 422),
        ("an object for a text", b"{\"task_id\":{\"a\":1}}", 422),
        ("30,000 levels", deep.as_bytes(), 400),
        ("100,000 levels", deeper.as_bytes(), 413),
        ("levels without end", endless.as_bytes(), 413),
    ];
    served.endure("JSON of wrong shapes", 100, || {
        for (name, body, status) in rows {
            let mut request = head("task_get", &format!("Content-Length: {}\r\n", body.len())).into_bytes();
            request.extend_from_slice(body);
            let answer = served.ask(request);
            println!("{name}: {}", answer.body);
            answer.refused(status, if status == 413 { "too_large" } else { "invalid_argument" });
            assert!(answer.body.len() < 1_000, "{name}: what was sent is not repeated at length");
            let mut message = format!(
                "POST /mcp/ledger HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
                body.len()
            )
            .into_bytes();
            message.extend_from_slice(body);
            let answer = served.ask(message);
            println!("{name}, as a message: {} {}", answer.status, answer.body);
            assert_eq!(answer.status, if status == 413 { 413 } else { 400 }, "{name}: {answer:?}");
            let code = &answer.json()["error"]["code"];
            assert!([json!(-32700), json!(-32600), json!("too_large")].contains(code), "{name}: {answer:?}");
            assert!(answer.body.len() < 1_000, "{name}: what was sent is not repeated at length");
        }
    });
    let twice = format!("{{\"task_id\":\"ffffffff\",\"task_id\":\"{task}\"}}");
    let found = served.ask(post("task_get", &twice));
    assert_eq!(found.json()["title"], Value::from("shapes"), "of two equal names the last one counts");
}
