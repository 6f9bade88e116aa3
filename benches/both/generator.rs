//! Fills a database with tasks, versions, handoffs and memories like real ones, by the store's own functions.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use heyaira::domain::memory::Memory;
use heyaira::domain::project::{Instance, Project};
use heyaira::domain::receipt::{KeptReceipt, Receipt};
use heyaira::domain::rule::Settings;
use heyaira::domain::task::{Content, Marks, Status, Task};
use heyaira::domain::time::Timestamp;
use heyaira::error::Result;
use heyaira::operation::Clock;
use heyaira::store::backend::{Database, Store, Transaction, work};
use heyaira::store::version::{Author, Version};
use heyaira::store::{memory, project, task, version};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::clock::Wall;
use crate::database::{Dice, PROJECT, Sample};

/// Raised when what is generated changes, so that old files are not taken for new ones.
pub(crate) const GENERATION: &str = "1";
/// How many tasks are made before they are written.
const GROUP: usize = 50_000;
/// How many of them one transaction adds. Each adds to the count of its status, and a server's database keeps what a row
/// was before until the transaction ends: it looks through all of that for the next one.
const PART: usize = 1_000;
/// How many ids of each sort are used for random calls.
const SAMPLE: usize = 2_000;
/// The time between two tasks, in microseconds.
const STEP: i64 = 30_000_000;

/// A task with the versions that led to it.
#[derive(Clone)]
struct Made {
    task: Task,
    created: Content,
    receipt: Option<KeptReceipt>,
}

/// Makes one database.
pub(crate) struct Generator {
    size: usize,
    dice: Dice,
    words: Vec<String>,
    used: HashSet<u32>,
    start: i64,
}

impl Generator {
    /// For so many tasks.
    pub(crate) fn of(size: usize) -> Self {
        let mut dice = Dice(42);
        let syllables = ["ba", "ro", "mi", "ten", "sul", "ka", "den", "li", "por", "va", "shi", "gra"];
        let words = (0..6_000).map(|_| (0..2 + dice.below(3)).map(|_| dice.one_of(&syllables)).collect()).collect();
        let span = i64::try_from(size).unwrap_or(i64::MAX) * STEP;
        Self { size, dice, words, used: HashSet::new(), start: wall_now() - span }
    }

    /// Fills a new database; answers what calls need to know.
    pub(crate) fn run(mut self, database: &Database) -> Sample {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let store = Store::open(database, true).expect("a new database");
        let mut sample = Sample { write_context: set_up(&runtime, &store), ..Sample::default() };
        let mut number = 0;
        while number < self.size {
            let group: Vec<Made> = (number..self.size.min(number + GROUP)).map(|number| self.task(number)).collect();
            number += group.len();
            for made in &group {
                self.note(&mut sample, made);
            }
            let memories: Vec<Memory> = (0..group.len().div_ceil(20)).map(|_| self.memory()).collect();
            let mut memories = memories.chunks(PART / 20);
            for part in group.chunks(PART) {
                let made = Arc::new((part.to_vec(), memories.next().unwrap_or_default().to_vec()));
                write(&runtime, &store, move |transaction| {
                    let made = Arc::clone(&made);
                    Box::pin(async move { save(transaction, &made.0, &made.1).await })
                });
            }
        }
        store.close();
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
            task: Task { task_key: 0, task_id, version: 1, content: created.clone(), marks, created: at, updated: at },
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
    KeptReceipt { version: 2, receipt, observed: Vec::new(), carried: Vec::new(), verification: None }
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
        rules: Settings::default(),
    };
    let write_context = new.write_context(&instance).expect("a write_context");
    write(runtime, store, move |transaction| {
        let (instance, new) = (instance.clone(), new.clone());
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
    W: for<'t> FnMut(&'t mut Transaction) -> futures_util::future::BoxFuture<'t, Result<()>> + Send + 'static,
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
    version::insert(transaction, 1, task.task_id, &first)?;
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
    version::insert(transaction, 1, task.task_id, &second)?;
    task::note_session(transaction, 1, &session, task, receipt.is_some())?;
    match receipt {
        Some(receipt) => version::insert_receipt(transaction, task.task_id, receipt, task.updated),
        None => Ok(()),
    }
}

fn wall_now() -> i64 {
    Wall.now().0
}
