//! What runners print, and the totals that are read from it. Formats as the tools print them; the tests in them are ours.

use std::process::Command;

use heyaira::domain::run::Totals;
use heyaira::run::totals::Reader;

fn read(output: &[u8], piece: usize) -> Option<(String, [i64; 3])> {
    let mut reader = Reader::default();
    output.chunks(piece).for_each(|bytes| reader.take(bytes));
    reader.totals().map(|Totals { runner, passed, failed, skipped }| (runner, [passed, failed, skipped]))
}

/// A name, an output, and runner, passed, failed and skipped.
type Row = (&'static str, &'static str, Option<(&'static str, [i64; 3])>);

const CARGO: &[Row] = &[
    (
        "several binaries and documents",
        "running 3 tests\ntest a ... ok\ntest b ... FAILED\ntest c ... ignored\n\ntest result: FAILED. 1 passed; 1 failed; 1 ignored; \
         0 measured; 4 filtered out; finished in 0.02s\n\n\u{1b}[1m\u{1b}[92m   Doc-tests\u{1b}[0m ledger\n\nrunning 1 test\n.\n\
         test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.40s\n",
        Some(("cargo test", [2, 1, 1])),
    ),
    (
        "a test that prints what cargo prints",
        "running 1 test\ntest result: ok. 500 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
         test a ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        Some(("cargo test", [1, 0, 0])),
    ),
    (
        "it does not compile",
        "error[E0425]: cannot find value `x` in this scope\nerror: could not compile `ledger`\n",
        None,
    ),
    (
        "nextest, which shows what a failed test printed",
        "running 1 test\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.00s\n\
         \u{1b}[31;1m     Summary\u{1b}[0m [   0.178s] \u{1b}[1m7\u{1b}[0m tests run: 4 passed (1 slow, 1 flaky), 2 failed, 1 timed out, \
         3 skipped\n",
        Some(("cargo nextest", [4, 3, 3])),
    ),
];

const PYTHON: &[Row] = &[
    (
        "pytest",
        "==== 1 failed, 12 passed, 2 skipped, 1 xfailed, 1 xpassed, 3 warnings, 2 errors in 61.04s (0:01:01) ====\n",
        Some(("pytest", [13, 3, 3])),
    ),
    ("pytest -q", "..F\n1 failed, 2 passed in 0.04s\n", Some(("pytest", [2, 1, 0]))),
    (
        "pytest in colours",
        "\u{1b}[32m\u{1b}[32m\u{1b}[1m3 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m\u{1b}[0m\n",
        Some(("pytest", [3, 0, 0])),
    ),
    ("pytest without tests", "\nno tests ran in 0.00s\n", Some(("pytest", [0, 0, 0]))),
    ("pytest -k", "7 deselected in 0.00s\n", Some(("pytest", [0, 0, 0]))),
    ("a sentence", "we saw 3 passed in 4 of them\n5 apples in 2.0s\n", None),
    ("pytest that is not understood", "3 passed, 2 quarantined in 0.10s\n", None),
    (
        "unittest",
        "----\nRan 6 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1, expected failures=1)\n",
        Some(("unittest", [2, 2, 2])),
    ),
    ("unittest all well", "Ran 1 test in 0.000s\n\nOK\n", Some(("unittest", [1, 0, 0]))),
    ("unittest that broke off", "Ran 4 tests in 0.001s\n", None),
    ("more failures than tests", "Ran 0 tests in 0.000s\n\nFAILED (errors=1)\n", None),
];

const SCRIPT: &[Row] = &[
    (
        "jest",
        "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 1 skipped, 1 todo, 3 passed, 6 total\n",
        Some(("jest", [3, 1, 2])),
    ),
    (
        "vitest",
        "\u{1b}[2m Test Files \u{1b}[22m \u{1b}[31m1 failed\u{1b}[39m\u{1b}[90m (1)\u{1b}[39m\n\u{1b}[2m      Tests \u{1b}[22m \
         \u{1b}[31m1 failed\u{1b}[39m\u{1b}[2m | \u{1b}[22m\u{1b}[32m2 passed\u{1b}[39m\u{1b}[2m | \u{1b}[22m1 todo\u{1b}[90m (4)\u{1b}[39m\n",
        Some(("vitest", [2, 1, 1])),
    ),
    ("mocha", "\n  2 passing (3ms)\n  1 pending\n  1 failing\n\n  1) s\n", Some(("mocha", [2, 1, 1]))),
    (
        "node's own",
        "✖ b (0.2ms)\nℹ tests 6\nℹ suites 1\nℹ pass 2\nℹ fail 1\nℹ cancelled 1\nℹ skipped 1\nℹ todo 1\nℹ duration_ms 147.8\n",
        Some(("node --test", [2, 2, 2])),
    ),
    (
        "node's own as TAP",
        "TAP version 13\n# Subtest: a\n    ok 1 - in it\n    1..1\nok 1 - a\n1..1\n# tests 2\n# suites 0\n# pass 2\n# fail 0\n\
         # cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 3.1\n",
        Some(("node --test", [2, 0, 0])),
    ),
    (
        "TAP",
        "1..5\nok 1 - a\nnot ok 2 - b\n  ---\n  ok 9\n  ...\nok 3 - c # SKIP no network\nnot ok 4 - d # TODO later\nok 5\n",
        Some(("TAP", [2, 1, 2])),
    ),
    ("TAP that is not whole", "1..3\nok 1\nok 2\n", None),
    (
        "bun",
        "(fail) b [0.12ms]\n\n 2 pass\n 1 skip\n 1 fail\n 3 expect() calls\nRan 4 tests across 1 file. [4.00ms]\n",
        Some(("bun test", [2, 1, 1])),
    ),
    ("deno", "FAILED | 2 passed (1 step) | 1 failed | 1 ignored (9ms)\n", Some(("deno test", [2, 1, 1]))),
];

const OTHERS: &[Row] = &[
    ("go without -v", "--- FAIL: TestB (0.00s)\nFAIL\tledger\t0.004s\nok  \tledger/sub\t0.004s\nFAIL\n", None),
    (
        "go -v",
        "=== RUN   TestA\n=== RUN   TestA/one\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n=== RUN   TestB\n\
         --- FAIL: TestB (0.01s)\n=== RUN   TestC\n--- SKIP: TestC (0.00s)\nFAIL\nok  \tledger/sub\t0.006s\n",
        Some(("go test", [1, 1, 1])),
    ),
    (
        "go -json",
        "{\"Action\":\"start\",\"Package\":\"x\"}\n{\"Action\":\"run\",\"Package\":\"x\",\"Test\":\"TestA\"}\n\
         {\"Action\":\"output\",\"Package\":\"x\",\"Test\":\"TestA\",\"Output\":\"=== RUN   TestA\\n\"}\n\
         {\"Action\":\"pass\",\"Package\":\"x\",\"Test\":\"TestA/in\"}\n{\"Action\":\"pass\",\"Package\":\"x\",\"Test\":\"TestA\"}\n\
         {\"Action\":\"fail\",\"Package\":\"x\",\"Test\":\"TestB\"}\n{\"Action\":\"fail\",\"Package\":\"x\"}\n",
        Some(("go test", [1, 1, 0])),
    ),
    (
        "maven",
        "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s -- in LedgerTest\n[INFO] Results:\n\
         [ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n",
        Some(("maven surefire", [2, 2, 1])),
    ),
    ("junit", "Time: 0.01\n\nOK (12 tests)\n", Some(("junit", [12, 0, 0]))),
    ("junit that failed", "FAILURES!!!\nTests run: 5,  Failures: 2\n", Some(("junit", [3, 2, 0]))),
    ("gradle", "LedgerTest > b FAILED\n\n7 tests completed, 1 failed, 2 skipped\n", Some(("gradle", [4, 1, 2]))),
    (
        "dotnet, two projects",
        "Passed!  - Failed:     0, Passed:    10, Skipped:     0, Total:    10, Duration: 15 ms - A.dll (net9.0)\n\
         Failed!  - Failed:     1, Passed:     2, Skipped:     3, Total:     6, Duration: 9 ms - B.dll (net9.0)\n",
        Some(("dotnet test", [12, 1, 3])),
    ),
    (
        "dotnet's newer summary",
        "Test summary: total: 6, failed: 1, succeeded: 4, skipped: 1, duration: 1.2s\n",
        Some(("dotnet test", [4, 1, 1])),
    ),
    ("rspec", "\u{1b}[31m4 examples, 1 failure, 2 pending\u{1b}[0m\n", Some(("rspec", [1, 1, 2]))),
    ("minitest", "4 runs, 2 assertions, 1 failures, 1 errors, 1 skips\n", Some(("minitest", [1, 2, 1]))),
    ("phpunit", "OK (3 tests, 5 assertions)\n", Some(("phpunit", [3, 0, 0]))),
    (
        "phpunit that failed",
        "ERRORS!\nTests: 6, Assertions: 2, Errors: 1, Failures: 1, Skipped: 1, Incomplete: 1, Risky: 1.\n",
        Some(("phpunit", [2, 2, 2])),
    ),
    ("phpunit with warnings", "WARNINGS!\nTests: 2, Assertions: 1, Warnings: 1.\n", None),
    (
        "ctest",
        "75% tests passed, 1 tests failed out of 4\n\nThe following tests did not run:\n\t  4 - c (Skipped)\n\t  5 - d (Disabled)\n\n\
         The following tests FAILED:\n\t  3 - b (Failed)\n",
        Some(("ctest", [2, 1, 1])),
    ),
    ("mix", "1 doctest, 3 tests, 1 failure, 1 skipped\n", Some(("mix test", [2, 1, 1]))),
    (
        "swift",
        "Test Suite 'LedgerTests' failed at 2026-11-30 08:00:00.000.\n\t Executed 3 tests, with 1 failure (0 unexpected) in 0.003 (0.004) seconds\n\
         Test Suite 'All tests' failed at 2026-11-30 08:00:00.000.\n\t Executed 3 tests, with 1 test skipped and 1 failure (0 unexpected) in 0.003 (0.005) seconds\n",
        Some(("swift test", [1, 1, 1])),
    ),
    ("two runners", "3 passed in 0.10s\nOK (12 tests)\n", None),
    ("nothing", "", None),
    ("a build", "Compiling 12 files\nDone in 1.2s\n0 errors, 0 warnings\n", None),
];

#[test]
fn every_runner_is_read_whatever_its_pieces_are() {
    for (name, output, expected) in [CARGO, PYTHON, SCRIPT, OTHERS].concat() {
        let expected = expected.map(|(runner, counts)| (runner.to_owned(), counts));
        for piece in [1, 7, 64 * 1024] {
            assert_eq!(read(output.as_bytes(), piece), expected, "{name}, {piece} bytes at a time");
        }
        let windows = output.replace('\n', "\r\n");
        assert_eq!(read(windows.as_bytes(), 5), expected, "{name}, with carriage returns");
        let cut = output.trim_end_matches('\n');
        assert_eq!(read(cut.as_bytes(), 3), expected, "{name}, without its last line end");
    }
}

#[test]
fn bytes_that_are_no_text_and_lines_without_end_do_no_harm() {
    let mut reader = Reader::default();
    reader.take(&[0xff, 0x1b, b'[', b'\n', 0x1b]);
    for _ in 0..1_000 {
        reader.take(&[b'x'; 10_000]);
    }
    reader.take(b"\n3 passed in 0.10s\n");
    assert_eq!(reader.totals().map(|totals| totals.passed), Some(3));
}

/// Runs a program for real; none where it is not there.
fn real(program: &str, words: &[&str], folder: &std::path::Path) -> Option<Vec<u8>> {
    let output = Command::new(program).args(words).current_dir(folder).env("NO_COLOR", "1").output().ok()?;
    Some([output.stdout, output.stderr].concat())
}

#[test]
fn runners_that_are_here_are_read_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "const {test} = require('node:test'); test('a', () => {}); test.skip('b', () => {}); test('c', () => { throw 1; });\n";
    std::fs::write(folder.path().join("a.test.js"), script).expect("written");
    let python =
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): self.fail()\n";
    std::fs::write(folder.path().join("test_a.py"), python).expect("written");
    for (program, words, runner, counts) in [
        ("node", &["--test", "--test-reporter=spec"][..], "node --test", [1, 1, 1]),
        ("node", &["--test", "--test-reporter=tap"], "node --test", [1, 1, 1]),
        ("python3", &["-m", "unittest"], "unittest", [1, 1, 0]),
    ] {
        let Some(output) = real(program, words, folder.path()) else { continue };
        let text = String::from_utf8_lossy(&output);
        assert_eq!(read(&output, 100), Some((runner.to_owned(), counts)), "{text}");
    }
}
