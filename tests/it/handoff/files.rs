//! `heyaira handoff check`: a task, a file, a draft, standard input; its exit codes, and what is ambiguous.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use super::judged::good;
use crate::house::merged;
use crate::program::{Answer, HEYAIRA, Place, write_file};

/// A handoff in a file of its own, in which nothing is missing.
const READY: &str = "# Handoff\n\n## Done\n\nRepository acme/ledger, branch `feat/import`, head 9f3b2d1.\n\n\
    - Tested: `cargo test -p import`: 148 passed, 0 failed\n- Deployed: nothing\n- Verified in production: nothing\n\n\
    ## Next steps\n\n1. `cargo test -p import camt::batch`\n\nPrevious session: label:evening\n";

/// The exit codes of a handoff that is not ready: no refusal has them.
const THIN: i32 = 11;
const MISLEADING: i32 = 12;

/// The program in a folder without any database.
fn check(folder: &std::path::Path, words: &[&str], input: &str) -> Answer {
    let mut command = std::process::Command::new(HEYAIRA);
    command.env_clear().env("HOME", folder).current_dir(folder).args(["handoff", "check"]).args(words);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    // A program that reads no input may be gone already.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("the program ends").into()
}

#[test]
fn a_file_needs_no_database_and_says_how_good_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("HANDOFF.md"), READY).expect("written");
    let answer = check(folder.path(), &["HANDOFF.md", "--json"], "");
    assert_eq!((answer.code, answer.json()), (0, json!({"file": "HANDOFF.md", "grade": "ready", "findings": []})));
    let text = check(folder.path(), &["HANDOFF.md"], "");
    assert_eq!((text.code, text.out.as_str()), (0, "HANDOFF.md: ready\n"));

    let thin = READY.replace("Repository acme/ledger, ", "").replace("1. `cargo test -p import camt::batch`", "Go on.");
    let answer = check(folder.path(), &["-", "--json"], &thin).json();
    assert_eq!((&answer["file"], &answer["grade"]), (&json!("-"), &json!("thin")));
    let told = check(folder.path(), &["-"], &thin);
    assert_eq!(told.code, THIN);
    for part in
        ["-: thin", "warning  handoff_completed  repository-named", "first-step-executable", "branch feat/import"]
    {
        assert!(told.out.contains(part), "no {part}: {}", told.out);
    }
    assert!(!folder.path().join(".local").exists(), "no database was made");
}

#[test]
fn a_draft_is_read_as_json_and_its_fields_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut draft = good();
    draft.as_object_mut().expect("an object").remove("language");
    let answer = check(folder.path(), &["-", "--json"], &draft.to_string());
    assert_eq!((answer.code, &answer.json()["grade"]), (0, &json!("ready")), "{answer:?}");
    draft["work_receipt"]["branch"] = json!("feat/other");
    let answer = check(folder.path(), &["-", "--json"], &draft.to_string());
    assert_eq!((answer.code, &answer.json()["grade"]), (MISLEADING, &json!("misleading")));
    let answer = check(folder.path(), &["-", "--json"], "{\"handof_next\": \"x\"}");
    assert_eq!(answer.code, 2);
    assert!(answer.out.contains("did you mean draft.handoff_next?"), "{answer:?}");
    assert!(answer.out.contains("draft takes title, status, summary"), "{answer:?}");
    assert!(check(folder.path(), &["-"], "{broken").err.contains("no JSON object"));
}

#[test]
fn json_that_is_no_object_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for text in ["[1,2]", "\"x\"", "null", "[]\n", " 12"] {
        let refused = check(folder.path(), &["-"], text);
        assert_eq!(refused.code, 2, "{text}: {refused:?}");
        assert!(refused.err.contains("is JSON and no object"), "{text}: {refused:?}");
    }
    assert!(check(folder.path(), &["-"], "[ ] cargo test").out.contains("thin"), "a list is a document");
}

#[test]
fn japanese_headings_are_read_and_the_language_can_be_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "# 引き継ぎ\n\n## 状態\n\nリポジトリ acme/ledger、ブランチ: `feat/import`、HEAD `9f3b2d1`。パーサの実装が完了した。取り込みの処理は本番でまだ動いていない。\n\n\
        - テスト: `cargo test -p import` は 148 件成功\n- デプロイ: なし\n- 本番確認: なし\n\n## 次にやること\n\n1. `cargo test -p import camt::batch` を実行する\n\n\
        Previous session: label:夜\n";
    std::fs::write(folder.path().join("h.md"), text).expect("written");
    let answer = check(folder.path(), &["h.md", "--json", "--language", "ja"], "");
    assert_eq!(answer.json(), json!({"file": "h.md", "grade": "ready", "findings": []}));
    let answer = check(folder.path(), &["h.md", "--json", "--language", "en"], "").json();
    assert_eq!(answer["findings"][0]["rule"], "working-language", "{answer}");
    assert_eq!(answer["findings"].as_array().map(Vec::len), Some(1), "{answer}");
}

/// Long, with tables, marks and absolute paths, and honest about what was not run.
#[test]
fn rw_095_a_long_handoff_of_odd_shapes_has_few_and_short_findings() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows: String = (0..400)
        .map(|row| {
            format!("| ✅ step {row} | /home/maria/ledger/src/part{row}.rs | `cargo build -p part{row}` | 済み |\n")
        })
        .collect();
    let text = READY
        .replace("- Tested: `cargo test -p import`: 148 passed, 0 failed\n", "- Full tests were not rerun.\n")
        .replace(
            "## Next steps",
            &format!("| what | where | how | 状態 |\n| --- | --- | --- | --- |\n{rows}\n## Next steps"),
        );
    assert!(text.len() > 30_000, "{}", text.len());
    let answer = check(folder.path(), &["-", "--json"], &text);
    assert_eq!((answer.code, answer.json()), (0, json!({"file": "-", "grade": "ready", "findings": []})));
    let claimed = text.replace("Full tests were not rerun.", "All tests pass.");
    let found = check(folder.path(), &["-", "--json"], &claimed).json();
    assert_eq!(found["findings"][0]["rule"], "tests-with-numbers", "{found}");
    assert_eq!(found["findings"].as_array().map(Vec::len), Some(1), "{found}");
    assert!(found.to_string().len() < 600, "{found}");
}

#[test]
fn a_task_is_checked_as_the_tool_does_and_a_name_that_is_both_is_refused() {
    let place = Place::new();
    let task = place.task("Import");
    let short = &task[..8];
    let answer = place.cli(&["handoff", "check", short, "--json"]);
    assert_eq!((answer.code, &answer.json()["grade"]), (THIN, &json!("thin")));
    write_file(place.folder.path(), short, READY);
    let refused = place.cli(&["handoff", "check", short]);
    assert_eq!(refused.code, 2);
    for part in ["is a file here and could be a task", &format!("./{short}"), "the whole id"] {
        assert!(refused.err.contains(part), "no {part}: {}", refused.err);
    }
    let dotted = format!("./{short}");
    assert_eq!(place.cli(&["handoff", "check", &dotted]).code, 0);
    assert_eq!(place.cli(&["handoff", "check", &task]).code, THIN, "the whole id is the task");
    let missing = place.cli(&["handoff", "check", "nowhere.md"]);
    assert_eq!((missing.code, missing.err.contains("there is no file")), (3, true), "{missing:?}");
}

#[test]
fn a_hidden_character_is_shown_and_a_file_that_is_too_large_or_no_text_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let hidden = READY.replace("148 passed", "148 pas\u{200b}sed");
    let answer = check(folder.path(), &["-"], &hidden);
    assert!(answer.out.contains("zero-width") && answer.code == THIN, "{answer:?}");
    std::fs::write(folder.path().join("large.md"), "x".repeat(1024 * 1024 + 1)).expect("written");
    let large = check(folder.path(), &["large.md"], "");
    assert!(large.err.contains("too_large") && large.code == 2, "{large:?}");
    std::fs::write(folder.path().join("bytes.md"), [0xff, 0xfe, 0x00]).expect("written");
    assert!(check(folder.path(), &["bytes.md"], "").err.contains("not UTF-8"));
    std::fs::write(folder.path().join("windows.md"), format!("\u{feff}{}", READY.replace('\n', "\r\n")))
        .expect("written");
    assert_eq!(check(folder.path(), &["windows.md"], "").code, 0);
}

#[test]
fn what_git_contradicts_is_told_below_the_grade() {
    let place = Place::new();
    let task = place.task("Import bank statements");
    let mut update = good();
    update.as_object_mut().expect("an object").remove("language");
    let at = json!({"task_id": task, "expected_version": 1});
    let mut server = place.server();
    server.call("task_update", merged(update, at)).expect("written");
    let at = "2026-11-25T08:00:00Z";
    let facts = json!({
        "at": at, "path": "/home/maria/ledger", "git": "2.47.3",
        "repository": {"at": at, "object_format": "sha1"},
        "branch": {"at": at, "is_name": true, "local": "9f3b2d1000000000000000000000000000000000"},
        "result_commit": {"at": at, "found": "missing"},
    });
    write_file(place.folder.path(), "facts.json", &facts.to_string());
    place.ask(&["receipt", "record", &task, "--receipt-version", "2", "--facts", "@facts.json"]);
    let told = place.cli(&["handoff", "check", &task]);
    let missing =
        "result_commit 9f3b2d1 does not exist here, and there is no remote to fetch it from: ask the previous session";
    let expected = format!("{task}: misleading\nerror  work_receipt  verified: contradicted\n    {missing}\n");
    assert_eq!((told.code, told.out), (MISLEADING, expected));
}
