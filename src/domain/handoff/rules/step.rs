//! `first-step-executable`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::line::PREVIOUS_SESSION;
use crate::domain::handoff::shape::typed::{self, Step};
use crate::domain::handoff::shape::{command, git, reference};
use crate::domain::handoff::subject::View;
use crate::domain::markdown::{Document, Kind, Line};
use crate::domain::rule::Rule;
use crate::domain::text;

/// Asks that the first line of `handoff_next` is a command, or an instruction that names a file, a branch, a pull request or a
/// command.
///
/// It is what a handoff is measured by: the next session reaches its first useful action from the task alone. Both seeds.
/// All of that is a shape; that nothing of it stands anywhere in the text is an error in every language.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    let mut lines = view.next.content().filter(|line| !line.text.starts_with(PREVIOUS_SESSION));
    let Some(first) = lines.find(|line| !is_head(&view.next, line) && !typed::is_note(line)) else {
        findings.push(nothing(view));
        return;
    };
    if let Some(placeholder) = to_type(first).and_then(placeholder) {
        let fix = format!("line {}: put the real value in the place of {placeholder}", first.number);
        findings.push(Finding::warning(Rule::FirstStepExecutable, "handoff_next", fix));
        return;
    }
    if can_be_taken(first) || is_opening(&view.next, first) {
        return;
    }
    let mut all = std::iter::once(first).chain(lines);
    let command = view.next.content().find_map(|line| to_type(line).map(|command| (line.number, command)));
    let change = view.next.content().find(|line| reference::names_change(line) && reference::file(line.text).is_none());
    let named = all.find_map(|line| reference::pointed_to(line).map(|named| (line.number, named)));
    let shown = text::quoted(first.text, 50);
    let finding = |fix: String| Finding::warning(Rule::FirstStepExecutable, "handoff_next", fix);
    findings.push(if let Some((number, command)) = command {
        finding(format!("{shown} cannot be run: put the command of line {number} first, {}", text::quoted(command, 70)))
    } else if let Some(line) = change {
        finding(format!(
            "{shown} cannot be run: put the step of line {} first, {}",
            line.number,
            text::quoted(line.text, 70)
        ))
    } else if let Some((number, named)) = named {
        finding(format!(
            "{shown} cannot be run: say in it what to run or open first, e.g. {} of line {number}",
            text::head(named, 70)
        ))
    } else if typed::step(first) == Step::Unclear {
        finding(format!("{shown} reads like a sentence: put what is to be typed into backticks{}", example(view)))
    } else if view.is_document() {
        let fix = "name the file, branch, pull request or command to start with";
        finding(format!("{shown} cannot be run: {fix}{}", example(view)))
    } else {
        let fix = "start with a command, or name a file, branch or pull request";
        Finding::error(
            Rule::FirstStepExecutable,
            "handoff_next",
            format!("{shown} cannot be run: {fix}{}", example(view)),
        )
    });
}

fn nothing(view: &View<'_>) -> Finding {
    if view.is_document() {
        let fix = format!("add a section that says what comes next, its first step as a command{}", example(view));
        return Finding::warning(Rule::FirstStepExecutable, "handoff_next", fix).lacking();
    }
    let fix = format!("start with the first step as a command to run{}", example(view));
    Finding::error(Rule::FirstStepExecutable, "handoff_next", fix).lacking()
}

/// The command that a line is, or names.
fn to_type<'t>(line: &Line<'t>) -> Option<&'t str> {
    match typed::step(line) {
        Step::Command(command) => Some(command),
        Step::Unclear | Step::Words => None,
    }
}

/// True for the head of a table, which says what its rows hold.
fn is_head(next: &Document<'_>, line: &Line<'_>) -> bool {
    let mut behind = next.lines.iter().skip_while(|one| one.number <= line.number);
    line.kind == Kind::Row && behind.next().is_some_and(|one| one.kind == Kind::Rule)
}

/// True if somebody could act on the line without searching.
fn can_be_taken(line: &Line<'_>) -> bool {
    let is_call = |code: &&str| code.ends_with("()") || code.contains("::");
    to_type(line).is_some()
        || typed::names_what_to_change(line)
        || reference::names_file(line)
        || reference::names_change(line)
        || git::names_branch(line)
        || line.codes.iter().any(is_call)
}

/// True for a line that only opens what follows it, which can be taken: `Start from:` and a list, or a block of code.
fn is_opening(next: &Document<'_>, first: &Line<'_>) -> bool {
    let mut lines = next.lines.iter().skip_while(|line| line.number <= first.number);
    let following = lines.next();
    let opens = first.text.ends_with(':')
        || first.text.ends_with('：')
        || following.is_some_and(|line| line.kind == Kind::Fence);
    let step = following.filter(|line| line.kind != Kind::Fence).or_else(|| lines.next());
    opens && step.is_some_and(can_be_taken)
}

/// What stands in a command for something that its reader would have to find: `<name>`.
fn placeholder(command: &str) -> Option<&str> {
    let start = command.find('<')?;
    let end = start + command[start..].find('>')?;
    let inside = &command[start + 1..end];
    let is_name = inside.starts_with(|first: char| first.is_ascii_alphabetic())
        && inside.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_ .".contains(letter));
    is_name.then_some(&command[start..=end])
}

/// A step that the handoff itself could begin with.
fn example(view: &View<'_>) -> String {
    let branch = Some(view.receipt_field("branch")).filter(|branch| !branch.is_empty() && !branch.contains(' '));
    let branch = branch.map(|branch| format!("git switch {}", text::head(branch, 60)));
    let lines = view.tests.lines.iter().chain(view.completed.lines.iter());
    let test = lines
        .flat_map(command::all_of_line)
        .find(|one| command::is_test(one))
        .map(|one| text::head(command::test_part(one), 60));
    match (branch, test) {
        (Some(branch), Some(test)) => format!(", e.g. {branch} && {test}"),
        (Some(one), None) => format!(", e.g. {one}"),
        (None, Some(one)) => format!(", e.g. {one}"),
        (None, None) => String::new(),
    }
}
