//! What a run leaves to the next session: good by the rules of a handoff, whatever became of the run and in whatever language.

use heyaira::domain::run::{Outcome, Report, Test};
use serde_json::{Value, json};

use super::{deliver, field, record, report};
use crate::house::{House, rows, text};

/// What is found in the handoff of a run on a task that says this.
fn judged(house: &House, report: &Report, task: &str) -> Value {
    deliver(house, report);
    let version = house.client("maria").version(task);
    record(&house.person("tomas"), report, version);
    house.client("maria").ok("handoff_check", json!({"task_id": task}))
}

#[test]
fn every_outcome_makes_a_handoff_that_is_ready() {
    for language in ["en", "de", "ja", "fr", "ru", "zh", "ko"] {
        let house = House::new();
        house.owner().ok("project_set", json!({"project": "ledger", "language": language}));
        for (number, outcome) in (1..).zip(Outcome::ALL) {
            let task = house.client("maria").create(&format!("{number}"));
            let told = judged(&house, &report(number, Some(&task), outcome), &task);
            let texts = ["summary", "handoff_next", "handoff_completed"].map(|name| field(&house, &task, name));
            assert_eq!(told["grade"], "ready", "{language} {outcome:?}: {told}\n{}", texts.join("\n---\n"));
            assert!(texts[0].chars().count() <= 280, "{}", texts[0]);
        }
    }
}

#[test]
fn the_first_step_fits_how_the_run_ended() {
    let wanted = [
        (Outcome::Succeeded, "git -C /src/ledger log --stat 4c19e7a0b1c2..heyaira/run-one"),
        (Outcome::NoWork, "heyaira run show"),
        (Outcome::Failed, "git -C /src/ledger log --stat"),
        (Outcome::TestsFailed, "cd /src/ledger-runs/one && cargo test -p import\n1 of 2 test commands failed"),
        (
            Outcome::TimedOut,
            "git -C /src/ledger-runs/one status --short\n1 file in `/src/ledger-runs/one` is not committed",
        ),
        (Outcome::HarnessError, "heyaira run show"),
    ];
    let house = House::new();
    for (number, (outcome, first)) in (1..).zip(wanted) {
        let task = house.client("maria").create("Import bank statements");
        judged(&house, &report(number, Some(&task), outcome), &task);
        let next = field(&house, &task, "handoff_next");
        assert!(next.starts_with(first), "{outcome:?}: {next}");
    }
}

#[test]
fn odd_names_and_commands_make_steps_that_can_be_typed() {
    let house = House::new();
    let task = house.client("maria").create("Import bank statements");
    let mut odd = report(1, Some(&task), Outcome::TestsFailed);
    odd.work.worktree = "/src/it's here".to_owned();
    odd.tests[0].command = "for i in 1 2\ndo make test\ndone".to_owned();
    judged(&house, &odd, &task);
    let next = field(&house, &task, "handoff_next");
    // A command of several lines is no first line.
    assert!(next.starts_with("git -C /src/ledger log --stat"), "{next}");
    let mut quoted = report(2, Some(&task), Outcome::TestsFailed);
    quoted.work.worktree = "/src/it's here".to_owned();
    judged(&house, &quoted, &task);
    let next = field(&house, &task, "handoff_next");
    assert!(next.starts_with("cd '/src/it'\\''s here' && cargo test -p import\n"), "{next}");
    // No part of a command is run anywhere else where there is no such folder.
    let rows = [
        ("make lint; make check", "sh -c 'make lint; make check'"),
        ("make check || exit 1", "sh -c 'make check || exit 1'"),
        ("cd a && make check 2>&1 | tail -5", "cd a && make check 2>&1 | tail -5"),
    ];
    for (number, (command, wanted)) in (3..).zip(rows) {
        let mut several = report(number, Some(&task), Outcome::TestsFailed);
        command.clone_into(&mut several.tests[0].command);
        judged(&house, &several, &task);
        let next = field(&house, &task, "handoff_next");
        assert!(next.starts_with(&format!("cd /src/ledger-runs/one && {wanted}\n")), "{next}");
    }
}

#[test]
fn nothing_that_stands_there_is_taken_away() {
    let house = House::new();
    let maria = house.client("maria");
    let task = maria.create("Import bank statements");
    let before = json!({
        "handoff_completed": "Repository acme/ledger, head 1234567.\nPrepared: the schema.",
        "handoff_next": "cargo test -p import\n2. The second format.\nPrevious session: label:maria",
        "work_receipt": {"session_ref": "label:maria"},
    });
    maria.update(&task, 1, before);
    let told = judged(&house, &report(1, Some(&task), Outcome::Succeeded), &task);
    assert_eq!(told["grade"], "ready", "{told}");
    let (next, completed) = (field(&house, &task, "handoff_next"), field(&house, &task, "handoff_completed"));
    assert!(
        completed.starts_with(
            "Repository acme/ledger, head 1234567.\nPrepared: the schema.\n\n## Run 00000001 of codex: succeeded\n"
        ),
        "{completed}"
    );
    assert!(next.ends_with("\nSteps from before this run:\ncargo test -p import\n2. The second format.\nPrevious session: codex:01a2f6de-5c1b-7a80-9f44-3b7d20c9e815"), "{next}");
    assert_eq!(next.matches("Previous session:").count(), 1, "{next}");
    // A second run keeps the steps of the first.
    judged(&house, &report(2, Some(&task), Outcome::Failed), &task);
    let next = field(&house, &task, "handoff_next");
    assert_eq!(
        (next.matches("Steps from before this run:").count(), next.matches("2. The second format.").count()),
        (1, 1),
        "{next}"
    );
    assert!(next.contains("Review it, then merge it"), "{next}");
}

#[test]
fn what_does_not_fit_is_cut_with_the_call_for_the_rest() {
    let house = House::new();
    let maria = house.client("maria");
    let task = maria.create("Import bank statements");
    let long = format!("cargo test -p import\n{}", "Another step. ".repeat(7_140));
    maria.update(&task, 1, json!({"handoff_next": long}));
    judged(&house, &report(1, Some(&task), Outcome::Succeeded), &task);
    let next = maria.ok("task_get", json!({"task_id": task, "field": "handoff_next", "offset": 99_500}));
    let call = format!("the rest: `task_get task_id={} version=2 field=handoff_next`)", &task[..8]);
    assert!(text(&next["text"]).contains(&call), "{next}");
}

#[test]
fn a_repository_that_has_only_a_path_is_named_by_it() {
    let house = House::new();
    let task = house.client("maria").create("Import bank statements");
    let mut local = report(1, Some(&task), Outcome::Succeeded);
    local.work.remote = None;
    let told = judged(&house, &local, &task);
    assert_eq!(told["grade"], "thin", "{told}");
    assert_eq!(rows(&told["findings"]).len(), 1, "{told}");
    assert!(field(&house, &task, "handoff_completed").contains("Repository `/src/ledger`, branch `heyaira/run-one`"));
}

/// A report of which git could say nothing, or only what is committed.
fn unknown(number: u32, task: &str, outcome: Outcome, are_commits_known: bool) -> Report {
    let mut one = report(number, Some(task), outcome);
    one.tests.clear();
    one.problems = vec!["git does not open the worktree: git says \"not a git repository\".".to_owned()];
    let work = &mut one.work;
    work.uncommitted_total = None;
    if !are_commits_known {
        work.commits.clear();
        (work.commits_total, work.files_changed, work.insertions, work.deletions) = (None, None, None, None);
        (work.branch, work.result_commit) = (None, None);
    }
    one
}

#[test]
fn what_is_not_known_is_said_in_every_language() {
    let rows = [
        ("en", "commits not known, uncommitted files not known", "1 problem.", "left no work"),
        ("de", "Commits unbekannt, nicht committete Dateien unbekannt", "1 Problem.", "nichts hinterlassen"),
        ("ja", "コミット数は不明、未コミットのファイルは不明", "問題 1 件。", "成果を残していない"),
        ("fr", "commits not known, uncommitted files not known", "1 problem.", "left no work"),
    ];
    for (language, commits, problems, nothing) in rows {
        let house = House::new();
        house.owner().ok("project_set", json!({"project": "ledger", "language": language}));
        for (number, outcome) in (1..).zip(Outcome::ALL.into_iter().filter(|one| *one != Outcome::TestsFailed)) {
            for known in [false, true] {
                let number = number * 2 + u32::from(known);
                let task = house.client("maria").create("Import bank statements");
                let told = judged(&house, &unknown(number, &task, outcome, known), &task);
                let [summary, next, done] =
                    ["summary", "handoff_next", "handoff_completed"].map(|name| field(&house, &task, name));
                assert_eq!(told["grade"], "ready", "{language} {outcome:?}: {told}\n{summary}\n{next}\n{done}");
                assert_eq!(summary.contains(commits), !known, "{summary}");
                assert!(summary.contains(problems) && summary.chars().count() <= 280, "{summary}");
                assert!(!next.contains(nothing), "{next}");
                assert!(
                    next.starts_with(if known {
                        "cd /src/ledger-runs/one && (export GIT_DIR"
                    } else {
                        "ls -lA /src/ledger-runs/one; git -C"
                    }),
                    "{next}"
                );
                let problem = next.find("> - git does not open the worktree");
                assert!(
                    problem.is_some() && next.find("git -C /src/ledger merge").is_none_or(|at| problem < Some(at)),
                    "{next}"
                );
                assert!(done.contains("> - git does not open the worktree"), "{done}");
                let receipt = house.client("maria").get(&task)["receipt"]["completed_work"].to_string();
                assert!(receipt.contains("git does not open the worktree"), "{receipt}");
            }
        }
    }
}

#[test]
fn the_first_problems_are_told_and_how_many_more_there_are() {
    let house = House::new();
    let task = house.client("maria").create("Import bank statements");
    let mut one = report(1, Some(&task), Outcome::Succeeded);
    one.problems = (1..=8).map(|number| format!("Problem number {number}.")).collect();
    one.problems[1] = format!("Long {}", "x".repeat(2_000));
    let told = judged(&house, &one, &task);
    assert_eq!(told["grade"], "ready", "{told}");
    let next = field(&house, &task, "handoff_next");
    assert!(next.contains("> - Problem number 5.\n> - and 3 more: `heyaira run show 00000001`\nOnly when"), "{next}");
    assert!(next.len() < 1_500, "{next}");
    assert!(field(&house, &task, "handoff_completed").contains("and 3 more"));
    assert!(field(&house, &task, "summary").ends_with(", 8 problems."));
}

#[test]
fn a_worktree_that_is_gone_is_not_looked_into() {
    let house = House::new();
    for (number, commits, first) in [
        (1, Some(2), "git -C /src/ledger log --stat 4c19e7a0b1c2..9f3b2d10c4e5\n"),
        (2, Some(0), "heyaira run show 00000002\n"),
        (3, None, "git -C /src/ledger fsck --no-reflogs\n"),
    ] {
        let task = house.client("maria").create("Import bank statements");
        let mut one = unknown(number, &task, Outcome::Failed, true);
        (one.work.worktree_gone, one.work.commits_total) = (true, commits);
        judged(&house, &one, &task);
        let next = field(&house, &task, "handoff_next");
        assert!(next.starts_with(first), "{next}");
        assert!(next.contains("is gone: what was not committed in it is lost"), "{next}");
        assert!(!next.contains("left no work"), "{next}");
    }
}

const LANGUAGES: [&str; 4] = ["en", "de", "ja", "fr"];

/// The lines of a task's next steps, without the one that names the session.
fn steps(house: &House, task: &str) -> Vec<String> {
    let next = field(house, task, "handoff_next");
    next.lines().filter(|line| !line.starts_with("Previous session: ")).map(str::to_owned).collect()
}

#[test]
fn what_the_task_asks_for_can_be_reached_where_no_step_told_it() {
    for language in LANGUAGES {
        let house = House::new();
        house.owner().ok("project_set", json!({"project": "ledger", "language": language}));
        for (number, outcome) in (1..).zip(Outcome::ALL) {
            let given = json!({"description": "Import bank statements of the format camt.053, batch by batch."});
            let task = house.client("maria").create_with("Import", given);
            let told = judged(&house, &report(number, Some(&task), outcome), &task);
            let call = format!("`heyaira task get {} --field description`", &task[..8]);
            let steps = steps(&house, &task);
            assert_eq!(told["grade"], "ready", "{language} {outcome:?}: {told}\n{}", steps.join("\n"));
            let is_finished = matches!(outcome, Outcome::Succeeded | Outcome::TestsFailed);
            let place = if is_finished { steps.len() - 1 } else { 1 };
            let found: Vec<usize> = (0..steps.len()).filter(|place| steps[*place].contains(&call)).collect();
            assert_eq!(found, [place], "{language} {outcome:?}: {}", steps.join("\n"));
            // A second run leads there as well, and once.
            judged(&house, &report(number + 20, Some(&task), Outcome::NoWork), &task);
            let steps = self::steps(&house, &task);
            let found: Vec<usize> = (0..steps.len()).filter(|place| steps[*place].contains(&call)).collect();
            assert_eq!(found, [1], "{language} {outcome:?}: {}", steps.join("\n"));
        }
    }
}

#[test]
fn where_steps_told_the_work_or_nothing_did_no_step_leads_to_the_description() {
    let house = House::new();
    let maria = house.client("maria");
    let told = maria.create_with("Import", json!({"description": "Import it."}));
    maria.update(&told, 1, json!({"handoff_next": "cargo test -p import"}));
    let bare = maria.create("Import bank statements");
    for (number, task) in (1..).zip([told, bare]) {
        judged(&house, &report(number, Some(&task), Outcome::NoWork), &task);
        let next = field(&house, &task, "handoff_next");
        assert!(!next.contains("--field description"), "{next}");
    }
}

fn not_run(command: &str) -> Test {
    Test { command: command.to_owned(), not_run: true, ..Test::default() }
}

#[test]
fn test_commands_that_were_not_run_are_named_and_neither_passed_nor_failed() {
    let words = [
        ("en", "tests not run", "Not run: ", "not run: "),
        (
            "de",
            "Tests nicht ausgeführt (not run)",
            "Test nicht ausgeführt (not run): ",
            "Test nicht ausgeführt (not run): ",
        ),
        ("ja", "テスト未実行", "テスト未実行: ", "テスト未実行: "),
        ("fr", "tests not run", "> Not run: ", "not run: "),
    ];
    let outcomes = Outcome::ALL.into_iter().filter(|one| !matches!(one, Outcome::Succeeded | Outcome::TestsFailed));
    for (language, short, line, in_receipt) in words {
        let house = House::new();
        house.owner().ok("project_set", json!({"project": "ledger", "language": language}));
        for (number, outcome) in (1..).zip(outcomes.clone()) {
            let task = house.client("maria").create("Import bank statements");
            let mut one = report(number, Some(&task), outcome);
            one.tests = vec![not_run("python3 -m unittest"), not_run("make lint")];
            let told = judged(&house, &one, &task);
            let [summary, next, done] =
                ["summary", "handoff_next", "handoff_completed"].map(|name| field(&house, &task, name));
            assert_eq!(told["grade"], "ready", "{language} {outcome:?}: {told}\n{summary}\n{next}\n{done}");
            assert!(summary.contains(short) && !summary.contains("passed"), "{summary}");
            assert!(done.contains(&format!("\n{line}`python3 -m unittest`")), "{done}");
            let receipt = &house.client("maria").get(&task)["receipt"];
            let tests = format!("{in_receipt}`python3 -m unittest`\n{in_receipt}`make lint`");
            assert_eq!(receipt["tests"], tests, "{receipt}");
            for command in ["python3 -m unittest", "make lint"] {
                let call = format!("`cd /src/ledger-runs/one && {command}`");
                let is_work = !matches!(outcome, Outcome::NoWork | Outcome::HarnessError);
                assert_eq!(next.contains(&call), is_work, "{language} {outcome:?}: {next}");
            }
        }
    }
}

#[test]
fn a_test_command_that_was_not_run_counts_beside_others() {
    let house = House::new();
    let task = house.client("maria").create("Import bank statements");
    let mut one = report(1, Some(&task), Outcome::Interrupted);
    let mut passed = report(1, None, Outcome::Succeeded).tests;
    one.tests = vec![passed.remove(0), not_run("make\nlint"), not_run("make check")];
    let told = judged(&house, &one, &task);
    assert_eq!(told["grade"], "ready", "{told}");
    let summary = field(&house, &task, "summary");
    assert!(summary.ends_with("tests: 12 passed, 0 failed, 2 test commands not run."), "{summary}");
    let receipt = &house.client("maria").get(&task)["receipt"];
    assert!(text(&receipt["tests"]).starts_with("Run by `sh -c` in the worktree, 1/1 passed:\n"), "{receipt}");
    assert!(text(&receipt["tests"]).ends_with("\nnot run: `make ⏎ lint`\nnot run: `make check`"), "{receipt}");
    let next = field(&house, &task, "handoff_next");
    // A command of several lines cannot be typed as one.
    assert!(next.contains("`cd /src/ledger-runs/one && make check`") && !next.contains("make ⏎ lint"), "{next}");
    assert!(next.contains("Not run, and not listed here: 1 test command: `heyaira run show 00000001`"), "{next}");
    // What was not run is not what failed.
    let mut failed = report(2, Some(&task), Outcome::TestsFailed);
    failed.tests = vec![not_run("make check"), failed.tests.remove(0)];
    judged(&house, &failed, &task);
    let next = field(&house, &task, "handoff_next");
    assert!(next.starts_with("cd /src/ledger-runs/one && cargo test -p import\n1 of 1 test commands failed"), "{next}");
    let receipt = &house.client("maria").get(&task)["receipt"];
    assert_eq!(receipt["blockers"], "`cargo test -p import`", "{receipt}");
}

#[test]
fn a_test_command_is_not_to_be_run_where_its_worktree_is_gone() {
    let house = House::new();
    let task = house.client("maria").create("Import bank statements");
    let mut one = report(1, Some(&task), Outcome::Failed);
    (one.work.worktree_gone, one.work.uncommitted_total) = (true, None);
    one.tests = vec![not_run("make check")];
    judged(&house, &one, &task);
    let steps = steps(&house, &task);
    let of = |part: &str| steps.iter().position(|step| step.contains(part)).unwrap_or_else(|| panic!("{steps:?}"));
    assert!(of("worktree add /src/ledger-runs/one") < of("cd /src/ledger-runs/one && make check"), "{steps:?}");
}

#[test]
fn the_advice_to_merge_says_into_what() {
    let words = [
        ("en", "merge it into the branch that is checked out there: `git -C /src/ledger merge "),
        ("de", "in den dort ausgecheckten Branch mergen: `git -C /src/ledger merge "),
        ("ja", "そこでチェックアウトされているブランチにマージする: `git -C /src/ledger merge "),
    ];
    for (language, wanted) in words {
        let house = House::new();
        house.owner().ok("project_set", json!({"project": "ledger", "language": language}));
        for (number, problems) in [(1, 0), (2, 1)] {
            let task = house.client("maria").create("Import bank statements");
            let mut one = report(number, Some(&task), Outcome::Succeeded);
            one.problems = vec!["The worktree is gone.".to_owned(); problems];
            judged(&house, &one, &task);
            let next = field(&house, &task, "handoff_next");
            assert!(next.contains(wanted), "{next}");
        }
    }
}
