//! Values that are given to a name that says that they are secret: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`,
//! `<password>…</password>`. Only what no identifier, hash, path or sentence looks like.

use std::ops::Range;

use super::password::{is_made_up, is_stand_in};
use super::random::{contains, is_dense, is_drawn_from_letters, is_random, is_spread};
use super::scan::{Found, is_near};
use super::sealed::{is_called_hash, is_encrypted, is_hashed};
use super::shape::is_uuid;

/// The longest name that is looked at, in bytes.
const NAME_MAX: usize = 64;
/// The longest value.
const VALUE_MAX: usize = 1024;
/// Fewer characters are no secret that can be told from a word.
const LEAST: usize = 10;
/// The fewest characters of a key with signs in it.
const SIGNED_LEAST: usize = 32;
/// The fewest characters of a key.
const KEY_LEAST: usize = 16;

/// What a name may hold a secret as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A person's choice: mixed characters are enough.
    Password,
    /// A machine's: chance must show. Plain hexadecimal digits pass for one.
    Key,
    /// The same, but such names hold hashes and ids too, so plain hexadecimal digits do not.
    Token,
}

/// How names end that hold secrets, without separators and in small letters.
const NAMES: [(&str, Class); 54] = [
    ("password", Class::Password),
    ("rediscliauth", Class::Password),
    ("masterauth", Class::Password),
    ("passwd", Class::Password),
    ("passphrase", Class::Password),
    ("pwd", Class::Password),
    ("dbpass", Class::Password),
    ("userpass", Class::Password),
    ("smtppass", Class::Password),
    ("mailpass", Class::Password),
    ("sshpass", Class::Password),
    ("identifiedby", Class::Password),
    ("apikey", Class::Key),
    ("apitoken", Class::Key),
    ("authtoken", Class::Key),
    ("accesstoken", Class::Key),
    ("refreshtoken", Class::Key),
    ("bottoken", Class::Key),
    ("admintoken", Class::Key),
    ("adminkey", Class::Key),
    ("phpsessid", Class::Token),
    ("jsessionid", Class::Key),
    ("roottoken", Class::Key),
    ("appkey", Class::Key),
    ("appsecret", Class::Key),
    ("accesskey", Class::Key),
    ("accountkey", Class::Key),
    ("authkey", Class::Key),
    ("masterkey", Class::Key),
    ("signingkey", Class::Key),
    ("encryptionkey", Class::Key),
    ("privatekey", Class::Key),
    ("sharedkey", Class::Key),
    ("servicekey", Class::Key),
    ("subscriptionkey", Class::Key),
    ("licensekey", Class::Key),
    ("storagekey", Class::Key),
    ("deploykey", Class::Key),
    ("webhookkey", Class::Key),
    ("hmackey", Class::Key),
    ("jwtkey", Class::Key),
    ("secretkey", Class::Key),
    ("secretkeybase", Class::Key),
    ("secret", Class::Key),
    ("token", Class::Token),
    ("credential", Class::Token),
    ("credentials", Class::Token),
    ("auth", Class::Token),
    ("pass", Class::Password),
    ("jfrogartapi", Class::Key),
    ("requirepass", Class::Password),
    ("passwort", Class::Password),
    ("motdepasse", Class::Password),
    ("passcode", Class::Password),
];

/// Parts of names whose values everybody may see.
const OPEN: [&str; 27] = [
    "public",
    "publishable",
    "nexttoken",
    "pagetoken",
    "continuation",
    "cursor",
    "synctoken",
    "csrf",
    "xsrf",
    "idempot",
    "cachekey",
    "hash",
    "digest",
    "fingerprint",
    "checksum",
    "revision",
    "thumbprint",
    "encrypted",
    "ciphertext",
    "sealed",
    "sitekey",
    "recaptcha",
    "sha1",
    "sha256",
    "md5",
    "compass",
    "bypass",
];

/// Providers whose keys are plain UUIDs or hexadecimal digits, so that the name alone tells.
const PROVIDERS: [&str; 19] = [
    "heroku",
    "snyk",
    "hubspot",
    "kucoin",
    "sendbird",
    "squarespace",
    "postmark",
    "codecov",
    "sentry",
    "sonar",
    "meraki",
    "rollbar",
    "datadog",
    "launchdarkly",
    "cloudflare",
    "opsgenie",
    "consul",
    "nomad",
    "octopus",
];

/// The value that is given to the name that ends with `word`.
pub(super) fn value(text: &str, word: Range<usize>) -> Option<Found> {
    let bytes = text.as_bytes();
    // Most words are followed by further letters or a space, and many names by no value: the cheapest comes first.
    let range = value_range(text, value_start(text, &word)?);
    if range.len() < LEAST {
        return None;
    }
    let name = name(bytes, &word);
    let class = class(&name)?;
    let value = &text[range.clone()];
    let sort = match class {
        Class::Password => "an assigned password",
        Class::Key | Class::Token => "an assigned key or token",
    };
    if is_encrypted(value) || is_hashed(value) || is_called_hash(text, word.start, value) {
        return None;
    }
    let is_secret = holds_secret(class, value)
        || is_key_of_provider(&name, class, value)
        || (is_uuid(value.as_bytes()) && is_random(value.as_bytes()) && takes_uuid(text, &word, &name));
    is_secret.then(|| Found { by_name: true, ..Found::new(sort, range) })
}

/// The name that ends with `word`, without separators and in small letters.
fn name(bytes: &[u8], word: &Range<usize>) -> Vec<u8> {
    let before = bytes[..word.start].iter().rev().take(NAME_MAX);
    let length = before.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')).count();
    let whole = &bytes[word.start - length..word.end];
    whole.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect()
}

fn class(name: &[u8]) -> Option<Class> {
    if name == b"identifiedby" {
        return Some(Class::Password);
    }
    let is_open = OPEN.iter().any(|part| contains(name, part.as_bytes()));
    let found = NAMES.iter().find(|(end, _)| name.ends_with(end.as_bytes()));
    found.filter(|_| !is_open).map(|(_, class)| *class)
}

/// Where the value starts, if one does: behind `=`, `:`, `=>`, `>` and the like; behind a space after a flag, or where
/// it stands in quotation marks; behind `value:` where name and value have a name each.
fn value_start(text: &str, word: &Range<usize>) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = word.end;
    // A name within a path of modules, as back traces write them with a hash behind, is given nothing.
    if bytes[at..].starts_with(b"::") && is_in_path(&bytes[at.saturating_sub(NAME_MAX)..at]) {
        return None;
    }
    let quotes = count(bytes, at, 2, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b']'));
    at += quotes;
    let spaces = count(bytes, at, 16, |byte| matches!(byte, b' ' | b'\t'));
    // A comma divides a name from its value only where both are quoted; elsewhere it divides arguments.
    let sign = count(bytes, at + spaces, 3, |byte| matches!(byte, b'=' | b':' | b'>') || (*byte == b',' && quotes > 0));
    if sign > 0 {
        let has_comma = bytes[at + spaces] == b',';
        at += spaces + sign;
        at += count(bytes, at, 16, |byte| matches!(byte, b' ' | b'\t'));
        let is_text = !has_comma || matches!(bytes.get(at), Some(b'"' | b'\'' | b'v' | b'V'));
        return is_text.then(|| named_value(text, at).unwrap_or(at));
    }
    if let Some(value) = named_value(text, at) {
        return Some(value);
    }
    let is_quoted = matches!(bytes.get(at + spaces), Some(b'"' | b'\''));
    let line = &bytes[word.start.saturating_sub(NAME_MAX)..word.start];
    let is_flag = contains(&line[line.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1)..], b"--")
        || line.ends_with(b"--");
    let in_netrc = is_near(bytes, word.start, "machine ") && is_near(bytes, word.start, "login ");
    let in_npmrc = line.to_ascii_lowercase().ends_with(b":_auth");
    let in_redis = line.ends_with(b"require") || text[word.clone()].eq_ignore_ascii_case("masterauth");
    (spaces > 0 && (in_redis || is_quoted || is_flag || in_netrc || in_npmrc)).then_some(at + spaces)
}

/// True if the last name in a text stands behind `::`.
fn is_in_path(text: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = text.iter().rposition(|byte| !is_name(byte)).map_or(0, |at| at + 1);
    text[..start].ends_with(b"::")
}

/// `value: …`, on the same line or the next.
fn named_value(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let start =
        at + count(bytes, at, 40, |byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b',' | b';'));
    let rest = bytes.get(start..start + 5)?;
    if !rest.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let end = start + 5;
    let marks = count(bytes, end, 4, |byte| matches!(byte, b'"' | b'\'' | b' ' | b':' | b'='));
    let has_sign = bytes[end..end + marks].iter().any(|byte| matches!(byte, b':' | b'='));
    has_sign.then(|| end + marks - usize::from(matches!(bytes.get(end + marks - 1), Some(b'"' | b'\''))))
}

fn count(bytes: &[u8], at: usize, most: usize, such: impl Fn(&u8) -> bool) -> usize {
    bytes.get(at..).unwrap_or_default().iter().take(most).take_while(|byte| such(byte)).count()
}

/// The value at `start`: between quotation marks, or up to what ends a word.
fn value_range(text: &str, start: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let escaped = usize::from(bytes.get(start) == Some(&b'\\'));
    let quote = bytes.get(start + escaped).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let from = start + quote.map_or(0, |_| escaped + 1);
    let ends = |byte: &u8| match quote {
        Some(quote) => *byte == quote || matches!(byte, b'\n' | b'\\'),
        None => byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'<' | b'\\' | b'&'),
    };
    let length = count(bytes, from, VALUE_MAX + 1, |byte| !ends(byte));
    let end = text.floor_char_boundary(from + length);
    let trimmed =
        if quote.is_none() { text[from..end].trim_end_matches(['.', ')', ':', '*']) } else { &text[from..end] };
    from..from + trimmed.len()
}

fn holds_secret(class: Class, value: &str) -> bool {
    let bytes = value.as_bytes();
    let lawful = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b'~' | b'%' | b'$')
    };
    if value.len() > VALUE_MAX || is_stand_in(value) || is_uuid(bytes) || is_place(value) {
        return false;
    }
    let is_long = value.len() >= KEY_LEAST && bytes.iter().all(lawful);
    let is_key = is_long && (is_dense(bytes) || is_drawn_from_letters(bytes));
    let is_hex = bytes.iter().all(u8::is_ascii_hexdigit);
    match class {
        Class::Password => is_made_up(value) || is_key,
        // Django's keys and the like are full of signs.
        Class::Key => is_key || (value.len() >= SIGNED_LEAST && is_made_up(value) && is_spread(bytes)),
        Class::Token => is_key && !is_hex,
    }
}

fn is_key_of_provider(name: &[u8], class: Class, value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_plain = is_uuid(bytes) || (value.len() >= 32 && bytes.iter().all(u8::is_ascii_hexdigit));
    let is_named = PROVIDERS.iter().any(|provider| contains(name, provider.as_bytes()));
    class != Class::Password && is_named && is_plain && is_random(bytes)
}

/// True where a UUID is the key: in a registry's settings, and in the header that has its name from keys.
fn takes_uuid(text: &str, word: &Range<usize>, name: &[u8]) -> bool {
    let is_npmrc = name == b"authtoken" && text[..word.start].ends_with(":_auth");
    let is_registry = is_npmrc || name == b"npmauthtoken";
    let is_header = [b"xapikey".as_slice(), b"xauthtoken", b"xauthkey"].contains(&name);
    is_registry || is_header
}

/// True for names joined by full stops, as code reaches into things.
fn is_path_of_code(value: &str) -> bool {
    let is_name = |part: &str| part.len() < 20 && part.starts_with(|first: char| first.is_ascii_alphabetic());
    value.contains('.') && value.split('.').all(is_name)
}

/// True for a path, an address, a version or a number of a build.
fn is_place(value: &str) -> bool {
    is_path_of_code(value)
        || value.starts_with(['/', '~', '.', '@'])
        || value.contains("://")
        || value.contains("/.")
        || value.contains("./")
        || value.matches('/').count() * 8 > value.len()
}
