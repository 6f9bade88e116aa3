//! The database that all servers of a run share, and the processes of ours on it.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::chaos::ports;
use crate::program::{Answer, HEYAIRA};

/// The project of a run.
pub const PROJECT: &str = "ledger";
/// How many credentials the clients share.
const TOKENS: usize = 8;
/// How soon a process that ended is looked after.
const AGAIN: Duration = Duration::from_millis(20);
/// How soon a server that ended by itself is started again, as a supervisor would.
const PAUSE: Duration = Duration::from_millis(250);

/// One database with one project.
pub struct Home {
    folder: tempfile::TempDir,
    database: String,
    /// The profile's string.
    pub write_context: String,
    /// Credentials that may write.
    pub tokens: Vec<String>,
}

impl Home {
    /// Makes the database, which is a file in its folder where none is named.
    pub fn new(database: Option<String>) -> Self {
        let folder = tempfile::Builder::new().prefix("heyaira-chaos-").tempdir().expect("a temporary folder");
        let file = || folder.path().join("data").join("heyaira.db").to_str().expect("UTF-8").to_owned();
        let database = database.unwrap_or_else(file);
        let mut home = Self { folder, database, write_context: String::new(), tokens: Vec::new() };
        home.done(&["init"]);
        home.done(&["project", "create", PROJECT]);
        let profile = home.done(&["profile", PROJECT, "--json"]).json();
        profile["write_context"].as_str().expect("a write_context").clone_into(&mut home.write_context);
        for number in 0..TOKENS {
            let name = format!("client-{number}");
            let made = home.done(&["token", "create", &name, "--project", PROJECT, "--role", "write", "--json"]).json();
            home.tokens.push(made["token"].as_str().expect("a token").to_owned());
        }
        home
    }

    /// The database, as it is named on the command line.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Runs a command that must succeed.
    pub fn done(&self, words: &[&str]) -> Answer {
        let answer = self.run(words);
        assert_eq!(answer.code, 0, "{words:?}: {answer:?}");
        answer
    }

    /// Runs a command.
    pub fn run(&self, words: &[&str]) -> Answer {
        self.command().args(words).output().expect("the program runs").into()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(HEYAIRA);
        command.env_clear().current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("HEYAIRA_DATABASE", &self.database).env("HOME", self.folder.path()).env("USER", "maria");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.folder.disable_cleanup(true);
            println!("kept: {}", self.folder.path().display());
        }
    }
}

/// One server, which comes back at the same address whenever it has ended.
pub struct Server {
    number: usize,
    /// Where it listens.
    pub address: SocketAddr,
    process: Mutex<Option<Child>>,
    /// How often it ended without being killed.
    pub ended_by_itself: AtomicU64,
}

impl Server {
    /// A server of the home, which is listening.
    pub fn start(home: &Home, number: usize) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], ports::free()));
        let server = Self { number, address, process: Mutex::new(None), ended_by_itself: AtomicU64::new(0) };
        let output = server.launch(home, Stdio::piped()).expect("a pipe");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("no JSON ({error}): {line}"));
        assert_eq!(told["listening"], address.to_string());
        server
    }

    /// Kills it at once; false if it was down.
    pub fn kill(&self) -> bool {
        let Some(mut child) = self.process.lock().expect("no holder panics").take() else { return false };
        child.kill().expect("the process is ours");
        child.wait().expect("it ends");
        true
    }

    /// Starts it again.
    pub fn restart(&self, home: &Home) {
        // Nobody reads what it prints; the clients find it where it was.
        self.launch(home, Stdio::null());
    }

    /// Until the stop: starts it again when it has ended by itself.
    pub fn look_after(&self, home: &Home, stop: &AtomicBool) {
        let mut ended_at: Option<Instant> = None;
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(AGAIN);
            let ended = self.process.lock().expect("no holder panics").as_mut().is_some_and(has_ended);
            match ended_at {
                None if ended => {
                    self.ended_by_itself.fetch_add(1, Ordering::Relaxed);
                    ended_at = Some(Instant::now());
                }
                Some(at) if at.elapsed() >= PAUSE => {
                    ended_at = None;
                    if ended {
                        self.restart(home);
                    }
                }
                _ => {}
            }
        }
    }

    fn launch(&self, home: &Home, output: Stdio) -> Option<ChildStdout> {
        let log = home.folder.path().join(format!("server-{}.log", self.number));
        let log = OpenOptions::new().create(true).append(true).open(log).expect("a log");
        let mut command = home.command();
        command.args(["serve", "--json", "--listen", &self.address.to_string()]);
        let mut child = command.stdout(output).stderr(log).spawn().expect("the program runs");
        let output = child.stdout.take();
        *self.process.lock().expect("no holder panics") = Some(child);
        output
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn has_ended(child: &mut Child) -> bool {
    child.try_wait().is_ok_and(|status| status.is_some())
}
