//! What a rule finds. Must never hold more than one line, nor anything that its reader cannot act on.

use serde::Serialize;

use crate::domain::hidden;
use crate::domain::rule::Rule;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The successor would have to ask or search, or start wrong. Told only where no language could make it otherwise.
    Error,
    /// It would be better.
    Warning,
}

/// One thing to mend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// How much it matters.
    pub level: Level,
    /// The field to change.
    pub field: String,
    /// What to do, in one line.
    pub fix: String,
    /// True if it makes the handoff misleading: it contradicts itself.
    #[serde(skip)]
    pub contradicts: bool,
    /// True if something is missing that only a whole handoff needs: an update on the way is not told.
    #[serde(skip)]
    pub lacks: bool,
    /// Another field in which it can be mended as well.
    #[serde(skip)]
    pub or_field: Option<&'static str>,
}

impl Finding {
    fn new(rule: Rule, level: Level, field: &str, fix: impl Into<String>) -> Self {
        // What stands in a text is told as it can be seen.
        let fix = hidden::shown(&fix.into().replace(['\n', '\r'], " "));
        Self { rule, level, field: field.to_owned(), fix, contradicts: false, lacks: false, or_field: None }
    }

    pub(super) fn error(rule: Rule, field: &str, fix: impl Into<String>) -> Self {
        Self::new(rule, Level::Error, field, fix)
    }

    pub(super) fn warning(rule: Rule, field: &str, fix: impl Into<String>) -> Self {
        Self::new(rule, Level::Warning, field, fix)
    }

    /// The same, as something that is missing.
    pub(super) const fn lacking(mut self) -> Self {
        self.lacks = true;
        self
    }

    /// The same, as a contradiction.
    pub(super) const fn contradicting(mut self) -> Self {
        self.contradicts = true;
        self
    }

    /// The same, which another field can mend as well.
    pub(super) const fn or_in(mut self, field: &'static str) -> Self {
        self.or_field = Some(field);
        self
    }
}
