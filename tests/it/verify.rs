//! `heyaira verify` notices planted faults, each by its own words.

use crate::program::Place;

const FAULTS: [(&str, &str); 23] = [
    ("delete from task_version where version = 2", "its history has"),
    ("update task set version = 9", "its history has"),
    ("update task set title = 'other'", "does not replay to the present in title"),
    ("update task_version set content = '{' where version = 2", "cannot be read"),
    ("delete from task_tag", "the tag index differs"),
    ("update task_tag set tag = 'other'", "the tag index differs"),
    (
        "insert into task_tag (project_id, tag, task_id) select 1, 'x', instance_id from instance",
        "tags belong to no task",
    ),
    ("delete from task_dependency", "the index of dependencies differs"),
    ("delete from receipt", "its receipts differ"),
    ("update receipt set fields = '{'", "its last receipt cannot be read"),
    ("update task set is_open = 0", "indexed as open or finished wrongly"),
    ("update task set pending_version = 99", "a mark names a version"),
    ("update task set takeover_version = 1 where version > 1", "names a version that was none"),
    ("update task_count set tasks = tasks + 1", "counts by status"),
    ("delete from task_words", "missing from the word index"),
    ("delete from memory_words", "missing from the word index"),
    ("insert into task_words (rowid, words) values (9999, '1pstray')", "belong to no task"),
    ("insert into memory_words (rowid, words) values (9999, '1pstray')", "belong to no memory"),
    ("update memory set kind = 'rumour'", "unknown kind"),
    (
        "insert into token (name, hash, project_id, role, created_by, created_at) \
         select 'x', pin_key, 99, 'read', 'me', 1 from instance",
        "tokens belong to no project",
    ),
    (
        "insert into verification (task_id, receipt_version, at, caller, connection, verdict, differences, facts) \
         select task_id, 1, 1, 'me', 'c', 'verified', '[]', '{}' from receipt",
        "verifications belong to no receipt",
    ),
    ("delete from instance", "instances are missing"),
    ("update memory set superseded_by = null", "does not say so|supersede one that"),
];

fn place() -> Place {
    let place = Place::new();
    let first = place.task("comes first");
    let made = place.ask(&[
        "task",
        "create",
        "--title",
        "whole words",
        "--summary",
        "s",
        "--tags",
        "one",
        "--depends-on",
        &first[..8],
    ]);
    let task = made["task_id"].as_str().expect("an id").to_owned();
    place.ask(&[
        "task",
        "update",
        &task,
        "--expected-version",
        "1",
        "--summary",
        "s",
        "--receipt-session-ref",
        "label:me",
    ]);
    let old = place.ask(&["memory", "add", "--kind", "fact", "--summary", "old"]);
    let old = old["id"].as_str().expect("an id").to_owned();
    place.ask(&["memory", "add", "--kind", "fact", "--summary", "new", "--supersedes", &old]);
    place
}

#[test]
fn every_planted_fault_is_noticed() {
    let place = place();
    assert_eq!(place.bare(&["verify"]).code, 0, "{:?}", place.bare(&["verify"]));
    for (number, (fault, words)) in FAULTS.iter().enumerate() {
        let copy = place.database.copy(place.folder.path().join(format!("fault-{number}.db")));
        copy.damage(fault);
        let verified = place.bare(&["verify", "--database", copy.address()]);
        assert_eq!(verified.code, 8, "{fault}: {verified:?}");
        assert!(words.split('|').any(|words| verified.out.contains(words)), "{fault}: {}", verified.out);
    }
}
