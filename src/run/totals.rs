//! Totals from what a test runner prints, line by line as it comes. Must never keep the output, and never tell a number that
//! the runner did not print or that does not follow from its own: where two readings are possible there are no totals.

mod lines;
mod summaries;

use std::collections::BTreeMap;

use crate::domain::run::Totals;
use lines::Listed;
use summaries::Summaries;

/// How much of one line is looked at, in bytes; go writes events that are long.
const LINE: usize = 16 * 1024;

/// What was counted: passed, failed, left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: i64,
    failed: i64,
    skipped: i64,
}

impl Counts {
    /// From how many there were in all.
    fn of_all(all: i64, failed: i64, skipped: i64) -> Self {
        Self { passed: all - failed - skipped, failed, skipped }
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// What runners told so far; none where one contradicts itself.
#[derive(Debug, Default)]
struct Found(BTreeMap<&'static str, Option<Counts>>);

impl Found {
    /// One more summary of a runner, which may print several.
    fn add(&mut self, runner: &'static str, counts: Counts) {
        let is_sound = counts.passed >= 0 && counts.failed >= 0 && counts.skipped >= 0;
        let kept = self.0.entry(runner).or_insert(Some(Counts::default()));
        match kept {
            Some(kept) if is_sound => kept.add(counts),
            _ => *kept = None,
        }
    }

    fn unsure(&mut self, runner: &'static str) {
        self.0.insert(runner, None);
    }
}

/// Reads the output of one test command.
#[derive(Debug, Default)]
pub struct Reader {
    line: Vec<u8>,
    found: Found,
    summaries: Summaries,
    listed: Listed,
}

impl Reader {
    /// More of the output.
    pub fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.keep(&rest[..end]);
            self.end_line();
            rest = &rest[end + 1..];
        }
        self.keep(rest);
    }

    /// The totals, once the output is at its end.
    pub fn totals(mut self) -> Option<Totals> {
        self.end_line();
        self.listed.end(&mut self.found);
        let found = &mut self.found.0;
        // The first of two prints, or may print, what the second is told by.
        for (outer, inner) in [("cargo nextest", "cargo test"), ("node --test", "TAP")] {
            if found.contains_key(outer) {
                found.remove(inner);
            }
        }
        let mut found = std::mem::take(found).into_iter();
        let (Some((runner, Some(counts))), None) = (found.next(), found.next()) else { return None };
        let Counts { passed, failed, skipped } = counts;
        Some(Totals { runner: runner.to_owned(), passed, failed, skipped })
    }

    fn keep(&mut self, part: &[u8]) {
        let room = LINE.saturating_sub(self.line.len());
        self.line.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let plain = plain(&String::from_utf8_lossy(&line));
        self.summaries.line(&plain, &mut self.found);
        self.listed.line(&plain, &mut self.found);
        self.line = line;
        self.line.clear();
    }
}

/// A line as a terminal shows it: without colours, and only what was written over the rest of it.
fn plain(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or_default();
    let mut plain = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            plain.push(letter);
        } else if letters.as_str().starts_with('[') {
            // A control sequence ends with its first letter.
            letters.by_ref().skip(1).find(|letter| ('\u{40}'..='\u{7e}').contains(letter));
        }
    }
    plain
}

/// A number that was matched.
fn number(text: &str) -> i64 {
    text.replace(',', "").parse().unwrap_or(-1)
}
