//! The grade of a handoff: one word for lists. Must never be better than the findings, nor than what git said.

use serde::Serialize;

use crate::domain::handoff::Finding;

/// How far a stranger gets with a handoff, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// A stranger can start: nothing was found.
    Ready,
    /// Something is missing; the findings say what.
    Thin,
    /// It contradicts itself, or git: a stranger would start wrong.
    Misleading,
}

impl Grade {
    /// All grades.
    pub const ALL: [Self; 3] = [Self::Ready, Self::Thin, Self::Misleading];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Thin => "thin",
            Self::Misleading => "misleading",
        }
    }

    /// The grade of that word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grade| grade.as_str() == word)
    }

    /// The grade of a list of findings.
    pub fn of_findings(findings: &[Finding]) -> Self {
        if findings.iter().any(|finding| finding.contradicts) {
            Self::Misleading
        } else if findings.is_empty() {
            Self::Ready
        } else {
            Self::Thin
        }
    }

    /// The grade once git was asked: what it contradicts misleads, whatever the texts say.
    #[must_use]
    pub const fn with_git(self, contradicted: bool) -> Self {
        if contradicted { Self::Misleading } else { self }
    }
}
