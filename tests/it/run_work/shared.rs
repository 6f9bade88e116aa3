//! What a run's repository shares with others, before the run and after it.

use std::fmt::Write as _;
use std::fs;

use heyaira::run::folder::{Plan, RunFolder};
use heyaira::run::work::shared::{changed, note};

use super::{Field, RUN, git, harness};
use crate::verification::hostile::Trap;
use crate::verification::situations::snapshot;

/// A run that is planned, with its folder.
fn planned(field: &Field) -> (Plan, RunFolder) {
    let folder = field.runs.run(RUN);
    folder.make().expect("a folder");
    let plan = field.planned();
    folder.write_plan(&plan).expect("written");
    (plan, folder)
}

#[test]
fn what_others_share_is_told_where_it_changed() {
    let main = "\"$(git rev-parse --path-format=absolute --git-common-dir)/..\"";
    let cases: &[(&str, &[&str])] = &[
        (
            "git commit -q --allow-empty -m Work; git branch -m heyaira/run-0a1b2c3d; git branch heyaira/run-5d0c9a44",
            &[],
        ),
        ("git branch -f feat/x HEAD", &["branch feat/x moved ("]),
        ("git branch -qD feat/x; git tag v1", &["branch feat/x went away (was ", "tag v1 appeared ("]),
        ("git branch -q -m feat/x other", &["branch feat/x went away", "branch other appeared"]),
        ("git update-ref refs/notes/x HEAD; git branch 日本", &["refs/notes/x appeared", "branch 日本 appeared"]),
        ("git branch heyaira/run-mine", &["branch heyaira/run-mine appeared"]),
        (
            "git -C MAIN commit -q --allow-empty -m Sneaky",
            &["branch main moved", "has main at ", " checked out, before main at "],
        ),
        ("git -C MAIN checkout -q feat/x", &["has feat/x at "]),
        ("git -C MAIN checkout -q --detach", &["has no branch at "]),
        ("git config core.fsmonitor x; git config a.b c", &["the repository's settings a.b, core.fsmonitor."]),
        ("git config url.https://maria:word@example.org.insteadOf x", &["the repository's settings url.….insteadof."]),
        ("git config branch.heyaira/run-5d0c9a44.description x", &[]),
        (
            "echo '[' >>MAIN/.git/config",
            &["What changed in the repository beside the run's branch could not be found out"],
        ),
        ("echo x >MAIN/.git/hooks/pre-commit; rm -f MAIN/.git/hooks/pre-push.sample", &["hooks/pre-commit"]),
        ("echo x >>MAIN/.git/info/exclude", &["info/exclude in "]),
        ("mkdir -p MAIN/.git/hooks; ln -s /bin/true MAIN/.git/hooks/post-merge", &["hooks/post-merge in "]),
        ("rm -r MAIN/.git", &["could not be found out: git says"]),
    ];
    for (lines, parts) in cases {
        let field = Field::new();
        let (plan, folder) = planned(&field);
        let noted = note(&plan, &folder).expect("noted");
        assert_eq!(changed(&plan, &folder, Some(&noted)), [""; 0], "before: {lines}");
        harness(&plan, &lines.replace("MAIN", main));
        let problems = changed(&plan, &folder, Some(&noted)).join("\n");
        for part in *parts {
            assert!(problems.contains(part), "{lines}: {part} is not in\n{problems}");
        }
        assert!(!parts.is_empty() || problems.is_empty(), "{lines}: {problems}");
        assert!(!problems.contains("word"), "a value is told: {problems}");
    }
}

#[test]
fn branches_of_other_runs_are_theirs() {
    let field = Field::new();
    let (plan, folder) = planned(&field);
    let other = Plan { branch: "feat/other".to_owned(), run_id: "other".to_owned(), ..plan.clone() };
    field.runs.run("other").make().expect("a folder");
    field.runs.run("other").write_plan(&other).expect("written");
    let noted = note(&plan, &folder).expect("noted");
    harness(
        &plan,
        "git branch feat/other; git config branch.feat/other.remote origin; git branch heyaira/run-00000001",
    );
    assert_eq!(changed(&plan, &folder, Some(&noted)), [""; 0]);
    let elsewhere = Plan { git_folder: "/nowhere".into(), ..other };
    field.runs.run("other").write_plan(&elsewhere).expect("written");
    assert!(changed(&plan, &folder, None).join("").contains("branch feat/other appeared"), "of another repository");
}

#[test]
fn records_of_other_worktrees_are_told_and_those_of_other_runs_are_theirs() {
    let whole = "went away (it led to UNDER/beside)";
    let cases: &[(&str, &[&str])] = &[
        ("rm -r COMMON/worktrees/beside", &[whole]),
        ("rm -r COMMON/worktrees", &[whole, "record other of a worktree went away (it led to UNDER/a place)"]),
        ("echo UNDER/elsewhere/.git >COMMON/worktrees/beside/gitdir", &[whole, "(it leads to UNDER/elsewhere)"]),
        (
            "echo \"$PWD/.git\" >COMMON/worktrees/beside/gitdir",
            &[whole, "record beside of a worktree appeared (it leads to"],
        ),
        ("git worktree add -q --detach ../mine", &["record mine of a worktree appeared"]),
        ("rm -r COMMON/worktrees/other", &["record other of a worktree went away"]),
        ("git worktree remove -f 'UNDER/a place'", &[]),
        ("rm -r 'UNDER/a place' RUNS/other; git worktree prune", &[]),
        ("git worktree add -q --detach RUNS/new/heyaira-1", &[]),
    ];
    for (lines, parts) in cases {
        let field = Field::new();
        let (plan, folder) = planned(&field);
        let (beside, place) = (field.under().join("beside"), field.under().join("other"));
        field.repository.git(&["worktree", "add", "--quiet", "--detach", beside.to_str().expect("UTF-8")]);
        field.repository.git(&["worktree", "add", "--quiet", "--detach", place.to_str().expect("UTF-8")]);
        let place = field.under().join("a place");
        field.repository.git(&["worktree", "move", "../other", place.to_str().expect("UTF-8")]);
        let other =
            Plan { branch: "feat/other".to_owned(), run_id: "other".to_owned(), worktree: place, ..plan.clone() };
        field.runs.run("other").make().expect("a folder");
        field.runs.run("other").write_plan(&other).expect("written");
        let noted = note(&plan, &folder).expect("noted");
        let under = field.under().display().to_string();
        let lines = lines.replace("COMMON", "\"$(git rev-parse --path-format=absolute --git-common-dir)\"");
        let lines = lines.replace("RUNS", &field.runs.path().display().to_string()).replace("UNDER", &under);
        harness(&plan, &lines);
        let problems = changed(&plan, &folder, Some(&noted)).join("\n");
        for part in *parts {
            assert!(problems.contains(&part.replace("UNDER", &under)), "{lines}: {part} is not in\n{problems}");
        }
        assert!(!parts.is_empty() || problems.is_empty(), "{lines}: {problems}");
        assert!(
            parts.is_empty() || problems.contains("Changed while the run worked, by it or by others: "),
            "{problems}"
        );
    }
}

#[test]
fn a_note_that_was_taken_away_or_written_over_is_told() {
    let field = Field::new();
    let (plan, folder) = planned(&field);
    let noted = note(&plan, &folder).expect("noted");
    let file = folder.path().join("repository-before");
    let spoil: [(&dyn Fn(), &str); 4] = [
        (&|| fs::write(&file, "").expect("written"), "was written over"),
        (&|| fs::write(&file, b"x y\0\0z refs/heads/a").expect("written"), "was written over"),
        (&|| fs::remove_file(&file).expect("removed"), "cannot be read"),
        (&|| fs::create_dir(&file).expect("a folder"), "cannot be read"),
    ];
    for (spoil, part) in spoil {
        spoil();
        let problems = changed(&plan, &folder, Some(&noted));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(part), "{problems:?}");
    }
}

#[test]
fn of_many_references_the_first_are_named_and_all_are_counted() {
    let field = Field::new();
    let (plan, folder) = planned(&field);
    let packed = plan.git_folder.join("packed-refs");
    let commit = git(&plan.git_folder, &["rev-parse", "HEAD"]);
    let mut lines = "# pack-refs with: peeled fully-peeled sorted\n".to_owned();
    for number in 0..20_000 {
        writeln!(lines, "{commit} refs/tags/tag-{number:05}").expect("text");
    }
    fs::write(&packed, &lines).expect("written");
    let noted = note(&plan, &folder).expect("noted");
    assert_eq!(changed(&plan, &folder, Some(&noted)), [""; 0]);
    let kept: Vec<&str> = lines.lines().filter(|line| !line.ends_with('7')).collect();
    fs::write(&packed, kept.join("\n") + "\n").expect("written");
    let problems = changed(&plan, &folder, Some(&noted)).join("\n");
    assert!(problems.contains("tag tag-00007 went away") && problems.contains("; and 1995 more."), "{problems}");
    assert_eq!(problems.matches("went away").count(), 5, "{problems}");
}

#[test]
fn nothing_that_the_repository_names_is_run_and_nothing_is_written_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let under = folder.path().canonicalize().expect("a path");
    let trap = Trap::new(&under);
    let top = &trap.repository.folder;
    let plan = Plan { repository: top.clone(), git_folder: top.join(".git"), worktree: top.clone(), ..Plan::default() };
    let runs = heyaira::run::folder::Runs::of(&heyaira::client::state::State::at(under.join("state")));
    let run = runs.run(RUN);
    run.make().expect("a folder");
    for mark in trap.marks() {
        fs::remove_file(under.join("marks").join(mark)).expect("removed");
    }
    let before = snapshot(top);
    let noted = note(&plan, &run).expect("noted");
    assert_eq!(changed(&plan, &run, Some(&noted)), [""; 0]);
    assert_eq!(trap.marks(), Vec::<String>::new());
    assert_eq!(snapshot(top), before);
}
