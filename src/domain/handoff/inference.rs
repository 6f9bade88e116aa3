//! That something runs, or was seen to work, told of nothing but a test. Must never look beyond a sentence for what acquits
//! it: a commit in another one deploys nothing.

use super::sentence::sentences;
use super::shape::{command, git, reference};
use super::vocabulary;
use crate::domain::markdown::{Document, Kind, Line};

/// Words that claim that something runs or was seen to work.
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
/// What comes of what stands in front of it.
const THEREFORE: [&str; 12] = [
    "so",
    "therefore",
    "hence",
    "thus",
    "which means",
    "this means",
    "that means",
    "ので",
    "したがって",
    "よって",
    "だから",
    "ため",
];
/// What works for those that it is made for.
const WORKS: [&str; 13] = [
    "works",
    "working",
    "works fine",
    "runs",
    "is fine",
    "is live",
    "is safe",
    "can use",
    "is available",
    "動く",
    "動作",
    "使える",
    "問題な",
];
/// Those that it is made for, and where they are.
const REACH: [&str; 20] = [
    "for users",
    "for our users",
    "for the users",
    "for all users",
    "for customers",
    "for our customers",
    "for the customers",
    "for all customers",
    "for everyone",
    "for everybody",
    "users can",
    "customers can",
    "in production",
    "on production",
    "in prod",
    "利用者",
    "本番",
    "ユーザー",
    "顧客",
    "お客",
];
/// That a test found nothing.
const PASSED: [&str; 11] =
    ["pass", "green", "succe", "clean", "通った", "通って", "通り", "通過", "成功", "緑", "パスし"];
/// What is wished, or left to others.
const WISHES: [&str; 13] = [
    "could", "can be", "should", "must", "may ", "might", "will ", "would", "to be ", "has to", "have to", "予定",
    "はず",
];

/// How often one word is looked at in a sentence: what has it more often is none.
const LOOKED_AT: usize = 8;

/// The first line of a text in which something runs or works by a test alone.
pub(super) fn line(document: &Document<'_>) -> Option<usize> {
    document.prose().find(|line| line.kind == Kind::Text && is_inferred(line)).map(|line| line.number)
}

fn is_inferred(line: &Line<'_>) -> bool {
    let sentences = sentences(line);
    let lower: Vec<String> = sentences.iter().map(|sentence| sentence.text.to_lowercase()).collect();
    sentences.iter().enumerate().any(|(place, sentence)| {
        let before = place.checked_sub(1).map_or("", |before| &lower[before]);
        follows_from_a_test(sentence, before, &lower[place]) || stands_on_a_test(sentence, &lower[place])
    })
}

/// True if a sentence concludes from a test that passed, told in it or in the one before, that something runs or works.
fn follows_from_a_test(sentence: &Line<'_>, sentence_before: &str, lower: &str) -> bool {
    let mut found = THEREFORE.iter().flat_map(|word| places(lower, word).take(LOOKED_AT));
    found.any(|(start, end)| {
        let (cause, told) = (&lower[..start], &lower[end..]);
        let cause = if cause.trim().is_empty() { sentence_before } else { cause };
        // "So that" tells what for, "so far" until when.
        let is_other = lower[start..].starts_with("so that ") || lower[start..].starts_with("so far");
        !is_other
            && tells_of_a_passed_test(cause)
            && (claims_to_work(told) || (claim_in(told).is_some() && !has_evidence(sentence, told)))
    })
}

/// Where a whole word stands in a text.
fn places<'t>(lower: &'t str, word: &'t str) -> impl Iterator<Item = (usize, usize)> + 't {
    let beside = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_ascii_alphanumeric());
    let found = lower.match_indices(word).map(move |(start, _)| (start, start + word.len()));
    found.filter(move |(start, end)| {
        !word.is_ascii() || (beside(lower[..*start].chars().next_back()) && beside(lower[*end..].chars().next()))
    })
}

fn tells_of_a_passed_test(lower: &str) -> bool {
    let is_test = vocabulary::has_any(lower, &["test", "suite", "spec", "テスト", "試験"])
        || vocabulary::has_whole(lower, &["ci"]);
    let has_passed = vocabulary::has_any(lower, &PASSED) || vocabulary::has_whole(lower, &["ok"]);
    is_test && has_passed
}

fn claims_to_work(lower: &str) -> bool {
    let plain = lower.replace("問題なく", "").replace("問題ない", "").replace("問題なし", "");
    vocabulary::has_any(lower, &WORKS)
        && vocabulary::has_any(lower, &REACH)
        && !vocabulary::has_any(lower, &WISHES)
        && !vocabulary::DENIALS.are_in(&plain)
}

/// True if a sentence calls something deployed or verified, and names a test and nothing else for it.
fn stands_on_a_test(sentence: &Line<'_>, lower: &str) -> bool {
    // A list of the states names them side by side.
    let rest = if vocabulary::has(lower, "prepared") { None } else { claim_in(lower) };
    rest.is_some_and(|rest| {
        let is_test = vocabulary::has_any(&rest, &["test", "suite", "テスト", "spec"])
            || command::all_of_line(sentence).iter().any(|one| command::is_test(one));
        let has_reason = vocabulary::has_any(&rest, &["because", "since all", "as all", "ので", "ため"]);
        is_test && (has_reason || !has_evidence(sentence, &rest))
    })
}

/// True if a place, a change or a commit is named.
fn has_evidence(sentence: &Line<'_>, rest: &str) -> bool {
    vocabulary::PLACES.are_in(rest) || reference::names_change(sentence) || !git::hashes(sentence).is_empty()
}

/// What a line claims, if it claims that something runs or was seen to work: what stands around the claim.
pub(super) fn claim(line: &Line<'_>) -> Option<String> {
    claim_in(&line.text.to_lowercase())
}

fn claim_in(lower: &str) -> Option<String> {
    let found = CLAIMS.into_iter().find(|claim| vocabulary::has(lower, claim))?;
    let (before, behind) = lower.split_once(found)?;
    let said = behind.trim_start_matches([':', '：', ' ', '*']).trim_end_matches(['.', '。', ' ']);
    let is_denied = vocabulary::is_nothing(said)
        || said.starts_with("no ")
        || vocabulary::DENIALS.are_in(behind)
        || before.ends_with("un-")
        || vocabulary::has_any(before, &["not", "nothing", "never", "未"])
        || vocabulary::has_any(before, &WISHES);
    (!is_denied).then(|| format!("{before} {behind}"))
}
