//! What git says after a run, whatever the harness did to it.

use std::fs;
use std::os::unix::ffi::OsStrExt;

use heyaira::run::folder::Plan;

use super::{Field, RUN, facts, git, git_in, harness};
use crate::verification::hostile::Trap;
use crate::verification::situations::snapshot;

#[test]
fn commits_differences_and_files_are_counted() {
    let field = Field::new();
    let plan = field.planned();
    let (work, problems) = facts(&plan);
    assert!(work.is_any() == Some(false) && problems.is_empty(), "{work:?} {problems}");
    assert_eq!(work.result_commit.as_ref(), Some(&plan.base_commit));
    harness(
        &plan,
        "printf 'one\\ntwo\\n' > README; git commit -qam First; \
         printf 'a\\0b' > binary; git add binary; git commit -qm 'Second'; \
         echo x > ignored.log; echo '*.log' > .git-info; mkdir deep; echo y > deep/new; echo z >> README",
    );
    let exclude = plan.git_folder.join("info/exclude");
    fs::create_dir_all(exclude.parent().expect("a folder")).expect("a folder");
    fs::write(exclude, "*.log\n").expect("written");
    let (work, problems) = facts(&plan);
    assert_eq!(problems, "");
    assert_eq!(work.branch.as_deref(), Some("heyaira/run-5d0c9a44"));
    assert_eq!(work.commits_total, Some(2));
    let subjects: Vec<&str> = work.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["First", "Second"]);
    assert_eq!((work.files_changed, work.insertions, work.deletions), (Some(2), Some(1), Some(0)));
    assert_eq!(work.uncommitted, ["README", ".git-info", "deep/new"]);
    assert_eq!(work.result_commit, Some(git_in(&plan, &["rev-parse", "HEAD"])));
}

#[test]
fn a_file_that_git_ignores_is_no_work() {
    let field = Field::new();
    field.repository.commit(".gitignore", "*.log\n");
    let plan = field.planned();
    harness(&plan, "echo x > some.log");
    let (work, problems) = facts(&plan);
    assert!(work.is_any() == Some(false) && problems.is_empty(), "{work:?} {problems}");
}

#[test]
fn what_the_harness_did_to_its_branch_is_told() {
    let cases: &[(&str, i64, &[&str])] = &[
        (
            "git commit -q --allow-empty -m A; git checkout -q --detach; git commit -q --allow-empty -m B",
            1,
            &["left no branch checked out", "1 commits that were made here are not in the result"],
        ),
        ("git checkout -q -b other; git commit -q --allow-empty -m A", 1, &["left other checked out"]),
        (
            "git checkout -q -b other; git commit -q --allow-empty -m A; git checkout -q -",
            0,
            &["1 commits that were made here are not in the result"],
        ),
        ("git commit -q --allow-empty -m A; git reset -q --hard HEAD~1", 0, &["1 commits that were made here are not"]),
        (
            "git checkout -q --detach; git commit -q --allow-empty -m A; : >\"$(git rev-parse --git-dir)/logs/HEAD\"",
            1,
            &["left no branch checked out"],
        ),
        // What only lay on the branch that it changed to is nobody's work here.
        ("git checkout -q --detach feat/x", 0, &["left no branch checked out"]),
        ("git commit -q --allow-empty -m A; git commit -q --amend --allow-empty -m B", 1, &[]),
        (
            "git checkout -q --orphan new; git commit -qm A; git branch -f heyaira/run-5d0c9a44; \
          git checkout -q heyaira/run-5d0c9a44",
            1,
            &["History was rewritten"],
        ),
        (
            "git checkout -q --detach; git branch -qD heyaira/run-5d0c9a44",
            0,
            &["left no branch", "run-5d0c9a44 is gone"],
        ),
        ("echo x >> README; git stash -q", 0, &["1 stashes were made on heyaira/run-5d0c9a44"]),
        (
            "mkdir nested; cd nested; git init -q; git commit -q --allow-empty -m A",
            0,
            &["Repositories of their own lie in nested/"],
        ),
        ("touch \"$(git rev-parse --git-dir)/index.lock\"", 0, &["index.lock was left"]),
        ("echo x > src.txt; git add .; git commit -qm A; git merge -q feat/x || true", 1, &["a merge was begun"]),
        (
            "echo x > src.txt; git add .; git commit -qm A; git rebase -q feat/x 2>/dev/null || true",
            1,
            &["a rebase was begun"],
        ),
    ];
    for (lines, commits, parts) in cases {
        let field = Field::new();
        let plan = field.planned();
        harness(&plan, lines);
        let (work, problems) = facts(&plan);
        assert_eq!(work.commits_total, Some(*commits), "{lines}: {problems}");
        for part in *parts {
            assert!(problems.contains(part), "{lines}: {part} is not in\n{problems}");
        }
        assert!(!parts.is_empty() || problems.is_empty(), "{lines}: {problems}");
    }
}

#[test]
fn a_worktree_that_is_gone_leaves_the_commits_on_its_branch() {
    for (lines, part) in [
        ("rm .git", ".git is gone"),
        ("rm .git; git init -q", "another repository"),
        ("cd ..; rm -r heyaira-5d0c9a44", "worktree is gone"),
        ("rm .git; echo gitdir: /nowhere > .git", "does not open"),
    ] {
        let field = Field::new();
        let plan = field.planned();
        harness(&plan, &format!("git commit -q --allow-empty -m Kept; {lines}"));
        let (work, problems) = facts(&plan);
        assert!(problems.contains(part), "{lines}: {problems}");
        assert_eq!((work.commits_total, work.commits[0].subject.as_str()), (Some(1), "Kept"), "{lines}");
        assert_eq!((work.uncommitted_total, work.is_any()), (None, Some(true)), "{lines}");
    }
}

/// Puts rubbish in the place of an object of git's.
const SPOIL: &str = "spoil() { o=$(git rev-parse $1); \
    f=$(git rev-parse --git-common-dir)/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); chmod u+w $f; echo rubbish >$f; }; ";

#[test]
fn what_git_cannot_say_is_not_nothing() {
    let repository = "\"$(git rev-parse --path-format=absolute --git-common-dir)\"";
    let own = "\"$(git rev-parse --path-format=absolute --git-dir)\"";
    let one = "echo x >file; git add file; git commit -qm One; echo y >left";
    let cases: &[(String, Option<i64>, Option<i64>, &str)] = &[
        (format!("{one}; rm -r {repository}/worktrees"), Some(1), None, "git does not open the worktree"),
        (format!("rm -r {repository}/worktrees"), Some(0), None, "git does not open the worktree"),
        (format!("{one}; rm -r {repository}"), None, None, "git does not open the worktree"),
        (format!("{one}; echo x >{own}/index"), Some(1), None, "index file"),
        (format!("rm {own}/index; mkdir {own}/index"), Some(0), None, "index"),
        (format!("{one}; spoil HEAD"), None, None, "which git cannot read as a commit"),
        (format!("{one}; git commit -qm Two --allow-empty; spoil HEAD~1"), None, Some(1), "Not all could be found out"),
        (format!("{one}; git update-ref -d refs/heads/heyaira/run-5d0c9a44"), Some(1), Some(3), "run-5d0c9a44 is gone"),
        (
            format!("{one}; git update-ref -d refs/heads/heyaira/run-5d0c9a44; rm {own}/logs/HEAD"),
            None,
            Some(3),
            "What was committed here last cannot be told",
        ),
        (
            format!("{one}; git update-ref -d refs/heads/heyaira/run-5d0c9a44; rm .git"),
            None,
            None,
            "run-5d0c9a44 is gone",
        ),
        (
            format!("{one}; git commit -q --allow-empty -m Two; git rev-parse HEAD >{repository}/shallow"),
            None,
            Some(1),
            "History ends before the base",
        ),
    ];
    for (lines, commits, uncommitted, part) in cases {
        let field = Field::new();
        let plan = field.planned();
        harness(&plan, &format!("{SPOIL}{lines}"));
        let (work, problems) = facts(&plan);
        assert_eq!((work.commits_total, work.uncommitted_total), (*commits, *uncommitted), "{lines}: {problems}");
        assert!(problems.contains(part), "{lines}: {problems}");
        let is_any = [commits, uncommitted].iter().any(|count| count.is_some_and(|count| count > 0));
        assert_eq!(work.is_any(), is_any.then_some(true), "{lines}");
        if commits.is_none() {
            assert_ne!(work.result_commit.as_ref(), Some(&plan.base_commit), "{lines}: the base is a claim too");
        }
    }
}

#[test]
fn lines_that_cannot_be_counted_are_not_none() {
    let field = Field::new();
    let plan = field.planned();
    harness(&plan, &format!("{SPOIL}echo x >README; git commit -qam One; spoil HEAD~1:README"));
    let (work, problems) = facts(&plan);
    assert_eq!((work.commits_total, work.files_changed, work.insertions, work.deletions), (Some(1), None, None, None));
    assert_eq!((work.uncommitted_total, work.is_any()), (Some(0), Some(true)), "{problems}");
    assert!(problems.contains("Not all could be found out"), "{problems}");
}

#[test]
fn in_a_shallow_clone_what_is_new_is_counted() {
    let field = Field::new();
    let shallow = field.under().join("shallow");
    let from = format!("file://{}", field.repository.folder.display());
    git(&field.under(), &["clone", "--quiet", "--depth=1", "--branch=feat/x", &from, "shallow"]);
    let mut plan = Plan { run_id: RUN.to_owned(), ..Plan::default() };
    field.prepare(|asked| asked.folder = shallow).expect("prepared").note_in(&mut plan);
    harness(&plan, "git commit -q --allow-empty -m One; git commit -q --allow-empty -m Two");
    let (work, problems) = facts(&plan);
    assert_eq!((work.commits_total, work.uncommitted_total, problems.as_str()), (Some(2), Some(0), ""));
}

#[test]
fn names_and_subjects_are_one_line_that_can_be_shown() {
    let field = Field::new();
    let plan = field.planned();
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff\n\x1b[31mname\t");
    fs::write(plan.worktree.join(odd), "text").expect("written");
    harness(&plan, "printf 'A \\033[31mred\\trow\\nmore\\n\\nbody' | git commit -q --allow-empty -F -");
    let (work, _) = facts(&plan);
    let shown = [&work.uncommitted[0], &work.commits[0].subject];
    for text in shown {
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
    assert!(work.uncommitted[0].contains("name") && work.commits[0].subject.contains("red"), "{shown:?}");
}

#[test]
fn no_more_than_a_hundred_are_named_and_all_are_counted() {
    let field = Field::new();
    let plan = field.planned();
    harness(
        &plan,
        "n=0; while [ $n -lt 105 ]; do git commit -q --allow-empty -m \"Commit $n\"; echo x > file-$n; n=$((n+1)); done",
    );
    let (work, problems) = facts(&plan);
    assert_eq!((work.commits.len(), work.commits_total), (100, Some(105)), "{problems}");
    assert_eq!(work.commits[0].subject, "Commit 0");
    assert_eq!((work.uncommitted.len(), work.uncommitted_total), (100, Some(105)));
}

#[test]
fn nothing_that_the_repository_names_is_run_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let under = folder.path().canonicalize().expect("a path");
    let trap = Trap::new(&under);
    let top = &trap.repository.folder;
    let plan = Plan {
        run_id: RUN.to_owned(),
        repository: top.clone(),
        git_folder: top.join(".git"),
        worktree: top.clone(),
        branch: "feat/x".to_owned(),
        base_commit: trap.repository.base.clone(),
        ..Plan::default()
    };
    for mark in trap.marks() {
        fs::remove_file(under.join("marks").join(mark)).expect("removed");
    }
    let before = snapshot(top);
    let (work, problems) = facts(&plan);
    assert_eq!(work.commits_total, Some(2), "{problems}");
    assert!(work.files_changed >= Some(3), "{work:?} {problems}");
    assert_eq!(trap.marks(), Vec::<String>::new(), "{problems}");
    assert_eq!(snapshot(top), before);
}
