//! The page about unattended runs names every flag and every way to end, and none that is not there.

use std::collections::BTreeSet;

use heyaira::domain::run::Outcome;
use heyaira::surface::cli::{commands, run};

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/runs.md");
    std::fs::read_to_string(path).expect("the page is there")
}

/// The rows of the table under such a heading, cell by cell.
fn rows(page: &str, begin: &str) -> Vec<Vec<String>> {
    let table = page.lines().skip_while(|line| !line.starts_with(begin)).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()).collect()
}

fn in_code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn every_flag_of_a_start_is_named() {
    let root = commands::all();
    let group = root.find_subcommand("run").expect("the group");
    let start = group.find_subcommand("start").expect("the command");
    let globals = ["database", "project", "profile", "json", "help"];
    let there: BTreeSet<String> = start
        .get_arguments()
        .filter_map(|flag| flag.get_long())
        .filter(|flag| !globals.contains(flag))
        .map(|flag| format!("--{flag}"))
        .collect();
    let page = page();
    let named: BTreeSet<String> = rows(&page, "| flag | |")
        .iter()
        .flat_map(|row| in_code(&row[0]).map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|flag| flag.split(' ').next().map(str::to_owned))
        .filter(|flag| flag != "--")
        .collect();
    assert_eq!(named, there);
}

#[test]
fn every_outcome_is_named_with_its_exit_code() {
    let page = page();
    let mut named: Vec<(String, String)> = Vec::new();
    for row in rows(&page, "| outcome |") {
        named.extend(in_code(&row[0]).map(|outcome| (outcome.to_owned(), row[1].clone())));
    }
    let there: Vec<(String, String)> = Outcome::ALL
        .into_iter()
        .map(|outcome| (outcome.as_str().to_owned(), run::exit_code(outcome).to_string()))
        .collect();
    let sorted = |mut list: Vec<(String, String)>| {
        list.sort();
        list
    };
    assert_eq!(sorted(named), sorted(there));
}
