//! The operations that are measured.

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `task_get` of a random task.
    Get,
    /// `task_list` without arguments.
    List,
    /// `continuity_context` with a handoff line.
    Resume,
    /// `continuity_context` without one.
    Overview,
    /// `task_list` with a word that three tasks have.
    RareWord,
    /// `task_list` with a word that a third of the tasks have.
    FrequentWord,
    /// `task_update` of a task in progress.
    Update,
}

impl Operation {
    /// In the order of the table.
    pub(crate) const ALL: [Self; 7] =
        [Self::Get, Self::List, Self::Resume, Self::Overview, Self::RareWord, Self::FrequentWord, Self::Update];

    /// The name in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "task_get",
            Self::List => "task_list",
            Self::Resume => "continuity_context with a line",
            Self::Overview => "continuity_context",
            Self::RareWord => "search, rare word",
            Self::FrequentWord => "search, frequent word",
            Self::Update => "task_update",
        }
    }
}
