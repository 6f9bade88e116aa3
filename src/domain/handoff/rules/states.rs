//! `states-distinguished`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::shape::{command, git, reference};
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
    if view.subject.is_whole {
        missing(view, findings);
    }
    by_a_test_alone(view, findings);
    claimed_and_denied(view, findings);
}

const FIELD: &str = "handoff_completed";

fn missing(view: &View<'_>, findings: &mut Vec<Finding>) {
    let japanese = view.tongue == Tongue::Japanese;
    if view.subject.content.handoff_completed.trim().is_empty() {
        let fix = "say what is done, each on a line: Prepared: …, Tested: …, Deployed: …, Verified in production: …; \"nothing\" counts";
        findings.push(Finding::warning(Rule::StatesDistinguished, FIELD, fix).lacking());
        return;
    }
    if view.tongue == Tongue::Other {
        return;
    }
    // What is not said of tests, tests-with-numbers asks for.
    let asked = State::ALL.into_iter().filter(|state| *state != State::Tested);
    let missing: Vec<State> = asked.filter(|state| !is_told(view, *state)).collect();
    if missing.is_empty() {
        return;
    }
    let names: Vec<String> = missing.iter().map(|state| state.label(japanese).to_lowercase()).collect();
    let nothing = if japanese { "なし" } else { "nothing" };
    let example: Vec<String> = missing.iter().map(|state| format!("{}: {nothing}", state.label(japanese))).collect();
    let fix = format!("say what is {}, also where it is nothing: \"{}\"", text::listed(&names), example.join(" · "));
    findings.push(Finding::warning(Rule::StatesDistinguished, FIELD, fix).lacking());
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

/// What a line claims, if it claims that something runs or was seen to work, and what stands behind the label.
fn claim(line: &Line<'_>) -> Option<String> {
    const CLAIMS: [&str; 14] = [
        "verified in production",
        "deployed",
        "released",
        "rolled out",
        "live in production",
        "runs in production",
        "本番確認済み",
        "本番確認",
        "本番で確認",
        "デプロイ済み",
        "デプロイ済",
        "デプロイ完了",
        "リリース済み",
        "デプロイ",
    ];
    let lower = line.text.to_lowercase();
    let found = CLAIMS.into_iter().find(|claim| vocabulary::has(&lower, claim))?;
    let behind = lower.split_once(found).map_or("", |(_, behind)| behind);
    let before = lower.split_once(found).map_or("", |(before, _)| before);
    let said = behind.trim_start_matches([':', '：', ' ', '*']).trim_end_matches(['.', '。', ' ']);
    let is_denied = vocabulary::is_nothing(said)
        || said.starts_with("no ")
        || vocabulary::DENIALS.are_in(behind)
        || vocabulary::has_any(before, &["not", "nothing", "never", "un", "未"]);
    (!is_denied).then(|| format!("{before} {behind}"))
}

fn by_a_test_alone(view: &View<'_>, findings: &mut Vec<Finding>) {
    let proven = |line: &&Line<'_>| {
        // A heading and the head of a table name the states side by side.
        let is_list = line.kind != Kind::Text || vocabulary::has(&line.text.to_lowercase(), "prepared");
        let claim = if is_list { None } else { claim(line) };
        claim.is_some_and(|rest| {
            let commands = command::all_of_line(line);
            let is_test = vocabulary::has_any(&rest, &["test", "テスト", "spec"])
                || commands.iter().any(|one| command::is_test(one));
            let has_reason = vocabulary::has_any(&rest, &["because", "since all", "as all", "ので", "ため"]);
            let runs_somewhere = vocabulary::PLACES.are_in(&rest) || reference::names_change(line);
            is_test && (has_reason || (!runs_somewhere && git::hashes(line).is_empty()))
        })
    };
    if let Some(line) = view.completed.prose().find(proven) {
        let fix = format!(
            "line {}: a test deploys and verifies nothing: say where it runs and since which commit, or \"Deployed: nothing\"",
            line.number
        );
        findings.push(Finding::warning(Rule::StatesDistinguished, FIELD, fix).contradicting());
    }
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
    if view.completed.prose().any(|line| denies(&line)) && claim(&summary).is_some() {
        let fix =
            "the summary says that it is deployed, handoff_completed that nothing is: correct the one that is wrong";
        findings.push(Finding::warning(Rule::StatesDistinguished, FIELD, fix).contradicting().or_in("summary"));
    }
}
