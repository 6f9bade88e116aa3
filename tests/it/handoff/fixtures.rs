//! The handoffs in `tests/it/fixtures/handoffs`, written without a look at the rules: in the good ones nothing is found, in each
//! bad one its fault and no other.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use heyaira::domain::handoff::Grade;
use serde_json::{Map, Value, json};

use super::judged::judged;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/handoffs")
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(kind: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder().join(kind)).expect("a folder of handoffs");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// A bad one is a good one with some fields changed.
fn whole(given: &Value) -> Value {
    let Some(from) = given["from"].as_str() else { return given.clone() };
    let mut fields = read(&folder().join(from));
    for (name, value) in given["change"].as_object().expect("changes") {
        let (place, last) = match name.split_once('.') {
            Some((outer, inner)) => (&mut fields[outer], inner),
            None => (&mut fields, name.as_str()),
        };
        let place = place.as_object_mut().expect("an object");
        if value.is_null() {
            place.shift_remove(last);
        } else {
            place.insert(last.to_owned(), value.clone());
        }
    }
    fields
}

/// The fields as the rules are asked.
fn asked(given: &Value) -> Value {
    let mut fields = whole(given);
    let ids = |list: &Value| -> Vec<String> { serde_json::from_value(list.clone()).unwrap_or_default() };
    let superseded = fields["superseded"].clone();
    let memories: Map<String, Value> =
        ids(&fields["memories"]).into_iter().map(|id| (id.clone(), superseded[&id].clone())).collect();
    let texts = ["handoff_next", "handoff_completed", "handoff_blockers"].map(|name| fields[name].to_string()).concat();
    let unnamed: Vec<String> = ids(&fields["decisions"]).into_iter().filter(|id| !texts.contains(id)).collect();
    fields["language"] = fields["project"]["language"].clone();
    fields["memories"] = Value::Object(memories);
    fields["unnamed_decisions"] = json!(unnamed);
    fields
}

#[test]
fn each_handoff_has_the_findings_that_a_careful_reader_would_have() {
    let mut wrong = String::new();
    let all: Vec<PathBuf> = files("good").into_iter().chain(files("bad")).collect();
    assert!(all.len() > 100, "{} files", all.len());
    for path in all {
        let given = read(&path);
        let expected = given["expected"].as_array().expect("findings");
        let expected: Vec<(&str, &str)> =
            expected.iter().filter_map(|one| Some((one["rule"].as_str()?, one["field"].as_str()?))).collect();
        let found = judged(&asked(&given));
        let told: Vec<(&str, &str)> =
            found.findings.iter().map(|one| (one.rule.as_str(), one.field.as_str())).collect();
        if told != expected {
            let _ = writeln!(wrong, "{}: expected {expected:?}, found {found:#?}", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_follows_from_a_test_alone_misleads() {
    for name in ["19-deployed-implied-by-test.json", "23-ja-deployed-implied-by-test.json"] {
        let given = read(&folder().join("bad").join(name));
        assert_eq!(judged(&asked(&given)).grade, Grade::Misleading, "{name}");
    }
}
