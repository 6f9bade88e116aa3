//! Identity: a write can never land in the wrong place.

use heyaira::domain::token::Role;
use heyaira::error::{Code, Refusal};
use heyaira::operation::{Door, Pinned};
use heyaira::operations;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::house::{House, INSTANCE, merged, pinned, text};
use crate::secrets::set::drawn;

const OTHER_INSTANCE: &str = "c0ffee00-7a64-4d0e-8f3b-c2a91e6d4470";

fn pin(write_context: &str) -> &str {
    write_context.split_once('#').expect("a pin").1
}

#[test]
fn server_identity_names_the_place_and_the_caller() {
    let house = House::new();
    let answer = house.client("maria").ok("server_identity", json!({}));
    let expected = json!({
        "resource": format!("heyaira:{INSTANCE}"),
        "instance": INSTANCE,
        "project": "ledger",
        "language": "en",
        "server": concat!("heyaira ", env!("CARGO_PKG_VERSION")),
        "caller": "maria",
        "role": "write",
    });
    assert_eq!(answer, expected);
}

#[test]
fn a_write_context_names_project_and_instance_and_ends_with_the_pin() {
    let house = House::new();
    house.add_project("other");
    let ledger = house.write_context("ledger");
    assert!(ledger.starts_with("ledger@5b1f09c2#"), "{ledger}");
    assert_ne!(pin(&ledger), pin(&house.write_context("other")));
}

#[test]
fn agents_never_see_a_pin_in_an_answer() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let asked = [
        ("server_identity", json!({})),
        ("continuity_context", json!({})),
        ("continuity_context", json!({"handoff": task})),
        ("task_get", json!({"task_id": task})),
        ("task_list", json!({})),
        ("handoff_check", json!({"task_id": task})),
        ("memory_search", json!({})),
    ];
    for (name, arguments) in asked {
        let answer = client.ok(name, arguments).to_string();
        assert!(!answer.contains(pin(&client.write_context)), "{name}: {answer}");
    }
}

#[test]
fn a_write_context_of_another_place_is_refused_by_the_part_that_differs() {
    let house = House::new();
    house.add_project("other");
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let right = client.write_context.clone();
    let wrong_pin = format!("ledger@5b1f09c2#{}", "a".repeat(pin(&right).len()));
    let cases = [
        (right.replace("5b1f09c2", "c0ffee00"), "the write_context is for another instance"),
        (house.write_context("other"), "the write_context is for another project"),
        (wrong_pin, "pin"),
        ("ledger".to_owned(), "write_context has another form"),
    ];
    for (given, part) in cases {
        let place = "; this server is project ledger on instance 5b1f09c2. Nothing was written.";
        let told = client.update_refused(
            &task,
            1,
            json!({"write_context": given, "title": "Elsewhere"}),
            Code::IdentityMismatch,
            &[part, place, "Stop and compare with the connection profile."],
        );
        assert!(!told.contains(pin(&right)), "{told}");
        assert!(!told.contains("force") && !told.contains(&right), "no way around the check: {told}");
    }
    assert_eq!(client.version(&task), 1);
}

#[test]
fn the_refusal_of_another_instance_is_told_word_for_word() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let told = client.update_refused(
        &task,
        1,
        json!({"write_context": client.write_context.replace("5b1f09c2", "c0ffee00")}),
        Code::IdentityMismatch,
        &[],
    );
    let expected = "identity_mismatch: the write_context is for another instance; this server is project ledger on \
        instance 5b1f09c2. Nothing was written. Stop and compare with the connection profile.";
    assert_eq!(told, expected);
}

#[test]
fn every_write_of_an_agent_needs_a_write_context() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let writes = [
        ("task_create", json!({"title": "t", "summary": "s"})),
        ("task_update", json!({"task_id": task, "expected_version": 1, "summary": "s"})),
        ("task_takeover", json!({"task_id": task, "expected_version": 1})),
        ("memory_add", json!({"kind": "fact", "summary": "s"})),
        ("message_send", json!({"to": task, "text": "t"})),
    ];
    for (name, arguments) in writes {
        let absent = merged(arguments.clone(), json!({"write_context": null}));
        client.refused(name, absent, Code::InvalidArgument, &["write_context is missing"]);
        let wrong = merged(arguments, json!({"write_context": "ledger@c0ffee00#aaaaaaaaaaaaaaaa"}));
        client.refused(name, wrong, Code::IdentityMismatch, &["another instance"]);
    }
    assert_eq!(client.version(&task), 1);
    assert_eq!(client.ok("task_list", json!({}))["total"], 1);
    assert_eq!(client.ok("memory_search", json!({}))["total"], 0);
}

#[test]
fn role_and_write_context_are_checked_before_arguments() {
    let house = House::new();
    let client = house.client("maria");
    let arguments = json!({"task_id": "x", "statu": 1, "write_context": "ledger@c0ffee00#aaaaaaaaaaaaaaaa"});
    client.refused("task_update", arguments, Code::IdentityMismatch, &["another instance"]);
    let reader = house.connected(Ok(pinned("ledger")), "rita", Role::Read, Door::Stdio);
    reader.refused("task_update", json!({"task_id": "x"}), Code::Forbidden, &["task_update", "role write", "read"]);
}

#[test]
fn roles_bound_what_a_connection_may_do() {
    let house = House::new();
    let reader = house.connected(Ok(pinned("ledger")), "rita", Role::Read, Door::Stdio);
    assert_eq!(reader.ok("server_identity", json!({}))["role"], "read");
    reader.refused("task_create", json!({"title": "t", "summary": "s"}), Code::Forbidden, &["Nothing was written."]);
    let writer = house.client("maria");
    for name in ["project_create", "project_archive", "project_purge", "profile_show", "profile_rotate"] {
        writer.refused(name, json!({"project": "ledger"}), Code::Forbidden, &["admin"]);
    }
}

#[test]
fn a_person_need_not_type_the_write_context_but_a_wrong_one_is_refused() {
    let house = House::new();
    let person = house.person("tomas");
    let task = person.ok("task_create", json!({"title": "By hand", "write_context": null}));
    assert_eq!(task["version"], 1);
    let wrong = json!({"title": "By hand", "write_context": "other@5b1f09c2#aaaaaaaaaaaaaaaa"});
    person.refused("task_create", wrong, Code::IdentityMismatch, &["another project"]);
}

#[test]
fn rotating_a_profile_refuses_the_older_one() {
    let house = House::new();
    let before = house.client("maria");
    let profile = house.owner().ok("profile_rotate", json!({"project": "ledger"}));
    assert_ne!(profile["write_context"], before.write_context);
    before.refused("task_create", json!({"title": "t", "summary": "s"}), Code::IdentityMismatch, &["pin"]);
    house.client("maria").create("With the new profile");
}

#[test]
fn a_rotated_profile_stays_refused_when_the_project_is_made_anew() {
    let house = House::new();
    let leaked = house.client("maria");
    house.owner().ok("profile_rotate", json!({"project": "ledger"}));
    house.owner().ok("project_purge", json!({"project": "ledger", "confirm": "ledger"}));
    house.add_project("ledger");
    leaked.refused("task_create", json!({"title": "t", "summary": "s"}), Code::IdentityMismatch, &["pin"]);
}

#[test]
fn without_a_project_every_tool_answers_no_project_with_the_mend() {
    let house = House::new();
    let none = Refusal::new(Code::NoProject, "no heyaira.toml was found", "Run heyaira profile PROJECT --write.");
    let client = house.connected(Err(none), "maria", Role::Write, Door::Stdio);
    for entry in operations::all().iter().filter(|entry| entry.in_project) {
        client.refused(entry.name, json!({}), Code::NoProject, &["heyaira profile PROJECT --write"]);
    }
}

#[test]
fn a_project_that_does_not_exist_is_no_project() {
    let house = House::new();
    let client = house.client_in("nowhere", "maria");
    client.refused("server_identity", json!({}), Code::NoProject, &["nowhere", "5b1f09c2"]);
}

#[test]
fn a_pinned_instance_is_compared_with_the_database() {
    let house = House::new();
    let pinned = Pinned { project: "ledger".to_owned(), instance: Some(OTHER_INSTANCE.to_owned()) };
    let client = house.connected(Ok(pinned), "maria", Role::Write, Door::Stdio);
    for name in ["server_identity", "continuity_context", "task_list"] {
        client.refused(name, json!({}), Code::IdentityMismatch, &["c0ffee00", "5b1f09c2"]);
    }
    let right = Pinned { project: "ledger".to_owned(), instance: Some(INSTANCE.to_owned()) };
    let client = house.connected(Ok(right), "maria", Role::Write, Door::Stdio);
    assert_eq!(client.ok("server_identity", json!({}))["instance"], INSTANCE);
}

#[test]
fn rw_019_a_pinned_write_never_lands_on_another_database() {
    let (first, second) = (House::new(), House::on_instance(OTHER_INSTANCE));
    let id = "8e287857-4f0b-4c1d-9a77-51c2b0e6d9f4";
    first.next_ids(&[id]);
    second.next_ids(&[id]);
    let (here, there) = (first.client("maria"), second.client("maria"));
    assert_eq!(here.create("Import"), there.create("Import"));
    assert_ne!(here.ok("server_identity", json!({})), there.ok("server_identity", json!({})));
    let pinned_here = json!({"write_context": here.write_context, "title": "Should not land"});
    there.update_refused(id, 1, pinned_here, Code::IdentityMismatch, &["for another instance", "c0ffee00"]);
    assert_eq!(there.version(id), 1);
}

#[test]
fn rw_019_identity_and_profile_stay_over_a_restart() {
    let house = House::new();
    let (identity, write_context) = {
        let client = house.client("maria");
        (client.ok("server_identity", json!({})), client.write_context.clone())
    };
    let house = house.restarted();
    let client = house.client("maria");
    assert_eq!(client.ok("server_identity", json!({})), identity);
    assert_eq!(client.write_context, write_context);
    assert_eq!(house.person("maria").ok("server_identity", json!({}))["instance"], identity["instance"]);
}

/// The text of a `not_found`, with the id taken out.
fn told_of(client: &crate::house::Client<'_>, name: &str, arguments: Value, id: &str) -> String {
    let told = client.refused(name, arguments, Code::NotFound, &[]);
    told.replace(id, "ID").replace(&id[..8.min(id.len())], "ID")
}

#[test]
fn foreign_and_unknown_things_are_told_alike() {
    let house = House::new();
    house.add_project("other");
    let other = house.client_in("other", "oscar");
    let foreign = other.create("Foreign");
    let foreign_memory = text(&other.ok("memory_add", json!({"kind": "fact", "summary": "s"}))["id"]).to_owned();
    let sent = other.ok("message_send", json!({"to": foreign, "text": "hello"}));
    let (unknown, client) = ("00000000-0000-4000-8000-00000000dead", house.client("maria"));
    let own = client.create("Own");
    let of_task = |id: &str| {
        vec![
            ("task_get", json!({"task_id": id})),
            ("task_update", json!({"task_id": id, "expected_version": 1, "summary": "s"})),
            ("task_takeover", json!({"task_id": id, "expected_version": 1})),
            ("handoff_check", json!({"task_id": id})),
            ("continuity_context", json!({"handoff": format!("handoff: {} v1", &id[..8])})),
            ("memory_add", json!({"kind": "fact", "summary": "s", "task_id": id})),
            ("message_send", json!({"to": id, "text": "t"})),
            ("task_update", json!({"task_id": own, "expected_version": 1, "summary": "s", "parent": id})),
            ("task_update", json!({"task_id": own, "expected_version": 1, "summary": "s", "depends_on": [id]})),
            ("task_create", json!({"title": "t", "summary": "s", "parent": id})),
            ("task_list", json!({"parent": id})),
        ]
    };
    for ((name, of_foreign), (_, of_unknown)) in of_task(&foreign).into_iter().zip(of_task(unknown)) {
        let told = told_of(&client, name, of_foreign, &foreign);
        assert_eq!(told, told_of(&client, name, of_unknown, unknown), "{name}");
    }
    let of_memory = |id: &str| json!({"kind": "fact", "summary": "s", "supersedes": id});
    let told = told_of(&client, "memory_add", of_memory(&foreign_memory), &foreign_memory);
    assert_eq!(told, told_of(&client, "memory_add", of_memory("m-0000dead"), "m-0000dead"));
    let message = text(&sent["id"]);
    let told = told_of(&client, "message_send", json!({"ack": [message]}), message);
    assert_eq!(told, told_of(&client, "message_send", json!({"ack": ["msg-0000dead"]}), "msg-0000dead"));
}

#[test]
fn own_write_contexts_and_tokens_are_refused_in_every_stored_text() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let secrets = [client.write_context.clone(), drawn("token", &mut Dice::new(7))];
    let texts = [
        "title",
        "owner",
        "summary",
        "result",
        "description",
        "completion_criteria",
        "required_reviews",
        "handoff_next",
        "handoff_blockers",
        "handoff_completed",
        "handoff_completed_append",
        "idempotency_key",
    ];
    for secret in &secrets {
        for field in texts {
            let more = json!({field: format!("one {secret} two")});
            let place = format!("{field} line 1 column 5");
            let told = client.update_refused(&task, 1, more, Code::SecretRefused, &[&place, "Nothing was written."]);
            assert!(!told.contains(secret.as_str()), "{told}");
        }
        client.update_refused(
            &task,
            1,
            json!({"tags": [&secret[..60.min(secret.len())]]}),
            Code::SecretRefused,
            &["tags"],
        );
        let receipt = json!({"work_receipt": {"session_ref": "codex:1", "tests": format!("a\nb {secret}")}});
        client.update_refused(&task, 1, receipt, Code::SecretRefused, &["work_receipt.tests line 2 column 3"]);
        let memory = json!({"kind": "fact", "summary": "s", "body": secret});
        client.refused("memory_add", memory, Code::SecretRefused, &["body line 1 column 1"]);
        client.refused("message_send", json!({"to": task, "text": secret}), Code::SecretRefused, &["text line 1"]);
        let created = json!({"title": "t", "summary": "s", "description": secret});
        client.refused("task_create", created, Code::SecretRefused, &["description line 1"]);
    }
    assert_eq!(client.version(&task), 1);
}

#[test]
fn a_pin_in_the_wrong_argument_is_not_repeated_in_the_error() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    let misplaced = [
        json!({"task_id": client.write_context}),
        json!({"status": client.write_context}),
        json!({"work_receipt": client.write_context}),
        json!({"parent": client.write_context}),
        json!({"write_context": [client.write_context]}),
        json!({client.write_context.clone(): "x"}),
    ];
    for more in misplaced {
        let result = client
            .call("task_update", merged(json!({"task_id": task, "expected_version": 1, "summary": "s"}), more.clone()));
        let told = result.expect_err("a pin in the wrong place is refused").to_string();
        assert!(!told.contains(pin(&client.write_context)), "{told}");
    }
}
