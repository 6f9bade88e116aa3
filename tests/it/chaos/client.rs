//! A client as it should be: it goes round the servers, moves on where no connection is made, and finds out what became of
//! a write whose answer it did not get, by the same key or by reading.

use std::collections::{BTreeMap, HashMap};
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::chaos::home::{Home, Server};
use crate::chaos::wire::{Told, Wire};
use crate::dice::Dice;
use crate::linearizable::{Act, Moment, NEVER, Operation, Outcome};

/// How many tasks all clients fight for.
pub const HOT: usize = 24;
/// How long a client asks what became of a write.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long a client waits before it tries again what is not there for the moment.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(100));
/// How many odd answers are kept to be shown.
const SAMPLES: usize = 5;

/// What all clients of a run share.
pub struct Scene<'r> {
    /// The database.
    pub home: &'r Home,
    /// The servers.
    pub servers: &'r [Server],
    /// The tasks that are known, first those that all fight for: title and id.
    pub tasks: RwLock<Vec<(String, String)>>,
    /// The beginning of time.
    pub began: Instant,
    /// True once no client is to begin anything new.
    pub stop: AtomicBool,
}

impl Scene<'_> {
    /// The present.
    pub fn now(&self) -> Moment {
        self.began.elapsed().as_nanos().try_into().expect("a short run")
    }
}

/// What one client did.
#[derive(Default)]
pub struct Log {
    /// Each operation with the title of its task.
    pub operations: Vec<(String, Operation)>,
    /// When a write was acknowledged.
    pub acknowledged: Vec<Moment>,
    /// How often what happened.
    pub counts: BTreeMap<&'static str, u64>,
    /// Answers that should not be.
    pub unexpected: Vec<String>,
    /// One answer of each sort that a person may want to see.
    pub samples: BTreeMap<&'static str, String>,
    /// The longest that a write took which was acknowledged.
    pub longest: Duration,
}

impl Log {
    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Adds what another client did.
    pub fn add(&mut self, other: Self) {
        self.operations.extend(other.operations);
        self.acknowledged.extend(other.acknowledged);
        other.counts.into_iter().for_each(|(what, count)| *self.counts.entry(what).or_default() += count);
        self.unexpected.extend(other.unexpected);
        self.samples.extend(other.samples);
        self.longest = self.longest.max(other.longest);
    }
}

/// One answer, as far as it matters.
enum Reply {
    Done(Value),
    Conflict(i64),
    /// Nothing was written.
    Refused,
    /// It may have been written.
    Doubt,
}

/// One client.
pub struct Client<'r> {
    number: usize,
    scene: &'r Scene<'r>,
    dice: Dice,
    wires: Vec<Wire>,
    turn: usize,
    serial: usize,
    known: HashMap<String, i64>,
    log: Log,
}

impl<'r> Client<'r> {
    /// A client of all servers of the scene.
    pub fn new(number: usize, scene: &'r Scene<'r>, dice: Dice) -> Self {
        let wires = scene.servers.iter().map(|server| Wire::new(server.address)).collect();
        Self { number, scene, dice, wires, turn: number, serial: 0, known: HashMap::new(), log: Log::default() }
    }

    /// Works until the stop; answers what it did.
    pub fn run(mut self) -> Log {
        while !self.scene.stop.load(Ordering::Relaxed) {
            match self.dice.below(100) {
                0..3 => self.create(),
                3..30 => self.read_some(),
                _ => self.write_some(),
            }
        }
        self.log
    }

    /// Creates that many tasks; answers what it did.
    pub fn prepare(mut self, tasks: usize) -> Log {
        while self.scene.tasks.read().expect("no holder panics").len() < tasks {
            self.create();
        }
        self.log
    }

    /// Reads all these tasks once from each server; answers what it saw.
    pub fn read_all(mut self, tasks: &[(String, String)]) -> Log {
        for (title, id) in tasks {
            for _ in self.scene.servers {
                self.read(title, id);
            }
        }
        self.log
    }

    fn some_task(&mut self) -> (String, String) {
        let tasks = self.scene.tasks.read().expect("no holder panics");
        let among = if self.dice.percent(80) { HOT.min(tasks.len()) } else { tasks.len() };
        tasks[self.dice.below(among)].clone()
    }

    fn read_some(&mut self) {
        let (title, id) = self.some_task();
        self.read(&title, &id);
    }

    fn write_some(&mut self) {
        let (title, id) = self.some_task();
        let known = self.known.get(&title).copied();
        if let Some(expected) = known.or_else(|| self.read(&title, &id)) {
            self.write(&title, &id, expected);
        }
    }

    /// A mark that nobody else writes; the key of the write too, where it has one.
    fn mark(&mut self) -> String {
        self.serial += 1;
        format!("c{}n{}", self.number, self.serial)
    }

    fn record(&mut self, title: &str, invoked: Moment, act: Act) {
        let now = self.scene.now();
        let (mut answered, mut version) = (now, None);
        match &act {
            Act::Read { version: seen, .. } => version = Some(*seen),
            Act::Write { outcome: Outcome::Acknowledged { version: made }, .. } => {
                version = Some(*made);
                self.log.acknowledged.push(now);
                self.log.longest = self.log.longest.max(Duration::from_nanos(now - invoked));
            }
            Act::Write { outcome: Outcome::Conflict { current }, .. } => version = Some(*current),
            Act::Write { outcome: Outcome::Uncertain, .. } => answered = NEVER,
            Act::Write { outcome: Outcome::Refused, .. } => {}
        }
        if let Some(version) = version {
            let known = self.known.entry(title.to_owned()).or_default();
            *known = version.max(*known);
        }
        let operation = Operation { client: self.number, invoked, answered, act };
        self.log.operations.push((title.to_owned(), operation));
    }

    /// Reads a task; its version, where it was told.
    fn read(&mut self, title: &str, id: &str) -> Option<i64> {
        let invoked = self.scene.now();
        let Reply::Done(task) = self.ask("task_get", &json!({"task_id": id})) else { return None };
        let (version, mark) = state(&task);
        self.log.count("readings");
        self.record(title, invoked, Act::Read { version, mark });
        Some(version)
    }

    fn write(&mut self, title: &str, id: &str, expected: i64) {
        let (mark, has_key) = (self.mark(), self.dice.percent(60));
        let mut arguments = json!({
            "write_context": self.scene.home.write_context, "task_id": id, "expected_version": expected,
            "summary": mark, "description": mark,
        });
        if has_key {
            arguments["idempotency_key"] = json!(mark);
        }
        let invoked = self.scene.now();
        let outcome = match self.ask("task_update", &arguments) {
            Reply::Done(answer) => {
                if answer["replayed"] == true {
                    self.log.count("committed, as the server itself found out");
                }
                made(&answer)
            }
            Reply::Conflict(current) => {
                self.log.count("refused: version_conflict");
                Outcome::Conflict { current }
            }
            Reply::Refused => Outcome::Refused,
            Reply::Doubt if has_key => self.resolve_by_key("task_update", &arguments),
            Reply::Doubt => self.resolve_by_reading(title, id, expected, &mark),
        };
        self.record(title, invoked, Act::Write { expected, mark, outcome });
    }

    fn create(&mut self) {
        let (mark, has_key) = (self.mark(), self.dice.percent(60));
        let context = &self.scene.home.write_context;
        let mut arguments = json!({"write_context": context, "title": mark, "summary": mark, "description": mark});
        if has_key {
            arguments["idempotency_key"] = json!(mark);
        }
        let invoked = self.scene.now();
        let mut id = None;
        let outcome = match self.ask("task_create", &arguments) {
            Reply::Done(answer) => {
                id = answer["task_id"].as_str().map(str::to_owned);
                made(&answer)
            }
            Reply::Conflict(current) => Outcome::Conflict { current },
            Reply::Refused => Outcome::Refused,
            Reply::Doubt if has_key => self.resolve_by_key("task_create", &arguments),
            Reply::Doubt => self.resolve_by_listing(&mark),
        };
        if outcome == (Outcome::Acknowledged { version: 1 }) {
            self.log.count("creations acknowledged");
        }
        self.record(&mark.clone(), invoked, Act::Write { expected: 0, mark: mark.clone(), outcome });
        if let Some(id) = id {
            self.scene.tasks.write().expect("no holder panics").push((mark, id));
        }
    }

    /// Sends the same call with the same key until it is known what became of it.
    fn resolve_by_key(&mut self, tool: &str, arguments: &Value) -> Outcome {
        self.log.count("uncertain writes, resolved by key");
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            self.pause();
            match self.ask(tool, arguments) {
                Reply::Done(answer) => {
                    let replayed = answer["replayed"] == true;
                    self.log.count(if replayed {
                        "by key: committed"
                    } else {
                        "by key: not committed, written by the retry"
                    });
                    return made(&answer);
                }
                Reply::Conflict(current) => {
                    self.log.count("by key: not committed, another write came first");
                    return Outcome::Conflict { current };
                }
                Reply::Refused | Reply::Doubt => {}
            }
        }
        self.log.count("by key: unresolved");
        Outcome::Uncertain
    }

    /// Reads until it is known which write made the version that this one would have made.
    fn resolve_by_reading(&mut self, title: &str, id: &str, expected: i64, mark: &str) -> Outcome {
        self.log.count("uncertain writes, resolved by reading");
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            self.pause();
            let Some(version) = self.read(title, id) else { continue };
            if version == expected {
                // It may still come: only the end will tell.
                self.log.count("by reading: not there yet");
                return Outcome::Uncertain;
            }
            let next = json!({"task_id": id, "version": expected + 1});
            let Reply::Done(task) = self.ask("task_get", &next) else { continue };
            let is_ours = state(&task).1 == mark;
            self.log.count(if is_ours { "by reading: committed" } else { "by reading: not committed" });
            return if is_ours { Outcome::Acknowledged { version: expected + 1 } } else { Outcome::Refused };
        }
        self.log.count("by reading: unresolved");
        Outcome::Uncertain
    }

    /// Looks for a task by its title, which is its mark.
    fn resolve_by_listing(&mut self, mark: &str) -> Outcome {
        self.log.count("uncertain writes, resolved by reading");
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            self.pause();
            let Reply::Done(list) = self.ask("task_list", &json!({"query": mark})) else { continue };
            let rows = list["tasks"].as_array().expect("a list");
            let is_there = rows.iter().any(|row| row["title"] == mark);
            self.log.count(if is_there { "by reading: committed" } else { "by reading: not there yet" });
            return if is_there { Outcome::Acknowledged { version: 1 } } else { Outcome::Uncertain };
        }
        self.log.count("by reading: unresolved");
        Outcome::Uncertain
    }

    fn pause(&mut self) {
        std::thread::sleep(self.dice.between(PAUSE.0, PAUSE.1));
    }

    /// One call, to the next server that takes it.
    fn ask(&mut self, tool: &str, arguments: &Value) -> Reply {
        let (body, tokens) = (arguments.to_string(), &self.scene.home.tokens);
        let token = &tokens[self.number % tokens.len()];
        for _ in 0..self.wires.len() {
            self.turn = (self.turn + 1) % self.wires.len();
            match self.wires[self.turn].call(tool, token, &body) {
                Told::Unsent => self.log.count("no connection, moved on"),
                Told::Broken => return self.doubt(tool, "uncertain calls: connection broke"),
                Told::Silent => {
                    self.unexpected(format!("{tool}: no answer in time"));
                    return self.doubt(tool, "uncertain calls: no answer in time");
                }
                Told::Answer(200, _, answer) => return Reply::Done(answer),
                Told::Answer(status, retry_after, answer) => return self.refused(tool, status, retry_after, &answer),
            }
        }
        self.log.count("no server at all");
        self.pause();
        Reply::Refused
    }

    fn doubt(&mut self, tool: &str, why: &'static str) -> Reply {
        let writes = matches!(tool, "task_create" | "task_update");
        self.log.count(if writes { why } else { "readings without an answer" });
        Reply::Doubt
    }

    fn refused(&mut self, tool: &str, status: u16, retry_after: Option<u64>, answer: &Value) -> Reply {
        let (error, details) = (&answer["error"], &answer["error"]["details"]);
        match error["code"].as_str() {
            Some("version_conflict") if tool == "task_update" && status == 409 => {
                Reply::Conflict(details["current_version"].as_i64().expect("the current version"))
            }
            Some("unavailable") if status == 503 => {
                let told = details["retry_after_seconds"].as_u64();
                if told.is_none() || told != retry_after {
                    self.unexpected(format!("{tool}: no retry time: {retry_after:?} {answer}"));
                }
                let is_uncertain = details["uncertain"] == true;
                let sort = if is_uncertain { "unavailable, uncertain" } else { "unavailable" };
                self.log.samples.entry(sort).or_insert_with(|| answer.to_string());
                if is_uncertain {
                    return self.doubt(tool, "uncertain calls: the server said so");
                }
                self.log.count("refused: unavailable");
                self.pause();
                Reply::Refused
            }
            _ => {
                self.unexpected(format!("{tool}: {status} {answer}"));
                self.pause();
                self.doubt(tool, "uncertain calls: an answer that should not be")
            }
        }
    }

    fn unexpected(&mut self, what: String) {
        self.log.count("answers that should not be");
        if self.log.unexpected.len() < SAMPLES {
            self.log.unexpected.push(what);
        }
    }
}

fn made(answer: &Value) -> Outcome {
    Outcome::Acknowledged { version: answer["version"].as_i64().expect("a version") }
}

/// The version of a task and its mark, which must stand in both texts that each write sets.
fn state(task: &Value) -> (i64, String) {
    let text = |name: &str| task[name].as_str().unwrap_or_default().to_owned();
    (task["version"].as_i64().expect("a version"), whole(&text("summary"), &text("description")))
}

/// The mark of a version whose two texts were written together.
pub fn whole(summary: &str, description: &str) -> String {
    if summary == description { summary.to_owned() } else { format!("torn: {summary} {description}") }
}
