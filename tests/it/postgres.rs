//! The list of the tests that are not run on PostgreSQL names tests that there are, and says why.

use std::path::Path;
use std::process::Command;

#[test]
fn what_is_not_run_on_postgresql_is_there_and_has_a_reason() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/postgres/sqlite-only.txt");
    let list = std::fs::read_to_string(list).expect("the list");
    let program = std::env::current_exe().expect("this program");
    let told = Command::new(program).arg("--list").output().expect("it runs");
    let told = String::from_utf8(told.stdout).expect("UTF-8");
    let tests: Vec<&str> = told.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let entries = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for entry in entries {
        let (name, reason) = entry.split_once(' ').unwrap_or((entry, ""));
        assert!(reason.trim().len() > 10, "{name} has no reason");
        // The name is looked for anywhere in the names of tests, and must not mean others besides.
        let meant: Vec<_> = tests.iter().filter(|test| test.contains(name)).collect();
        let fits = |test: &&&str| if name.ends_with("::") { test.starts_with(name) } else { **test == name };
        assert!(!meant.is_empty() && meant.iter().all(fits), "{name} means {meant:?}");
    }
}
