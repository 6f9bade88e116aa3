//! The operations that are measured, and the arguments of one call of each.

use serde_json::{Value, json};

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

/// One call.
pub(crate) struct Asked {
    /// The tool.
    pub(crate) tool: &'static str,
    /// Its arguments.
    pub(crate) arguments: Value,
}

impl Asked {
    /// A call of a reading tool with one argument or none.
    pub(crate) fn reading(tool: &'static str, arguments: Value) -> Self {
        Self { tool, arguments }
    }

    /// A small update at a known version.
    pub(crate) fn update(task_id: &str, version: &Value, write_context: &str, number: usize) -> Self {
        let arguments = json!({
            "task_id": task_id,
            "expected_version": version,
            "write_context": write_context,
            "summary": format!("Step {number} is done, the next one is ready to start."),
            "handoff_next": format!("cargo test -p import step{number}\nPrevious session: label:bench"),
        });
        Self { tool: "task_update", arguments }
    }
}
