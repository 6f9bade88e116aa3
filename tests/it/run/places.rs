//! Where a run works, and what git says afterwards, whatever the harness did there.

use std::fs;

use serde_json::{Value, json};

use super::Yard;

/// The problems of a report as one text.
fn problems(report: &Value) -> String {
    report["problems"].to_string()
}

#[test]
fn a_branch_that_is_there_goes_on_from_its_end() {
    let yard = Yard::new();
    yard.git(&["branch", "feat/import"]);
    let (report, code) = yard.shell(&["--branch", "feat/import"], "git commit --quiet --allow-empty -m First");
    assert_eq!((code, &report["work"]["branch"]), (0, &json!("feat/import")), "{report}");
    let first = report["work"]["result_commit"].clone();
    let id = &report["run_id"].as_str().expect("an id")[..8];
    assert_eq!(yard.run(&["clean", id, "--force"]).code, 0);
    let (report, _) = yard.shell(&["--branch", "feat/import"], "git commit --quiet --allow-empty -m Second");
    assert_eq!((&report["work"]["base_commit"], &report["work"]["commits_total"]), (&first, &json!(1)), "{report}");

    let elsewhere = yard.run(&["start", "--branch", "main", "--", "true"]);
    assert!(elsewhere.err.contains("the branch \"main\" is checked out in"), "{elsewhere:?}");
    let base = yard.run(&["start", "--branch", "feat/import", "--base", "main", "--", "true"]);
    assert!(base.err.contains("not at the base"), "{base:?}");
}

#[test]
fn a_worktree_that_was_there_is_used_and_stays() {
    let yard = Yard::new();
    let folder = yard.place.folder.path().join("beside");
    let named = folder.to_str().expect("UTF-8");
    yard.git(&["worktree", "add", "--quiet", "-b", "beside", named]);
    let (report, code) =
        yard.shell(&["--branch", "beside", "--worktree", named], "git commit --quiet --allow-empty -m Work");
    assert_eq!(code, 0, "{report}");
    let id = &report["run_id"].as_str().expect("an id")[..8];
    assert_eq!(yard.run(&["clean", id, "--force"]).code, 0);
    assert!(folder.join(".git").exists());
}

#[test]
fn a_run_starts_from_a_folder_below_and_from_another_worktree() {
    let yard = Yard::new();
    let beside = yard.place.folder.path().join("beside");
    yard.git(&["worktree", "add", "--quiet", "--detach", beside.to_str().expect("UTF-8")]);
    let below = beside.join("a").join("b");
    fs::create_dir_all(&below).expect("folders");
    let mut command = yard.command(&["start", "--json", "--", "sh", "-c", "git commit --quiet --allow-empty -m Work"]);
    let answer: crate::program::Answer = command.current_dir(&below).output().expect("the program runs").into();
    let report = answer.json();
    assert_eq!(report["outcome"], "succeeded", "{report}");
    assert_eq!(report["work"]["repository"], json!(yard.repository.canonicalize().expect("a folder")));
}

#[test]
fn what_a_harness_did_to_its_repository_is_told() {
    let yard = Yard::new();
    let (away, _) = yard.shell(&[], "git switch --quiet -c other; git commit --quiet --allow-empty -m Other");
    assert!(problems(&away).contains("other"), "{away}");
    assert_ne!(away["outcome"], "no_work", "{away}");

    let (detached, _) = yard.shell(&[], "git checkout --quiet --detach; git commit --quiet --allow-empty -m Astray");
    assert_ne!(problems(&detached), "[]", "{detached}");
    assert_ne!(detached["outcome"], "no_work", "{detached}");

    let (gone, _) = yard.shell(&[], "rm -rf \"$PWD\"");
    assert!(problems(&gone).contains("The worktree is gone"), "{gone}");
    assert_eq!(gone["work"]["result_commit"], gone["work"]["base_commit"], "{gone}");

    let (stashed, _) = yard.shell(&[], "echo x >a.txt; git add a.txt; git stash --quiet");
    assert_eq!(stashed["outcome"], "no_work");
    assert!(problems(&stashed).contains("stash"), "{stashed}");
}

#[test]
fn nothing_that_a_worktree_names_is_run() {
    let yard = Yard::new();
    let lines = "echo '#!/bin/sh' >\"$TOLD/evil\"; echo \"touch $TOLD/was-run\" >>\"$TOLD/evil\"; chmod +x \"$TOLD/evil\"; \
                 git config core.fsmonitor \"$TOLD/evil\"; git config filter.evil.clean \"$TOLD/evil\"; \
                 git config diff.external \"$TOLD/evil\"; echo '* filter=evil' >.gitattributes; echo x >file.txt; \
                 rm -f \"$TOLD/was-run\"";
    let (report, _) = yard.shell(&[], lines);
    assert_eq!(report["work"]["uncommitted"], json!([".gitattributes", "file.txt"]), "{report}");
    assert!(!yard.told().join("was-run").exists(), "{report}");
}

#[test]
fn where_no_run_can_work_is_refused() {
    let yard = Yard::new();
    let empty = yard.place.folder.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    let start = |folder: &std::path::Path| -> crate::program::Answer {
        let mut command = yard.command(&["start", "--", "true"]);
        command.current_dir(folder).output().expect("the program runs").into()
    };
    assert!(start(&empty).err.contains("is in no git repository"));
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        yard.place.dress(&mut command);
        assert!(command.current_dir(&empty).args(words).status().expect("git runs").success());
    };
    git(&["init", "--quiet"]);
    assert!(start(&empty).err.contains("the repository has no commit yet"));
    git(&["init", "--quiet", "--bare", "bare.git"]);
    assert!(start(&empty.join("bare.git")).err.contains("bare repository"));
    assert_eq!(yard.runs(), [""; 0]);
}

#[test]
fn earlier_work_that_the_base_lacks_is_told() {
    let yard = Yard::new();
    let task = yard.place.task("Import statements");
    let work = "echo 1 >one.txt; git add one.txt; git commit --quiet -m One";
    let (first, _) = yard.shell(&["--task", &task, "--branch", "one"], work);
    let run = first["run_id"].as_str().expect("an id");
    assert_eq!(yard.run(&["record", run, "--expected-version", "1"]).code, 0);
    let commit = first["work"]["result_commit"].as_str().expect("a commit");
    let warned = |words: &[&str]| {
        let started = yard.run(&[&["start", "--task", &task], words, &["--", "true"]].concat());
        assert_eq!(started.code, 13, "{started:?}");
        started.err.contains(&format!("the last receipt of the task has commit \"{commit}\" on branch \"one\""))
    };
    assert!(warned(&[]), "HEAD lacks it");
    assert!(!warned(&["--base", commit]));
    // The worktree of the first run has that branch.
    assert_eq!(yard.run(&["clean", run]).code, 0);
    assert!(!warned(&["--branch", "one"]));
}

#[test]
fn gits_variables_of_who_asks_lead_no_harness_and_no_test_into_another_tree() {
    let yard = Yard::new();
    let before = yard.git(&["rev-parse", "main"]);
    let work = "echo x >work.txt; git add work.txt; git commit --quiet -m Work";
    let words = ["start", "--json", "--test", "test -n \"$(git log --grep=Work)\"", "--", "sh", "-c", work];
    let mut command = yard.command(&words);
    // As git sets them for its hooks and for the commands of `git rebase --exec`.
    let git = yard.repository.join(".git");
    command.env("GIT_DIR", &git).env("GIT_INDEX_FILE", git.join("index")).env("GIT_WORK_TREE", &yard.repository);
    let answer: crate::program::Answer = command.output().expect("it runs").into();
    let report = answer.json();
    assert_eq!(yard.git(&["rev-parse", "main"]), before, "{report}");
    assert_eq!((&report["outcome"], &report["work"]["commits_total"]), (&"succeeded".into(), &1.into()), "{report}");
}

#[test]
fn a_branch_is_told_by_its_whole_name() {
    let yard = Yard::new();
    let (report, _) = yard.shell(&["--branch", "refs/heads/x"], "git commit --quiet --allow-empty -m Work");
    let told = (&report["work"]["branch"], &report["problems"]);
    assert_eq!(told, (&"refs/heads/x".into(), &serde_json::json!([])), "{report}");
}

#[test]
fn of_a_secret_that_a_long_subject_cuts_off_nothing_is_kept() {
    let yard = Yard::new();
    // The format ends with a checksum of its own.
    let secret = format!("ghp_{}{}", "u".repeat(30), "1558QJ");
    let subject = format!("{} {secret}", "w".repeat(475));
    let (report, _) = yard.shell(&[], &format!("git commit --quiet --allow-empty -m '{subject}'"));
    let kept = report["work"]["commits"][0]["subject"].as_str().expect("a subject");
    assert!(!kept.contains("uuuuuuuu"), "{kept}");
}
