//! A bad handoff becomes ready by doing only what the findings say, and the packet has what a stranger starts with.

use serde_json::{Value, json};

use super::CLAUDE;
use crate::house::{House, rows, rules, text};

fn fixes(answer: &Value) -> String {
    rows(&answer["findings"]).iter().map(|one| format!("{}: {}\n", text(&one["rule"]), text(&one["fix"]))).collect()
}

#[test]
fn what_the_findings_say_makes_a_bad_handoff_ready() {
    let house = House::new();
    let client = house.session("maria", CLAUDE);
    let task = client.create("Import bank statements");
    let decision = json!({"kind": "decision", "summary": "Amounts are integers.", "task_id": task});
    let memory = text(&client.ok("memory_add", decision)["id"]).to_owned();
    client.update(
        &task,
        1,
        json!({
            "status": "in_progress",
            "summary": "Import bank statements",
            "handoff_completed": "The parser is done, tests pass. Work is on branch feat/import, head 9f3b2d1.",
            "handoff_next": "Continue where we left off.\nThen run `cargo test -p import camt::batch`.",
            "handoff_blockers": "Waits for nothing really.",
            "work_receipt": {"session_ref": CLAUDE, "branch": "feat/imports", "tests": "cargo test -p import"},
        }),
    );
    let check = client.ok("handoff_check", json!({"task_id": task}));
    assert_eq!(check["grade"], "misleading");
    let told = fixes(&check);
    for (rule, part) in [
        ("summary-one-sentence", "not the title again"),
        ("repository-named", "Repository <owner>/<name>, branch feat/imports"),
        ("branch-and-commit", "the texts say branch feat/import, the receipt feat/imports"),
        ("branch-and-commit", "9f3b2d1"),
        ("states-distinguished", "Deployed: nothing"),
        ("tests-with-numbers", "cargo test -p import"),
        ("first-step-executable", "cargo test -p import camt::batch"),
        ("previous-session-line", &format!("Previous session: {CLAUDE}")),
        ("memories-exist", &memory),
        ("blocker-three-parts", "clear handoff_blockers"),
        ("receipt-complete", "model, base_commit, completed_work, next_step"),
    ] {
        let is_told = told.lines().any(|line| line.starts_with(rule) && line.contains(part));
        assert!(is_told, "{rule} does not say {part}:\n{told}");
    }
    // Each of them done, and nothing else.
    client.update(
        &task,
        2,
        json!({
            "summary": "The parser is tested; batch entries are open.",
            "handoff_completed": "Repository acme/ledger, branch feat/import.\nThe parser is done, head 9f3b2d1.\n\
                Deployed: nothing · Verified in production: nothing",
            "handoff_next": format!("cargo test -p import camt::batch\nDecision: {memory}\nPrevious session: {CLAUDE}"),
            "handoff_blockers": "",
            "work_receipt": {
                "session_ref": CLAUDE, "harness": "claude-code 2.1.332", "model": "claude-opus-5-5", "branch": "feat/import",
                "base_commit": "4c19e7a", "result_commit": "9f3b2d1", "tests": "cargo test -p import: 148 passed, 0 failed",
                "completed_work": "the parser", "next_step": "batch entries",
            },
        }),
    );
    let check = client.ok("handoff_check", json!({"task_id": task}));
    assert_eq!((&check["grade"], rules(&check, "findings")), (&json!("ready"), Vec::new()), "{check}");
    let packet = house.client("tomas").ok("continuity_context", json!({"handoff": task}));
    assert_eq!(packet.get("grade"), None);
    assert!(text(&packet["handoff_next"]).starts_with("cargo test -p import camt::batch\n"));
    assert_eq!(
        (&packet["receipt"]["branch"], &packet["receipt"]["result_commit"]),
        (&json!("feat/import"), &json!("9f3b2d1"))
    );
    assert_eq!(packet["memories"][0]["id"], json!(memory));
}
