//! Many runs at once, to which everything happens: what watches over them and who started them is killed or stopped, their
//! files are taken away. Every one is reported, nothing of any goes on, and nobody hangs.
//!
//! `HEYAIRA_DISORDER_SEED` and `HEYAIRA_DISORDER_SECONDS` say with which numbers and for how long.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Yard, json_of, processes_of, wait_until};
use crate::dice::Dice;

/// How many runs there are at once.
const AT_ONCE: usize = 20;
/// What harnesses do.
const HARNESSES: [&str; 7] = [
    "sleep 0.$((RANDOM % 10)); git commit --quiet --allow-empty -m Work",
    "echo work >work.txt; sleep 1; exit 3",
    "trap '' TERM; (setsid sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' >/dev/null 2>&1 &); sleep 2",
    "sleep 0.5; trap '' TERM; while :; do kill -STOP $PPID; sleep 0.1; done",
    "sleep 0.5; kill -9 $PPID; sleep 600",
    "yes | head -c 3000000; kill -STOP $$; sleep 600",
    "sleep 600 & wait",
];
/// What is taken away of a run's folder, or replaced.
const FILES: [&str; 6] =
    ["progress.json", "owner.lock", "place.lock", "output.log", "starting.lock", "run-report.json"];

/// The runs of a yard, and who started them.
struct Disorder {
    yard: Yard,
    dice: Dice,
    starters: Vec<Child>,
}

impl Disorder {
    fn folders(&self) -> Vec<PathBuf> {
        self.yard.runs().iter().map(|run| self.yard.state().join("runs").join(run)).collect()
    }

    fn going(&self) -> Vec<PathBuf> {
        self.folders().into_iter().filter(|folder| !folder.join("run-report.json").exists()).collect()
    }

    fn step(&mut self) {
        let going = self.going();
        self.starters.retain_mut(|starter| starter.try_wait().expect("it is ours").is_none());
        // One that begins has no folder yet.
        if going.len().max(self.starters.len()) < AT_ONCE && self.dice.percent(70) {
            return self.start();
        }
        if going.is_empty() {
            return;
        }
        let folder = going[self.dice.below(going.len())].clone();
        let id = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let watcher = json_of(&folder.join("progress.json")).and_then(|progress| progress["watcher"][0].as_i64());
        let watcher = watcher.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let signal = |signal: Signal| watcher.map(|id| kill_process(id, signal));
        match self.dice.below(7) {
            0 => drop(signal(Signal::KILL)),
            1 => {
                signal(Signal::STOP);
                let stopped = self.yard.in_time(&["stop", &id, "--json"]);
                // A run that was not begun when its starter was killed may be gone.
                assert!([0, 3].contains(&stopped.code), "{stopped:?}");
            }
            2 => {
                signal(Signal::STOP);
                signal(Signal::CONT);
            }
            3 => {
                let _ = std::fs::remove_file(folder.join(FILES[self.dice.below(FILES.len())]));
            }
            4 => {
                let file = folder.join(FILES[self.dice.below(FILES.len())]);
                let _ = std::fs::remove_file(&file);
                let _ = std::process::Command::new("mkfifo").arg(&file).stderr(Stdio::null()).status();
            }
            5 if !self.starters.is_empty() => {
                let chosen = self.dice.below(self.starters.len());
                let mut starter = self.starters.swap_remove(chosen);
                let _ = starter.kill();
                starter.wait().expect("it ended");
            }
            _ => drop(self.yard.in_time(&["list", "--json"])),
        }
    }

    fn start(&mut self) {
        let lines = HARNESSES[self.dice.below(HARNESSES.len())];
        let mut words = vec!["start", "--max", "8", "--timeout", "4", "--silence", "3", "--test", "sleep 0.2"];
        let is_detached = self.dice.percent(50);
        if is_detached {
            words.push("--detach");
        }
        words.extend(["--", "bash", "-c", lines]);
        let starter = self.yard.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        self.starters.push(starter);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn in_all_disorder_every_run_is_reported_and_nothing_is_left() {
    let seconds = std::env::var("HEYAIRA_DISORDER_SECONDS").ok().and_then(|given| given.parse().ok()).unwrap_or(8);
    let seed = Dice::seed("HEYAIRA_DISORDER_SEED");
    println!("HEYAIRA_DISORDER_SEED={seed}");
    let mut disorder = Disorder { yard: Yard::new(), dice: Dice::new(seed), starters: Vec::new() };
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        disorder.step();
    }
    let begun = Instant::now();
    wait_until("all are over", || {
        disorder.starters.retain_mut(|starter| starter.try_wait().expect("it is ours").is_none());
        let listed = disorder.yard.in_time(&["list", "--json"]).json();
        let working = listed["working"].as_array().cloned().unwrap_or_default();
        // Those whose watcher is stopped stay so until somebody ends them.
        for id in working.iter().filter(|row| row["watcher"].is_string()).filter_map(|row| row["run"].as_str()) {
            let stopped = disorder.yard.in_time(&["stop", id, "--json"]);
            assert_eq!(stopped.code, 0, "{stopped:?}");
        }
        working.is_empty() && disorder.starters.is_empty()
    });
    println!("all were over {:?} later", begun.elapsed());
    let folders = disorder.folders();
    println!("{} runs", folders.len());
    for folder in &folders {
        let report = json_of(&folder.join("run-report.json"));
        let report = report.unwrap_or_else(|| panic!("{} has no report", folder.display()));
        println!("{} {} {}", report["outcome"], report["reason"], report["problems"]);
        assert_eq!(processes_of(report["run_id"].as_str().expect("an id")), [0; 0]);
    }
    let cleaned = disorder.yard.in_time(&["clean", "--all", "--force", "--json"]);
    let told = cleaned.json();
    assert_eq!((cleaned.code, &told["kept"]), (0, &serde_json::Value::Null), "{}", told["error"]);
    assert_eq!(told["cleaned"].as_array().map(Vec::len), Some(folders.len()));
    let yard = &disorder.yard;
    assert_eq!(yard.runs(), [""; 0]);
    assert_eq!(yard.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    let locks = std::process::Command::new("find").arg(yard.repository.join(".git")).args(["-name", "*.lock"]).output();
    assert_eq!(String::from_utf8(locks.expect("find runs").stdout).expect("text"), "");
}
