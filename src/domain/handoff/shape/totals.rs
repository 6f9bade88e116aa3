//! Totals of tests as the common runners print them, and as people write them down. Must never take a time, a version or a
//! line number for a total.

use std::sync::LazyLock;

use regex::Regex;

use super::pattern;

/// A number beside a word that runners and people put beside one: cargo, pytest, jest, vitest, go, bun, mocha, `JUnit`,
/// `PHPUnit`, `RSpec`, .NET, `XCTest`; 成功 and the like.
static TOTALS: LazyLock<Regex> = LazyLock::new(|| {
    let after = "passed|passing|pass|passes|failed|failing|failures?|fail|errors?|skipped|ignored|tests?|specs?|examples?|\
        scenarios?|suites?|assertions?|test cases|cases|checks|ok|green|succeeded|successful|todo|xfailed|deselected|pending|\
        件|個の?テスト|テスト|本の?テスト|項目|ケース|tests? (?:files )?passed";
    let before = "passed|failed|failures|errors|skipped|ignored|tests run|tests|total|pass|fail|ok|成功|失敗|合格|合計|全|スキップ|\
        executed|✓|✔|✅|❌|✗";
    pattern(&format!(
        r"(?i)(?-u:\b)[0-9][0-9,]*[`*]* ?(?:{after})|(?:{before})[:：=]?[ `*(]*[0-9][0-9,]*(?:[^0-9.,:]|[.,](?:[^0-9]|$)|$)|(?m)^\s*(?:ok|FAIL)\s+\S+\s+[0-9.]+s"
    ))
});

/// `439/439`.
static RATIO: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:^|[^\w/.-])(?P<part>[0-9][0-9,]*) ?/ ?(?P<all>[0-9][0-9,]*)(?:[^\w/-]|$)"));

/// A number that stands alone: no time, size, version, port or line.
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:^|[\s(:：→=])(?P<number>[0-9][0-9,]*)(?P<end>[\s).,;:：、。]|$)"));

/// True if a text of one line holds totals.
pub(in crate::domain::handoff) fn has_totals(text: &str) -> bool {
    // Most lines have no digit, and are not worth a pattern.
    text.bytes().any(|byte| byte.is_ascii_digit()) && (TOTALS.is_match(text) || (text.contains('/') && has_ratio(text)))
}

/// True if part of all is told: `208/212`.
fn has_ratio(text: &str) -> bool {
    RATIO.captures_iter(text).any(|found| {
        let number = |name: &str| found.name(name).and_then(|one| one.as_str().replace(',', "").parse::<u64>().ok());
        matches!((number("part"), number("all")), (Some(part), Some(all)) if part <= all && all > 0)
    })
}

/// True if a text holds a number that may be a total in a language that we do not read.
pub(in crate::domain::handoff) fn has_number(text: &str) -> bool {
    NUMBER.is_match(text)
}
