//! Whether a server lives and can serve, and how it ends.

use serde_json::json;

use super::served::Served;
use crate::program::Place;

#[test]
fn health_is_told_to_everyone_and_says_no_more() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let mut client = served.client();
    let profile = place.bare(&["profile", "ledger", "--json"]).json();
    let ready = json!({"status": "ready", "instance": profile["instance"]});
    for (path, said) in [("/healthz", json!({"status": "ok"})), ("/readyz", ready)] {
        let reply = client.ask("GET", path, &[], "").expect("an answer");
        assert_eq!((reply.status, reply.json()), (200, said), "{path}");
        assert_eq!(client.ask("HEAD", path, &[], "").expect("an answer").status, 200);
        let refused = client.post(path, &json!({}));
        assert_eq!((refused.status, refused.headers["allow"].as_str()), (405, "GET, HEAD"));
    }
}

#[test]
fn the_description_is_served_to_everyone() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let reply = served.client().ask("GET", "/openapi.json", &[], "").expect("an answer");
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json(), heyaira::surface::http::openapi::description());
    assert!(reply.json()["paths"]["/api/{project}/task_update"]["post"].is_object());
}

#[test]
fn the_description_says_how_long_headers_may_be_and_that_a_body_is_asked_for() {
    let place = Place::new();
    let served = Served::open(&place);
    let description = heyaira::surface::http::openapi::description();
    for (parameter, begin) in [("session", "codex:"), ("harness", ""), ("model", "")] {
        let described = &description["components"]["parameters"][parameter];
        let name = described["name"].as_str().expect("a header has a name");
        let longest = usize::try_from(described["schema"]["maxLength"].as_u64().expect("a limit")).expect("a length");
        for (length, status) in [(longest, 200), (longest + 1, 422)] {
            let value = format!("{begin}{}", "x".repeat(length - begin.len()));
            let headers = [("Content-Type", "application/json"), (name, value.as_str())];
            let reply = served.client().ask("POST", "/api/ledger/task_list", &headers, "{}").expect("an answer");
            assert_eq!(reply.status, status, "{name} of {length} characters: {reply:?}");
        }
    }
    let reply = served.client().ask("POST", "/api/ledger/task_list", &[], "").expect("an answer");
    assert_eq!(reply.status, 415, "no body");
    assert_eq!(description["paths"]["/api/{project}/task_list"]["post"]["requestBody"]["required"], true);
}

#[test]
fn without_its_database_it_lives_but_is_not_ready_and_comes_back_by_itself() {
    let place = Place::new();
    let served = Served::open(&place);
    let mut client = served.client();
    assert_eq!(client.api("task_list", &json!({})).status, 200);
    assert_eq!(place.bare(&["backup", "copy.db"]).code, 0);
    let folder = place.database.file().parent().expect("a folder").to_owned();
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        std::fs::remove_file(entry.expect("an entry").path()).expect("it is ours");
    }
    let reply = client.api("task_list", &json!({}));
    assert_eq!((reply.status, reply.code().as_str()), (503, "unavailable"));
    assert_eq!(reply.headers["retry-after"], "1", "{reply:?}");
    assert_eq!(client.ask("GET", "/readyz", &[], "").expect("an answer").status, 503);
    assert_eq!(client.ask("GET", "/healthz", &[], "").expect("an answer").status, 200);
    std::fs::copy(place.folder.path().join("copy.db"), place.database.file()).expect("a copy");
    assert_ne!(client.ask("GET", "/readyz", &[], "").expect("an answer").status, 500);
    assert_eq!(client.ask("GET", "/readyz", &[], "").expect("an answer").status, 200);
    assert_eq!(client.api("task_list", &json!({})).status, 200);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_success() {
    let place = Place::new();
    let mut served = Served::open(&place);
    let mut client = served.client();
    assert_eq!(client.api("task_list", &json!({})).status, 200);
    assert_eq!(served.end(), Some(0), "an idle connection does not hold it");
    assert!(client.ask("GET", "/healthz", &[], "").is_none(), "the connection is closed");
}
