//! `blocker-three-parts`.

use crate::domain::handoff::finding::Finding;
use crate::domain::handoff::subject::View;
use crate::domain::handoff::vocabulary;
use crate::domain::language::Tongue;
use crate::domain::rule::Rule;
use crate::domain::task::Status;
use crate::domain::text;

const FIELD: &str = "handoff_blockers";

/// Asks that a blocked task says what blocks, who moves next and what is needed, and that one that is not blocked says
/// nothing of it.
///
/// A task that waits for nobody in particular waits for ever. Both seeds; contract section 5 ("blockers on a task that is not
/// blocked, or blocked without, contradict"). The parts are read in English and Japanese; in another language only the
/// length is looked at.
pub(super) fn judge(view: &View<'_>, findings: &mut Vec<Finding>) {
    if view.is_document() {
        return;
    }
    let blockers = view.subject.content.handoff_blockers.trim();
    let says_nothing = blockers.is_empty() || vocabulary::is_nothing(blockers);
    let blocked = view.subject.content.status == Status::Blocked;
    if !blocked {
        if !says_nothing {
            let fix = "the task is not blocked: set status blocked, or clear handoff_blockers";
            findings.push(Finding::warning(Rule::BlockerThreeParts, FIELD, fix).contradicting());
        }
        return;
    }
    if says_nothing {
        let fix = "the task is blocked: say what blocks, who moves next and what is needed";
        findings.push(Finding::warning(Rule::BlockerThreeParts, FIELD, fix).contradicting());
        return;
    }
    let missing = missing(view, blockers);
    if !missing.is_empty() {
        let fix =
            format!("say {}, e.g. \"<what> blocks; <who> moves next; needed: <what to do>\"", text::listed(&missing));
        findings.push(Finding::warning(Rule::BlockerThreeParts, FIELD, fix));
    }
}

/// The parts that are not there.
fn missing(view: &View<'_>, blockers: &str) -> Vec<String> {
    let parts = ["what blocks", "who moves next", "what is needed"].map(str::to_owned);
    if is_one_word(blockers) {
        return parts.to_vec();
    }
    let told = match Tongue::of([&view.blockers]) {
        Tongue::Other => return Vec::new(),
        _ if labels(view).into_iter().filter(|told| *told).count() > 1 => labels(view),
        _ => [text::length(blockers) >= 12, names_somebody(blockers), says_what_is_needed(blockers)],
    };
    parts.into_iter().zip(told).filter(|(_, told)| !told).map(|(part, _)| part).collect()
}

/// Which of the parts have a label in front: `What blocks:`, `Who moves next:`, `Needed:`.
fn labels(view: &View<'_>) -> [bool; 3] {
    const BLOCKS: [&str; 12] = [
        "block",
        "cause",
        "reason",
        "problem",
        "what",
        "ブロック",
        "原因",
        "理由",
        "止まって",
        "何が",
        "障害",
        "what blocks",
    ];
    const MOVES: [&str; 8] = ["who", "moves next", "next", "owner", "waits for", "誰", "次", "担当"];
    const NEEDED: [&str; 4] = ["need", "required", "必要", "依頼"];
    let parts = view.blockers.lines.iter().flat_map(|line| line.text.split("; "));
    let labels: Vec<String> = parts
        .filter_map(|part| part.split_once([':', '：']).map(|(label, _)| label.trim_matches(['*', ' ']).to_lowercase()))
        .filter(|label| text::length(label) < 30)
        .collect();
    let is_needed = |label: &String| vocabulary::has_any(label, &NEEDED);
    // "What is needed" is not what blocks.
    let has = |words: &[&str]| labels.iter().any(|label| !is_needed(label) && vocabulary::has_any(label, words));
    // A line without a label says what blocks.
    let is_bare = |text: &str| !text.contains([':', '：']) && text::length(text) >= 12;
    let is_told = view.blockers.lines.iter().any(|line| is_bare(line.text));
    [is_told || has(&BLOCKS), has(&MOVES), labels.iter().any(is_needed)]
}

/// Too little to hold three parts in any language.
fn is_one_word(blockers: &str) -> bool {
    blockers.split_whitespace().count() < 3 && text::length(blockers) < 12
}

fn says_what_is_needed(blockers: &str) -> bool {
    vocabulary::NEEDS.are_in(&blockers.to_lowercase())
}

/// True if a person, a team or a role is named: `@name`, a role, or a name behind "for", "from", "by", "ask" and the like, or
/// in front of what it is to do.
fn names_somebody(blockers: &str) -> bool {
    const BEFORE: [&str; 12] =
        ["for", "from", "by", "on", "ask", "asks", "with", "to", "of", "until", "when", "contact"];
    const AFTER: [&str; 10] = ["must", "has", "needs", "should", "is", "moves", "to", "will", "can", "approves"];
    let lower = blockers.to_lowercase();
    if vocabulary::ROLES.are_in(&lower) || vocabulary::ROLES_JAPANESE.are_in(&lower) {
        return true;
    }
    let words: Vec<&str> =
        blockers.split_whitespace().map(|word| word.trim_matches([',', '.', ';', ':', '(', ')'])).collect();
    let is_name = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_uppercase)
            && letters.clone().count() > 1
            && letters.all(|letter| letter.is_lowercase() || letter == '-')
    };
    words.iter().any(|word| word.len() > 1 && word.starts_with('@'))
        || words.windows(2).any(|pair| {
            let (one, other) = (pair[0].to_lowercase(), pair[1].to_lowercase());
            (BEFORE.contains(&one.as_str()) && is_name(pair[1]))
                || (is_name(pair[0]) && AFTER.contains(&other.as_str()))
        })
}
