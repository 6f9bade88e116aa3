//! A labelled set of texts with and without secrets: files of templates, drawn anew from a seed in every run, so that no
//! file holds a value.
//!
//! # The format of `cases/*.cases`
//!
//! Every file of the folder is read and judged by itself. One case a line; blank lines and lines that start with `#` say
//! nothing. Parts are divided by ` | `.
//!
//! - `value SORT | TEMPLATE`: a secret. It is put into every context of the file, each time drawn anew. SORT is what
//!   the finding must call it, or `*`.
//! - `context TEMPLATE`: a text around `<<value>>`.
//! - `find N SORT | TEMPLATE`: N texts with a secret of their own, which stands between `<<[>>` and `<<]>>`.
//! - `keep N | TEMPLATE`: N texts in which nothing may be found.
//!
//! In a template `\n`, `\r`, `\t` and `\\` are line breaks, a tab and a backslash, and `<<…>>` is drawn: `hex:N`, `HEX:N`,
//! `digits:N`, `lower:N` (`a-z0-9`), `upper:N` (`A-Z0-9`), `base32:N`, `letters:N`, `alnum:N`, `word:N` (`alnum` and
//! `_-`), `base64:N`, `uuid`, `check:N` (N of `alnum` and the six check digits of GitHub and npm), `password:N` (with
//! signs), `basic:N` (a name and a password of N characters, in base64), `jwt`, `pem:LABEL` (a block with line breaks),
//! `pemline:LABEL` (the same as JSON has it), `token` and `write-context` (ours), `words:N`, `lines:N` (lines of base64 as
//! of an image), `code:N` (minified code). `<<>>` is nothing: it keeps a published example from standing in the file.
//!
//! A value whose check digits are wrong opens nothing and counts as no secret; so does one without entropy.

use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::json;

use crate::dice::Dice;

/// One text, and where its secret stands if it has one.
#[derive(Clone, Debug)]
pub struct Case {
    /// The line of the file.
    pub line: usize,
    /// The text.
    pub text: String,
    /// The secret's place, and what it must be called; `None` for a text without.
    pub secret: Option<(Range<usize>, String)>,
}

/// The cases of one file.
#[derive(Debug)]
pub struct Set {
    /// The file's name.
    pub name: String,
    /// All of them.
    pub cases: Vec<Case>,
    /// How many kinds of secrets its values are of.
    pub kinds: usize,
}

/// Every file's cases, from one seed.
pub fn all(seed: u64) -> Vec<Set> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/secrets/cases");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("the folder of cases").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| read(path, seed)).collect()
}

/// The cases of one file.
pub fn read(path: &Path, seed: u64) -> Set {
    let file = fs::read_to_string(path).expect("a file of cases");
    let mut dice = Dice::new(seed);
    let lines = || file.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let contexts: Vec<&str> = lines().filter_map(|(_, line)| line.strip_prefix("context ")).collect();
    let mut kinds = std::collections::BTreeSet::new();
    let mut cases = Vec::new();
    for (at, line) in lines() {
        let (word, rest) = line.split_once(' ').unwrap_or_else(|| panic!("line {}: {line}", at + 1));
        match word {
            "context" => {}
            "value" => {
                let (sort, template) = rest.split_once(" | ").unwrap_or_else(|| panic!("line {}: {line}", at + 1));
                kinds.insert(sort.to_owned());
                for context in &contexts {
                    let marked = context.replace("<<value>>", &format!("<<[>>{template}<<]>>"));
                    cases.push(case(at + 1, sort, &marked, &mut dice));
                }
            }
            "find" | "keep" => {
                let (head, template) = rest.split_once(" | ").unwrap_or_else(|| panic!("line {}: {line}", at + 1));
                let (count, sort) = head.split_once(' ').unwrap_or((head, ""));
                if word == "find" {
                    kinds.insert(sort.to_owned());
                }
                let count: usize = count.parse().unwrap_or_else(|_| panic!("line {}: {line}", at + 1));
                cases.extend((0..count).map(|_| case(at + 1, sort, template, &mut dice)));
            }
            _ => panic!("line {}: {line}", at + 1),
        }
    }
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    Set { name, cases, kinds: kinds.len() }
}

fn case(line: usize, sort: &str, template: &str, dice: &mut Dice) -> Case {
    let mut text = String::new();
    let (mut start, mut end) = (None, None);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("<<") {
        plain(before, &mut text);
        let (spec, after) = after.split_once(">>").unwrap_or_else(|| panic!("line {line}: an open <<"));
        match spec {
            "[" => start = Some(text.len()),
            "]" => end = Some(text.len()),
            _ => text.push_str(&drawn(spec, dice)),
        }
        rest = after;
    }
    plain(rest, &mut text);
    let secret = start.zip(end).map(|(start, end)| (start..end, sort.to_owned()));
    Case { line, text, secret }
}

fn plain(template: &str, text: &mut String) {
    let mut characters = template.chars();
    while let Some(one) = characters.next() {
        match (one, (one == '\\').then(|| characters.next()).flatten()) {
            ('\\', Some('n')) => text.push('\n'),
            ('\\', Some('t')) => text.push('\t'),
            ('\\', Some('r')) => text.push('\r'),
            ('\\', Some(other)) => text.push(other),
            (other, _) => text.push(other),
        }
    }
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ALNUM: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const WORDS: [&str; 24] = [
    "the", "import", "of", "ledger", "rows", "keeps", "its", "order", "when", "a", "task", "moves", "between", "two",
    "sessions", "and", "nobody", "has", "to", "read", "history", "again", "for", "that",
];

fn of(alphabet: &str, count: usize, dice: &mut Dice) -> String {
    let letters = alphabet.as_bytes();
    (0..count).map(|_| char::from(letters[dice.below(letters.len())])).collect()
}

/// What `<<spec>>` is drawn as.
pub fn drawn(spec: &str, dice: &mut Dice) -> String {
    let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
    let count = rest.parse().unwrap_or(0);
    match name {
        "" => String::new(),
        "hex" => of("0123456789abcdef", count, dice),
        "HEX" => of("0123456789ABCDEF", count, dice),
        // No number of an account starts with a zero.
        "digits" => of("123456789", 1, dice) + &of("0123456789", count - 1, dice),
        "lower" => of(LOWER, count, dice),
        "upper" => of(UPPER, count, dice),
        "base32" => of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", count, dice),
        "letters" => of(LETTERS, count, dice),
        "alnum" => of(ALNUM, count, dice),
        "word" => inner(ALNUM, "_-", count, dice),
        "base64" => inner(ALNUM, "+/", count, dice),
        "uuid" => uuid::Builder::from_random_bytes(
            ((u128::from(dice.number()) << 64) | u128::from(dice.number())).to_be_bytes(),
        )
        .into_uuid()
        .to_string(),
        "check" => with_check_digits(&of(ALNUM, count, dice)),
        "password" => password(count, dice),
        "basic" => BASE64_STANDARD.encode(format!("deploy:{}", password(count, dice))),
        "jwt" => web_token(dice),
        "pem" => pem(rest, "\n", dice),
        "pemline" => pem(rest, "\\n", dice),
        "token" => format!("hya_{}", inner(ALNUM, "_-", 43, dice)),
        "write-context" => format!("ledger@{}#{}", of("0123456789abcdef", 8, dice), of(LOWER, 16, dice)),
        "words" => (0..count).map(|_| WORDS[dice.below(WORDS.len())]).collect::<Vec<_>>().join(" "),
        "lines" => (0..count).map(|_| inner(ALNUM, "+/", 76, dice)).collect::<Vec<_>>().join("\n"),
        "code" => code(count, dice),
        other => panic!("nothing draws {other}"),
    }
}

/// Of two alphabets, but the first and the last character of the first alone.
fn inner(outer: &str, signs: &str, count: usize, dice: &mut Dice) -> String {
    let middle = of(&format!("{outer}{signs}"), count.saturating_sub(2), dice);
    of(outer, 1, dice) + &middle + &of(outer, 1, dice)
}

fn with_check_digits(body: &str) -> String {
    let mut number = u64::from(crc32(body.as_bytes()));
    let mut digits = Vec::new();
    for _ in 0..6 {
        digits.push(ALNUM.as_bytes()[usize::try_from(number % 62).expect("small")]);
        number /= 62;
    }
    digits.reverse();
    body.to_owned() + &String::from_utf8(digits).expect("ASCII")
}

/// From the definition, over a table of remainders: the detector's own does it bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let remainder =
        |byte: u32| (0..8).fold(byte, |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 });
    let table: Vec<u32> = (0..256).map(remainder).collect();
    let step =
        |crc: u32, byte: &u8| table[usize::try_from((crc ^ u32::from(*byte)) & 0xff).expect("small")] ^ (crc >> 8);
    !bytes.iter().fold(u32::MAX, step)
}

fn password(count: usize, dice: &mut Dice) -> String {
    of(LETTERS, 1, dice) + "7" + &of(&format!("{ALNUM}!%*+=~-_"), count.saturating_sub(4), dice) + "!k"
}

fn web_token(dice: &mut Dice) -> String {
    let part = |value: serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let header = part(json!({"alg": "HS256", "typ": "JWT"}));
    let payload = part(json!({"sub": of("0123456789", 9, dice), "iat": 1_795_593_600, "scope": "ledger:write"}));
    format!("{header}.{payload}.{}", inner(ALNUM, "_-", 43, dice))
}

fn pem(label: &str, end: &str, dice: &mut Dice) -> String {
    let head = if label.starts_with("OPENSSH") { "b3BlbnNzaC1rZXktdjEAAAA" } else { "MIIEvQIBADANBgkqhkiG9w0" };
    let mut block = format!("-----BEGIN {label}-----{end}{head}{}", of(ALNUM, 64 - head.len(), dice));
    for _ in 0..6 {
        let _ = write!(block, "{end}{}", inner(ALNUM, "+/", 64, dice));
    }
    block + end + "-----END " + label + "-----"
}

fn code(count: usize, dice: &mut Dice) -> String {
    let one = |dice: &mut Dice| {
        let (a, b, c) = (of(LETTERS, 1, dice), of(LETTERS, 2, dice), of(ALNUM, 6, dice));
        format!("function {a}({b},e){{return {b}[e]?\"{c}\":t({b}.key,{{token:{a},secret:!0,password:e.pw||null}})}}")
    };
    (0..count).map(|_| one(dice)).collect()
}
