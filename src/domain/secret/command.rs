//! Passwords on command lines: what follows the flag of a program that takes one there, as in `docker login -p …`. Must
//! read no further than the command.

use std::ops::Range;

use super::password::{is_made_up, is_stand_in, is_usual};
use super::random::is_random;
use super::scan::Found;
use super::shape::starts_word;

/// How much of a command is looked at, in bytes.
const COMMAND_MAX: usize = 384;
/// The fewest characters of a password that nothing but its place tells.
const LEAST: usize = 6;
/// From so many characters on, chance is enough.
const LONG: usize = 16;

/// The programs, in small letters.
pub(super) const PROGRAMS: [&str; 50] = [
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mysqlsh",
    "mariadb",
    "mariadb-dump",
    "redis-cli",
    "valkey-cli",
    "mongosh",
    "mongo",
    "mongodump",
    "mongorestore",
    "mongoexport",
    "mongoimport",
    "ldapsearch",
    "ldapadd",
    "ldapmodify",
    "ldapdelete",
    "ldapwhoami",
    "ldappasswd",
    "sqlcmd",
    "bcp",
    "tsql",
    "isql",
    "mosquitto_pub",
    "mosquitto_sub",
    "ipmitool",
    "cqlsh",
    "clickhouse-client",
    "influx",
    "sshpass",
    "keytool",
    "jarsigner",
    "openssl",
    "smbclient",
    "rpcclient",
    "xfreerdp",
    "lftp",
    "skopeo",
    "docker login",
    "podman login",
    "nerdctl login",
    "buildah login",
    "skopeo login",
    "registry login",
    "oras login",
    "crane auth login",
    "az login",
    "oc login",
    "cf login",
];

/// How a program is given a password.
struct Program {
    /// Its flags, with the value behind a space or an equals sign.
    flags: &'static [&'static str],
    /// What stands right in front of the value, in the same word.
    heads: &'static [&'static str],
}

const fn program(flags: &'static [&'static str], heads: &'static [&'static str]) -> Program {
    Program { flags, heads }
}

/// The flags of the program whose name was found.
fn program_named(name: &str) -> Option<Program> {
    let found = match name.to_ascii_lowercase().as_str() {
        "mysql" | "mysqldump" | "mysqladmin" | "mysqlsh" | "mariadb" | "mariadb-dump" => program(&[], &["-p"]),
        "redis-cli" | "valkey-cli" => program(&["-a", "--pass"], &[]),
        "mongosh" | "mongo" | "mongodump" | "mongorestore" | "mongoexport" | "mongoimport" => program(&["-p"], &[]),
        "ldapsearch" | "ldapadd" | "ldapmodify" | "ldapdelete" | "ldapwhoami" | "ldappasswd" => {
            program(&["-w", "-s"], &["-w"])
        }
        "sqlcmd" | "bcp" | "tsql" | "isql" | "mosquitto_pub" | "mosquitto_sub" | "ipmitool" => {
            program(&["-P"], &["-P"])
        }
        "cqlsh" | "clickhouse-client" | "influx" | "sshpass" => program(&["-p", "-password"], &["-p"]),
        "keytool" | "jarsigner" => program(&["-storepass", "-keypass", "-deststorepass", "-srcstorepass"], &[]),
        "openssl" => program(&["-k"], &["pass:"]),
        "smbclient" | "rpcclient" => program(&["-U"], &[]),
        "xfreerdp" => program(&[], &["/p:"]),
        "lftp" => program(&["-u"], &[]),
        "skopeo" => program(&["--creds", "--src-creds", "--dest-creds", "-p"], &[]),
        name if name.ends_with(" login") => program(&["-p"], &[]),
        _ => return None,
    };
    Some(found)
}

/// The password in the command that starts with the program's name at `name`.
pub(super) fn password(text: &str, name: Range<usize>) -> Option<Found> {
    let bytes = text.as_bytes();
    let ends_name = bytes.get(name.end).is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    if !ends_name || !starts_word(bytes, name.start) {
        return None;
    }
    let program = program_named(&text[name.clone()])?;
    let mut is_next = false;
    let mut at = name.end;
    let end = text.floor_char_boundary((name.end + COMMAND_MAX).min(text.len()));
    while let Some(word) = next_word(text, at, end) {
        // From the next program's name on, that one's turn comes.
        if PROGRAMS.contains(&&text[word.clone()]) {
            return None;
        }
        at = word.end;
        let value = if std::mem::take(&mut is_next) {
            Some(word)
        } else {
            is_next = program.flags.contains(&&text[word.clone()]);
            attached(&program, &text[word.clone()]).map(|skipped| word.start + skipped..word.end)
        };
        let found = value.and_then(|value| found(text, value));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The next word of the command from `at` on: up to a space, and none behind the command's end.
fn next_word(text: &str, at: usize, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_gap =
        |at: usize| matches!(bytes[at], b' ' | b'\t') || (bytes[at] == b'\\' && bytes.get(at + 1) == Some(&b'\n'));
    let goes_on = |at: usize| is_gap(at) || (bytes[at] == b'\n' && at > 0 && bytes[at - 1] == b'\\');
    let start = (at..end).find(|at| !goes_on(*at))?;
    let length = bytes[start..end].iter().take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'`').count();
    let is_end = length == 0 || matches!(bytes[start], b'|' | b';' | b'&' | b'#');
    // A word that the bound cuts off is none.
    let is_cut = start + length == end && end < text.len();
    (!is_end && !is_cut).then_some(start..start + length)
}

/// How much of a word stands in front of the value that it holds.
fn attached(program: &Program, word: &str) -> Option<usize> {
    let of_head = program.heads.iter().find(|head| word.starts_with(**head) && word.len() > head.len());
    let of_flag = program.flags.iter().find(|flag| word.strip_prefix(**flag).is_some_and(|rest| rest.starts_with('=')));
    of_head.map(|head| head.len()).or_else(|| of_flag.map(|flag| flag.len() + 1))
}

/// A value without its quotation marks and, where a name stands in front, without that.
fn found(text: &str, value: Range<usize>) -> Option<Found> {
    let inner = text[value.clone()].trim_end_matches([';', ')', ',']).trim_matches(['"', '\'']);
    let start = value.start + text[value].find(inner)?;
    let name = inner.find([':', '%', ',']).map_or(0, |at| at + 1);
    let name = if inner[..name].bytes().all(|byte| byte.is_ascii_lowercase() || !byte.is_ascii_alphanumeric()) {
        name
    } else {
        0
    };
    let word = &inner[name..];
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_drawn = is_made_up(word) || (word.len() >= LONG && has_digit && is_random(word.as_bytes()));
    let is_one = word.len() >= LEAST && !is_stand_in(word) && !is_usual(word) && is_drawn;
    is_one.then(|| Found::new("a password on a command line", start + name..start + inner.len()))
}
