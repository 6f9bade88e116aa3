//! What a report could not find out, or what has to be seen to, as texts show it. Must never tell the first of several as if
//! there were no more.

use super::Report;
use super::shown::{clipped, on_one_line};
use super::speech::Speech;

/// How many are told.
const TOLD: usize = 5;
/// How many characters of one are shown.
const SHOWN: usize = 300;

impl Report {
    /// The first of them, and where the others are, each as a quotation on a line of its own: they are in English, whatever
    /// the project's language.
    pub(super) fn problem_lines(&self, speech: Speech) -> Vec<String> {
        self.problems_shown(speech).into_iter().map(|problem| format!("> - {problem}")).collect()
    }

    /// The first of them on one line each, and where the others are.
    pub(super) fn problems_shown(&self, speech: Speech) -> Vec<String> {
        let mut shown: Vec<String> =
            self.problems.iter().take(TOLD).map(|problem| clipped(&on_one_line(problem), SHOWN)).collect();
        let more = self.problems.len().saturating_sub(TOLD);
        if more > 0 {
            shown.push(speech.more_problems(more, &self.show_call()));
        }
        shown
    }
}
