//! Search by words: what a person types finds what a person would expect, and nothing typed is ever a syntax error.

use std::collections::BTreeSet;

use heyaira::error::Code;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::ground::{Ground, rows, text};
use crate::texts::SCRIPTS;

/// The titles of the tasks that a query finds.
fn found(ground: &Ground, query: &str) -> BTreeSet<String> {
    let answer = ground.ask("task_list", json!({"query": query, "limit": 200}));
    assert_eq!(answer["total"], rows(&answer["tasks"]).len(), "{query:?}");
    rows(&answer["tasks"]).iter().map(|row| text(&row["title"])).collect()
}

fn titles(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|title| (*title).to_owned()).collect()
}

fn with_titles(list: &[&str]) -> Ground {
    let ground = Ground::new();
    ground.ask_all("task_create", list.iter().map(|title| json!({"title": title, "summary": "none"})));
    ground
}

#[test]
fn words_and_their_beginnings_in_any_case_and_order() {
    let ground = with_titles(&["Import bank statements", "Important notice", "Export statements"]);
    for (query, expected) in [
        ("import", &["Import bank statements", "Important notice"][..]),
        ("IMPORTANT", &["Important notice"]),
        ("statements bank", &["Import bank statements"]),
        ("state", &["Import bank statements", "Export statements"]),
        ("tatements", &[]),
        ("import export", &[]),
        ("bank  statements\n", &["Import bank statements"]),
    ] {
        assert_eq!(found(&ground, query), titles(expected), "{query:?}");
    }
}

#[test]
fn identifiers_as_they_are_written() {
    let list = [
        "The multi-agent queue",
        "user_uuid is wrong",
        "panic at src/main.rs:42",
        "Port to C++ (v2)",
        "don't repeat yourself",
        "ImportError::Missing in camt::batch",
        "see https://example.org/acme/ledger/pull/412",
        "e4b0c44298fc1c14 is the digest",
        "version 1.2.3-rc.4",
        "plain words only",
    ];
    let ground = with_titles(&list);
    for (query, expected) in [
        ("multi-agent", list[0]),
        ("multi-ag", list[0]),
        ("agent", list[0]),
        ("user_uuid", list[1]),
        ("user_uu", list[1]),
        ("src/main.rs:42", list[2]),
        ("main.rs", list[2]),
        ("C++ (v2)", list[3]),
        ("c++", list[3]),
        ("don't", list[4]),
        ("don’t", list[4]),
        ("ImportError::Missing", list[5]),
        ("camt::", list[5]),
        ("acme/ledger", list[6]),
        ("pull/412", list[6]),
        ("e4b0c442", list[7]),
        ("1.2.3", list[8]),
    ] {
        assert_eq!(found(&ground, query), titles(&[expected]), "{query:?}");
    }
    // The parts of an identifier stand beside each other; apart they are another thing.
    let ground = with_titles(&["agent for multi tenants", "main.rs without src"]);
    assert_eq!(found(&ground, "multi-agent"), titles(&[]));
    assert_eq!(found(&ground, "src/main.rs"), titles(&[]));
}

#[test]
fn scripts_without_spaces_by_any_two_characters() {
    let list = [
        "次の会議で決める",
        "회의에서 결정한다",
        "日本の銀行の明細",
        "明日本を読む",
        "การประชุมครั้งต่อไป",
        "カタカナのテスト",
    ];
    let ground = with_titles(&list);
    for (query, expected) in [
        ("会議", &[list[0]][..]),
        ("회의", &[list[1]]),
        ("日本", &[list[2], list[3]]),
        ("銀行", &[list[2]]),
        ("日本 銀行", &[list[2]]),
        ("行銀", &[]),
        ("ประชุม", &[list[4]]),
        ("テスト", &[list[5]]),
        ("タカ", &[list[5]]),
    ] {
        assert_eq!(found(&ground, query), titles(expected), "{query:?}");
    }
}

#[test]
fn accents_however_they_are_written() {
    let list = ["Le café déménage", "Übergabe an Zoë", "Việc nhập sao kê", "Ёлка и ещё", "Ελληνικά έγγραφα"];
    let ground = with_titles(&list);
    for (query, expected) in [
        ("café", list[0]),
        ("cafe\u{301}", list[0]),
        ("CAFÉ", list[0]),
        ("cafe", list[0]),
        ("übergabe", list[1]),
        ("u\u{308}bergabe", list[1]),
        ("zoe", list[1]),
        ("việc", list[2]),
        ("vie\u{323}\u{302}c", list[2]),
        ("viec nhap", list[2]),
        ("ёлка", list[3]),
        ("елка", list[3]),
        ("έγγραφα", list[4]),
    ] {
        assert_eq!(found(&ground, query), titles(&[expected]), "{query:?}");
    }
    let ground =
        with_titles(&["cafe\u{301} in two code points", "ＡＰＩ in full width", "ﾃｽﾄ in half width", "ば and は"]);
    assert_eq!(found(&ground, "café").len(), 1);
    assert_eq!(found(&ground, "api").len(), 1);
    assert_eq!(found(&ground, "テスト").len(), 1);
    assert_eq!(found(&ground, "ば").len(), 1, "a Japanese letter keeps its marks");
    assert_eq!(found(&ground, "ぱ").len(), 0, "a Japanese letter keeps its marks");
}

#[test]
fn rw_023_punctuation_is_never_syntax() {
    let ground = Ground::new();
    let body = "The multi-agent queue lives in src/main.rs:42; don't use C++ (v2)";
    let memory = ground.ask("memory_add", json!({"kind": "decision", "summary": "queue", "body": body}));
    ground.task(json!({"title": "queue", "summary": "s", "description": body}));
    let search = |operation: &str, query: &str| ground.ask(operation, json!({"query": query}));
    for query in ["multi-agent", "src/main.rs:42", "don't", "C++ (v2)"] {
        let answer = search("memory_search", query);
        assert_eq!(answer["memories"][0]["id"], memory["id"], "{query:?}: {answer}");
        assert_eq!(search("task_list", query)["total"], 1, "{query:?}");
    }
    for (query, total) in [
        ("\"unclosed", 0),
        ("queue AND", 0),
        ("NOT", 0),
        ("*", 0),
        ("-42", 1),
        ("(", 0),
        ("a:b", 0),
        ("🔧", 0),
        ("  ", 0),
    ] {
        assert_eq!(search("memory_search", query)["total"], total, "{query:?}");
        assert_eq!(search("task_list", query)["total"], total, "{query:?}");
    }
    for query in [
        "NEAR(a b)",
        "words : x",
        "scope:p1",
        "^queue",
        "queue*",
        "{a b}",
        "' or 1=1 --",
        "\\",
        "\"\"",
        "a OR b",
        "%",
        "_",
        "queue \u{e000}",
    ] {
        search("memory_search", query);
        search("task_list", query);
    }
}

#[test]
fn one_letter_is_a_word_and_not_a_beginning() {
    let ground = with_titles(&["Plan B", "Bank", "b is for blocked"]);
    assert_eq!(found(&ground, "b"), titles(&["Plan B", "b is for blocked"]));
}

#[test]
fn very_long_queries_are_answered() {
    let ground = with_titles(&["word0 word1 word2"]);
    let words = |count: usize| (0..count).map(|number| format!("word{number} ")).collect::<String>();
    assert_eq!(found(&ground, &words(3)).len(), 1);
    for count in [100, 300, 1_000] {
        assert_eq!(found(&ground, &words(count)).len(), 0, "{count} words");
    }
    assert_eq!(found(&ground, &"word0 ".repeat(1_000)).len(), 1);
    assert_eq!(found(&ground, &"x".repeat(90_000)).len(), 0);
    for query in [words(1_001), "a-".repeat(45_000), "会".repeat(90_000)] {
        assert_eq!(ground.refused("task_list", json!({"query": query})), Code::InvalidArgument);
    }
}

#[test]
fn an_update_brings_new_words_and_takes_the_old_ones_away() {
    let ground = Ground::new();
    let fields = [
        "title",
        "summary",
        "description",
        "completion_criteria",
        "required_reviews",
        "handoff_next",
        "handoff_blockers",
        "handoff_completed",
        "owner",
    ];
    let task_id = ground.task(json!({"title": "plain", "summary": "plain"}));
    let total = |word: &str| ground.ask("task_list", json!({"query": word}))["total"].clone();
    for field in fields {
        let name = field.replace('_', "");
        for turn in ["first", "second"] {
            ground.update(&task_id, json!({field: format!("{turn}{name}")}));
        }
        assert_eq!(total(&format!("first{name}")), 0, "{field}");
        assert_eq!(total(&format!("second{name}")), 1, "{field}");
    }
    ground.update(&task_id, json!({"tags": ["firsttag", "keeptag"]}));
    assert_eq!(total("firsttag"), 1);
    ground.update(&task_id, json!({"tags": ["keeptag"]}));
    assert_eq!((total("firsttag"), total("keeptag")), (json!(0), json!(1)));
    assert_eq!(total(&task_id[..8]), 1, "the id is a word as well");
    assert_eq!(total(&task_id), 1);
}

#[test]
fn superseded_memories_are_found_by_their_own_words_behind_their_successor() {
    let ground = Ground::new();
    let add = |arguments: Value| text(&ground.ask("memory_add", arguments)["id"]);
    let old = add(json!({"kind": "fact", "summary": "the port is 7420", "body": "oldword"}));
    ground.wait_minutes(1);
    let new = add(json!({"kind": "fact", "summary": "the port is 7421", "supersedes": old}));
    let ids = |query: &str| {
        let answer = ground.ask("memory_search", json!({"query": query}));
        rows(&answer["memories"]).iter().map(|row| text(&row["id"])).collect::<Vec<_>>()
    };
    assert_eq!(ids("port"), [new.clone(), old.clone()]);
    assert_eq!(ids("oldword"), std::slice::from_ref(&old));
    let answer = ground.ask("memory_search", json!({"query": "oldword"}));
    assert_eq!(answer["memories"][0]["superseded_by"], new);
}

#[test]
fn other_projects_are_never_found() {
    let ground = Ground::new();
    let other = ground.project("other");
    let theirs = ground
        .call_as(&other, "task_create", json!({"title": "secretword", "summary": "s", "tags": ["shared"]}))
        .expect("accepted");
    ground.call_as(&other, "memory_add", json!({"kind": "fact", "summary": "secretword"})).expect("accepted");
    ground.task(json!({"title": "ours", "summary": "s", "tags": ["shared"]}));
    for query in ["secretword", "secret", "scope p2", "p2", "\" OR scope : \"p2", "other"] {
        assert_eq!(ground.ask("task_list", json!({"query": query}))["total"], 0, "{query:?}");
        assert_eq!(ground.ask("memory_search", json!({"query": query}))["total"], 0, "{query:?}");
    }
    assert_eq!(ground.ask("task_list", json!({"tag": "shared"}))["total"], 1);
    assert_eq!(ground.ask("task_list", json!({}))["total"], 1);
    assert_eq!(ground.refused("task_list", json!({"parent": theirs["task_id"]})), Code::NotFound);
    assert_eq!(ground.refused("task_get", json!({"task_id": theirs["task_id"]})), Code::NotFound);
    let found = ground.call_as(&other, "task_list", json!({"query": "secretword"})).expect("accepted");
    assert_eq!(found["total"], 1);
}

#[test]
fn any_text_is_an_acceptable_query() {
    let ground = with_titles(&["one task with words"]);
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let syntax = "[ \"'*^:(){}+<>=,;.~\\-\\\\a-cANDORTNEwords会🔧\u{301}\u{200d}é_0-9]{0,60}";
    let queries = prop_oneof![syntax, "\\PC{0,80}", any::<String>().prop_map(|text| text.replace('\0', ""))];
    let tried = runner.run(&queries, |query| {
        for operation in ["task_list", "memory_search"] {
            let answer = ground.call(operation, json!({"query": query}));
            prop_assert!(answer.is_ok(), "{operation}: {answer:?}");
        }
        Ok(())
    });
    tried.expect("no query is an error");
}

#[test]
fn every_piece_of_a_text_finds_it() {
    let ground = Ground::new();
    for script in &SCRIPTS {
        let body = script.text(400, 77);
        let memory = ground.ask("memory_add", json!({"kind": "fact", "summary": script.name, "body": body}));
        for piece in body.split_whitespace().filter(|piece| piece.chars().any(char::is_alphanumeric)) {
            let answer = ground.ask("memory_search", json!({"query": piece, "limit": 200}));
            let ids: Vec<&Value> = rows(&answer["memories"]).iter().map(|row| &row["id"]).collect();
            assert!(ids.contains(&&memory["id"]), "{}: {piece:?}", script.name);
        }
    }
}

/// All titles that a query finds, page by page.
fn all_found(ground: &Ground, query: &str) -> BTreeSet<String> {
    let mut titles = BTreeSet::new();
    let mut cursor = Value::Null;
    loop {
        let page = ground.ask("task_list", json!({"query": query, "limit": 200, "cursor": cursor}));
        for row in rows(&page["tasks"]) {
            assert!(titles.insert(text(&row["title"])), "{query:?} brings a row twice");
        }
        match page.get("next_cursor") {
            None => return titles,
            Some(next) => cursor = next.clone(),
        }
    }
}

#[test]
fn frequent_words_find_what_rare_ones_would() {
    // The same tasks with a word that is rare and, behind it, one that all of more than a thousand others have.
    let ground = Ground::new();
    let many =
        (0..1_300).map(|number| json!({"title": format!("filler {number}"), "summary": "common-place 会議 naïve"}));
    ground.ask_all("task_create", many);
    let with = |title: &str, more: Value| {
        let mut new = json!({"title": title, "summary": "s"});
        crate::ground::merge(&mut new, more);
        ground.task(new)
    };
    with("in the description", json!({"description": "common place, and more"}));
    with("in a tag", json!({"tags": ["a", "common place"]}));
    with("in the criteria", json!({"completion_criteria": "- [ ] Common  PLACES"}));
    with("in the reviews", json!({"required_reviews": "- [ ] (common.place)"}));
    let later = with("later", json!({}));
    ground.update(&later, json!({"handoff_next": "common\nplace"}));
    let done = with("done", json!({}));
    ground.update(&done, json!({"handoff_completed": "x".repeat(5_000) + " common place"}));
    with("over a field's end common", json!({"description": "place"}));
    with("apart", json!({"description": "common and place"}));
    with("the other way", json!({"description": "place-common"}));
    let others = |found: BTreeSet<String>| -> BTreeSet<String> {
        found.into_iter().filter(|title| !title.starts_with("filler")).collect()
    };
    let phrase = titles(&["in the description", "in a tag", "in the criteria", "in the reviews", "later", "done"]);
    let words = phrase
        .union(&titles(&["over a field's end common", "apart", "the other way"]))
        .cloned()
        .collect::<BTreeSet<_>>();
    let found = all_found(&ground, "common-place");
    assert_eq!(found.len(), 1_300 + phrase.len());
    assert_eq!(others(found), phrase);
    assert_eq!(others(all_found(&ground, "common place")), words);
    assert_eq!(all_found(&ground, "common filler").len(), 1_300);
    assert_eq!(all_found(&ground, "comm 会議").len(), 1_300, "beginnings are frequent as well");
    assert_eq!(all_found(&ground, "common places"), titles(&["in the criteria"]));
    assert_eq!(all_found(&ground, "naive 1299"), titles(&["filler 1299"]));
    // Frequent among other filters, and frequent words that seldom meet.
    let tagged = ground.ask("task_list", json!({"query": "common", "tag": "a"}));
    assert_eq!((&tagged["total"], &tagged["tasks"][0]["title"]), (&json!(1), &json!("in a tag")));
    assert_eq!(ground.ask("task_list", json!({"query": "common", "status": "done"}))["total"], 0);
    assert_eq!(ground.ask("task_list", json!({"query": "common", "status": "todo"}))["total"], "1000+");
    assert_eq!(ground.ask("task_list", json!({"query": "common absent"}))["total"], 0);
}

#[test]
fn a_query_of_too_many_words_is_refused_at_once() {
    let ground = Ground::new();
    for query in ["日 ".repeat(49_000), "common ".repeat(14_000)] {
        assert_eq!(ground.refused("task_list", json!({"query": query})), Code::InvalidArgument);
    }
    assert_eq!(ground.ask("task_list", json!({"query": "word ".repeat(1_000)}))["total"], 0);
}
