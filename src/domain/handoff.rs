//! The handoff: its line, its last line, and the rules of a good one. Must never judge by guessing: each rule is
//! deterministic and names the field and the mend.
//!
//! The rules that need to read prose belong in [`RULES`] beside the ones that are here.

mod grade;

use serde::Serialize;
use uuid::Uuid;

use crate::domain::receipt::Receipt;
use crate::domain::session;
use crate::domain::task::{Content, Status, short_id};
use crate::domain::{memory, text};

pub use grade::Grade;

/// How the last line of a handoff starts.
const PREVIOUS_SESSION: &str = "Previous session:";

/// A pasted handoff line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The id or its beginning, in lower case.
    pub id: String,
    /// The version, where the line has one.
    pub version: Option<i64>,
}

/// `handoff: 8e287857 v7`.
pub fn line(task_id: Uuid, version: i64) -> String {
    format!("handoff: {} v{version}", short_id(task_id))
}

/// Reads a pasted line: also wrapped, in backticks or quotes, in other letter case, inside a sentence, without a
/// version, or only an id.
///
/// The error is what is wrong, to follow the field's name.
pub fn parse_line(pasted: &str) -> Result<Line, String> {
    let shown = text::quoted(pasted.trim(), 60);
    let lower = pasted.to_ascii_lowercase();
    let (rest, is_line) = match lower.find("handoff:") {
        Some(start) => (&lower[start + "handoff:".len()..], true),
        None => (lower.as_str(), false),
    };
    let rest = rest.trim_start_matches(|character: char| !character.is_alphanumeric());
    let id: String =
        rest.chars().take_while(|character| character.is_ascii_alphanumeric() || *character == '-').collect();
    let after = rest[id.len()..].trim_start_matches(|character: char| !character.is_alphanumeric());
    let id = id.trim_end_matches('-').to_owned();
    let hex = id.chars().filter(char::is_ascii_hexdigit).count();
    if id.is_empty() || id.chars().any(|character| !(character.is_ascii_hexdigit() || character == '-')) || hex > 32 {
        return Err(format!("{shown} is no handoff line: it looks like handoff: 8e287857 v7"));
    }
    let least = if is_line { 8 } else { 4 };
    if hex < least {
        return Err(format!("{shown} has only {hex} characters of the task id: a line needs all 8"));
    }
    let digits = after.strip_prefix('v').map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    let version = match digits.filter(|digits| !digits.is_empty()) {
        None if after.starts_with(|character: char| character.is_ascii_digit()) && is_line => {
            return Err(format!("{shown} has a version without its v: it looks like handoff: 8e287857 v7"));
        }
        None => None,
        Some(digits) => match digits.parse::<i64>() {
            Ok(version) if version > 0 => Some(version),
            _ => return Err(format!("{shown} has no possible version")),
        },
    };
    Ok(Line { id, version })
}

/// What is wrong with a pasted line, if anything is; to follow the field's name.
pub fn line_problem(pasted: &str) -> Option<String> {
    parse_line(pasted).err()
}

/// The session named in the last line of `handoff_next`.
pub fn previous_session(handoff_next: &str) -> Option<&str> {
    let rest = text::last_line(handoff_next).trim_start().strip_prefix(PREVIOUS_SESSION)?;
    Some(rest.trim()).filter(|named| !named.is_empty())
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The successor would have to ask or search.
    Error,
    /// It would be better.
    Warning,
}

/// One thing to mend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stable name of the rule.
    pub rule: &'static str,
    /// How much it matters.
    pub level: Level,
    /// The field to change.
    pub field: String,
    /// What to do, in one line.
    pub fix: String,
    /// True if it makes the handoff misleading: it contradicts itself.
    #[serde(skip)]
    pub contradicts: bool,
}

/// What is known about a memory that a text names.
#[derive(Clone, Debug)]
pub struct NamedMemory {
    /// The id.
    pub memory_id: String,
    /// True if it exists in the project.
    pub exists: bool,
    /// What replaces it.
    pub superseded_by: Option<String>,
}

/// What the rules look at.
#[derive(Debug)]
pub struct Subject<'s> {
    /// The task's content.
    pub content: &'s Content,
    /// The last receipt since the takeover, if one came.
    pub receipt: Option<&'s Receipt>,
    /// The memories that the texts name.
    pub named: &'s [NamedMemory],
    /// Decisions that this session added for this task and no text names.
    pub unnamed_decisions: &'s [String],
}

type Rule = fn(&Subject<'_>, &mut Vec<Finding>);

/// The rules, in the order in which their findings are told.
const RULES: [Rule; 6] = [summary, first_step, previous_session_line, receipt_complete, memories_exist, blockers_match];

/// All findings on a handoff.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in RULES {
        rule(subject, &mut findings);
    }
    findings
}

/// The memory ids that a handoff names.
pub fn memories_named(content: &Content) -> Vec<String> {
    memory::named_ids([content.handoff_next.as_str(), &content.handoff_completed, &content.handoff_blockers])
}

fn finding(rule: &'static str, level: Level, field: &str, fix: impl Into<String>) -> Finding {
    Finding { rule, level, field: field.to_owned(), fix: fix.into(), contradicts: false }
}

fn summary(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let summary = subject.content.summary.trim();
    if summary.is_empty() {
        findings.push(finding("summary-one-sentence", Level::Error, "summary", "say the state in one sentence"));
    } else if summary.eq_ignore_ascii_case(subject.content.title.trim()) {
        findings.push(finding("summary-one-sentence", Level::Warning, "summary", "say the state, not the title again"));
    }
}

fn first_step(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let next = subject.content.handoff_next.trim_start();
    let first = next.lines().next().unwrap_or_default();
    if first.is_empty() || first.starts_with(PREVIOUS_SESSION) {
        findings.push(finding(
            "first-step-executable",
            Level::Error,
            "handoff_next",
            "start with the first step as a command to run",
        ));
    }
}

fn previous_session_line(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let next = &subject.content.handoff_next;
    let mut push = |level, fix: String| findings.push(finding("previous-session-line", level, "handoff_next", fix));
    match previous_session(next) {
        None if next.contains(PREVIOUS_SESSION) => {
            push(Level::Error, format!("make {PREVIOUS_SESSION} <session_ref> the last line"));
        }
        None => push(Level::Error, format!("end with {PREVIOUS_SESSION} <session_ref>")),
        Some(named) => {
            if let Some(problem) = session::session_ref_problem(named) {
                push(Level::Warning, format!("name the session: {problem}"));
            }
        }
    }
}

fn receipt_complete(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(receipt) = subject.receipt else {
        findings.push(finding(
            "receipt-complete",
            Level::Error,
            "work_receipt",
            "send work_receipt with session_ref, branch, result_commit, tests, completed_work and next_step",
        ));
        return;
    };
    let needed = ["harness", "model", "branch", "base_commit", "result_commit", "tests", "completed_work", "next_step"];
    let missing: Vec<&str> = receipt
        .fields()
        .into_iter()
        .filter(|(name, value)| needed.contains(name) && value.as_deref().unwrap_or_default().trim().is_empty())
        .map(|(name, _)| name)
        .collect();
    if !missing.is_empty() {
        let fix = format!("add {}; write \"none\" where there is none", missing.join(", "));
        findings.push(finding("receipt-complete", Level::Warning, "work_receipt", fix));
    }
}

/// The most ids that one finding names.
const IDS_NAMED: usize = 10;

/// One finding for each field and each thing wrong, however many memories it is about.
fn memories_exist(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let fields = [
        ("handoff_next", &subject.content.handoff_next),
        ("handoff_completed", &subject.content.handoff_completed),
        ("handoff_blockers", &subject.content.handoff_blockers),
    ];
    let field_of = |id: &str| {
        let named = fields.iter().find(|(_, text)| text.contains(id));
        named.map_or("handoff_blockers", |(name, _)| *name)
    };
    let placed: Vec<(&str, &NamedMemory)> = subject.named.iter().map(|one| (field_of(&one.memory_id), one)).collect();
    for (field, _) in fields {
        let here = || placed.iter().filter(|(place, _)| *place == field).map(|(_, one)| *one);
        let unknown: Vec<String> = here().filter(|one| !one.exists).map(|one| one.memory_id.clone()).collect();
        if !unknown.is_empty() {
            let (verb, them) = if unknown.len() == 1 { ("does", "it") } else { ("do", "them") };
            let fix =
                format!("{} {verb} not exist in this project: correct {them}", text::first_of(&unknown, IDS_NAMED));
            findings.push(finding("memories-exist", Level::Error, field, fix));
        }
        let old = here().filter(|one| one.exists);
        let old = old.filter_map(|one| one.superseded_by.as_ref().map(|newer| (&one.memory_id, newer)));
        let old: Vec<String> = old.map(|(id, newer)| format!("{id} is superseded by {newer}")).collect();
        if !old.is_empty() {
            let them = if old.len() == 1 { "that one" } else { "those" };
            let fix = format!("{}: name {them}", text::first_of(&old, IDS_NAMED));
            findings.push(finding("memories-exist", Level::Warning, field, fix));
        }
    }
    if !subject.unnamed_decisions.is_empty() {
        let named = text::first_of(subject.unnamed_decisions, IDS_NAMED);
        let fix = format!("name the decisions added in this session: {named}");
        findings.push(finding("memories-exist", Level::Warning, "handoff_next", fix));
    }
}

/// Too little to hold three parts in any language.
fn is_one_word(blockers: &str) -> bool {
    blockers.split_whitespace().count() < 3 && text::length(blockers) < 12
}

fn blockers_match(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let blockers = subject.content.handoff_blockers.trim();
    let blocked = subject.content.status == Status::Blocked;
    let fix = match (blockers.is_empty(), blocked) {
        (false, false) => "the task is not blocked: set status blocked, or clear handoff_blockers",
        (true, true) => "say what blocks, who moves next and what is needed",
        (false, true) if is_one_word(blockers) => "one word is not enough: what blocks, who moves next, what is needed",
        _ => return,
    };
    findings.push(finding("blocker-three-parts", Level::Warning, "handoff_blockers", fix));
}
