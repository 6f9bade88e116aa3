//! Worktrees and branches are made whole or not at all.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use heyaira::error::Code;
use heyaira::run::folder::{Plan, Progress};
use heyaira::run::work::{Wanted, prepare};

use super::{Field, RUN, path};
use crate::verification::repository::{Repository, git};

fn problems(refusal: &heyaira::error::Refusal) -> Vec<String> {
    let problems = refusal.details["problems"].as_array().expect("problems");
    problems.iter().map(|one| one.as_str().expect("text").to_owned()).collect()
}

#[test]
fn a_run_has_a_branch_and_a_worktree_of_its_own_at_head() {
    let field = Field::new();
    let prepared = field.prepare(|_| ()).expect("prepared");
    assert_eq!(prepared.branch, "heyaira/run-5d0c9a44");
    assert_eq!(prepared.worktree, field.runs.run(RUN).path().join("heyaira-5d0c9a44"));
    assert_eq!(prepared.repository, field.repository.folder);
    assert_eq!(prepared.git_folder, field.repository.folder.join(".git"));
    assert_eq!(prepared.base_commit, field.repository.base);
    assert!(prepared.made_worktree && prepared.made_branch);
    assert_eq!(git(&prepared.worktree, &["symbolic-ref", "HEAD"]), "refs/heads/heyaira/run-5d0c9a44");
    assert_eq!(git(&prepared.worktree, &["status", "--porcelain"]), "");
    assert!(prepared.worktree.join("README").is_file());
    prepared.take_back(&path()).expect("taken back");
    assert!(!prepared.worktree.exists());
    assert_eq!(field.repository.git(&["branch", "--list", "heyaira/*"]), "");
    assert_eq!(field.repository.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn the_base_may_be_any_commit_and_is_resolved() {
    let field = Field::new();
    field.repository.git(&["tag", "-a", "v1", "-m", "one", "feat/x"]);
    for base in ["feat/x", "v1", &field.repository.result[..10], "main", "HEAD"] {
        let prepared = field.prepare(|asked| asked.base = Some(base.to_owned())).expect(base);
        let expected = if ["main", "HEAD"].contains(&base) { &field.repository.base } else { &field.repository.result };
        assert_eq!(prepared.base_commit, *expected, "{base}");
        prepared.take_back(&path()).expect("taken back");
    }
}

#[test]
fn a_branch_that_is_there_goes_on_from_its_end() {
    let field = Field::new();
    let prepared = field.prepare(|asked| asked.branch = Some("feat/x".to_owned())).expect("prepared");
    assert_eq!(prepared.base_commit, field.repository.result);
    assert!(!prepared.made_branch);
    prepared.take_back(&path()).expect("taken back");
    assert_eq!(field.repository.git(&["rev-parse", "feat/x"]), field.repository.result);
}

#[test]
fn everything_that_is_wrong_is_told_at_once_and_nothing_is_made() {
    let field = Field::new();
    field.repository.write("full/file", "text");
    let before = field.snapshot();
    let refusal = field.prepare(|asked| {
        asked.base = Some("nowhere".to_owned());
        asked.branch = Some("main".to_owned());
        asked.worktree = Some("full".into());
    });
    let refusal = refusal.expect_err("refused");
    assert_eq!(refusal.code, Code::InvalidArgument);
    let told = problems(&refusal);
    assert_eq!(told.len(), 3, "{told:?}");
    for part in ["no commit \"nowhere\"", "is not empty", "is checked out in"] {
        assert!(told.iter().any(|one| one.contains(part)), "{part}: {told:?}");
    }
    assert!(refusal.message.contains(&field.repository.folder.display().to_string()), "{refusal}");
    assert_eq!(field.snapshot(), before);
    assert!(!field.runs.path().exists());
}

#[test]
fn each_name_that_cannot_be_a_branch_is_refused() {
    let field = Field::new();
    let before = field.snapshot();
    let cases = [
        ("-x", "is no name of a branch"),
        ("a..b", "is no name of a branch"),
        ("", "is no name of a branch"),
        ("HEAD", "is no name of a branch"),
        ("a\nb", "is no name of a branch"),
        ("feat", "beside the branch \"feat/x\""),
        ("feat/x/y", "beside the branch \"feat/x\""),
        ("feat/x", "not at the base"),
    ];
    for (name, part) in cases {
        let refusal = field.prepare(|asked| {
            asked.branch = Some(name.to_owned());
            asked.base = Some("main".to_owned());
        });
        let told = problems(&refusal.expect_err(name));
        assert!(told.len() == 1 && told[0].contains(part), "{name:?}: {told:?}");
    }
    assert_eq!(field.snapshot(), before);
}

#[test]
fn the_folder_is_new_or_empty_or_a_worktree_on_the_branch() {
    let field = Field::new();
    let under = field.under();
    fs::create_dir(under.join("empty")).expect("a folder");
    symlink(under.join("empty"), under.join("link")).expect("a link");
    for given in ["deep/er/new", "empty", "link"] {
        let prepared = field.prepare(|asked| asked.worktree = Some(under.join(given))).expect(given);
        assert!(prepared.made_worktree && prepared.worktree.join("README").is_file(), "{given}");
        assert!(!prepared.worktree.ends_with("link"), "{prepared:?}");
        prepared.take_back(&path()).expect("taken back");
        fs::create_dir_all(under.join("empty")).expect("a folder");
    }
    fs::write(under.join("file"), "text").expect("written");
    for (given, part) in
        [("file", "cannot be used"), ("repository/.git/x", "git's own folder"), ("repository", "is not empty")]
    {
        let refusal = field.prepare(|asked| asked.worktree = Some(under.join(given))).expect_err(given);
        assert!(refusal.message.contains(part), "{refusal}");
    }
}

#[test]
fn a_worktree_that_is_there_is_used_and_stays() {
    let field = Field::new();
    let there = field.under().join("there");
    field.repository.git(&["worktree", "add", "--quiet", there.to_str().expect("UTF-8"), "feat/x"]);
    let on = |branch: &str| {
        field.prepare(|asked| {
            asked.worktree = Some(there.clone());
            asked.branch = Some(branch.to_owned());
        })
    };
    assert!(on("other").expect_err("another branch").message.contains("that is on \"other\""));
    let prepared = on("feat/x").expect("used");
    assert!(!prepared.made_worktree && !prepared.made_branch);
    assert_eq!((&prepared.worktree, &prepared.base_commit), (&there, &field.repository.result));
    prepared.take_back(&path()).expect("nothing to take back");
    assert!(there.join("src.txt").is_file());
    // Another run works there.
    let other = field.runs.run("aaaaaaaa-1111-4222-8333-444455556666");
    other.make().expect("a folder");
    let plan = Plan { run_id: "aaaaaaaa-1111".to_owned(), worktree: there.clone(), ..Plan::default() };
    other.write_plan(&plan).expect("written");
    other.write_progress(&Progress { phase: "working".to_owned(), ..Progress::default() }).expect("written");
    fs::write(there.join("mine"), "text").expect("written");
    let told = problems(&on("feat/x").expect_err("in use"));
    assert!(told.len() == 2 && told[0].contains("run aaaaaaaa works") && told[1].contains("1 uncommitted"), "{told:?}");
}

#[test]
fn subfolders_links_and_linked_worktrees_lead_to_the_repository() {
    let field = Field::new();
    let (under, folder) = (field.under(), &field.repository.folder);
    fs::create_dir_all(folder.join("a/b")).expect("a folder");
    symlink(folder, under.join("link")).expect("a link");
    let linked = under.join("linked");
    field.repository.git(&["worktree", "add", "--quiet", linked.to_str().expect("UTF-8"), "feat/x"]);
    for (from, base) in [
        (folder.join("a/b"), &field.repository.base),
        (under.join("link/a"), &field.repository.base),
        (linked, &field.repository.result),
    ] {
        let prepared = field.prepare(|asked| asked.folder.clone_from(&from)).expect("prepared");
        assert_eq!((&prepared.repository, &prepared.base_commit), (folder, base), "{}", from.display());
        assert_eq!(prepared.git_folder, folder.join(".git"));
        prepared.take_back(&path()).expect("taken back");
    }
}

#[test]
fn where_there_is_nothing_to_begin_from_the_refusal_says_what_to_do() {
    let field = Field::new();
    let under = field.under();
    fs::create_dir(under.join("empty.git")).expect("a folder");
    git(&under.join("empty.git"), &["init", "--quiet", "--bare"]);
    fs::create_dir(under.join("young")).expect("a folder");
    git(&under.join("young"), &["init", "--quiet"]);
    for (folder, part) in [
        (under.join("empty.git"), "bare repository"),
        (field.repository.folder.join(".git"), "git's own folder"),
        (under.join("young"), "no commit yet"),
        (under.clone(), "no git repository"),
    ] {
        // Whatever lies above the temporary folder is no part of the test.
        if part == "no git repository" && folder.ancestors().skip(1).any(|one| one.join(".git").exists()) {
            continue;
        }
        let refusal = field.prepare(|asked| asked.folder.clone_from(&folder)).expect_err(part);
        assert!(refusal.message.contains(part) && !refusal.next.is_empty(), "{refusal}");
    }
}

#[test]
fn a_worktree_of_a_bare_repository_a_shallow_clone_and_a_submodule_work() {
    let field = Field::new();
    let under = field.under();
    field.repository.push(&["main", "feat/x"]);
    let shallow = field.repository.clone_with(&["--depth=1", "--branch=feat/x"]);
    let bare = under.join("repository.git");
    let of_bare = under.join("of-bare");
    git(&bare, &["worktree", "add", "--quiet", of_bare.to_str().expect("UTF-8"), "main"]);
    let outer = Repository::new(&under, "outer");
    outer.git(&["submodule", "--quiet", "add", bare.to_str().expect("UTF-8"), "sub"]);
    outer.git(&["commit", "--quiet", "-m", "a submodule"]);
    let cases = [(shallow, "shallow"), (of_bare, "bare"), (outer.folder.join("sub"), "sub"), (outer.folder, "outer")];
    for (folder, name) in cases {
        let prepared = field.prepare(|asked| asked.folder.clone_from(&folder)).expect(name);
        assert_eq!(git(&prepared.worktree, &["status", "--porcelain"]), "", "{name}");
        let mut plan = Plan { run_id: RUN.to_owned(), ..Plan::default() };
        prepared.clone().note_in(&mut plan);
        super::harness(&plan, "echo new > new; git add new; git commit -qm New; echo more > more");
        let (work, problems) = super::facts(&plan);
        assert_eq!(
            (work.commits_total, work.uncommitted_total, problems.as_str()),
            (Some(1), Some(1), ""),
            "{name}: {work:?}"
        );
        git(&prepared.worktree, &["reset", "--quiet", "--hard", &prepared.base_commit]);
        prepared.take_back(&path()).expect(name);
        assert!(!prepared.worktree.exists(), "{name}");
    }
}

#[test]
fn filters_of_the_user_apply_and_one_that_fails_leaves_nothing() {
    let field = Field::new();
    field.repository.commit(".gitattributes", "*.big filter=big\n");
    field.repository.commit("a.big", "small\n");
    field.repository.git(&["config", "filter.big.smudge", "sed s/small/BIG/"]);
    field.repository.git(&["config", "filter.big.clean", "sed s/BIG/small/"]);
    let prepared = field.prepare(|_| ()).expect("prepared");
    assert_eq!(fs::read_to_string(prepared.worktree.join("a.big")).expect("read"), "BIG\n");
    prepared.take_back(&path()).expect("taken back");
    field.repository.git(&["config", "filter.big.smudge", "false"]);
    field.repository.git(&["config", "filter.big.required", "true"]);
    let before = field.snapshot();
    let refusal = field.prepare(|asked| asked.worktree = Some("../deep/er".into())).expect_err("a filter that fails");
    assert!(
        refusal.message.contains("could not be made") && refusal.next.contains("Nothing of it is left"),
        "{refusal}"
    );
    assert_eq!(field.snapshot(), before);
    assert!(!field.under().join("deep").exists());
}

#[test]
fn no_hook_of_the_repository_is_run() {
    let field = Field::new();
    let mark = field.under().join("mark");
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        let file = field.repository.folder.join(".git/hooks").join(hook);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("executable");
    }
    let prepared = field.prepare(|_| ()).expect("prepared");
    prepared.take_back(&path()).expect("taken back");
    assert!(!mark.exists());
    field.repository.git(&["branch", "sprung"]);
    assert!(mark.exists(), "the hook is none");
}

#[test]
fn a_worktree_whose_folder_is_gone_is_named() {
    let field = Field::new();
    let gone = field.under().join("gone");
    field.repository.git(&["worktree", "add", "--quiet", gone.to_str().expect("UTF-8"), "feat/x"]);
    fs::remove_dir_all(&gone).expect("removed");
    let refusal = field.prepare(|asked| asked.branch = Some("feat/x".to_owned())).expect_err("refused");
    assert!(refusal.message.contains("git worktree prune"), "{refusal}");
}

#[test]
fn ten_at_once_in_one_repository_are_all_prepared_and_taken_back() {
    let field = Field::new();
    let before = field.snapshot();
    let one = |number: usize| {
        let run_id = format!("{number:08}-1111-4222-8333-444455556666");
        let path = path();
        let folder: &Path = &field.repository.folder;
        let wanted = Wanted {
            path: &path,
            folder,
            runs: &field.runs,
            run_id: &run_id,
            base: None,
            branch: None,
            worktree: None,
        };
        let prepared = prepare(&wanted).expect("prepared");
        assert!(prepared.worktree.join("README").is_file());
        prepared
    };
    let prepared: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..10).map(|number| scope.spawn(move || one(number))).collect();
        threads.into_iter().map(|thread| thread.join().expect("prepared")).collect()
    });
    assert_eq!(field.repository.git(&["worktree", "list"]).lines().count(), 11);
    std::thread::scope(|scope| {
        for one in &prepared {
            // With settings of its own, as a push leaves them: all of them in one file.
            field.repository.git(&["config", &format!("branch.{}.remote", one.branch), "origin"]);
            scope.spawn(|| one.take_back(&path()).expect("taken back"));
        }
    });
    assert_eq!(field.snapshot(), before);
    let config = fs::read_to_string(field.repository.folder.join(".git/config")).expect("read");
    assert!(!config.contains("heyaira/run"), "{config}");
}

#[test]
fn a_lock_of_another_git_is_waited_for() {
    let field = Field::new();
    let prepared = field.prepare(|_| ()).expect("prepared");
    field.repository.git(&["config", &format!("branch.{}.remote", prepared.branch), "origin"]);
    let lock = field.repository.folder.join(".git/config.lock");
    fs::write(&lock, "").expect("written");
    // A git that says when it was not let in.
    let (programs, mark) = (field.under().join("programs"), field.under().join("mark"));
    let real =
        std::env::split_paths(&path()).map(|folder| folder.join("git")).find(|file| file.is_file()).expect("git");
    fs::create_dir(&programs).expect("a folder");
    let script = format!(
        "#!/bin/sh\n'{}' \"$@\" && exit\ncode=$?\ncase \"$*\" in *remove-section*) : > '{}';; esac\nexit $code\n",
        real.display(),
        mark.display()
    );
    fs::write(programs.join("git"), script).expect("written");
    fs::set_permissions(programs.join("git"), fs::Permissions::from_mode(0o755)).expect("executable");
    let folders = std::iter::once(programs).chain(std::env::split_paths(&path()).collect::<Vec<_>>());
    let path = std::env::join_paths(folders).expect("a path");
    std::thread::scope(|scope| {
        let taken = scope.spawn(|| prepared.take_back(&path));
        let until = Instant::now() + Duration::from_mins(1);
        while !mark.exists() && !taken.is_finished() && Instant::now() < until {
            std::thread::yield_now();
        }
        fs::remove_file(&lock).expect("removed");
        taken.join().expect("no panic").expect("taken back");
    });
    assert!(mark.exists(), "nothing was in its way");
}
