//! Whether a value was drawn by chance: entropy, changes between classes of characters, check digits; and whether it
//! stands for a value only. Small pure functions. Must never look further than the value.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use sha2::{Digest, Sha256};

/// Words of values that stand for another one; four letters at least, so that chance makes none.
const PLACEHOLDERS: [&str; 41] = [
    "example",
    "sample",
    "placeholder",
    "dummy",
    "changeme",
    "change-me",
    "change_me",
    "redacted",
    "removed",
    "hidden",
    "xxxx",
    "your",
    "insert",
    "replace",
    "fake",
    "notreal",
    "not-real",
    "not_real",
    "secret",
    "password",
    "passwd",
    "passw0rd",
    "p@ssw0rd",
    "s3cr3t",
    "p4ssw0rd",
    "mytoken",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "foobar",
    "test",
    "demo",
    "todo",
    "lorem",
    "qwerty",
    "asdf",
    "deadbeef",
    "goes-here",
    "goes_here",
    "sesame",
];

/// So many equal characters, or neighbours in the alphabet, do not stand beside each other by chance.
const RUN: usize = 6;

/// The first eight bytes of the SHA-256 of values that documents of providers and standards show as examples, without
/// the prefix of their format: Stripe's, Google's, Telegram's, Slack's, `SendGrid`'s and Discord's documentation, the
/// storage and Cosmos emulators of Azure, the signatures of jwt.io and RFC 7519, the credentials of RFC 6749 and 6750, the
/// UUIDs of Wikipedia and of the documents of `OpenAPI`.
const DOCUMENTED: &[u64] = &[
    0x0011_cc25_eb43_2071,
    0x00cf_4c78_1dc3_7003,
    0x02f7_ce3c_263f_85c0,
    0x051d_093c_4bde_dbf2,
    0x0883_1f80_b564_14a9,
    0x0998_bb2d_b314_82a8,
    0x0b52_45db_4478_2056,
    0x0b5d_d075_ccdd_03c4,
    0x1345_628e_5545_4b97,
    0x13d3_1e96_1a1a_d8ec,
    0x153a_1825_8645_1358,
    0x53f5_da0a_aa93_d64c,
    0x6c96_130f_130a_b0d6,
    0x731f_a294_d036_e54f,
    0x74e1_1884_b07b_1d51,
    0x7e49_8f91_828a_193c,
    0x8b18_f20a_7f85_fcfe,
    0x9766_3138_e666_9921,
    0x9e30_9ccc_d311_ea64,
    0xa1f7_23ca_855e_e974,
    0xa35b_81a7_d792_7b70,
    0xaa65_4743_9583_c3a2,
    0xad71_fb41_6553_6675,
    0xb7c9_c3b5_6f40_df2b,
    0xb8e1_4854_5b13_c78b,
    0xc1c4_5784_935e_da01,
    0xe3e3_738d_4643_f177,
    0xe997_4c50_7d2a_8021,
    0xeaa5_581c_2e8d_2f44,
    0xf68e_ba71_5d16_3d70,
    0xa3a9_e1ed_9732_cab2,
    0x986c_0dc9_56dc_822b,
];

/// The fewest letters in which chance shows.
const DRAWN_LEAST: usize = 12;

/// Words of two letters that stand in names.
const SHORT_WORDS: [&[u8; 2]; 16] =
    [b"Is", b"As", b"To", b"By", b"Of", b"In", b"On", b"At", b"Or", b"Do", b"No", b"Id", b"If", b"Up", b"Db", b"Ex"];

/// From so many characters on, a short word may stand in a key by chance.
const LONG_KEY: usize = 40;

/// From so many characters on, chance shows in letters alone.
const LONG: usize = 20;

/// Bits for each character, by the frequencies in the value itself.
pub(super) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value {
        counts[usize::from(*byte)] += 1;
    }
    let Ok(length) = u32::try_from(value.len()) else { return 0.0 };
    let length = f64::from(length);
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

/// True for what was most likely drawn by chance, where a prefix or a place says that it is a key.
pub(super) fn is_random(value: &[u8]) -> bool {
    is_spread(value) && changes(value) * 10 >= letters(value)
}

/// The same for alphabets in which chance may leave out digits.
pub(super) fn is_spread(value: &[u8]) -> bool {
    let least = match value.len() {
        0..8 => return false,
        8..16 => 2.4,
        16..24 => 2.8,
        _ => 3.0,
    };
    entropy(value) >= least && !is_placeholder(value)
}

/// True for what was drawn by chance even where nothing but a name says that it is a key: letters and digits in a
/// mixture that no identifier, path or sentence has. `Ed25519PublicKey` changes class in three places of eight; chance
/// does so in five, and where all letters are of one case in two of five.
pub(super) fn is_dense(value: &[u8]) -> bool {
    let count = |such: fn(&u8) -> bool| value.iter().filter(|byte| such(byte)).count();
    let (digits, small, capital) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_lowercase), count(u8::is_ascii_uppercase));
    let is_mixed = small > 0 && capital > 0;
    let (fewest, share) = match value.len() {
        // Small words and numbers joined by hyphens are names: `clr-primary-500-a11y`.
        _ if !is_mixed && count(|byte| matches!(byte, b'-' | b'_' | b'.')) >= 2 => (3, 40),
        _ if !is_mixed => (3, 20),
        // Chance may leave digits out of a long value; no row of names changes that often.
        LONG.. if digits < 2 => (0, 50),
        _ => (2, 40),
    };
    let least = if value.len() < 20 { 3.0 } else { 3.2 };
    digits >= fewest
        && small + capital >= 2
        && changes(value) * 100 >= letters(value) * share
        && (entropy(value) >= least || (value.len() >= 32 && entropy(value) >= 3.0))
        && !is_placeholder(value)
}

/// True for small letters and capitals in turns that no row of names has.
pub(super) fn is_well_mixed(value: &[u8]) -> bool {
    changes(value) * 100 >= letters(value) * 40
}

/// True for letters that a generator drew: small ones and capitals in turns, and fewer vowels than names have, however
/// short the words are that they are made of. A digit among them changes nothing.
pub(super) fn is_drawn_from_letters(value: &[u8]) -> bool {
    let count = |such: fn(&u8) -> bool| value.iter().filter(|byte| such(byte)).count();
    let vowels = count(|byte| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u'));
    let is_plain = value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let is_mixed = count(u8::is_ascii_lowercase) >= 3 && count(u8::is_ascii_uppercase) >= 3;
    let is_named = value.split(|byte| matches!(byte, b'-' | b'_')).count() > 4;
    value.len() >= DRAWN_LEAST
        && is_plain
        && is_mixed
        && !is_named
        && in_words(value) * 2 < value.len()
        && changes(value) * 100 >= letters(value) * 25
        && match odd_places(value) {
            0..2 => false,
            2 => vowels * 100 <= letters(value) * 28 && value.len() >= 14,
            3 => vowels * 100 <= letters(value) * 34,
            _ => vowels * 100 <= letters(value) * 40,
        }
        && entropy(value) >= 2.9
        && !is_placeholder(value)
}

/// How many characters belong to what could be a word: four letters or more, small behind the first, one in five a vowel.
fn in_words(value: &[u8]) -> usize {
    let goes_on = |one: &u8, other: &u8| one.is_ascii_alphabetic() && other.is_ascii_lowercase();
    let is_vowel = |byte: &&u8| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    let is_word = |word: &&[u8]| word.len() >= 4 && word.iter().filter(is_vowel).count() * 5 >= word.len();
    value.chunk_by(goes_on).filter(is_word).map(<[u8]>::len).sum()
}

/// How often several capitals or a single small letter stand where a name has one capital and several small letters.
fn odd_places(value: &[u8]) -> usize {
    let class = |byte: &u8| (byte.is_ascii_uppercase(), byte.is_ascii_lowercase());
    let mut last = None;
    let mut odd = 0;
    for run in value.chunk_by(|one, other| class(one) == class(other)) {
        let is_short = last.is_some_and(|last| SHORT_WORDS.contains(&&[last, run[0]]));
        odd += usize::from(match run[0] {
            b'A'..=b'Z' => run.len() >= 2,
            // A single letter in front tells the kind of a name in some languages: `kFormat`, `pBuffer`.
            b'a'..=b'z' => run.len() == 1 && last.is_some() && !is_short,
            _ => false,
        });
        last = run.last().copied();
    }
    odd
}

/// Letters and digits.
fn letters(value: &[u8]) -> usize {
    value.iter().filter(|byte| byte.is_ascii_alphanumeric()).count()
}

/// How often a small letter, a capital and a digit follow each other; words change seldom, chance does so every second
/// time.
fn changes(value: &[u8]) -> usize {
    let class = |byte: &u8| match byte {
        b'a'..=b'z' => Some(0),
        b'A'..=b'Z' => Some(1),
        b'0'..=b'9' => Some(2),
        _ => None,
    };
    let classes: Vec<i32> = value.iter().filter_map(class).collect();
    classes.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// True for a value that stands for another: a word that says so, a row of equal or neighbouring characters, a piece
/// over and over, or what documents show to everyone.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    is_repetition(value) || has_row(value) || has_word(value) || is_documented(value)
}

/// True for a word that a person wrote: all small, all capitals, or with one in front. Chance mixes them.
fn has_word(value: &[u8]) -> bool {
    static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let builder = AhoCorasick::builder().ascii_case_insensitive(true).build(PLACEHOLDERS);
        builder.expect("a few dozen short words fit into an automaton")
    });
    WORDS.find_overlapping_iter(value).any(|hit| {
        let word = &value[hit.range()];
        if value.len() >= LONG_KEY && is_by_chance(value, hit.range()) {
            return false;
        }
        word[1..].iter().all(|byte| !byte.is_ascii_uppercase()) || word.iter().all(|byte| !byte.is_ascii_lowercase())
    })
}

/// True for capitals that small letters touch: a person who writes a word in capitals ends it with a sign. Long keys hold
/// one such word in every few thousand.
fn is_by_chance(value: &[u8], word: Range<usize>) -> bool {
    let is_loud = value[word.clone()].iter().all(|byte| !byte.is_ascii_lowercase());
    let touches = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_lowercase);
    is_loud && (touches(value[..word.start].last()) || touches(value.get(word.end)))
}

pub(super) fn contains(value: &[u8], word: &[u8]) -> bool {
    value.windows(word.len()).any(|window| window == word)
}

/// True for so many equal characters or neighbours in the alphabet beside each other, in either order.
fn has_row(value: &[u8]) -> bool {
    let step = |pair: &[u8]| i16::from(pair[1].to_ascii_lowercase()) - i16::from(pair[0].to_ascii_lowercase());
    let mut last = (i16::MAX, 0);
    value.windows(2).map(step).any(|step| {
        last = (step, if step == last.0 { last.1 + 1 } else { 1 });
        last.1 >= RUN - 1 && matches!(step, -1..=1)
    })
}

/// True for a value of our own alphabet that only stands for one. Chance makes none of these in 16 characters: what is
/// refused whatever a project says must not hang on luck.
pub(super) fn is_blank(value: &[u8]) -> bool {
    let kinds: std::collections::BTreeSet<u8> = value.iter().copied().collect();
    let small = value.to_ascii_lowercase();
    kinds.len() <= BLANK_KINDS
        || BLANK_WORDS.iter().any(|word| contains(&small, word.as_bytes()))
        || longest_row(value) >= BLANK_ROW
        || is_counted(value)
        || is_repetition(value)
        || value.len().is_multiple_of(8) && value.chunks(8).all(|piece| piece == &value[..8])
        || value.len() >= LONG_KEY && changes(value) <= BLANK_CHANGES
}

/// So few different characters, such as crosses and a hyphen, are no random ones.
const BLANK_KINDS: usize = 3;
/// So many equal characters or neighbours in a row.
const BLANK_ROW: usize = 9;
/// Of 42 places, a random value changes its class in 25; a sentence in hyphens hardly does.
const BLANK_CHANGES: usize = 4;
/// Words too long to stand in a random value.
const BLANK_WORDS: [&str; 9] = [
    "example",
    "placeholder",
    "redacted",
    "changeme",
    "change-me",
    "your-token",
    "your_token",
    "goes-here",
    "goes_here",
];

/// True for letters and digits that are a row each, however they are mixed: `a1b2c3d4`.
fn is_counted(value: &[u8]) -> bool {
    let (digits, others): (Vec<u8>, Vec<u8>) = value.iter().partition(|byte| byte.is_ascii_digit());
    longest_row(&digits) + longest_row(&others) + 2 >= value.len()
}

/// The length of the longest row of equal characters or neighbours in the alphabet, in either order.
fn longest_row(value: &[u8]) -> usize {
    let (mut longest, mut length, mut last) = (1, 1, i16::MAX);
    for pair in value.windows(2) {
        let step = i16::from(pair[1].to_ascii_lowercase()) - i16::from(pair[0].to_ascii_lowercase());
        length = match step {
            -1..=1 if step == last => length + 1,
            -1..=1 => 2,
            _ => 1,
        };
        last = step;
        longest = longest.max(length);
    }
    longest
}

/// True for a piece that is written three times or more and nothing else.
fn is_repetition(value: &[u8]) -> bool {
    (1..=value.len() / 3).take(40).any(|length| value.iter().zip(&value[length..]).all(|(one, other)| one == other))
}

fn is_documented(value: &[u8]) -> bool {
    let digest = Sha256::digest(value);
    let head = digest[..8].iter().fold(0_u64, |head, byte| head << 8 | u64::from(*byte));
    DOCUMENTED.contains(&head)
}

/// True if the last six characters are the CRC-32 of those before, as GitHub and npm write it: in base 62, digits before
/// capitals before small letters.
pub(super) fn has_check_digits(value: &[u8]) -> bool {
    let Some(at) = value.len().checked_sub(6) else { return false };
    let (body, digits) = value.split_at(at);
    let place = |byte: &u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'Z' => Some(byte - b'A' + 10),
        b'a'..=b'z' => Some(byte - b'a' + 36),
        _ => None,
    };
    let number = digits.iter().try_fold(0_u64, |number, digit| Some(number * 62 + u64::from(place(digit)?)));
    number == Some(u64::from(crc32(body)))
}

/// CRC-32 as in Ethernet and zip, bit by bit: it is asked for a few dozen characters at a time.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}
