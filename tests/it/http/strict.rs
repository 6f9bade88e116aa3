//! What could be taken in two ways, or would be dropped without a word, is refused.

use serde_json::json;

use super::served::{Reply, Served, token};
use crate::program::Place;

const JSON: (&str, &str) = ("Content-Type", "application/json");
const API: &str = "/api/ledger/task_list";

fn called(served: &Served, path: &str, headers: &[(&str, &str)]) -> Reply {
    served.client().ask("POST", path, headers, "{}").expect("an answer")
}

#[track_caller]
fn refused(reply: &Reply, status: u16, part: &str) {
    assert_eq!(reply.status, status, "{reply:?}");
    let error = &reply.json()["error"];
    let word = |name: &str| error[name].as_str().unwrap_or_default().to_ascii_lowercase();
    assert!(word("message").contains(part) || word("next").contains(part), "{part}: {reply:?}");
    assert!(word("next").ends_with("nothing was written."), "{reply:?}");
}

#[test]
fn a_header_that_counts_comes_once() {
    let place = Place::new();
    let served = Served::open(&place);
    let origin = format!("http://{}", served.address);
    for (name, value) in [
        ("HeyAira-Session", "codex:one"),
        ("HeyAira-Harness", "codex"),
        ("HeyAira-Model", "model"),
        ("HeyAira-Instance", "8e2a34a5-56ee-4b59-8cb1-92a6ad6a3a67"),
        ("HeyAira-Connection", "0123456789ab"),
        ("HeyAira-Named-Session", "codex:one"),
        ("Idempotency-Key", "key"),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Origin", origin.as_str()),
    ] {
        for path in [API, "/mcp/ledger"] {
            let twice = [JSON, ("Accept", "application/json, text/event-stream"), (name, value), (name, value)];
            refused(&called(&served, path, &twice), 400, &name.to_ascii_lowercase());
        }
    }
    refused(&called(&served, API, &[JSON, JSON]), 400, "content-type");
    let harmless = [JSON, ("Accept", "text/html"), ("Accept", "application/json"), ("X-Trace", "1"), ("X-Trace", "2")];
    assert_eq!(called(&served, API, &harmless).status, 200);
}

#[test]
fn a_host_has_no_user() {
    let place = Place::new();
    let served = Served::open(&place);
    for host in [format!("evil@{}", served.address), "evil@127.0.0.1".to_owned(), "a:b@localhost".to_owned()] {
        refused(&called(&served, API, &[JSON, ("Host", host.as_str())]), 400, "host");
        let address = format!("http://{host}{API}");
        refused(&called(&served, &address, &[JSON]), 400, "host");
        let address = format!("http://{}{API}", served.address);
        refused(&called(&served, &address, &[JSON, ("Host", host.as_str())]), 400, "host");
    }
}

#[test]
fn an_instance_is_compared_as_what_it_is() {
    let place = Place::new();
    let served = Served::open(&place);
    let profile = place.bare(&["profile", "ledger", "--json"]).json();
    let instance = profile["instance"].as_str().expect("an instance");
    let asked = |value: &str| called(&served, API, &[JSON, ("HeyAira-Instance", value)]);
    assert_eq!(asked(instance).status, 200);
    assert_eq!(asked(&instance.to_ascii_uppercase()).status, 200);
    assert_eq!(asked("8e2a34a5-56ee-4b59-8cb1-92a6ad6a3a67").code(), "identity_mismatch");
    for malformed in ["", "ledger", &instance[1..], &format!("{{{instance}}}"), &instance.replace('-', "")] {
        let reply = asked(malformed);
        assert_eq!((reply.status, reply.code().as_str()), (422, "invalid_argument"), "{reply:?}");
        assert!(reply.body.contains("heyaira-instance"), "{reply:?}");
    }
}

#[test]
fn arguments_are_in_the_body() {
    let place = Place::new();
    let served = Served::open(&place);
    refused(&called(&served, "/api/ledger/task_list?status=done", &[JSON]), 400, "body");
    assert_eq!(called(&served, "/api/ledger/task_list?", &[JSON]).status, 200, "nothing is said there");
}

#[test]
fn a_body_is_sent_as_it_is() {
    let place = Place::new();
    let served = Served::open(&place);
    for path in [API, "/mcp/ledger"] {
        for coding in ["gzip", "identity, gzip", "deflate", "x"] {
            let headers = [JSON, ("Accept", "application/json, text/event-stream"), ("Content-Encoding", coding)];
            let reply = called(&served, path, &headers);
            refused(&reply, 415, "identity");
            assert_eq!(reply.headers["accept-encoding"], "identity");
        }
    }
    assert_eq!(called(&served, API, &[JSON, ("Content-Encoding", "Identity")]).status, 200);
}

#[test]
fn the_media_type_is_read_whatever_its_case_by_both_ways() {
    let place = Place::new();
    let served = Served::open(&place);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let headers = [("Content-Type", "Application/JSON"), ("Accept", "application/json, text/event-stream")];
    for (path, body) in [(API, "{}"), ("/mcp/ledger", ping.as_str())] {
        let reply = served.client().ask("POST", path, &headers, body).expect("an answer");
        assert_eq!(reply.status, 200, "{path} {reply:?}");
    }
}

/// As balancers and supervisors ask: by an address of their own, in HTTP/1.0 without a name.
#[test]
fn health_is_told_under_every_name_though_not_to_pages() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    for path in ["/healthz", "/readyz"] {
        let asked = |headers: &[(&str, &str)]| served.client().ask("GET", path, headers, "").expect("an answer");
        for host in ["10.1.2.3:7420", "evil.example", ""] {
            assert_eq!(asked(&[("Host", host)]).status, 200, "{path} {host}");
        }
        let own = format!("http://{}", served.address);
        assert_eq!(asked(&[("Origin", own.as_str())]).status, 200);
        for (host, origin) in
            [(served.address.as_str(), "http://evil.example"), ("evil.example", "http://evil.example")]
        {
            let reply = asked(&[("Host", host), ("Origin", origin)]);
            assert_eq!((reply.status, reply.code().as_str()), (403, "forbidden"), "{path} {host} {origin}");
        }
        let old = served.client().raw(&format!("GET {path} HTTP/1.0\r\n\r\n")).expect("an answer");
        assert_eq!(old.status, 200, "{old:?}");
    }
    let good = token(&place, "agent", &["--project", "ledger"]);
    let reply = served.client_with(&good).ask("POST", API, &[JSON, ("Host", "evil.example")], "{}");
    assert_eq!(reply.expect("an answer").status, 403, "and nothing else is");
}

#[test]
fn a_body_that_is_no_json_is_told_so_without_being_quoted() {
    let place = Place::new();
    let served = Served::open(&place);
    let deep = "[".repeat(200) + &"]".repeat(200);
    for (body, part) in [
        ("{\"status\":", "breaks off"),
        ("{\"wombat\":}", "is no json"),
        ("{\"wombat\":\"\\ud800\"}", "surrogate"),
        ("{\"wombat\":1e999}", "numbers"),
        (deep.as_str(), "127 levels"),
    ] {
        let reply = served.client().ask("POST", API, &[JSON], body).expect("an answer");
        refused(&reply, 400, part);
        assert!(!reply.body.contains("wombat"), "{reply:?}");
    }
}
