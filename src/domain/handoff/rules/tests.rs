//! `tests-with-numbers`.

use std::collections::HashSet;

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::sentence;
use crate::domain::handoff::shape::{command, totals};
use crate::domain::handoff::subject::View;
use crate::domain::handoff::vocabulary;
use crate::domain::markdown::{Document, Kind, Line};
use crate::domain::rule::Rule;
use crate::domain::text;

/// How many commands one finding names.
const NAMED: usize = 3;
/// How many lines below a command its totals may stand.
const BELOW: usize = 4;

/// Asks for the command of the tests and its totals; that something was not run counts when it is said.
///
/// "Tests pass" cannot be compared with what the successor sees: with a command and a number it knows at once whether the
/// tree is the same. Both seeds. "Full tests were not rerun" is honest and no finding.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    let in_receipt = self::said(&view.tests, vocabulary::says_not_run);
    let is_bare_receipt =
        !in_receipt.is_empty() && !in_receipt.iter().any(|one| one.has_totals || one.is_unrun || one.is_nothing);
    let mut said = said(&view.completed, vocabulary::says_tests_not_run);
    if view.is_document() {
        said.extend(self::said(&view.next, vocabulary::says_tests_not_run));
    }
    let receipt_tests: HashSet<&str> = in_receipt.iter().flat_map(|one| one.tests.clone()).collect();
    said.extend(in_receipt);
    let has = |wanted: fn(&Said<'_>) -> bool| said.iter().any(wanted);
    let (has_totals, has_unrun) = (has(|one| one.has_totals), has(|one| one.is_unrun));
    let bare = bare(&said, &receipt_tests);
    let fix = if !bare.is_empty() {
        let (them, were) = if bare.len() == 1 { ("it was", "") } else { ("they were", "each of ") };
        format!("add the totals of {were}{}, or say that {them} not run", text::first_of(&bare, NAMED))
    } else if is_bare_receipt {
        format!("add the totals, e.g. \"{}: <n> passed, 0 failed\", or say that it was not run", example(view))
    } else if !has_totals && !has_unrun {
        format!(
            "say which tests ran with their totals, e.g. \"{}: <n> passed, 0 failed\", or that none were run",
            example(view)
        )
    } else if has_totals && !has(|one| one.is_command || one.names_runner) {
        format!("name the command that gave the totals, e.g. \"{}: …\"", example(view))
    } else {
        return;
    };
    let finding = Finding::warning(Rule::TestsWithNumbers, field(view), fix);
    findings.push(finding.lacking().or_in("handoff_completed"));
}

fn field(view: &View<'_>) -> &'static str {
    if view.is_document() { "handoff_completed" } else { "work_receipt.tests" }
}

/// What a part of a report says about tests.
#[expect(clippy::struct_excessive_bools, reason = "each is a thing that a line says or does not")]
struct Said<'t> {
    /// The tests that it says were run.
    tests: Vec<&'t str>,
    /// True if the part claims a result, or is there to do so.
    claims: bool,
    has_totals: bool,
    is_unrun: bool,
    is_nothing: bool,
    is_command: bool,
    names_runner: bool,
    /// True if totals stand right below.
    has_totals_below: bool,
}

/// The parts of a report: its lines, cut at semicolons.
fn said<'t>(document: &Document<'t>, says_unrun: fn(&str) -> bool) -> Vec<Said<'t>> {
    let mut parts: Vec<(Said<'t>, usize)> = Vec::new();
    // A line that says "Not run:" speaks for the items below it.
    let mut unrun_above = false;
    for (position, line) in document.lines.iter().enumerate() {
        let lower = line.text.to_lowercase();
        let is_heading = matches!(line.kind, Kind::Heading(_)) || lower.ends_with(':') || lower.ends_with('：');
        if is_heading {
            unrun_above = vocabulary::says_not_run(&lower);
        } else if !line.is_item && line.kind == Kind::Text {
            unrun_above = false;
        }
        let cut: Vec<&'t str> = if line.kind == Kind::Text { line.text.split("; ").collect() } else { vec![line.text] };
        for text in cut {
            parts.push((of_part(&sentence::part(line, text), unrun_above, says_unrun), position));
        }
    }
    let below = |position: usize| {
        let lines = document.lines.iter().skip(position + 1).take(BELOW);
        lines.take_while(|line| command::of_line(line).is_none()).any(|line| totals::has_totals(line.text))
    };
    let with_below = |(part, position): (Said<'t>, usize)| {
        let asks = !part.tests.is_empty() && !part.has_totals;
        Said { has_totals_below: asks && below(position), ..part }
    };
    parts.into_iter().map(with_below).collect()
}

fn of_part<'t>(part: &Line<'t>, unrun_above: bool, says_unrun: fn(&str) -> bool) -> Said<'t> {
    const CLAIMS: [&str; 19] = [
        "pass",
        "passes",
        "passed",
        "passing",
        "green",
        "succeeded",
        "success",
        "successful",
        "ok",
        "clean",
        "tested",
        "✓",
        "✔",
        "✅",
        "成功",
        "通過",
        "緑",
        "通った",
        "テスト済",
    ];
    // What is asked for is no claim.
    const WISHES: [&str; 9] =
        ["must", "should", "before any", "needs to", "ensure", "until", "make sure", "必須", "こと"];
    let lower = part.text.to_lowercase();
    let commands = command::all_of_line(part);
    let tests: Vec<&str> =
        commands.iter().filter(|one| command::is_test(one)).map(|one| command::test_part(one)).collect();
    // In any language: a number behind the command is its total.
    let behind =
        tests.first().and_then(|test| part.text.split_once(test)).is_some_and(|(_, rest)| totals::has_number(rest));
    let is_failure = !tests.is_empty() && vocabulary::has_any(&lower, &["fail", "error", "失敗", "落ち"]);
    Said {
        claims: !tests.is_empty()
            && part.kind != Kind::Code
            && vocabulary::has_whole(&lower, &CLAIMS)
            && !vocabulary::has_any(&lower, &WISHES),
        has_totals: behind || is_failure || totals::has_totals(part.text),
        is_unrun: unrun_above || says_unrun(&lower),
        is_nothing: vocabulary::is_nothing(part.text),
        is_command: !commands.is_empty() || part.codes.iter().any(|code| code.contains(' ')),
        names_runner: vocabulary::RUNNERS.are_in(&lower),
        has_totals_below: false,
        tests,
    }
}

/// The tests that are said to have been run and whose totals stand nowhere.
fn bare(said: &[Said<'_>], receipt_tests: &HashSet<&str>) -> Vec<String> {
    let is_counted = |one: &&Said<'_>| one.has_totals || one.has_totals_below || one.is_unrun;
    let counted: HashSet<String> =
        said.iter().filter(is_counted).flat_map(|one| one.tests.iter().copied().map(words)).collect();
    let mut seen = HashSet::new();
    let told = said.iter().filter(|one| !is_counted(one));
    told.flat_map(|one| one.tests.iter().filter(|test| one.claims || receipt_tests.contains(*test)))
        .filter(|test| !counted.contains(&words(test)) && seen.insert(words(test)))
        .map(|test| text::head(test, 80).to_owned())
        .collect()
}

/// A command for comparing: its words.
fn words(test: &str) -> String {
    test.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A test command that the handoff itself names, else one to put another in its place.
fn example(view: &View<'_>) -> String {
    let lines = view.tests.lines.iter().chain(view.completed.lines.iter()).chain(view.next.lines.iter());
    let mut tests = lines.flat_map(command::all_of_line).filter(|one| command::is_test(one));
    tests.next().map_or_else(|| "<test command>".to_owned(), |one| text::head(command::test_part(one), 80).to_owned())
}
