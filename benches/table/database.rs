//! Databases of a given size, made once by the store's own functions and kept under `target/bench`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use heyaira::domain::memory::Memory;
use heyaira::domain::project::{Instance, Project};
use heyaira::domain::receipt::{KeptReceipt, Receipt};
use heyaira::domain::task::{Content, Marks, Status, Task};
use heyaira::domain::time::Timestamp;
use heyaira::error::Result;
use heyaira::store::backend::{Store, Transaction, work};
use heyaira::store::version::{Author, Version};
use heyaira::store::{memory, project, task, version};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;
use uuid::Uuid;

use heyaira::operation::Clock;

use crate::library::Wall;

/// The project that everything is in.
pub(crate) const PROJECT: &str = "bench";
/// Raised when what is generated changes, so that old files are not taken for new ones.
const GENERATION: &str = "1";
/// How many tasks one transaction adds.
const GROUP: usize = 5_000;
/// How many ids of each sort are used for random calls.
const SAMPLE: usize = 2_000;
/// The time between two tasks, in microseconds.
const STEP: i64 = 30_000_000;

/// A generated database.
pub(crate) struct Database {
    /// How many tasks it has.
    pub(crate) size: usize,
    /// The file.
    pub(crate) path: PathBuf,
    sample: Sample,
}

/// What calls need to know, kept beside the file.
#[derive(Default)]
struct Sample {
    write_context: String,
    ids: Vec<Uuid>,
    lines: Vec<String>,
    in_progress: Vec<Uuid>,
}

impl Database {
    /// The database with so many tasks; made now unless an earlier run left it.
    pub(crate) fn of(size: usize) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench");
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join(format!("{}-{size}.db", digest()));
        let notes = path.with_extension("json");
        if !notes.exists() {
            for leftover in ["", "-wal", "-shm", "-lock"] {
                let _ = std::fs::remove_file(format!("{}{leftover}", path.display()));
            }
            let sample = Generator::new(size).run(&path);
            std::fs::write(&notes, sample.to_json()).expect("notes are written");
        }
        let sample = Sample::from_json(&std::fs::read_to_string(&notes).expect("notes"));
        let database = Self { size, path, sample };
        database.warm(&database.path);
        database
    }

    /// Reads a file once, so that no cell pays for a cold disk.
    pub(crate) fn warm(&self, path: &Path) {
        let read = std::fs::File::open(path).and_then(|mut file| std::io::copy(&mut file, &mut std::io::sink()));
        assert!(read.is_ok_and(|bytes| bytes > 0), "{} of {} tasks cannot be read", path.display(), self.size);
    }

    /// The file of the bare statements.
    pub(crate) fn bare(&self) -> PathBuf {
        self.path.with_extension("bare")
    }

    /// The string that writes need.
    pub(crate) fn write_context(&self) -> String {
        self.sample.write_context.clone()
    }

    /// Ids of random tasks.
    pub(crate) fn ids(&self) -> Vec<Uuid> {
        self.sample.ids.clone()
    }

    /// Lines of handoffs that wait.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.sample.lines.clone()
    }

    /// Tasks in progress without a handoff.
    pub(crate) fn in_progress(&self) -> Vec<Uuid> {
        self.sample.in_progress.clone()
    }
}

impl Sample {
    fn to_json(&self) -> String {
        json!({"write_context": self.write_context, "ids": self.ids, "lines": self.lines, "in_progress": self.in_progress}).to_string()
    }

    fn from_json(text: &str) -> Self {
        let notes: serde_json::Value = serde_json::from_str(text).expect("notes are JSON");
        let list = |name: &str| notes[name].as_array().cloned().unwrap_or_default();
        let ids = |name: &str| list(name).iter().filter_map(|id| id.as_str()?.parse().ok()).collect();
        Self {
            write_context: notes["write_context"].as_str().unwrap_or_default().to_owned(),
            ids: ids("ids"),
            lines: list("lines").iter().filter_map(|line| Some(line.as_str()?.to_owned())).collect(),
            in_progress: ids("in_progress"),
        }
    }
}

fn digest() -> String {
    let schema = include_bytes!("../../migrations/sqlite/0001_initial.sql");
    let digest = Sha256::new().chain_update(schema).chain_update(GENERATION).finalize();
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Random numbers that are the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, sides: usize) -> usize {
        usize::try_from(self.next() % sides as u64).unwrap_or_default()
    }

    /// One of a list.
    pub(crate) fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    /// A random UUID, version 4.
    pub(crate) fn uuid(&mut self) -> Uuid {
        let bits = (u128::from(self.next()) << 64) | u128::from(self.next());
        uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
    }
}

/// A task with the versions that led to it.
struct Made {
    task: Task,
    created: Content,
    receipt: Option<KeptReceipt>,
}

struct Generator {
    size: usize,
    dice: Dice,
    words: Vec<String>,
    used: HashSet<u32>,
    start: i64,
}

impl Generator {
    fn new(size: usize) -> Self {
        let mut dice = Dice(42);
        let syllables = ["ba", "ro", "mi", "ten", "sul", "ka", "den", "li", "por", "va", "shi", "gra"];
        let words = (0..6_000).map(|_| (0..2 + dice.below(3)).map(|_| dice.one_of(&syllables)).collect()).collect();
        let span = i64::try_from(size).unwrap_or(i64::MAX) * STEP;
        Self { size, dice, words, used: HashSet::new(), start: wall_now() - span }
    }

    fn run(mut self, path: &Path) -> Sample {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let store = Store::open(path, true).expect("a new database");
        let mut sample = Sample { write_context: set_up(&runtime, &store), ..Sample::default() };
        let mut number = 0;
        while number < self.size {
            let group: Vec<Made> = (number..self.size.min(number + GROUP)).map(|number| self.task(number)).collect();
            number += group.len();
            for made in &group {
                self.note(&mut sample, made);
            }
            let memories: Vec<Memory> = (0..group.len().div_ceil(20)).map(|_| self.memory()).collect();
            write(&runtime, &store, move |transaction| {
                Box::pin(async move { save(transaction, &group, &memories).await })
            });
        }
        sample
    }

    fn note(&mut self, sample: &mut Sample, made: &Made) {
        let wanted = self.size.div_ceil(SAMPLE);
        if self.dice.below(wanted) == 0 {
            sample.ids.push(made.task.task_id);
        }
        if made.task.marks.pending_version > 0 && sample.lines.len() < SAMPLE {
            sample.lines.push(made.task.line());
        } else if made.task.content.status == Status::InProgress && sample.in_progress.len() < SAMPLE {
            sample.in_progress.push(made.task.task_id);
        }
    }

    fn task_id(&mut self) -> Uuid {
        loop {
            let task_id = self.dice.uuid();
            if self.used.insert(task_id.as_fields().0) {
                return task_id;
            }
        }
    }

    /// Some words; the frequent ones come from the front of the list.
    fn text(&mut self, characters: usize) -> String {
        let mut text = String::new();
        while text.len() < characters {
            let bound = 1 + self.dice.below(self.words.len());
            let word = self.dice.below(bound);
            text.push_str(&self.words[word]);
            text.push(' ');
        }
        text
    }

    fn status(&mut self) -> Status {
        match self.dice.below(100) {
            0..60 => Status::Done,
            60..65 => Status::Cancelled,
            65..84 => Status::Todo,
            84..94 => Status::InProgress,
            _ => Status::Blocked,
        }
    }

    fn task(&mut self, number: usize) -> Made {
        let status = self.status();
        let at = Timestamp(self.start + i64::try_from(number).unwrap_or_default() * STEP);
        let created = Content {
            title: self.text(60),
            summary: self.text(90),
            priority: i64::try_from(self.dice.below(5)).unwrap_or(2),
            tags: vec![format!("area{}", self.dice.below(40))],
            description: self.description(number),
            ..Content::default()
        };
        let task_id = self.task_id();
        let marks = Marks { written_by: "maria".to_owned(), ..Marks::default() };
        let mut made = Made {
            task: Task { task_id, version: 1, content: created.clone(), marks, created: at, updated: at },
            created,
            receipt: None,
        };
        if status != Status::Todo {
            self.change(&mut made, status, at);
        }
        made
    }

    /// A third of the tasks speak of an import, three of all of quokkas.
    fn description(&mut self, number: usize) -> String {
        let mut text = self.text(230);
        if self.dice.below(3) == 0 {
            text.push_str("import ");
        }
        if number % (self.size / 3) == 7 {
            text.push_str("quokka ");
        }
        text
    }

    /// The second version: another status, and for half of those in progress a handoff that waits.
    fn change(&mut self, made: &mut Made, status: Status, created: Timestamp) {
        let later = i64::try_from(self.dice.below(self.size)).unwrap_or_default() * STEP / 4;
        let updated = Timestamp((created.0 + later + 1).min(wall_now()));
        let session = format!("claude-code:{}", self.dice.uuid());
        let task = &mut made.task;
        (task.version, task.updated) = (2, updated);
        task.content.status = status;
        task.content.owner = Some(session.clone());
        task.marks.owner_at = Some(updated);
        task.marks.written_by.clone_from(&session);
        if status == Status::Blocked {
            task.content.handoff_blockers = self.text(80);
        }
        if status == Status::InProgress && self.dice.below(2) == 0 {
            task.content.handoff_next = format!("cargo test -p {}\nPrevious session: {session}", self.words[3]);
            task.content.handoff_completed = self.text(200);
            task.marks = Marks {
                next_version: 2,
                next_by: Some(session.clone()),
                receipt_version: 2,
                pending_version: 2,
                pending_at: Some(updated),
                pending_by: Some(session.clone()),
                ..task.marks.clone()
            };
            made.receipt = Some(receipt(session));
        }
    }

    fn memory(&mut self) -> Memory {
        Memory {
            memory_key: 0,
            memory_id: format!("m-{}", &self.dice.uuid().simple().to_string()[..8]),
            kind: "decision".to_owned(),
            summary: self.text(90),
            body: self.text(200),
            tags: Vec::new(),
            task_id: None,
            supersedes: None,
            superseded_by: None,
            caller: "maria".to_owned(),
            session_ref: None,
            at: Timestamp(wall_now()),
        }
    }
}

fn receipt(session: String) -> KeptReceipt {
    let receipt = Receipt {
        session_ref: Some(session),
        harness: Some("claude-code 2.1.332".to_owned()),
        branch: Some("feat/import".to_owned()),
        tests: Some("cargo test: 12 passed".to_owned()),
        ..Receipt::default()
    };
    KeptReceipt { version: 2, receipt, observed: Vec::new(), carried: Vec::new() }
}

fn set_up(runtime: &Runtime, store: &Store) -> String {
    let mut dice = Dice(1);
    let instance = Instance {
        id: dice.uuid(),
        resource: "heyaira:bench".to_owned(),
        pin_key: project::new_pin_key(dice.uuid(), dice.uuid()),
    };
    let new = Project {
        project_id: 1,
        slug: PROJECT.to_owned(),
        name: PROJECT.to_owned(),
        language: "en".to_owned(),
        generation: 1,
        stale_hours: 24,
        archived: false,
    };
    let write_context = new.write_context(&instance).expect("a write_context");
    write(runtime, store, move |transaction| {
        Box::pin(async move {
            let now = Timestamp(wall_now());
            project::create_instance(transaction, &instance, now).await?;
            project::create(transaction, &new, now).await.map(drop)
        })
    });
    write_context
}

fn write<W>(runtime: &Runtime, store: &Store, run: W)
where
    W: for<'t> FnOnce(&'t mut Transaction) -> futures_util::future::BoxFuture<'t, Result<()>> + Send + 'static,
{
    let deadline = Instant::now() + Duration::from_mins(10);
    runtime.block_on(store.write(deadline, work(run))).expect("written");
}

async fn save(transaction: &mut Transaction, group: &[Made], memories: &[Memory]) -> Result<()> {
    for made in group {
        save_task(transaction, made).await?;
    }
    for memory in memories {
        let origin = memory::Origin {
            project_id: 1,
            connection: "bench",
            task_version: 0,
            fingerprint: Some(Sha256::digest(memory.memory_id.as_bytes()).into()),
        };
        memory::insert(transaction, memory, &origin).await?;
    }
    Ok(())
}

async fn save_task(transaction: &mut Transaction, made: &Made) -> Result<()> {
    let Made { task, created, receipt } = made;
    task::insert(transaction, 1, task).await?;
    let author = |session_ref: Option<String>| Author {
        caller: "maria".to_owned(),
        connection: "bench".to_owned(),
        session_ref,
        harness: None,
    };
    let fields = created.fields();
    let first = Version {
        version: 1,
        at: task.created,
        author: author(None),
        act: "create".to_owned(),
        changed: fields.keys().cloned().collect(),
        content: fields,
    };
    version::insert(transaction, 1, task.task_id, &first).await?;
    if task.version == 1 {
        return Ok(());
    }
    let content = task.content.changes_since(created);
    let session = task.content.owner.clone().unwrap_or_default();
    let second = Version {
        version: 2,
        at: task.updated,
        author: author(Some(session.clone())),
        act: "update".to_owned(),
        changed: content.keys().cloned().collect(),
        content,
    };
    version::insert(transaction, 1, task.task_id, &second).await?;
    task::note_session(transaction, 1, &session, task, receipt.is_some()).await?;
    match receipt {
        Some(receipt) => version::insert_receipt(transaction, task.task_id, receipt, task.updated).await,
        None => Ok(()),
    }
}

fn wall_now() -> i64 {
    Wall.now().0
}
