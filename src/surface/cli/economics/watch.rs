//! The figures of a session again and again: with each change of its transcript, and each minute, as a cache gets cold by
//! itself. Must never go on once nobody reads.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use super::View;
use crate::error::{Code, Refusal, Result};

/// How often the transcript is looked at.
const PACE: Duration = Duration::from_millis(500);
/// How long figures stand that nothing changed.
const STALE: Duration = Duration::from_mins(1);
/// How long a transcript may be away, as one is that its client writes anew.
const AWAY: Duration = Duration::from_secs(10);
/// Clears a terminal and goes to its first line.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

/// Shows the session until the reader is gone, or the person ends it.
pub(super) fn watch(view: &View) -> Result<ExitCode> {
    let clear = if std::io::stdout().is_terminal() && !view.json { CLEAR } else { "" };
    let mut seen = None;
    loop {
        let state = state(&view.found.path);
        let text = match view.text() {
            Err(refusal) if refusal.code == Code::NotFound && seen.is_some_and(is_recent) => {
                std::thread::sleep(PACE);
                continue;
            }
            text => text?,
        };
        seen = Some(Instant::now());
        if !write(&format!("{clear}{text}"))? {
            return Ok(ExitCode::SUCCESS);
        }
        let shown = Instant::now();
        while state == self::state(&view.found.path) && shown.elapsed() < STALE {
            std::thread::sleep(PACE);
            // A minute without a change is no time that the transcript was away.
            seen = Some(Instant::now());
        }
    }
}

fn is_recent(seen: Instant) -> bool {
    seen.elapsed() < AWAY
}

/// What tells that a transcript changed: its size and its time, and those of a database's log beside it.
fn state(path: &Path) -> [Option<(u64, SystemTime)>; 2] {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    [path, Path::new(&log)].map(|path| {
        let metadata = path.metadata().ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    })
}

/// False if nobody reads any more.
fn write(text: &str) -> Result<bool> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Refusal::internal(&error)),
    }
}
