//! Projects and their profiles.

use heyaira::error::Code;
use serde_json::{Value, json};

use crate::house::{House, INSTANCE, rows, text};

#[test]
fn a_project_is_created_with_its_defaults() {
    let house = House::new();
    let answer = house.owner().ok("project_create", json!({"project": "atlas"}));
    let expected = json!({"project": "atlas", "name": "atlas", "language": "en", "stale_hours": 24, "archived": false});
    assert_eq!(answer, expected);
    let named = json!({"project": "kaikei", "name": "会計", "language": "ja"});
    house.owner().ok("project_create", named);
    let list = house.owner().ok("project_list", json!({}));
    let slugs: Vec<&str> = rows(&list["projects"]).iter().map(|row| text(&row["project"])).collect();
    assert_eq!((slugs, &list["total"]), (vec!["atlas", "kaikei", "ledger"], &json!(3)));
    let identity = house.client_in("kaikei", "maria").ok("server_identity", json!({}));
    assert_eq!(identity["language"], "ja");
}

#[test]
fn a_slug_has_its_form_and_is_taken_once() {
    let house = House::new();
    let too_long = "a".repeat(64);
    for slug in ["", "Ledger", "-a", "a_b", "a b", "ä", "a/b", "a@b", "a#b", &too_long] {
        house.owner().refused("project_create", json!({"project": slug}), Code::InvalidArgument, &["project"]);
    }
    let longest = "a".repeat(63);
    for slug in ["0", "a-", "a--b", &longest] {
        house.owner().ok("project_create", json!({"project": slug}));
    }
    house.owner().refused("project_create", json!({"project": "ledger"}), Code::NotAllowed, &["ledger", "already"]);
    let language = json!({"project": "new", "language": "not a language"});
    house.owner().refused("project_create", language, Code::InvalidArgument, &["language"]);
    assert_eq!(house.owner().ok("project_list", json!({}))["total"], 5);
}

#[test]
fn settings_change_only_what_is_given() {
    let house = House::new();
    let owner = house.owner();
    owner.ok("project_set", json!({"project": "ledger", "name": "Das Hauptbuch", "stale_hours": 48}));
    owner.ok("project_set", json!({"project": "ledger", "language": "pt-BR"}));
    let shown = owner.ok("project_show", json!({"project": "ledger"}));
    let kept = (&shown["project"], &shown["name"], &shown["language"], &shown["stale_hours"]);
    assert_eq!(kept, (&json!("ledger"), &json!("Das Hauptbuch"), &json!("pt-BR"), &json!(48)));
    owner.refused("project_set", json!({"project": "nowhere"}), Code::NotFound, &["nowhere"]);
}

#[test]
fn the_resource_is_one_for_the_instance_and_leaves_the_pins() {
    let house = House::new();
    house.add_project("other");
    let before = house.write_context("ledger");
    let set = |resource: &str| json!({"project": "ledger", "resource": resource});
    house.owner().ok("project_set", set("https://heyaira.example.org"));
    let identity = house.client_in("other", "maria").ok("server_identity", json!({}));
    let same = (&identity["resource"], &identity["instance"]);
    assert_eq!(same, (&json!("https://heyaira.example.org"), &json!(INSTANCE)));
    assert_eq!(house.write_context("ledger"), before);
    for wrong in ["nowhere", "https:", "a b:c", "1:x"] {
        house.owner().refused("project_set", set(wrong), Code::InvalidArgument, &["resource"]);
    }
}

#[test]
fn an_archived_project_is_read_and_not_written() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import bank statements");
    assert_eq!(house.owner().ok("project_archive", json!({"project": "ledger"}))["archived"], true);
    assert_eq!(client.get(&task)["title"], "Import bank statements");
    let writes = [
        ("task_create", json!({"title": "t", "summary": "s"})),
        ("task_update", json!({"task_id": task, "expected_version": 1, "summary": "s"})),
        ("task_takeover", json!({"task_id": task, "expected_version": 1})),
        ("memory_add", json!({"kind": "fact", "summary": "s"})),
        ("message_send", json!({"to": task, "text": "t"})),
    ];
    for (name, arguments) in writes {
        client.refused(name, arguments, Code::NotAllowed, &["ledger is archived", "--undo"]);
    }
    house.person("tomas").refused("task_revert", json!({"task_id": task, "to": 1}), Code::NotAllowed, &["archived"]);
    house.owner().ok("project_archive", json!({"project": "ledger", "undo": true}));
    client.update(&task, 1, json!({}));
}

#[test]
fn a_purge_needs_its_confirmation_and_removes_everything() {
    let house = House::new();
    house.add_project("other");
    let (client, other) = (house.client("maria"), house.client_in("other", "oscar"));
    let (task, kept) = (client.create("Import bank statements"), other.create("Import invoices"));
    client.hand_off(&task, 1, "codex:s-1");
    let facts = json!({"at": "2026-11-25T08:00:00Z", "path": "/home/maria/bank"});
    let recorded = json!({"task_id": task, "receipt_version": 2, "facts": facts});
    house.person("maria").ok("receipt_record", recorded);
    client.ok("memory_add", json!({"kind": "fact", "summary": "bank", "task_id": task}));
    client.ok("message_send", json!({"to": task, "text": "t"}));
    other.ok("memory_add", json!({"kind": "fact", "summary": "bank"}));
    for confirm in [json!(null), json!("other")] {
        let arguments = json!({"project": "ledger", "confirm": confirm});
        house.owner().refused("project_purge", arguments, Code::NotAllowed, &["ledger", "Nothing was removed."]);
    }
    let purged = house.owner().ok("project_purge", json!({"project": "ledger", "confirm": "ledger"}));
    assert_eq!(purged, json!({"purged": "ledger", "tasks": 1}));
    client.refused("task_list", json!({}), Code::NoProject, &["ledger"]);
    assert_eq!(house.database().texts("select facts from verification").len(), 0);
    house.add_project("ledger");
    let anew = house.client("maria");
    assert_eq!(anew.ok("task_list", json!({"query": "bank"}))["total"], 0);
    assert_eq!(anew.ok("memory_search", json!({"query": "bank"}))["total"], 0);
    assert_eq!(anew.ok("continuity_context", json!({}))["counts"]["in_progress"], 0);
    anew.refused("task_get", json!({"task_id": task}), Code::NotFound, &[]);
    assert_eq!(other.get(&kept)["title"], "Import invoices");
    assert_eq!(other.ok("memory_search", json!({"query": "bank"}))["total"], 1);
}

#[test]
fn a_profile_is_for_the_owner_of_the_instance() {
    let house = House::new();
    let profile = house.owner().ok("profile_show", json!({"project": "ledger"}));
    let expected = json!({
        "resource": format!("heyaira:{INSTANCE}"),
        "instance": INSTANCE,
        "project": "ledger",
        "language": "en",
        "write_context": house.client("maria").write_context,
    });
    assert_eq!(profile, expected);
    house.owner().refused("profile_show", json!({"project": "nowhere"}), Code::NotFound, &["nowhere"]);
}

#[test]
fn rotating_one_project_leaves_the_others() {
    let house = House::new();
    house.add_project("other");
    let other = house.client_in("other", "oscar");
    let first: Value = house.owner().ok("profile_rotate", json!({"project": "ledger"}));
    let second: Value = house.owner().ok("profile_rotate", json!({"project": "ledger"}));
    assert_ne!(first["write_context"], second["write_context"]);
    other.create("Still with the first profile");
}
