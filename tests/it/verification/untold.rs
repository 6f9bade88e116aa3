//! Where nothing can be told: no repository, no git, one that does not answer. Never a contradiction.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use super::repository::{Repository, only_our_settings};
use super::{lines, receipt, task, verify};
use crate::program::{Answer, Place};

/// The only line of an answer that says that nothing could be told, and the sort of obstacle.
fn obstacle(answer: &Answer) -> (String, String) {
    assert_eq!(answer.code, 10, "{answer:?}");
    let told = answer.json();
    assert_eq!(told["verdict"], "unverified");
    let unverified = lines(&told, "unverified");
    assert_eq!(unverified.len(), told["differences"].as_array().map_or(0, Vec::len), "{told}");
    assert_eq!(unverified.len(), 1, "{told}");
    let kind = told["facts"]["obstacle"]["kind"].as_str().expect("an obstacle").to_owned();
    (kind, unverified.into_iter().next().expect("a line"))
}

/// The same with another PATH.
fn verify_with(place: &Place, task: &str, folder: &Path, path: &str) -> Answer {
    let mut command = place.command();
    only_our_settings(&mut command);
    command.env("PATH", path).current_dir(folder);
    command.args(["receipt", "verify", task, "--json", "--project", "ledger", "--repo", "."]);
    command.output().expect("the program runs").into()
}

/// A program by the name of git.
fn false_git(folder: &Path, script: &str) {
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join("git"), format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755)).expect("executable");
}

fn held(place: &Place) -> (Repository, String) {
    let repository = Repository::new(place.folder.path(), "one");
    let task = task(place, &receipt("feat/x", &repository.base, &repository.result));
    (repository, task)
}

#[test]
fn a_folder_without_a_repository() {
    let place = Place::new();
    let (_, task) = held(&place);
    let folder = place.folder.path().join("nothing");
    fs::create_dir(&folder).expect("a folder");
    let (kind, line) = obstacle(&verify(&place, &task, &folder, &[]));
    assert_eq!(kind, "no_repository");
    assert!(line.contains("is in no git repository: name its folder with --repo"), "{line}");
    let absent = verify(&place, &task, &place.folder.path().join("absent"), &[]);
    assert_eq!(absent.code, 2, "{absent:?}");
    assert_eq!(absent.json()["error"]["code"], "invalid_argument");
    let unnamed = place.cli(&["receipt", "verify", &task]);
    assert_eq!(unnamed.code, 2, "{unnamed:?}");
}

#[test]
fn no_git_or_an_old_one() {
    let place = Place::new();
    let (repository, task) = held(&place);
    let empty = place.folder.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    let (kind, line) = obstacle(&verify_with(&place, &task, &repository.folder, empty.to_str().expect("UTF-8")));
    assert_eq!((kind.as_str(), line.as_str()), ("no_git", "there is no git in PATH: install git, then verify again"));
    let old = place.folder.path().join("old");
    false_git(&old, "echo git version 2.30.9");
    let (kind, line) = obstacle(&verify_with(&place, &task, &repository.folder, old.to_str().expect("UTF-8")));
    assert_eq!(kind, "old_git");
    assert!(line.contains("git \"2.30.9\" is too old to be asked safely: install 2.31 or later"), "{line}");
}

#[test]
fn a_git_that_lies_in_the_repository_is_not_run() {
    let place = Place::new();
    let (repository, task) = held(&place);
    false_git(&repository.folder, "touch mark");
    let path = std::env::var("PATH").expect("a PATH");
    let answer = verify_with(&place, &task, &repository.folder, &format!(".::{path}"));
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(!repository.folder.join("mark").exists());
}

#[test]
fn a_repository_of_somebody_else() {
    let place = Place::new();
    let (repository, task) = held(&place);
    let folder = place.folder.path().join("distrusting");
    let path = std::env::var("PATH").expect("a PATH");
    // Git's own switch for tests: a test cannot be another user.
    false_git(&folder, &format!("PATH='{path}' GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec git \"$@\""));
    let answer = verify_with(&place, &task, &repository.folder, folder.to_str().expect("UTF-8"));
    let (kind, line) = obstacle(&answer);
    assert_eq!(kind, "not_trusted");
    assert!(line.contains("dubious ownership") && line.contains("safe.directory"), "{line}");
}

#[test]
fn a_configuration_that_never_ends() {
    let place = Place::new();
    let (repository, task) = held(&place);
    let pipe = place.folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    repository.git(&["config", "include.path", pipe.to_str().expect("UTF-8")]);
    let (kind, line) = obstacle(&verify(&place, &task, &repository.folder, &["--timeout", "1"]));
    assert_eq!(kind, "too_slow");
    assert!(line.contains("verify again with a longer --timeout"), "{line}");
}

#[test]
fn a_configuration_that_is_none() {
    let place = Place::new();
    let (repository, task) = held(&place);
    fs::write(repository.folder.join(".git/config"), "[core\n\u{1b}[31m").expect("written");
    let (kind, line) = obstacle(&verify(&place, &task, &repository.folder, &[]));
    assert_eq!(kind, "failed");
    assert!(line.contains("bad config line 1") && !line.contains('\u{1b}'), "{line}");
}

#[test]
fn a_task_without_a_receipt() {
    let place = Place::new();
    let (repository, _) = held(&place);
    let task = place.task("no receipt");
    let answer = verify(&place, &task, &repository.folder, &[]);
    assert_eq!(answer.code, 10, "{answer:?}");
    assert_eq!(lines(&answer.json(), "unverified"), ["there is no receipt: send one with task_update"]);
    assert_eq!(lines(&answer.json(), "note"), Vec::<String>::new(), "nothing is there to compare with");
    let recorded = verify(&place, &task, &repository.folder, &["--record"]);
    assert_eq!((recorded.code, &recorded.json()["error"]["code"]), (2, &Value::from("not_allowed")));
    let unknown = verify(&place, "00000000", &repository.folder, &[]);
    assert_eq!(unknown.code, 3, "{unknown:?}");
}
