//! What a run left is taken away, and nothing else.

use std::fs;

use heyaira::domain::run::Report;
use heyaira::run::clean::{Fate, clean, problems};
use heyaira::run::folder::{Plan, RunFolder};
use serde_json::json;

use super::{Field, RUN, harness};
use crate::verification::repository::git;

/// A run that is over.
fn over(field: &Field) -> (RunFolder, Plan) {
    let plan = field.planned();
    let folder = field.runs.run(RUN);
    folder.write_plan(&plan).expect("written");
    (folder, plan)
}

pub(super) fn reported(folder: &RunFolder) {
    let report = json!({
        "schema": "heyaira.run-report", "schema_version": 1, "run_id": RUN, "project": "ledger", "outcome": "succeeded",
        "reason": "It ended well.", "started": "2026-11-25T08:00:00Z", "ended": "2026-11-25T08:01:00Z", "harness_ms": 1,
        "session_ref": format!("run:{RUN}"), "harness": {"name": "command", "command": []}, "cost": {"basis": "unknown"},
        "exit": {"code": 0}, "work": {"repository": "", "worktree": "", "base_commit": "", "commits": [],
        "commits_total": 0, "files_changed": 0, "insertions": 0, "deletions": 0, "uncommitted": [], "uncommitted_total": 0},
        "tests": [], "said": {}, "log": {"path": "", "bytes": 0}, "ended_processes": 0
    });
    let report: Report = serde_json::from_value(report).expect("a report");
    folder.write_report(&report).expect("written");
}

#[test]
fn nothing_is_left_of_a_run_without_commits() {
    let field = Field::new();
    let before = field.snapshot();
    let (folder, plan) = over(&field);
    reported(&folder);
    // What tools and a git that was killed leave behind.
    harness(
        &plan,
        "mkdir -p cache/deep; echo x > cache/deep/file; chmod -R a-w cache; echo 'cache' >> \"$(git rev-parse --git-common-dir)/info/exclude\"; \
         touch \"$(git rev-parse --git-dir)/index.lock\"; git config branch.heyaira/run-5d0c9a44.remote origin",
    );
    fs::write(field.repository.folder.join(".git/refs/heads/heyaira/run-5d0c9a44.lock"), "").expect("written");
    assert_eq!(problems(&folder, &plan, true, false), Vec::<String>::new());
    let cleaned = clean(&folder, &plan).expect("clean");
    assert_eq!((&cleaned.worktree, &cleaned.branch), (&Fate::Taken, &Fate::Taken));
    assert!(!folder.path().exists());
    assert_eq!(field.snapshot(), before);
    clean(&folder, &plan).expect("clean already");
    assert_eq!(field.snapshot(), before);
}

#[test]
fn everything_that_stands_against_it_is_told_at_once() {
    let field = Field::new();
    let (folder, plan) = over(&field);
    let told = problems(&folder, &plan, true, true);
    assert!(told.len() == 1 && told[0].contains("is not over"), "{told:?}");
    reported(&folder);
    harness(&plan, "echo x > new; git checkout -q --detach; git commit -q --allow-empty -m Alone");
    let told = problems(&folder, &plan, false, false);
    assert_eq!(told.len(), 3, "{told:?}");
    for (one, part) in told.iter().zip(["is not recorded", "not committed (\"new\")", "1 commits"]) {
        assert!(one.contains(part), "{part}: {told:?}");
    }
    assert_eq!(problems(&folder, &plan, false, true), Vec::<String>::new());
}

#[test]
fn a_branch_with_commits_or_one_that_is_used_elsewhere_stays() {
    for is_elsewhere in [false, true] {
        let field = Field::new();
        let (folder, plan) = over(&field);
        reported(&folder);
        if is_elsewhere {
            harness(&plan, "git checkout -q --detach");
            let there = field.under().join("there");
            field.repository.git(&["worktree", "add", "--quiet", there.to_str().expect("UTF-8"), &plan.branch]);
        } else {
            harness(&plan, "git commit -q --allow-empty -m Work");
        }
        let cleaned = clean(&folder, &plan).expect("clean");
        let why = if is_elsewhere { "it is checked out in " } else { "it has 1 commit that is nowhere else" };
        assert_eq!(cleaned.worktree, Fate::Taken);
        assert!(matches!(&cleaned.branch, Fate::Kept(told) if told.starts_with(why)), "{cleaned:?}");
        git(&field.repository.folder, &["rev-parse", "--verify", &format!("refs/heads/{}", plan.branch)]);
        assert!(!plan.worktree.exists() && !folder.path().exists());
    }
}

#[test]
fn a_worktree_that_the_harness_broke_is_taken_away_with_what_git_remembers() {
    for lines in ["rm .git", "cd ..; rm -r heyaira-5d0c9a44", "rm .git; git init -q", "rm .git; ln -s /nowhere .git"] {
        let field = Field::new();
        let before = field.snapshot();
        let (folder, plan) = over(&field);
        reported(&folder);
        harness(&plan, lines);
        clean(&folder, &plan).expect(lines);
        assert_eq!(field.snapshot(), before, "{lines}");
        assert!(!folder.path().exists());
    }
}
