//! One pass over a text: an automaton of all prefixes and words finds where something may stand, and a rule looks at
//! each such place. Linear in the text: no rule looks further than a bounded way, or than the next place of its own.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::formats::{self, Format, Test};
use super::random::{has_check_digits, is_placeholder, is_random, is_spread};
use super::shape::{matched, starts_word};
use super::{assigned, block, command, header, own, url, web_token};

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it is, with its article.
    pub sort: &'static str,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// True for `HeyAira`'s own.
    pub is_own: bool,
    /// True where the name in front tells it alone, so that whatever else is found there tells its sort.
    pub(super) by_name: bool,
}

impl Found {
    pub(super) const fn new(sort: &'static str, range: Range<usize>) -> Self {
        Self { sort, range, is_own: false, by_name: false }
    }
}

/// A rule that reads on from a word, given where the word starts and ends.
pub(super) type Rule = fn(&str, Range<usize>) -> Option<Found>;

/// What is looked at where a word stands: a row of the formats, or a rule.
enum Look {
    Format(&'static Format),
    Rule(Rule),
}

/// The words after which a rule reads on; letters in any case.
const RULES: &[(&str, Rule)] = &[
    (own::TOKEN_PREFIX, own::token),
    ("#", own::write_context),
    ("://", url::password),
    ("eyj", web_token::web_token),
    ("begin ", block::private_key),
    ("-----end ", block::end_of_private_key),
    ("private-lines:", block::putty_key),
    ("authorization", header::authorization),
    ("bearer", header::bearer),
    ("cookie", header::cookie),
    ("-u ", header::user),
    ("--user ", header::user),
    ("sshpass -p", header::sshpass),
    ("sig=", url::signature),
    ("_auth", assigned::value),
    ("masterauth", assigned::value),
    ("art-api", assigned::value),
    ("passwort", assigned::value),
    ("mot_de_passe", assigned::value),
    ("passcode", assigned::value),
    ("auth", header::registry),
    ("key", assigned::value),
    ("base", assigned::value),
    ("token", assigned::value),
    ("secret", assigned::value),
    ("password", assigned::value),
    ("passwd", assigned::value),
    ("passphrase", assigned::value),
    ("pwd", assigned::value),
    ("pass", assigned::value),
    ("credential", assigned::value),
    ("credentials", assigned::value),
    ("phpsessid", assigned::value),
    ("jsessionid", assigned::value),
    ("identified by", assigned::value),
];

/// Two automata, as keys are told by their capitals and words are not, and what each of their words leads to.
struct Automata {
    keys: AhoCorasick,
    formats: Vec<Look>,
    words: AhoCorasick,
    rules: Vec<Look>,
}

static AUTOMATA: LazyLock<Automata> = LazyLock::new(|| {
    let rows = || formats::all().flat_map(|format| format.starts.iter().map(move |start| (*start, format)));
    let programs = command::PROGRAMS.iter().map(|name| (*name, command::password as Rule));
    let rules = || RULES.iter().copied().chain(programs.clone());
    let build = |words: Vec<&str>, caseless: bool| {
        AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(caseless)
            .build(words)
            .expect("a few hundred short words fit into an automaton")
    };
    Automata {
        keys: build(rows().map(|(start, _)| start).collect(), false),
        formats: rows().map(|(_, format)| Look::Format(format)).collect(),
        words: build(rules().map(|(word, _)| word).collect(), true),
        rules: rules().map(|(_, rule)| Look::Rule(rule)).collect(),
    }
});

/// Every secret of a text, in order; what overlaps is one, and a provider's format tells the sort before a rule does.
pub fn scan(text: &str) -> Vec<Found> {
    let Automata { keys, formats, words, rules } = &*AUTOMATA;
    let mut found = Vec::new();
    for (automaton, looks) in [(keys, formats), (words, rules)] {
        for hit in automaton.find_overlapping_iter(text) {
            found.extend(look(&looks[hit.pattern().as_usize()], text, hit.range()));
        }
    }
    found.retain(|one| !is_redacted(text, one));
    merged(found)
}

fn look(look: &Look, text: &str, word: Range<usize>) -> Option<Found> {
    match look {
        Look::Format(format) => key(format, text, word),
        Look::Rule(rule) => rule(text, word),
    }
}

/// A key of a provider's format whose prefix stands at `prefix`.
fn key(format: &Format, text: &str, prefix: Range<usize>) -> Option<Found> {
    let bytes = text.as_bytes();
    let start = match format.front {
        None => prefix.start,
        Some((alphabet, least, most)) => {
            let front = bytes[..prefix.start].iter().rev().take(most).take_while(|byte| alphabet.holds(**byte)).count();
            let starts = (least..=front).rev().map(|length| prefix.start - length);
            // Telegram's addresses have `bot` right in front of the token.
            let is_free = |start: &usize| starts_word(bytes, *start) || bytes[..*start].ends_with(b"/bot");
            starts.into_iter().find(is_free)?
        }
    };
    // The cheapest question first: most places where a prefix stands are in the middle of a word.
    let is_free = format.front.is_some() || starts_word(bytes, start);
    if !is_free || !is_near(bytes, start, format.near) {
        return None;
    }
    let end = prefix.end + matched(format.parts, &bytes[prefix.end..])?;
    let body = &bytes[prefix.end..end];
    let after = |mark: u8| body.rsplit(|byte| *byte == mark).next().unwrap_or(body);
    let holds = match format.test {
        Test::Random => is_random(body),
        Test::Spread => is_spread(body),
        Test::RandomAfter(mark) => is_random(after(mark)) && !is_placeholder(&bytes[start..end]),
        Test::CheckDigits => has_check_digits(body),
        Test::Shape => is_random(&bytes[start..prefix.start]),
    };
    holds.then(|| Found::new(format.sort, start..end))
}

/// How far in front a word may stand that tells whose key this is, in bytes.
const NEAR: usize = 80;

/// True if a word in small letters stands not far in front of `at`, in any case; no word stands everywhere.
pub(super) fn is_near(bytes: &[u8], at: usize, word: &str) -> bool {
    if word.is_empty() {
        return true;
    }
    let before = bytes[at.saturating_sub(NEAR)..at].to_ascii_lowercase();
    super::random::contains(&before, word.as_bytes())
}

/// True for what says itself that it was taken out.
fn is_redacted(text: &str, found: &Found) -> bool {
    text[found.range.clone()].contains("[REDACTED")
}

fn merged(mut found: Vec<Found>) -> Vec<Found> {
    // The sort is stable: formats stand before rules.
    found.sort_by_key(|one| (one.range.start, one.by_name));
    let mut all: Vec<Found> = Vec::with_capacity(found.len());
    for one in found {
        match all.last_mut() {
            Some(last) if one.range.start < last.range.end => {
                last.range.end = last.range.end.max(one.range.end);
                last.is_own |= one.is_own;
            }
            _ => all.push(one),
        }
    }
    all
}
