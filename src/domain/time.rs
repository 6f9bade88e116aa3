//! Moments and ages. Must never decide a conflict: versions do that.

use std::fmt;

/// A moment, in microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// True for a moment as [`Timestamp::rfc3339`] writes one.
pub fn is_rfc3339(text: &str) -> bool {
    text.len() == "2026-11-25T07:58:02Z".len() && text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
}

impl Timestamp {
    /// The moment that a text of RFC 3339 names, whatever its offset.
    pub fn of_rfc3339(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|moment| Self(moment.as_microsecond()))
    }

    /// RFC 3339 in UTC with seconds: `2026-11-25T07:58:02Z`.
    pub fn rfc3339(self) -> String {
        jiff::Timestamp::from_microsecond(self.0).map_or_else(|_| self.0.to_string(), |moment| format!("{moment:.0}"))
    }

    /// RFC 3339 in UTC without seconds, for change lists: `2026-11-25T07:58Z`.
    pub fn to_minute(self) -> String {
        self.strftime("%Y-%m-%dT%H:%MZ")
    }

    fn strftime(self, format: &str) -> String {
        jiff::Timestamp::from_microsecond(self.0)
            .map_or_else(|_| self.0.to_string(), |moment| moment.strftime(format).to_string())
    }

    /// The moment that many hours later (or earlier, if negative).
    #[must_use]
    pub fn plus_hours(self, hours: i64) -> Self {
        Self(self.0.saturating_add(hours.saturating_mul(HOUR)))
    }

    /// The moment that many minutes later (or earlier, if negative).
    #[must_use]
    pub fn plus_minutes(self, minutes: i64) -> Self {
        Self(self.0.saturating_add(minutes.saturating_mul(MINUTE)))
    }

    /// The age at `now` in one word: `3s`, `40m`, `19h`, `6d`. A moment ahead of `now` (the clock went back) is `0s`.
    pub fn age(self, now: Self) -> String {
        let age = now.0.saturating_sub(self.0).max(0);
        let (unit, word) = match age {
            age if age >= 2 * DAY => (DAY, 'd'),
            age if age >= HOUR => (HOUR, 'h'),
            age if age >= MINUTE => (MINUTE, 'm'),
            _ => (SECOND, 's'),
        };
        format!("{}{word}", age / unit)
    }

    /// The age at `now` in words: `4 minutes`, `1 hour`.
    pub fn age_in_words(self, now: Self) -> String {
        let age = now.0.saturating_sub(self.0).max(0);
        let (unit, word) = match age {
            age if age >= 2 * DAY => (DAY, "day"),
            age if age >= HOUR => (HOUR, "hour"),
            age if age >= MINUTE => (MINUTE, "minute"),
            _ => (SECOND, "second"),
        };
        let count = age / unit;
        format!("{count} {word}{}", if count == 1 { "" } else { "s" })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.rfc3339())
    }
}
