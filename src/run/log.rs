//! A log with a bound: its beginning and its end are kept, and how much was between them is said in it. Must never stop
//! whoever writes: what cannot be written is counted and told.
//!
//! The beginning goes into the file itself. What comes then goes into pieces beside it, each named by where it begins, of
//! which the last two are kept; closing the log puts them behind the beginning. So whoever finds a log that nobody closed
//! can close it.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use super::file;
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
    /// How many bytes still fit into the last of the files; none where it cannot be written.
    room: Option<u64>,
    /// The file of the beginning, and those of the end, the older one first: where each begins, and what it is. They stay
    /// open, for a harness can take away what has a name.
    files: Vec<(u64, File)>,
    problem: Option<String>,
}

impl BoundedLog {
    /// A new log of at most `limit` bytes.
    pub fn new(path: PathBuf, limit: u64) -> Self {
        let made = file::create(&path);
        let problem = made.as_ref().err().map(ToString::to_string);
        let room = made.is_ok().then_some(limit - limit / PARTS * 2);
        Self { path, limit, bytes: 0, room, files: made.ok().map(|file| (0, file)).into_iter().collect(), problem }
    }

    /// Keeps bytes, or counts them.
    pub fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.room == Some(0) {
                self.next_piece();
                continue;
            }
            let room = self.room.unwrap_or(u64::MAX);
            let count = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
            let (now, later) = bytes.split_at(count);
            self.put(now);
            bytes = later;
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let (Some(room), Some((_, file))) = (self.room, self.files.last_mut()) else { return };
        self.room = Some(room - bytes.len() as u64);
        if let Err(error) = file.write_all(bytes) {
            self.problem.get_or_insert(error.to_string());
            self.room = None;
        }
    }

    fn next_piece(&mut self) {
        if self.files.len() > 2 {
            let (oldest, _) = self.files.remove(1);
            let _ = fs::remove_file(piece(&self.path, oldest));
        }
        match file::create(&piece(&self.path, self.bytes)) {
            Ok(file) => {
                self.files.push((self.bytes, file));
                self.room = Some((self.limit / PARTS).max(1));
            }
            Err(error) => {
                self.problem.get_or_insert(error.to_string());
                self.room = None;
            }
        }
    }

    /// Puts the end behind the beginning; what was left out, and what went wrong.
    pub fn close(self) -> (Log, Vec<String>) {
        let mut problems = self.problem.into_iter().map(unwritten).collect::<Vec<_>>();
        let mut files = self.files.into_iter();
        let mut kept = 0;
        if let Some((_, first)) = files.next() {
            let pieces: Vec<(u64, File)> = files.collect();
            let names: Vec<PathBuf> = pieces.iter().map(|(begins, _)| piece(&self.path, *begins)).collect();
            let is_there = file::is_at(&first, &self.path);
            if !is_there {
                problems
                    .push("The log was taken away or replaced while it was written; it was written again.".to_owned());
            }
            match joined(&self.path, (first, is_there), pieces) {
                Ok((count, _)) => kept = count,
                Err(error) => problems.push(unwritten(error.to_string())),
            }
            for name in names {
                let _ = fs::remove_file(name);
            }
        }
        (told(&self.path, self.bytes, kept), problems)
    }
}

fn unwritten(error: impl std::fmt::Display) -> String {
    format!("The log could not be written whole: {error}.")
}

fn told(path: &Path, bytes: u64, kept: u64) -> Log {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    Log { path: path.display().to_string(), bytes: number(bytes), left_out: number(bytes.saturating_sub(kept)) }
}

/// Closes a log whose writer is gone; what went wrong.
pub fn close_left(path: &Path) -> (Log, Vec<String>) {
    let pieces = pieces(path);
    let open = |begins: u64| Some((begins, file::open(&piece(path, begins)).ok()?));
    let files: Vec<(u64, File)> = pieces.iter().filter_map(|begins| open(*begins)).collect();
    let mut problems = Vec::new();
    let first = match file::open_to_append(path) {
        Ok(file) => {
            let is_alone = file::is_alone(&file);
            Ok((file, is_alone))
        }
        // Whoever was killed before it began has none.
        Err(error) if error.kind() == io::ErrorKind::NotFound && files.is_empty() => {
            return (told(path, 0, 0), Vec::new());
        }
        Err(error) => {
            problems.push(format!("The beginning of the log is lost: {error}."));
            file::create(path).map(|file| (file, true))
        }
    };
    let found = first.and_then(|first| joined(path, first, files));
    for begins in pieces {
        let _ = fs::remove_file(piece(path, begins));
    }
    match found {
        Ok((kept, ends)) => (told(path, ends, kept), problems),
        Err(error) => {
            problems.push(unwritten(error));
            (told(path, 0, 0), problems)
        }
    }
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

fn length(path: &Path) -> u64 {
    path.symlink_metadata().map_or(0, |found| found.len())
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

/// Puts the pieces behind the beginning, in a new file where that is not the one of this name alone: how many bytes were
/// kept, and how many came as far as the pieces tell.
fn joined(path: &Path, (first, is_there): (File, bool), pieces: Vec<(u64, File)>) -> io::Result<(u64, u64)> {
    let mut log = if is_there { first } else { copied(first, path)? };
    let mut kept = log.seek(io::SeekFrom::End(0))?;
    let mut ends = kept;
    for (begins, mut part) in pieces {
        part.rewind()?;
        if begins > ends {
            writeln!(log, "\n[heyaira: {} bytes are left out here]", begins - ends)?;
        }
        let size = io::copy(&mut part, &mut log)?;
        kept += size;
        ends = begins + size;
    }
    Ok((kept, ends))
}

fn copied(mut from: File, path: &Path) -> io::Result<File> {
    let mut log = file::create(path)?;
    from.rewind()?;
    io::copy(&mut from, &mut log)?;
    Ok(log)
}
