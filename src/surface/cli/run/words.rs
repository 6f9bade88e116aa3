//! The words in the flags of `heyaira run start`: durations, sizes, money. Must never take a number for another one.

use std::time::Duration;

use crate::domain::text::quoted;

/// A duration: `90` and `90s` are seconds, `30m` minutes, `2h` hours.
pub(super) fn duration(flag: &str, word: &str) -> Result<Duration, String> {
    let wrong = || format!("--{flag} {} is no time: write 90, 90s, 30m or 2h", quoted(word, 20));
    let digits = word.strip_suffix(['s', 'm', 'h']).unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let factor = match word.as_bytes().last() {
        Some(b'h') => 3_600,
        Some(b'm') => 60,
        _ => 1,
    };
    let seconds = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    // A year and no more, so that it can be added to any moment.
    match seconds {
        Some(0) => Err(format!("--{flag} {} is no time at all", quoted(word, 20))),
        Some(seconds @ 1..=31_536_000) => Ok(Duration::from_secs(seconds)),
        _ => Err(format!("--{flag} {} is longer than a year", quoted(word, 20))),
    }
}

/// How long silence may last: a duration, or `none`.
pub(super) fn silence(word: &str) -> Result<Option<Duration>, String> {
    if word == "none" {
        return Ok(None);
    }
    duration("silence", word).map(Some).map_err(|wrong| format!("{wrong}, or none"))
}

/// A size in bytes: `65536`, `64KiB`, `64MiB`, `1GiB`.
pub(super) fn size(flag: &str, word: &str) -> Result<u64, String> {
    let units = [("KiB", 1_u64 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    let found = units.into_iter().find_map(|(unit, factor)| Some((word.strip_suffix(unit)?, factor)));
    let (digits, factor) = found.unwrap_or((word, 1));
    let number = digits.parse::<u64>().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let bytes = number.and_then(|number| number.checked_mul(factor));
    bytes
        .filter(|bytes| (1 << 10..=1 << 40).contains(bytes))
        .ok_or_else(|| format!("--{flag} {} is no size from 1KiB to 1024GiB: write e.g. 64MiB", quoted(word, 20)))
}

/// An amount of US dollars.
pub(super) fn dollars(flag: &str, word: &str) -> Result<f64, String> {
    let amount = word.strip_prefix('$').unwrap_or(word).parse::<f64>().ok();
    let amount = amount.filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| format!("--{flag} {} is no amount of US dollars above 0", quoted(word, 20)))
}

/// A number from 1 to 1000.
pub(super) fn number(flag: &str, word: &str) -> Result<u32, String> {
    let number = word.parse::<u32>().ok().filter(|number| (1..=1_000).contains(number));
    number.ok_or_else(|| format!("--{flag} {} is no number from 1 to 1000", quoted(word, 20)))
}
