//! `states-distinguished`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::inference;
use crate::domain::handoff::shape::{git, reference};
use crate::domain::handoff::subject::View;
use crate::domain::handoff::vocabulary::{self, State};
use crate::domain::language::Tongue;
use crate::domain::markdown::{Kind, Line};
use crate::domain::rule::Rule;
use crate::domain::text;

/// Asks that prepared, tested, deployed and verified in production are each told, claimed or expressly not; and that nothing
/// is deployed or verified by a test alone.
///
/// "Done" hides what a successor must know most: whether it runs anywhere. Both seeds; "do not imply a deployment from
/// a passing test". Words are read in English and Japanese; a text in another language is not judged by them.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    let untold = if view.subject.is_whole { untold(view) } else { Vec::new() };
    match inference::line(&view.completed) {
        Some(line) => by_a_test_alone(view, line, &untold, findings),
        None if view.subject.is_whole => missing(view, &untold, findings),
        None => {}
    }
    claimed_and_denied(view, findings);
}

const FIELD: &str = "handoff_completed";

fn missing(view: &View<'_>, untold: &[State], findings: &mut Vec<Finding>) {
    if view.subject.content.handoff_completed.trim().is_empty() {
        let fix = "say what is done, each on a line: Prepared: …, Tested: …, Deployed: …, Verified in production: …; \"nothing\" counts";
        findings.push(Finding::warning(Rule::StatesDistinguished, FIELD, fix).lacking());
        return;
    }
    if untold.is_empty() {
        return;
    }
    let names: Vec<String> = untold.iter().map(|state| state.label(is_japanese(view)).to_lowercase()).collect();
    let fix = format!("say what is {}, also where it is nothing: \"{}\"", text::listed(&names), nothing(view, untold));
    findings.push(Finding::warning(Rule::StatesDistinguished, FIELD, fix).lacking());
}

/// The states that nothing is said of, in a language whose words are known.
fn untold(view: &View<'_>) -> Vec<State> {
    if view.tongue == Tongue::Other {
        return Vec::new();
    }
    // What is not said of tests, tests-with-numbers asks for.
    let asked = State::ALL.into_iter().filter(|state| *state != State::Tested);
    asked.filter(|state| !is_told(view, *state)).collect()
}

/// How to say that none of these states was reached.
fn nothing(view: &View<'_>, states: &[State]) -> String {
    let nothing = if is_japanese(view) { "なし" } else { "nothing" };
    let each: Vec<String> =
        states.iter().map(|state| format!("{}: {nothing}", state.label(is_japanese(view)))).collect();
    each.join(" · ")
}

fn is_japanese(view: &View<'_>) -> bool {
    view.tongue == Tongue::Japanese
}

/// True if a state is spoken of, in words or in a shape that only it has.
fn is_told(view: &View<'_>, state: State) -> bool {
    let lines =
        || view.completed.lines.iter().chain(view.is_document().then_some(&view.next.lines).into_iter().flatten());
    let by_words = lines().any(|line| says(line, state));
    let by_shape = match state {
        State::Prepared => lines()
            .any(|line| !git::hashes(line).is_empty() || reference::names_change(line) || reference::names_file(line)),
        State::Tested | State::Deployed | State::Verified => false,
    };
    by_words || by_shape
}

fn says(line: &Line<'_>, state: State) -> bool {
    !matches!(line.kind, Kind::Code | Kind::Fence | Kind::Meta) && state.words().are_in(&line.text.to_lowercase())
}

fn by_a_test_alone(view: &View<'_>, line: usize, untold: &[State], findings: &mut Vec<Finding>) {
    let states = if untold.is_empty() { &[State::Deployed] } else { untold };
    let fix = format!(
        "line {line}: a test deploys and verifies nothing: say where it runs and since which commit, or \"{}\"",
        nothing(view, states)
    );
    findings.push(Finding::warning(Rule::StatesDistinguished, FIELD, fix).contradicting());
}

/// `Deployed: nothing`, and a summary that says it is deployed.
fn claimed_and_denied(view: &View<'_>, findings: &mut Vec<Finding>) {
    let denies = |line: &&Line<'_>| {
        let lower = line.text.to_lowercase();
        let label = lower
            .split_once([':', '：'])
            .filter(|(label, _)| matches!(label.trim_matches(['*', ' ']), "deployed" | "デプロイ" | "デプロイ済み"));
        label.is_some_and(|(_, rest)| {
            let rest = rest.trim_matches(['*', ' ', '.', '。']);
            vocabulary::is_nothing(rest) || rest.starts_with("nothing") || rest.starts_with("なし")
        })
    };
    let summary = Line {
        number: 1,
        kind: Kind::Text,
        is_item: false,
        text: view.subject.content.summary.trim(),
        codes: Vec::new(),
        language: None,
    };
    if view.completed.prose().any(|line| denies(&line)) && inference::claim(&summary).is_some() {
        let fix =
            "the summary says that it is deployed, handoff_completed that nothing is: correct the one that is wrong";
        findings.push(Finding::warning(Rule::StatesDistinguished, FIELD, fix).contradicting().or_in("summary"));
    }
}
