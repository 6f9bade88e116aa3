//! How strictly a rule is kept: what a project says for each of them.

/// What becomes of a call that goes against a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Nothing is looked for.
    Off,
    /// It is done, and its answer says what is wrong.
    Warn,
    /// It is refused.
    Refuse,
}
