//! Draws the next call of a sequence: mostly one that could be right, often one that is stale, mistaken or odd.
//! Must never look at anything but the seed and what was answered, so that a seed gives the same sequence always.

mod administration;
mod memories;
mod runs;
mod tasks;

use std::collections::VecDeque;

use heyaira::error::Result;
use heyaira::operation::Effect;
use heyaira::operations::named;
use serde_json::{Map, Value, json};

use super::draw::Draw;
use super::side::CLIENTS;
use super::step::Step;
use super::texts;
use super::world::World;
use crate::house::{START, moment};

/// How often each operation is called.
pub(super) const WEIGHTS: [(&str, u64); 34] = [
    ("task_create", 90),
    ("task_update", 250),
    ("task_takeover", 60),
    ("task_get", 100),
    ("task_list", 130),
    ("task_history", 25),
    ("task_revert", 25),
    ("memory_add", 80),
    ("memory_search", 90),
    ("message_send", 70),
    ("handoff_check", 35),
    ("handoff_line", 10),
    ("continuity_context", 70),
    ("receipt_show", 15),
    ("receipt_record", 25),
    ("run_report", 30),
    ("run_list", 20),
    ("run_show", 25),
    ("run_record", 60),
    ("run_dismiss", 20),
    ("server_identity", 6),
    ("project_create", 5),
    ("project_list", 5),
    ("project_show", 12),
    ("project_set", 8),
    ("project_archive", 4),
    ("project_purge", 5),
    ("redact", 3),
    ("profile_show", 5),
    ("profile_rotate", 4),
    ("token_create", 20),
    ("token_list", 6),
    ("token_revoke", 10),
    ("token_rotate", 16),
];

/// The projects that are there from the beginning; the last is purged again and again.
pub(super) const PROJECTS: [&str; 3] = ["ledger", "atlas", "scratch"];
/// How many tasks fill the crowded project.
pub(super) const CROWD: usize = 1_060;
const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;

/// Arguments that are being drawn up.
pub(super) type Arguments = Map<String, Value>;

/// A call without its time and number.
struct Drawn {
    client: usize,
    operation: &'static str,
    arguments: Arguments,
}

/// Draws calls.
pub(super) struct Author {
    draw: Draw,
    world: World,
    now: i64,
    /// Calls that come next, whatever is drawn.
    queued: VecDeque<Drawn>,
    /// How many tasks are still to be created before anything else is.
    to_fill: usize,
}

impl Author {
    /// The author of a seed.
    pub(super) fn new(seed: u64, crowded: bool) -> Self {
        let mut author = Self {
            draw: Draw::new(seed),
            world: World::default(),
            now: moment(START).0,
            queued: VecDeque::new(),
            to_fill: if crowded { CROWD } else { 0 },
        };
        for slug in PROJECTS {
            author.create_project(slug);
        }
        author
    }

    fn create_project(&mut self, slug: &str) {
        for operation in ["project_create", "profile_show"] {
            let mut arguments = Map::new();
            arguments.insert("project".to_owned(), json!(slug));
            self.queued.push_back(Drawn { client: 0, operation, arguments });
        }
    }

    /// Learns from an outcome.
    pub(super) fn learn(&mut self, step: &Step, outcome: &Result<Value>) {
        self.world.learn(step, outcome);
    }

    /// The next call.
    pub(super) fn next(&mut self, number: usize) -> Step {
        self.pass_time();
        let drawn = self.queued.pop_front().unwrap_or_else(|| self.drawn());
        let Drawn { client, operation, arguments } = drawn;
        Step { number, at: self.now, client, operation, arguments }
    }

    /// Often none passes at all, so that rows are equally old; seldom it goes back.
    fn pass_time(&mut self) {
        self.now += match self.draw.below(1_000) {
            0..450 => 0,
            450..800 => self.draw.between(1, 50 * SECOND),
            800..950 => self.draw.between(1, 45) * MINUTE,
            950..982 => self.draw.between(1, 12) * 60 * MINUTE,
            982..986 => self.draw.between(2, 8) * 24 * 60 * MINUTE,
            986..988 => self.draw.between(29, 31) * 24 * 60 * MINUTE,
            _ => -self.draw.between(1, 900) * SECOND,
        };
    }

    fn drawn(&mut self) -> Drawn {
        if self.to_fill > 0 && self.draw.percent(92) {
            self.to_fill -= 1;
            return self.one_of_the_crowd();
        }
        if let Some(again) = self.mended() {
            return again;
        }
        let drawn = match self.draw.below(100) {
            0..14 => self.next_page(),
            14..17 => self.spelled(),
            17..23 => self.repeated(),
            _ => None,
        };
        let mut drawn = drawn.unwrap_or_else(|| self.fresh());
        if self.draw.percent(4) {
            self.spoil(&mut drawn.arguments);
        }
        drawn
    }

    /// What is closed or removed is soon opened again, so that most calls have somewhere to go.
    fn mended(&mut self) -> Option<Drawn> {
        if let Some(slug) = self.world.archived.first().cloned()
            && self.draw.percent(20)
        {
            let arguments = json!({"project": slug, "undo": true});
            return Some(owners("project_archive", arguments));
        }
        let missing = PROJECTS.iter().find(|slug| !self.world.projects.iter().any(|one| one == *slug))?;
        if !self.draw.percent(15) {
            return None;
        }
        self.create_project(missing);
        self.queued.pop_front()
    }

    fn fresh(&mut self) -> Drawn {
        let operation = self.draw.weighted(&WEIGHTS);
        let entry = named(operation).expect("the list names operations");
        let by_owner = entry.effect == Effect::Administers || !entry.in_project;
        let client = if by_owner && self.draw.percent(94) { 0 } else { self.client() };
        let project = CLIENTS[client].project.unwrap_or_default();
        let is_bare = client > 0 && self.world.tasks_of(project).len() < 4;
        // Where there are no tasks, nothing else is worth asking.
        let operation = if is_bare && self.draw.percent(60) { "task_create" } else { operation };
        let entry = named(operation).expect("the list names operations");
        let arguments = self.arguments(operation, client);
        let mut drawn = Drawn { client, operation, arguments };
        if entry.schema["properties"].get("write_context").is_some() {
            self.add_write_context(&mut drawn);
        }
        drawn
    }

    fn client(&mut self) -> usize {
        let weights: Vec<(usize, u64)> = CLIENTS.iter().map(|who| who.weight).enumerate().collect();
        self.draw.weighted(&weights)
    }

    fn add_write_context(&mut self, drawn: &mut Drawn) {
        let project = CLIENTS[drawn.client].project.unwrap_or_default();
        let none = Vec::new();
        let known = self.world.contexts.get(project).unwrap_or(&none);
        let given = match self.draw.below(100) {
            0..2 => None,
            2 => self.draw.any(known).cloned(),
            3 => self.world.contexts.get("atlas").and_then(|contexts| contexts.last()).cloned(),
            4 => Some(texts::odd(&mut self.draw)),
            _ => known.last().cloned(),
        };
        if let Some(given) = given {
            drawn.arguments.insert("write_context".to_owned(), json!(given));
        }
    }

    /// The next page of a list, at once or much later, seldom with other arguments.
    fn next_page(&mut self) -> Option<Drawn> {
        let count = self.world.pages.len();
        if count == 0 {
            return None;
        }
        let position = if self.draw.percent(70) { count - 1 } else { self.draw.below(count) };
        let page = self.world.pages.remove(position);
        let Step { number, client, operation, mut arguments, .. } = page.step;
        arguments.insert("cursor".to_owned(), Step::cursor_of(number));
        if self.draw.percent(5) {
            arguments.insert("limit".to_owned(), json!(self.draw.between(1, 30)));
        }
        if self.draw.percent(3) {
            arguments.insert("query".to_owned(), json!(texts::word(&mut self.draw)));
        }
        Some(Drawn { client, operation, arguments })
    }

    /// A call that an answer spelled out for the rest of what it cut.
    fn spelled(&mut self) -> Option<Drawn> {
        let (client, call) = self.world.spelled.pop()?;
        let mut words = call.split(' ');
        let operation = named(words.next()?)?.name;
        let arguments: Option<Arguments> = words
            .map(|word| word.split_once('='))
            .map(|pair| pair.map(|(name, value)| (name.to_owned(), json!(value))))
            .collect();
        Some(Drawn { client, operation, arguments: arguments? })
    }

    /// An earlier write once more: the last one or any; as it was, or with another argument or client.
    fn repeated(&mut self) -> Option<Drawn> {
        let count = self.world.writes.len();
        if count == 0 {
            return None;
        }
        let position = if self.draw.percent(50) { count - 1 } else { self.draw.below(count) };
        let Step { mut client, operation, mut arguments, .. } = self.world.writes[position].clone();
        match self.draw.below(10) {
            0 => client = self.client(),
            1 => drop(arguments.insert("summary".to_owned(), json!(texts::sentence(&mut self.draw, 5)))),
            2 => drop(arguments.insert("text".to_owned(), json!(texts::sentence(&mut self.draw, 5)))),
            _ => {}
        }
        Some(Drawn { client, operation, arguments })
    }

    /// Makes one argument wrong, or adds one that is not known.
    fn spoil(&mut self, arguments: &mut Arguments) {
        let names: Vec<String> = arguments.keys().cloned().collect();
        let name = match self.draw.any(&names) {
            Some(name) if self.draw.percent(85) => name.clone(),
            _ => (*self.draw.pick(&["titel", "limits", "status", "task", "expected_versions", "work_receipt", ""]))
                .to_owned(),
        };
        let value = match self.draw.below(13) {
            0 => Value::Null,
            1 => json!(""),
            2 => json!(texts::odd(&mut self.draw)),
            3 => json!(self.draw.pick(&[0, -1, i64::MAX, i64::MIN, 1_000_000])),
            4 => json!(1.5),
            5 => json!(true),
            6 => json!([texts::odd(&mut self.draw), null, 7]),
            7 => json!({"a": texts::odd(&mut self.draw)}),
            8 => json!("[\"one\", \"two\"]"),
            9 => {
                json!(arguments.get(&name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
            }
            10 => self.draw.any(&self.world.secrets).map_or(Value::Null, |secret| json!(format!("keep {secret} safe"))),
            11 => json!("x".repeat(*self.draw.pick(&[100_001, 100_001, 1_048_577]))),
            _ => {
                arguments.shift_remove(&name);
                return;
            }
        };
        arguments.insert(name, value);
    }

    /// The arguments of an operation for a client of some project.
    fn arguments(&mut self, operation: &'static str, client: usize) -> Arguments {
        let project = CLIENTS[client].project.unwrap_or("ledger");
        let mut given = Given { draw: &mut self.draw, world: &self.world, project, arguments: Map::new() };
        match operation {
            "task_create" => tasks::create(&mut given),
            "task_update" => tasks::update(&mut given),
            "task_takeover" => tasks::takeover(&mut given),
            "task_get" => tasks::get(&mut given),
            "task_list" => tasks::list(&mut given),
            "task_history" => tasks::history(&mut given),
            "task_revert" => tasks::revert(&mut given),
            "memory_add" => memories::add(&mut given),
            "memory_search" => memories::search(&mut given),
            "message_send" => memories::send(&mut given),
            "handoff_check" => memories::check(&mut given),
            "receipt_show" => tasks::show_receipt(&mut given),
            "receipt_record" => tasks::record_receipt(&mut given),
            "run_report" => runs::report(&mut given),
            "run_list" => runs::list(&mut given),
            "run_show" => runs::show(&mut given),
            "run_record" => runs::record(&mut given),
            "run_dismiss" => runs::dismiss(&mut given),
            "handoff_line" => given.task_id_to_read(),
            "continuity_context" => memories::context(&mut given),
            _ => administration::arguments(operation, &mut given),
        }
        given.arguments
    }

    fn one_of_the_crowd(&mut self) -> Drawn {
        let words = ["every", "common", "import", "one", "two", "three", "four", "five"];
        let word = *self.draw.pick(&words);
        let rare = if self.draw.percent(3) { " seldom" } else { "" };
        let tag = *self.draw.pick(&["all", "most", "few"]);
        let arguments = json!({
            "title": format!("every common task {word}{rare}"),
            "summary": texts::sentence(&mut self.draw, 3),
            "priority": self.draw.between(0, 4),
            "tags": [tag, "all"],
        });
        let Value::Object(arguments) = arguments else { unreachable!("an object") };
        let mut drawn = Drawn { client: 1, operation: "task_create", arguments };
        self.add_write_context(&mut drawn);
        drawn
    }
}

fn owners(operation: &'static str, arguments: Value) -> Drawn {
    let Value::Object(arguments) = arguments else { unreachable!("an object") };
    Drawn { client: 0, operation, arguments }
}

/// The arguments of one call, with what they are drawn from.
pub(super) struct Given<'a> {
    pub(super) draw: &'a mut Draw,
    pub(super) world: &'a World,
    pub(super) project: &'static str,
    pub(super) arguments: Arguments,
}

impl Given<'_> {
    /// Sets an argument.
    pub(super) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.arguments.insert(name.to_owned(), value.into());
    }

    /// Sets an argument in so many of a hundred cases.
    pub(super) fn maybe(&mut self, chance: u64, name: &str, value: impl FnOnce(&mut Self) -> Value) {
        if self.draw.percent(chance) {
            let value = value(self);
            self.put(name, value);
        }
    }

    /// A text around a sentence's length, for a field of that limit.
    pub(super) fn short(&mut self, limit: usize) -> Value {
        json!(texts::short(self.draw, limit))
    }

    /// A long text.
    pub(super) fn long(&mut self) -> Value {
        json!(texts::long(self.draw, heyaira::domain::text::TEXT_MAX))
    }

    /// Tags.
    pub(super) fn tags(&mut self) -> Value {
        let count = match self.draw.below(50) {
            0 => 50,
            1 => 51,
            2 => 0,
            _ => 1 + self.draw.below(3),
        };
        let many = count > 3;
        let tags = (0..count).map(|number| if many { format!("tag {number}") } else { texts::tag(self.draw) });
        tags.collect()
    }

    /// A task of this project, a recent one more often than not.
    pub(super) fn task(&mut self) -> Option<(String, i64)> {
        let tasks = self.world.tasks_of(self.project);
        let recent = &tasks[tasks.len().saturating_sub(6)..];
        let task = if self.draw.percent(60) { self.draw.any(recent) } else { self.draw.any(&tasks) };
        task.map(|task| (task.id.clone(), task.version))
    }

    /// How a task is named where it is read: whole, by a beginning, in other letters, wrongly.
    pub(super) fn reference(&mut self) -> String {
        let Some((id, _)) = self.task() else {
            return "8e287857".to_owned();
        };
        match self.draw.below(100) {
            0..45 => id,
            45..65 => id[..8].to_owned(),
            65..75 => id[..4 + self.draw.below(6)].to_owned(),
            75..80 => "c0de".to_owned(),
            80..83 => "c0decafe".to_owned(),
            83..86 => id.to_uppercase(),
            86..89 => id.replace('-', ""),
            89 => id[..3].to_owned(),
            _ => self.wrong_reference(),
        }
    }

    /// How a task is named where it is written: whole or by its first 8.
    pub(super) fn pointer(&mut self, id: &str) -> String {
        match self.draw.below(100) {
            0..60 => id.to_owned(),
            60..92 => id[..8].to_owned(),
            92..94 => id.to_uppercase(),
            94..96 => id[..7].to_owned(),
            96 => format!("{{{id}}}"),
            97 => format!("urn:uuid:{id}"),
            _ => self.wrong_reference(),
        }
    }

    fn wrong_reference(&mut self) -> String {
        let other = self.draw.any(&self.world.tasks).map(|task| task.id.clone());
        let gone = self.draw.any(&self.world.gone).cloned();
        match self.draw.below(4) {
            0 => gone.unwrap_or_else(|| "00000000".to_owned()),
            1 => other.unwrap_or_else(|| "ffffffff".to_owned()),
            2 => texts::odd(self.draw),
            _ => "00000000-0000-4000-8000-000000000000".to_owned(),
        }
    }

    /// The version of a task as its caller read it: mostly the present one.
    pub(super) fn expected(&mut self, version: i64) -> i64 {
        match self.draw.below(100) {
            0..84 => version,
            84..92 => (version - self.draw.between(1, 4)).max(1),
            92..96 => 1,
            96..98 => version + 1,
            98 => i64::MAX,
            _ => 0,
        }
    }

    /// Names a task to be read.
    pub(super) fn task_id_to_read(&mut self) {
        let reference = self.reference();
        self.put("task_id", reference);
    }

    /// A session that is or may be at work.
    pub(super) fn session(&mut self) -> String {
        const SESSIONS: [&str; 9] = [
            crate::house::CLAUDE,
            crate::house::CODEX,
            "label:night shift",
            "label:日本語 'quoted' \"%\"",
            "codex:00000000-0000-4000-8000-000000000001",
            "codex:00000000-0000-4000-8000-000000000002",
            "label:a",
            "no session",
            "codex:../../path",
        ];
        match self.draw.below(40) {
            0 => format!("label:{}", texts::odd(self.draw)),
            1 => format!("label:{}", "長".repeat(194)),
            2 => format!("label:{}", "長".repeat(195)),
            3 => (*self.draw.pick(&SESSIONS)).to_owned(),
            _ => (*self.draw.pick(&SESSIONS[..7])).to_owned(),
        }
    }

    /// How many rows a page is to have: few, so that there are pages.
    pub(super) fn limit(&mut self) {
        let limit = match self.draw.below(50) {
            0 => 0,
            1 => 201,
            2..4 => 200,
            _ => self.draw.between(1, 8),
        };
        self.maybe(65, "limit", |_| json!(limit));
    }

    /// Words to be searched for.
    pub(super) fn query(&mut self) -> Value {
        let said = self.world.said.get(self.project).map_or(&[][..], Vec::as_slice);
        json!(texts::query(self.draw, said))
    }
}
