//! The handoff of a run, made from its report and laid over what its task says. Must never take away what stands there, and
//! never tell a word of the harness or its model: those are in the receipt, marked as theirs.

use super::receipt::test_line;
use super::shown::{can_be_typed, clipped, code, commit, name, on_one_line, word};
use super::speech::{Speech, capital};
use super::{Outcome, Report, Test};
use crate::domain::handoff::previous_session;
use crate::domain::task::{Task, with_line};
use crate::domain::text::{SUMMARY_MAX, TEXT_MAX, grouped, head, length};

/// How many characters of a name a summary has.
const IN_SUMMARY: usize = 60;
/// How long a test command may be to be a first step.
const TYPED: usize = 400;
/// How many test commands what is done tells; the receipt has them all.
const TESTS: usize = 10;
/// How many characters of the reason are told.
const REASON: usize = 400;

/// What a run leaves to the next session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// The state in one sentence.
    pub summary: String,
    /// What is to be added below what is done.
    pub completed: String,
    /// The next steps: the run's, then those from before it.
    pub next: String,
}

impl Report {
    /// The handoff onto a task as it stands, in a project's language.
    pub fn handoff(&self, task: &Task, language: &str) -> Handoff {
        let speech = Speech::of(language);
        let summary = self.summary(language);
        Handoff {
            summary,
            completed: self.section(speech, &task.content.handoff_completed),
            next: self.next(speech, task),
        }
    }

    /// How it ended and what there is of it, in one sentence of at most 280 characters.
    pub fn summary(&self, language: &str) -> String {
        let speech = Speech::of(language);
        let work = &self.work;
        let branch = work.branch.as_deref().map(|branch| code(&clipped(&on_one_line(branch), IN_SUMMARY)));
        let mut parts = vec![speech.commits(work.commits_total, branch.as_deref())];
        match work.uncommitted_total {
            Some(0) => {}
            Some(count) => parts.push(speech.not_committed_in_short(count)),
            None => parts.push(speech.not_committed_unknown_in_short()),
        }
        parts.push(self.tests_in_short(speech));
        if !self.problems.is_empty() {
            parts.push(speech.problems(self.problems.len()));
        }
        let harness = clipped(&on_one_line(&self.harness.name), IN_SUMMARY);
        let run = speech.run(self.short_id(), &harness, self.outcome);
        let told = format!("{run}; {}{}", parts.join(speech.comma()), speech.stop());
        clipped(&speech.single(&told), SUMMARY_MAX)
    }

    fn tests_in_short(&self, speech: Speech) -> String {
        if self.tests.is_empty() {
            return speech.not_tested();
        }
        let run: Vec<&Test> = self.tests_run().collect();
        if run.is_empty() {
            return speech.none_run_in_short();
        }
        let told = in_short(&run, speech);
        match self.tests.len() - run.len() {
            0 => told,
            others => format!("{told}{}{}", speech.comma(), speech.others_not_run_in_short(others)),
        }
    }

    /// The test commands that were run.
    pub(super) fn tests_run(&self) -> impl Iterator<Item = &Test> {
        self.tests.iter().filter(|test| !test.not_run)
    }

    /// What is to be added below what is done: facts alone.
    fn section(&self, speech: Speech, before: &str) -> String {
        let work = &self.work;
        let stop = speech.stop();
        let harness = name(&self.harness.name);
        let repository = work.remote.as_deref().map_or_else(|| code(&work.repository), name);
        let branch = work.branch.as_deref().map(code);
        let (base, result) = (code(&commit(&work.base_commit)), work.result_commit.as_deref().map(commit));
        let place = speech.place(&repository, branch.as_deref(), &base, result.as_deref().map(code).as_deref());
        let mut lines =
            vec![format!("{}{stop}", place), format!("{}{stop}", speech.prepared(&self.work_in_facts(speech)))];
        match work.uncommitted_total {
            Some(0) => {}
            Some(count) => lines.push(format!("{}{stop}", speech.not_committed(count, &code(&work.worktree)))),
            None => {
                let told = speech.not_committed_unknown(&code(&work.worktree), work.worktree_gone);
                lines.push(format!("{told}{stop}"));
            }
        }
        if self.tests.is_empty() {
            lines.push(format!("{}{stop}", speech.tested(&speech.not_tested())));
        }
        lines.extend(self.tests.iter().take(TESTS).map(|test| {
            let line = test_line(test, speech);
            format!("{}{stop}", if test.not_run { capital(&line) } else { speech.tested(&line) })
        }));
        if self.tests.len() > TESTS {
            lines.push(speech.tested(&format!("… ({})", grouped(self.tests.len() - TESTS))));
        }
        lines.extend([speech.not_deployed(), speech.not_verified()]);
        let mut told =
            vec![format!("## {}", speech.single(&speech.run(self.short_id(), &harness, self.outcome))), String::new()];
        told.extend(lines.iter().map(|line| speech.line(line)));
        if !matches!(self.outcome, Outcome::Succeeded) {
            // The reason is in English, whatever the project's language: a quotation is nobody's language.
            told.extend([String::new(), format!("> {}", clipped(&on_one_line(&self.reason), REASON))]);
        }
        if !self.problems.is_empty() {
            told.extend([String::new(), speech.line(&speech.problems_are())]);
            told.extend(self.problem_lines(speech));
        }
        let blank = if before.is_empty() || before.ends_with("\n\n") { "" } else { "\n" };
        format!("{blank}{}", told.join("\n"))
    }

    /// What is to be done first: a command that can be typed as it stands.
    pub(super) fn first_step(&self) -> String {
        let work = &self.work;
        if self.outcome == Outcome::TestsFailed
            && let Some(test) = self.failing_test().filter(|test| is_short(test))
        {
            return self.test_call(test);
        }
        let paths = [&work.worktree, &work.repository];
        if work.is_any() == Some(false) || !paths.into_iter().all(|path| can_be_typed(path)) {
            return self.show_call();
        }
        match work.uncommitted_total {
            Some(1..) => format!("git -C {} status --short", word(&work.worktree)),
            None if !work.worktree_gone => self.compare(),
            _ => match work.commits_total {
                Some(1..) => self.look_at_commits(),
                // What is lost no command finds.
                Some(_) => self.show_call(),
                None => self.check_repository(),
            },
        }
    }

    /// What lies in a worktree that git does not tell of any more: compared with the last commit through an index of its own,
    /// as far as the repository is there, or else listed.
    fn compare(&self) -> String {
        let work = &self.work;
        let (worktree, repository) = (word(&work.worktree), word(&work.repository));
        let Some(result) = work.result_commit.as_deref().filter(|_| work.commits_total.is_some()) else {
            return format!("ls -lA {worktree}; {}", self.check_repository());
        };
        format!(
            "cd {worktree} && (export GIT_DIR=\"$(git -C {repository} rev-parse --absolute-git-dir)\" GIT_WORK_TREE=. \
             GIT_INDEX_FILE=\"$(mktemp -u)\"; git read-tree {} && git ls-files -dmot --exclude-standard || ls -lA)",
            commit(result)
        )
    }

    /// What is broken in the repository, and which commits are on no branch.
    fn check_repository(&self) -> String {
        format!("git -C {} fsck --no-reflogs", word(&self.work.repository))
    }

    fn failing_test(&self) -> Option<&Test> {
        self.tests.iter().find(|test| test.is_failed())
    }

    /// The call that runs a test command in the worktree, and no part of it elsewhere where that is gone.
    fn test_call(&self, test: &Test) -> String {
        let command = test.command.trim();
        // What stands behind one of these is run whether the folder was entered or not.
        let rest = command.replace("&&", "").replace(">&", "");
        let has_parts = rest.contains([';', '&']) || rest.contains("||");
        let command = if has_parts { format!("sh -c {}", word(command)) } else { command.to_owned() };
        format!("cd {} && {command}", word(&self.work.worktree))
    }

    /// The call that makes the worktree again where it is gone.
    fn worktree_again(&self, speech: Speech) -> String {
        let work = &self.work;
        let call =
            format!("git -C {} worktree add {} {}", word(&work.repository), word(&work.worktree), word(&self.tip()));
        speech.without_worktree(&code(&call))
    }

    fn look_at_commits(&self) -> String {
        let work = &self.work;
        format!(
            "git -C {} log --stat {}",
            word(&work.repository),
            word(&format!("{}..{}", commit(&work.base_commit), self.tip()))
        )
    }

    /// What the work is called in the repository, its worktree there or not. Where something went wrong, the branch that is
    /// checked out may be another one than the result's, or may be gone: then it is the commit.
    fn tip(&self) -> String {
        let work = &self.work;
        let branch = work.branch.as_deref().filter(|branch| can_be_typed(branch) && self.problems.is_empty());
        branch.map_or_else(|| work.result_commit.as_deref().map(commit).unwrap_or_default(), str::to_owned)
    }

    /// The steps behind the first.
    fn steps(&self, speech: Speech, first: &str) -> Vec<String> {
        let work = &self.work;
        let show = code(&self.show_call());
        let mut steps = Vec::new();
        if let (Outcome::TestsFailed, Some(test)) = (self.outcome, self.failing_test()) {
            let failed = self.tests.iter().filter(|test| test.is_failed()).count();
            steps.push(speech.failing(failed, self.tests_run().count(), &code(&test.log.path)));
            steps.push(self.worktree_again(speech));
        }
        let worktree = code(&work.worktree);
        match (work.uncommitted_total, work.result_commit.as_deref()) {
            (Some(0), _) => {}
            (Some(count), _) => steps.push(speech.keep_or_drop(count, &worktree)),
            (None, _) if work.worktree_gone => steps.push(speech.lost(&worktree)),
            (None, Some(result)) if first == self.compare() && work.commits_total.is_some() => {
                steps.push(speech.compared(&worktree, &code(&commit(result))));
            }
            (None, _) => {}
        }
        if work.commits_total.is_none() || work.uncommitted_total.is_none() && !work.worktree_gone {
            steps.push(speech.find_out(work.is_any(), work.commits_total.is_some(), &worktree));
        }
        if !self.problems.is_empty() {
            steps.push(speech.see_to_problems(self.problems.len()));
            steps.extend(self.problem_lines(speech));
        }
        steps.extend(self.going_on(speech));
        steps.extend(self.tests_to_run(speech));
        if first != self.show_call() {
            steps.push(speech.whole_report(&show));
        }
        steps
    }

    /// What becomes of the work.
    fn going_on(&self, speech: Speech) -> Option<String> {
        let work = &self.work;
        let log = code(&self.log.path);
        match (self.outcome, work.is_any()) {
            (_, None) => Some(speech.printed(&log)),
            (_, Some(false)) => Some(speech.start_over(&log)),
            (Outcome::Succeeded | Outcome::NoWork, _) if work.commits_total.is_some_and(|count| count > 0) => {
                let merge = code(&format!("git -C {} merge {}", word(&work.repository), word(&self.tip())));
                let is_plain = self.problems.is_empty() && work.uncommitted_total.is_some();
                Some(if is_plain { speech.review(&merge) } else { speech.review_after_problems(&merge) })
            }
            (Outcome::Succeeded | Outcome::NoWork | Outcome::TestsFailed, _) => None,
            _ => Some(speech.go_on(&code(&self.tip()), &log)),
        }
    }

    /// The test commands that were not run on what there is.
    fn tests_to_run(&self, speech: Speech) -> Vec<String> {
        let work = &self.work;
        let not_run: Vec<&Test> = self.tests.iter().filter(|test| test.not_run).collect();
        if not_run.is_empty() || work.is_any() != Some(true) {
            return Vec::new();
        }
        let typed = not_run.iter().filter(|test| is_short(test) && can_be_typed(&work.worktree)).take(TESTS);
        let calls: Vec<String> = typed.map(|test| speech.to_be_tested(&code(&self.test_call(test)))).collect();
        let is_made_again = work.worktree_gone && self.outcome != Outcome::TestsFailed && !calls.is_empty();
        let others = not_run.len() - calls.len();
        let mut steps: Vec<String> = is_made_again.then(|| self.worktree_again(speech)).into_iter().collect();
        steps.extend(calls);
        steps.extend((others > 0).then(|| speech.more_to_be_tested(others, &code(&self.show_call()))));
        steps
    }

    /// Where it stands what the task asks for. The next session is shown it only where no step is told, which this run's are:
    /// told where there were none before, or none but that.
    fn asked_for(speech: Speech, task: &Task, before: &str) -> Option<String> {
        let call = format!("heyaira task get {} --field description", task.short_id());
        let step = speech.line(&speech.asked_for(&code(&call)));
        let is_told_here = before.trim().is_empty() || before.lines().any(|line| line == step);
        (is_told_here && !task.content.description.trim().is_empty()).then_some(step)
    }

    /// The run's steps, then those that stood there before, then the session.
    fn next(&self, speech: Speech, task: &Task) -> String {
        let first = self.first_step();
        let mut lines = vec![first.clone()];
        lines.extend(self.steps(speech, &first).iter().map(|step| speech.line(step)));
        let header = speech.line(&speech.steps_from_before());
        if let Some(step) = Self::asked_for(speech, task, &before(&task.content.handoff_next, &[], &header)) {
            // Who has to do the work needs it before anything else, who has to look at it does not.
            let is_done = matches!(self.outcome, Outcome::Succeeded | Outcome::TestsFailed);
            lines.insert(if is_done { lines.len() } else { 1 }, step);
        }
        let before = before(&task.content.handoff_next, &lines, &header);
        if !before.trim().is_empty() {
            lines.push(header);
        }
        let made = lines.join("\n");
        let last = format!("Previous session: {}", self.session());
        let room = TEXT_MAX.saturating_sub(length(&made) + length(&last) + 2);
        let before = within(&before, room, speech, task);
        with_line(&if before.is_empty() { made } else { with_line(&made, &before) }, &last)
    }
}

/// What became of test commands that were run, in a few words.
fn in_short(run: &[&Test], speech: Speech) -> String {
    let totals: Vec<_> = run.iter().filter_map(|test| test.totals.as_ref()).collect();
    if totals.len() == run.len() && run.iter().all(|test| test.is_passed() || counts_a_failure(test)) {
        let sum = |of: fn(&&super::Totals) -> i64| totals.iter().map(of).fold(0, i64::saturating_add);
        return speech.tests_in_short(sum(|one| one.passed), sum(|one| one.failed), false);
    }
    let passed = run.iter().filter(|test| test.is_passed()).count();
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    speech.tests_in_short(count(passed), count(run.len() - passed), true)
}

/// True for a test command whose totals say that something failed: then they tell how it ended.
fn counts_a_failure(test: &Test) -> bool {
    test.totals.as_ref().is_some_and(|totals| totals.failed > 0)
}

fn is_short(test: &Test) -> bool {
    can_be_typed(&test.command) && length(&test.command) <= TYPED
}

/// The steps that stood there, without the line that named their session and without what is said anew.
fn before(next: &str, made: &[String], header: &str) -> String {
    let mut lines: Vec<&str> = next.trim_end().split('\n').collect();
    if previous_session(next).is_some() {
        lines.pop();
    }
    lines.retain(|line| *line != header && !made.iter().any(|one| one == line));
    lines.join("\n").trim_end().to_owned()
}

/// The text, or as much of it as there is room for, with the call for the rest.
fn within(text: &str, room: usize, speech: Speech, task: &Task) -> String {
    let of = length(text);
    if of <= room {
        return text.to_owned();
    }
    let call = format!("task_get task_id={} version={} field=handoff_next", task.short_id(), task.version);
    let note = |shown: usize| speech.line(&speech.cut(shown, of, &call));
    let shown = room.saturating_sub(length(&note(of)) + 1);
    format!("{}\n{}", head(text, shown), note(shown))
}
