//! Credentials in headers and on command lines: `Authorization`, `Bearer`, cookies, `curl -u`, `sshpass -p`.

use std::ops::Range;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD};

use super::password::{is_made_up, is_stand_in, is_usual};
use super::random::{contains, is_dense, is_random};
use super::scan::Found;
use super::shape::{is_uuid, starts_word};

/// The longest credential that is looked at, in bytes.
const VALUE_MAX: usize = 4096;
/// Fewer characters are an example.
const LEAST: usize = 16;
/// So many without the word `Authorization` in front.
const LEAST_ALONE: usize = 20;
/// The longest cookie header that is looked at.
const COOKIE_MAX: usize = 4096;

/// Words that name a cookie or the part of one that lets its holder in.
const SESSIONS: [&str; 7] = ["sess", "sid", "auth", "token", "jwt", "remember", "login"];

/// `Authorization: Bearer …`, `"Authorization": "Basic …"` and the like, whose name stands at `name`.
pub(super) fn authorization(text: &str, name: Range<usize>) -> Option<Found> {
    let value = name.end + separator(&text[name.end..])?;
    let rest = &text[value..];
    let scheme = rest.bytes().take(16).take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-').count();
    let gap = space(&rest[scheme..]);
    if gap == 0 || scheme == 0 {
        return credential(text, value, LEAST_ALONE).filter(|found| is_dense(text[found.range.clone()].as_bytes()));
    }
    let start = value + scheme + gap;
    if rest[..scheme].eq_ignore_ascii_case("basic") {
        return basic(text, start);
    }
    credential(text, start, LEAST)
}

/// `Bearer …` with no name of a header in front.
pub(super) fn bearer(text: &str, word: Range<usize>) -> Option<Found> {
    let gap = space(&text[word.end..]);
    let found =
        credential(text, word.end + gap, LEAST_ALONE).filter(|_| gap > 0 && starts_word(text.as_bytes(), word.start));
    found.filter(|found| is_dense(text[found.range.clone()].as_bytes()))
}

/// From the end of a name to its value: quotation marks, a colon or an equals sign, spaces.
fn separator(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let marks =
        bytes.iter().take(8).take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\' | b':' | b'=' | b' ' | b',' | b'>'));
    let length = marks.count();
    let has_sign = bytes[..length].iter().any(|byte| matches!(byte, b':' | b'=' | b',' | b'>'));
    has_sign.then_some(length)
}

/// A space, also as a URL writes it.
fn space(text: &str) -> usize {
    let plain = text.bytes().take(4).take_while(|byte| matches!(byte, b' ' | b'\t' | b'+')).count();
    if plain == 0 && text.starts_with("%20") { 3 } else { plain }
}

fn token_length(text: &str) -> usize {
    let lawful = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b':')
    };
    text.bytes().take(VALUE_MAX).take_while(lawful).count()
}

fn credential(text: &str, start: usize, least: usize) -> Option<Found> {
    let value = &text[start..start + token_length(&text[start..])];
    let value = value.trim_end_matches(['.', ':']);
    let is_one = value.len() >= least && is_random(value.as_bytes()) && !is_uuid(value.as_bytes());
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit()) || is_dense(value.as_bytes());
    (is_one && has_digit).then(|| Found::new("a credential of a header", start..start + value.len()))
}

/// A name and a password in base64; what documents and local set-ups use passes.
fn basic(text: &str, start: usize) -> Option<Found> {
    let length = token_length(&text[start..]);
    let value = &text[start..start + length];
    let bytes = BASE64_STANDARD.decode(value).or_else(|_| BASE64_STANDARD_NO_PAD.decode(value)).ok()?;
    let pair = String::from_utf8(bytes).ok()?;
    let (name, word) = pair.split_once(':')?;
    let is_shown = is_stand_in(word) || is_usual(word) || word == name || word == "open sesame";
    // An API takes a key as the name and nothing as the password.
    let is_key = word.len() <= 1 && name.len() >= LEAST && is_dense(name.as_bytes());
    let is_one = is_key || (!is_shown && word.len() >= 4);
    is_one.then(|| Found::new("a password in a header", start..start + length))
}

/// `"auth": "…"` of a registry, as Docker and npm keep it.
pub(super) fn registry(text: &str, name: Range<usize>) -> Option<Found> {
    let is_free = starts_word(text.as_bytes(), name.start);
    let value = name.end + separator(&text[name.end..]).filter(|_| is_free)?;
    basic(text, value).map(|found| Found { sort: "a name and password in base64", ..found })
}

/// `Cookie: …` and `Set-Cookie: …`: a session's own value.
pub(super) fn cookie(text: &str, name: Range<usize>) -> Option<Found> {
    let value = name.end + separator(&text[name.end..])?;
    let most =
        text[value..].bytes().take(COOKIE_MAX).take_while(|byte| !matches!(byte, b'\n' | b'\r' | b'"' | b'\'')).count();
    let mut at = value;
    for pair in text[value..text.floor_char_boundary(value + most)].split(';') {
        let start = at;
        at += pair.len() + 1;
        let Some((name, word)) = pair.split_once('=') else { continue };
        let word = word.trim_end();
        let small = name.to_ascii_lowercase();
        let is_session = SESSIONS.iter().any(|one| contains(small.as_bytes(), one.as_bytes()));
        if is_session && word.len() >= LEAST_ALONE && is_value_of_cookie(word) {
            let from = start + name.len() + 1;
            return Some(Found::new("a session cookie", from..from + word.len()));
        }
    }
    None
}

fn is_value_of_cookie(word: &str) -> bool {
    let lawful = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'%' | b'+' | b'/' | b'=' | b':' | b'|')
    };
    word.bytes().all(lawful) && !is_uuid(word.as_bytes()) && is_dense(word.as_bytes())
}

/// `curl -u name:password`.
pub(super) fn user(text: &str, flag: Range<usize>) -> Option<Found> {
    let bytes = text.as_bytes();
    let is_flag = flag.start == 0 || bytes[flag.start - 1].is_ascii_whitespace();
    let quote = usize::from(matches!(bytes.get(flag.end), Some(b'"' | b'\'')));
    let start = flag.end + quote;
    let length = bytes[start..]
        .iter()
        .take(256)
        .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`'))
        .count();
    let pair = text.get(start..start + length)?;
    let (name, word) = pair.split_once(':')?;
    let from = start + name.len() + 1;
    let is_one = is_flag && (is_made_up(word) || (word.len() >= LEAST_ALONE && is_random(word.as_bytes())));
    is_one.then(|| Found::new("a password on a command line", from..from + word.len()))
}

/// `sshpass -p PASSWORD`.
pub(super) fn sshpass(text: &str, flag: Range<usize>) -> Option<Found> {
    let bytes = text.as_bytes();
    let skipped = bytes[flag.end..].iter().take(2).take_while(|byte| matches!(byte, b' ' | b'"' | b'\'')).count();
    let start = flag.end + skipped;
    let length = bytes[start..]
        .iter()
        .take(128)
        .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\''))
        .count();
    let word = text.get(start..start + length)?;
    let is_one = word.len() >= 4 && !is_stand_in(word) && !is_usual(word);
    is_one.then(|| Found::new("a password on a command line", start..start + length))
}
