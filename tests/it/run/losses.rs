//! What a run left and is nowhere else: the report tells it, and `run clean` does not take it away unasked.

use serde_json::Value;

use super::Yard;
use crate::program::Answer;

/// The report of a run of these lines, and what `run clean` says once the report is recorded.
fn cleaned(yard: &Yard, lines: &str) -> (Value, Answer) {
    let task = yard.place.task("Import statements");
    let (report, _) = yard.shell(&["--task", &task], lines);
    let id = report["run_id"].as_str().expect("an id")[..8].to_owned();
    let recorded = yard.run(&["record", &id, "--expected-version", "1"]);
    assert_eq!(recorded.code, 0, "{recorded:?}");
    (report, yard.run(&["clean", &id]))
}

/// It is refused with this, what lies in the worktree stays, and `--force` takes it.
fn refused(yard: &Yard, lines: &str, parts: &[&str]) -> (Value, String) {
    let (report, answer) = cleaned(yard, lines);
    assert_eq!(answer.code, 2, "{lines}: {report} {answer:?}");
    let told = format!("{answer:?}");
    for part in parts {
        assert!(told.contains(part), "{part}: {lines}: {told}");
    }
    assert!(yard.state().join("runs").join(report["run_id"].as_str().expect("an id")).is_dir());
    let id = &report["run_id"].as_str().expect("an id")[..8];
    let forced = yard.run(&["clean", id, "--force"]);
    assert_eq!(forced.code, 0, "{forced:?}");
    (report, told)
}

fn problems(report: &Value) -> String {
    report["problems"].to_string()
}

const INNER: &str = "git init --quiet sub; git -C sub commit --quiet --allow-empty -m Inner; git add sub 2>/dev/null; \
                     git commit --quiet -m Outer; ";

#[test]
fn commits_that_lie_in_a_submodule_alone() {
    let deep = "git init --quiet sub/deep; git -C sub/deep commit --quiet --allow-empty -m Deep; \
                git -C sub add deep 2>/dev/null; git -C sub commit --quiet -m Middle; git add sub; git commit --quiet -m More";
    // As git itself keeps a submodule, with and without its files.
    let modules = "own=$(git rev-parse --absolute-git-dir); mkdir -p \"$own/modules/a\"; mv sub/.git \"$own/modules/a/sub\"; \
                   echo \"gitdir: $own/modules/a/sub\" >sub/.git; \
                   git config -f \"$own/modules/a/sub/config\" core.worktree \"$PWD/sub\"; ";
    let ignored = "echo sub >.gitignore; git add .gitignore; git commit --quiet -m Ignored; git init --quiet sub; \
                   git -C sub commit --quiet --allow-empty -m Inner";
    let gone = format!("{INNER}{modules}git rm --quiet sub; git commit --quiet -m Gone");
    let cases = [INNER.to_owned(), format!("{INNER}{deep}"), format!("{INNER}{modules}"), gone, ignored.to_owned()];
    for lines in cases {
        let yard = Yard::new();
        let (report, _) = refused(&yard, &lines, &["sub", "lie in the worktree of run"]);
        assert!(problems(&report).contains("lie in this worktree alone"), "{lines}: {report}");
    }
}

#[test]
fn commits_of_a_submodule_that_a_remote_has_are_not_in_the_way() {
    let yard = Yard::new();
    let lines = format!(
        "{INNER}git clone --quiet --bare sub \"$TOLD/remote\"; git -C sub remote add origin \"$TOLD/remote\"; \
         git -C sub fetch --quiet origin"
    );
    let (report, cleaned) = cleaned(&yard, &lines);
    assert_eq!((problems(&report).as_str(), cleaned.code), ("[]", 0), "{report} {cleaned:?}");
}

#[test]
fn what_is_told_to_do_keeps_the_commits_of_a_submodule() {
    let yard = Yard::new();
    let task = yard.place.task("Import statements");
    let (report, _) = yard.shell(&["--task", &task], INNER);
    let id = report["run_id"].as_str().expect("an id")[..8].to_owned();
    yard.run(&["record", &id, "--expected-version", "1"]);
    let refused = yard.run(&["clean", &id, "--json"]);
    let told = refused.err.clone() + &refused.out;
    let call = told.split("git -C CLONE ").nth(1).and_then(|rest| rest.split(" and then").next()).expect("a call");
    yard.git(&call.replace("NAME", "kept").split_whitespace().collect::<Vec<_>>());
    assert_eq!(yard.git(&["log", "-1", "--format=%s", "kept"]), "Inner\n");
}

#[test]
fn a_worktree_that_was_moved() {
    let yard = Yard::new();
    let lines = "echo x >work.txt; git worktree move \"$PWD\" \"$(dirname \"$PWD\")/moved\"";
    let (report, _) = refused(&yard, lines, &["moved"]);
    assert!(!problems(&report).contains("is lost") && problems(&report).contains("/moved"), "{report}");
    let yard = Yard::new();
    let (report, cleaned) = cleaned(&yard, "echo x >work.txt; git worktree move \"$PWD\" \"$TOLD/moved\"");
    assert!(problems(&report).contains("/moved"), "{report}");
    assert_eq!(cleaned.code, 0, "{cleaned:?}");
    assert!(yard.told().join("moved/work.txt").exists(), "it is nobody's to take away");
}

#[test]
fn another_worktree_or_repository_in_the_runs_folder() {
    let ignored = "mkdir a; echo a >.gitignore; git add .; git commit --quiet -m Ignore; \
                   git worktree add --quiet --detach a/second; echo x >a/second/work.txt";
    let worktree = "git worktree add --quiet --detach ../second; echo x >../second/work.txt";
    for lines in [worktree, "git init --quiet ../second", ignored] {
        let yard = Yard::new();
        let (report, _) = refused(&yard, lines, &["second"]);
        assert!(problems(&report).contains("second"), "{lines}: {report}");
    }
}

#[test]
fn what_could_not_be_looked_at() {
    let yard = Yard::new();
    let lines = "for i in $(seq 10 35); do git init --quiet s$i; git -C s$i commit --quiet --allow-empty -m Inner; done; \
                 git add . 2>/dev/null; git commit --quiet -m Outer; echo x >s35/work.txt";
    let (report, _) = refused(&yard, lines, &["submodules were not looked at"]);
    assert!(problems(&report).contains("may be missing"), "{report}");
}

#[test]
fn a_submodule_that_git_does_not_open() {
    for broken in ["echo broken >sub/.git/HEAD", "rm -rf sub/.git", "rm -rf sub/.git; echo x >sub/.git"] {
        let yard = Yard::new();
        let (report, _) = refused(&yard, &format!("{INNER}echo x >sub/work.txt; {broken}"), &["sub: "]);
        assert!(problems(&report).contains("sub: "), "{broken}: {report}");
    }
}

#[test]
fn changes_that_are_hidden_from_git_status() {
    for hide in ["--assume-unchanged", "--skip-worktree"] {
        let yard = Yard::new();
        for name in ["file.txt", "same.txt", "\"odd\n.txt"] {
            std::fs::write(yard.repository.join(name), "before\n").expect("a file");
        }
        std::os::unix::fs::symlink("nowhere", yard.repository.join("link")).expect("a link");
        yard.git(&["add", "."]);
        yard.git(&["commit", "--quiet", "-m", "File"]);
        let same = format!("git ls-files -z | xargs -0 git update-index {hide} --");
        let (report, answer) = cleaned(&yard, &same);
        assert_eq!((problems(&report).as_str(), answer.code), ("[]", 0), "{hide}: {report} {answer:?}");
        let lines = format!("{same}; for i in *odd* file.txt; do echo work >>\"$i\"; done; ln -sf else link");
        let (report, _) = refused(&yard, &lines, &["file.txt"]);
        assert_eq!(report["work"]["uncommitted_total"], 3, "{hide}: {report}");
        assert!(problems(&report).contains("hidden from git status"), "{hide}: {report}");
    }
}

#[test]
fn commits_that_are_on_no_branch() {
    let yard = Yard::new();
    let lines = "git commit --quiet --allow-empty -m Work; git reset --quiet --hard HEAD~1";
    refused(&yard, lines, &["on no branch"]);
    let lines = "git checkout --quiet --detach; git commit --quiet --allow-empty -m Work; git checkout --quiet -";
    let (report, told) = refused(&yard, lines, &["on no branch", "branch NAME "]);
    let call = told.split(" branch NAME ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a commit");
    yard.git(&["branch", "kept", call]);
    assert_eq!(yard.git(&["log", "-1", "--format=%s", "kept"]), "Work\n", "{report}");
}

#[test]
fn what_was_amended_or_rebased_is_not_in_the_way() {
    let yard = Yard::new();
    let lines = "git commit --quiet --allow-empty -m One; git commit --quiet --amend --allow-empty -m Other; \
                 echo x >x; git add x; git commit --quiet -m Two; echo y >>x; git commit --quiet -a --fixup HEAD; \
                 GIT_SEQUENCE_EDITOR=: git rebase --quiet -i --autosquash --keep-empty HEAD~2; git reset --quiet --soft HEAD~1; \
                 git commit --quiet -m Again";
    let (report, cleaned) = cleaned(&yard, lines);
    assert_eq!(cleaned.code, 0, "{report} {cleaned:?}");
}
