//! First steps: which can be taken as they stand, which only read as if they could, and what is told of each.

use heyaira::domain::handoff::Level;
use serde_json::json;

use super::judged::{Judged, SESSION, judged, with};

const RULE: &str = "first-step-executable";

fn step(text: &str) -> Judged {
    judged(&with(json!({"handoff_next": format!("{text}\n\nPrevious session: {SESSION}")})))
}

#[track_caller]
fn all_can_be_taken(steps: &[&str]) {
    let refused: Vec<(&str, Judged)> =
        steps.iter().map(|text| (*text, step(text))).filter(|(_, found)| !found.findings.is_empty()).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn a_bare_command_can_be_taken() {
    all_can_be_taken(&[
        "make",
        "make migrate",
        "make smoke-test",
        "just migrate",
        "mise run test",
        "pre-commit run --all-files",
        "ant test",
        "dune build",
        "forge test",
        "fly deploy",
        "pulumi preview",
        "cdk diff",
        "**make test**",
        "if [ -f Makefile ]; then make; fi",
        "tools/run",
        "loadgen --rate 100",
        "npm start",
        "php artisan migrate",
        "node index",
        "pnpm dev",
        "cd frontend && npm test",
        "git switch feat/rounding and run the tests",
        "Run cargo test and fix what fails.",
        "まず cargo test を実行する",
    ]);
}

#[test]
fn code_is_believed() {
    all_can_be_taken(&[
        "`make migrate`",
        "Run `make migrate`.",
        "`dune build`",
        "Run `loadgen check` first.",
        "Fix `round_half_even`",
        "```sh\nmake\n```",
        "```\nmake\n```",
    ]);
}

#[test]
fn windows_has_commands_as_well() {
    all_can_be_taken(&[
        "```powershell\nInvoke-Pester\n```",
        "```pwsh\nGet-ChildItem\n```",
        "```ps1\nInvoke-Pester\n```",
        "```bat\nrem the whole build\nbuild\n```",
        "Invoke-Pester",
        "PS> Invoke-Pester",
        "PS C:\\ledger> dir",
    ]);
}

#[test]
fn a_sentence_that_starts_with_a_program_is_told_as_a_warning() {
    for text in [
        "go test the login page by hand",
        "go build trust with the team",
        "make check with Bob that all is fine",
        "find . to your liking",
        "task test was hard",
        "curl up and sleep",
        "git gud",
        "brew coffee",
        "python rocks",
        "make progress",
    ] {
        let found = step(text);
        assert_eq!(found.rules(), [RULE], "{text}: {found:?}");
        assert_eq!(found.findings[0].level, Level::Warning, "{text}: {found:?}");
        assert!(found.fix().contains("into backticks"), "{text}: {found:?}");
    }
}

#[test]
fn what_only_looks_like_a_name_is_no_step() {
    for text in
        ["Talk to node.js people", "See A/B/C", "I/O/U", "TODO-1 fix", "just do it", "Fix `it`", "Update the docs"]
    {
        let found = step(text);
        assert_eq!(found.rules(), [RULE], "{text}: {found:?}");
        assert_eq!(found.findings[0].level, Level::Error, "{text}: {found:?}");
    }
}

#[test]
fn a_table_gives_its_first_row_and_a_fix_without_its_bars() {
    all_can_be_taken(&["| step | command |\n| --- | --- |\n| 1 | make test |"]);
    let found = step("Look at where we are.\n\n| step | command |\n| --- | --- |\n| 1 | make test |");
    assert!(found.fix().ends_with("line 5 first, \"make test\""), "{found:?}");
}

#[test]
fn what_is_folded_is_read() {
    all_can_be_taken(&[
        "<details>\n1. make test\n</details>",
        "<details>\n<summary>Steps</summary>\n\n1. `make test`\n\n</details>",
        "<details>\nRun `loadgen check` first.\n</details>",
    ]);
    let hidden = step("<!--\nmake test\n-->");
    assert_eq!(hidden.rules(), [RULE], "a comment is read by nobody: {hidden:?}");
}

#[test]
fn a_fix_shows_what_a_reader_could_not_see() {
    let found = step("Go\u{200b} on with it.");
    let told = found.findings.iter().find(|finding| finding.rule.as_str() == RULE).expect("a finding");
    assert!(told.fix.starts_with("\"Go\\u{200b} on with it.\""), "{found:?}");
}
