//! What becomes of a call that holds secrets: every field is looked at, all is told at once, and never the value.

use heyaira::domain::rule::Setting;
use heyaira::domain::secret::{Sightings, holds, masked, mend, scan};
use heyaira::domain::session::Observed;
use heyaira::domain::text::quoted;
use heyaira::error::Code;
use heyaira::surface::mcp::observed::observe;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::everywhere::{Planted, planted};
use super::set::drawn;
use crate::dice::Dice;
use crate::house::{House, refused};

/// One of them.
fn github() -> Planted {
    planted().swap_remove(0)
}

#[test]
fn every_text_field_is_looked_at() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import");
    let Planted { text, value, sort } = github();
    let fields = [
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
    let place = |field: &str, line: usize| format!("{field} line {line} column ");
    for field in fields {
        let more = json!({field: format!("one\n{text}")});
        let told = client.update_refused(&task, 1, more, Code::SecretRefused, &[&place(field, 2), sort, "[REDACTED:"]);
        assert!(!told.contains(&value), "{told}");
    }
    for field in ["session_ref", "harness", "model", "branch", "base_commit", "result_commit", "tests", "blockers"] {
        let mut receipt = json!({"session_ref": "codex:1"});
        receipt[field] = json!(format!("label:{value}"));
        let place = place(&format!("work_receipt.{field}"), 1);
        client.update_refused(&task, 1, json!({"work_receipt": receipt}), Code::SecretRefused, &[&place]);
        let as_text = receipt.to_string();
        client.update_refused(
            &task,
            1,
            json!({"work_receipt": as_text}),
            Code::SecretRefused,
            &["work_receipt line 1"],
        );
        // An object that is sent as JSON text may write characters out, which are the same in what is stored.
        let escaped = as_text.replacen(&value[..1], &format!("\\u00{:02x}", value.as_bytes()[0]), 1);
        if !escaped.contains(&value) {
            client.update_refused(&task, 1, json!({"work_receipt": escaped}), Code::SecretRefused, &[&place]);
        }
    }
    for (tool, arguments, field) in [
        ("task_create", json!({"title": value, "summary": "s"}), "title"),
        ("task_create", json!({"title": "t", "summary": "s", "tags": ["a", value]}), "tags"),
        ("task_create", json!({"title": "t", "summary": "s", "parent": value}), "parent"),
        (
            "task_takeover",
            json!({"task_id": task, "expected_version": 1, "session_ref": format!("label:{value}")}),
            "session_ref",
        ),
        ("memory_add", json!({"kind": "fact", "summary": "s", "body": text}), "body"),
        ("memory_add", json!({"kind": value, "summary": "s"}), "kind"),
        ("message_send", json!({"to": task, "text": text}), "text"),
        ("memory_search", json!({"query": value}), "query"),
        ("task_list", json!({"status": value}), "status"),
        ("task_get", json!({"task_id": value}), "task_id"),
        ("continuity_context", json!({"handoff": value}), "handoff"),
        ("task_list", json!({"cursor": value}), "cursor"),
    ] {
        let told = client.refused(tool, arguments, Code::SecretRefused, &[&place(field, 1), sort]);
        assert!(!told.contains(&value), "{told}");
    }
    assert_eq!(client.version(&task), 1);
}

#[test]
fn names_of_arguments_and_values_of_a_wrong_kind_are_looked_at() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import");
    let value = github().value;
    for more in [
        json!({value.clone(): "x"}),
        json!({"work_receipt": {value.clone(): "x", "session_ref": "codex:1"}}),
        json!({"priority": value}),
        json!({"status": [value]}),
        json!({"depends_on": {"a": {"b": [value]}}}),
        json!({"no_such": value}),
    ] {
        let told = client.update_refused(&task, 1, more, Code::SecretRefused, &["line 1 column"]);
        assert!(!told.contains(&value), "{told}");
    }
    let refusal = client.call("task_list", json!([value])).expect_err("a secret");
    assert_eq!(refusal.code, Code::SecretRefused);
    // Another secret than a write_context is none of its argument's business.
    let arguments = json!({"task_id": task, "expected_version": 1, "summary": "s", "write_context": value});
    let told = refused(client.call("task_update", arguments), Code::SecretRefused, &["write_context line 1 column 1"]);
    assert!(!told.contains(&value), "{told}");
}

#[test]
fn all_findings_are_told_at_once_with_their_mends() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import");
    let all = planted();
    let text: String = all.iter().map(|one| format!("{}\n\n", one.text)).collect();
    let more = json!({"description": text, "handoff_next": all[1].text, "tags": [all[0].value]});
    let arguments = House::write_context(&house, "ledger");
    let mut call = more;
    call["task_id"] = json!(task);
    call["expected_version"] = json!(1);
    call["summary"] = json!("s");
    call["write_context"] = json!(arguments);
    let refusal = client.call("task_update", call).expect_err("secrets");
    let told = refusal.to_string();
    let rows = refusal.details["secrets"].as_array().expect("details").clone();
    assert_eq!(rows.len(), all.len() + 2, "{told}");
    for one in &all {
        assert!(told.contains(one.sort) && told.contains(&mend(one.sort)), "{}: {told}", one.sort);
        assert!(!told.contains(&one.value) && !refusal.body().to_string().contains(&one.value), "{told}");
    }
    let row = json!({"field": "tags", "line": 1, "column": 1, "sort": all[0].sort});
    assert!(rows.contains(&row), "{rows:?}");
    let many = json!({"description": format!("{}\n", all[0].value).repeat(50)});
    client.update_refused(&task, 1, many, Code::SecretRefused, &["and 30 more", "Nothing was written."]);
}

/// A secret stands where other problems stand too, and those would quote it.
#[test]
fn secrets_come_before_other_refusals() {
    let house = House::new();
    let client = house.client("maria");
    let value = github().value;
    for arguments in [
        json!({"task_id": value, "expected_version": "one", "summary": "s", "status": value}),
        json!({"task_id": "00000000", "expected_version": 1, "summary": value}),
        json!({"task_id": "00000000", "expected_version": 1, "summary": value, "write_context": "other@00000000#x"}),
    ] {
        let told = client.refused("task_update", arguments, Code::SecretRefused, &[]);
        assert!(!told.contains(&value), "{told}");
    }
}

#[test]
fn rw_025_what_a_command_printed_is_refused_where_it_is_a_secret() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import");
    let p = |text: &str, count: usize| text.repeat(count);
    let mut version = 1;
    for (text, is_refused) in [
        (format!("export GH={}", github().value), true),
        (format!("postgres://app:{}@db/x", p("p", 14)), true),
        (format!("-----BEGIN {}\nMIIB", "PRIVATE KEY-----"), true),
        (format!("key sk-{}{}", "sp-Zq9", "dK3mX7wLp2Rt8Vn4Bc.Yh6Jf1Gs5Ta0Ue"), true),
        (format!("Authorization: Bearer {}", "kD8fQ2mZ7xR4vN1cW9bT6yL3"), true),
        // Without entropy they open nothing.
        (format!("export GH=ghp_{}", p("a", 36)), false),
        (format!("key sk-proj-{}", p("Ab1_", 12)), false),
        (format!("AK{}{}", "IA", p("B", 16)), false),
        (format!("Authorization: Bearer {}", p("t0", 20)), false),
    ] {
        let more = json!({"handoff_completed": text});
        if is_refused {
            client.update_refused(&task, version, more, Code::SecretRefused, &["handoff_completed line"]);
        } else {
            client.update(&task, version, more);
            version += 1;
        }
    }
}

#[test]
fn rw_026_ordinary_text_is_accepted_unchanged() {
    let house = House::new();
    let client = house.client("maria");
    let task = client.create("Import");
    let texts = [
        "bun test src/test/task-details-modal-keyboard-shortcuts.test.tsx",
        "apiKey: import.meta.env.VITE_API_KEY",
        "base 4f89edd590f74ee0ac259185e9835c44aabbccdd",
        "No API key in the build at all.",
        "rotate the token in the vault; ask ops",
        "uuid 550e8400-e29b-41d4-a716-446655440000",
    ];
    for (version, text) in (1..).zip(texts) {
        client.update(&task, version, json!({"handoff_next": text}));
        assert_eq!(client.get(&task)["handoff_next"], text);
    }
}

#[test]
fn what_a_client_tells_of_itself_counts_as_not_told_if_it_is_a_secret() {
    for one in planted() {
        // A password alone looks like any word.
        let told = if holds(&one.value) { one.value } else { one.text };
        let meta = Map::from_iter([("claudecode/sessionId".to_owned(), json!(told))]);
        assert_eq!(observe(Some((&told, "1.0")), &Map::new(), None), Observed::default(), "{}", one.sort);
        let seen = observe(Some(("claude-code", &told)), &meta, None);
        assert_eq!(seen, Observed { harness: Some("claude-code".to_owned()), ..Observed::default() }, "{}", one.sort);
    }
}

#[test]
fn a_project_may_be_warned_or_not_but_our_own_are_refused() {
    let Planted { text, value, sort } = github();
    let sightings = Sightings::in_arguments(&json!({"handoff_next": format!("a\n{text}")}), None);
    assert!(sightings.judge(Setting::Refuse).is_err());
    assert_eq!(sightings.judge(Setting::Off).expect("off"), Vec::<Value>::new());
    let warnings = sightings.judge(Setting::Warn).expect("warned");
    assert_eq!((&warnings[0]["rule"], &warnings[0]["field"]), (&json!("secrets"), &json!("handoff_next")));
    let fix = warnings[0]["fix"].as_str().expect("a fix");
    assert!(
        fix.contains("line 2") && fix.contains(sort) && fix.contains(&mend(sort)) && !fix.contains(&value),
        "{fix}"
    );
    let own = Sightings::in_arguments(&json!({"summary": drawn("token", &mut Dice::new(7))}), None);
    for setting in [Setting::Off, Setting::Warn, Setting::Refuse] {
        assert_eq!(own.judge(setting).expect_err("our own").code, Code::SecretRefused);
    }
    let context = json!({"write_context": format!("ledger@5b1f09c2#{}", "k".repeat(16))});
    assert!(Sightings::in_arguments(&context, None).is_empty());
}

/// Errors quote what was sent, in short: half a secret is one that nobody recognizes.
#[test]
fn quotations_hold_no_part_of_a_secret() {
    for one in planted() {
        assert!(holds(&one.text), "{}", one.sort);
        for before in 0..70 {
            let text = format!("{} {}", "x".repeat(before), one.text);
            for most in [20, 40, 60, 80, 120] {
                let shown = quoted(&text, most);
                assert!(!shown.contains(&one.value[..one.value.len().min(8)]), "{shown}");
            }
        }
        assert!(masked(&one.text).contains(&mend(one.sort)) && scan(&masked(&one.text)).is_empty());
    }
    assert_eq!(masked("nothing here"), "nothing here");
}

/// Pieces that rules read on from, and what breaks a careless reader.
const PIECES: [&str; 40] = [
    "ghp_",
    "AKIA",
    "sk-",
    ".atlasv1.",
    "Q~",
    ":AA",
    "-us",
    "_mmk",
    "eyJ",
    "eyJhbGciOiJIUzI1NiJ9.",
    "://",
    "@",
    ":",
    "#",
    "-----BEGIN PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "Private-Lines: 1",
    "Authorization",
    "Bearer ",
    "Basic ",
    "Cookie: session=",
    ";",
    "curl -u ",
    "sshpass -p",
    "?sig=",
    "&sv=",
    "password",
    "=",
    "\"",
    "'",
    "\\",
    "\n",
    "%",
    "{{",
    "(",
    ")",
    "é",
    "鍵",
    "👩‍💻",
    "aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vW1xY",
];

proptest! {
    #[test]
    fn every_text_is_looked_through(pieces in proptest::collection::vec((0..PIECES.len(), any::<Option<char>>()), 0..60)) {
        let text: String = pieces.iter().flat_map(|(piece, one)| PIECES[*piece].chars().chain(*one)).collect();
        let mut end = 0;
        for one in scan(&text) {
            prop_assert!(one.range.start >= end && one.range.start < one.range.end, "{:?}", one);
            prop_assert!(text.get(one.range.clone()).is_some());
            end = one.range.end;
        }
        prop_assert_eq!(masked(&text) == text, end == 0);
    }
}
