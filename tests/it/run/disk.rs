//! A worktree on a disk that is full.

use std::process::Command;

use super::Yard;
use crate::program::{Answer, HEYAIRA};

/// Runs lines of shell with a small disk at `$DISK`; none where this user may not mount a file system of their own.
#[cfg(target_os = "linux")]
fn on_small_disk(yard: &Yard, lines: &str) -> Option<Answer> {
    let can_mount = Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|output| output.status.success());
    if !can_mount {
        println!("not tested: this user may not mount a file system of their own");
        return None;
    }
    let disk = yard.place.folder.path().join("disk");
    std::fs::create_dir(&disk).expect("a folder");
    let mut command = Command::new("unshare");
    yard.dress(&mut command);
    let lines = format!("mount -t tmpfs -o size=1m disk \"$DISK\" && {lines}");
    command.args(["-rm", "sh", "-c", &lines]);
    command.env("DISK", &disk).env("HEYAIRA", HEYAIRA).env("TOLD", yard.told());
    Some(command.output().expect("it runs").into())
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_in_the_worktree_is_the_harnesses_failure_and_the_report_is_whole() {
    let yard = Yard::new();
    let lines = "exec \"$HEYAIRA\" run start --json --worktree \"$DISK/tree\" -- \
                 sh -c 'echo small >small.txt; head -c 4000000 /dev/zero >big.bin'";
    let Some(answer) = on_small_disk(&yard, lines) else { return };
    let report = answer.json();
    assert_eq!(report["outcome"], "failed", "{report}");
    assert_eq!(report["exit"]["code"], 1);
    assert_eq!(report["work"]["uncommitted_total"], 2, "{report}");
    let log = std::fs::read_to_string(report["log"]["path"].as_str().expect("a path")).expect("a log");
    assert!(log.contains("No space left"), "{log}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_has_no_room_waits_for_it() {
    let yard = Yard::new();
    // It is tried each second.
    let lines = r#"export HEYAIRA_STATE="$DISK/state"
        "$HEYAIRA" run start --json --worktree "$TOLD/tree" -- sh -c '
            git commit --quiet --allow-empty -m Work; head -c 4000000 /dev/zero >"$DISK/full" 2>/dev/null; touch "$TOLD/full"' &
        until test -e "$TOLD/full"; do sleep 0.02; done
        sleep 2.5; rm "$DISK/full"; wait $!"#;
    let Some(answer) = on_small_disk(&yard, lines) else { return };
    assert_eq!(answer.code, 0, "{answer:?}");
    let report = answer.json();
    assert_eq!((&report["outcome"], &report["work"]["commits_total"]), (&"succeeded".into(), &1.into()), "{report}");
}
