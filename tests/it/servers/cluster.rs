//! A PostgreSQL cluster of one test: it can be stopped, frozen and set up as the test needs it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use crate::database::TestDatabase;
use crate::program::Place;

/// How long something may take before the test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A running cluster. Gone when it is dropped.
pub struct Cluster {
    folder: PathBuf,
    /// Where its database is.
    pub url: String,
    _holder: tempfile::TempDir,
}

impl Cluster {
    /// A new one.
    pub fn start() -> Self {
        let holder = tempfile::tempdir().expect("a temporary folder");
        open_to_all(holder.path());
        let folder = holder.path().join("cluster");
        let url = script(&["start", folder.to_str().expect("UTF-8")]);
        Self { folder, url: url.trim().to_owned(), _holder: holder }
    }

    /// A place on its database.
    pub fn place(&self) -> Place {
        Place::on(|_| TestDatabase::elsewhere(self.url.clone()))
    }

    /// Its data.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The URL with settings behind it.
    pub fn url_with(&self, settings: &str) -> String {
        format!("{}?{settings}", self.url)
    }

    /// The first column of all rows of a query, or nothing for what has none.
    pub fn ask(&self, sql: &str) -> Vec<String> {
        Session::new(&self.url).ask(sql)
    }

    /// Waits until a query answers with one row that says this.
    pub fn wait_for(&self, sql: &str, answer: &str) {
        let session = Session::new(&self.url);
        until(|| session.ask(sql) == [answer], &format!("{sql} = {answer}"));
    }

    /// Ends it at once, as a crash does.
    pub fn stop(&self) {
        self.control(&["stop", "--mode=immediate"]);
    }

    /// Starts it again, on the same port.
    pub fn start_again(&self) {
        let port = format!("--options=-p {}", self.port());
        self.control(&["start", &port, &format!("--log={}", self.folder.join("log").display())]);
    }

    /// Adds settings, and starts it anew with them.
    pub fn set(&self, settings: &str) {
        let file = self.data().join("postgresql.conf");
        let text = std::fs::read_to_string(&file).expect("the settings");
        std::fs::write(&file, format!("{text}\n{settings}\n")).expect("the settings");
        self.stop();
        self.start_again();
    }

    /// Starts it anew as a standby, of a primary that is gone.
    pub fn become_standby(&self) {
        std::fs::write(self.data().join("standby.signal"), "").expect("a file");
        self.stop();
        self.start_again();
    }

    /// Stops all its processes where they are.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Has them go on.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let file = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let Some(first) = file.lines().next().and_then(|line| line.parse().ok()) else { return };
        for process in std::iter::once(first).chain(children(first)) {
            // One may have ended since it was found.
            let _ = kill_process(Pid::from_raw(process).expect("not 0"), signal);
        }
    }

    fn port(&self) -> &str {
        self.url.rsplit(':').next().and_then(|rest| rest.split('/').next()).expect("a port")
    }

    fn control(&self, words: &[&str]) {
        let programs = std::fs::read_to_string(self.folder.join("programs")).expect("where the programs are");
        let program = Path::new(programs.trim()).join("pg_ctl");
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", &owner(&self.folder), "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(words).arg("--pgdata").arg(self.data()).args(["--wait", "--silent"]).current_dir("/");
        // What it starts must not hold a pipe of ours.
        let status = command.stdout(std::process::Stdio::null()).status().expect("pg_ctl");
        assert!(status.success(), "{words:?}");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.thaw();
        script(&["stop", self.folder.to_str().expect("UTF-8")]);
    }
}

fn script(words: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/postgres/cluster.sh");
    let output = Command::new(script).args(words).output().expect("the script runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The cluster's user must come through to its own folder.
fn open_to_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o711)).expect("permissions");
}

/// The name of a file's owner.
pub fn owner(path: &Path) -> String {
    let output = Command::new("stat").args(["-c", "%U"]).arg(path).output().expect("stat");
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

fn children(of: i32) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter(|number| {
            let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
            // The name stands in parentheses and may hold anything.
            let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
            parent.and_then(|parent| parent.parse().ok()) == Some(of)
        })
        .collect()
}

/// Asks again and again until it is so.
pub fn until(mut is_so: impl FnMut() -> bool, what: &str) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A connection of the test's own.
pub struct Session {
    runtime: Runtime,
    client: Client,
}

impl Session {
    /// Connects.
    pub fn new(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls)).expect("the cluster");
        runtime.spawn(connection);
        Self { runtime, client }
    }

    /// The first column of all rows.
    pub fn ask(&self, sql: &str) -> Vec<String> {
        let told = self.runtime.block_on(self.client.simple_query(sql));
        let told = told.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let row = |message: &SimpleQueryMessage| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        };
        told.iter().filter_map(row).collect()
    }
}
