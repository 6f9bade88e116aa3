//! Memories: append-only, superseded by name only, found by words.

use heyaira::error::Code;
use serde_json::{Value, json};

use crate::house::{CODEX, Client, House, merged, rows, short, text};

fn add(client: &Client<'_>, more: Value) -> String {
    text(&client.ok("memory_add", merged(json!({"kind": "decision", "summary": "s"}), more))["id"]).to_owned()
}

fn found(client: &Client<'_>, arguments: Value) -> Vec<String> {
    let answer = client.ok("memory_search", arguments);
    rows(&answer["memories"]).iter().map(|row| text(&row["id"]).to_owned()).collect()
}

#[test]
fn a_memory_has_a_public_id_and_is_read_whole_by_it() {
    let house = House::new();
    house.next_ids(&["b7f03c1e-0000-4000-8000-000000000001"]);
    let client = house.session("maria", CODEX);
    let task = "b7f03c1e-0000-4000-8000-000000000001";
    client.create("Import bank statements");
    house.next_ids(&["b7f03c1e-0000-4000-8000-000000000001"]);
    let more = json!({
        "kind": "decision",
        "summary": "Amounts are integers in minor units.",
        "body": "No rounding anywhere.\r\nRejected: floats.",
        "tags": ["money"],
        "task_id": short(task),
    });
    assert_eq!(client.ok("memory_add", more), json!({"id": "m-b7f03c1e"}));
    house.pass_hours(48);
    let expected = json!({
        "total": 1,
        "shown": 1,
        "memories": [{
            "id": "m-b7f03c1e",
            "kind": "decision",
            "summary": "Amounts are integers in minor units.",
            "age": "2d",
            "task_id": task,
            "tags": ["money"],
            "caller": "maria",
            "session_ref": CODEX,
            "at": "2026-11-25T08:00:00Z",
            "body": "No rounding anywhere.\r\nRejected: floats.",
        }],
    });
    assert_eq!(client.ok("memory_search", json!({"ids": ["m-b7f03c1e"]})), expected);
}

#[test]
fn an_id_that_is_taken_is_drawn_again() {
    let house = House::new();
    house.next_ids(&["b7f03c1e-0000-4000-8000-000000000001", "b7f03c1e-ffff-4000-8000-000000000002"]);
    let client = house.client("maria");
    assert_eq!(add(&client, json!({})), "m-b7f03c1e");
    assert_ne!(add(&client, json!({"summary": "another"})), "m-b7f03c1e");
}

#[test]
fn an_unknown_memory_is_told_word_for_word() {
    let house = House::new();
    let client = house.client("maria");
    let expected =
        "not_found: no memory m-00000000 in this project. memory_search finds memories by words; check the id.";
    assert_eq!(client.refused("memory_search", json!({"ids": ["m-00000000"]}), Code::NotFound, &[]), expected);
    let supersedes = json!({"kind": "fact", "summary": "s", "supersedes": "m-00000000"});
    assert_eq!(client.refused("memory_add", supersedes, Code::NotFound, &[]), expected);
    assert_eq!(client.ok("memory_search", json!({}))["total"], 0);
}

#[test]
fn rw_022_the_same_memory_twice_is_one() {
    let house = House::new();
    let (one, other) = (house.client("maria"), house.client("tomas"));
    let same = json!({"kind": "decision", "summary": "WAL", "body": "Use WAL mode"});
    let both =
        futures_util::future::join(one.asking("memory_add", same.clone()), other.asking("memory_add", same.clone()));
    let (first, second) = house.block_on(both);
    let (first, second) = (first.expect("accepted"), second.expect("accepted"));
    let third = one.ok("memory_add", merged(same, json!({"kind": "DECISION"})));
    assert_eq!((&first["id"], &first["id"]), (&second["id"], &third["id"]));
    let marked = [&first, &second, &third].iter().filter(|answer| answer["existing"] == true).count();
    assert_eq!(marked, 2);
    assert_eq!(one.ok("memory_search", json!({}))["total"], 1);
}

#[test]
fn another_kind_task_or_body_is_another_memory_and_a_result_always_is() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let base = json!({"kind": "fact", "summary": "s", "body": "b"});
    let differing = [
        json!({}),
        json!({"kind": "convention"}),
        json!({"task_id": task}),
        json!({"body": "c"}),
        json!({"body": null}),
    ];
    for more in differing {
        let answer = client.ok("memory_add", merged(base.clone(), more));
        assert_eq!(answer.get("existing"), None);
    }
    let result = json!({"kind": "result", "summary": "s", "body": "b", "task_id": task});
    assert_ne!(add(&client, result.clone()), add(&client, result));
    assert_eq!(client.ok("memory_search", json!({}))["total"], 7);
}

#[test]
fn rw_074_a_memory_is_superseded_by_name_and_both_stay() {
    let house = House::new();
    let client = house.client("maria");
    let first = add(&client, json!({"summary": "MySQL", "body": "Use MySQL"}));
    house.pass_minutes(1);
    let second = json!({"summary": "PostgreSQL", "body": "Use PostgreSQL instead of MySQL", "supersedes": first});
    let second = add(&client, second);
    let list = client.ok("memory_search", json!({"query": "MySQL"}));
    assert_eq!(list["total"], 2);
    assert_eq!((&list["memories"][0]["id"], &list["memories"][0]["supersedes"]), (&json!(second), &json!(first)));
    assert_eq!((&list["memories"][1]["id"], &list["memories"][1]["superseded_by"]), (&json!(first), &json!(second)));
    let decisions = client.ok("continuity_context", json!({}))["decisions"].clone();
    assert_eq!((rows(&decisions).len(), &decisions[0]["id"]), (1, &json!(second)));
    assert_eq!(found(&client, json!({})), std::slice::from_ref(&second));
    assert_eq!(found(&client, json!({"include_superseded": true})), [second.clone(), first.clone()]);
    let read = client.ok("memory_search", json!({"ids": [first]}))["memories"][0].clone();
    assert_eq!((&read["body"], &read["superseded_by"]), (&json!("Use MySQL"), &json!(second)));
    let again = json!({"kind": "decision", "summary": "SQLite", "supersedes": first});
    client.refused("memory_add", again, Code::NotAllowed, &[&first, &second]);
}

#[test]
fn what_supersedes_comes_first_whatever_the_clock_said() {
    let house = House::new();
    let client = house.client("maria");
    let first = add(&client, json!({"summary": "MySQL"}));
    house.pass_hours(-1);
    let second = add(&client, json!({"summary": "PostgreSQL, not MySQL", "supersedes": first}));
    assert_eq!(found(&client, json!({"query": "MySQL"})), [second, first]);
}

#[test]
fn a_decision_that_comes_back_holds_again() {
    let house = House::new();
    let client = house.client("maria");
    let first = add(&client, json!({"summary": "MySQL"}));
    let second = add(&client, json!({"summary": "PostgreSQL", "supersedes": first}));
    let third = add(&client, json!({"summary": "MySQL", "supersedes": second}));
    let decisions = client.ok("continuity_context", json!({}))["decisions"].clone();
    assert_eq!((rows(&decisions).len(), &decisions[0]["summary"]), (1, &json!("MySQL")), "{decisions}");
    assert_eq!(decisions[0]["id"], json!(third));
}

#[test]
fn rw_076_an_incomplete_memory_is_refused_with_the_field() {
    let house = House::new();
    let client = house.client("maria");
    let cases = [
        (json!({}), Code::InvalidArgument, "kind"),
        (json!({"kind": "decision", "body": "   "}), Code::InvalidArgument, "body"),
        (json!({"kind": "invalid_xyz"}), Code::InvalidArgument, "decision, result, fact, convention"),
        (json!({"kind": "decision", "body": true}), Code::InvalidArgument, "body"),
        (json!({"kind": "decision", "body": ["t"]}), Code::InvalidArgument, "body"),
        (json!({"kind": "decision", "text": "t"}), Code::InvalidArgument, "text is unknown"),
        (json!({"kind": "decision", "summary": ""}), Code::InvalidArgument, "summary"),
        (json!({"kind": "decision", "task_id": "ffffffff-0000-4000-8000-000000000000"}), Code::NotFound, "ffffffff"),
    ];
    for (more, code, part) in cases {
        client.refused("memory_add", merged(json!({"summary": "s"}), more), code, &[part]);
    }
    assert_eq!(client.ok("memory_search", json!({}))["total"], 0);
    client.ok("memory_add", json!({"kind": "Decision", "summary": "any letter case, no body"}));
    assert_eq!(client.ok("memory_search", json!({"kind": "DECISION"}))["memories"][0]["kind"], "decision");
}

#[test]
fn rw_023_a_query_is_words_and_never_syntax() {
    let house = House::new();
    let client = house.client("maria");
    let body = "The multi-agent queue lives in src/main.rs:42; don't use C++ (v2)";
    let id = add(&client, json!({"summary": "queue", "body": body}));
    for query in ["multi-agent", "src/main.rs:42", "don't", "C++ (v2)", "QUEUE liv"] {
        assert_eq!(found(&client, json!({"query": query})), std::slice::from_ref(&id), "{query}");
    }
    for query in ["NOT", "*", "(", "a:b", "🔧", "queue AND", "\"\"", "summary:queue", "NEAR"] {
        assert_eq!(client.ok("memory_search", json!({"query": query}))["total"], 0, "{query}");
    }
    for query in ["\"unclosed", "-42", "  ", "^", "p1", "{scope}", "words : \"queue\""] {
        client.ok("memory_search", json!({"query": query}));
    }
}

#[test]
fn words_are_found_in_every_script() {
    let house = House::new();
    let client = house.client("maria");
    let id = add(
        &client,
        json!({"summary": "銀行明細の取り込みは冪等である", "body": "Straße, naïve, Überweisung, שלום, привет мир"}),
    );
    for query in ["銀行", "取り込み", "冪等", "straße", "NAÏVE", "überw", "שלום", "ПРИВЕТ"] {
        assert_eq!(found(&client, json!({"query": query})), std::slice::from_ref(&id), "{query}");
    }
    assert_eq!(client.ok("memory_search", json!({"query": "行銀"}))["total"], 0);
}

#[test]
fn rw_070_a_decision_is_reached_from_the_packet() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Use the webhook");
    let body =
        "Rejected: polling every 5 s (rate limit 429). Chosen: webhook + retry. Column is user_uuid, not user_id.";
    let id = add(&client, json!({"summary": "Webhook, not polling", "body": body, "task_id": task}));
    let next = format!("1. cargo test webhook\nDecisions: {id}, m-00000000\nPrevious session: codex:s-1");
    let answer = client.update(&task, 1, json!({"handoff_next": next, "work_receipt": {"session_ref": "codex:s-1"}}));
    assert!(answer["warnings"].to_string().contains("m-00000000"), "{answer}");
    let reader = house.client("tomas");
    let packet = reader.ok("continuity_context", json!({"handoff": answer["line"]}));
    assert_eq!(
        (&packet["memories"][0]["id"], &packet["memories"][0]["summary"]),
        (&json!(id), &json!("Webhook, not polling"))
    );
    assert_eq!(reader.ok("memory_search", json!({"ids": id}))["memories"][0]["body"], body);
}

#[test]
fn filters_match_together_and_pages_hold_every_row_once() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    for number in 0..25 {
        add(&client, json!({"summary": format!("fact {number}"), "kind": "fact", "tags": ["even"], "task_id": task}));
        add(&client, json!({"summary": format!("decision {number}")}));
    }
    let filter = json!({"kind": "fact", "tag": "even", "task_id": short(&task), "query": "fact"});
    let mut seen = Vec::new();
    let mut cursor = json!(null);
    loop {
        let page = client.ok("memory_search", merged(filter.clone(), json!({"cursor": cursor, "limit": 7})));
        assert_eq!(page["total"], 25);
        seen.extend(rows(&page["memories"]).iter().map(|row| text(&row["id"]).to_owned()));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let all = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((all, seen.len()), (25, 25));
    assert_eq!(client.ok("memory_search", json!({"tag": "eve"}))["total"], 0);
}

#[test]
fn a_memory_of_a_person_is_not_ascribed_to_the_owners_session() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    client.take_over(&task, 1, CODEX);
    let person = house.person("tomas");
    let id = add(&person, json!({"summary": "Tomas decides", "task_id": task}));
    let read = person.ok("memory_search", json!({"ids": [id]}))["memories"][0].clone();
    assert_eq!((&read["caller"], &read["session_ref"]), (&json!("tomas"), &json!(null)));
}

#[test]
fn an_identical_memory_that_supersedes_nothing_does_not_answer_for_one_that_does() {
    let house = House::new();
    let client = house.client("maria");
    let fact = |more: Value| merged(json!({"kind": "fact", "summary": "same"}), more);
    client.ok("memory_add", fact(json!({})));
    let old = client.ok("memory_add", json!({"kind": "fact", "summary": "old"}));
    let refused = client.call("memory_add", fact(json!({"supersedes": old["id"]}))).expect_err("would be dropped");
    assert_eq!(refused.code, Code::NotAllowed);
}
