//! What a person's or a machine's password looks like, and what only stands for one.

use super::random::{is_dense, is_drawn_from_letters, is_placeholder, is_well_mixed};
use super::shape::is_uuid;

/// What databases, queues and boards start with, and what tutorials type.
const USUAL: [&str; 44] = [
    "postgres",
    "postgresql",
    "root",
    "toor",
    "admin",
    "administrator",
    "guest",
    "user",
    "username",
    "mysql",
    "mariadb",
    "mongo",
    "mongodb",
    "redis",
    "rabbitmq",
    "minio",
    "minioadmin",
    "elastic",
    "neo4j",
    "clickhouse",
    "cassandra",
    "sa",
    "app",
    "dev",
    "develop",
    "development",
    "local",
    "localhost",
    "django",
    "rails",
    "laravel",
    "symfony",
    "wordpress",
    "keycloak",
    "grafana",
    "airflow",
    "prisma",
    "docker",
    "vagrant",
    "default",
    "letmein",
    "hunter2",
    "pass",
    "heyaira",
];

/// True for a value that names or shows what belongs there: a variable, a template, a word for a password, stars.
pub(super) fn is_stand_in(word: &str) -> bool {
    let plain = |one: char| one.is_ascii_graphic();
    let opens = word.starts_with(['$', '{', '<', '[', '(', '`'])
        || ["${", "$(", "{{", "()", "<%", "`"].iter().any(|mark| word.contains(mark))
        || ends_as_it_opens(word, '(', ')')
        || ends_as_it_opens(word, '[', ']')
        || ends_as_it_opens(word, '{', '}')
        || ends_as_it_opens(word, '<', '>');
    let formats = word.starts_with('%') && word.len() <= 12 && !word[1..].contains(|one: char| one.is_ascii_digit());
    let is_name = word.contains(|one: char| one.is_ascii_uppercase())
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-'));
    let is_blank = word.bytes().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'-' | b'_' | b'#' | b'?'));
    !word.chars().all(plain) || opens || formats || is_name || is_blank || says_so(word)
}

/// True for a call or a place in a list: `read(name)`, `names[0]`.
fn ends_as_it_opens(word: &str, open: char, close: char) -> bool {
    word.ends_with(close) && word.contains(open)
}

/// True for a word that says that it is none, whatever chance may have put around it.
fn says_so(word: &str) -> bool {
    is_placeholder(word.as_bytes()) && !is_all_one(word)
        || matches!(
            word.to_ascii_lowercase().as_str(),
            "pass" | "pwd" | "pw" | "none" | "null" | "undefined" | "empty" | "string"
        )
        || word.to_ascii_lowercase().contains("mypass")
        || word.to_ascii_lowercase().contains("p%40ss")
}

/// One letter over and over is a bad password, and one.
fn is_all_one(word: &str) -> bool {
    word.bytes().all(|byte| Some(byte) == word.bytes().next())
}

/// True for a password that is the same on many machines.
pub(super) fn is_usual(word: &str) -> bool {
    let small = word.to_ascii_lowercase();
    let base = small.trim_end_matches(|one: char| one.is_ascii_digit() || matches!(one, '!' | '_' | '-'));
    USUAL.contains(&base) || (base.len() <= 4 && base.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Signs that passwords have and names have not.
const SIGNS: &[u8] = b"!@#$%^&*+=?~|,;";

/// True for what a generator or a careful person made: chance, or letters, digits and signs of which three are there.
pub(super) fn is_made_up(word: &str) -> bool {
    let has = |such: fn(&u8) -> bool| word.bytes().any(|byte| such(&byte));
    let has_sign = has(|byte| SIGNS.contains(byte)) && has(u8::is_ascii_alphabetic);
    let is_mixed = has_sign && (has(u8::is_ascii_digit) || (word.len() >= 12 && is_well_mixed(word.as_bytes())));
    let is_password = (word.len() >= 10 && is_mixed) || (word.len() >= 10 && is_dense(word.as_bytes()));
    let graphic = word.bytes().all(|byte| byte.is_ascii_graphic());
    let is_password = is_password || is_drawn_from_letters(word.as_bytes());
    graphic && is_password && !is_stand_in(word) && !is_uuid(word.as_bytes())
}
