//! One table for teams: the server on a file and on `PostgreSQL`, one and three beside each other, beside the same
//! statements sent by pgbench, in one run and in turn. Ratios are what to quote: clients, servers and the database share
//! this machine.
//!
//! `cargo bench --bench team` takes under 7 minutes; with `-- --quick` a minute, for a smaller database and one round.
//! `-- --large` goes on with reads of 1,000,000 tasks beside the same reads of few; the first time it makes them, which
//! takes half an hour and 15 GB; `--reads` with it leaves the rates out. Databases are kept under `target/bench`.

#[path = "../http/agent.rs"]
mod agent;
#[path = "../both/asked.rs"]
mod asked;
#[path = "../http/client.rs"]
mod client;
#[path = "../both/clock.rs"]
mod clock;
mod cluster;
#[expect(dead_code, reason = "other benchmarks need more of it")]
#[path = "../both/database.rs"]
mod database;
mod floor;
#[path = "../both/generator.rs"]
mod generator;
mod growth;
#[path = "../http/load.rs"]
mod load;
#[expect(dead_code, reason = "other benchmarks need more of it")]
#[path = "../http/process.rs"]
mod process;
#[expect(dead_code, reason = "other benchmarks need more of it")]
#[path = "../http/request.rs"]
mod request;
mod row;
mod subject;
mod table;
mod template;

/// What the echo of another benchmark is started with.
mod echo {
    /// This benchmark has none.
    pub(crate) const ARGUMENT: &str = "--echo";
}

use std::path::Path;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::cluster::Cluster;
use crate::growth::Growth;
use crate::subject::Subject;

/// How much is measured.
struct Plan {
    /// How many tasks the database has whose rates are measured.
    tasks: usize,
    /// How many tasks the small databases and the large one have, if they are asked.
    sizes: &'static [usize],
    /// Rounds over all rows; in each, every row gets its turn.
    rounds: usize,
    /// How long a turn is: whole seconds, as pgbench counts.
    turn: Duration,
    /// How often each read of the two sizes is asked.
    reads: usize,
}

const FULL: Plan = Plan { tasks: 10_000, sizes: &[], rounds: 3, turn: Duration::from_secs(2), reads: 400 };
const LARGE: Plan = Plan { sizes: &[100, 10_000, 1_000_000], ..FULL };
const QUICK: Plan = Plan { tasks: 100, sizes: &[100, 1_000], rounds: 1, turn: Duration::from_secs(1), reads: 20 };
/// How many versions each task of the small and the large databases has.
const VERSIONS: usize = 10;

fn main() {
    let is_given = |name: &str| std::env::args().any(|argument| argument == name);
    let plan = match (is_given("--quick"), is_given("--large")) {
        (false, false) => FULL,
        (true, false) => QUICK,
        (false, true) => LARGE,
        (true, true) => panic!("--quick and --large exclude each other"),
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench");
    std::fs::create_dir_all(&folder).expect("a folder");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let cluster = Cluster::start(folder.join("team"));
    if !is_given("--reads") {
        rates(&plan, &runtime, &cluster, &folder);
    }
    reads(&plan, &runtime, &cluster, &folder);
}

#[expect(clippy::print_stdout, reason = "the table is the benchmark's answer")]
fn rates(plan: &Plan, runtime: &Runtime, cluster: &Cluster, folder: &Path) {
    let busy = busy();
    let mut rows = row::rows();
    let mut subject = Subject::of(runtime, cluster, folder, plan.tasks);
    for _ in 0..plan.rounds {
        for row in &mut rows {
            subject.turn(runtime, row, plan.turn);
        }
    }
    drop(subject);
    println!("{}\n{}\nload of the machine before: {busy}", table::table(plan.tasks, &rows), table::aims(&rows));
}

#[expect(clippy::print_stdout, reason = "the table is the benchmark's answer")]
fn reads(plan: &Plan, runtime: &Runtime, cluster: &Cluster, folder: &Path) {
    if plan.sizes.is_empty() {
        println!("Reads of 1,000,000 tasks are measured with -- --large, which makes them first.");
        return;
    }
    let growth = Growth::of(runtime, cluster, folder, plan.sizes, VERSIONS);
    let busy = busy();
    println!("\n{}\nload of the machine before: {busy}", growth.measure(runtime, plan.reads));
}

/// How busy the machine was in the last minutes, and is.
fn busy() -> String {
    std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}
