//! Unattended runs through the real program: a repository, a harness that is a few lines of shell, and the report.
#![cfg(unix)]

mod bounds;
mod coordinator;
mod disk;
mod disorder;
mod handled;
mod killed;
mod logs;
mod losses;
mod many;
mod outcome;
mod outcomes;
mod places;
mod refused;
mod script;
mod spoiled;
mod stopped;
mod totals;
mod unknown;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Answer, Place};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_mins(2);

/// A place with a repository, and runs of its own.
struct Yard {
    place: Place,
    repository: PathBuf,
}

impl Yard {
    fn new() -> Self {
        let place = Place::new();
        let repository = place.folder.path().join("repository");
        std::fs::create_dir(&repository).expect("a folder");
        let settings = "[user]\n\tname = Maria\n\temail = maria@example.org\n";
        std::fs::write(place.folder.path().join(".gitconfig"), settings).expect("a file");
        let yard = Self { place, repository };
        yard.git(&["init", "--quiet", "--initial-branch=main"]);
        yard.git(&["commit", "--quiet", "--allow-empty", "-m", "Begin"]);
        yard
    }

    fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        self.place.dress(&mut command);
        let output = command.current_dir(&self.repository).args(words).output().expect("git runs");
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// A command in the repository, with this place's state.
    fn dress(&self, command: &mut Command) {
        self.place.dress(command);
        command.current_dir(&self.repository).stdin(Stdio::null());
        command.env("HEYAIRA_STATE", self.state()).env("HEYAIRA_PROJECT", "ledger");
    }

    fn state(&self) -> PathBuf {
        self.place.folder.path().join("state")
    }

    /// A folder for what a harness and its test tell each other.
    fn told(&self) -> PathBuf {
        let folder = self.place.folder.path().join("told");
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    /// `heyaira run …`.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.place.command();
        self.dress(&mut command);
        command.env("TOLD", self.told()).arg("run").args(words);
        command
    }

    fn run(&self, words: &[&str]) -> Answer {
        self.command(words).output().expect("the program runs").into()
    }

    /// The same, which must answer within a time.
    fn in_time(&self, words: &[&str]) -> Answer {
        let mut command = self.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let until = Instant::now() + PATIENCE;
        while child.try_wait().expect("it is ours").is_none() {
            if Instant::now() > until {
                child.kill().expect("it is ours");
                panic!("{words:?} hangs");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        child.wait_with_output().expect("it ended").into()
    }

    /// Runs lines of shell to their end; the report and the exit code.
    fn shell(&self, flags: &[&str], lines: &str) -> (Value, i32) {
        let words = [&["start", "--json"], flags, &["--", "sh", "-c", lines]].concat();
        let answer = self.run(&words);
        (answer.json(), answer.code)
    }

    /// Starts lines of shell without waiting for them.
    fn detached(&self, flags: &[&str], lines: &str) -> Detached {
        let words = [&["start", "--json", "--detach"], flags, &["--", "sh", "-c", lines]].concat();
        let answer = self.run(&words);
        assert_eq!(answer.code, 0, "{answer:?}");
        let told = answer.json();
        let text = |name: &str| told[name].as_str().expect("text").to_owned();
        Detached { id: text("run_id"), folder: text("folder").into(), worktree: text("worktree").into() }
    }

    /// The ids of all runs that have a folder.
    fn runs(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.state().join("runs")).into_iter().flatten().flatten();
        entries.filter(|entry| entry.path().is_dir()).filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }
}

/// A run that goes on without anybody who waits for it.
struct Detached {
    id: String,
    folder: PathBuf,
    worktree: PathBuf,
}

impl Detached {
    fn report(&self) -> Option<Value> {
        json_of(&self.folder.join("run-report.json"))
    }

    /// Waits for its report.
    fn ended(&self) -> Value {
        wait_for("the report", || self.report())
    }

    fn progress(&self) -> Value {
        json_of(&self.folder.join("progress.json")).unwrap_or_default()
    }

    fn watcher(&self) -> i32 {
        let number = wait_for("the watcher", || self.progress()["watcher"][0].as_i64());
        i32::try_from(number).expect("a number of a process")
    }
}

/// What a file says; nothing where it is none, such as a pipe that nobody writes into.
fn json_of(path: &Path) -> Option<Value> {
    path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Asks again until there is an answer.
fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}

/// The processes whose environment says that they belong to a run.
#[cfg(target_os = "linux")]
fn processes_of(run_id: &str) -> Vec<i32> {
    let mark = format!("HEYAIRA_RUN={run_id}");
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_marked = |id: &i32| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    ids.filter(is_marked).collect()
}

#[cfg(not(target_os = "linux"))]
fn processes_of(_run_id: &str) -> Vec<i32> {
    Vec::new()
}

/// True while there is a process of that number that has not ended.
fn is_alive(id: i32) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", &id.to_string()]).output().expect("ps runs");
    let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// The number that a harness wrote into a file, once it is there.
fn number_in(path: &Path) -> i32 {
    wait_for("a number", || std::fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'))?.trim().parse().ok())
}

fn signal(id: i32, signal: rustix::process::Signal) {
    let id = rustix::process::Pid::from_raw(id).expect("a process");
    rustix::process::kill_process(id, signal).expect("the process is there");
}
