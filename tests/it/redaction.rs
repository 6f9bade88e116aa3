//! A passage that leaked is taken out of everything that is stored, and of the file.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use heyaira::domain::redaction::Passage;
use heyaira::error::Code;
use heyaira::store::backend::work;
use heyaira::store::redaction::{KEYED_BY_TEXT, PLACES, TASK};
use heyaira::store::transfer::TABLES;
use heyaira::store::verify;
use serde_json::{Value, json};

use crate::house::{CODEX, House, rows, text};
use crate::program::{Answer, Place, write_file};

/// What leaked, in words that stand nowhere else, and of several lines, quotation marks and a backslash.
const LEAKED: [&str; 3] = ["zanzibar-unmistakable", "line \"one\"\nline\\two\ttabbed", "漏れた秘密の文字列🔑"];

/// Puts a passage into every text that is a caller's to write; answers the task.
fn leak_everywhere(house: &House, leaked: &str) -> String {
    let client = house.client("maria");
    let in_text = format!("before {leaked} after {leaked}.");
    let one_line = leaked.replace(['\n', '\t'], " ");
    let short = if one_line == leaked { format!("has {leaked}") } else { "short".to_owned() };
    let task = client.create_with(&short, json!({"description": in_text, "tags": [short]}));
    let fields = ["handoff_next", "handoff_blockers", "handoff_completed", "completion_criteria", "required_reviews"];
    let mut all: Value = json!({"summary": short, "owner": short, "idempotency_key": short});
    for field in fields {
        all[field] = json!(in_text);
    }
    let receipt = ["branch", "tests", "completed_work", "next_step", "blockers", "harness", "model"];
    all["work_receipt"] = json!({"session_ref": CODEX});
    for field in receipt {
        all["work_receipt"][field] = json!(in_text);
    }
    client.update(&task, 1, all);
    // The present texts are without it, the history is not.
    client.update(&task, 2, json!({"description": "clean again", "replace": true}));
    let memory = json!({"kind": "fact", "summary": short, "body": in_text, "tags": [short], "task_id": task});
    client.ok("memory_add", memory);
    client.ok("message_send", json!({"to": task, "text": in_text, "idempotency_key": format!("key {short}")}));
    task
}

/// True if a passage stands in any column of any table.
fn is_stored(house: &House, leaked: &str) -> bool {
    let passage = Passage::of(leaked.to_owned()).expect("long enough");
    !house
        .read(work(move |transaction| {
            let passage = passage.clone();
            Box::pin(async move { heyaira::store::redaction::find(transaction, &passage).await })
        }))
        .is_empty()
}

#[test]
fn a_passage_is_taken_out_of_every_text() {
    for leaked in LEAKED {
        let house = House::new();
        let task = leak_everywhere(&house, leaked);
        let other = house.client("maria").create("Untouched");
        assert!(is_stored(&house, leaked));
        let answer = house.owner().ok("redact", json!({"passage": leaked}));
        let version = house.client("maria").get(&task)["version"].clone();
        assert_eq!((&answer["redacted"], &version), (&json!(true), &json!(4)), "{answer}");
        assert_eq!(answer["tasks"], json!([{"task_id": &task[..8], "version": 4}]));
        assert!(!is_stored(&house, leaked));
        assert!(!answer.to_string().contains(leaked), "{answer}");
        for version in 1..=4 {
            let old = house.client("maria").ok("task_get", json!({"task_id": task, "version": version}));
            assert!(!old.to_string().contains("zanzibar"), "{old}");
        }
        let now = house.client("maria").get(&task);
        assert_eq!(now["handoff_next"], "before [REDACTED] after [REDACTED].");
        let first = house.client("maria").ok("task_get", json!({"task_id": task, "version": 1}));
        assert_eq!(first["description"], "before [REDACTED] after [REDACTED].");
        assert_eq!(house.client("maria").get(&other)["version"], 1);
    }
}

#[test]
fn a_version_says_so() {
    let house = House::new();
    let task = leak_everywhere(&house, LEAKED[0]);
    house.owner().ok("redact", json!({"passage": LEAKED[0]}));
    let history = house.person("tomas").ok("task_history", json!({"task_id": task}));
    let newest = &rows(&history["versions"])[0];
    assert_eq!((&newest["v"], &newest["act"], &newest["caller"]), (&json!(4), &json!("redact"), &json!("owner")));
    let fields: Vec<&str> = rows(&newest["fields"]).iter().map(text).collect();
    assert!(
        fields.contains(&"handoff_next") && fields.contains(&"tags") && !fields.contains(&"description"),
        "{newest}"
    );
    // Whoever has read an earlier version is told.
    let stale = json!({"task_id": task, "expected_version": 3, "summary": "s"});
    house.client("maria").refused("task_update", stale, Code::VersionConflict, &["4"]);
}

#[test]
fn it_is_found_no_more() {
    let house = House::new();
    leak_everywhere(&house, LEAKED[0]);
    let client = house.client("maria");
    assert_eq!(client.ok("task_list", json!({"query": "zanzibar"}))["total"], 1);
    assert_eq!(client.ok("memory_search", json!({"query": "zanzibar"}))["total"], 1);
    house.owner().ok("redact", json!({"passage": LEAKED[0]}));
    assert_eq!(client.ok("task_list", json!({"query": "zanzibar"}))["total"], 0);
    assert_eq!(client.ok("memory_search", json!({"query": "zanzibar"}))["total"], 0);
    assert_eq!(client.ok("task_list", json!({"query": "redacted"}))["total"], 1);
    assert_eq!(client.ok("task_list", json!({"tag": "has [REDACTED]"}))["total"], 1);
    let context = client.ok("continuity_context", json!({}));
    assert!(!context.to_string().contains("zanzibar"), "{context}");
}

#[test]
fn tags_that_differed_by_it_alone_are_one() {
    let house = House::new();
    let client = house.client("maria");
    let tags = json!([format!("has {}", LEAKED[0]), "has [REDACTED]", "other"]);
    let task = client.create_with("two tags", json!({"tags": tags}));
    client.ok("memory_add", json!({"kind": "fact", "summary": "two tags", "tags": tags}));
    house.owner().ok("redact", json!({"passage": LEAKED[0]}));
    let left = json!(["has [REDACTED]", "other"]);
    assert_eq!(client.ok("task_get", json!({"task_id": task}))["tags"], left);
    // The first version too: it may be written again.
    assert_eq!(client.ok("task_get", json!({"task_id": task, "version": 1}))["tags"], left);
    let found = house.read(work(|transaction| {
        Box::pin(async move {
            let tasks = verify::tasks_behind(transaction, uuid::Uuid::nil()).await?;
            verify::task_problems(transaction, tasks[0].1, tasks[0].0).await
        })
    }));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_retry_is_answered_without_it() {
    let house = House::new();
    let client = house.client("maria");
    let arguments = json!({"title": LEAKED[0], "summary": "s", "idempotency_key": "first"});
    client.ok("task_create", arguments.clone());
    house.owner().ok("redact", json!({"passage": LEAKED[0]}));
    let again = client.ok("task_create", arguments);
    assert_eq!(again["replayed"], true);
    assert!(!again.to_string().contains(LEAKED[0]), "{again}");
}

#[test]
fn a_dry_run_changes_nothing() {
    let house = House::new();
    let task = leak_everywhere(&house, LEAKED[0]);
    let answer = house.owner().ok("redact", json!({"passage": LEAKED[0], "dry_run": true}));
    assert_eq!((&answer["found"], &answer["redacted"]), (&json!(true), &json!(false)));
    assert_eq!(answer["rows"]["task_version"], 2, "{answer}");
    assert!(is_stored(&house, LEAKED[0]));
    assert_eq!(house.client("maria").get(&task)["version"], 3);
}

#[test]
fn what_stands_nowhere_changes_nothing() {
    let house = House::new();
    let task = leak_everywhere(&house, LEAKED[0]);
    let answer = house.owner().ok("redact", json!({"passage": "ZANZIBAR-unmistakable"}));
    assert_eq!((&answer["found"], &answer["tasks"]), (&json!(false), &json!([])));
    assert_eq!(house.client("maria").get(&task)["version"], 3);
}

#[test]
fn words_of_our_own_stay() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create_with("Talks of in_progress", json!({}));
    client.update(&task, 1, json!({"status": "in_progress"}));
    house.owner().ok("redact", json!({"passage": "in_progress"}));
    let now = client.get(&task);
    assert_eq!((&now["status"], &now["title"]), (&json!("in_progress"), &json!("Talks of [REDACTED]")));
    let old = client.ok("task_get", json!({"task_id": task, "version": 2}));
    assert_eq!(old["status"], "in_progress");
}

#[test]
fn what_is_too_short_or_not_the_owners_is_refused() {
    let house = House::new();
    for short in ["", "     ", "abcde", " abcde "] {
        house.owner().refused("redact", json!({"passage": short}), Code::InvalidArgument, &["passage"]);
    }
    for part in ["REDACTED", "[REDACTED]", "REDACT"] {
        house.owner().refused("redact", json!({"passage": part}), Code::InvalidArgument, &["passage"]);
    }
    let leaked = json!({"passage": LEAKED[0]});
    let told = house.client("maria").refused("redact", leaked, Code::Forbidden, &["admin"]);
    assert!(!told.contains(LEAKED[0]), "{told}");
}

/// `HeyAira`'s own secrets are refused everywhere but here.
#[test]
fn a_write_context_can_be_redacted() {
    let house = House::new();
    let context = house.write_context("ledger");
    let answer = house.owner().ok("redact", json!({"passage": context}));
    assert_eq!(answer["found"], false);
}

/// Columns that hold no text of anybody's: keys, numbers, words of our own, digests; the language and the path of a backup
/// are the owner's settings.
const NO_TEXT: [(&str, &str); 16] = [
    ("project", "slug language project_id generation stale_hours archived_at created_at rules"),
    ("token", "token_key hash project_id role created_at expires_at revoked_at"),
    (
        "task",
        "task_id version status priority created_at updated_at parent takeover_version takeover_at \
         next_version receipt_version pending_version pending_at reopened_version owner_at depends_on task_key \
         project_id is_open",
    ),
    ("task_count", "project_id status slot tasks"),
    ("task_grade", "task_id version grade"),
    ("task_tag", "project_id task_id"),
    ("task_dependency", "task_id depends_on"),
    ("task_version", "task_id version project_id at act changed"),
    ("receipt", "task_id version observed carried at"),
    ("task_session", "project_id task_id first_version last_version handed_off_version"),
    ("memory", "memory_id kind task_id supersedes superseded_by at memory_key project_id task_version fingerprint"),
    ("message", "message_key message_id project_id task_id at expires_at acknowledged_at"),
    ("idempotency", "project_id operation fingerprint expires_at"),
    ("backup", "backup_key file made_at"),
    ("verification", "verification_key task_id receipt_version at verdict"),
    (
        "run_report",
        "run_key run_id project_id task_id outcome started_at ended_at received_at fingerprint recorded_version recorded_at \
         problems dismissed_at",
    ),
];

/// A column that is added later must not be forgotten.
#[test]
fn every_column_is_a_place_or_has_a_reason() {
    let no_text = |(table, columns): &(&str, &str)| -> Vec<String> {
        columns.split(' ').map(|column| format!("{table}.{column}")).collect()
    };
    // Its rows follow the tags of their tasks.
    let follows = ["task_tag.tag"];
    let places = PLACES.iter().chain(&KEYED_BY_TEXT).chain([&TASK]);
    let known: Vec<String> = places
        .flat_map(|place| place.texts.iter().chain(place.json).map(move |column| format!("{}.{column}", place.table)))
        .chain(NO_TEXT.iter().flat_map(no_text))
        .chain(follows.map(str::to_owned))
        .collect();
    for table in TABLES.iter() {
        for column in &table.columns {
            let name = format!("{}.{column}", table.name);
            assert_eq!(known.iter().filter(|one| **one == name).count(), 1, "{name}");
        }
    }
}

/// Runs the command with the passage on its standard input.
fn redact(place: &Place, passage: &str, words: &[&str]) -> Answer {
    use std::io::Write;
    let mut command = place.command();
    command.args(["redact", "--json"]).args(words);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    child.stdin.take().expect("a pipe").write_all(passage.as_bytes()).expect("read");
    child.wait_with_output().expect("it ends").into()
}

/// The files of a folder that hold a passage.
fn holding(folder: &Path, passage: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let holds = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.windows(passage.len()).any(|window| window == passage.as_bytes())
    };
    entries.map(|entry| entry.expect("readable").path()).filter(|path| path.is_file()).filter(holds).collect()
}

#[test]
fn no_byte_of_it_is_left_in_the_file() {
    let place = Place::on(crate::database::TestDatabase::of_file);
    let leaked = "zanzibar-unmistakable";
    // Long texts lie in chains of pages, and what was replaced lies in free ones.
    let long = format!("{}{leaked}{}", "x".repeat(9_000), "y".repeat(5_000));
    write_file(place.folder.path(), "long.txt", &long);
    let task = place.task("Import bank statements");
    let mut server = place.server();
    for version in 1..4 {
        let update = json!({"task_id": task, "expected_version": version, "summary": "s", "description": long});
        server.call("task_update", update).expect("written");
        let update = json!({"task_id": task, "expected_version": version + 1, "summary": "s", "description": "gone", "replace": true});
        if version == 3 {
            server.call("task_update", update).expect("written");
        }
    }
    let data = place.database.file().parent().expect("a folder").to_owned();
    assert!(!holding(&data, leaked).is_empty());
    let answer = redact(&place, &format!("{leaked}\n"), &[]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let told = answer.json();
    assert_eq!((&told["redacted"], &told["file_is_clean"]), (&json!(true), &json!(true)), "{told}");
    assert_eq!(holding(&data, leaked), Vec::<PathBuf>::new());
    assert!(!format!("{answer:?}").contains(leaked), "{answer:?}");
    // Nor of its words: what was removed from the index is not kept in it.
    assert_eq!(holding(&data, "unmistakable"), Vec::<PathBuf>::new());
    // The server that was running finds it so.
    assert_eq!(server.call("task_list", json!({"query": "zanzibar"})).expect("listed")["total"], 0);
    assert_eq!(server.end(), Some(0));
    let verified = place.bare(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn the_backups_that_hold_it_are_listed() {
    let place = Place::on(crate::database::TestDatabase::of_file);
    let leaked = "zanzibar-unmistakable";
    let path = |name: &str| place.folder.path().join(name).display().to_string();
    assert_eq!(place.bare(&["backup", "early.db"]).code, 0);
    let task = place.task("Import");
    place.ask(&["task", "update", &task, "--expected-version", "1", "--summary", leaked]);
    for name in ["one.db", "lost.db"] {
        assert_eq!(place.bare(&["backup", name]).code, 0);
    }
    std::fs::remove_file(path("lost.db")).expect("removed");
    // Putting one back keeps what was there, beside the database.
    assert_eq!(place.bare(&["restore", "one.db", "--same-instance"]).code, 0);
    let dry = redact(&place, leaked, &["--dry-run"]).json();
    assert_eq!(rows(&dry["backups_that_hold_it"]).len(), 2, "{dry}");
    let told = redact(&place, leaked, &[]).json();
    let files: Vec<&str> = rows(&told["backups_that_hold_it"]).iter().map(|row| text(&row["file"])).collect();
    assert_eq!(files.len(), 2, "{told}");
    assert!(files.iter().any(|file| file.contains(".before-restore-")), "{told}");
    assert!(files.contains(&path("one.db").as_str()), "{told}");
    assert_eq!(told["backups_without_it"], 1, "{told}");
    let gone: Vec<&str> = rows(&told["backups_not_looked_at"]).iter().map(|row| text(&row["file"])).collect();
    assert_eq!(gone, [path("lost.db")]);
    // The backup is left as it is.
    assert_eq!(holding(place.folder.path(), leaked), vec![PathBuf::from(path("one.db"))]);
}

#[test]
fn while_somebody_reads_an_older_state_the_file_is_not_called_clean() {
    let place = Place::on(crate::database::TestDatabase::of_file);
    let leaked = "zanzibar-unmistakable";
    place.task(leaked);
    let reader = rusqlite::Connection::open(place.database.file()).expect("opened");
    reader.execute_batch("begin").expect("begun");
    let count: i64 = reader.query_row("select count(*) from task", [], |row| row.get(0)).expect("read");
    assert_eq!(count, 1);
    let answer = redact(&place, leaked, &[]);
    assert_eq!(answer.code, 7, "{answer:?}");
    assert_eq!(answer.json()["file_is_clean"], false);
    drop(reader);
    let again = redact(&place, leaked, &[]);
    assert_eq!((again.code, &again.json()["file_is_clean"]), (0, &json!(true)), "{again:?}");
}

#[test]
fn a_passage_is_not_taken_from_the_command_line() {
    let place = Place::new();
    let leaked = "zanzibar-unmistakable";
    place.task(leaked);
    let refused = place.bare(&["redact", "--passage", leaked]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(!refused.err.contains(leaked), "{refused:?}");
    assert_eq!(place.bare(&["redact", "--passage", "@missing.txt"]).code, 2);
    write_file(place.folder.path(), "leaked.txt", &format!("{leaked}\r\n"));
    let told = place.bare(&["redact", "--passage", "@leaked.txt", "--json"]).json();
    assert_eq!(told["rows"]["task"], 1, "{told}");
}

#[test]
fn a_purged_project_leaves_no_word_in_the_index() {
    let place = Place::on(crate::database::TestDatabase::of_file);
    place.task("zanzibar-unmistakable");
    assert_eq!(place.bare(&["project", "purge", "ledger", "--confirm", "ledger"]).code, 0);
    let data = place.database.file().parent().expect("a folder").to_owned();
    assert_eq!(holding(&data, "unmistakable"), Vec::<PathBuf>::new());
}

/// Each writer changes a task that holds the passage, again and again: none is refused, and the redaction comes through.
#[test]
fn writers_do_not_hold_it_up() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let place = Place::new();
    let leaked = "zanzibar-unmistakable";
    let tasks: Vec<String> = (0..3).map(|_| place.task(leaked)).collect();
    let (began, over) = (&AtomicBool::new(false), &AtomicBool::new(false));
    let place = &place;
    std::thread::scope(|scope| {
        let writers = tasks.iter().map(|task| {
            scope.spawn(move || {
                let mut server = place.server();
                let mut version = 1;
                let mut redacted = false;
                while !over.load(Ordering::Relaxed) {
                    let update = json!({"task_id": task, "expected_version": version, "summary": format!("{version}")});
                    match server.call("task_update", update) {
                        Ok(answer) => version = answer["version"].as_i64().expect("a version"),
                        Err(refused) => {
                            assert!(refused.starts_with("version_conflict: ") && !redacted, "{refused}");
                            (version, redacted) = (version + 1, true);
                        }
                    }
                    began.store(true, Ordering::Relaxed);
                }
                redacted
            })
        });
        let writers: Vec<_> = writers.collect();
        while !began.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        let answer = redact(place, leaked, &[]);
        over.store(true, Ordering::Relaxed);
        let met: Vec<bool> = writers.into_iter().map(|writer| writer.join().expect("no panic")).collect();
        // On SQLite the file may be read at that moment, which the answer then says.
        assert!([0, 7].contains(&answer.code), "{answer:?}");
        assert_eq!(answer.json()["redacted"], true, "{answer:?}");
        assert_eq!(rows(&answer.json()["tasks"]).len(), 3, "{answer:?}, {met:?}");
    });
    assert_eq!(place.bare(&["verify"]).code, 0);
}

#[test]
fn a_backup_that_brings_a_passage_back_says_so() {
    let place = Place::on(crate::database::TestDatabase::of_file);
    let leaked = "zanzibar-unmistakable";
    let task = place.task(leaked);
    assert_eq!(place.bare(&["backup", "before.db"]).code, 0);
    assert_eq!(redact(&place, leaked, &[]).code, 0);
    assert_eq!(place.bare(&["backup", "after.db"]).code, 0);
    let clean = place.bare(&["restore", "after.db", "--same-instance", "--json"]).json();
    assert_eq!((clean.get("redactions_undone"), clean.get("next")), (None, None), "{clean}");
    let told = place.bare(&["restore", "before.db", "--same-instance"]);
    for part in [&format!("{} v2", &task[..8]), "heyaira redact", "brought back"] {
        assert!(told.out.contains(part), "no {part}: {told:?}");
    }
    assert!(!told.out.contains(leaked), "{told:?}");
    // Redacted again, the list of what was there before names the copy that was kept as well.
    assert_eq!(redact(&place, leaked, &[]).code, 0);
    let told = place.bare(&["restore", "before.db", "--same-instance", "--json"]).json();
    assert_eq!(told["redactions_undone"], json!([{"task_id": &task[..8], "version": 2}]), "{told}");
    assert!(text(&told["next"]).contains("heyaira redact"), "{told}");
    // As another instance, both are to be done.
    let told = place.bare(&["restore", "after.db"]);
    assert!(!told.out.contains("heyaira redact") && told.out.contains("another instance"), "{told:?}");
}
