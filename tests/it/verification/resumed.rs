//! `heyaira resume --repo`: the packet, and what of the repository differs at the moment of a takeover.

use serde_json::{Value, json};

use super::repository::{Repository, only_our_settings};
use super::situations::snapshot;
use super::{lines, receipt, task, verify};
use crate::program::{Answer, Place};

fn resume(place: &Place, task: &str, more: &[&str]) -> Answer {
    let mut command = place.command();
    only_our_settings(&mut command);
    command.args(["resume", &format!("handoff: {} v2", &task[..8]), "--project", "ledger"]).args(more);
    command.output().expect("the program runs").into()
}

#[test]
fn it_tells_what_differs_and_changes_nothing() {
    let place = Place::new();
    let repository = Repository::new(place.folder.path(), "one");
    repository.push(&["main"]);
    let clone = repository.clone_with(&[]);
    let task = task(&place, &receipt("feat/x", &repository.base, &repository.result));
    std::fs::write(clone.join("new.txt"), "new\n").expect("written");
    let before = snapshot(&clone);
    let folder = clone.to_str().expect("UTF-8");
    let answer = resume(&place, &task, &["--repo", folder, "--json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let packet = answer.json();
    let repo = &packet["repo"];
    assert_eq!((&repo["verdict"], &repo["head"]["branch"]), (&json!("unverified"), &json!("main")));
    assert_eq!(
        lines(repo, "unverified")[0],
        "branch feat/x is not in this clone: git fetch origin feat/x:feat/x, then git switch feat/x"
    );
    assert!(
        lines(repo, "unverified")[1]
            .ends_with("is not in this clone: git fetch origin feat/x:feat/x, then verify again"),
        "{repo}"
    );
    assert!(
        lines(repo, "note").iter().any(|line| line.starts_with("1 untracked file, \"new.txt\" among them")),
        "{repo}"
    );
    assert_eq!(before, snapshot(&clone), "something was written");
    let mut without = resume(&place, &task, &["--json"]).json();
    without["repo"] = repo.clone();
    assert_eq!(timeless(packet), timeless(without), "the packet is the same");
    let text = resume(&place, &task, &["--repo", folder]).out;
    assert!(text.contains("branch feat/x is not in this clone: git fetch origin feat/x"), "{text}");
}

/// Without what the moment of asking makes of it.
fn timeless(mut packet: Value) -> Value {
    packet["idle"] = json!("");
    packet
}

#[test]
fn a_folder_that_is_none_is_refused_and_one_without_a_repository_is_told() {
    let place = Place::new();
    let task = task(&place, &receipt("feat/x", "0123456", "0123456"));
    let refused = resume(&place, &task, &["--repo", "absent", "--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (2, &json!("invalid_argument")));
    let told = resume(&place, &task, &["--repo", ".", "--json"]);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(lines(&told.json()["repo"], "unverified")[0].contains("is in no git repository"), "{told:?}");
}

/// A clone of one branch, which is all that it fetches by itself.
#[test]
fn whoever_does_what_the_lines_say_can_go_on() {
    let place = Place::new();
    let repository = Repository::new(place.folder.path(), "one");
    repository.push(&["main", "feat/x"]);
    for (depth, name) in [("--single-branch", "feat/x"), ("--depth=1", "origin/feat/x")] {
        let clone = repository.clone_with(&[depth]);
        let task = task(&place, &receipt(name, &repository.base, &repository.result));
        let mut rounds = 0;
        loop {
            let told = verify(&place, &task, &clone, &[]);
            let unverified = lines(&told.json(), "unverified");
            let Some(line) = unverified.first() else {
                assert_eq!(told.code, 0, "{told:?}");
                break;
            };
            let (_, commands) = line.split_once(": ").expect("what to do");
            for command in commands.split(", then ").filter(|command| command.starts_with("git ")) {
                let mut shell = std::process::Command::new("sh");
                only_our_settings(&mut shell);
                let run = shell.args(["-c", command]).current_dir(&clone).output().expect("sh");
                assert!(run.status.success(), "{command}: {run:?}");
            }
            rounds += 1;
            assert!(rounds < 5, "{unverified:?}");
        }
        std::fs::remove_dir_all(&clone).expect("removed");
    }
}
