//! The rows of the table.

use std::time::Duration;

use crate::load::Turn;
use crate::request::Way;

/// How many clients ask at once.
pub(crate) const CLIENTS: [usize; 3] = [1, 8, 64];
/// How many agents work with pauses, and how long those are.
pub(crate) const AGENTS: usize = 30;
/// The time in which an agent does something else.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Axum alone.
    Echo,
    /// Rmcp alone.
    Constant,
    /// An operation.
    Call(Operation, Way),
    /// Groups of as many writes, by the driver alone.
    Loop,
    /// Everything at once, with pauses.
    Mixed,
}

/// The operations that are measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `task_get` of a random task.
    Get,
    /// `task_list` without arguments.
    List,
    /// `continuity_context` with a handoff line.
    Resume,
    /// `task_update`, on disk.
    Update,
}

impl Operation {
    /// In the order of the table.
    pub(crate) const ALL: [Self; 4] = [Self::Get, Self::List, Self::Resume, Self::Update];

    /// The name in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "task_get",
            Self::List => "task_list",
            Self::Resume => "resume packet",
            Self::Update => "task_update, on disk",
        }
    }
}

impl Kind {
    /// The name in the table.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Echo => "axum alone, JSON echo".to_owned(),
            Self::Constant => "rmcp alone, constant text".to_owned(),
            Self::Call(operation, way) => format!("{}, {}", operation.name(), way.name()),
            Self::Loop => "bare group-commit loop".to_owned(),
            Self::Mixed => format!("{AGENTS} agents, mixed"),
        }
    }
}

/// One row: its turns, one in each round.
pub(crate) struct Row {
    /// How many tasks the database has.
    pub(crate) size: usize,
    /// What is measured.
    pub(crate) kind: Kind,
    /// By how many clients at once.
    pub(crate) clients: usize,
    /// What came of it.
    pub(crate) turns: Vec<Turn>,
}

/// All rows of a database, without turns yet.
pub(crate) fn rows(size: usize) -> Vec<Row> {
    let calls = Operation::ALL.iter().flat_map(|one| Way::BOTH.map(|way| Kind::Call(*one, way)));
    let kinds: Vec<Kind> = [Kind::Echo, Kind::Constant].into_iter().chain(calls).chain([Kind::Loop]).collect();
    let row = |kind, clients| Row { size, kind, clients, turns: Vec::new() };
    let mut rows: Vec<Row> =
        CLIENTS.iter().flat_map(|clients| kinds.iter().map(move |kind| row(*kind, *clients))).collect();
    rows.push(row(Kind::Mixed, AGENTS));
    rows
}
