//! Blocks of private keys: PEM, `OpenSSH`, PGP, SSH2 and `PuTTY`, also where the start or the end was cut off, and where line
//! breaks are written out as in JSON. A header alone, as sentences and searches have it, is none.

use std::ops::Range;

use super::random::{contains, is_placeholder, is_random};
use super::scan::Found;
use super::shape::Alphabet;

const SORT: &str = "a private key";
/// The longest label between the dashes.
const LABEL_MAX: usize = 60;
/// The longest block that is followed to its end, in bytes.
const BLOCK_MAX: usize = 16 * 1024;
/// How far the first line of a key may be from its header, over further headers.
const HEADERS_MAX: usize = 400;
/// So many characters of a line are a key whatever they start with.
const LINE: usize = 16;
/// How the base64 of a key's structure starts: DER, `OpenSSH`, and packets of `OpenPGP`.
const STARTS: [&str; 7] = ["MI", "MC4C", "MHc", "b3Bl", "lQ", "lI", "xc"];

/// A key under a header whose `BEGIN ` stands at `word`.
pub(super) fn private_key(text: &str, word: Range<usize>) -> Option<Found> {
    let dashes = text[..word.start].trim_end_matches(' ').bytes().rev().take_while(|byte| *byte == b'-').count();
    let label = head(&text[word.end..], LABEL_MAX);
    let length = label.find("---")?;
    let is_private = dashes >= 4 && names_private_key(&label[..length]);
    let after = word.end + length + label[length..].bytes().take_while(|byte| *byte == b'-').count();
    if !is_private {
        return None;
    }
    let first = after + first_line(&text[after..])?;
    let start = text[..word.start].trim_end_matches(' ').len() - dashes;
    Some(Found::new(SORT, start..end_of_block(text, first)))
}

fn names_private_key(label: &str) -> bool {
    let label = label.trim_end();
    let is_plain = label.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    is_plain && (label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK"))
}

/// At most so many bytes of a text, ending at a character.
fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Where the first line of the key starts, if one does.
fn first_line(text: &str) -> Option<usize> {
    let text = head(text, HEADERS_MAX);
    let mut at = 0;
    loop {
        at += filler(&text[at..]);
        let rest = &text[at..];
        let length = rest.bytes().take_while(|byte| Alphabet::Base64.holds(*byte)).count();
        // Proc-Type: 4,ENCRYPTED and the like stand between the header and the key.
        let name = rest.bytes().take_while(|byte| Alphabet::Word.holds(*byte)).count();
        if name > 0 && rest[name..].starts_with(": ") {
            at += end_of_line(rest);
            continue;
        }
        return is_line(rest, length).then_some(at);
    }
}

fn end_of_line(text: &str) -> usize {
    let ends = [text.find('\n').map(|at| at + 1), text.find("\\n").map(|at| at + 2)];
    ends.into_iter().flatten().min().unwrap_or(text.len())
}

/// What stands between the lines of a key: white space, written out line breaks, quotation marks, marks of a diff, of a
/// quotation or of a comment.
fn filler(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let length = match rest.as_bytes() {
            [b'\\', b'n' | b'r' | b't' | b'\\' | b'"', ..] => 2,
            [b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'>' | b'|' | b'#' | b'*' | b',' | b';' | b'-', ..] => 1,
            // A plus belongs to base64; at the start of a line it is the mark of a diff.
            [b'+', ..] if text[..at].ends_with('\n') => 1,
            _ => return at,
        };
        at += length;
    }
}

fn is_line(rest: &str, length: usize) -> bool {
    let line = &rest[..length];
    let goes_on = rest[length..].trim_start().starts_with(['.', '…', '<', '[', '*', '(']);
    let has_start = STARTS.iter().any(|start| line.starts_with(start));
    match length {
        0..4 => false,
        4..LINE => has_start && !goes_on,
        _ if goes_on && length < 3 * LINE => false,
        _ => (has_start && !is_stand_in(line)) || is_random(line.as_bytes()),
    }
}

/// True for a line that only stands for one: nothing of a key needs a word or a row of equal characters to be one.
fn is_stand_in(line: &str) -> bool {
    let small = line.to_ascii_lowercase();
    ["example", "placeholder", "redacted", "xxxxxx", "......", "yourkey"]
        .iter()
        .any(|word| contains(small.as_bytes(), word.as_bytes()))
}

/// Where the block ends that has its first line at `first`: behind its end mark, or with its last line.
fn end_of_block(text: &str, first: usize) -> usize {
    let rest = head(&text[first..], BLOCK_MAX);
    let rest = rest.find("BEGIN ").map_or(rest, |next| &rest[..next]);
    if let Some(mark) = rest.find("END ") {
        let label = head(&rest[mark..], LABEL_MAX);
        let close = label.find("--").map(|at| at + label[at..].bytes().take_while(|byte| *byte == b'-').count());
        return first + mark + close.unwrap_or(0);
    }
    let mut end = 0;
    loop {
        let line = rest[end..].bytes().take_while(|byte| Alphabet::Base64.holds(*byte)).count();
        let skipped = filler(&rest[end + line..]);
        let next = end + line + skipped;
        let length = rest[next..].bytes().take_while(|byte| Alphabet::Base64.holds(*byte)).count();
        if line == 0 || length < LINE {
            return first + end + line;
        }
        end = next;
    }
}

/// The last line of a key whose start was cut off, in front of an end mark at `word`.
pub(super) fn end_of_private_key(text: &str, word: Range<usize>) -> Option<Found> {
    let label = head(&text[word.end..], LABEL_MAX);
    let length = label.find("---")?;
    if !names_private_key(&label[..length]) {
        return None;
    }
    let before = text[..word.start]
        .trim_end_matches(|one: char| one.is_whitespace() || matches!(one, '"' | '>' | '+' | '-' | '|' | '#'));
    let before = before.strip_suffix("\\n").unwrap_or(before);
    let line = before.bytes().rev().take(128).take_while(|byte| Alphabet::Base64.holds(*byte)).count();
    let start = before.len() - line;
    let is_key = line >= LINE && is_random(&before.as_bytes()[start..]) && !is_placeholder(&before.as_bytes()[start..]);
    is_key.then(|| Found::new(SORT, start..word.end + length))
}

/// The private lines of a file of `PuTTY`.
pub(super) fn putty_key(text: &str, word: Range<usize>) -> Option<Found> {
    let rest = head(&text[word.end..], 24);
    let number = rest.trim_start().bytes().take_while(u8::is_ascii_digit).count();
    let line = word.end + (rest.len() - rest.trim_start().len()) + number;
    let start = line + filler(head(&text[line..], 16));
    let length = text[start..].bytes().take(128).take_while(|byte| Alphabet::Base64.holds(*byte)).count();
    let is_key = number > 0 && length >= LINE && is_random(&text.as_bytes()[start..start + length]);
    is_key.then(|| Found::new(SORT, start..end_of_block(text, start)))
}
