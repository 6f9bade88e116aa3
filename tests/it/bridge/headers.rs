//! The headers of a bridge, as a server takes them from anyone.

use heyaira::surface::headers::{decoded, encoded};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::http::served::{Client, Reply, Served};
use crate::program::Place;
use crate::secrets::set::drawn;

fn ask(client: &mut Client, headers: &[(&str, &str)], tool: &str, arguments: &Value) -> Reply {
    let headers = [&[("Content-Type", "application/json")], headers].concat();
    client.ask("POST", &format!("/api/ledger/{tool}"), &headers, &arguments.to_string()).expect("an answer")
}

#[test]
fn a_key_in_the_header_is_one_for_every_tool_that_writes() {
    let place = Place::new();
    let served = Served::open(&place);
    let mut client = served.client();
    let task = place.task("Import");
    let context = &place.write_context;
    let takeover =
        json!({"task_id": task, "expected_version": 1, "write_context": context, "session_ref": "label:one"});
    let other = json!({"task_id": task, "expected_version": 1, "write_context": context, "session_ref": "label:other"});
    let key = [("Idempotency-Key", "k-1")];
    let first = ask(&mut client, &key, "task_takeover", &takeover).json();
    let again = ask(&mut client, &key, "task_takeover", &takeover).json();
    assert_eq!((&again["version"], &again["replayed"]), (&first["version"], &json!(true)), "{again}");
    assert_eq!(ask(&mut client, &key, "task_takeover", &other).code(), "not_allowed");
    assert_eq!(ask(&mut client, &[], "task_takeover", &takeover).code(), "version_conflict");
    // The argument wins, and what only reads has no use for a key.
    let creation = |key: &str| json!({"title": "t", "summary": "s", "write_context": context, "idempotency_key": key});
    let made =
        [(); 2].map(|()| ask(&mut client, &[("Idempotency-Key", "k-2")], "task_create", &creation("own")).json());
    assert_eq!((&made[1]["task_id"], &made[1]["replayed"]), (&made[0]["task_id"], &json!(true)));
    let other = ask(&mut client, &[("Idempotency-Key", "k-2")], "task_create", &creation("another")).json();
    assert_ne!(other["task_id"], made[0]["task_id"]);
    for _ in 0..2 {
        assert_eq!(ask(&mut client, &key, "task_list", &json!({})).json().get("replayed"), None);
    }
    for wrong in ["", "UTF-8''%FF", &"k".repeat(201)] {
        assert_eq!(ask(&mut client, &[("Idempotency-Key", wrong)], "task_list", &json!({})).code(), "invalid_argument");
    }
}

#[test]
fn only_a_bridge_is_told_of_its_connection_and_answered_as_an_agent() {
    let place = Place::new();
    let served = Served::open(&place);
    let mut client = served.client();
    let plain = ask(&mut client, &[], "task_list", &json!({}));
    assert!(!plain.headers.keys().any(|name| name.starts_with("heyaira-")), "{plain:?}");
    let bridge = [("HeyAira-Connection", "abc123"), ("HeyAira-Named-Session", "UTF-8''label:%C3%BC")];
    let told = ask(&mut client, &bridge, "task_list", &json!({}));
    assert_eq!(
        (told.headers["heyaira-connection"].as_str(), told.headers["heyaira-named-session"].as_str()),
        (bridge[0].1, bridge[1].1)
    );
    let draft = json!({"draft": {"title": "t"}});
    assert_eq!(ask(&mut client, &[], "handoff_check", &draft).code(), "invalid_argument");
    let refused = ask(&mut client, &bridge, "handoff_check", &draft).json();
    assert!(refused["error"]["message"].as_str().expect("a text").contains("draft is unknown"), "{refused}");
    for wrong in ["", "a b", "ab\u{fc}", &"a".repeat(41)] {
        let reply = ask(&mut client, &[("HeyAira-Connection", wrong)], "task_list", &json!({}));
        assert_eq!(reply.code(), "invalid_argument", "{wrong}");
    }
    let reply = ask(&mut client, &[bridge[0], ("HeyAira-Named-Session", "no session")], "task_list", &json!({}));
    assert_eq!(reply.code(), "invalid_argument");
}

/// What a header names is stored with what is written, as an owner, in the history, with a key.
#[test]
fn our_own_secrets_are_refused_in_headers_that_are_stored() {
    let place = Place::new();
    let served = Served::open(&place);
    let mut client = served.client();
    let task = place.task("Import");
    let takeover = json!({"task_id": task, "expected_version": 1, "write_context": place.write_context});
    for secret in [drawn("token", &mut Dice::new(7)), place.write_context.clone()] {
        let label = format!("label:{secret}");
        for headers in [
            vec![("HeyAira-Session", label.as_str())],
            vec![("HeyAira-Connection", "abc123"), ("HeyAira-Named-Session", label.as_str())],
            vec![("HeyAira-Session", "label:one"), ("Idempotency-Key", secret.as_str())],
        ] {
            let reply = ask(&mut client, &headers, "task_takeover", &takeover);
            assert_eq!(reply.code(), "secret_refused", "{headers:?}");
            assert!(!reply.json().to_string().contains(&secret), "{reply:?}");
        }
    }
    assert_eq!(place.ask(&["task", "get", &task])["version"], 1);
}

proptest! {
    #[test]
    fn every_text_goes_through_a_header_unchanged(text in any::<String>()) {
        let value = encoded(&text);
        prop_assert!(value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()));
        prop_assert_eq!(value.trim(), value.as_ref());
        let read = decoded(&value).map(std::borrow::Cow::into_owned);
        prop_assert_eq!(read, Some(text));
    }
}
