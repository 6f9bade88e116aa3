//! Two PostgreSQL nodes in a folder of their own: a primary, and a standby that every commit waits for.
//!
//! What is acknowledged is on both, so the standby may take over at any moment at which it is the synchronous one. What
//! must never be done: promote it while the old primary lives, or before it has all that was acknowledged.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::chaos::ports;

/// How long a step of a node may take before the test fails.
const PATIENCE: Duration = Duration::from_mins(1);
/// How soon a node is asked again whether it is so far.
const AGAIN: Duration = Duration::from_millis(20);

/// What both nodes are set to. `wal_log_hints` is what `pg_rewind` needs, and so are the kept logs.
const SETTINGS: &str = "
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = on
synchronous_commit = on
full_page_writes = on
wal_log_hints = on
wal_keep_size = '128MB'
wal_retrieve_retry_interval = '200ms'
shared_buffers = '64MB'
max_connections = 200
timezone = 'UTC'
";

/// One node.
struct Node {
    name: &'static str,
    folder: PathBuf,
    port: u16,
    process: Option<Child>,
}

/// The primary and its standby.
pub struct Nodes {
    both: [Node; 2],
    primary: usize,
    account: Account,
    folder: tempfile::TempDir,
}

/// How a primary dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// Its first process is killed; the others notice and end.
    Postmaster,
    /// All its processes are killed at once, as if the machine were gone.
    Machine,
}

/// How an old primary became the standby.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejoined {
    /// What it had more than the new one was taken back.
    Rewound,
    /// That was not possible, and it was copied anew.
    Copied,
}

/// The account that PostgreSQL runs under: it refuses to be root.
struct Account {
    programs: PathBuf,
    owner: Option<(u32, u32)>,
}

impl Account {
    fn of_this_machine() -> Self {
        let named = std::env::var_os("HEYAIRA_TEST_POSTGRES_BIN").map(PathBuf::from);
        let mut folders: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
            .map(|entries| entries.flatten().map(|entry| entry.path().join("bin")).collect())
            .unwrap_or_default();
        folders.retain(|folder| folder.join("initdb").exists());
        folders.sort();
        let programs = named.or(folders.pop()).expect("PostgreSQL is installed below /usr/lib/postgresql");
        let is_root = rustix::process::geteuid().is_root();
        Self {
            programs,
            owner: is_root.then(|| owner_named("postgres").or(owner_named("nobody")).expect("an account")),
        }
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder).current_dir(folder).stdin(Stdio::null());
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }

    /// Gives a file to the account.
    fn give(&self, path: &Path) {
        if let Some((user, group)) = self.owner {
            chown(path, Some(user), Some(group)).expect("root may give files away");
        }
    }
}

fn owner_named(name: &str) -> Option<(u32, u32)> {
    let accounts = fs::read_to_string("/etc/passwd").ok()?;
    let fields: Vec<&str> =
        accounts.lines().map(|line| line.split(':').collect()).find(|fields: &Vec<&str>| fields[0] == name)?;
    Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
}

impl Node {
    /// The words by which the programs of PostgreSQL reach it.
    fn address(&self) -> String {
        format!("host=127.0.0.1 port={} user=postgres dbname=postgres connect_timeout=5", self.port)
    }

    /// It and all that it started.
    fn processes(&self) -> BTreeSet<u32> {
        let Some(first) = self.process.as_ref().map(Child::id) else { return BTreeSet::new() };
        let started = |one: &u32| {
            let status = fs::read_to_string(format!("/proc/{one}/status")).unwrap_or_default();
            status.lines().any(|line| line.split_whitespace().eq(["PPid:", &first.to_string()]))
        };
        let all = fs::read_dir("/proc").expect("/proc").flatten();
        let all = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        all.filter(started).chain([first]).collect()
    }
}

fn kill(process: u32, signal: Signal) {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw).expect("a process id");
    // One that is gone needs no killing.
    let _ = kill_process(process, signal);
}

/// Asks until it is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(AGAIN);
    }
}

impl Nodes {
    /// A primary with its synchronous standby.
    pub fn start() -> Self {
        let account = Account::of_this_machine();
        let folder = tempfile::Builder::new().prefix("heyaira-nodes-").tempdir().expect("a temporary folder");
        account.give(folder.path());
        let node =
            |name: &'static str| Node { name, folder: folder.path().join(name), port: ports::free(), process: None };
        let both = [node("a"), node("b")];
        let mut nodes = Self { both, primary: 0, account, folder };
        let target = nodes.both[0].folder.clone();
        let words = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata"];
        nodes.run("initdb", |command| command.args(words).arg(&target)).expect("initdb");
        append(&target.join("postgresql.conf"), SETTINGS);
        nodes.launch(0);
        nodes.until_answering(0, false);
        nodes.copy();
        nodes.attach();
        nodes
    }

    /// The URL of whichever of them can be written to.
    pub fn url(&self) -> String {
        let [a, b] = &self.both;
        format!(
            "postgresql://postgres@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
            a.port, b.port
        )
    }

    /// The name of the primary.
    pub fn primary(&self) -> &'static str {
        self.both[self.primary].name
    }

    /// Kills the primary, and answers once none of its processes lives.
    pub fn kill_primary(&mut self, death: Death) {
        let node = &mut self.both[self.primary];
        let processes = node.processes();
        let mut child = node.process.take().expect("it runs");
        let killed = match death {
            Death::Postmaster => BTreeSet::from([child.id()]),
            Death::Machine => processes.clone(),
        };
        for process in killed {
            kill(process, Signal::KILL);
        }
        child.wait().expect("it ends");
        // A session that is in the middle of a statement ends behind it.
        until("the old primary is gone", || !processes.iter().any(|one| is_postgres(*one)));
    }

    /// Kills all processes of the standby: every commit waits until it is attached again.
    pub fn kill_standby(&mut self) {
        self.primary = 1 - self.primary;
        self.kill_primary(Death::Machine);
        self.primary = 1 - self.primary;
    }

    /// Makes the standby the primary; nobody waits for the old one until it is back.
    pub fn promote(&mut self) {
        let standby = 1 - self.primary;
        let folder = self.both[standby].folder.clone();
        self.run("pg_ctl", |command| command.args(["promote", "--wait", "--pgdata"]).arg(&folder)).expect("promoted");
        self.primary = standby;
    }

    /// Makes the node that is down the synchronous standby.
    pub fn rejoin(&mut self) -> Rejoined {
        // What `pg_rewind` compares is only written by a checkpoint of the new primary.
        self.ask("checkpoint").expect("a checkpoint");
        let source = self.both[self.primary].address();
        let target = self.both[1 - self.primary].folder.clone();
        let rewound = self.run("pg_rewind", |command| {
            command
                .args(["--write-recovery-conf", "--no-sync", "--source-server", &source, "--target-pgdata"])
                .arg(&target)
        });
        let rejoined = match rewound {
            Ok(()) => Rejoined::Rewound,
            Err(why) => {
                println!("pg_rewind: {why}");
                fs::remove_dir_all(&target).expect("a folder of ours");
                self.copy();
                Rejoined::Copied
            }
        };
        self.attach();
        rejoined
    }

    /// What a statement answers on the primary, as text.
    pub fn ask(&self, sql: &str) -> Result<String, String> {
        self.ask_node(self.primary, sql)
    }

    /// The same on the standby.
    pub fn ask_standby(&self, sql: &str) -> Result<String, String> {
        self.ask_node(1 - self.primary, sql)
    }

    /// Waits until the standby has carried out all that the primary has written.
    pub fn until_even(&self) {
        let there = self.ask("select pg_current_wal_insert_lsn()").expect("the primary answers");
        let sql = format!("select pg_last_wal_replay_lsn() >= '{there}'");
        until("the standby is even", || self.ask_standby(&sql).is_ok_and(|answer| answer == "t"));
    }

    fn ask_node(&self, node: usize, sql: &str) -> Result<String, String> {
        let mut command = self.account.command("psql", self.folder.path());
        let address = self.both[node].address();
        command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        let output = command.args(["--command", sql, &address]).output().expect("psql runs");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim_end().to_owned();
        if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
    }

    fn run(&self, program: &str, dress: impl FnOnce(&mut Command) -> &mut Command) -> Result<(), String> {
        let mut command = self.account.command(program, self.folder.path());
        let output = dress(&mut command).output().expect("a program of PostgreSQL runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(format!("{program}: {said}")) }
    }

    /// Copies the primary into the folder of the other.
    fn copy(&self) {
        let source = self.both[self.primary].address();
        let target = &self.both[1 - self.primary].folder;
        let words = ["--checkpoint=fast", "--write-recovery-conf", "--no-sync", "--dbname", &source, "--pgdata"];
        self.run("pg_basebackup", |command| command.args(words).arg(target)).expect("copied");
    }

    /// Starts the standby, which is down, and answers once it has everything and every commit waits for it.
    pub fn attach(&mut self) {
        let standby = 1 - self.primary;
        // Its own copy of this setting came from the primary; who is promoted has nobody to wait for.
        append(&self.both[standby].folder.join("postgresql.auto.conf"), "synchronous_standby_names = ''\n");
        self.launch(standby);
        let name = self.both[standby].name;
        let state = format!(
            "select count(*) from pg_stat_replication where application_name = '{name}' and state = 'streaming'"
        );
        let is_one = |answer: Result<String, String>| answer.is_ok_and(|answer| answer == "1");
        until("the standby streams", || is_one(self.ask(&state)));
        self.ask(&format!("alter system set synchronous_standby_names = 'FIRST 1 ({name})'")).expect("set");
        self.ask("select pg_reload_conf()").expect("told");
        until("the standby is the synchronous one", || is_one(self.ask(&format!("{state} and sync_state = 'sync'"))));
        // The checkpointer is who tells the sessions to wait, and it reads its settings before the next checkpoint.
        self.ask("checkpoint").expect("a checkpoint");
        let there = self.ask("select pg_current_wal_insert_lsn()").expect("the primary answers");
        until("the standby has everything", || is_one(self.ask(&format!("{state} and flush_lsn >= '{there}'"))));
    }

    fn launch(&mut self, node: usize) {
        let folder = self.folder.path().to_owned();
        let node = &mut self.both[node];
        let log = folder.join(format!("{}.log", node.name));
        let log = OpenOptions::new().create(true).append(true).open(log).expect("a log");
        let mut command = self.account.command("postgres", &folder);
        command.arg("-D").arg(&node.folder).args(["-p", &node.port.to_string()]);
        // By this name the primary knows its standby.
        command.args(["-c", &format!("cluster_name={}", node.name)]);
        command.stdout(Stdio::null()).stderr(log);
        node.process = Some(command.spawn().expect("postgres runs"));
    }

    fn until_answering(&self, node: usize, in_recovery: bool) {
        let expected = if in_recovery { "t" } else { "f" };
        until("the node answers", || {
            self.ask_node(node, "select pg_is_in_recovery()").is_ok_and(|answer| answer == expected)
        });
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for node in &mut self.both {
            if let Some(mut child) = node.process.take() {
                // At once, but so that it clears up what belongs to no folder.
                kill(child.id(), Signal::QUIT);
                let _ = child.wait();
            }
        }
        if std::thread::panicking() {
            self.folder.disable_cleanup(true);
            println!("kept: {}", self.folder.path().display());
        }
    }
}

fn is_postgres(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let is = |line: &str, words: [&str; 2]| line.split_whitespace().take(2).eq(words);
    let ended = status.lines().any(|line| is(line, ["State:", "Z"]));
    !ended && status.lines().any(|line| is(line, ["Name:", "postgres"]))
}

fn append(path: &Path, text: &str) {
    let mut file: File = OpenOptions::new().append(true).open(path).expect("a file of settings");
    file.write_all(text.as_bytes()).expect("written");
}

/// Several fail-overs by hand without any server of ours: what was committed on the one is on the other, each time.
#[test]
#[ignore = "starts two nodes and kills the primary three times"]
fn what_was_committed_outlives_each_primary() {
    let mut nodes = Nodes::start();
    nodes.ask("create table kept (number integer)").expect("made");
    for round in 0..3 {
        for number in 0..20 {
            nodes.ask(&format!("insert into kept values ({})", round * 20 + number)).expect("committed");
        }
        let (old, began) = (nodes.primary(), Instant::now());
        nodes.kill_primary(if round % 2 == 0 { Death::Postmaster } else { Death::Machine });
        nodes.promote();
        let promoted = began.elapsed();
        let count = nodes.ask("select count(*) from kept").expect("the new primary answers");
        assert_eq!(count, ((round + 1) * 20).to_string(), "round {round}");
        let rejoined = nodes.rejoin();
        println!(
            "{old} killed, {} primary after {promoted:.1?}, {old} {rejoined:?} after {:.1?}",
            nodes.primary(),
            began.elapsed()
        );
        nodes.until_even();
        assert_eq!(nodes.ask_standby("select count(*) from kept").expect("the standby answers"), count);
    }
}
