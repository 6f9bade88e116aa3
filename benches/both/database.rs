//! Databases of a given size, made once by the store's own functions and kept under `target/bench`.

use std::path::{Path, PathBuf};

use heyaira::store::backend::Database as Place;
use serde_json::json;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::generator::{GENERATION, Generator};

/// The project that everything is in.
pub(crate) const PROJECT: &str = "bench";

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
pub(crate) struct Sample {
    /// The string that writes need.
    pub(crate) write_context: String,
    /// Random tasks.
    pub(crate) ids: Vec<Uuid>,
    /// Lines of handoffs that wait.
    pub(crate) lines: Vec<String>,
    /// Tasks in progress without a handoff.
    pub(crate) in_progress: Vec<Uuid>,
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
            let sample = Generator::of(size).run(&Place::File(path.clone()));
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
    pub(crate) fn to_json(&self) -> String {
        json!({"write_context": self.write_context, "ids": self.ids, "lines": self.lines, "in_progress": self.in_progress}).to_string()
    }

    pub(crate) fn from_json(text: &str) -> Self {
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

    /// A number from 0 on.
    pub(crate) fn below(&mut self, sides: usize) -> usize {
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
