//! One database behind a server, with everything that is asked of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::agent::{Act, Agent, Own};
use crate::asked::Asked;
use crate::bare::Bare;
use crate::client::Client;
use crate::database::Database;
use crate::load::{self, Turn};
use crate::process::{self, Process};
use crate::request::{Address, Request, Way};
use crate::row::{AGENTS, CLIENTS, Kind, Operation, PAUSE, Row};

/// A server and the echo that it is measured against.
pub(crate) struct Subject {
    /// How many tasks the database has.
    pub(crate) size: usize,
    server: Process,
    echo: Process,
    address: Address,
    bare: Bare,
    bare_ids: Vec<Uuid>,
    owns: Vec<Arc<Own>>,
    write_context: Arc<str>,
    reads: Vec<(Kind, Act)>,
}

impl Subject {
    /// Starts both on the database of that size.
    pub(crate) fn of(runtime: &Runtime, size: usize) -> Self {
        let database = Database::of(size);
        let bare = Bare::open(&database);
        let (copy, token) = process::copied(&database);
        let server = Process::server(&copy, &copy.with_extension("log"));
        let address = Address { socket: server.address, token };
        let typical = typical(runtime, &address, &database.ids());
        let owned = owned(&database);
        Self {
            size,
            echo: Process::echo(&typical),
            owns: runtime.block_on(Own::all(&address, &owned)),
            reads: reads(&address, &database, &typical),
            write_context: database.write_context().into(),
            server,
            address,
            bare,
            bare_ids: database.ids(),
        }
    }

    /// Gives a row its turn.
    pub(crate) fn turn(&mut self, runtime: &Runtime, row: &mut Row, length: Duration) {
        let pause = if row.kind == Kind::Mixed { PAUSE } else { Duration::ZERO };
        let turn = match row.kind {
            Kind::Loop => group_commits(&mut self.bare, &self.bare_ids[..row.clients], length),
            Kind::Echo | Kind::Constant => load::run(runtime, &[&self.echo], self.agents(row), length, pause),
            Kind::Call(..) | Kind::Mixed => load::run(runtime, &[&self.server], self.agents(row), length, pause),
        };
        row.turns.push(turn);
    }

    fn agents(&self, row: &Row) -> Vec<Agent> {
        (0..row.clients).map(|number| self.agent(row.kind, number)).collect()
    }

    fn agent(&self, kind: Kind, number: usize) -> Agent {
        let way = match kind {
            Kind::Call(_, way) => way,
            Kind::Mixed => Way::BOTH[number % 2],
            Kind::Echo | Kind::Constant | Kind::Loop => Way::Plain,
        };
        let act = |kind| {
            let read = self.reads.iter().find(|(one, _)| *one == kind);
            read.map_or(Act::Update, |(_, act)| act.clone())
        };
        let call = |operation| act(Kind::Call(operation, way));
        let acts = match kind {
            Kind::Mixed => {
                use Operation::{Get, List, Resume, Update};
                [List, Get, Resume, Get, Update].map(call).to_vec()
            }
            one => vec![act(one)],
        };
        let socket = match kind {
            Kind::Echo | Kind::Constant => self.echo.address,
            Kind::Call(..) | Kind::Loop | Kind::Mixed => self.address.socket,
        };
        Agent {
            address: Address { socket, ..self.address.clone() },
            way,
            acts,
            own: Arc::clone(&self.owns[number]),
            write_context: Arc::clone(&self.write_context),
            // Not all clients ask for the same at the same moment.
            turn: number * 7,
        }
    }
}

/// A task for every client: in progress, as far as there are so many.
fn owned(database: &Database) -> Vec<Uuid> {
    let mut owned = database.in_progress();
    let others: Vec<Uuid> = database.ids().into_iter().filter(|id| !owned.contains(id)).collect();
    owned.extend(others);
    owned.truncate(AGENTS.max(CLIENTS[CLIENTS.len() - 1]));
    owned
}

/// An answer of `task_get` of middle length.
fn typical(runtime: &Runtime, address: &Address, ids: &[Uuid]) -> String {
    let mut answers: Vec<String> = runtime.block_on(async {
        let mut client = Client::connect(address.socket).await;
        let mut answers = Vec::new();
        for id in ids.iter().take(100) {
            let asked = Asked::reading("task_get", json!({"task_id": id}));
            let body = client.ask(&address.request(Way::Plain, &asked)).await;
            answers.push(String::from_utf8(body.to_vec()).expect("UTF-8"));
        }
        answers
    });
    answers.sort_by_key(String::len);
    answers.swap_remove(answers.len() / 2)
}

/// What is read over and over, by the row that it is for.
fn reads(address: &Address, database: &Database, typical: &str) -> Vec<(Kind, Act)> {
    let get = |id: &Uuid| (Asked::reading("task_get", json!({"task_id": id})), format!("\"task_id\":\"{id}\""));
    let resume = |line: &String| {
        let short = line.split_whitespace().nth(1).unwrap_or_default();
        (Asked::reading("continuity_context", json!({"handoff": line})), format!("\"task_id\":\"{short}"))
    };
    let list = (Asked::reading("task_list", json!({})), "\"shown\":20".to_owned());
    let calls = [
        (Operation::Get, database.ids().iter().map(get).collect::<Vec<_>>()),
        (Operation::List, vec![list]),
        (Operation::Resume, database.lines().iter().map(resume).collect()),
    ];
    let mut reads = Vec::new();
    for way in Way::BOTH {
        for (operation, asked) in &calls {
            let requests = asked
                .iter()
                .map(|(asked, wanted)| Request { bytes: address.request(way, asked), wanted: way.carried(wanted) });
            reads.push((Kind::Call(*operation, way), Act::Read(requests.collect())));
        }
    }
    let body = serde_json::from_str(typical).expect("an answer");
    let own: String = typical.chars().take(40).collect();
    let echo = address.request(Way::Plain, &Asked::reading("task_get", body));
    reads.push((Kind::Echo, Act::Read([Request { bytes: echo, wanted: own.clone() }].into())));
    let constant = address.request(Way::Mcp, &Asked::reading("task_get", json!({"task_id": Uuid::nil()})));
    reads.push((Kind::Constant, Act::Read([Request { bytes: constant, wanted: Way::Mcp.carried(&own) }].into())));
    reads
}

fn group_commits(bare: &mut Bare, ids: &[Uuid], length: Duration) -> Turn {
    let start = Instant::now();
    let (mut times, mut elapsed) = (Vec::new(), Duration::ZERO);
    while start.elapsed() < length {
        let time = bare.write(ids);
        elapsed += time;
        times.extend(ids.iter().map(|_| time));
    }
    Turn { times, elapsed, processor: None }
}
