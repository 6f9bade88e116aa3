//! `no-transcript`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::subject::View;
use crate::domain::markdown::{Document, Kind};
use crate::domain::rule::Rule;

/// From how many lines on a block of code is a pasted file, not a command with what it printed.
const PASTED: usize = 40;
/// From how many lines on a diff is the work itself.
const DIFF: usize = 12;

/// Asks that no conversation and no contents of the repository are pasted into the texts.
///
/// The successor pays for every line of it and finds its step behind them; the repository has its contents already. Both
/// seeds ("never copy conversation history, repository contents"). By shape: turns of two speakers, records of a
/// transcript, marks that clients print, diffs, and long blocks of code.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    let description = Document::of(&view.subject.content.description);
    let texts = [
        ("handoff_next", &view.next),
        ("handoff_completed", &view.completed),
        ("handoff_blockers", &view.blockers),
        ("description", &description),
    ];
    for (field, document) in texts {
        if let Some(line) = conversation(document) {
            let fix = format!(
                "line {line}: a conversation stands here: write what came of it in a sentence, and drop the turns"
            );
            findings.push(Finding::warning(Rule::NoTranscript, field, fix));
        } else if let Some((line, length)) = contents(document) {
            let fix = format!(
                "line {line}: {length} lines of code or output: name the file, or the command that shows them, instead"
            );
            findings.push(Finding::warning(Rule::NoTranscript, field, fix));
        }
    }
}

/// Who speaks in a conversation with an agent.
const PEOPLE: [&str; 7] = ["user", "human", "me", "ユーザー", "ユーザ", "人間", "you"];
const AGENTS: [&str; 13] = [
    "assistant",
    "ai",
    "claude",
    "chatgpt",
    "gpt",
    "codex",
    "gemini",
    "copilot",
    "agent",
    "model",
    "bot",
    "アシスタント",
    "エージェント",
];
/// What records of transcripts hold, and what clients print in front of turns and results.
const MARKS: [&str; 8] = [
    "\"role\":\"user\"",
    "\"role\": \"user\"",
    "\"role\":\"assistant\"",
    "\"role\": \"assistant\"",
    "\"type\":\"assistant\"",
    "⎿",
    "⏺ ",
    "<tool_result>",
];

/// The line at which a conversation begins: turns of both sides, or marks of a transcript.
fn conversation(document: &Document<'_>) -> Option<usize> {
    let lines = || document.lines.iter().filter(|line| line.kind != Kind::Meta);
    let speaker = |text: &str, names: &[&str]| {
        let plain = text.trim_start_matches(['*', '>', ' ', '_', '[', '#', '❯']);
        let head = plain.split([':', '：']).next().unwrap_or_default().trim_end_matches(['*', ' ', '_', ']']);
        head.len() < plain.len() && names.iter().any(|name| head.eq_ignore_ascii_case(name))
    };
    let person = lines().find(|line| speaker(line.text, &PEOPLE)).map(|line| line.number);
    let agent = lines().find(|line| speaker(line.text, &AGENTS)).map(|line| line.number);
    let mut marks = lines().filter(|line| MARKS.iter().any(|mark| line.text.contains(mark)));
    let first_mark = marks.next().filter(|_| marks.next().is_some()).map(|line| line.number);
    match (person, agent) {
        (Some(person), Some(agent)) => Some(person.min(agent)),
        _ => first_mark,
    }
}

/// A run of lines of code.
#[derive(Clone, Copy, Default)]
struct Block {
    start: usize,
    length: usize,
    is_diff: bool,
}

/// Where a long block of code or a diff begins, and how many lines it has.
fn contents(document: &Document<'_>) -> Option<(usize, usize)> {
    let is_pasted = |block: &Block| block.length >= PASTED || (block.is_diff && block.length >= DIFF);
    let mut block = Block::default();
    for line in &document.lines {
        if line.kind == Kind::Code {
            if block.length == 0 {
                block.start = line.number;
            }
            block.length += 1;
            block.is_diff |= line.text.starts_with("diff --git") || line.text.starts_with("@@ -");
        } else if is_pasted(&block) {
            break;
        } else {
            block = Block::default();
        }
    }
    is_pasted(&block).then_some((block.start, block.length))
}
