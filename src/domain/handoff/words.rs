//! Looking for words in a text in lower case. Must never find one within another word of Latin letters.

use std::sync::OnceLock;

use regex::Regex;

/// Words that are looked for together, in one pass. They are in lower case; one in Latin letters counts from where a word
/// starts.
pub(super) struct Words {
    list: &'static [&'static str],
    pattern: OnceLock<Regex>,
}

impl Words {
    pub(super) const fn of(list: &'static [&'static str]) -> Self {
        Self { list, pattern: OnceLock::new() }
    }

    /// True if a text, in lower case, has one of them.
    pub(super) fn are_in(&self, lower: &str) -> bool {
        let pattern = self.pattern.get_or_init(|| {
            let words = self.list.iter().map(|word| {
                let starts = word.starts_with(|first: char| first.is_ascii_alphanumeric()) && !word.starts_with("n't");
                format!("{}{}", if starts { r"(?-u:\b)" } else { "" }, regex::escape(word))
            });
            Regex::new(&words.collect::<Vec<_>>().join("|")).expect("words make a pattern")
        });
        pattern.is_match(lower)
    }
}

/// True if a text, in lower case, has one of the words; words in Latin letters count from where a word starts.
pub(super) fn has_any(lower: &str, words: &[&str]) -> bool {
    words.iter().any(|word| has(lower, word))
}

/// True if a text, in lower case, has the word.
pub(super) fn has(lower: &str, word: &str) -> bool {
    let starts_with_letter = word.starts_with(|first: char| first.is_ascii_alphanumeric());
    lower.match_indices(word).any(|(start, _)| {
        let before = lower[..start].chars().next_back();
        !starts_with_letter || word.starts_with("n't") || before.is_none_or(|letter| !letter.is_ascii_alphanumeric())
    })
}

/// True if a text, in lower case, has one of the words from their first to their last letter.
pub(super) fn has_whole(lower: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        lower.match_indices(word).any(|(start, _)| {
            let beside = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_ascii_alphanumeric());
            !word.is_ascii()
                || (beside(lower[..start].chars().next_back()) && beside(lower[start + word.len()..].chars().next()))
        })
    })
}
