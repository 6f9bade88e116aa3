//! Heads: slow, broken, oversize, of other protocols, and of shapes that smuggle.

use serde_json::json;

use super::client::{Client, Served, head, post};

#[test]
fn slow_heads_are_told_so_and_hold_nobody_up() {
    let served = Served::open(&["--header-timeout", "1", "--max-connections", "100"]);
    served.endure("300 slow heads on 100 places", 100, || {
        let mut slow: Vec<Client> = (0..300).map(|_| served.client()).collect();
        // A byte each and again: what comes late does not start the time anew.
        for byte in b"GET /healthz" {
            for client in &mut slow {
                client.send([*byte]);
            }
        }
        let answers: Vec<_> = slow.iter_mut().map(Client::answer).collect();
        let told = answers.iter().flatten().count();
        println!("{told} were told, {} made room", answers.len() - told);
        assert!(told >= 50, "who was not closed to make room is told: {told}");
        for answer in answers.into_iter().flatten() {
            let message = answer.refused(408, "invalid_argument");
            assert!(message.contains("within 1 seconds"), "{message}");
        }
    });
}

#[test]
fn idle_connections_end_without_a_word() {
    let served = Served::open(&["--header-timeout", "1"]);
    let mut fresh = served.client();
    let mut used = served.client();
    assert_eq!(used.call("server_identity", &json!({})).status, 200);
    assert_eq!((fresh.rest(), used.rest()), (String::new(), String::new()));
}

/// What is sent, the status, the code, and a part of the message.
type Refused = (&'static str, Vec<u8>, u16, &'static str, &'static str);

fn with(line: &str, headers: &str) -> Vec<u8> {
    format!("{line}\r\nHost: localhost\r\n{headers}\r\n").into_bytes()
}

fn unreadable() -> Vec<Refused> {
    let garbage = "what was sent is no HTTP/1.1 request";
    let get = "GET /healthz HTTP/1.1";
    let call = "POST /api/ledger/server_identity HTTP/1.1";
    let many: String = (0..101).map(|number| format!("X-{number}: 1\r\n")).collect();
    vec![
        ("noise", b"\x00\x01\x02\x03\r\n\r\n".to_vec(), 400, "invalid_argument", garbage),
        ("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(), 400, "invalid_argument", garbage),
        ("HTTP/0.9", b"GET /healthz\r\n\r\n".to_vec(), 400, "invalid_argument", garbage),
        ("HTTP/3.0", with("GET /healthz HTTP/3.0", ""), 400, "invalid_argument", garbage),
        ("h2 at once", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), 505, "invalid_argument", "HTTP/2"),
        ("a fold", with(get, "X-One: a\r\n b\r\n"), 400, "invalid_argument", garbage),
        ("a space before a colon", with(get, "X-One : a\r\n"), 400, "invalid_argument", garbage),
        ("NUL in a header", with(get, "X-One: a\0b\r\n"), 400, "invalid_argument", garbage),
        ("CR in a header", with(get, "X-One: a\rb\r\n"), 400, "invalid_argument", garbage),
        ("NUL in the path", with("GET /health\0z HTTP/1.1", ""), 400, "invalid_argument", garbage),
        ("spaces in the path", with("GET /health z HTTP/1.1", ""), 400, "invalid_argument", garbage),
        ("two lengths", with(call, "Content-Length: 2\r\nContent-Length: 3\r\n"), 400, "invalid_argument", garbage),
        ("a list of lengths", with(call, "Content-Length: 2, 2\r\n"), 400, "invalid_argument", garbage),
        ("a signed length", with(call, "Content-Length: +2\r\n"), 400, "invalid_argument", garbage),
        ("a negative length", with(call, "Content-Length: -2\r\n"), 400, "invalid_argument", garbage),
        (
            "a boundless length",
            with(call, "Content-Length: 99999999999999999999\r\n"),
            400,
            "invalid_argument",
            garbage,
        ),
        ("another coding", with(call, "Transfer-Encoding: gzip\r\n"), 400, "invalid_argument", garbage),
        ("chunked not last", with(call, "Transfer-Encoding: chunked, gzip\r\n"), 400, "invalid_argument", garbage),
        (
            "chunked not last, in two",
            with(call, "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n"),
            400,
            "invalid_argument",
            garbage,
        ),
        (
            "a vertical tab before chunked",
            with(call, "Transfer-Encoding: \x0bchunked\r\n"),
            400,
            "invalid_argument",
            garbage,
        ),
        (
            "chunked in HTTP/1.0",
            with("POST /api/ledger/server_identity HTTP/1.0", "Transfer-Encoding: chunked\r\n"),
            400,
            "invalid_argument",
            garbage,
        ),
        ("a long header", with(get, &format!("X-One: {}\r\n", "a".repeat(17_000))), 431, "too_large", "16,384 bytes"),
        (
            "a header without end",
            [get.as_bytes(), b"\r\nX-One: ", &[b'a'; 100_000]].concat(),
            431,
            "too_large",
            "16,384 bytes",
        ),
        ("a long path", with(&format!("GET /{} HTTP/1.1", "a".repeat(70_000)), ""), 431, "too_large", "16,384 bytes"),
        ("many headers", with(get, &many), 431, "too_large", "too many"),
    ]
}

#[test]
fn heads_that_cannot_be_read_are_answered_with_a_sentence() {
    let served = Served::open(&[]);
    for (name, bytes, status, code, part) in unreadable() {
        let mut client = served.client();
        client.send(bytes);
        let answer = client.answer().unwrap_or_else(|| panic!("{name}: no answer"));
        println!("{name}: {} {}", answer.status, answer.body);
        let message = answer.refused(status, code);
        assert!(message.contains(part), "{name}: {message}");
        assert_eq!(answer.header("connection"), Some("close"), "{name}");
        assert_eq!(client.rest(), "", "{name}: one answer, then the end");
    }
    let mut cut = served.client();
    cut.send("GET /healthz HTT");
    cut.end();
    assert!(cut.answer().expect("an answer").refused(400, "invalid_argument").contains("broke off"));
    assert_eq!(served.ask(with("GET /healthz HTTP/1.1", "")).status, 200);
}

#[test]
fn a_bad_head_behind_a_good_request_gets_an_answer_of_its_own() {
    let served = Served::open(&[]);
    let mut client = served.client();
    client.send(
        [post("server_identity", "{}"), post("server_identity", "{}"), b"\x16\x03\x01\r\n\r\n".to_vec()].concat(),
    );
    assert_eq!(client.answer().map(|answer| answer.status), Some(200));
    assert_eq!(client.answer().map(|answer| answer.status), Some(200));
    client.answer().expect("an answer").refused(400, "invalid_argument");
    assert_eq!(client.rest(), "");
}

#[test]
fn hosts_and_paths_that_are_not_ours_are_refused() {
    let served = Served::open(&[]);
    let rows: [(&str, Vec<u8>, u16, &str); 16] = [
        ("an address of another host", with("GET http://evil.example/openapi.json HTTP/1.1", ""), 403, "forbidden"),
        (
            "with our name before it",
            with("GET http://localhost@evil.example/openapi.json HTTP/1.1", ""),
            400,
            "invalid_argument",
        ),
        ("two hosts", with("GET /openapi.json HTTP/1.1", "Host: evil.example\r\n"), 400, "invalid_argument"),
        ("another host", b"GET /openapi.json HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_vec(), 403, "forbidden"),
        ("no host", b"GET /openapi.json HTTP/1.1\r\n\r\n".to_vec(), 400, "invalid_argument"),
        ("no host in HTTP/1.0", b"GET /openapi.json HTTP/1.0\r\n\r\n".to_vec(), 400, "invalid_argument"),
        ("a tunnel", with("CONNECT evil.example:443 HTTP/1.1", ""), 403, "forbidden"),
        ("dots", with("GET /api/../healthz HTTP/1.1", ""), 405, "invalid_argument"),
        ("encoded dots", with("GET /api/%2e%2e/healthz HTTP/1.1", ""), 405, "invalid_argument"),
        ("encoded slashes", with("POST /api/..%2f..%2fetc/passwd HTTP/1.1", ""), 404, "not_found"),
        ("an encoded NUL", with("POST /api/led%00ger/server_identity HTTP/1.1", ""), 404, "not_found"),
        ("no UTF-8", with("POST /api/%ff%fe/server_identity HTTP/1.1", ""), 404, "not_found"),
        ("half an encoding", with("POST /api/ledger%2/server_identity HTTP/1.1", ""), 404, "not_found"),
        (
            "a long path",
            with(&format!("POST /api/{}/server_identity HTTP/1.1", "a".repeat(8_000)), ""),
            404,
            "not_found",
        ),
        ("empty parts", with("POST //api//ledger//server_identity HTTP/1.1", ""), 404, "not_found"),
        ("a page of origin null", with("GET /healthz HTTP/1.1", "Origin: null\r\n"), 403, "forbidden"),
    ];
    for (name, bytes, status, code) in rows {
        let answer = served.ask(bytes);
        println!("{name}: {} {}", answer.status, answer.body);
        answer.refused(status, code);
        assert!(answer.body.len() < 500, "{name}: what was sent is not repeated at length: {}", answer.body.len());
    }
    assert_eq!(served.ask("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n").status, 200);
    assert_eq!(served.ask("GET http://localhost/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 200);
}

#[test]
fn nothing_is_smuggled_behind_a_body_of_two_lengths() {
    let served = Served::open(&[]);
    let hidden = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let both =
        ["Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n"];
    for headers in both {
        let mut client = served.client();
        client.send(head("server_identity", headers) + "0\r\n\r\n" + hidden);
        let answer = client.answer().expect("an answer");
        assert_eq!((answer.status, answer.header("connection")), (200, Some("close")), "{answer:?}");
        assert_eq!(client.rest(), "", "the chunks count, and nothing after them is a request");
    }
    let mut same = served.client();
    same.send(head("server_identity", "Content-Length: 2\r\nContent-Length: 2\r\n") + "{}" + hidden);
    assert_eq!(same.answer().map(|answer| answer.status), Some(200));
    assert_eq!(same.answer().map(|answer| answer.status), Some(200), "the same length twice is one length");
}

#[test]
fn chunks_that_are_badly_framed_end_the_connection() {
    let served = Served::open(&[]);
    let long_extension = format!("2;{}\r\n{{}}\r\n0\r\n\r\n", "a".repeat(100_000));
    let trailers: String = (0..2_000).map(|number| format!("X-{number}: 1\r\n")).collect();
    let rows = [
        ("no number", "zz\r\n{}\r\n0\r\n\r\n".to_owned()),
        ("beyond all numbers", "fffffffffffffffff\r\n{}".to_owned()),
        ("a sign", "+2\r\n{}\r\n0\r\n\r\n".to_owned()),
        ("a prefix", "0x2\r\n{}\r\n0\r\n\r\n".to_owned()),
        ("shorter than told", "1\r\n{}\r\n0\r\n\r\n".to_owned()),
        ("line feeds alone", "2\n{}\n0\n\n".to_owned()),
        ("a long extension", long_extension),
        ("many trailers", format!("2\r\n{{}}\r\n0\r\n{trailers}\r\n")),
    ];
    for (name, chunks) in rows {
        let mut client = served.client();
        client.send(
            head("server_identity", "Transfer-Encoding: chunked\r\n")
                + &chunks
                + "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        );
        let answer = client.answer().unwrap_or_else(|| panic!("{name}: no answer"));
        println!("{name}: {} {}", answer.status, answer.body);
        assert!(answer.refused(400, "invalid_argument").contains("badly framed"), "{name}");
        assert_eq!(client.rest(), "", "{name}: nothing behind it is a request");
    }
}
