//! The servers and databases whose rates are measured, with everything that is asked of them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::agent::{Act, Agent, Own};
use crate::asked::Asked;
use crate::client::Client;
use crate::cluster::Cluster;
use crate::database::Database;
use crate::floor::{self, Script};
use crate::load;
use crate::process::{self, Process};
use crate::request::{Address, Request, Way as Sort};
use crate::row::{CLIENTS, Operation, Row, Turn, Way};
use crate::template::Template;

/// The database that the servers write, and the one that pgbench writes.
const SERVED: &str = "bench_served";
const BARE: &str = "bench_bare";
/// The one on which it is listened what a call sends.
const HEARD: &str = "bench_heard";

/// Servers on one database, and what clients need to know.
struct Side {
    servers: Vec<Process>,
    token: String,
    owns: Vec<Arc<Own>>,
    write_context: Arc<str>,
    ids: Vec<Uuid>,
}

/// Everything that is measured.
pub(crate) struct Subject<'c> {
    cluster: &'c Cluster,
    file: Side,
    team: Side,
    scripts: Vec<(Operation, Way, Script)>,
}

impl<'c> Subject<'c> {
    /// Makes the databases, and starts the servers.
    pub(crate) fn of(runtime: &Runtime, cluster: &'c Cluster, folder: &Path, size: usize) -> Self {
        let template = Template::of(cluster, folder, size, None);
        let scripts = scripts(runtime, cluster, folder, &template);
        for name in [SERVED, BARE] {
            cluster.create(name, &template.name);
        }
        let database = Database::of(size);
        let (copy, token) = process::copied(&database);
        let server = Process::server(&copy, &copy.with_extension("log"));
        let file = Side::of(runtime, vec![server], token, &database.ids(), &database.write_context());
        let url = cluster.url(SERVED);
        let token = process::token(&url, "agent");
        let servers = (0..3).map(|number| Process::server(&url, &folder.join(format!("team-{number}.log"))));
        let sample = &template.sample;
        let team = Side::of(runtime, servers.collect(), token, &sample.ids, &sample.write_context);
        Self { cluster, file, team, scripts }
    }

    /// Gives a row its turn.
    pub(crate) fn turn(&mut self, runtime: &Runtime, row: &mut Row, length: Duration) {
        let before = self.cluster.processor();
        let mut turn = match row.way {
            Way::File => self.file.turn(runtime, row, 1, length),
            Way::Servers(servers) => self.team.turn(runtime, row, servers, length),
            Way::Same | Way::Bare => self.floor(row, length),
        };
        if row.way != Way::File {
            let spent = self.cluster.processor().zip(before).map(|(after, before)| after.saturating_sub(before));
            turn.database = spent.map(|spent| spent.as_secs_f64() / turn.calls);
        }
        row.turns.push(turn);
    }

    fn floor(&self, row: &Row, length: Duration) -> Turn {
        let mut scripts = self.scripts.iter();
        let script = scripts.find(|(operation, way, _)| *operation == row.operation && *way == row.way);
        let (_, _, script) = script.expect("its script");
        let pace = script.run(self.cluster, BARE, row.clients, length);
        Turn { rate: pace.rate, calls: pace.calls, times: Vec::new(), server: None, database: None }
    }
}

impl Side {
    fn of(runtime: &Runtime, servers: Vec<Process>, token: String, ids: &[Uuid], write_context: &str) -> Self {
        let address = Address { socket: servers[0].address, token: token.clone() };
        let owned: Vec<Uuid> = ids.iter().copied().take(CLIENTS[CLIENTS.len() - 1]).collect();
        let owns = runtime.block_on(Own::all(&address, &owned));
        Self { servers, token, owns, write_context: write_context.into(), ids: ids.to_vec() }
    }

    fn turn(&self, runtime: &Runtime, row: &Row, servers: usize, length: Duration) -> Turn {
        let asked: Vec<&Process> = self.servers.iter().take(servers).collect();
        let agents = (0..row.clients).map(|number| self.agent(row.operation, number, servers)).collect();
        let turn = load::run(runtime, &asked, agents, length, Duration::ZERO);
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
        let calls = turn.times.len() as f64;
        let server = turn.processor.map(|spent| spent.as_secs_f64() / calls);
        Turn { rate: turn.rate(), calls, times: turn.times, server, database: None }
    }

    /// A client of one of the first servers.
    fn agent(&self, operation: Operation, number: usize, servers: usize) -> Agent {
        let socket = self.servers[number % servers].address;
        let address = Address { socket, token: self.token.clone() };
        let act = match operation {
            Operation::Get => Act::Read(self.ids.iter().map(|id| get(&address, *id)).collect()),
            Operation::Update => Act::Update,
        };
        Agent {
            address,
            way: Sort::Plain,
            acts: vec![act],
            own: Arc::clone(&self.owns[number]),
            write_context: Arc::clone(&self.write_context),
            turn: number * 7,
        }
    }
}

fn get(address: &Address, id: Uuid) -> Request {
    let asked = Asked::reading("task_get", json!({"task_id": id}));
    Request { bytes: address.request(Sort::Plain, &asked), wanted: format!("\"task_id\":\"{id}\"") }
}

/// The scripts of the floor, from what a server sends on a copy of the database.
fn scripts(runtime: &Runtime, cluster: &Cluster, folder: &Path, template: &Template) -> Vec<(Operation, Way, Script)> {
    cluster.create(HEARD, &template.name);
    cluster.sql("postgres", &format!("alter database {HEARD} set log_statement = 'all'"));
    let task = template.sample.ids[0];
    let key = format!("(select task_key from task where task_id = '{task}')");
    let known =
        format!("update task set version = {}, task_key = {} where task_id = '{task}'", floor::VERSION, floor::KEY);
    cluster.sql(HEARD, &format!("update task_words set rowid = {} where rowid = {key}; {known}", floor::KEY));
    let url = cluster.url(HEARD);
    let token = process::token(&url, "agent");
    let server = Process::server(&url, &folder.join("team-heard.log"));
    let address = Address { socket: server.address, token };
    let ask = |asked: &Asked| {
        runtime.block_on(async {
            Client::connect(address.socket).await.ask(&address.request(Sort::Plain, asked)).await;
        });
    };
    let get = Asked::reading("task_get", json!({"task_id": task}));
    // The first call connects and looks around.
    ask(&get);
    let call = floor::Call { task, begun: now() };
    let read = floor::listen(cluster, || ask(&get));
    let update =
        Asked::update(&task.to_string(), &json!(floor::VERSION), &template.sample.write_context, floor::NUMBER);
    let written = floor::listen(cluster, || ask(&update));
    drop(server);
    cluster.drop(HEARD);
    let bare = |sent: &[floor::Sent], words: &str| {
        let at = sent.iter().position(|one| one.sql.contains(words)).expect("the statement that matters");
        Script::of(&sent[at..=at], &call)
    };
    vec![
        (Operation::Get, Way::Same, Script::of(&read, &call)),
        (Operation::Get, Way::Bare, bare(&read, " from task where ")),
        (Operation::Update, Way::Same, Script::of(&written, &call)),
        (Operation::Update, Way::Bare, bare(&written, "update task set version")),
    ]
}

/// Microseconds since 1970, as the server counts.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    u64::try_from(since.as_micros()).expect("a time of this age")
}
