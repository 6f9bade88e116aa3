//! A log with a bound: its beginning and its end are kept, and how much was between them is said in it. Must never stop
//! whoever writes: what cannot be written is counted and told.
//!
//! The beginning goes into the file itself. What comes then goes into pieces beside it, each named by where it begins, of
//! which the last two are kept; closing the log puts them behind the beginning. So whoever finds a log that nobody closed
//! can close it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::domain::run::Log;

/// The parts of the bound: the beginning has two, and each of the two pieces of the end has one.
const PARTS: u64 = 4;

/// A log that is being written.
#[derive(Debug)]
pub struct BoundedLog {
    path: PathBuf,
    limit: u64,
    /// How many bytes came.
    bytes: u64,
    /// Where they go now, and how many bytes still fit there.
    file: Option<(File, u64)>,
    /// Where the pieces of the end begin, the older one first.
    pieces: Vec<u64>,
    problem: Option<String>,
}

impl BoundedLog {
    /// A new log of at most `limit` bytes.
    pub fn new(path: PathBuf, limit: u64) -> Self {
        let file = create(&path);
        let problem = file.as_ref().err().map(ToString::to_string);
        let room = limit - limit / PARTS * 2;
        Self { path, limit, bytes: 0, file: file.ok().map(|file| (file, room)), pieces: Vec::new(), problem }
    }

    /// Keeps bytes, or counts them.
    pub fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.file.as_ref().map_or(u64::MAX, |(_, room)| *room);
            if room == 0 {
                self.next_piece();
                continue;
            }
            let count = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
            let (now, later) = bytes.split_at(count);
            self.put(now);
            bytes = later;
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let Some((file, room)) = &mut self.file else { return };
        *room -= bytes.len() as u64;
        if let Err(error) = file.write_all(bytes) {
            self.problem.get_or_insert(error.to_string());
            self.file = None;
        }
    }

    fn next_piece(&mut self) {
        let size = (self.limit / PARTS).max(1);
        if self.pieces.len() == 2 {
            let oldest = self.pieces.remove(0);
            let _ = fs::remove_file(piece(&self.path, oldest));
        }
        match create(&piece(&self.path, self.bytes)) {
            Ok(file) => {
                self.pieces.push(self.bytes);
                self.file = Some((file, size));
            }
            Err(error) => {
                self.problem.get_or_insert(error.to_string());
                self.file = None;
            }
        }
    }

    /// Puts the end behind the beginning; what was left out, and what went wrong.
    pub fn close(mut self) -> (Log, Vec<String>) {
        self.file = None;
        let (log, problem) = joined(&self.path, Some(self.bytes));
        let problem = self.problem.or(problem);
        let said = problem.map(|problem| format!("The log could not be written whole: {problem}."));
        (log, said.into_iter().collect())
    }
}

/// Closes a log whose writer is gone.
pub fn close_left(path: &Path) -> Log {
    joined(path, None).0
}

/// What is wrong with a log that was closed, if anything is: whoever may work here may take it away. It has a bound of `limit`.
pub fn problem(log: &Log, limit: u64) -> Option<String> {
    let path = Path::new(&log.path);
    let (bytes, left_out) = (log.bytes, log.left_out);
    if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return Some(format!("The log {} is gone: none of its {bytes} bytes can be read.", log.path));
    }
    let there = i64::try_from(length(path)).unwrap_or(i64::MAX);
    let is_short = there < bytes - left_out || (left_out > 0 && u64::try_from(bytes).is_ok_and(|bytes| bytes <= limit));
    is_short.then(|| format!("The log {} is not whole: of {bytes} bytes {there} are there.", log.path))
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The file of a piece of the end.
fn piece(path: &Path, begins: u64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{begins}"));
    PathBuf::from(name)
}

/// The pieces beside a log, the oldest first.
fn pieces(path: &Path) -> Vec<u64> {
    let prefix = path.file_name().map(|name| format!("{}.", name.to_string_lossy())).unwrap_or_default();
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<u64> = names.filter_map(|name| name.strip_prefix(&prefix)?.parse().ok()).collect();
    found.sort_unstable();
    found
}

/// Puts the pieces behind the beginning. `bytes` is how many came, where that is known.
fn joined(path: &Path, bytes: Option<u64>) -> (Log, Option<String>) {
    let mut problem = None;
    let mut kept = length(path);
    let mut ends = kept;
    for begins in pieces(path) {
        let part = piece(path, begins);
        let size = length(&part);
        match append(path, &part, begins - ends.min(begins)) {
            Ok(()) => kept += size,
            Err(error) => problem = Some(error.to_string()),
        }
        ends = begins + size;
        let _ = fs::remove_file(part);
    }
    let bytes = bytes.unwrap_or(ends);
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let log =
        Log { path: path.display().to_string(), bytes: number(bytes), left_out: number(bytes.saturating_sub(kept)) };
    (log, problem)
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

/// Adds a piece to the log, behind a line for what is missing before it.
fn append(path: &Path, part: &Path, missing: u64) -> io::Result<()> {
    let mut log = OpenOptions::new().append(true).open(path)?;
    if missing > 0 {
        writeln!(log, "\n[heyaira: {missing} bytes are left out here]")?;
    }
    io::copy(&mut File::open(part)?, &mut log).map(drop)
}
