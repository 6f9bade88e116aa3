//! Branches and commits as texts name them. Must never take part of an id, a path or a number for one.

use std::sync::LazyLock;

use regex::Regex;

use super::pattern;
use crate::domain::markdown::{Document, Line};

/// 7 to 40 hex digits. 64 are a commit of SHA-256 in a receipt; in a text they are the sum of a file.
static HASH: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?-u:\b)[0-9a-f]{7,40}(?-u:\b)"));

/// What stands in front of an id that is no commit.
const IDS: [&str; 5] = ["handoff: ", "task ", "task_id=", "m-", "session: "];

/// What makes the hash right behind it a commit, be it of letters or of digits alone.
const NAMED: [&str; 2] = ["head", "commit"];

/// The commits that a line names.
pub(in crate::domain::handoff) fn hashes<'t>(line: &Line<'t>) -> Vec<&'t str> {
    hashes_in(line.text)
}

/// The commits that a text of one line names.
pub(in crate::domain::handoff) fn hashes_in(text: &str) -> Vec<&str> {
    let stands_alone = |found: &regex::Match<'_>| {
        let (before, after) = (&text[..found.start()], &text[found.end()..]);
        let is_named = is_named(text, found.start());
        // Part of a UUID, a path, an option or an address.
        let is_part = before.ends_with(['-', '_', '#', '%'])
            || (before.ends_with('=') && !is_named)
            || after.starts_with(['-', '_', '/', '=', '%']);
        let near = just_before(text, found.start()).to_lowercase();
        let is_id = IDS.iter().any(|id| near.ends_with(id));
        !is_part && !is_id && (is_named || looks_like_commit(found.as_str()))
    };
    HASH.find_iter(text).filter(stands_alone).map(|found| found.as_str()).collect()
}

/// True if a place stands right behind a word for a commit.
fn is_named(text: &str, place: usize) -> bool {
    let before = label_before(text, place);
    NAMED.iter().any(|word| {
        let rest = before.strip_suffix(word);
        rest.is_some_and(|rest| rest.chars().next_back().is_none_or(|letter| !letter.is_alphanumeric()))
    })
}

/// What stands in front of a place, in lower case and without marks between a label and its value.
pub(in crate::domain::handoff) fn label_before(text: &str, place: usize) -> String {
    let before = just_before(text, place).to_lowercase();
    before.trim_end_matches([' ', '`', ':', '=', '：', '*']).to_owned()
}

/// The few characters in front of a place: as many as a word for it takes.
pub(in crate::domain::handoff) fn just_before(text: &str, place: usize) -> &str {
    &text[text.floor_char_boundary(place.saturating_sub(32))..place]
}

/// True for the form of a commit's hash.
pub(in crate::domain::handoff) fn looks_like_commit(text: &str) -> bool {
    let is_hex = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let has = |wanted: fn(&u8) -> bool| text.bytes().any(|byte| wanted(&byte));
    is_hex
        && ((7..=40).contains(&text.len()) || text.len() == 64)
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}

/// A field of a receipt that names a commit: its first word, in lower case.
pub(in crate::domain::handoff) fn named_commit(field: &str) -> String {
    field.split([' ', ',', ';', '(']).next().unwrap_or_default().trim_matches(['`', '"', '\'', '.']).to_lowercase()
}

/// True for the hash of a commit as a receipt may give it: a number by chance is one, too; one and the same digit is not.
pub(in crate::domain::handoff) fn is_commit(text: &str) -> bool {
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let first = text.bytes().next();
    is_hex && ((7..=40).contains(&text.len()) || text.len() == 64) && text.bytes().any(|byte| Some(byte) != first)
}

/// How names of branches start, and no folder of sources does.
static PREFIXED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?-u:\b)(?:feat|feature|features|fix|bugfix|hotfix|chore|refactor|release|perf|wip|spike|task|dependabot|renovate|claude|codex|copilot|cursor|agent|vk|topic|revert)/[A-Za-z0-9][A-Za-z0-9._/-]*",
    )
});

/// Commands of git that name a branch to work on.
static SWITCHED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"git (?:-C \S+ )?(?:switch|checkout|push(?: -u| --set-upstream| --force-with-lease)?(?: origin| fork| upstream)) +(?:--track +)?(?P<name>[A-Za-z0-9][A-Za-z0-9._/-]*)",
    )
});

/// Words for a branch in front of its name: a colon, backticks or a shape make it one.
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)(?:branch|ブランチ|zweig|branche|rama|分支)(?:\*\*)?(?P<mark> ?[:：=]?(?:\*\*)? *[`"'「]?)(?P<name>[A-Za-z0-9][A-Za-z0-9._/-]*)"#,
    )
});

/// The name in code in front of the word for a branch.
static BEFORE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)`(?P<name>[A-Za-z0-9][A-Za-z0-9._/-]*)` ?(?:branch|ブランチ|分支)"));

/// Branches that others start from.
pub(in crate::domain::handoff) const TRUNKS: [&str; 8] =
    ["main", "master", "develop", "dev", "trunk", "staging", "origin/main", "origin/master"];

/// How many branches of a text are looked at.
const BRANCHES: usize = 50;

/// The branches that a text says work is on, each once: behind the word for it, or in a command that switches to it. Those
/// that only look like one come last.
pub(in crate::domain::handoff) fn branches<'t>(document: &Document<'t>) -> Vec<&'t str> {
    let mut found: Vec<&str> = Vec::new();
    let mut add = |name: &'t str| {
        let name = name.trim_end_matches(['.', '/', '-']);
        if !name.is_empty() && found.len() < BRANCHES && !found.contains(&name) {
            found.push(name);
        }
    };
    for line in &document.lines {
        said(line).into_iter().for_each(&mut add);
    }
    for line in &document.lines {
        let found = line.text.contains('/').then(|| PREFIXED.find_iter(line.text));
        found.into_iter().flatten().map(|name| name.as_str()).filter(|name| !has_extension(name)).for_each(&mut add);
    }
    found
}

/// The branches that a line says work is on.
pub(in crate::domain::handoff) fn said<'t>(line: &Line<'t>) -> Vec<&'t str> {
    let text = line.text;
    let words = ["ranch", "RANCH", "ブランチ", "weig", "rama", "分支", "git "];
    if !words.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let switched = SWITCHED.captures_iter(text).filter_map(|found| found.name("name"));
    let labelled = LABELLED.captures_iter(text).filter_map(|found| {
        let (name, mark) = (found.name("name")?, found.name("mark")?.as_str());
        let is_marked = mark.contains(['`', '"', '\'', '「', ':', '：', '=']);
        (is_marked || is_branch_like(name.as_str())).then_some(name)
    });
    let before = BEFORE.captures_iter(text).filter_map(|found| found.name("name"));
    let names = switched.chain(labelled).chain(before).map(|name| name.as_str().trim_end_matches(['.', '/', '-']));
    names.filter(|name| !has_extension(name) && !matches!(*name, "HEAD" | "and" | "is" | "the")).collect()
}

/// True if a line holds the name of a branch in any form.
pub(in crate::domain::handoff) fn names_branch(line: &Line<'_>) -> bool {
    let is_trunk = line.codes.iter().any(|code| TRUNKS.contains(code));
    is_trunk
        || !said(line).is_empty()
        || (line.text.contains('/') && PREFIXED.find_iter(line.text).any(|name| !has_extension(name.as_str())))
}

fn is_branch_like(name: &str) -> bool {
    TRUNKS.contains(&name)
        || (name.contains(['/', '-', '_']) && name.len() > 3)
        || name.bytes().any(|b| b.is_ascii_digit())
}

fn has_extension(name: &str) -> bool {
    super::reference::has_extension(name)
}
