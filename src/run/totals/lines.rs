//! Runners that sum up over several lines, or list their tests and leave the counting to the reader. Must never count a
//! list that is not whole.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::{Counts, Found, number};

/// A pattern of ours.
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("it is one of ours, which a test compiles")
}

static NODE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:ℹ|#) (?<word>tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (?<count>[0-9.]+)$")
});
static BUN: LazyLock<Regex> = LazyLock::new(|| pattern(r"^ *(?<count>\d+) (?<word>pass|fail|skip|todo)$"));
static BUN_RAN: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Ran (?<all>\d+) tests? across \d+ files?\."));
static MOCHA: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^ +(?<count>\d+) (?<word>passing \([0-9]+(?:ms|s|m|h|d)\)|pending|failing)$"));
static UNITTEST: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Ran (?<all>\d+) tests? in [0-9.]+s$"));
static UNITTEST_END: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((?<parts>[a-z ]+=\d+(?:, [a-z ]+=\d+)*)\))?$"));
static CTEST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\d+% tests passed, (?<failed>\d+) tests? failed out of (?<all>\d+)$"));
static CTEST_SKIPPED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s+\d+ - .+ \(Skipped\)$"));
static TAP: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?<not>not )?ok\b(?<rest>.*)$"));
static TAP_PLAN: LazyLock<Regex> = LazyLock::new(|| pattern(r"^1\.\.(?<all>\d+)(?:\s*#.*)?$"));
static GO: LazyLock<Regex> = LazyLock::new(|| pattern(r"^--- (?<how>PASS|FAIL|SKIP): \S+ \([0-9.]+s\)$"));

/// What was listed so far.
#[derive(Debug, Default)]
pub(super) struct Listed {
    node: Option<Counts>,
    bun: Counts,
    mocha: Option<Counts>,
    unittest: Option<i64>,
    ctest: Option<(i64, i64, i64)>,
    tap: Counts,
    tap_planned: Option<i64>,
    go: Counts,
    is_go_verbose: bool,
    go_events: Option<Counts>,
}

impl Listed {
    pub(super) fn line(&mut self, line: &str, found: &mut Found) {
        let line = line.trim_end();
        if line.is_empty() {
            return;
        }
        self.node(line, found);
        self.bun(line, found);
        self.mocha(line);
        self.unittest(line, found);
        self.ctest(line);
        self.tap(line);
        self.go(line);
    }

    /// What has no last line of its own is at its end now.
    pub(super) fn end(&mut self, found: &mut Found) {
        if let Some(counts) = self.mocha.take() {
            found.add("mocha", counts);
        }
        if let Some((all, failed, skipped)) = self.ctest.take() {
            found.add("ctest", Counts::of_all(all, failed, skipped));
        }
        let tap = self.tap;
        if self.tap_planned.is_some_and(|planned| planned == tap.passed + tap.failed + tap.skipped) {
            found.add("TAP", tap);
        }
        // Without -v go names those alone that failed.
        if self.is_go_verbose {
            found.add("go test", self.go);
        }
        if let Some(counts) = self.go_events.take() {
            found.add("go test", counts);
        }
    }

    fn node(&mut self, line: &str, found: &mut Found) {
        let Some(told) = NODE.captures(line) else { return };
        if &told["word"] == "tests" {
            self.node = Some(Counts::default());
        }
        let Some(counts) = self.node.as_mut() else { return };
        let count = number(&told["count"]);
        match &told["word"] {
            "pass" => counts.passed = count,
            "fail" | "cancelled" => counts.failed += count,
            "skipped" | "todo" => counts.skipped += count,
            "duration_ms" => found.add("node --test", std::mem::take(counts)),
            _ => {}
        }
        if &told["word"] == "duration_ms" {
            self.node = None;
        }
    }

    fn bun(&mut self, line: &str, found: &mut Found) {
        if let Some(told) = BUN.captures(line) {
            let count = number(&told["count"]);
            match &told["word"] {
                "pass" => self.bun.passed = count,
                "fail" => self.bun.failed = count,
                _ => self.bun.skipped += count,
            }
        } else if let Some(ran) = BUN_RAN.captures(line) {
            let counts = std::mem::take(&mut self.bun);
            if counts.passed + counts.failed + counts.skipped == number(&ran["all"]) {
                found.add("bun test", counts);
            } else {
                found.unsure("bun test");
            }
        }
    }

    fn mocha(&mut self, line: &str) {
        let Some(told) = MOCHA.captures(line) else { return };
        let count = number(&told["count"]);
        match (&told["word"], self.mocha.as_mut()) {
            ("pending", Some(counts)) => counts.skipped += count,
            ("failing", Some(counts)) => counts.failed += count,
            ("pending" | "failing", None) => {}
            _ => self.mocha.get_or_insert_default().passed += count,
        }
    }

    /// What is expected to fail, and does, is left out; what succeeds unexpectedly failed.
    fn unittest(&mut self, line: &str, found: &mut Found) {
        if let Some(ran) = UNITTEST.captures(line) {
            self.unittest = Some(number(&ran["all"]));
        } else if let Some(end) = UNITTEST_END.captures(line)
            && let Some(all) = self.unittest.take()
        {
            let (mut failed, mut skipped) = (0, 0);
            for (word, count) in
                end.name("parts").map_or("", |parts| parts.as_str()).split(", ").filter_map(|part| part.split_once('='))
            {
                match word {
                    "failures" | "errors" | "unexpected successes" => failed += number(count),
                    _ => skipped += number(count),
                }
            }
            found.add("unittest", Counts::of_all(all, failed, skipped));
        }
    }

    fn ctest(&mut self, line: &str) {
        if let Some(told) = CTEST.captures(line) {
            self.ctest = Some((number(&told["all"]), number(&told["failed"]), 0));
        } else if CTEST_SKIPPED.is_match(line)
            && let Some((_, _, skipped)) = self.ctest.as_mut()
        {
            *skipped += 1;
        }
    }

    /// Only what stands at the beginning of a line: what is indented belongs to a test.
    fn tap(&mut self, line: &str) {
        if let Some(plan) = TAP_PLAN.captures(line) {
            *self.tap_planned.get_or_insert(0) += number(&plan["all"]);
        } else if let Some(told) = TAP.captures(line) {
            let directive = told["rest"].rsplit_once(" # ").map_or("", |(_, said)| said).to_lowercase();
            let is_todo = directive.starts_with("todo");
            if directive.starts_with("skip") || (is_todo && told.name("not").is_some()) {
                self.tap.skipped += 1;
            } else if told.name("not").is_some() {
                self.tap.failed += 1;
            } else {
                self.tap.passed += 1;
            }
        }
    }

    /// Tests, not the tests in them: those have no line where nothing of theirs is told.
    fn go(&mut self, line: &str) {
        if line.starts_with("{\"") {
            self.go_event(line);
        } else if line.starts_with("=== RUN  ") {
            self.is_go_verbose = true;
        } else if let Some(told) = GO.captures(line) {
            count(&mut self.go, &told["how"].to_lowercase());
        }
    }

    fn go_event(&mut self, line: &str) {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Event {
            action: String,
            // No other program writes events with these three.
            #[serde(rename = "Package")]
            _package: String,
            test: Option<String>,
        }
        let Ok(Event { action, test: Some(test), .. }) = serde_json::from_str::<Event>(line) else { return };
        if !test.contains('/') {
            count(self.go_events.get_or_insert_default(), &action);
        }
    }
}

fn count(counts: &mut Counts, how: &str) {
    match how {
        "pass" => counts.passed += 1,
        "fail" => counts.failed += 1,
        "skip" => counts.skipped += 1,
        _ => {}
    }
}
