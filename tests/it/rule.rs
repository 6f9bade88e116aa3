//! What a project does with what the rules find: settings, who may change them, and where they are shown.

use heyaira::error::Code;
use serde_json::json;

use crate::house::House;

#[test]
fn every_rule_warns_until_the_owner_says_otherwise_and_a_secret_is_refused() {
    let house = House::new();
    let shown = house.owner().ok("project_show", json!({"project": "ledger"}));
    let rules = shown["rules"].as_object().expect("settings by rule");
    assert_eq!(rules.len(), 15);
    for (name, setting) in rules {
        assert_eq!(setting, if name == "secrets" { "refuse" } else { "warn" }, "{name}");
    }
    let identity = house.client("maria").ok("server_identity", json!({}));
    assert_eq!(identity.get("rules"), None, "what is the default costs no tokens");
}

#[test]
fn settings_are_kept_shown_to_agents_and_taken_back() {
    let house = House::new();
    let set = |rules: &[&str]| house.owner().ok("project_set", json!({"project": "ledger", "rule": rules}));
    let answer = set(&["working-language=off", "first-step-executable=refuse"]);
    let expected = json!({"first-step-executable": "refuse", "working-language": "off"});
    assert_eq!(answer["rules"], expected);
    let house = house.restarted();
    let client = house.client("maria");
    assert_eq!(client.ok("server_identity", json!({}))["rules"], expected);
    house.owner().ok("project_set", json!({"project": "ledger", "name": "The ledger"}));
    assert_eq!(client.ok("server_identity", json!({}))["rules"], expected, "another change leaves them");
    let back = json!({"project": "ledger", "rule": ["working-language=warn", "first-step-executable=warn"]});
    assert_eq!(house.owner().ok("project_set", back)["rules"], json!({}));
    assert_eq!(client.ok("server_identity", json!({})).get("rules"), None);
}

#[test]
fn wrong_settings_are_told_all_at_once_and_change_nothing() {
    let house = House::new();
    let rules = ["no-transcripts=off", "working_language=off", "secrets=maybe", "same-session", "memories-exist=off"];
    let told = house.owner().refused(
        "project_set",
        json!({"project": "ledger", "rule": rules, "name": "Other"}),
        Code::InvalidArgument,
        &["did you mean no-transcript?", "did you mean working-language?", "off, warn, refuse", "NAME=SETTING"],
    );
    assert!(!told.contains("memories-exist"), "{told}");
    let shown = house.owner().ok("project_show", json!({"project": "ledger"}));
    assert_eq!((&shown["name"], &shown["rules"]["memories-exist"]), (&json!("ledger"), &json!("warn")));
    let twice =
        json!({"project": "ledger", "rule": ["secrets=warn", "same-session=off", "same-session=off", "secrets=off"]});
    house.owner().refused("project_set", twice, Code::InvalidArgument, &["secrets is set twice, to warn and to off"]);
    let unlike = json!({"project": "ledger", "rule": ["xyz=off"]});
    house.owner().refused("project_set", unlike, Code::InvalidArgument, &["xyz", "the rules are", "same-session"]);
}
