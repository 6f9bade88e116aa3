//! The processes that are asked: the server as it is shipped, and the echo.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::database::{Database, PROJECT};
use crate::echo;

/// The unit of the system's accounts: `USER_HZ`, which is 100 wherever Linux runs.
const TICK: Duration = Duration::from_millis(10);

/// A process that listens.
pub(crate) struct Process {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Kept open: the echo ends with it.
    _input: Option<ChildStdin>,
}

impl Process {
    /// `heyaira serve` as a release has it, on a database of this run; what it logs goes into a file.
    pub(crate) fn server(database: impl AsRef<OsStr>, log: &Path) -> Self {
        let log = File::create(log).expect("a log");
        let mut command = heyaira(database);
        command.args(["serve", "--listen", "127.0.0.1:0", "--json"]).stderr(log);
        Self::start(command)
    }

    /// The echo, whose tool answers this text.
    pub(crate) fn echo(text: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args([echo::ARGUMENT, text]);
        Self::start(command)
    }

    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("its first line");
        let told: Value = serde_json::from_str(&line).expect("where it listens");
        let address = told["listening"].as_str().and_then(|address| address.parse().ok()).expect("an address");
        Self { address, _input: child.stdin.take(), child }
    }

    /// The time that all its threads spent on a processor so far, in steps of 10 ms; nothing where there is no `/proc`.
    pub(crate) fn processor(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The second field is the program's name in parentheses, the 14th and 15th are ticks.
        let (_, rest) = text.rsplit_once(')')?;
        let ticks = rest.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u32>().ok());
        ticks.sum::<Option<u32>>().map(|ticks| TICK * ticks)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nobody reads its database again.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn heyaira(database: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heyaira"));
    command.env("HEYAIRA_DATABASE", database.as_ref()).env_remove("RUST_LOG");
    command
}

/// A copy of a generated database for this run, so that runs do not age it, and a token for it.
pub(crate) fn copied(database: &Database) -> (PathBuf, String) {
    let copy = database.path.with_file_name(format!("http-{}.db", database.size));
    for leftover in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{leftover}", copy.display()));
    }
    std::fs::copy(&database.path, &copy).expect("copied");
    File::open(&copy).and_then(|file| file.sync_all()).expect("on disk");
    let token = token(&copy, "agent");
    (copy, token)
}

/// A new token of that name for a database.
pub(crate) fn token(database: impl AsRef<OsStr>, name: &str) -> String {
    let create = ["token", "create", name, "--project", PROJECT, "--json"];
    let output = heyaira(database).args(create).output().expect("it runs");
    let told: Value = serde_json::from_slice(&output.stdout).expect("an answer");
    let token = told["token"].as_str().map(str::to_owned);
    token.unwrap_or_else(|| panic!("no token: {told}"))
}
