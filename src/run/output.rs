//! What a process puts out: its log, which never grows beyond its bound, and its lines, handed on as they come. Must never
//! hold more in memory than one line's beginning, however much comes.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::log::BoundedLog;
use crate::domain::run::Log;

/// How much of one line is handed on, in bytes.
pub const LINE_MAX: usize = 4 * 1024 * 1024;

/// Which output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Standard output, which is read line by line.
    Output,
    /// Standard error.
    Errors,
}

/// Takes lines, or bytes as they come.
type Listener = Box<dyn FnMut(&[u8]) + Send>;

/// Both outputs of one process.
pub struct Output {
    log: Mutex<Option<BoundedLog>>,
    listener: Mutex<(Option<Lines>, Listener)>,
    is_one: bool,
    began: Instant,
    /// When something last came, in microseconds after it began.
    active: AtomicU64,
}

impl fmt::Debug for Output {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Output").field("active", &self.active).finish_non_exhaustive()
    }
}

impl Output {
    /// Into that log; `listener` gets the lines of standard output, each without its end.
    pub fn new(log: BoundedLog, listener: impl FnMut(&[u8]) + Send + 'static) -> Self {
        Self::with(log, Some(Lines::default()), Box::new(listener))
    }

    /// Into that log; `listener` gets what comes as it comes, both outputs in one, as a terminal would show them.
    pub fn in_one(log: BoundedLog, listener: impl FnMut(&[u8]) + Send + 'static) -> Self {
        Self::with(log, None, Box::new(listener))
    }

    fn with(log: BoundedLog, lines: Option<Lines>, listener: Listener) -> Self {
        let is_one = lines.is_none();
        let listener = Mutex::new((lines, listener));
        Self { log: Mutex::new(Some(log)), listener, is_one, began: Instant::now(), active: AtomicU64::new(0) }
    }

    /// True where both outputs are one.
    pub(super) fn is_one(&self) -> bool {
        self.is_one
    }

    /// When something last came, in microseconds after it began.
    pub fn active_micros(&self) -> i64 {
        i64::try_from(self.active.load(Ordering::Relaxed)).unwrap_or(i64::MAX)
    }

    /// When something last came. No clock that is set changes it.
    pub fn active(&self) -> Instant {
        self.began + Duration::from_micros(self.active.load(Ordering::Relaxed))
    }

    /// Closes the log: what comes later is not kept.
    pub fn close(&self) -> (Log, Vec<String>) {
        held(&self.log).take().map(BoundedLog::close).unwrap_or_default()
    }

    pub(super) fn take(&self, stream: Stream, bytes: &[u8]) {
        let micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.active.store(micros, Ordering::Relaxed);
        if let Some(log) = held(&self.log).as_mut() {
            log.write(bytes);
        }
        if stream == Stream::Output {
            match &mut *held(&self.listener) {
                (Some(lines), listener) => lines.take(bytes, listener),
                (None, listener) => listener(bytes),
            }
        }
    }

    /// The stream is at its end: a last line may have none.
    pub(super) fn end(&self, stream: Stream) {
        if let (Stream::Output, (Some(lines), listener)) = (stream, &mut *held(&self.listener)) {
            lines.end(listener);
        }
    }
}

/// What a thread that panicked left is as good as before: each piece is taken whole.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cuts bytes into lines. Of a line that is too long only the beginning is handed on, once it is known to be too long.
#[derive(Debug, Default)]
pub struct Lines {
    line: Vec<u8>,
    is_too_long: bool,
}

impl Lines {
    /// More bytes.
    pub fn take(&mut self, bytes: &[u8], listener: &mut dyn FnMut(&[u8])) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.part(&bytes[start..end], listener);
            self.end(listener);
            start = end + 1;
        }
        self.part(&bytes[start..], listener);
    }

    /// The line is at its end.
    pub fn end(&mut self, listener: &mut dyn FnMut(&[u8])) {
        if !self.is_too_long && !self.line.is_empty() {
            let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
            listener(line);
        }
        self.line.clear();
        self.is_too_long = false;
    }

    fn part(&mut self, part: &[u8], listener: &mut dyn FnMut(&[u8])) {
        if self.is_too_long {
            return;
        }
        let room = LINE_MAX - self.line.len();
        self.line.extend_from_slice(&part[..part.len().min(room)]);
        if part.len() > room {
            listener(&self.line);
            self.is_too_long = true;
            self.line = Vec::new();
        }
    }
}
