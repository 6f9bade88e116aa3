//! What test runners counted, read from what they print.

use heyaira::run::totals::Reader;

fn read(output: &str) -> Option<(String, i64, i64, i64)> {
    let mut reader = Reader::default();
    // However the pipe cuts it.
    for piece in output.as_bytes().chunks(7) {
        reader.take(piece);
    }
    reader.totals().map(|totals| (totals.runner, totals.passed, totals.failed, totals.skipped))
}

#[test]
fn each_runner_is_known_by_its_own_words() {
    let rows = [
        (
            "cargo test",
            "\nrunning 3 tests\ntest a ... ok\ntest b ... ok\ntest c ... ignored\n\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 \
             measured; 0 filtered out; finished in 0.00s\n\n   Doc-tests x\n\nrunning 2 tests\ntest result: FAILED. 1 passed; 1 \
             failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n",
            (3, 1, 1),
        ),
        ("pytest", "....F\n========= 1 failed, 4 passed, 2 skipped, 1 warning in 0.12s =========\n", (4, 1, 2)),
        ("pytest", "..... [100%]\n5 passed in 0.01s\n", (5, 0, 0)),
        ("unittest", "..F\n----\nRan 3 tests in 0.001s\n\nFAILED (failures=1)\n", (2, 1, 0)),
        (
            "jest",
            "Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 skipped, 2 passed, 4 total\nSnapshots:   0 total\n",
            (2, 1, 1),
        ),
        (
            "node --test",
            "ℹ tests 4\nℹ suites 0\nℹ pass 2\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\nℹ duration_ms 5.1\n",
            (2, 1, 1),
        ),
        ("mocha", "\n  2 passing (5ms)\n  1 pending\n  1 failing\n\n", (2, 1, 1)),
        (
            "go test",
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.01s)\nFAIL\n",
            (1, 1, 0),
        ),
        ("rspec", "Finished in 0.1 seconds\n3 examples, 1 failure, 1 pending\n", (1, 1, 1)),
        ("maven surefire", "[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n", (2, 2, 1)),
        (
            "dotnet test",
            "Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 5 ms - a.dll (net8.0)\n",
            (3, 1, 0),
        ),
    ];
    for (runner, output, (passed, failed, skipped)) in rows {
        let found = read(output).unwrap_or_else(|| panic!("{runner}: nothing in {output}"));
        assert!(found.0.starts_with(runner), "{runner}: {found:?}");
        assert_eq!((found.1, found.2, found.3), (passed, failed, skipped), "{runner}: {output}");
    }
}

#[test]
fn colours_do_not_hide_them() {
    let output = "\x1b[1mTests:       \x1b[22m\x1b[1m\x1b[32m2 passed\x1b[39m\x1b[22m, 2 total\n";
    assert_eq!(read(output), Some(("jest".to_owned(), 2, 0, 0)));
}

#[test]
fn no_number_is_invented() {
    for output in [
        "",
        "all 12 tests passed, I promise\n",
        "ok  \texample.org/a\t0.01s\n",
        "test result: ok. 2 passed\n",
        "I ran pytest: 5 passed in 0.01s, so all is well\n",
    ] {
        assert_eq!(read(output), None, "{output}");
    }
}
