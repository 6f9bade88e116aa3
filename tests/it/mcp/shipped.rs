//! The program that is shipped has nothing that only the conformance suite calls.
#![cfg(not(feature = "conformance-fixtures"))]

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::http::served::Served;
use crate::program::{HEYAIRA, Place};

/// The tools that agents have.
const TOOLS: [&str; 11] = [
    "server_identity",
    "continuity_context",
    "task_list",
    "task_get",
    "task_create",
    "task_update",
    "task_takeover",
    "handoff_check",
    "memory_add",
    "memory_search",
    "message_send",
];

/// How the suite's names of tools, prompts and resources begin.
const BEGINNINGS: [&str; 4] = ["test_", "test://", "skill://", "slow_"];

#[test]
fn the_program_offers_its_own_tools_prompts_and_resources_and_no_others() {
    let place = Place::new();
    let served = Served::open(&place);
    let mut client = served.client();
    let mut listed = |method: &str, list: &str, field: &str| -> Vec<String> {
        let answer = client.message(method, &json!({}), "2025-11-25").expect("an answer").json();
        let items = answer["result"][list].as_array().unwrap_or_else(|| panic!("no list: {answer}"));
        items.iter().map(|item| item[field].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(listed("tools/list", "tools", "name"), TOOLS);
    assert_eq!(listed("prompts/list", "prompts", "name").len(), 2);
    for uri in listed("resources/list", "resources", "uri") {
        assert!(uri.starts_with("heyaira://"), "{uri}");
    }
}

/// One name of each source of the fixtures: its first text in quotation marks that begins like one.
fn names_of_fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/surface/mcp/fixtures");
    let name = |source: &str| {
        let mut quoted = source.split('"').skip(1).step_by(2);
        quoted.find(|text| BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))).map(str::to_owned)
    };
    let sources = fs::read_dir(folder).expect("a folder of sources");
    sources.filter_map(|entry| name(&fs::read_to_string(entry.expect("an entry").path()).expect("UTF-8"))).collect()
}

#[test]
fn the_program_holds_no_name_of_a_fixture() {
    let program = fs::read(HEYAIRA).expect("the built program");
    let program = String::from_utf8_lossy(&program);
    let holds = |text: &str| program.contains(text);
    assert!(holds("continuity_context"), "a name of ours is not found either");
    let names = names_of_fixtures();
    assert!(names.len() >= 6, "{names:?}");
    for name in &names {
        assert!(!holds(name), "{name} is in the program");
    }
}
