//! `scripts/heyaira-run.sh`, as `sh` and `dash` read it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::{Yard, json_of, processes_of};
use crate::program::HEYAIRA;

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join("heyaira-run.sh")
}

#[test]
fn rw_038_a_timeout_ends_the_whole_group() {
    let yard = Yard::new();
    let mut command = Command::new(script());
    yard.dress(&mut command);
    command.env("HEYAIRA", HEYAIRA);
    command.args(["--timeout", "3", "--", "sh", "-c", "(sleep 60; touch late.txt) & sleep 60"]);
    let began = Instant::now();
    let output = command.output().expect("the script runs");
    assert!(began.elapsed() < Duration::from_secs(8), "it took {:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(16), "{output:?}");
    let run = yard.runs().pop().expect("a run");
    let folder = yard.state().join("runs").join(&run);
    let report = json_of(&folder.join("run-report.json")).expect("a report");
    assert_eq!(report["outcome"], "timed_out");
    assert_eq!(processes_of(&run), [0; 0]);
    let worktree = folder.join(format!("heyaira-{}", &run[..8]));
    assert!(worktree.is_dir() && !worktree.join("late.txt").exists());
}

#[test]
fn the_script_is_plain_and_says_what_is_missing() {
    for shell in ["sh", "dash"] {
        let checked = Command::new(shell).arg("-n").arg(script()).output();
        assert!(checked.is_ok_and(|output| output.status.success()), "{shell}");
    }
    let output = Command::new(script()).env("HEYAIRA", "no-such-heyaira").output().expect("the script runs");
    assert_eq!(output.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-heyaira"));
}
