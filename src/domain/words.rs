//! Words: how texts and queries are cut, the same for both, so that punctuation is never syntax and scripts written
//! without spaces need no dictionary. Must never depend on a database's own idea of a word.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};

use unicode_normalization::char::{decompose_canonical, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// The words of a text, in order: letters and digits stay together, everything else separates; in scripts that are
/// written without spaces every character is a word, so that two of them beside each other are a phrase of two. Letter
/// case, accents and the width of letters make no difference.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, |word| {
        words.push(word.to_owned());
        true
    });
    words
}

/// The longest word, in characters. No database has words of any length in its index; a longer one is cut, and is then
/// the phrase of its parts in a text as well as in a query.
const WORD_MAX: usize = 256;

/// Calls `take` with each word, until it answers false.
pub fn each_word(text: &str, mut take: impl FnMut(&str) -> bool) {
    let mut word = String::new();
    let mut end = |word: &mut String| {
        let goes_on = word.is_empty() || take(word);
        word.clear();
        goes_on
    };
    for character in composed(text).chars().flat_map(char::to_lowercase).map(without_accent) {
        if is_unspaced(character) {
            if !end(&mut word) {
                return;
            }
            word.push(character);
            if !end(&mut word) {
                return;
            }
        } else if character.is_alphanumeric() || (!word.is_empty() && is_kept_mark(character)) {
            if is_full(&word) && !end(&mut word) {
                return;
            }
            word.push(character);
        } else if !is_dropped_mark(character) && !end(&mut word) {
            return;
        }
    }
    end(&mut word);
}

fn is_full(word: &str) -> bool {
    word.len() >= WORD_MAX && word.chars().count() == WORD_MAX
}

/// True for a word of a script that is written without spaces: then it is one character.
pub fn stands_alone(word: &str) -> bool {
    word.starts_with(is_unspaced)
}

/// The text with every letter in one code point and in its plain width.
fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// The plain letter of an accented one. Only alphabets in which readers leave accents out: a kana without its marks
/// is another letter.
fn without_accent(character: char) -> char {
    match character {
        'ς' => 'σ',
        '\u{c0}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}' => {
            let mut plain = None;
            decompose_canonical(character, |part| plain = plain.or(Some(part)));
            plain.unwrap_or(character)
        }
        _ => character,
    }
}

/// Han, kana, hangul, Thai, Lao, Khmer and Burmese letters.
fn is_unspaced(character: char) -> bool {
    character.is_alphanumeric()
        && matches!(character,
            '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3134f}')
}

/// Accents that stand alone, and joiners: no part of a word, and no end of one.
const fn is_dropped_mark(character: char) -> bool {
    matches!(character, '\u{0300}'..='\u{036f}' | '\u{200c}' | '\u{200d}')
}

/// Marks that a word cannot be without, such as those of Devanagari.
fn is_kept_mark(character: char) -> bool {
    !is_dropped_mark(character) && is_combining_mark(character)
}

/// The most words of a query: each one more is work for the database, and nobody types that many.
const QUERY_MAX: usize = 1_000;

/// What is wrong with a query, if anything is; to follow the field's name.
pub fn query_problem(text: &str) -> Option<String> {
    let count = words(text).len();
    (count > QUERY_MAX).then(|| format!("has {} words, at most {QUERY_MAX}", crate::domain::text::grouped(count)))
}

/// What a query asks for: phrases that must all be there.
pub struct Query {
    /// At least one.
    pub phrases: Vec<Phrase>,
}

/// Words that stand beside each other.
pub struct Phrase {
    /// At least one.
    pub words: Vec<String>,
    /// True if the last word may go on.
    pub goes_on: bool,
}

impl Query {
    /// Each word of the user is a phrase; what stands between spaces may be several words to us. `None` without any.
    pub fn of(text: &str) -> Option<Self> {
        let mut seen = HashSet::new();
        let cut = text.split_whitespace().map(words).filter(|words| seen.insert(words.clone()));
        let phrases: Vec<Phrase> = cut.filter_map(Phrase::of).collect();
        (!phrases.is_empty()).then_some(Self { phrases })
    }

    /// True if all phrases stand in these texts, each within one of them.
    pub fn is_found_in<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> bool {
        let mut missing: Vec<&Phrase> = self.phrases.iter().collect();
        let longest = missing.iter().map(|phrase| phrase.words.len()).max().unwrap_or(0);
        let mut before: VecDeque<String> = VecDeque::with_capacity(longest);
        for text in texts {
            before.clear();
            each_word(text, |word| {
                missing.retain(|phrase| !phrase.ends_with(&before, word));
                if longest > 1 {
                    let mut reused = if before.len() < longest { None } else { before.pop_front() }.unwrap_or_default();
                    word.clone_into(&mut reused);
                    before.push_back(reused);
                }
                !missing.is_empty()
            });
        }
        missing.is_empty()
    }
}

impl Phrase {
    fn of(words: Vec<String>) -> Option<Self> {
        // One Latin letter is asked for as it stands: as a beginning it would match nearly everything.
        let goes_on = words.last()?.len() > 1;
        Some(Self { words, goes_on })
    }

    /// True if `word`, with the words before it, ends this phrase.
    fn ends_with(&self, before: &VecDeque<String>, word: &str) -> bool {
        let Some((last, first)) = self.words.split_last() else {
            return false;
        };
        let ends = if self.goes_on { word.starts_with(last.as_str()) } else { word == last };
        ends && before.len() >= first.len()
            && before.iter().rev().zip(first.iter().rev()).all(|(one, other)| one == other)
    }
}
