//! What a text can point to: files, pull requests, issues, repositories, addresses. Must never take a fraction, a date or a
//! pair of words for a path.

use std::sync::LazyLock;

use regex::Regex;

use super::pattern;
use crate::domain::markdown::{Document, Line};

/// Endings of files as they stand in repositories.
const EXTENSIONS: [&str; 98] = [
    "astro",
    "bash",
    "bat",
    "bicep",
    "c",
    "cc",
    "cfg",
    "clj",
    "conf",
    "cpp",
    "cs",
    "css",
    "csv",
    "cts",
    "cxx",
    "dart",
    "db",
    "env",
    "erl",
    "ex",
    "exs",
    "fs",
    "gd",
    "go",
    "gql",
    "gradle",
    "graphql",
    "gz",
    "h",
    "hcl",
    "hpp",
    "hs",
    "html",
    "http",
    "ini",
    "ipynb",
    "java",
    "jl",
    "js",
    "json",
    "json5",
    "jsonl",
    "jsx",
    "kt",
    "kts",
    "lean",
    "lock",
    "log",
    "lua",
    "m",
    "md",
    "mdx",
    "mjs",
    "ml",
    "mm",
    "mts",
    "ndjson",
    "nix",
    "parquet",
    "patch",
    "pdf",
    "php",
    "pl",
    "plist",
    "png",
    "prisma",
    "properties",
    "proto",
    "ps1",
    "py",
    "rb",
    "rs",
    "rst",
    "scala",
    "scss",
    "sh",
    "snap",
    "sql",
    "sqlite",
    "svelte",
    "svg",
    "swift",
    "tar",
    "tf",
    "toml",
    "ts",
    "tsv",
    "tsx",
    "txt",
    "vue",
    "wasm",
    "xcconfig",
    "xlsx",
    "xml",
    "yaml",
    "yml",
    "zig",
    "zip",
];

/// Names of files without an ending.
const FILES: [&str; 9] =
    ["Makefile", "Dockerfile", "Justfile", "justfile", "README", "CHANGELOG", "Procfile", "LICENSE", "Gemfile"];

/// Products that are called as files are.
const PRODUCTS: [&str; 10] =
    ["alpine.js", "chart.js", "d3.js", "ember.js", "express.js", "next.js", "node.js", "nuxt.js", "react.js", "vue.js"];

static URL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?:https?|ssh|git)://[^\s<>()\[\]"'`」、。]+|git@[A-Za-z0-9.-]+:[A-Za-z0-9._/-]+"#));

/// `#412`, `acme/ledger#412`, `!412`, `GH-412`, and keys of trackers such as `ENG-1042`.
static CHANGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^|[^\w&/#])(?:[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+)?[#!][0-9]+(?-u:\b)|(?-u:\b)[A-Z]{2,10}-[0-9]+(?-u:\b)",
    )
});

/// True if a name ends as files do.
pub(in crate::domain::handoff) fn has_extension(name: &str) -> bool {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let ending =
        last.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| EXTENSIONS.binary_search(&ending.as_str()).is_ok())
}

/// True if a word is the path or name of a file or folder.
fn is_file(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ':', '/']);
    let segments = word.split(['/', '\\']).filter(|segment| !segment.is_empty()).count();
    let is_rooted = ["./", "../", "~/", "/", ".\\"].iter().any(|root| word.starts_with(root));
    let has_letter = word.chars().any(|letter| letter.is_ascii_alphabetic());
    let last = word.rsplit(['/', '\\']).next().unwrap_or(word);
    // "A/B/C" are letters, and node.js is what runs.
    let is_letters = word.split('/').all(|segment| segment.len() < 2);
    let is_product = PRODUCTS.iter().any(|product| product.eq_ignore_ascii_case(word));
    has_letter
        && !is_letters
        && !is_product
        && (has_extension(word) || FILES.contains(&last) || (is_rooted && segments > 1) || segments > 2)
        && !word.starts_with("//")
}

/// True if a line names a file.
pub(in crate::domain::handoff) fn names_file(line: &Line<'_>) -> bool {
    file(line.text).is_some() || line.codes.iter().any(|code| code.contains('/') && !code.contains(' '))
}

/// The first file that a text names.
pub(in crate::domain::handoff) fn file(text: &str) -> Option<&str> {
    let is_within = |letter: char| letter.is_ascii_alphanumeric() || "_.@~/\\-".contains(letter);
    text.split(|letter| !is_within(letter)).filter(|word| !word.is_empty()).find(|word| is_file(word))
}

/// The first address in a text.
fn url(text: &str) -> Option<&str> {
    let may_be = text.contains("://") || text.contains("git@");
    may_be.then(|| URL.find(text)).flatten().map(|found| found.as_str())
}

/// Names in capitals with a number that are no key of a tracker.
const STANDARDS: [&str; 20] = [
    "SHA", "UTF", "ISO", "RFC", "AES", "MD", "GPT", "HTTP", "ASCII", "RSA", "TLS", "PEP", "TODO", "FIXME", "STEP",
    "PHASE", "PART", "ITEM", "NOTE", "XXX",
];

/// The pull requests and issues that a text of one line names.
fn changes(text: &str) -> impl Iterator<Item = &str> {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let found = has_digit.then(|| CHANGE.find_iter(text)).into_iter().flatten().map(|found| found.as_str());
    let found = found
        .map(|found| found.trim_start_matches(|first: char| !(first.is_ascii_alphanumeric() || "#!".contains(first))));
    found.filter(|found| !STANDARDS.contains(&found.split('-').next().unwrap_or_default()))
}

/// True if a line names a pull request, an issue or an address.
pub(in crate::domain::handoff) fn names_change(line: &Line<'_>) -> bool {
    changes(line.text).next().is_some() || url(line.text).is_some()
}

/// What a line points to: a file, a pull request, an issue, an address.
pub(in crate::domain::handoff) fn pointed_to<'t>(line: &Line<'t>) -> Option<&'t str> {
    let change = changes(line.text).next();
    file(line.text).or(change).or_else(|| url(line.text))
}

/// What stands in front of the name of a repository: the word for one, or the option of a program.
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)(?:(?:^|[^A-Za-z_])(?:repository|repositories|repo|fork of|upstream)|リポジトリ|レポジトリ|仓库|depot|--repo| -R)(?:\*\*)?[ :：=はが]*(?:\*\*)? *[`"'「(]*$"#,
    )
});

/// An address without its scheme, as people write it.
static HOSTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?:github\.com|bitbucket\.org|codeberg\.org|git(?:lab|ea)?\.[a-z0-9.-]+)/[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")
});

/// A pair that owns and is owned: `acme/ledger`, not `src/main` or `and/or`.
static PAIR: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?P<owner>[A-Za-z0-9][A-Za-z0-9-]{1,38})/(?P<name>[A-Za-z0-9][A-Za-z0-9._-]+)"));

/// First parts of pairs that are folders, branches or remotes.
const PLACES: [&str; 73] = [
    "agent",
    "api",
    "app",
    "apps",
    "assets",
    "bench",
    "benches",
    "benchmarks",
    "bin",
    "bugfix",
    "build",
    "chore",
    "ci",
    "claude",
    "cmd",
    "codex",
    "components",
    "config",
    "copilot",
    "crates",
    "cursor",
    "data",
    "db",
    "dist",
    "docs",
    "e2e",
    "envs",
    "examples",
    "experiments",
    "feat",
    "feature",
    "fix",
    "fork",
    "heads",
    "hotfix",
    "infra",
    "internal",
    "lib",
    "libs",
    "local",
    "migrations",
    "models",
    "modules",
    "node_modules",
    "notify",
    "ops",
    "origin",
    "packages",
    "perf",
    "pkg",
    "priv",
    "public",
    "refactor",
    "refs",
    "release",
    "scripts",
    "server",
    "spec",
    "spike",
    "src",
    "task",
    "test",
    "tests",
    "tool",
    "tools",
    "upstream",
    "usr",
    "v1",
    "v2",
    "views",
    "vk",
    "web",
    "wip",
];

/// Pairs of words.
const PAIRS: [&str; 28] = [
    "and/or",
    "client/server",
    "either/or",
    "he/she",
    "his/her",
    "input/output",
    "in/out",
    "on/off",
    "read/write",
    "s/he",
    "start/stop",
    "yes/no",
    "true/false",
    "pass/fail",
    "before/after",
    "create/update",
    "get/set",
    "issue/PR",
    "ci/cd",
    "build/test",
    "update/delete",
    "save/load",
    "tcp/ip",
    "create/delete",
    "summary/status",
    "up/down",
    "import/export",
    "open/close",
];

/// The repository that a text names: `owner/name`, or its address. A folder of one machine is none.
pub(in crate::domain::handoff) fn repository<'t>(document: &Document<'t>) -> Option<&'t str> {
    let lines = || document.lines.iter();
    let address = |line: &Line<'t>| {
        let may_be = line.text.contains("://") || line.text.contains("git@");
        let mut found = may_be.then(|| URL.find_iter(line.text)).into_iter().flatten().map(|url| url.as_str());
        found.find(|url| is_repository(url))
    };
    let hosted = |line: &Line<'t>| {
        let may_be = line.text.contains("git") || line.text.contains("bitbucket.") || line.text.contains("codeberg.");
        may_be.then(|| HOSTED.find(line.text)).flatten().map(|found| found.as_str())
    };
    lines().find_map(|line| address(line).or_else(|| hosted(line)).or_else(|| pair(line)))
}

/// True for an address with an owner and a name behind its host, which is no machine of one's own.
fn is_repository(url: &str) -> bool {
    let rest = url.split_once("://").map_or_else(|| url.trim_start_matches("git@"), |(_, rest)| rest);
    let (host, path) = rest.split_once(['/', ':']).unwrap_or((rest, ""));
    let is_local = host.starts_with("localhost") || host.starts_with("127.") || !host.contains('.');
    !is_local && path.split('/').filter(|part| !part.is_empty()).count() > 1
}

/// How many characters of a line stand in front of a name that opens it, such as the word for a repository in a language that
/// is not read here.
const OPENING: usize = 24;

/// The pair that names a repository. By itself a pair may be a folder or two words, so it stands behind the word for a
/// repository, in front of the number of a change, or at the start of a line that names a commit or a change as well.
fn pair<'t>(line: &Line<'t>) -> Option<&'t str> {
    let text = line.text;
    if !text.contains('/') || !PAIR.is_match(text) {
        return None;
    }
    let branches = super::git::said(line);
    let is_identified = !super::git::hashes_in(text).is_empty() || changes(text).next().is_some();
    PAIR.captures_iter(text).find_map(|found| {
        let (owner, name) = (found.name("owner")?, found.name("name")?);
        let whole = text[owner.start()..name.end()].trim_end_matches('.');
        let (before, after) = (&text[..owner.start()], &text[name.end()..]);
        let is_part = |beside: Option<char>, marks: &str| {
            beside.is_some_and(|beside| beside.is_ascii_alphanumeric() || marks.contains(beside))
        };
        let number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let is_place = PLACES.binary_search(&owner.as_str().to_ascii_lowercase().as_str()).is_ok();
        let is_words = PAIRS.iter().any(|pair| pair.eq_ignore_ascii_case(whole));
        // A branch behind its word or in a command; a file; a folder.
        let is_branch = branches.iter().any(|branch| whole.starts_with(branch) || branch.starts_with(whole));
        let is_other = is_place
            || is_words
            || is_branch
            || has_extension(whole)
            || number(owner.as_str())
            || number(name.as_str());
        let stands_alone = !is_part(before.chars().next_back(), "/._-@~$%=") && !is_part(after.chars().next(), "/_=(");
        let is_change = after.starts_with('#') && after[1..].starts_with(|digit: char| digit.is_ascii_digit());
        let opens = is_identified && before.chars().take(OPENING + 1).count() <= OPENING;
        let is_named = is_change || opens || LABEL.is_match(super::git::just_before(text, owner.start()));
        (!is_other && stands_alone && is_named).then_some(whole)
    })
}
