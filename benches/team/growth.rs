//! Reads of a large database beside the same reads of small ones, by one client. The smallest has too few tasks to fill a
//! page of a rare tag or status: there the large one also answers more.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use heyaira::domain::text::grouped;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::asked::Asked;
use crate::client::Client;
use crate::cluster::Cluster;
use crate::process::{self, Process};
use crate::request::{Address, Way};
use crate::template::Template;

/// At most so many times as long may a read of the large database take.
const AIM: f64 = 1.5;

/// Databases with a server each, the large one last.
pub(crate) struct Growth {
    sides: Vec<Side>,
}

struct Side {
    size: usize,
    _server: Process,
    address: Address,
    reads: Vec<(&'static str, Vec<Asked>)>,
}

impl Growth {
    /// Makes the databases, and starts the servers.
    pub(crate) fn of(runtime: &Runtime, cluster: &Cluster, folder: &Path, sizes: &[usize], versions: usize) -> Self {
        let sides = sizes.iter().map(|&size| {
            let template = Template::of(cluster, folder, size, Some(versions));
            let url = cluster.url(&template.name);
            // A name is given once for ever, and the database is kept.
            let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let token = process::token(&url, &format!("agent-{}", started.as_micros()));
            let server = Process::server(&url, &folder.join(format!("team-{size}.log")));
            let address = Address { socket: server.address, token };
            Side { size, reads: reads(&template), _server: server, address }
        });
        let growth = Self { sides: sides.collect() };
        // Nothing that is measured pays for a cold disk or a new statement.
        growth.times(runtime, 30);
        growth
    }

    /// How much longer the reads take, as a table.
    pub(crate) fn measure(&self, runtime: &Runtime, count: usize) -> String {
        let times = self.times(runtime, count);
        let (large, small) = self.sides.split_last().expect("a large one");
        let head = |side: &Side| format!(" {} tasks, ms |", grouped(side.size));
        let mut table = format!("| |{}", self.sides.iter().map(head).collect::<String>());
        for side in small {
            let _ = write!(table, " {} : {} (≤ {AIM}) |", grouped(large.size), grouped(side.size));
        }
        let _ = writeln!(table, "\n| --- |{}", " ---: |".repeat(self.sides.len() + small.len()));
        for (number, (name, _)) in large.reads.iter().enumerate() {
            let medians: Vec<f64> = times.iter().map(|times| median(&times[number]).as_secs_f64()).collect();
            let ratios = medians[..small.len()].iter().map(|one| medians[small.len()] / one);
            let shown = medians.iter().map(|median| median * 1e3).chain(ratios);
            let _ = writeln!(table, "| {name} |{}", shown.map(|value| format!(" {value:.2} |")).collect::<String>());
        }
        table
    }

    /// The times of each read on all sides, in turn.
    fn times(&self, runtime: &Runtime, count: usize) -> Vec<Vec<Vec<Duration>>> {
        let mut times = vec![vec![Vec::new(); self.sides[0].reads.len()]; self.sides.len()];
        runtime.block_on(async {
            let mut clients = Vec::new();
            for side in &self.sides {
                clients.push(Client::connect(side.address.socket).await);
            }
            for turn in 0..count {
                for (number, _) in self.sides[0].reads.iter().enumerate() {
                    for ((side, client), times) in self.sides.iter().zip(&mut clients).zip(&mut times) {
                        times[number].push(side.ask(client, number, turn).await);
                    }
                }
            }
        });
        times
    }
}

impl Side {
    async fn ask(&self, client: &mut Client, read: usize, turn: usize) -> Duration {
        let (_, asked) = &self.reads[read];
        let request = self.address.request(Way::Plain, &asked[turn % asked.len()]);
        let start = Instant::now();
        client.ask(&request).await;
        start.elapsed()
    }
}

fn reads(template: &Template) -> Vec<(&'static str, Vec<Asked>)> {
    let sample = &template.sample;
    let list = |arguments: Value| vec![Asked::reading("task_list", arguments)];
    let ids = || sample.ids.iter().take(200);
    let resumed = |line: &String| Asked::reading("continuity_context", json!({"handoff": line}));
    let history =
        |since: i64| move |id: &uuid::Uuid| Asked::reading("task_get", json!({"task_id": id, "since_version": since}));
    let past = |id: &uuid::Uuid| Asked::reading("task_get", json!({"task_id": id, "version": 5}));
    vec![
        ("task_get", ids().map(|id| Asked::reading("task_get", json!({"task_id": id}))).collect()),
        ("list", list(json!({}))),
        ("list, by status", list(json!({"status": "blocked"}))),
        ("list, by priority", list(json!({"sort": "priority"}))),
        ("list, by tag", list(json!({"tag": "area7"}))),
        ("search, a rare word", list(json!({"query": "quokka"}))),
        ("search, a frequent word", list(json!({"query": "import"}))),
        ("resume", sample.lines.iter().take(200).map(resumed).collect()),
        ("history, what changed", ids().map(history(1)).collect()),
        ("history, an old version", ids().map(past).collect()),
    ]
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[times.len() / 2]
}
