//! A cluster of PostgreSQL of the benchmark's own, kept under `target/bench` between runs because a large database takes
//! minutes to make. It flushes to the disk.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// The unit of the system's accounts: `USER_HZ`, which is 100 wherever Linux runs.
const TICK: Duration = Duration::from_millis(10);

/// A cluster that runs; it is halted when this is dropped.
pub(crate) struct Cluster {
    folder: PathBuf,
    url: String,
}

impl Cluster {
    /// Starts the one that an earlier run left, or a new one.
    pub(crate) fn start(folder: PathBuf) -> Self {
        let started = script().args(["start", text(&folder)]).env("HEYAIRA_TEST_POSTGRES_FSYNC", "on").output();
        let url = said(started.expect("a cluster")).trim().to_owned();
        let cluster = Self { folder, url };
        // What takes effect without a restart; the prefix makes the log readable by a program.
        for setting in ["log_line_prefix = '@@'", "max_wal_size = '4GB'", "synchronous_commit = on"] {
            cluster.sql("postgres", &format!("alter system set {setting}"));
        }
        cluster.sql("postgres", "select pg_reload_conf()");
        cluster
    }

    /// The address of one of its databases.
    pub(crate) fn url(&self, database: &str) -> String {
        let (server, _) = self.url.rsplit_once('/').expect("a database in the URL");
        format!("{server}/{database}")
    }

    /// Where its server logs.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Runs statements; answers their rows as text.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, "-d", &self.url(database)];
        said(self.program("psql").args(arguments).output().expect("psql runs"))
    }

    /// One of the programs that come with the server.
    pub(crate) fn program(&self, name: &str) -> Command {
        let programs = std::fs::read_to_string(self.folder.join("programs")).expect("where its programs are");
        let beside = Path::new(programs.trim()).join(name);
        Command::new(if beside.exists() { beside } else { name.into() })
    }

    /// Makes a database anew, as a copy of another or empty.
    pub(crate) fn create(&self, name: &str, template: &str) {
        self.drop(name);
        self.sql("postgres", &format!("create database {name} template {template} strategy file_copy"));
        self.sql("postgres", "checkpoint");
    }

    /// Removes a database, if there is one of that name.
    pub(crate) fn drop(&self, name: &str) {
        self.sql("postgres", &format!("drop database if exists {name} with (force)"));
    }

    /// The time that all its processes spent on a processor so far; nothing where there is no `/proc`.
    pub(crate) fn processor(&self) -> Option<Duration> {
        let noted = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).ok()?;
        let server = noted.lines().next()?.to_owned();
        let mut ticks = 0;
        for entry in std::fs::read_dir("/proc").ok()?.flatten() {
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            // The second field is the program's name in parentheses. Behind it: state, parent, …; the 12th to 15th are
            // the ticks of the process itself and of its children that ended.
            let Some((head, rest)) = stat.rsplit_once(')') else { continue };
            let fields: Vec<&str> = rest.split_whitespace().collect();
            let own = if head.split_whitespace().next() == Some(&server) { 11..15 } else { 11..13 };
            if own.end == 15 || fields.get(1) == Some(&server.as_str()) {
                ticks += fields[own].iter().filter_map(|ticks| ticks.parse::<u32>().ok()).sum::<u32>();
            }
        }
        Some(TICK * ticks)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = script().args(["halt", text(&self.folder)]).status();
    }
}

fn script() -> Command {
    Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/postgres/cluster.sh"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// What a program wrote that went well.
pub(crate) fn said(output: Output) -> String {
    assert!(output.status.success(), "it failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}
