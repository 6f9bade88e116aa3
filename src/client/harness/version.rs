//! The version of a client, for those that do not tell it while they work. It is the one thing here that starts a program,
//! and it ends what it started.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::client::harness::Harness;

/// A client that takes longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked at.
const PAUSE: Duration = Duration::from_millis(20);
/// What is more than this is no version.
const MOST_BYTES: u64 = 10_000;

/// What a client answers to `--version`: the number in it. None of a command, or where there is no answer in time.
pub fn version(harness: Harness) -> Option<String> {
    let Harness::Client(client) = harness else {
        return None;
    };
    let mut command = Command::new(client.program()?);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().ok()?;
    let is_over = is_over(&mut child);
    end(&mut child);
    let mut text = Vec::new();
    child.stdout.take()?.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    is_over.then(|| number(&String::from_utf8_lossy(&text))).flatten()
}

/// Waits for its end, up to the bound.
fn is_over(child: &mut Child) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(PAUSE),
            Ok(Some(_)) => return true,
            Err(_) => return false,
        }
    }
    false
}

/// Ends it, and what it started: whatever lives on keeps its output open.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // There is none where everything has ended.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The first word with a number of several parts.
fn number(text: &str) -> Option<String> {
    let is_version = |word: &&str| word.starts_with(|one: char| one.is_ascii_digit()) && word.contains('.');
    text.split_whitespace().find(is_version).map(|word| word.trim_end_matches(['.', ',']).to_owned())
}
