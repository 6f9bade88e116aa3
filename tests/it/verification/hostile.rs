//! A repository that wants something to be run, and names that want to be options or commands.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::repository::{Repository, command, git};
use super::situations::snapshot;
use super::{lines, receipt, task, verify};
use crate::program::Place;

/// What a repository's configuration can have git run, each leaving a mark of its name.
const RUN: &[(&str, &str)] = &[
    ("core.fsmonitor", "fsmonitor"),
    ("core.pager", "pager"),
    ("core.editor", "editor"),
    ("core.askPass", "askpass"),
    ("core.sshCommand", "ssh"),
    ("core.gitProxy", "proxy"),
    ("core.alternateRefsCommand", "alternates"),
    ("credential.helper", "credential"),
    ("diff.external", "external"),
    ("diff.evil.command", "driver"),
    ("diff.evil.textconv", "textconv"),
    ("filter.evil.clean", "clean"),
    ("filter.evil.smudge", "smudge"),
    ("filter.evil=1.process", "process"),
    ("gpg.program", "gpg"),
    ("interactive.diffFilter", "interactive"),
    ("merge.evil.driver", "merge"),
    ("pager.status", "pager-status"),
    ("remote.origin.uploadpack", "uploadpack"),
    ("trace2.eventTarget", "trace"),
    ("uploadpack.packObjectsHook", "pack"),
];

/// The hooks of git that could follow from reading.
const HOOKS: [&str; 5] =
    ["post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor-watchman"];

pub(crate) struct Trap {
    pub(crate) repository: Repository,
    marks: PathBuf,
}

impl Trap {
    /// A repository with a trap in everything that could run one.
    pub(crate) fn new(under: &Path) -> Self {
        let trap = Self { repository: Repository::new(under, "trap"), marks: under.join("marks") };
        fs::create_dir(&trap.marks).expect("a folder");
        trap.repository.write(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n*.md filter=evil=1\n");
        trap.repository.write("a.md", "text\n");
        trap.repository.git(&["add", "."]);
        trap.repository.git(&["commit", "--quiet", "--message", "attributes"]);
        let config = trap.repository.folder.join(".git/config");
        let mut text = fs::read_to_string(&config).expect("a configuration");
        text.push_str(
            "[include]\n\tpath = ../../more\n[remote \"origin\"]\n\turl = \"ext::touch MARK-ext\"\n\tpromisor = true\n",
        );
        text.push_str(
            "[extensions]\n\tpartialClone = origin\n[log]\n\tshowSignature = true\n[core]\n\thooksPath = ../hooks\n",
        );
        fs::write(&config, text.replace("MARK", trap.marks.join("mark").to_str().expect("UTF-8"))).expect("written");
        for (number, (key, name)) in RUN.iter().enumerate() {
            // Half of them stand in a file that the configuration includes.
            let file = if number % 2 == 0 { config.clone() } else { under.join("more") };
            let program = trap.program(under, name);
            git(under, &["config", "--file", file.to_str().expect("UTF-8"), key, program.to_str().expect("UTF-8")]);
        }
        for (alias, name) in [("status", "alias"), ("rev-parse", "alias"), ("for-each-ref", "alias")] {
            let shell = format!("!{}", trap.program(under, name).display());
            git(under, &["config", "--file", config.to_str().expect("UTF-8"), &format!("alias.{alias}"), &shell]);
        }
        for hook in HOOKS {
            for folder in [under.join("hooks"), trap.repository.folder.join(".git/hooks")] {
                fs::create_dir_all(&folder).expect("a folder");
                let name = format!("hook-{hook}");
                fs::rename(trap.program(under, &name), folder.join(hook)).expect("moved");
            }
        }
        // So that git has to look at the contents, with whatever filters them.
        for name in ["src.txt", "README", "a.md"] {
            let path = trap.repository.folder.join(name);
            let text = fs::read(&path).expect("read");
            fs::remove_file(&path).expect("removed");
            fs::write(&path, text).expect("written");
        }
        trap
    }

    /// A program that leaves a mark.
    fn program(&self, under: &Path, name: &str) -> PathBuf {
        let path = under.join(format!("run {name}").replace(' ', "-"));
        let mark = self.marks.join(name);
        fs::write(&path, format!("#!/bin/sh\ntouch '{}'\ncat 2>/dev/null\n", mark.display())).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        path
    }

    pub(crate) fn marks(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.marks).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

#[test]
fn nothing_that_a_repository_names_is_run_and_nothing_in_it_is_written() {
    let place = Place::new();
    let under = place.folder.path().join("under");
    fs::create_dir(&under).expect("a folder");
    let trap = Trap::new(&under);
    // What is missing would be fetched from where the repository says.
    let missing = "0123456789abcdef0123456789abcdef01234567";
    fs::write(trap.repository.folder.join(".git/refs/heads/missing"), format!("{missing}\n")).expect("written");
    for said in [
        receipt("missing", &trap.repository.base, &trap.repository.result),
        receipt("feat/x", &trap.repository.base, &trap.repository.result),
        receipt("status", missing, missing),
        receipt("-x", &missing[..8], "--upload-pack=x"),
    ] {
        let task = task(&place, &said);
        let before = snapshot(&trap.repository.folder);
        let answer = verify(&place, &task, &trap.repository.folder, &["--record"]);
        assert!([0, 10].contains(&answer.code), "{answer:?}");
        assert_eq!(answer.json()["facts"]["obstacle"], json!(null), "{answer:?}");
        assert_eq!(trap.marks(), Vec::<String>::new(), "{said}");
        assert_eq!(before, snapshot(&trap.repository.folder), "something was written: {said}");
    }
    // The trap is one: whoever asks git without care springs it.
    for words in [&["status"][..], &["diff", "HEAD~1"], &["cat-file", "-e", missing], &["log", "-1"]] {
        let _ = command(&trap.repository.folder, words).env("GIT_ALLOW_PROTOCOL", "ext").output();
    }
    let sprung = trap.marks();
    for name in ["clean", "external", "fsmonitor", "mark-ext", "process"] {
        assert!(sprung.iter().any(|mark| mark == name), "{name} is no trap: {sprung:?}");
    }
}

#[test]
fn a_submodule_that_names_programs_runs_none() {
    let place = Place::new();
    let under = place.folder.path().join("under");
    fs::create_dir(&under).expect("a folder");
    let trap = Trap::new(&under);
    let outer = Repository::new(&under, "outer");
    // Its folder was put where a submodule belongs: git reads the configuration that came with it.
    fs::create_dir(outer.folder.join("vendor")).expect("a folder");
    fs::rename(&trap.repository.folder, outer.folder.join("vendor/trap")).expect("moved");
    let config = outer.folder.join("vendor/trap/.git/config");
    let text =
        fs::read_to_string(&config).expect("read").replace("../../more", under.join("more").to_str().expect("UTF-8"));
    fs::write(&config, text).expect("written");
    let inner = trap.repository.result.clone();
    outer.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{inner},vendor/trap")]);
    outer.git(&["commit", "--quiet", "--message", "a submodule"]);
    for mark in trap.marks() {
        fs::remove_file(trap.marks.join(mark)).expect("removed");
    }
    let result = outer.git(&["rev-parse", "HEAD"]);
    let before = snapshot(&outer.folder);
    let answer = verify(&place, &task(&place, &receipt("feat/x", &outer.base, &result)), &outer.folder, &[]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(trap.marks(), Vec::<String>::new());
    assert_eq!(before, snapshot(&outer.folder), "something was written");
}

#[test]
fn names_are_never_options_and_never_commands() {
    let place = Place::new();
    let repository = Repository::new(place.folder.path(), "one");
    let commit = repository.git(&["rev-parse", "HEAD"]);
    let hostile =
        ["--upload-pack=x", "-d", "$(touch${IFS}pwned)", "a;touch pwned;b".split(' ').next().expect("a part"), "it's"];
    for name in hostile {
        repository.git(&["update-ref", &format!("refs/heads/{name}"), &commit]);
        let answer = verify(&place, &task(&place, &receipt(name, &repository.base, &commit)), &repository.folder, &[]);
        assert_eq!(answer.code, 0, "{name}: {answer:?}");
        let head = lines(&answer.json(), "note").into_iter().find(|line| line.starts_with("HEAD")).expect("a line");
        let (_, told) = head.rsplit_once(": ").expect("a command");
        // A shell must do with it what it says, and nothing else.
        let run =
            std::process::Command::new("sh").arg("-c").arg(told).current_dir(&repository.folder).output().expect("sh");
        assert!(run.status.success(), "{told}: {run:?}");
        assert_eq!(repository.git(&["rev-parse", "HEAD"]), commit);
        repository.git(&["switch", "--quiet", "feat/x"]);
        assert!(!repository.folder.join("pwned").exists(), "{told}");
    }
    for name in ["one\ntwo", "@{-1}", "feat/x^{commit}", "..", "refs/heads/", "HEAD", "a b", &"x".repeat(5_000)] {
        let answer = verify(&place, &task(&place, &receipt(name, &repository.base, &commit)), &repository.folder, &[]);
        assert_eq!(answer.code, 10, "{name}: {answer:?}");
        assert!(answer.out.len() < 8_000, "{} bytes", answer.out.len());
    }
}

#[test]
fn ten_thousand_files_are_two_words() {
    let place = Place::new();
    let repository = Repository::new(place.folder.path(), "one");
    fs::create_dir(repository.folder.join("many")).expect("a folder");
    for number in 0..10_000 {
        fs::write(repository.folder.join(format!("many/a file that nobody committed {number}")), "").expect("written");
    }
    let said = receipt("feat/x", &repository.base, &repository.result);
    let answer = verify(&place, &task(&place, &said), &repository.folder, &["--record"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(answer.json()["facts"]["changes"]["untracked"], 10_000);
    assert!(answer.out.len() < 4_000, "{} bytes", answer.out.len());
}

#[test]
fn no_credential_of_an_address_is_told_or_kept() {
    let place = Place::new();
    let repository = Repository::new(place.folder.path(), "one");
    // Put together here, so that no file of ours holds what looks like one.
    let secret = ["s3cr", "et-of", "-maria"].concat();
    let addresses = [
        format!("https://maria:{secret}@git.example.org/acme/ledger.git"),
        format!("https://{secret}@git.example.org:8443/acme/ledger"),
        format!("ssh://{secret}@git.example.org/acme/ledger.git?token={secret}"),
        format!("{secret}@git.example.org:acme/ledger.git#{secret}"),
    ];
    for (number, address) in addresses.iter().enumerate() {
        repository.git(&["remote", "add", &format!("r{number}"), address]);
    }
    let task = task(&place, &receipt("feat/x", &repository.base, &repository.result));
    place.ask(&[
        "task",
        "update",
        &task,
        "--expected-version",
        "2",
        "--handoff-completed",
        "In the repository acme/Ledger.",
    ]);
    let answer = verify(&place, &task, &repository.folder, &["--record"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(!answer.out.contains(&secret), "{}", answer.out);
    assert_eq!(answer.json()["facts"]["repository"]["remotes"][0]["url"], "https://git.example.org/acme/ledger.git");
    assert!(!lines(&answer.json(), "note").iter().any(|line| line.contains("does not name")), "{answer:?}");
    let kept = place.database.texts("select facts from verification");
    assert!(!format!("{kept:?}").contains(&secret));
    place.ask(&[
        "task",
        "update",
        &task,
        "--expected-version",
        "3",
        "--handoff-completed",
        "In the repository acme/other.",
    ]);
    let told = lines(&verify(&place, &task, &repository.folder, &[]).json(), "note");
    assert!(told.iter().any(|line| line.contains("the handoff does not name \"acme/ledger\"")), "{told:?}");
}
