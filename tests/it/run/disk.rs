//! A worktree on a disk that is full.

use std::process::Command;

use super::Yard;
use crate::program::{Answer, HEYAIRA};

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_in_the_worktree_is_the_harnesses_failure_and_the_report_is_whole() {
    let can_mount = Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|output| output.status.success());
    if !can_mount {
        println!("not tested: this user may not mount a file system of their own");
        return;
    }
    let yard = Yard::new();
    let disk = yard.place.folder.path().join("disk");
    std::fs::create_dir(&disk).expect("a folder");
    let run = "mount -t tmpfs -o size=1m disk \"$DISK\" && exec \"$HEYAIRA\" run start --json --worktree \"$DISK/tree\" -- \
               sh -c 'echo small >small.txt; head -c 4000000 /dev/zero >big.bin'";
    let mut command = Command::new("unshare");
    yard.dress(&mut command);
    command.args(["-rm", "sh", "-c", run]).env("DISK", &disk).env("HEYAIRA", HEYAIRA);
    let answer: Answer = command.output().expect("it runs").into();
    let report = answer.json();
    assert_eq!(report["outcome"], "failed", "{report}");
    assert_eq!(report["exit"]["code"], 1);
    assert_eq!(report["work"]["uncommitted_total"], 2, "{report}");
    let log = std::fs::read_to_string(report["log"]["path"].as_str().expect("a path")).expect("a log");
    assert!(log.contains("No space left"), "{log}");
}
