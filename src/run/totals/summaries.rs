//! The lines in which runners sum up. Must never take a line for one that only begins or ends like it.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Counts, Found, number};

/// A line of one runner, whole, and what its numbers mean.
struct Row {
    runner: &'static str,
    pattern: &'static str,
    counts: fn(&Captures<'_>) -> Option<Counts>,
}

/// The named group as a number; 0 where it did not take part.
fn of(found: &Captures<'_>, name: &str) -> i64 {
    found.name(name).map_or(0, |one| number(one.as_str()))
}

/// Passed, failed and skipped under these names.
fn named(found: &Captures<'_>) -> Counts {
    Counts { passed: of(found, "passed"), failed: of(found, "failed"), skipped: of(found, "skipped") }
}

/// All, failed, errors and skipped under these names.
fn of_all(found: &Captures<'_>) -> Counts {
    Counts::of_all(of(found, "all"), of(found, "failed") + of(found, "errors"), of(found, "skipped"))
}

/// A number of each word: words that are not in the list make the line one that is not understood.
fn words(
    text: &str,
    separator: &str,
    passed: &[&str],
    failed: &[&str],
    skipped: &[&str],
    other: &[&str],
) -> Option<Counts> {
    let mut counts = Counts::default();
    for part in text.split(separator) {
        let (count, word) = part.trim().split_once(' ')?;
        let (count, word) = (number(count), word.trim());
        if passed.contains(&word) {
            counts.passed += count;
        } else if failed.contains(&word) {
            counts.failed += count;
        } else if skipped.contains(&word) {
            counts.skipped += count;
        } else if !other.contains(&word) {
            return None;
        }
    }
    Some(counts)
}

/// What is expected to fail, and does, is left out, as in what pytest writes for machines.
fn pytest(found: &Captures<'_>) -> Option<Counts> {
    let other = ["deselected", "warning", "warnings", "rerun", "subtests passed"];
    words(
        &found["parts"],
        ", ",
        &["passed", "xpassed"],
        &["failed", "error", "errors"],
        &["skipped", "xfailed"],
        &other,
    )
}

fn jest(found: &Captures<'_>) -> Option<Counts> {
    words(&found["parts"], ", ", &["passed"], &["failed"], &["skipped", "todo"], &[])
}

fn vitest(found: &Captures<'_>) -> Option<Counts> {
    words(&found["parts"], " | ", &["passed", "expected fail"], &["failed"], &["skipped", "todo"], &[])
}

fn nextest(found: &Captures<'_>) -> Option<Counts> {
    static INSIDE: LazyLock<Regex> = LazyLock::new(|| pattern(r" \([^)]*\)"));
    let parts = INSIDE.replace_all(&found["parts"], "");
    words(&parts, ", ", &["passed"], &["failed", "timed out", "exec failed"], &["skipped"], &[])
}

fn exunit(found: &Captures<'_>) -> Counts {
    let all = found["all"].split(", ").filter_map(|part| part.split_once(' ')).map(|(count, _)| number(count)).sum();
    let skipped = of(found, "skipped") + of(found, "excluded");
    Counts::of_all(all, of(found, "failed") + of(found, "invalid"), skipped)
}

/// `PHPUnit` names what is not 0. A test with a warning is one that passed in some of its versions only.
fn phpunit(found: &Captures<'_>) -> Option<Counts> {
    let (mut all, mut failed, mut skipped) = (0, 0, 0);
    for part in found["parts"].split(", ") {
        let (word, count) = part.split_once(": ")?;
        match word {
            "Tests" => all = number(count),
            "Errors" | "Failures" => failed += number(count),
            "Skipped" | "Incomplete" => skipped += number(count),
            "Warnings" => return None,
            _ => {}
        }
    }
    Some(Counts::of_all(all, failed, skipped))
}

const ROWS: &[Row] = &[
    Row {
        runner: "cargo nextest",
        pattern: r"^\s*Summary \[[^\]]*\] +\d+(?:/\d+)? tests? run: (?<parts>.+)$",
        counts: nextest,
    },
    Row {
        runner: "pytest",
        pattern: r"^(?:=+ )?(?<parts>\d+ [a-z ]+(?:, \d+ [a-z ]+)*) in [0-9.]+s(?: \([0-9:, a-z]+\))?(?: =+)?$",
        counts: pytest,
    },
    Row {
        runner: "pytest",
        pattern: r"^(?:=+ )?no tests ran in [0-9.]+s(?: =+)?$",
        counts: |_| Some(Counts::default()),
    },
    Row { runner: "jest", pattern: r"^Tests: +(?<parts>\d+ [a-z]+(?:, \d+ [a-z]+)*), \d+ total$", counts: jest },
    Row {
        runner: "vitest",
        pattern: r"^ +Tests {2,}(?<parts>\d+ [a-z ]+?(?: \| \d+ [a-z ]+?)*) \(\d+\)$",
        counts: vitest,
    },
    Row {
        runner: "deno test",
        pattern: r"^(?:ok|FAILED) \| (?<passed>\d+) passed(?: \(\d+ steps?\))? \| (?<failed>\d+) failed(?: \(\d+ steps?\))?(?: \| (?<skipped>\d+) ignored(?: \(\d+ steps?\))?)?(?: \| \d+ measured)?(?: \| \d+ filtered out)? \([0-9a-z]+\)$",
        counts: |found| Some(named(found)),
    },
    // Maven tells each class as well, with the time that it took.
    Row {
        runner: "maven surefire",
        pattern: r"^\[(?:INFO|ERROR|WARNING)\] Tests run: (?<all>\d+), Failures: (?<failed>\d+), Errors: (?<errors>\d+), Skipped: (?<skipped>\d+)$",
        counts: |found| Some(of_all(found)),
    },
    Row { runner: "junit", pattern: r"^OK \((?<all>\d+) tests?\)$", counts: |found| Some(of_all(found)) },
    Row {
        runner: "junit",
        pattern: r"^Tests run: (?<all>\d+), +Failures: (?<failed>\d+)$",
        counts: |found| Some(of_all(found)),
    },
    Row {
        runner: "gradle",
        pattern: r"^(?<all>\d+) tests? completed(?:, (?<failed>\d+) failed)?(?:, (?<skipped>\d+) skipped)?$",
        counts: |found| Some(of_all(found)),
    },
    Row {
        runner: "dotnet test",
        pattern: r"^(?:Passed|Failed|Skipped)! +- Failed: +(?<failed>\d+), Passed: +(?<passed>\d+), Skipped: +(?<skipped>\d+), Total: +\d+(?:, .*)?$",
        counts: |found| Some(named(found)),
    },
    Row {
        runner: "dotnet test",
        pattern: r"^Test summary: total: \d+, failed: (?<failed>\d+), succeeded: (?<passed>\d+), skipped: (?<skipped>\d+), duration: .+$",
        counts: |found| Some(named(found)),
    },
    Row {
        runner: "rspec",
        pattern: r"^(?<all>\d+) examples?, (?<failed>\d+) failures?(?:, (?<skipped>\d+) pending)?$",
        counts: |found| Some(of_all(found)),
    },
    Row {
        runner: "minitest",
        pattern: r"^(?<all>\d+) runs, \d+ assertions, (?<failed>\d+) failures, (?<errors>\d+) errors, (?<skipped>\d+) skips$",
        counts: |found| Some(of_all(found)),
    },
    Row {
        runner: "test-unit",
        pattern: r"^(?<all>\d+) tests, \d+ assertions, (?<failed>\d+) failures, (?<errors>\d+) errors, (?<skipped>\d+) pendings, 0 omissions, \d+ notifications$",
        counts: |found| Some(of_all(found)),
    },
    Row {
        runner: "phpunit",
        pattern: r"^OK \((?<all>\d+) tests?, \d+ assertions?\)$",
        counts: |found| Some(of_all(found)),
    },
    Row {
        runner: "phpunit",
        pattern: r"^(?<parts>Tests: \d+, Assertions: \d+(?:, [A-Z][A-Za-z ]+: \d+)*)\.$",
        counts: phpunit,
    },
    Row {
        runner: "mix test",
        pattern: r"^(?<all>(?:\d+ (?:doctests?|property|properties|tests?|features?), )+)(?<failed>\d+) failures?(?:, (?<excluded>\d+) excluded)?(?:, (?<invalid>\d+) invalid)?(?:, (?<skipped>\d+) skipped)?$",
        counts: |found| Some(exunit(found)),
    },
];

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("it is one of ours, which a test compiles")
}

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| ROWS.iter().map(|row| pattern(row.pattern)).collect());
/// All of them in one pass: most lines are none.
static ANY: LazyLock<regex::RegexSet> =
    LazyLock::new(|| regex::RegexSet::new(ROWS.iter().map(|row| row.pattern)).expect("each of them is a pattern"));
static CARGO: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^test result: (?:ok|FAILED)\. (?<passed>\d+) passed; (?<failed>\d+) failed; (?<skipped>\d+) ignored; (?<measured>\d+) measured; \d+ filtered out(?:; finished in [0-9.]+s)?$",
    )
});
static RUNNING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^running (?<all>\d+) tests?$"));
static SWIFT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*Executed (?<all>\d+) tests?, with (?:(?<skipped>\d+) tests? skipped and )?(?<failed>\d+) failures? \(\d+ unexpected\) in .+ seconds$",
    )
});

/// Reads summaries of one line, and those that go with the line before.
#[derive(Debug, Default)]
pub(super) struct Summaries {
    /// How many tests the binary that runs now said it has.
    running: Option<i64>,
    /// What swift said of all its tests.
    is_swift_all: bool,
}

impl Summaries {
    pub(super) fn line(&mut self, line: &str, found: &mut Found) {
        let line = line.trim_end();
        if !line.bytes().any(|byte| byte.is_ascii_digit()) && !line.starts_with("Test Suite") {
            return;
        }
        self.cargo(line, found);
        self.swift(line, found);
        for place in ANY.matches(line) {
            let row = &ROWS[place];
            let counts = PATTERNS[place].captures(line).and_then(|captures| (row.counts)(&captures));
            match counts {
                Some(counts) => found.add(row.runner, counts),
                None => found.unsure(row.runner),
            }
        }
    }

    /// A test may print such a line itself: one counts that fits what the binary said at its start.
    fn cargo(&mut self, line: &str, found: &mut Found) {
        if let Some(running) = RUNNING.captures(line) {
            self.running = Some(of(&running, "all"));
        } else if let Some(result) = CARGO.captures(line)
            && let counts = named(&result)
            && self.running == Some(counts.passed + counts.failed + counts.skipped + of(&result, "measured"))
        {
            self.running = None;
            found.add("cargo test", counts);
        }
    }

    /// Swift sums up each suite, and all of them under a name that says so.
    fn swift(&mut self, line: &str, found: &mut Found) {
        if line.starts_with("Test Suite '") {
            let is_all = line.starts_with("Test Suite 'All tests'") || line.starts_with("Test Suite 'Selected tests'");
            self.is_swift_all = is_all && (line.contains("passed") || line.contains("failed"));
        } else if self.is_swift_all
            && let Some(counts) = SWIFT.captures(line).map(|captures| of_all(&captures))
        {
            self.is_swift_all = false;
            found.add("swift test", counts);
        }
    }
}
