//! Each situation of a repository with its verdict and the line that it is told by.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::repository::{Repository, command, git};
use super::{lines, receipt, task, verify};
use crate::program::Place;

/// The situation, made in a folder of its own: where to look, and the receipt.
type Make = fn(&Path) -> (PathBuf, Value);

/// A situation.
struct Situation {
    name: &'static str,
    make: Make,
    verdict: &'static str,
    /// What must stand in the lines, each behind how much it weighs.
    told: &'static [(&'static str, &'static str)],
}

/// A repository whose receipt holds.
fn held(under: &Path) -> (Repository, Value) {
    let repository = Repository::new(under, "one");
    let said = receipt("feat/x", &repository.base, &repository.result);
    (repository, said)
}

const SITUATIONS: &[Situation] = &[
    Situation {
        name: "everything holds, without a remote",
        make: |under| {
            let (repository, said) = held(under);
            (repository.folder, said)
        },
        verdict: "verified",
        told: &[("note", "no remote: nothing of it is pushed")],
    },
    Situation {
        name: "everything holds and is pushed",
        make: |under| {
            let (repository, said) = held(under);
            repository.push(&["main", "feat/x"]);
            (repository.folder, said)
        },
        verdict: "verified",
        told: &[],
    },
    Situation {
        name: "short hashes",
        make: |under| {
            let (repository, _) = held(under);
            repository.push(&["main", "feat/x"]);
            let (base, result) = (&repository.base[..7], repository.result[..8].to_uppercase());
            (repository.folder.clone(), receipt("refs/heads/feat/x", base, &result))
        },
        verdict: "verified",
        told: &[],
    },
    Situation {
        name: "looked at from a folder inside",
        make: |under| {
            let (repository, said) = held(under);
            repository.push(&["main", "feat/x"]);
            let inside = repository.folder.join("a b/ü");
            std::fs::create_dir_all(&inside).expect("a folder");
            (inside, said)
        },
        verdict: "verified",
        told: &[],
    },
    Situation {
        name: "the result is not pushed",
        make: |under| {
            let (repository, said) = held(under);
            repository.push(&["main"]);
            (repository.folder, said)
        },
        verdict: "verified",
        told: &[("note", "is not pushed, as far as this clone knows: git push")],
    },
    Situation {
        name: "ahead of the upstream",
        make: |under| {
            let (repository, said) = held(under);
            repository.push(&["main", "feat/x"]);
            repository.commit("more.txt", "more\n");
            (repository.folder, said)
        },
        verdict: "verified",
        told: &[
            ("note", "branch feat/x is 1 commit ahead of origin/feat/x: git push"),
            ("note", "branch feat/x has 1 commit after result_commit: git log --oneline "),
        ],
    },
    Situation {
        name: "the upstream is gone",
        make: |under| {
            let (repository, said) = held(under);
            repository.push(&["main", "feat/x"]);
            repository.git(&["push", "--quiet", "origin", "--delete", "feat/x"]);
            (repository.folder, said)
        },
        verdict: "verified",
        told: &[("note", "follows origin/feat/x, which is gone")],
    },
    Situation {
        name: "the branch is here only as it was fetched",
        make: |under| {
            let (repository, said) = held(under);
            repository.push(&["main", "feat/x"]);
            (repository.clone_with(&[]), said)
        },
        verdict: "verified",
        told: &[
            ("note", "branch feat/x is here only as it was fetched: git switch --track origin/feat/x"),
            ("note", "HEAD is on main, not on branch \"feat/x\""),
        ],
    },
    Situation {
        name: "the name as it was fetched",
        make: |under| {
            let (repository, _) = held(under);
            repository.push(&["main", "feat/x"]);
            let said = receipt("origin/feat/x", &repository.base, &repository.result);
            (repository.clone_with(&[]), said)
        },
        verdict: "verified",
        told: &[],
    },
    Situation {
        name: "the branch is not fetched",
        make: |under| {
            let (repository, said) = held(under);
            repository.push(&["main"]);
            let clone = repository.clone_with(&[]);
            (clone, said)
        },
        verdict: "unverified",
        told: &[
            (
                "unverified",
                "branch feat/x is not in this clone: git fetch origin feat/x:feat/x, then git switch feat/x",
            ),
            ("unverified", "is not in this clone: git fetch origin feat/x:feat/x, then verify again"),
        ],
    },
    Situation {
        name: "the result is not fetched",
        make: |under| {
            let (repository, _) = held(under);
            repository.push(&["main", "feat/x"]);
            let clone = repository.clone_with(&[]);
            let result = repository.commit("later.txt", "later\n");
            repository.git(&["push", "--quiet", "origin", "feat/x"]);
            (clone, receipt("feat/x", &repository.base, &result))
        },
        verdict: "unverified",
        told: &[("unverified", "is not in this clone: git fetch origin, then verify again")],
    },
    Situation {
        name: "no such branch, and no remote",
        make: |under| {
            let (repository, _) = held(under);
            let said = receipt("feat/y", &repository.base, &repository.result);
            (repository.folder, said)
        },
        verdict: "contradicted",
        told: &[(
            "contradicted",
            "branch feat/y does not exist here, and there is no remote to fetch it from; result_commit is on feat/x: ask",
        )],
    },
    Situation {
        name: "no such commit, and no remote",
        make: |under| {
            let (repository, _) = held(under);
            (repository.folder.clone(), receipt("feat/x", &repository.base, "0123456789"))
        },
        verdict: "contradicted",
        told: &[("contradicted", "result_commit 0123456789 does not exist here")],
    },
    Situation {
        name: "a hash that fits several commits",
        make: |under| {
            let (repository, _) = held(under);
            let prefix = twins(&repository);
            (repository.folder.clone(), receipt("feat/x", &repository.base, &prefix))
        },
        verdict: "unverified",
        told: &[("unverified", "fits 2 commits here: name more of its digits")],
    },
    Situation {
        name: "the hash of a file",
        make: |under| {
            let (repository, _) = held(under);
            let blob = repository.git(&["rev-parse", "HEAD:README"]);
            (repository.folder.clone(), receipt("feat/x", &repository.base, &blob))
        },
        verdict: "contradicted",
        told: &[("contradicted", "is here, but it is no commit")],
    },
    Situation {
        name: "a branch that is named like the hash",
        make: |under| {
            let (repository, _) = held(under);
            repository.git(&["branch", "0123456789"]);
            (repository.folder.clone(), receipt("feat/x", &repository.base, "0123456789"))
        },
        verdict: "contradicted",
        told: &[("contradicted", "result_commit 0123456789 does not exist here")],
    },
    Situation {
        name: "the result is not on the branch",
        make: |under| {
            let (repository, _) = held(under);
            let said = receipt("main", &repository.base, &repository.result);
            (repository.folder, said)
        },
        verdict: "contradicted",
        told: &[
            ("contradicted", "is not on branch main, which ends at "),
            ("contradicted", "but on feat/x: git log --oneline "),
        ],
    },
    Situation {
        name: "the branch was written anew",
        make: |under| {
            let (repository, said) = held(under);
            repository.git(&["commit", "--quiet", "--amend", "--message", "another"]);
            (repository.folder, said)
        },
        verdict: "contradicted",
        told: &[("contradicted", "but on no branch here")],
    },
    Situation {
        name: "the result does not descend from the base",
        make: |under| {
            let (repository, _) = held(under);
            repository.git(&["switch", "--quiet", "main"]);
            let base = repository.commit("later.txt", "later\n");
            let said = receipt("feat/x", &base, &repository.result);
            repository.git(&["switch", "--quiet", "feat/x"]);
            (repository.folder, said)
        },
        verdict: "contradicted",
        told: &[("contradicted", "does not descend from base_commit "), ("contradicted", ": git merge-base ")],
    },
    Situation {
        name: "files that are not committed",
        make: |under| {
            let (repository, said) = held(under);
            repository.write("README", "changed\n");
            repository.write("src.txt", "staged\n");
            repository.git(&["add", "src.txt"]);
            repository.write("new\n1.txt", "new\n");
            repository.write("dir/new 2.txt", "new\n");
            repository.write("dir/new 3.txt", "new\n");
            (repository.folder, said)
        },
        verdict: "verified",
        told: &[("note", "2 uncommitted changes and 3 untracked files, \"README\" among them: git status")],
    },
    Situation {
        name: "a conflict that is not solved",
        make: |under| {
            let (repository, said) = held(under);
            repository.git(&["switch", "--quiet", "--create", "other", "main"]);
            repository.commit("src.txt", "other\n");
            repository.git(&["switch", "--quiet", "feat/x"]);
            assert!(
                !command(&repository.folder, &["merge", "--quiet", "other"]).output().expect("git").status.success()
            );
            (repository.folder, said)
        },
        verdict: "verified",
        told: &[("note", "1 uncommitted change, \"src.txt\" among them: git status")],
    },
    Situation {
        name: "HEAD elsewhere",
        make: |under| {
            let (repository, said) = held(under);
            repository.git(&["switch", "--quiet", "main"]);
            (repository.folder, said)
        },
        verdict: "verified",
        told: &[("note", "HEAD is on main, not on branch \"feat/x\": git switch feat/x")],
    },
    Situation {
        name: "a detached HEAD",
        make: |under| {
            let (repository, said) = held(under);
            repository.git(&["switch", "--quiet", "--detach"]);
            (repository.folder, said)
        },
        verdict: "verified",
        told: &[("note", "HEAD is detached at "), ("note", ", which is result_commit: git switch feat/x")],
    },
    Situation {
        name: "checked out in another working tree",
        make: |under| {
            let (repository, said) = held(under);
            repository.git(&["switch", "--quiet", "main"]);
            repository.git(&["worktree", "add", "--quiet", "../two", "feat/x"]);
            (repository.folder, said)
        },
        verdict: "verified",
        told: &[("note", "branch feat/x is checked out in "), ("note", "/two: go on there")],
    },
    Situation {
        name: "looked at from another working tree",
        make: |under| {
            let (repository, said) = held(under);
            repository.push(&["main", "feat/x"]);
            repository.git(&["switch", "--quiet", "main"]);
            repository.git(&["worktree", "add", "--quiet", "../two", "feat/x"]);
            (under.join("two"), said)
        },
        verdict: "verified",
        told: &[],
    },
    Situation {
        name: "a shallow clone that has the result and not the base",
        make: |under| {
            let (repository, said) = held(under);
            repository.push(&["main", "feat/x"]);
            (repository.clone_with(&["--depth=1", "--branch=feat/x"]), said)
        },
        verdict: "unverified",
        told: &[("unverified", "is not in this shallow clone: git fetch --unshallow origin, then verify again")],
    },
    Situation {
        name: "a shallow clone that has both and not what is between",
        make: |under| {
            let (repository, said) = held(under);
            repository.commit("three.txt", "three\n");
            repository.push(&["main", "feat/x"]);
            let clone = repository.clone_with(&["--depth=1", "--branch=feat/x"]);
            git(&clone, &["fetch", "--quiet", "--depth=1", "origin", &repository.result]);
            git(&clone, &["fetch", "--quiet", "--depth=1", "origin", &repository.base]);
            (clone, said)
        },
        verdict: "unverified",
        told: &[
            ("unverified", " is on branch feat/x cannot be told in a shallow clone: git fetch --unshallow origin"),
            ("unverified", " descends from base_commit "),
        ],
    },
    Situation {
        name: "a shallow clone that has everything that is claimed",
        make: |under| {
            let (repository, said) = held(under);
            repository.git(&["switch", "--quiet", "--create", "next"]);
            repository.push(&["main", "feat/x"]);
            (repository.clone_with(&["--depth=2", "--branch=feat/x"]), said)
        },
        verdict: "verified",
        told: &[],
    },
    Situation {
        name: "a clone without the contents of files, whose origin is gone",
        make: |under| {
            let (repository, said) = held(under);
            let origin = repository.push(&["main", "feat/x"]);
            git(&origin, &["config", "uploadpack.allowFilter", "true"]);
            let clone = repository.clone_with(&["--filter=blob:none", "--branch=feat/x"]);
            std::fs::rename(&origin, origin.with_extension("moved")).expect("moved");
            (clone, said)
        },
        verdict: "verified",
        told: &[],
    },
    Situation {
        name: "a bare repository",
        make: |under| {
            let (repository, said) = held(under);
            (repository.push(&["main", "feat/x"]), said)
        },
        verdict: "verified",
        told: &[("note", "no files are checked out here")],
    },
    Situation {
        name: "something is not committed in a submodule",
        make: |under| {
            let (repository, _) = held(under);
            let inner = Repository::new(under, "inner");
            repository.git(&["submodule", "--quiet", "add", inner.folder.to_str().expect("UTF-8"), "vendor/inner"]);
            repository.git(&["commit", "--quiet", "--message", "inner"]);
            let result = repository.git(&["rev-parse", "HEAD"]);
            repository.write("vendor/inner/README", "changed\n");
            repository.write("vendor/inner/new.txt", "new\n");
            (repository.folder.clone(), receipt("feat/x", &repository.base, &result))
        },
        verdict: "verified",
        told: &[("note", "submodule \"vendor/inner\" has 1 uncommitted change and 1 untracked file: git status there")],
    },
    Situation {
        name: "another commit is checked out in a submodule",
        make: |under| {
            let (repository, _) = held(under);
            let inner = Repository::new(under, "inner");
            repository.git(&["submodule", "--quiet", "add", inner.folder.to_str().expect("UTF-8"), "vendor/inner"]);
            repository.git(&["commit", "--quiet", "--message", "inner"]);
            let result = repository.git(&["rev-parse", "HEAD"]);
            git(&repository.folder.join("vendor/inner"), &["switch", "--quiet", "--detach", "HEAD~1"]);
            (repository.folder.clone(), receipt("feat/x", &repository.base, &result))
        },
        verdict: "verified",
        told: &[("note", "1 uncommitted change, \"vendor/inner\" among them: git status")],
    },
    Situation {
        name: "inside a submodule",
        make: |under| {
            let (repository, _) = held(under);
            let inner = Repository::new(under, "inner");
            repository.git(&["submodule", "--quiet", "add", inner.folder.to_str().expect("UTF-8"), "vendor/inner"]);
            let said = receipt("feat/x", &inner.base, &inner.result);
            (repository.folder.join("vendor/inner"), said)
        },
        verdict: "verified",
        told: &[("note", "this is a submodule of "), ("note", "/one: its commit is recorded there as well")],
    },
    Situation {
        name: "an empty repository",
        make: |under| {
            let folder = under.join("one");
            std::fs::create_dir(&folder).expect("a folder");
            git(&folder, &["init", "--quiet", "--initial-branch=main"]);
            (folder, receipt("main", "", "0123456789"))
        },
        verdict: "contradicted",
        told: &[
            ("contradicted", "branch main does not exist here"),
            ("contradicted", "result_commit 0123456789 does not exist here"),
        ],
    },
    Situation {
        name: "a repository with SHA-256",
        make: |under| {
            let repository = Repository::with(under, "one", &["--object-format=sha256"]);
            assert_eq!(repository.result.len(), 64);
            let said = receipt("feat/x", &repository.base, &repository.result[..12]);
            (repository.folder, said)
        },
        verdict: "verified",
        told: &[],
    },
    Situation {
        name: "a hash of SHA-256 where there are none",
        make: |under| {
            let (repository, _) = held(under);
            (repository.folder.clone(), receipt("feat/x", &repository.base, &"1".repeat(64)))
        },
        verdict: "contradicted",
        told: &[("contradicted", "does not exist here")],
    },
    Situation {
        name: "no branch and no result are claimed",
        make: |under| (held(under).0.folder, receipt("", "", "")),
        verdict: "unverified",
        told: &[("unverified", "names no branch"), ("unverified", "names no result_commit")],
    },
    Situation {
        name: "a branch in marks of code",
        make: |under| {
            let (repository, _) = held(under);
            (repository.folder.clone(), receipt("`feat/x`", &repository.base, &repository.result))
        },
        verdict: "verified",
        told: &[],
    },
    Situation {
        name: "a receipt that says that there is no branch",
        make: |under| {
            let (repository, _) = held(under);
            (repository.folder.clone(), receipt("none", &repository.base, &repository.result))
        },
        verdict: "unverified",
        told: &[("unverified", "names no branch")],
    },
    Situation {
        name: "a whole hash with a digit too many",
        make: |under| {
            let (repository, _) = held(under);
            let result = format!("{}0", repository.result);
            (repository.folder.clone(), receipt("feat/x", &repository.base, &result))
        },
        verdict: "contradicted",
        told: &[("contradicted", "does not exist here")],
    },
    Situation {
        name: "words where names belong",
        make: |under| (held(under).0.folder, receipt("main and feat/x", "see above", "HEAD~1")),
        verdict: "unverified",
        told: &[
            ("unverified", "branch \"main and feat/x\" is no name of one branch"),
            ("unverified", "base_commit \"see above\" is no hash of a commit"),
            ("unverified", "result_commit \"HEAD~1\" is no hash of a commit"),
        ],
    },
];

#[test]
fn every_situation_has_its_verdict_and_its_lines() {
    let place = Place::new();
    let mut wrong = Vec::new();
    for (number, situation) in SITUATIONS.iter().enumerate() {
        let under = place.folder.path().join(format!("situation {number}"));
        std::fs::create_dir(&under).expect("a folder");
        let (folder, said) = (situation.make)(&under);
        let before = snapshot(&under);
        let answer = verify(&place, &task(&place, &said), &folder, &[]);
        let told = answer.json();
        let verdict = told["verdict"].as_str().unwrap_or_default();
        println!("{verdict:12} {}", situation.name);
        let code = match situation.verdict {
            "verified" => 0,
            "contradicted" => 9,
            _ => 10,
        };
        let missing: Vec<_> = situation
            .told
            .iter()
            .filter(|(kind, part)| !lines(&told, kind).iter().any(|line| line.contains(part)))
            .collect();
        if verdict != situation.verdict || answer.code != code || !missing.is_empty() {
            wrong.push(format!("{}: {answer:?}, without {missing:?}", situation.name));
        }
        if before != snapshot(&under) {
            wrong.push(format!("{}: something was written", situation.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every file below a folder, with its content and the time at which it was written.
pub(crate) fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let about = path.symlink_metadata().expect("it is there");
            if about.is_dir() {
                folders.push(path.clone());
            }
            let content = if about.is_file() { std::fs::read(&path).expect("read") } else { Vec::new() };
            found.push((path, content, about.modified().expect("a time")));
        }
    }
    found.sort();
    found
}

/// Makes so many commits that two of them begin with the same digits; answers these.
fn twins(repository: &Repository) -> String {
    let tree = repository.git(&["rev-parse", "HEAD^{tree}"]);
    let mut seen = std::collections::BTreeSet::new();
    // Found by trying: identities and dates are fixed, so it is the same every time.
    for number in 0..2_000 {
        let commit = repository.git(&["commit-tree", &tree, "-m", &number.to_string()]);
        if !seen.insert(commit[..4].to_owned()) {
            return commit[..4].to_owned();
        }
    }
    panic!("no two of 2000 commits begin alike");
}
