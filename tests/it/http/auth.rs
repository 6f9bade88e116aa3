//! Who is let in, where, and as whom.

use serde_json::json;

use super::served::{Client, Reply, Served, token};
use crate::program::Place;

const LEDGER: [&str; 2] = ["--project", "ledger"];

fn initialize() -> serde_json::Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}})
}

fn message(client: &mut Client, method: &str, params: &serde_json::Value) -> Reply {
    client.message(method, params, "2025-11-25").expect("an answer")
}

/// Discovery addresses of an authorization server that does not exist are nothing, and a refusal asks for a bearer.
#[test]
fn rw_041_static_tokens_begin_no_dance() {
    let place = Place::new();
    let good = token(&place, "agent", &LEDGER);
    let served = Served::start(&place, &[]);
    let mut client = served.client();
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp/ledger",
        "/.well-known/openid-configuration",
        "/register",
        "/",
    ] {
        let reply = client.ask("GET", path, &[], "").expect("an answer");
        assert_eq!((reply.status, reply.code().as_str()), (404, "not_found"), "{path}");
        assert_eq!(reply.headers["content-type"], "application/json");
        assert!(reply.body.len() < 300, "{}", reply.body);
    }
    let wrong = format!("hya_{}", "A".repeat(43));
    let sent = [None, Some(format!("Bearer {wrong}")), Some("Bearer".to_owned()), Some(format!("Basic {good}"))];
    for authorization in sent {
        for path in ["/mcp/ledger", "/api/ledger/task_list", "/mcp/unknown"] {
            let mut headers =
                vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
            headers.extend(authorization.as_deref().map(|value| ("Authorization", value)));
            let reply = client.ask("POST", path, &headers, "{}").expect("an answer");
            assert_eq!((reply.status, reply.code().as_str()), (401, "unauthenticated"), "{path} {reply:?}");
            assert!(reply.headers["www-authenticate"].starts_with("Bearer"), "{reply:?}");
            assert!(!reply.headers.contains_key("location"));
            assert!(!reply.body.contains("hya_"), "no token is echoed: {reply:?}");
        }
    }
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let authorization = format!("{scheme} {good}");
        let headers = [("authorization", authorization.as_str()), ("Content-Type", "application/json")];
        assert_eq!(
            client.ask("POST", "/api/ledger/task_list", &headers, "{}").expect("an answer").status,
            200,
            "{scheme}"
        );
    }
}

/// There are no sessions, so none can be lost.
#[test]
fn rw_040_a_session_id_of_before_a_restart_does_no_harm() {
    let place = Place::new();
    let mut served = Served::open(&place);
    let mut client = served.client();
    let hello = message(&mut client, "initialize", &initialize());
    assert_eq!(hello.status, 200);
    assert!(!hello.headers.contains_key("mcp-session-id"), "{hello:?}");
    served.kill();
    let again = Served::open(&place);
    let mut client = again.client();
    client.headers.push(("Mcp-Session-Id".to_owned(), "0d6abdb3-f143-4464-baba-8fdefa099573".to_owned()));
    let called = message(&mut client, "tools/call", &json!({"name": "task_list", "arguments": {}}));
    assert_eq!(called.status, 200, "{called:?}");
    assert_eq!(message(&mut client, "initialize", &initialize()).status, 200);
    let ended = client.ask("DELETE", "/mcp/ledger", &[], "").expect("an answer");
    assert_eq!((ended.status, ended.headers["allow"].as_str()), (405, "POST"));
    let stream = client.ask("GET", "/mcp/ledger", &[("Accept", "text/event-stream")], "").expect("an answer");
    assert_eq!(stream.status, 405);
}

#[test]
fn a_token_opens_its_project_and_no_other_and_tells_both_alike() {
    let place = Place::new();
    assert_eq!(place.bare(&["project", "create", "secret"]).code, 0);
    let served = Served::start(&place, &[]);
    let mut one = served.client_with(&token(&place, "one", &LEDGER));
    let mut all = served.client_with(&token(&place, "all", &["--all-projects"]));
    for path in ["api", "mcp"] {
        let address = |project: &str| match path {
            "api" => format!("/api/{project}/task_list"),
            _ => format!("/mcp/{project}"),
        };
        let foreign = one.post(&address("secret"), &json!({}));
        let unknown = one.post(&address("secres"), &json!({}));
        assert_eq!((foreign.status, foreign.code().as_str()), (404, "not_found"), "{foreign:?}");
        assert_eq!(foreign.body.replace("secret", "secres"), unknown.body, "told alike");
        let unknown = all.post(&address("secres"), &json!({}));
        assert_eq!((unknown.status, unknown.code().as_str()), (404, "not_found"), "{unknown:?}");
    }
    assert_eq!(all.post("/api/secret/task_list", &json!({})).status, 200);
    assert_eq!(one.post("/api/ledger/task_list", &json!({})).status, 200);
}

#[test]
fn what_is_written_carries_the_name_of_the_credential() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let mut client = served.client_with(&token(&place, "night agent", &LEDGER));
    let context = place.write_context.as_str();
    let made = client.api("task_create", &json!({"write_context": context, "title": "t", "summary": "s"})).json();
    let id = made["task_id"].as_str().expect("an id");
    client.headers.push(("HeyAira-Session".to_owned(), "codex:01a2f6de".to_owned()));
    client.headers.push(("User-Agent".to_owned(), "codex-mcp-client/0.171.0 (linux)".to_owned()));
    let update = json!({"task_id": id, "expected_version": 1, "write_context": context, "summary": "two",
        "work_receipt": {"completed_work": "half"}});
    let changed = client.api("task_update", &update);
    assert_eq!(changed.status, 200, "{changed:?}");
    let history = place.ask(&["task", "history", id]);
    let callers: Vec<&str> =
        history["versions"].as_array().expect("versions").iter().filter_map(|one| one["caller"].as_str()).collect();
    assert_eq!(callers, ["night agent", "night agent"], "{history}");
    let task = place.ask(&["task", "get", id]);
    assert!(task.to_string().contains("codex:01a2f6de"), "the session that the header names: {task}");
    assert!(task.to_string().contains("codex 0.171.0"), "the program that the header names: {task}");
}

#[test]
fn a_password_in_the_user_agent_is_not_kept() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let mut client = served.client_with(&token(&place, "agent", &LEDGER));
    let password = ["I4ROnl89", "Sm995y"].concat();
    client.headers.push(("User-Agent".to_owned(), format!("postgres://svc:{password}@db.example.io/app 1.0")));
    let context = place.write_context.as_str();
    let made = client.api("task_create", &json!({"write_context": context, "title": "t", "summary": "s"})).json();
    let history = place.ask(&["task", "history", made["task_id"].as_str().expect("an id")]);
    assert!(history["versions"][0]["harness"].is_null(), "{history}");
}

/// Codex 0.171 as seen on the wire: its messages do not say who it is, and no handshake is kept.
#[test]
fn a_client_with_a_handshake_is_known_by_its_user_agent_and_its_session_by_its_calls() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let session = "01a22847-1491-7893-b661-be39e10dd5c6";
    let meta = json!({"threadId": session, "sessionId": session, "progressToken": 1,
        "x-codex-turn-metadata": {"session_id": session, "thread_id": session, "model": "gpt-5.6-codex"}});
    let cases = [
        (Some("codex-mcp-client/0.171.0"), Some(format!("codex:{session}")), json!("codex 0.171.0")),
        (Some("other/1.0"), None, json!("other 1.0")),
        (None, None, json!(null)),
    ];
    for (number, (user_agent, owner, harness)) in cases.into_iter().enumerate() {
        let mut client = served.client_with(&token(&place, &format!("agent {number}"), &LEDGER));
        let context = place.write_context.as_str();
        let made = client.api("task_create", &json!({"write_context": context, "title": "t", "summary": "s"})).json();
        client.headers.extend(user_agent.map(|agent| ("User-Agent".to_owned(), agent.to_owned())));
        let arguments = json!({"task_id": made["task_id"], "expected_version": 1, "write_context": context});
        let params = json!({"name": "task_takeover", "arguments": arguments, "_meta": meta});
        let reply = client.message("tools/call", &params, "2025-06-18").expect("an answer");
        assert_eq!(reply.status, 200, "{reply:?}");
        let history = place.ask(&["task", "history", made["task_id"].as_str().expect("an id")]);
        assert_eq!(history["versions"][0]["harness"], harness, "{history}");
        let task = place.ask(&["task", "get", made["task_id"].as_str().expect("an id")]);
        let owner = owner.unwrap_or_else(|| format!("agent {number}"));
        assert_eq!(task["owner"], json!(owner), "{task}");
    }
}

#[test]
fn roles_bound_what_a_token_may_do() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let mut reader = served.client_with(&token(&place, "reader", &["--project", "ledger", "--role", "read"]));
    assert_eq!(reader.api("task_list", &json!({})).status, 200);
    let write = json!({"write_context": place.write_context, "title": "t", "summary": "s"});
    let refused = reader.api("task_create", &write);
    assert_eq!((refused.status, refused.code().as_str()), (403, "forbidden"), "{refused:?}");
    let text = reader.call("task_create", &write).expect("an answer").expect_err("refused");
    assert!(text.starts_with("forbidden: task_create needs the role write"), "{text}");
    let mut admin = served.client_with(&token(&place, "chief", &["--all-projects", "--role", "admin"]));
    let refused = admin.api("token_create", &json!({"name": "more", "project": "ledger"}));
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (404, "not_found"),
        "tokens are made on the machine: {refused:?}"
    );
    assert_eq!(place.ask(&["task", "list"])["total"], 0);
}

#[test]
fn a_token_is_refused_from_the_moment_it_is_revoked_rotated_or_expired() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let (revoked, rotated) = (token(&place, "revoked", &LEDGER), token(&place, "rotated", &LEDGER));
    let (mut first, mut second) = (served.client_with(&revoked), served.client_with(&rotated));
    assert_eq!(first.api("task_list", &json!({})).status, 200);
    assert_eq!(second.api("task_list", &json!({})).status, 200);
    assert_eq!(place.bare(&["token", "revoke", "revoked"]).code, 0);
    let new = place.bare(&["token", "rotate", "rotated", "--json"]).json();
    assert_eq!(first.api("task_list", &json!({})).status, 401, "at once, on the same connection");
    assert_eq!(second.api("task_list", &json!({})).status, 401);
    let mut third = served.client_with(new["token"].as_str().expect("a token"));
    assert_eq!(third.api("server_identity", &json!({})).json()["caller"], "rotated");
}

#[test]
fn guessing_is_slowed_down_and_valid_tokens_are_served_meanwhile() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let mut good = served.client_with(&token(&place, "agent", &LEDGER));
    let mut bad = served.client_with(&format!("hya_{}", "B".repeat(43)));
    let statuses: Vec<u16> = (0..25).map(|_| bad.api("task_list", &json!({})).status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 20, "{statuses:?}");
    let slowed = bad.api("task_list", &json!({}));
    assert_eq!((slowed.status, slowed.code().as_str()), (429, "rate_limited"));
    let wait: u64 = slowed.headers["retry-after"].parse().expect("seconds");
    assert!((1..=60).contains(&wait), "{slowed:?}");
    assert_eq!(good.api("task_list", &json!({})).status, 200, "from the same address");
}

#[test]
fn everyone_is_let_in_on_loopback_only() {
    let place = Place::new();
    let refused = place.bare(&["serve", "--listen", "0.0.0.0:0", "--auth", "none", "--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (2, &json!("not_allowed")), "{refused:?}");
    let refused = place.bare(&["serve", "--listen", "nowhere", "--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (2, &json!("invalid_argument")), "{refused:?}");
}

#[test]
fn other_hosts_and_origins_are_refused_unless_the_owner_names_them() {
    let place = Place::new();
    let words = ["--auth", "none", "--allow-host", "Tasks.Example.org", "--allow-origin", "https://page.example.org"];
    let served = Served::start(&place, &words);
    let mut client = served.client();
    let own = served.address.clone();
    let port = own.rsplit(':').next().expect("a port");
    let (localhost, loud) = (format!("localhost:{port}"), format!("http://LOCALHOST:{port}"));
    for (headers, status) in [
        (vec![("Host", own.as_str())], 200),
        (vec![("Host", localhost.as_str())], 200),
        (vec![("Host", "tasks.example.org")], 200),
        (vec![("Host", "evil.example")], 403),
        (vec![("Host", "127.0.0.1.evil.example")], 403),
        (vec![("Host", "")], 400),
        (vec![("Host", own.as_str()), ("Host", own.as_str())], 400),
        (vec![("Host", own.as_str()), ("Origin", "http://evil.example")], 403),
        (vec![("Host", own.as_str()), ("Origin", "null")], 403),
        (vec![("Host", own.as_str()), ("Origin", "http://localhost:3000")], 403),
        (vec![("Host", own.as_str()), ("Origin", "https://page.example.org")], 200),
        (vec![("Host", localhost.as_str()), ("Origin", loud.as_str())], 200),
    ] {
        let mut all = headers.clone();
        all.extend([("Content-Type", "application/json")]);
        let reply = client.ask("POST", "/api/ledger/task_list", &all, "{}").expect("an answer");
        assert_eq!(reply.status, status, "{headers:?} {reply:?}");
        if status != 200 {
            assert!(!reply.code().is_empty());
        }
    }
    let origin = format!("http://{own}");
    let headers = [("Origin", origin.as_str()), ("Content-Type", "application/json")];
    assert_eq!(client.ask("POST", "/api/ledger/task_list", &headers, "{}").expect("an answer").status, 200);
}

/// A page in a browser is let in by headers, after a question without a credential.
#[test]
fn pages_of_an_allowed_origin_are_told_so_and_no_others() {
    let place = Place::new();
    let served = Served::start(&place, &["--allow-origin", "https://page.example.org/"]);
    let good = token(&place, "page", &LEDGER);
    let mut client = served.client();
    let mut asked = |origin: &str| {
        let headers = [
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization,content-type"),
        ];
        client.ask("OPTIONS", "/api/ledger/task_list", &headers, "").expect("an answer")
    };
    let yes = asked("https://page.example.org");
    assert_eq!((yes.status, yes.headers["access-control-allow-origin"].as_str()), (200, "https://page.example.org"));
    assert!(yes.headers["access-control-allow-headers"].contains("authorization"), "{yes:?}");
    let no = asked("https://other.example.org");
    assert_eq!((no.status, no.headers.get("access-control-allow-origin")), (403, None), "{no:?}");
    let headers = [("Origin", "https://page.example.org"), ("Content-Type", "application/json")];
    let called = served.client_with(&good).ask("POST", "/api/ledger/task_list", &headers, "{}").expect("an answer");
    assert_eq!(
        (called.status, called.headers["access-control-allow-origin"].as_str()),
        (200, "https://page.example.org")
    );
    let refused = served.client().ask("POST", "/api/ledger/task_list", &headers, "{}").expect("an answer");
    assert_eq!(
        (refused.status, refused.headers["access-control-allow-origin"].as_str()),
        (401, "https://page.example.org")
    );
}

#[test]
fn what_http_does_not_allow_here_is_told_with_the_right_status() {
    let place = Place::new();
    let served = Served::open(&place);
    let mut client = served.client();
    let json_type = ("Content-Type", "application/json");
    let api = "/api/ledger/task_list";
    for (method, path, headers, body, status) in [
        ("GET", api, vec![], "", 405),
        ("PUT", api, vec![], "", 405),
        ("POST", api, vec![], "{}", 415),
        ("POST", api, vec![("Content-Type", "text/plain")], "{}", 415),
        ("POST", api, vec![json_type, ("Accept", "text/html")], "{}", 406),
        ("POST", api, vec![json_type], "{", 400),
        ("POST", api, vec![json_type], "[]", 422),
        ("POST", api, vec![json_type], "{\"statu\": 1}", 422),
        ("POST", api, vec![json_type, ("HeyAira-Session", "no session")], "{}", 422),
        ("POST", "/api/ledger/unknown_tool", vec![json_type], "{}", 404),
        ("POST", "/api/ledger/project_purge", vec![json_type], "{}", 404),
        ("POST", "/api/LEDGER/task_list", vec![json_type], "{}", 404),
        ("POST", "/api/led%00ger/task_list", vec![json_type], "{}", 404),
        ("POST", "/api/%ff/task_list", vec![json_type], "{}", 404),
        ("POST", "/api/ledger", vec![json_type], "{}", 404),
        ("POST", "/mcp/ledger", vec![json_type], "{}", 406),
        ("POST", "/mcp/ledger", vec![("Accept", "application/json, text/event-stream")], "{}", 415),
        ("GET", "/mcp/ledger", vec![], "", 405),
        ("POST", "/mcp/unknown", vec![json_type], "{}", 404),
    ] {
        let reply = client.ask(method, path, &headers, body).expect("an answer");
        assert_eq!(reply.status, status, "{method} {path} {headers:?} {reply:?}");
        let error = &reply.json()["error"];
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{reply:?}");
        assert!(error["next"].as_str().is_some_and(|text| !text.is_empty()), "{reply:?}");
    }
    let whole = [json_type, ("Accept", "application/json, text/event-stream")];
    let broken = client.ask("POST", "/mcp/ledger", &whole, "{").expect("an answer");
    assert_eq!((broken.status, &broken.json()["error"]["code"]), (400, &json!(-32700)), "{broken:?}");
}

#[test]
fn names_that_no_request_can_have_are_refused_at_the_start() {
    let place = Place::new();
    // On a port that is taken, so that what is not refused does not serve for ever.
    let served = Served::open(&place);
    for (flag, name) in [
        ("--allow-host", ""),
        ("--allow-host", "tasks.example.org:443"),
        ("--allow-host", "https://tasks.example.org"),
        ("--allow-origin", "*"),
        ("--allow-origin", "null"),
        ("--allow-origin", "page.example.org"),
        ("--allow-origin", "https://page.example.org/path"),
    ] {
        let refused = place.bare(&["serve", "--listen", &served.address, flag, name]);
        assert_eq!(refused.code, 2, "{name}: {refused:?}");
        assert!(refused.err.contains(&format!("{} \"{name}\" is no", &flag[2..])), "{name}: {refused:?}");
    }
}
