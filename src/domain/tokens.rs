//! What a text costs a model in o200k tokens, estimated from above without a tokenizer. Must never load one, and never
//! need more than one look at each character.

/// What the first letter of a word costs, in hundredths.
const FIRST: usize = 100;
/// What a small letter costs behind one that it often follows, and behind any other, in hundredths.
const USUAL: usize = 14;
const UNUSUAL: usize = 85;

/// What a text costs, estimated from above.
pub fn estimated_tokens(text: &str) -> usize {
    let mut estimate = TokenEstimate::default();
    text.chars().for_each(|character| estimate.push(character));
    estimate.tokens()
}

/// Estimates tokens character by character.
///
/// The tokenizer cuts before it merges: a word with the space or mark before it, three digits, a run of marks. The
/// costs are measured over such pieces; `tests/it/sizes/estimate.rs` compares them with the tokenizer itself.
#[derive(Debug)]
pub struct TokenEstimate {
    hundredths: usize,
    previous: Class,
    character: char,
    /// Characters of the class of `previous` in a row.
    run: usize,
    /// True inside a word that mixes digits or capitals into its middle, as hashes and encodings do.
    mixed: bool,
}

impl Default for TokenEstimate {
    fn default() -> Self {
        Self { hundredths: 0, previous: Class::Space, character: ' ', run: 0, mixed: false }
    }
}

impl TokenEstimate {
    /// Adds a character.
    #[inline]
    pub fn push(&mut self, character: char) {
        // Most characters of most texts: plain words with single spaces.
        match (self.previous, character) {
            (Class::Lower, 'a'..='z') if !self.mixed => {
                self.hundredths += if is_usual(self.character, character) { USUAL } else { UNUSUAL };
                self.run += 1;
                self.character = character;
            }
            (Class::Space, 'a'..='z') => self.begin(Class::Lower, character, FIRST),
            (Class::Lower, ' ') => self.begin(Class::Space, character, 0),
            _ => self.push_any(character),
        }
    }

    /// Adds small plain letters, which most texts are made of; `letters` holds nothing else.
    pub fn push_letters(&mut self, letters: &[u8]) {
        let Some((first, rest)) = letters.split_first() else { return };
        self.push(char::from(*first));
        if self.mixed || self.previous != Class::Lower {
            for letter in rest {
                self.push(char::from(*letter));
            }
            return;
        }
        self.run += rest.len();
        self.hundredths += letters.array_windows().map(|[one, next]| pair(*one, *next)).sum::<usize>();
        self.character = char::from(letters[rest.len()]);
    }

    /// Adds a character that begins a run of its class and joins no word.
    fn begin(&mut self, class: Class, character: char, cost: usize) {
        *self = Self { hundredths: self.hundredths + cost, previous: class, character, run: 1, mixed: false };
    }

    fn push_any(&mut self, character: char) {
        let class = Class::of(character);
        let joins = class.is_word() && self.previous.is_word();
        let changes = class != self.previous;
        self.mixed = joins && (self.mixed || (changes && (class, self.previous) != (Class::Lower, Class::Upper)));
        self.run = if changes { 1 } else { self.run + 1 };
        self.hundredths += self.cost(class, changes, character);
        self.previous = class;
        self.character = character;
    }

    /// The tokens so far.
    pub fn tokens(&self) -> usize {
        self.hundredths.div_ceil(100)
    }

    fn cost(&self, class: Class, changes: bool, character: char) -> usize {
        match class {
            Class::Lower if self.previous == Class::Upper => {
                if is_usual(self.character, character) {
                    25
                } else {
                    70
                }
            }
            Class::Lower if self.previous == Class::Letter => 55,
            Class::Lower | Class::Upper if changes => FIRST,
            Class::Lower if self.mixed => 52,
            Class::Lower => {
                if is_usual(self.character, character) {
                    USUAL
                } else {
                    UNUSUAL
                }
            }
            Class::Upper => 65,
            // A space in front of digits is a token of its own.
            Class::Digit if changes && self.previous == Class::Space => 200,
            Class::Digit => {
                if self.run % 3 == 1 {
                    100
                } else {
                    0
                }
            }
            Class::Space if changes && character == ' ' => 0,
            Class::Space => {
                if character == ' ' {
                    8
                } else {
                    100
                }
            }
            Class::Mark => {
                if changes {
                    102
                } else {
                    72
                }
            }
            Class::Letter if self.previous == Class::Lower => 60,
            Class::Letter => {
                if changes {
                    100
                } else {
                    45
                }
            }
            Class::Accented => {
                if changes {
                    100
                } else {
                    150
                }
            }
            Class::Syllable => 64,
            Class::Dense => 120,
            Class::Joiner => 100,
            Class::Drawing => {
                if character == self.character {
                    40
                } else {
                    200
                }
            }
            Class::Emoji => 300,
            // Byte by byte, and nothing joins the space in front.
            Class::Rare => 100 * character.len_utf8() + if self.previous == Class::Space { 100 } else { 0 },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Space,
    Mark,
    /// A usual letter of an alphabet other than the plain Latin one.
    Letter,
    /// A Latin letter that stands alone among plain ones.
    Accented,
    /// A letter or sign of the scripts of South and South-East Asia.
    Syllable,
    /// About a character a token: Han, kana, hangul, Burmese, Khmer.
    Dense,
    /// What glues emoji together.
    Joiner,
    /// Lines and corners of tables.
    Drawing,
    Emoji,
    /// What the tokenizer may know only byte by byte.
    Rare,
}

impl Class {
    fn of(character: char) -> Self {
        match character {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            ' ' | '\n' | '\t' | '\r' => Self::Space,
            '!'..='~' | '\u{a1}'..='\u{bf}' | '\u{2010}'..='\u{2027}' => Self::Mark,
            '\u{c0}'..='\u{ff}'
            | '\u{1a0}'
            | '\u{1a1}'
            | '\u{1af}'
            | '\u{1b0}'
            | '\u{386}'..='\u{3ce}'
            | '\u{400}'..='\u{45f}'
            | '\u{490}'..='\u{493}'
            | '\u{561}'..='\u{587}'
            | '\u{5d0}'..='\u{5ea}'
            | '\u{60c}'..='\u{64a}'
            | '\u{67e}'
            | '\u{679}'
            | '\u{686}'
            | '\u{688}'
            | '\u{691}'
            | '\u{698}'
            | '\u{6a9}'
            | '\u{6af}'
            | '\u{6ba}'..='\u{6d4}'
            | '\u{10d0}'..='\u{10f0}'
            | '\u{1ea0}'..='\u{1ef9}' => Self::Letter,
            '\u{100}'..='\u{17f}' | '\u{218}'..='\u{21b}' => Self::Accented,
            // Odia is known less well than its neighbours.
            '\u{b00}'..='\u{b7f}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3000}'..='\u{30ff}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{ff00}'..='\u{ff60}' => Self::Dense,
            '\u{900}'..='\u{e7f}' => Self::Syllable,
            '\u{200c}' | '\u{200d}' | '\u{fe0f}' => Self::Joiner,
            '\u{2500}'..='\u{257f}' => Self::Drawing,
            '\u{2190}'..='\u{21ff}'
            | '\u{2580}'..='\u{27bf}'
            | '\u{1f1e6}'..='\u{1f1ff}'
            | '\u{1f300}'..='\u{1f64f}'
            | '\u{1f680}'..='\u{1f6ff}'
            | '\u{1f900}'..='\u{1faff}' => Self::Emoji,
            _ => Self::Rare,
        }
    }

    const fn is_word(self) -> bool {
        matches!(self, Self::Lower | Self::Upper | Self::Digit)
    }
}

/// Which letters often follow a letter: 95 % of all pairs in the tokenizer's own words. Words are made of such pairs;
/// random letters are not, and cost several times as much.
const FOLLOWERS: [u32; 26] = followers(&[
    "abcdfghiklmnprstuvwyz",
    "aeilorsu",
    "acehiklortu",
    "adeiorsu",
    "abcdefghiklmnopqrstuvwxyz",
    "aefilortu",
    "aehilnorsu",
    "aeiortu",
    "abcdefgjklmnoprstvz",
    "aeou",
    "aeiosu",
    "adeilostuy",
    "abeimopsu",
    "acdefgiknostuvy",
    "abcdefgiklmnoprstuvw",
    "aehiloprstu",
    "u",
    "acdegiklmnorstuvy",
    "acehiklopstuy",
    "acehilorstuy",
    "abcdegilmnprst",
    "aeio",
    "aeio",
    "p",
    "aes",
    "aei",
]);

const fn followers(rows: &[&str; 26]) -> [u32; 26] {
    let mut bits = [0; 26];
    let mut row = 0;
    while row < rows.len() {
        let letters = rows[row].as_bytes();
        let mut position = 0;
        while position < letters.len() {
            bits[row] |= 1 << (letters[position] - b'a');
            position += 1;
        }
        row += 1;
    }
    bits
}

/// What the second of two small plain letters costs inside a word.
fn pair(one: u8, next: u8) -> usize {
    let row = FOLLOWERS.get(usize::from(one.wrapping_sub(b'a'))).copied().unwrap_or_default();
    if row >> (next.wrapping_sub(b'a') % 32) & 1 == 1 { USUAL } else { UNUSUAL }
}

/// True if a plain lower-case letter often follows the one before it, in any case.
fn is_usual(before: char, letter: char) -> bool {
    let place = |character: char| u32::from(character.to_ascii_lowercase()).wrapping_sub(u32::from('a'));
    let row = FOLLOWERS.get(place(before) as usize);
    row.is_some_and(|row| row >> (place(letter) % 32) & 1 == 1)
}
