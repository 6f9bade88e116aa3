//! The rules of a good handoff: one list, told in its order. Must never know where a handoff comes from, nor change it.

mod blockers;
mod branch;
mod hidden;
mod language;
mod memories;
mod previous_session;
mod receipt;
mod repository;
mod same_session;
mod states;
mod step;
mod summary;
mod tests;
mod transcript;

pub use branch::says_none;

use super::finding::Finding;
use super::subject::{Subject, View};
use crate::domain::rule::{Rule, Setting, Settings};

type Judge = fn(&View<'_>, &mut Vec<Finding>);

/// The rules, in the order in which their findings are told.
const RULES: [(Rule, Judge); 14] = [
    (Rule::SummaryOneSentence, summary::judge),
    (Rule::RepositoryNamed, repository::judge),
    (Rule::BranchAndCommit, branch::judge),
    (Rule::StatesDistinguished, states::judge),
    (Rule::TestsWithNumbers, tests::judge),
    (Rule::FirstStepExecutable, step::judge),
    (Rule::PreviousSessionLine, previous_session::judge),
    (Rule::MemoriesExist, memories::judge),
    (Rule::BlockerThreeParts, blockers::judge),
    (Rule::ReceiptComplete, receipt::judge),
    (Rule::NoTranscript, transcript::judge),
    (Rule::WorkingLanguage, language::judge),
    (Rule::NoHiddenCharacters, hidden::judge),
    (Rule::SameSession, same_session::judge),
];

/// Rules that find only what is missing.
const LACKING: [Rule; 5] = [
    Rule::RepositoryNamed,
    Rule::TestsWithNumbers,
    Rule::FirstStepExecutable,
    Rule::PreviousSessionLine,
    Rule::ReceiptComplete,
];

/// All findings on a handoff, but for those of rules that are off.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let view = View::of(subject);
    let mut findings = Vec::new();
    for (rule, judge) in RULES {
        let is_asked = subject.is_whole || !LACKING.contains(&rule);
        if is_asked && subject.settings.of(rule) != Setting::Off {
            judge(&view, &mut findings);
        }
    }
    findings
}

/// What is hidden in texts that belong to no handoff, unless the project does not ask.
pub fn hidden(texts: &[(&str, &str)], settings: &Settings) -> Vec<Finding> {
    if settings.of(Rule::NoHiddenCharacters) == Setting::Off {
        return Vec::new();
    }
    texts.iter().filter_map(|(field, text)| hidden::of_text(field, text)).collect()
}
