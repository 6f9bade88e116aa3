//! Each rule on the good handoff with one thing taken out or made wrong: that rule finds it, and no other.

use heyaira::domain::handoff::Grade;
use serde_json::{Value, json};

use super::judged::{SESSION, completed, good, good_japanese, judged, with, with_receipt};
use crate::house::merged;

/// Asserts that exactly this rule finds something, that it misleads or not, and that the mend holds the words.
#[track_caller]
fn finds(fields: &Value, rule: &str, grade: Grade, words: &[&str]) {
    let found = judged(fields);
    assert_eq!((found.rules(), found.grade), (vec![rule], grade), "{found:?}");
    for word in words {
        assert!(found.fix().contains(word), "no {word}: {}", found.fix());
    }
}

#[track_caller]
fn finds_nothing(fields: &Value) {
    let found = judged(fields);
    assert_eq!(found.rules(), Vec::<&str>::new(), "{found:?}");
    assert_eq!(found.grade, Grade::Ready);
}

fn next(text: &str) -> Value {
    with(json!({"handoff_next": format!("{text}\nPrevious session: {SESSION}")}))
}

fn done(start: &str, line: Option<&str>) -> Value {
    with(json!({"handoff_completed": completed(&good(), start, line)}))
}

#[test]
fn nothing_is_found_in_good_ones() {
    finds_nothing(&good());
    finds_nothing(&good_japanese());
}

#[test]
fn the_summary_says_the_state_in_one_sentence() {
    let summary = |text: &str| with(json!({"summary": text}));
    finds(&summary(""), "summary-one-sentence", Grade::Thin, &["state in one sentence"]);
    finds(
        &summary("Import bank statements (CAMT.053)."),
        "summary-one-sentence",
        Grade::Thin,
        &["not the title again"],
    );
    finds(&summary(&"long ".repeat(60)), "summary-one-sentence", Grade::Thin, &["280"]);
    finds(&summary("Importer works.\nFiles are open."), "summary-one-sentence", Grade::Thin, &["one line"]);
}

#[test]
fn the_repository_is_named_in_any_of_its_forms() {
    let first = |line: &str| done("Repository", Some(line));
    let gone = first("Branch feat/statement-import, PR #412 (draft), base 4c19e7a, head 9f3b2d1.");
    finds(&gone, "repository-named", Grade::Thin, &["owner/name", "feat/statement-import"]);
    let only_paths = first("Branch feat/statement-import in src/import and docs/import, 9f3b2d1, read/write.");
    finds(&only_paths, "repository-named", Grade::Thin, &[]);
    let folder = first("Repository in `~/code/ledger`, 9f3b2d1, modules/network read.");
    finds(&folder, "repository-named", Grade::Thin, &[]);
    for named in [
        "https://github.com/acme/ledger at feat/statement-import, 9f3b2d1",
        "git@gitlab.example.org:acme/ledger.git, 9f3b2d1",
        "In acme/ledger on feat/statement-import, 9f3b2d1",
        "acme/ledger#412, 9f3b2d1",
        "リポジトリ: `acme/ledger`、9f3b2d1",
        "المستودع acme/ledger، 9f3b2d1",
        "Fork of acme/ledger",
    ] {
        finds_nothing(&first(named));
    }
}

#[test]
fn the_receipt_has_branch_and_commit_and_the_texts_agree() {
    let rule = "branch-and-commit";
    finds(&with_receipt(json!({"branch": ""})), rule, Grade::Thin, &["feat/statement-import"]);
    finds(&with_receipt(json!({"result_commit": null})), rule, Grade::Thin, &["9f3b2d1"]);
    for wrong in ["HEAD", "main", "9f3b2", "latest commit", "zzzzzzz", "0000000"] {
        finds(&with_receipt(json!({"result_commit": wrong})), rule, Grade::Thin, &["no commit", "9f3b2d1"]);
    }
    finds(&with_receipt(json!({"base_commit": "main"})), rule, Grade::Thin, &["no commit"]);
    for right in
        ["9F3B2D1", "9f3b2d1 (pushed)", "`9f3b2d1`", "4c19e7a..9f3b2d1", "none: nothing is committed", "uncommitted"]
    {
        finds_nothing(&with_receipt(json!({"result_commit": right})));
    }
    let both = &["feat/other", "feat/statement-import"];
    finds(&with_receipt(json!({"branch": "feat/other"})), rule, Grade::Misleading, both);
    finds(&with_receipt(json!({"result_commit": "1234abc"})), rule, Grade::Misleading, &["9f3b2d1", "1234abc"]);
    // The next step may start from the trunk.
    finds_nothing(&next("git switch main && git pull && git switch -c feat/more   # in crates/import"));
}

#[test]
fn the_states_are_told_apart_also_where_there_is_nothing() {
    let rule = "states-distinguished";
    finds(&done("Deployed", None), rule, Grade::Thin, &["Deployed: nothing"]);
    finds(&done("Verified", None), rule, Grade::Thin, &["Verified in production: nothing"]);
    for denied in ["Deployed: nothing.", "Not deployed.", "Nothing is released yet.", "**Deployed:** no"] {
        finds_nothing(&done("Deployed", Some(denied)));
    }
    let japanese = |start: &str| {
        let text = completed(&good_japanese(), start, None);
        merged(good_japanese(), json!({"handoff_completed": text}))
    };
    finds(&japanese("デプロイ"), rule, Grade::Thin, &["デプロイ: なし"]);
    finds(&japanese("本番確認"), rule, Grade::Thin, &["本番確認: なし"]);
    let nothing = judged(&with(json!({"handoff_completed": ""})));
    assert_eq!(nothing.rules(), ["repository-named", rule]);
}

#[test]
fn a_test_deploys_nothing() {
    let rule = "states-distinguished";
    let words = &["a test deploys and verifies nothing"];
    for claim in ["Deployed: cargo test -p import passes, 148 passed.", "Deployed, since all tests pass."] {
        finds(&done("Deployed", Some(claim)), rule, Grade::Misleading, words);
    }
    finds(&done("Verified", Some("Verified in production: all 148 tests passed.")), rule, Grade::Misleading, words);
    let fields = merged(done("Deployed", Some("Deployed: nothing.")), json!({"summary": "The importer is deployed."}));
    finds(&fields, rule, Grade::Misleading, &["the summary says"]);
    let smoke = "Deployed: production since 9f3b2d1; the smoke tests there: 12 passed.";
    finds_nothing(&done("Deployed", Some(smoke)));
}

#[test]
fn a_test_deploys_nothing_whatever_else_stands_on_the_line() {
    let rule = "states-distinguished";
    let words = &["a test deploys and verifies nothing"];
    let line = "Repository acme/ledger, branch feat/statement-import, head 9f3b2d1. Prepared: parse(). Tested: cargo test: \
                148 passed, 0 failed. Tests passed, so it is deployed. Verified in production: nothing.";
    finds(&with(json!({"handoff_completed": line})), rule, Grade::Misleading, words);
    for inferred in [
        "Unit tests passed, so it is deployed.",
        "148 tests passed, nothing failed, therefore it is released.",
        "The suite is green, so the reconnect works for our users.",
        "All 148 tests pass. Therefore it works in production.",
        "CI is green, which means that customers can use it.",
        "テストが通ったので、デプロイ済み。",
        "テストが通ったので、利用者の環境でも問題なく動く。",
    ] {
        let lines = format!("{inferred} Deployed: nothing. Verified in production: nothing.");
        finds(&done("Deployed", Some(&lines)), rule, Grade::Misleading, words);
    }
    // Told one beside the other, nothing follows from a test.
    for told in [
        "Deployed to staging, so the test team can try it. 148 tests passed.",
        "Tests passed, so it was merged as 9f3b2d1. Deployed: nothing.",
        "The tests are green, so it could be deployed. Nothing is deployed.",
        "Tests passed, so it is not deployed yet: ops decides.",
        "Deployed: staging only. The smoke test there passed, so the flag is on.",
        "Tests: 148 passed. So that users can try it, it has to be deployed first.",
    ] {
        finds_nothing(&done("Deployed", Some(told)));
    }
    // What is missing beside it is told with it.
    let both = completed(&with(json!({"handoff_completed": completed(&good(), "Verified", None)})), "Deployed", None);
    let both = format!("{}\nThe suite is green, so it works for our users.", both.as_str().expect("a text"));
    let missing = "Deployed: nothing · Verified in production: nothing";
    finds(&with(json!({"handoff_completed": both})), rule, Grade::Misleading, &[words[0], missing]);
}

#[test]
fn a_head_of_letters_or_digits_alone_is_a_head() {
    let rule = "branch-and-commit";
    for head in ["head deadbee", "HEAD: `deadbee`", "**Head**: deadbee", "head=deadbee", "head 1234567"] {
        let line = format!("Repository acme/ledger, branch feat/statement-import, {head}.");
        let word = if head.contains("1234567") { "1234567" } else { "deadbee" };
        finds(&done("Repository", Some(&line)), rule, Grade::Misleading, &[&format!("head {word}"), "9f3b2d1"]);
    }
    let only = done("Repository", Some("Repository acme/ledger, branch feat/statement-import, head deadbee"));
    finds_nothing(&merged(
        only,
        json!({"work_receipt": merged(good()["work_receipt"].clone(), json!({"result_commit": "deadbee"}))}),
    ));
    let missing = merged(
        with_receipt(json!({"result_commit": ""})),
        json!({"handoff_completed": "Repository acme/ledger, commit deadbee.\nTested: cargo test: 3 passed.\nDeployed: nothing.\nVerified in production: nothing."}),
    );
    finds(&missing, rule, Grade::Thin, &["deadbee is the last"]);
    // A word of such letters, or a number, stands for no commit elsewhere.
    finds_nothing(&done(
        "Repository",
        Some("Repository acme/ledger, branch feat/statement-import, head 9f3b2d1, the effaced 1234567 rows."),
    ));
}

#[test]
fn tests_come_with_their_command_and_totals() {
    let rule = "tests-with-numbers";
    let tests = |text: &str| with_receipt(json!({"tests": text}));
    finds(&tests("cargo test -p api"), rule, Grade::Thin, &["add the totals of cargo test -p api"]);
    finds(&tests("cargo test --workspace"), rule, Grade::Thin, &["cargo test --workspace: <n> passed"]);
    finds(&tests("all green"), rule, Grade::Thin, &["cargo test -p import"]);
    let mut bare = tests("148 passed");
    bare["handoff_completed"] = completed(&bare, "Tested", Some("Tested: 148 passed, 0 failed."));
    bare["handoff_completed"] = completed(&bare, "Not run", None);
    finds(&bare, rule, Grade::Thin, &["name the command"]);
    for honest in
        ["none were run: the CI machine is down", "Full tests were not rerun.", "not run", "未実行 (CI 停止中)"]
    {
        finds_nothing(&tests(honest));
    }
}

#[test]
fn totals_of_the_common_runners_are_read() {
    let totals = [
        "cargo test: test result: ok. 148 passed; 0 failed; 2 ignored",
        "cargo nextest run: Summary [1.2s] 148 tests run: 148 passed, 0 skipped",
        "pytest: 148 passed, 2 skipped in 3.10s",
        "jest: Tests: 2 failed, 146 passed, 148 total",
        "vitest: Test Files 12 passed (12), Tests 148 passed (148)",
        "go test ./...: ok acme/ledger 0.412s (148 tests)",
        "bun test: 148 pass, 0 fail",
        "mocha: 148 passing (2s), 1 failing",
        "mvn test: Tests run: 148, Failures: 0, Errors: 0, Skipped: 0",
        "gradle test: 148 tests completed, 1 failed",
        "vendor/bin/phpunit: OK (148 tests, 300 assertions)",
        "rspec: 148 examples, 0 failures",
        "dotnet test: Failed: 0, Passed: 148, Skipped: 0, Total: 148",
        "swift test: Executed 148 tests, with 0 failures (0 unexpected)",
        "npm test: 148/148",
        "cargo test: 成功 148、失敗 0",
        "cargo test: 148 件成功",
        "cargo test: 148 bestanden",
        "`cargo test`: 148 संपन्न, 0 विफल",
    ];
    for tests in totals {
        finds_nothing(&with_receipt(json!({"tests": tests})));
    }
}

#[test]
fn a_table_and_output_in_a_block_hold_totals_as_well() {
    let block = "Tested:\n\n```console\n$ cargo test -p import\ntest result: ok. 148 passed; 0 failed\n```\n";
    finds_nothing(&done("Tested", Some(block)));
    let table = "\n| command | passed | failed |\n| --- | --- | --- |\n| `cargo test -p import` | 148 | 0 |\n";
    finds_nothing(&done("Tested", Some(table)));
}

#[test]
fn the_first_step_can_be_taken() {
    let rule = "first-step-executable";
    let prose = next("Continue with the work.\nThen finish the rest of it.");
    finds(&prose, rule, Grade::Thin, &["Continue with the work", "git switch feat/statement-import"]);
    finds(&next("Look at where we are.\ncargo test -p import"), rule, Grade::Thin, &["line 2", "cargo test -p import"]);
    finds(&next("make sure everything is fine"), rule, Grade::Thin, &[]);
    finds(&next("残りの作業を続ける。"), rule, Grade::Thin, &[]);
    finds(&next("cargo test -p <crate>"), rule, Grade::Thin, &["<crate>"]);
    finds(&with(json!({"handoff_next": format!("Previous session: {SESSION}")})), rule, Grade::Thin, &["first step"]);
    for step in [
        "cargo test -p import",
        "$ ./scripts/load.sh --lines 100000",
        "RUST_LOG=debug cargo run -p bench",
        "1. Merge PR #412.",
        "- [ ] Review acme/ledger#412 with Tomas.",
        "Open crates/import/src/camt.rs and un-ignore the two tests.",
        "```sh\ngit switch feat/statement-import\n```",
        "## First step\n\n- `cargo test -p import`",
        "Start from:\n- `crates/import/src/camt.rs`",
        "Zuerst cargo test -p import camt::batch ausführen.",
        "まず `cargo test -p import` を実行する。",
        "Check out the branch feat/statement-import.",
        "Look at https://ci.example.org/runs/81 first.",
    ] {
        finds_nothing(&next(step));
    }
}

#[test]
fn the_last_line_names_the_session() {
    let rule = "previous-session-line";
    let text = |text: &str| with(json!({"handoff_next": text}));
    finds(&text("cargo test -p import"), rule, Grade::Thin, &[&format!("Previous session: {SESSION}")]);
    finds(&text(&format!("cargo test\nPrevious session: {SESSION}\nAnd more.")), rule, Grade::Thin, &["the last line"]);
    for wrong in ["/home/maria/.claude/projects/x.jsonl", "claude-code:/tmp/x", "yesterday", "codex:"] {
        finds(&text(&format!("cargo test\nPrevious session: {wrong}")), rule, Grade::Thin, &["name the session"]);
    }
    finds_nothing(&text(&format!("cargo test\n\nPrevious session: {SESSION}\n\n")));
}

#[test]
fn memories_that_are_named_exist_and_hold() {
    let rule = "memories-exist";
    let named = |memories: Value| merged(next("cargo test\nDecision: m-b7f03c1e"), json!({"memories": memories}));
    finds_nothing(&named(json!({"m-b7f03c1e": null})));
    finds(&named(json!({})), rule, Grade::Misleading, &["m-b7f03c1e does not exist"]);
    finds(&named(json!({"m-b7f03c1e": "m-41d9c8aa"})), rule, Grade::Misleading, &["superseded by m-41d9c8aa"]);
    finds(&with(json!({"unnamed_decisions": ["m-41d9c8aa"]})), rule, Grade::Thin, &["m-41d9c8aa"]);
}

#[test]
fn rw_073_a_blocker_has_three_parts_and_a_blocked_task() {
    let rule = "blocker-three-parts";
    let blocked = |text: &str| with(json!({"status": "blocked", "handoff_blockers": text}));
    finds(&blocked("waiting"), rule, Grade::Thin, &["what blocks", "who moves next", "what is needed"]);
    finds(&blocked(""), rule, Grade::Misleading, &[]);
    finds(&blocked("None"), rule, Grade::Misleading, &[]);
    finds(&blocked("The certificate expired and a new one is needed."), rule, Grade::Thin, &["who moves next"]);
    finds(&blocked("The sandbox certificate expired. Tomas has it."), rule, Grade::Thin, &["what is needed"]);
    let labelled = blocked("What blocks: the provider answers 403.\nNeeded: the product enabled.");
    finds(&labelled, rule, Grade::Thin, &["who moves next"]);
    finds(&blocked("証明書が失効しているので止まっている"), rule, Grade::Thin, &["who moves next"]);
    let idle = with(json!({"status": "todo", "handoff_blockers": "Needs API key from ops (ops moves next)"}));
    finds(&idle, rule, Grade::Misleading, &["not blocked"]);
    for whole in [
        "The sandbox certificate expired; Tomas (ops) moves next: he must issue a new one.",
        "Blocks: certificate\nNext: Tomas\nNeeded: a new one",
        "サンドボックスの証明書が失効。次に動くのは運用の田中さん。新しい証明書の発行が必要。",
        "Das Zertifikat der Testumgebung ist abgelaufen und niemand hat bisher ein neues bestellt oder eingespielt.",
    ] {
        finds_nothing(&blocked(whole));
    }
    finds_nothing(&with(json!({"handoff_blockers": "none"})));
}

#[test]
fn the_receipt_has_what_a_reader_needs() {
    let rule = "receipt-complete";
    finds(&with(json!({"work_receipt": null})), rule, Grade::Thin, &["send work_receipt"]);
    for field in ["harness", "model", "base_commit", "completed_work", "next_step", "tests"] {
        finds(&with_receipt(json!({field: ""})), rule, Grade::Thin, &[field]);
    }
}

#[test]
fn no_conversation_and_no_contents_are_pasted() {
    let rule = "no-transcript";
    let more = |text: &str| {
        let completed = format!("{}\n\n{text}", good()["handoff_completed"].as_str().expect("a text"));
        with(json!({"handoff_completed": completed}))
    };
    for turns in [
        "User: please fix the importer\nAssistant: Sure, I will look at it.",
        "**Human:** fix it\n\n**Claude:** Done.",
        "ユーザー: 直して\nアシスタント: 直しました。",
        "{\"role\":\"user\",\"content\":\"fix\"}\n{\"role\":\"assistant\",\"content\":\"done\"}",
    ] {
        finds(&more(turns), rule, Grade::Thin, &["a conversation", "line 8"]);
    }
    let lines: String = (0..60).map(|number| format!("let x{number} = {number};\n")).collect();
    finds(&more(&format!("```rust\n{lines}```")), rule, Grade::Thin, &["60 lines"]);
    let changed: String = (0..20).map(|number| format!("+let x{number} = {number};\n")).collect();
    finds(
        &more(&format!("```diff\ndiff --git a/x b/x\n@@ -1,2 +1,2 @@\n{changed}```")),
        rule,
        Grade::Thin,
        &["22 lines"],
    );
    let short = "```sh\ncargo test -p import\ncargo run -p bench\n```\nThe user: maria. Assistant bots are off.";
    finds_nothing(&more(short));
}

#[test]
fn one_session_writes_both() {
    let rule = "same-session";
    let other = "codex:01a2f6de-0000-4000-8000-000000000000";
    finds(
        &with_receipt(json!({"session_ref": other})),
        rule,
        Grade::Misleading,
        &["codex:01a2f6de", "claude-code:0d6a41c8"],
    );
    finds(&with(json!({"next_by": other})), rule, Grade::Misleading, &["was written by codex:01a2f6de"]);
    finds_nothing(&with(json!({"next_by": "maria"})));
    finds_nothing(&with(json!({"next_by": SESSION})));
}

#[test]
fn a_rule_that_is_off_finds_nothing() {
    let fields = with(json!({"summary": "", "rules": {"summary-one-sentence": "off"}}));
    finds_nothing(&fields);
    assert_eq!(
        judged(&with(json!({"summary": "", "rules": {"repository-named": "off"}}))).rules(),
        ["summary-one-sentence"]
    );
}
