//! Passwords in URLs, and signatures that open storage. What every local database starts with passes where only this
//! machine, or a container beside it, is reached.

use std::ops::Range;

use super::password::{is_made_up, is_stand_in, is_usual};
use super::random::is_random;
use super::scan::{Found, is_near};

/// The longest name and password that are looked at, in bytes.
const USER_MAX: usize = 512;
/// The longest host.
const HOST_MAX: usize = 255;
/// Fewer characters are an example.
const LEAST: usize = 4;

/// `scheme://name:password@host`, whose `://` stands at `mark`.
pub(super) fn password(text: &str, mark: Range<usize>) -> Option<Found> {
    let bytes = text.as_bytes();
    let scheme = bytes[..mark.start].last().is_some_and(u8::is_ascii_alphanumeric);
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'/' | b'?' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
    };
    let rest = bytes[mark.end..].iter().take(USER_MAX);
    let length = rest.take_while(|byte| !ends(byte)).count();
    // A password may hold an @ that nobody encoded; the last one is in front of the host.
    let at = bytes[mark.end..mark.end + length].iter().rposition(|byte| *byte == b'@')?;
    let user = &text[mark.end..mark.end + at];
    let colon = user.find(':')?;
    let (name, word) = (&user[..colon], &user[colon + 1..]);
    let host = host(&text[mark.end + at + 1..]);
    let is_secret = scheme && !user.starts_with('[') && is_secret(name, word, host);
    let start = mark.end + colon + 1;
    is_secret.then(|| Found::new("a password in a URL", start..start + word.len()))
}

fn host(text: &str) -> &str {
    let text = &text[..text.floor_char_boundary(HOST_MAX)];
    let bracketed = text.starts_with('[');
    let ends = |one: char| match one {
        ']' => true,
        ':' => !bracketed,
        _ => !(one.is_alphanumeric() || matches!(one, '.' | '-' | '_' | '[')),
    };
    text.split(ends).next().unwrap_or_default()
}

fn is_secret(name: &str, word: &str, host: &str) -> bool {
    let is_port = word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_digit());
    if word.len() < LEAST || is_port || host.is_empty() || is_stand_in(word) {
        return false;
    }
    if is_made_up(word) {
        return true;
    }
    let is_harmless = is_here(host) || is_for_documents(host);
    !(is_harmless && (word == name || is_usual(word) || is_plain_word(word)) || is_for_documents(host))
}

/// The longest word that a local set-up is given as a password.
const PLAIN_MAX: usize = 12;

/// A word in small letters, perhaps with a year behind it, as every compose file has one.
fn is_plain_word(word: &str) -> bool {
    let base = word.trim_end_matches(|one: char| one.is_ascii_digit());
    word.len() <= PLAIN_MAX && word.len() - base.len() <= 4 && base.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// This machine, or a container beside it that has a name of one word.
fn is_here(host: &str) -> bool {
    let host = host.trim_start_matches('[');
    matches!(host, "localhost" | "::1" | "host.docker.internal")
        || host.starts_with("127.")
        || host == "0.0.0.0"
        || !host.contains('.')
}

/// A host of RFC 2606, or one whose name says that it stands for another.
fn is_for_documents(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let last = host.rsplit('.').next().unwrap_or_default();
    matches!(last, "example" | "invalid" | "test")
        || ["example.com", "example.org", "example.net"].iter().any(|one| host.ends_with(one))
        || matches!(host.as_str(), "host" | "hostname" | "server" | "your-host" | "yourhost")
}

/// A shared access signature of Azure: `sig=` beside `sv=` in a query.
pub(super) fn signature(text: &str, mark: Range<usize>) -> Option<Found> {
    let bytes = text.as_bytes();
    let in_query = bytes[..mark.start].last().is_some_and(|byte| matches!(byte, b'&' | b'?' | b';'));
    let lawful = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'+' | b'/' | b'=');
    let length = bytes[mark.end..].iter().take(128).take_while(lawful).count();
    let after = &text[mark.end + length..];
    let near = is_near(bytes, mark.start, "se=") || is_near(bytes, mark.start, "sv=") || after.starts_with("&s");
    let is_one = in_query && near && length >= 43 && is_random(&bytes[mark.end..mark.end + length]);
    is_one.then(|| Found::new("an Azure access signature", mark.end..mark.end + length))
}
