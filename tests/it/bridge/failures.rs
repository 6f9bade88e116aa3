//! What the network does to a bridge: nothing is written twice, nothing is claimed that is not known, and it always ends.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use heyaira::domain::session::Observed;
use heyaira::operation::Pinned;
use heyaira::operations;
use heyaira::surface::mcp::remote::address::Address;
use heyaira::surface::mcp::remote::client::{Call, Client, Outcome};
use serde_json::{Value, json};

use super::Bridge;
use super::front::{Act, Front};
use crate::http::served::Served;
use crate::program::{Place, Server};

/// In what time the process leaves.
const LEAVES: Duration = Duration::from_secs(2);

fn bridge(address: &str, place: &Place) -> Server {
    Bridge::to(address).in_project("ledger").start(&place.write_context)
}

/// One call of each tool that writes, on a task at version 1.
fn writes(task: &str) -> [(&'static str, Value); 5] {
    [
        ("task_create", json!({"title": "Solitary", "summary": "s"})),
        (
            "task_update",
            json!({"task_id": task, "expected_version": 1, "summary": "s", "handoff_completed_append": "Once."}),
        ),
        ("task_takeover", json!({"task_id": task, "expected_version": 2, "session_ref": "label:once"})),
        ("memory_add", json!({"kind": "fact", "summary": "Once."})),
        ("message_send", json!({"to": task, "text": "Once.", "session_ref": "label:other"})),
    ]
}

/// That each of them was carried out once.
#[track_caller]
fn assert_once(place: &Place, task: &str) {
    let seen = place.ask(&["task", "get", task]);
    assert_eq!(seen["version"], 3, "{seen}");
    assert_eq!(seen["handoff_completed"].as_str().expect("a text").matches("Once.").count(), 1);
    assert_eq!(place.ask(&["task", "list", "Solitary"])["total"], 1);
    assert_eq!(place.ask(&["memory", "search", "--kind", "fact"])["total"], 1);
    let packet = place.ask(&["context", &format!("handoff: {} v3", &task[..8])]);
    assert_eq!(packet["messages"].as_array().map(Vec::len), Some(1), "{packet}");
}

#[test]
fn an_answer_that_is_lost_is_asked_for_again_and_the_write_is_done_once() {
    let place = Place::new();
    let served = Served::open(&place);
    let front = Front::new(&served.address, |number, _| if number % 2 == 0 { Act::Lose } else { Act::Pass });
    let mut bridge = bridge(&front.address, &place);
    let task = place.task("Import");
    for (tool, arguments) in writes(&task) {
        let answer = bridge.call(tool, arguments).unwrap_or_else(|refused| panic!("{tool}: {refused}"));
        assert!(answer.get("replayed").is_none() && answer.get("current_version").is_none(), "{tool}: {answer}");
    }
    assert_eq!(front.requests(), 10);
    assert_once(&place, &task);
}

#[test]
fn a_write_without_any_answer_is_told_so_and_the_same_call_later_is_no_second_one() {
    let place = Place::new();
    let served = Served::open(&place);
    let broken = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&broken);
    let front =
        Front::new(&served.address, move |_, _| if seen.load(Ordering::SeqCst) { Act::Lose } else { Act::Pass });
    let mut bridge = bridge(&front.address, &place);
    let task = place.task("Import");
    for (tool, arguments) in writes(&task) {
        broken.store(true, Ordering::SeqCst);
        let refused = bridge.call(tool, arguments.clone()).expect_err("no answer");
        assert!(refused.starts_with("unavailable: "), "{tool}: {refused}");
        assert!(refused.contains("the call may have been carried out"), "{tool}: {refused}");
        assert!(refused.contains("Call again with the same arguments in 5 seconds"), "{tool}: {refused}");
        let read = bridge.call("task_get", json!({"task_id": task})).expect_err("no answer");
        assert!(read.starts_with("unavailable: ") && !read.contains("carried out"), "{read}");
        broken.store(false, Ordering::SeqCst);
        assert_eq!(bridge.call(tool, arguments).expect("the first answer")["replayed"], true, "{tool}");
    }
    assert_once(&place, &task);
}

/// A refusal of the second sending is about that one: the first may have been carried out.
#[test]
fn what_is_refused_after_an_answer_was_lost_is_not_told_as_not_written_and_is_done_once() {
    let refusals = [("503 Service Unavailable", "unavailable"), ("401 Unauthorized", "unauthenticated")];
    for (status, code) in refusals {
        let place = Place::new();
        let served = Served::open(&place);
        let broken = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&broken);
        let body = json!({"error": {"code": code, "message": "later", "next": "Nothing was written.", "details": {}}});
        let answer = Front::json(status, &body);
        let lost = AtomicBool::new(false);
        let front = Front::new(&served.address, move |_, _| match seen.load(Ordering::SeqCst) {
            true if lost.swap(true, Ordering::SeqCst) => Act::Answer(answer.clone()),
            true => Act::Lose,
            false => {
                lost.store(false, Ordering::SeqCst);
                Act::Pass
            }
        });
        let mut bridge = bridge(&front.address, &place);
        let task = place.task("Import");
        for (tool, arguments) in writes(&task) {
            broken.store(true, Ordering::SeqCst);
            let refused = bridge.call(tool, arguments.clone()).expect_err("no answer");
            assert!(refused.contains("the call may have been carried out"), "{tool}: {refused}");
            assert!(refused.contains(code) && !refused.contains("Nothing was written"), "{tool}: {refused}");
            broken.store(false, Ordering::SeqCst);
            assert_eq!(bridge.call(tool, arguments).expect("the first answer")["replayed"], true, "{tool}");
        }
        assert_once(&place, &task);
    }
}

#[test]
fn a_server_that_goes_and_comes_back_is_found_again() {
    let place = Place::new();
    let mut served = Served::open(&place);
    let mut bridge = bridge(&served.address, &place);
    let address = served.address.clone();
    for round in 1..4 {
        bridge.call("task_create", json!({"title": "One", "summary": "s"})).expect("created");
        served.kill();
        for (tool, arguments) in [("task_list", json!({})), ("task_create", json!({"title": "Two", "summary": "s"}))] {
            let refused = bridge.call(tool, arguments).expect_err("no server");
            let expected = format!("unavailable: the HeyAira server at http://{address} ");
            assert!(refused.starts_with(&expected) && refused.contains("Call again"), "{refused}");
        }
        let mut command = place.command();
        command.args(["serve", "--listen", &address, "--auth", "none", "--json"]);
        served = Served::run(command);
        assert_eq!(bridge.call("task_list", json!({})).expect("a list")["total"], round);
    }
}

#[test]
fn a_server_that_was_never_reached_wrote_nothing_and_says_so() {
    let place = Place::new();
    let address = Served::open(&place).address.clone();
    let refused = bridge(&address, &place).call("memory_add", json!({"kind": "fact", "summary": "s"}));
    assert_eq!(
        refused.expect_err("no server"),
        format!(
            "unavailable: the HeyAira server at http://{address} cannot be reached: the connection was refused. Nothing \
             was written. Call again in 5 seconds; if it stays so, tell the owner of the server."
        )
    );
}

#[test]
fn a_name_that_cannot_be_resolved_says_so() {
    let place = Place::new();
    let bridge = Bridge::to_url("https://heyaira.invalid").in_project("ledger");
    let refused = bridge.start(&place.write_context).call("memory_add", json!({"kind": "fact", "summary": "s"}));
    let expected =
        "unavailable: the HeyAira server at https://heyaira.invalid cannot be reached: its name cannot be resolved";
    assert!(refused.as_ref().expect_err("no server").starts_with(expected), "{refused:?}");
}

#[test]
fn pages_of_others_are_told_without_their_text() {
    let place = Place::new();
    let page = "<html><title>Sign in</title>evil-words</html>";
    for (status, code, part) in [
        ("200 OK", "unavailable", "status 200 and what is no answer of HeyAira"),
        ("401 Unauthorized", "unavailable", "status 401"),
        ("403 Forbidden", "unavailable", "status 403"),
        ("404 Not Found", "unavailable", "status 404"),
        ("429 Too Many Requests", "unavailable", "status 429"),
        ("502 Bad Gateway", "unavailable", "something before the server answered with status 502"),
        ("503 Service Unavailable", "unavailable", "status 503"),
    ] {
        let front = Front::page(status, page);
        for tool in ["task_list", "memory_add"] {
            let refused = bridge(&front.address, &place).call(tool, json!({"summary": "s"})).expect_err("no server");
            assert!(refused.starts_with(&format!("{code}: ")) && refused.contains(part), "{status}: {refused}");
            assert!(!refused.contains("evil") && !refused.contains('<'), "{refused}");
        }
    }
    // JSON, but of something else: neither an answer nor a refusal of ours.
    for body in ["{\"status\":\"ok\"}", "{\"error\":{\"code\":\"evil-words\",\"message\":\"m\",\"next\":\"n\"}}"] {
        for status in ["200 OK", "403 Forbidden"] {
            let front = Front::new("", move |_, _| {
                let length = body.len();
                Act::Answer(format!(
                    "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
                ))
            });
            let refused = bridge(&front.address, &place).call("task_list", json!({})).expect_err("no server");
            assert!(refused.starts_with("unavailable: no HeyAira server answers at "), "{refused}");
            assert!(!refused.contains("evil"), "{refused}");
        }
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let place = Place::new();
    let served = Served::open(&place);
    let target = Front::new(&served.address, |_, _| Act::Pass);
    for status in [301, 302, 303, 307, 308] {
        let location = target.address.clone();
        let front = Front::new("", move |_, _| {
            Act::Answer(format!(
                "HTTP/1.1 {status} Elsewhere\r\nLocation: http://{location}/api/ledger/task_list\r\nContent-Length: 0\r\n\r\n"
            ))
        });
        let secret = format!("hya_{}", "A".repeat(43));
        let bridge = Bridge::to(&front.address).with_token(&secret).in_project("ledger");
        let refused = bridge.start(&place.write_context).call("task_list", json!({})).expect_err("a redirect");
        assert!(refused.contains(&format!("status {status}, a redirect, which is not followed")), "{refused}");
    }
    assert_eq!(target.requests(), 0);
}

#[test]
fn an_answer_that_does_not_come_is_given_up_and_counts_as_lost() {
    let front = Front::new("", |_, _| Act::Hang);
    let client = Client::new(Address::new(&format!("http://{}", front.address), false).expect("an address"));
    let pinned = Pinned { project: "ledger".to_owned(), instance: None };
    let call = Call {
        entry: operations::named("task_list").expect("a tool"),
        body: b"{}",
        pinned: &pinned,
        authorization: None,
        observed: &Observed::default(),
        connection: "abc",
        named_session: None,
        key: None,
    };
    let outcome = client.send(&call, Duration::from_millis(300)).expect("an outcome");
    assert!(matches!(&outcome, Outcome::Lost(reason) if reason == "no answer came in time"), "{outcome:?}");
}

/// The end of input and a signal end it while a call hangs in the network.
#[cfg(unix)]
#[test]
fn it_ends_in_time_though_a_call_hangs() {
    let (arrived, arrivals) = mpsc::channel();
    let front = Front::new("", move |_, _| {
        let _ = arrived.send(());
        Act::Hang
    });
    for signal in [None, Some("TERM"), Some("INT")] {
        let (mut command, _folder) = Bridge::to(&front.address).in_project("ledger").into_command();
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().expect("the program runs");
        let mut input = child.stdin.take().expect("a pipe");
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        for message in [
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "task_list", "arguments": {}}}),
        ] {
            std::io::Write::write_all(&mut input, format!("{message}\n").as_bytes()).expect("it reads");
        }
        arrivals.recv_timeout(Duration::from_secs(20)).expect("the call is in the network");
        let since = Instant::now();
        let open = match signal {
            None => {
                drop(input);
                None
            }
            Some(name) => {
                let sent =
                    std::process::Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status();
                assert!(sent.expect("kill runs").success());
                Some(input)
            }
        };
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{signal:?}");
        assert!(since.elapsed() < LEAVES, "{signal:?}: {:?}", since.elapsed());
        drop(open);
    }
}

#[test]
fn other_calls_are_answered_while_one_hangs() {
    let place = Place::new();
    let served = Served::open(&place);
    let front = Front::new(
        &served.address,
        |_, request| if request.contains("/memory_search ") { Act::Hang } else { Act::Pass },
    );
    let mut bridge = bridge(&front.address, &place);
    bridge.send_call("memory_search", json!({}));
    assert_eq!(bridge.call("task_list", json!({})).expect("a list")["total"], 0);
    assert_eq!(bridge.end(), Some(0));
}
