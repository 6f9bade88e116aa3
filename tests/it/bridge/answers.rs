//! What comes over a bridge is what comes from the database itself. That each tool and each refusal is the same is
//! held by `http/same.rs`, where the bridge is one of the ways in; here is what only a connection has.

use serde_json::{Value, json};

use super::Bridge;
use super::front::{Act, Front};
use crate::http::served::{Served, token};
use crate::program::{Place, Server, outcome, write_file};

/// A server that lets everyone in, and a bridge to it.
fn bridged(place: &Place) -> (Served, Server) {
    let served = Served::open(place);
    let bridge = Bridge::to(&served.address).in_project("ledger").start(&place.write_context);
    (served, bridge)
}

fn modern(params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    });
    params
}

#[test]
fn lists_prompts_resources_and_wrong_calls_are_answered_to_the_byte() {
    let place = Place::new();
    let (_served, mut bridge) = bridged(&place);
    let mut local = place.server();
    let id = place.task("Import statements");
    let context = place.write_context.clone();
    let call = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
    for (method, params) in [
        ("server/discover", modern(json!({}))),
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "take-over-session", "arguments": {"line": "handoff: 8e287857 v7"}})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": format!("heyaira://ledger/task/{id}/v1")})),
        ("resources/read", json!({"uri": "heyaira://ledger/task/00000000"})),
        ("resources/read", json!({"uri": format!("heyaira://other/task/{id}")})),
        call("no_such_tool", json!({})),
        call("handoff_check", json!({"task_id": id, "drafft": {}})),
        call("handoff_check", json!({"task_id": id, "draft": {"title": "t"}})),
        call("task_get", json!({})),
        call("task_get", json!("text")),
        call("task_get", json!([1, 2])),
        call("task_update", json!({"task_id": id, "expected_version": 0, "status": "x", "write_context": context})),
        call("task_update", json!({"task_id": id, "expected_version": 1})),
        call("task_update", json!({"task_id": id, "description": "x".repeat(1_100_000)})),
        call("memory_add", json!({"kind": "fact", "summary": "s", "write_context": "other@00000000#aaaaaaaaaaaaaaaa"})),
        call("task_get", json!({"task_id": id})),
    ] {
        let mut here: Value = local.request(method, &params);
        if let Some(resources) = here.pointer_mut("/result/capabilities/resources").and_then(Value::as_object_mut) {
            assert_eq!(resources.remove("subscribe"), Some(json!(true)), "offered here");
        }
        let here = here.to_string();
        let mut there: Value = bridge.request(method, &params);
        // The answers are to the same request; only its number counts on.
        there["id"] = serde_json::from_str::<Value>(&here).expect("a message")["id"].clone();
        // Whatever is told of ages goes on meanwhile.
        assert_eq!(
            without_ages(&there.to_string()),
            without_ages(&here),
            "{method} {}",
            &params.to_string()[..80.min(params.to_string().len())]
        );
    }
}

/// Changes on a server elsewhere are not watched: subscriptions are neither offered nor taken.
#[test]
fn a_bridge_offers_no_subscriptions_and_refuses_them() {
    let place = Place::new();
    let (_served, mut bridge) = bridged(&place);
    let found = bridge.request("server/discover", &modern(json!({})));
    assert_eq!(found["result"]["capabilities"]["resources"], json!({}), "{found}");
    let uri = json!({"uri": "heyaira://procedures/work-contract"});
    let listen = modern(json!({"notifications": {"resourceSubscriptions": [uri["uri"]]}}));
    for (method, params) in
        [("resources/subscribe", uri.clone()), ("resources/unsubscribe", uri), ("subscriptions/listen", listen)]
    {
        assert_eq!(bridge.request(method, &params)["error"]["code"], -32601, "{method}");
    }
}

fn without_ages(text: &str) -> String {
    let mut parts = text.split("\\\"age\\\":\\\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| shown + part.split_once("\\\"").map_or(part, |(_, rest)| rest))
}

#[test]
fn a_repetition_over_a_bridge_is_a_replay_and_only_right_after_its_own_success() {
    let place = Place::new();
    let (_served, mut bridge) = bridged(&place);
    let task = place.task("Import statements");
    let update = json!({"task_id": task, "expected_version": 1, "summary": "s", "handoff_completed_append": "Tested."});
    let first = bridge.call("task_update", update.clone()).expect("updated");
    assert_eq!((&first["version"], first.get("replayed")), (&json!(2), None));
    for _ in 0..2 {
        let again = bridge.call("task_update", update.clone()).expect("replayed");
        let mut expected = first.clone();
        (expected["replayed"], expected["current_version"]) = (json!(true), json!(2));
        assert_eq!(again.to_string(), expected.to_string());
    }
    let takeover = json!({"task_id": task, "expected_version": 2, "session_ref": "label:one"});
    assert_eq!(bridge.call("task_takeover", takeover.clone()).expect("taken")["version"], 3);
    let again = bridge.call("task_takeover", takeover.clone()).expect("replayed");
    assert_eq!((&again["version"], &again["replayed"]), (&json!(3), &json!(true)));
    let keyed = json!({"task_id": task, "expected_version": 3, "summary": "s", "priority": 1, "idempotency_key": "k"});
    assert_eq!(bridge.call("task_update", keyed.clone()).expect("updated").get("replayed"), None);
    let unkeyed = json!({"task_id": task, "expected_version": 3, "summary": "s", "priority": 1});
    assert_eq!(bridge.call("task_update", unkeyed.clone()).expect("replayed")["replayed"], true);
    // The same twice is two where the tool adds, and another write in between ends the repetition.
    let twin = json!({"title": "Twin", "summary": "s"});
    let ids = [(); 2].map(|()| bridge.call("task_create", twin.clone()).expect("created")["task_id"].clone());
    assert_ne!(ids[0], ids[1]);
    let refused = bridge.call("task_update", unkeyed).expect_err("late");
    assert!(refused.starts_with("version_conflict: "), "{refused}");
    assert_eq!(
        place.ask(&["task", "get", &task])["handoff_completed"].as_str().expect("a text").matches("Tested.").count(),
        1
    );
}

#[test]
fn what_the_client_tells_and_a_session_named_once_reach_the_history() {
    let place = Place::new();
    let (_served, mut bridge) = bridged(&place);
    let mut local = place.server();
    let mut histories = Vec::new();
    for server in [&mut local, &mut bridge] {
        let made = server.call("task_create", json!({"title": "Import", "summary": "s"})).expect("created");
        let task = made["task_id"].as_str().expect("an id").to_owned();
        let session = "label: première “séance” 100% ";
        let takeover = json!({"task_id": task, "expected_version": 1, "session_ref": session});
        server.call("task_takeover", takeover).expect("taken");
        server
            .call("task_update", json!({"task_id": task, "expected_version": 2, "summary": "s", "priority": 0}))
            .expect("updated");
        let receipt =
            json!({"task_id": task, "expected_version": 3, "summary": "s", "work_receipt": {"branch": "main"}});
        let refused = server.call("task_update", receipt).expect_err("a receipt names its session");
        let history = place.ask(&["task", "history", &task]);
        let connections: Vec<&Value> =
            history["versions"].as_array().expect("versions").iter().map(|one| &one["connection"]).collect();
        assert!(connections.iter().all(|one| *one == connections[0]), "{history}");
        let told = |one: &Value| json!([one["session_ref"], one["harness"], one["act"]]);
        let rows: Vec<Value> = history["versions"].as_array().expect("versions").iter().map(told).collect();
        histories.push((rows, refused));
    }
    assert!(format!("{:?}", histories[0]).contains("séance"), "{histories:?}");
    assert_eq!(histories[0], histories[1]);
}

#[test]
fn a_client_with_a_long_foreign_name_is_served_and_its_session_is_seen() {
    let place = Place::new();
    let served = Served::open(&place);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "ü".repeat(80), "version": "v".repeat(80)},
    });
    let codex = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "codex-mcp-client", "version": "0.171"},
        "threadId": "019ef-ü",
    });
    let mut bridge = Bridge::to(&served.address).in_project("ledger").start(&place.write_context);
    for (meta, harness, session) in [
        (meta, format!("{} {}", "ü".repeat(80), "v".repeat(80)), Value::Null),
        (codex, "codex 0.171".to_owned(), json!("codex:019ef-ü")),
    ] {
        let arguments = json!({"title": "Import", "summary": "s", "write_context": place.write_context});
        let params = json!({"name": "task_create", "arguments": arguments, "_meta": meta});
        let made = outcome(&bridge.request("tools/call", &params)).expect("created");
        let history = place.ask(&["task", "history", made["task_id"].as_str().expect("an id")]);
        let row = &history["versions"][0];
        assert_eq!(row["harness"], json!(harness), "{history}");
        assert_eq!(row["session_ref"], session, "{history}");
    }
}

#[test]
fn the_instance_of_the_profile_is_compared_on_every_call() {
    let place = Place::new();
    let served = Served::open(&place);
    let profile = |instance: &str| format!("project = \"ledger\"\ninstance = \"{instance}\"\n");
    let right = place.ask(&["profile", "ledger"])["instance"].as_str().expect("an instance").to_owned();
    let wrong = "00000000-1111-4222-8333-444444444444";
    // Found upwards from the folder, and named by a flag.
    let bridge = Bridge::to(&served.address);
    write_file(bridge.folder(), "heyaira.toml", &profile(wrong));
    let mut found = bridge.start(&place.write_context);
    let bridge = Bridge::to(&served.address);
    write_file(bridge.folder(), "right.toml", &profile(&right));
    let mut named = bridge.with(&["--profile", "right.toml"]).start(&place.write_context);
    assert_eq!(named.call("server_identity", json!({})).expect("an identity")["instance"], json!(right));
    write_file(place.folder.path(), "wrong.toml", &profile(wrong));
    let mut command = place.command();
    command.args(["mcp", "--profile", "wrong.toml"]);
    let mut local = Server::start(command, &place.write_context);
    for (tool, arguments) in [
        ("server_identity", json!({})),
        ("task_create", json!({"title": "t", "summary": "s"})),
        ("task_get", json!({})),
    ] {
        let here = local.call(tool, arguments.clone()).expect_err("another instance");
        assert!(
            here.starts_with("identity_mismatch: this connection is pinned to project ledger on instance 00000000"),
            "{here}"
        );
        assert_eq!(found.call(tool, arguments).expect_err("another instance"), here);
    }
    assert_eq!(place.ask(&["task", "list"])["total"], 0);
}

#[test]
fn without_a_project_nothing_is_sent_and_a_profile_that_comes_later_is_found() {
    let place = Place::new();
    let served = Served::open(&place);
    let front = Front::new(&served.address, |_, _| Act::Pass);
    let bridge = Bridge::to(&front.address);
    let folder = bridge.folder().to_owned();
    let mut bridge = bridge.start(&place.write_context);
    let mut command = place.command();
    command.args(["mcp"]);
    let mut local = Server::start(command, &place.write_context);
    for tool in ["server_identity", "task_list", "memory_add"] {
        let here = local.call(tool, json!({})).expect_err("no project");
        assert!(here.starts_with("no_project: "), "{here}");
        assert_eq!(bridge.call(tool, json!({})).expect_err("no project"), here);
    }
    assert_eq!(front.requests(), 0);
    let instance = place.ask(&["profile", "ledger"])["instance"].clone();
    write_file(&folder, "heyaira.toml", &format!("project = \"ledger\"\ninstance = {instance}\n"));
    assert_eq!(bridge.call("server_identity", json!({})).expect("an identity")["project"], "ledger");
}

#[test]
fn a_path_in_front_of_the_server_is_kept() {
    let place = Place::new();
    let secret = token(&place, "maria", &["--project", "ledger"]);
    let served = Served::start(&place, &[]);
    // A front that takes the prefix away, as reverse proxies do.
    let address = served.address.clone();
    let front = Front::new("", move |_, request| {
        let request = request.strip_prefix("POST /tasks/here/api/").expect("the prefix");
        let answer = super::front::passed(&address, format!("POST /api/{request}").as_bytes()).expect("an answer");
        Act::Answer(String::from_utf8(answer).expect("text"))
    });
    let url = format!("http://{}/tasks/here/", front.address);
    let mut bridge = Bridge::to_url(&url).with_token(&secret).in_project("ledger").start(&place.write_context);
    for _ in 0..2 {
        assert_eq!(bridge.call("server_identity", json!({})).expect("an identity")["caller"], "maria");
    }
}
