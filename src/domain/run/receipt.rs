//! The work receipt of a run, made from its report. Must never tell a word of the harness or its model without saying whose
//! it is and that nobody checked it.

use super::shown::{clipped, code, name, on_one_line};
use super::speech::Speech;
use super::{Report, Test};
use crate::domain::receipt::Receipt;
use crate::domain::text::{head, length, listed};

/// How many files that are not committed are named.
const FILES: usize = 20;
/// How many of the commits' first lines are told.
const SUBJECTS: usize = 20;
/// How many characters of one are shown.
const SUBJECT: usize = 120;
/// How many characters of the harness's last message a receipt has.
const MESSAGE: usize = 2_000;
/// How many errors that the harness told of are shown, and how many characters of each.
const ERRORS: (usize, usize) = (5, 300);
/// How many refused tools are named.
const TOOLS: usize = 20;
/// What stands in a field that nothing is known for.
const UNKNOWN: &str = "unknown";
/// What stands where there is none.
const NONE: &str = "none";
/// What stands where there may be one. It begins as [`NONE`], which no rule takes for a name.
const NONE_KNOWN: &str = "none known";

impl Report {
    /// The receipt, in a project's language. Every field is set, so that none is taken from an earlier receipt of the
    /// session.
    pub fn receipt(&self, language: &str) -> Receipt {
        let speech = Speech::of(language);
        let work = &self.work;
        let or = |text: Option<&str>, other: &str| {
            Some(text.filter(|text| !text.is_empty()).map_or_else(|| other.to_owned(), name))
        };
        // Where git could not say what is there, that nothing is named is no claim that there is nothing.
        let missing = if work.commits_total.is_none() { NONE_KNOWN } else { NONE };
        let version = self.harness.version.as_deref().map_or_else(String::new, |version| format!(" {version}"));
        Receipt {
            session_ref: Some(self.session()),
            harness: Some(name(&format!("{}{version}", self.harness.name))),
            model: or(self.model.as_deref(), UNKNOWN),
            branch: or(work.branch.as_deref(), missing),
            base_commit: or(Some(&work.base_commit), NONE),
            result_commit: or(work.result_commit.as_deref(), missing),
            tests: Some(self.tests_told(speech)),
            completed_work: Some(self.work_told(speech)),
            next_step: Some(self.first_step()),
            blockers: Some(self.blockers()),
        }
    }

    /// Each test command with how it ended and what it counted, or that it was not run.
    fn tests_told(&self, speech: Speech) -> String {
        if self.tests.is_empty() {
            return format!("{}{}", speech.not_tested(), speech.stop());
        }
        let (passed, run) = (self.tests.iter().filter(|test| test.is_passed()).count(), self.tests_run().count());
        let header = (run > 0).then(|| format!("{}:", speech.commands_passed(passed, run)));
        // Those that were run stand below their header.
        let others = self.tests.iter().filter(|test| test.not_run);
        let lines = header.into_iter().chain(self.tests_run().chain(others).map(|test| test_line(test, speech)));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What git saw, what could not be found out, then what was said of it.
    fn work_told(&self, speech: Speech) -> String {
        let mut lines = vec![format!("{}{}", self.work_in_facts(speech), speech.stop())];
        lines.extend(self.uncommitted_told(speech));
        if !self.problems.is_empty() {
            lines.push(format!("{} {}", speech.problems_are(), self.problems_shown(speech).join(" ")));
        }
        lines.push(format!("{}{}", self.time_told(speech), speech.stop()));
        lines.extend(self.said_by_harness(speech));
        lines.join("\n")
    }

    fn uncommitted_told(&self, speech: Speech) -> Option<String> {
        let work = &self.work;
        let worktree = code(&work.worktree);
        match work.uncommitted_total {
            Some(0) => None,
            None => Some(format!("{}{}", speech.not_committed_unknown(&worktree, work.worktree_gone), speech.stop())),
            Some(total) => {
                let files: Vec<String> =
                    work.uncommitted.iter().take(FILES).map(|file| code(&clipped(file, SUBJECT))).collect();
                let more = if i64::try_from(files.len()).is_ok_and(|named| named < total) { ", …" } else { "" };
                Some(format!("{}: {}{more}", speech.not_committed(total, &worktree), files.join(", ")))
            }
        }
    }

    /// Commits, files and lines, as a part of a sentence.
    pub(super) fn work_in_facts(&self, speech: Speech) -> String {
        let work = &self.work;
        if work.is_any() == Some(false) {
            return speech.nothing();
        }
        let branch = work.branch.as_deref().map(|branch| code(&clipped(branch, SUBJECT)));
        let commits = speech.commits(work.commits_total, branch.as_deref());
        if work.commits_total.is_none_or(|count| count == 0) {
            return commits;
        }
        let counts = [work.files_changed, work.insertions, work.deletions];
        format!("{commits}{}{}", speech.comma(), speech.lines(counts))
    }

    fn time_told(&self, speech: Speech) -> String {
        let cost = self.cost.usd.map(|usd| format!("{usd:.4} ({})", name(&self.cost.basis)));
        speech.time_and_cost((self.harness_ms + 500) / 1_000, cost.as_deref())
    }

    /// What the harness and its model said, each marked as that.
    fn said_by_harness(&self, speech: Speech) -> Vec<String> {
        let said = &self.said;
        let mut lines = Vec::new();
        let subjects: Vec<String> =
            self.work.commits.iter().take(SUBJECTS).map(|commit| quotation(&commit.subject, SUBJECT)).collect();
        if !subjects.is_empty() {
            let told = i64::try_from(subjects.len()).unwrap_or(i64::MAX);
            // Where nobody counted them there may be more.
            let more = if self.work.commits_total.is_none_or(|total| total > told) { "; …" } else { "" };
            lines.push(format!("{} {}{more}", speech.commits_say(), subjects.join("; ")));
        }
        let denied: Vec<String> = said
            .denied_tools
            .iter()
            .take(TOOLS)
            .map(|denied| format!("{} ({})", name(&denied.tool), denied.times))
            .collect();
        if !denied.is_empty() {
            let more = if said.denied_tools.len() > TOOLS { ", …" } else { "" };
            lines.push(format!("{} {}{more}", speech.denied(), denied.join(", ")));
        }
        if !said.errors.is_empty() {
            let errors: Vec<String> =
                said.errors.iter().take(ERRORS.0).map(|error| quotation(error, ERRORS.1)).collect();
            let more = if said.errors.len() > ERRORS.0 { "; …" } else { "" };
            lines.push(format!("{} {}{more}", speech.harness_errors(), errors.join("; ")));
        }
        if let Some(message) = said.final_message.as_deref().map(str::trim).filter(|message| !message.is_empty()) {
            lines.push(self.message_told(speech, message));
        }
        lines
    }

    fn message_told(&self, speech: Speech, message: &str) -> String {
        let told = format!("{} {}", speech.harness_says(), quotation(message, MESSAGE));
        let of = length(message);
        if of <= MESSAGE {
            return told;
        }
        format!("{told} {}", speech.cut(MESSAGE, of, &self.show_call()))
    }

    /// What stands in the way, where something of the run itself does.
    fn blockers(&self) -> String {
        use super::Outcome::{
            Failed, HarnessError, Interrupted, NoWork, OverBudget, Silent, Succeeded, TestsFailed, TimedOut,
        };
        match self.outcome {
            Succeeded | NoWork => String::new(),
            TestsFailed => {
                let failed = self.tests.iter().filter(|test| test.is_failed());
                listed(&failed.map(|test| code(&test.command)).collect::<Vec<_>>())
            }
            Failed | TimedOut | Silent | OverBudget | Interrupted | HarnessError => {
                format!("{}: {}", self.outcome.as_str(), clipped(&on_one_line(&self.reason), MESSAGE))
            }
        }
    }
}

/// What became of a test command.
pub(super) fn test_line(test: &Test, speech: Speech) -> String {
    if test.not_run {
        return speech.not_run(&code(&test.command));
    }
    let totals = test.totals.as_ref();
    let runner = totals.map_or_else(String::new, |totals| format!(" ({})", name(&totals.runner)));
    let (end, totals) = (speech.end_of_test(test), speech.totals(totals));
    format!("{}: {end}{}{totals}{runner}", code(&test.command), speech.comma())
}

/// Somebody's words in quotation marks on one line, shortened with a mark.
fn quotation(words: &str, most: usize) -> String {
    let is_whole = length(words) <= most;
    let shown = on_one_line(head(words, most)).replace('"', "'");
    format!("\"{shown}{}\"", if is_whole { "" } else { "…" })
}
