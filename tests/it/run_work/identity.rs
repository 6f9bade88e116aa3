//! A worktree whose record in git belongs to another one: nothing is told or done by it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use heyaira::run::clean::{Fate, clean, problems};
use heyaira::run::folder::{Plan, RunFolder};

use super::clean::reported;
use super::{Field, RUN, facts, git, git_in, harness};

/// A run that is over, with a worktree of that name and a file that is not committed.
fn run_in(field: &Field, name: &str) -> (RunFolder, Plan) {
    let mut plan = Plan { run_id: RUN.to_owned(), ..Plan::default() };
    let worktree = field.under().join("one").join(name);
    field.prepare(|asked| asked.worktree = Some(worktree)).expect("prepared").note_in(&mut plan);
    harness(&plan, "echo mine >left");
    let folder = field.runs.run(RUN);
    folder.write_plan(&plan).expect("written");
    reported(&folder);
    (folder, plan)
}

/// Another worktree, whose record git gives the name of the run's, which was deleted.
fn take_over(field: &Field, plan: &Plan) -> PathBuf {
    fs::remove_dir_all(plan.git_folder.join("worktrees")).expect("removed");
    let other = field.under().join("other").join(plan.worktree.file_name().expect("a name"));
    field.repository.git(&["worktree", "add", "--quiet", other.to_str().expect("UTF-8"), "feat/x"]);
    other
}

/// The command that a refusal names.
fn command(told: &str) -> &str {
    let (_, rest) = told.split_once("a record again (").expect(told);
    rest.split_once(')').expect(told).0
}

fn run(command: &str) {
    let output = Command::new("sh").args(["-c", command]).output().expect("a shell");
    assert!(output.status.success(), "{command}: {output:?}");
}

#[test]
fn a_record_that_another_worktree_has_now_is_not_read() {
    let field = Field::new();
    let (folder, plan) = run_in(&field, "worktree");
    let other = take_over(&field, &plan);
    fs::write(other.join("theirs"), "text").expect("written");
    let record = plan.git_folder.join("worktrees/worktree/gitdir");
    // Git turns a record round that was not touched for a day.
    let age = Command::new("touch").args(["-d", "2020-01-01"]).arg(&record).status().expect("touch");
    assert!(age.success());
    let (work, told) = facts(&plan);
    let why = format!("belongs to another one now: {}", other.display());
    assert!(told.contains(&why), "{told}");
    assert_eq!((work.uncommitted_total, work.commits_total), (None, Some(0)));
    assert_eq!(work.branch.as_deref(), Some("heyaira/run-5d0c9a44"));
    let told = problems(&folder, &plan, true, false);
    assert!(told.len() == 1 && told[0].contains(&why), "{told:?}");
    let leads = fs::read_to_string(&record).expect("a record");
    assert_eq!(leads.trim(), other.join(".git").to_str().expect("UTF-8"), "the record was turned round");
    let refusal = field.prepare(|asked| asked.folder.clone_from(&plan.worktree)).expect_err("whose base is it?");
    assert!(
        refusal.message.contains("belongs to another one now") || refusal.message.contains("leads to"),
        "{refusal}"
    );
}

#[test]
fn the_command_that_a_refusal_names_gives_a_worktree_its_record_again() {
    for (name, is_taken, spoil) in [
        ("worktree", true, "true"),
        ("it's a worktree", true, "true"),
        ("worktree", false, "rm -r \"$(git rev-parse --git-common-dir)/worktrees\""),
        ("worktree", false, "rm .git"),
        ("worktree", false, "echo gitdir: /nowhere >.git"),
        ("worktree", false, "echo /nowhere/.git >\"$(git rev-parse --git-dir)/gitdir\""),
        ("worktree", false, "echo gitdir: \"$(git rev-parse --path-format=absolute --git-common-dir)\" >.git"),
    ] {
        let field = Field::new();
        let (folder, plan) = run_in(&field, name);
        harness(&plan, "git commit -q --allow-empty -m Mine");
        harness(&plan, spoil);
        let other = is_taken.then(|| take_over(&field, &plan));
        let told = problems(&folder, &plan, true, false);
        assert_eq!(told.len(), 1, "{spoil}: {told:?}");
        run(command(&told[0]));
        let told = problems(&folder, &plan, true, false);
        assert!(told.len() == 1 && told[0].contains("not committed (\"left\")"), "{spoil}: {told:?}");
        assert_eq!(git_in(&plan, &["symbolic-ref", "HEAD"]), "refs/heads/heyaira/run-5d0c9a44", "{spoil}");
        assert_eq!(git_in(&plan, &["status", "--porcelain"]), "?? left", "{spoil}");
        let (work, told) = facts(&plan);
        assert_eq!((work.uncommitted_total, work.commits_total), (Some(1), Some(1)), "{spoil}: {told}");
        if let Some(other) = other {
            assert_eq!(git(&other, &["symbolic-ref", "HEAD"]), "refs/heads/feat/x");
            assert_eq!(git(&other, &["status", "--porcelain"]), "");
        }
        assert_eq!(field.repository.git(&["status", "--porcelain"]), "", "{spoil}");
    }
}

#[test]
fn by_force_the_folder_goes_and_the_other_worktree_keeps_its_record() {
    let field = Field::new();
    let (folder, plan) = run_in(&field, "worktree");
    let other = take_over(&field, &plan);
    field.repository.git(&["worktree", "lock", other.to_str().expect("UTF-8")]);
    let listed = field.repository.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(problems(&folder, &plan, true, true), [""; 0]);
    let cleaned = clean(&folder, &plan).expect("clean");
    assert_eq!((cleaned.worktree, cleaned.branch), (Fate::Taken, Fate::Taken));
    assert!(!plan.worktree.exists());
    assert_eq!(field.repository.git(&["worktree", "list", "--porcelain"]), listed);
    assert_eq!(git(&other, &["status", "--porcelain"]), "");
}

#[test]
fn a_worktree_is_not_used_by_the_record_of_another() {
    let field = Field::new();
    let (there, other) = (field.under().join("there"), field.under().join("other"));
    field.repository.git(&["worktree", "add", "--quiet", there.to_str().expect("UTF-8"), "feat/x"]);
    field.repository.git(&["worktree", "add", "--quiet", "--detach", other.to_str().expect("UTF-8")]);
    fs::copy(other.join(".git"), there.join(".git")).expect("copied");
    let refusal = field.prepare(|asked| {
        asked.worktree = Some(there.clone());
        asked.branch = Some("feat/x".to_owned());
    });
    let told = refusal.expect_err("refused").message;
    assert!(told.contains(&format!("belongs to another one now: {}", other.display())), "{told}");
}
