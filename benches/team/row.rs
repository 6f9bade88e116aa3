//! The rows of the table.

use std::time::Duration;

/// How many clients ask at once.
pub(crate) const CLIENTS: [usize; 3] = [1, 8, 64];

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `task_get`.
    Get,
    /// `task_update`, on disk.
    Update,
}

impl Operation {
    /// In the order of the table.
    pub(crate) const ALL: [Self; 2] = [Self::Get, Self::Update];

    /// The name in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "task_get",
            Self::Update => "task_update, on disk",
        }
    }
}

/// Who is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// One server on a file.
    File,
    /// So many servers on `PostgreSQL`.
    Servers(usize),
    /// The database itself: all statements of a call.
    Same,
    /// The database itself: the one statement that matters, as a transaction of its own.
    Bare,
}

impl Way {
    /// In the order of the table.
    pub(crate) const ALL: [Self; 5] = [Self::File, Self::Servers(1), Self::Servers(3), Self::Same, Self::Bare];

    /// The name in the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::File => "SQLite, 1 server",
            Self::Servers(1) => "PostgreSQL, 1 server",
            Self::Servers(_) => "PostgreSQL, 3 servers",
            Self::Same => "pgbench, the call's statements",
            Self::Bare => "pgbench, one bare statement",
        }
    }
}

/// One row: its turns, one in each round.
pub(crate) struct Row {
    /// What is asked for.
    pub(crate) operation: Operation,
    /// Who is asked.
    pub(crate) way: Way,
    /// By how many clients at once.
    pub(crate) clients: usize,
    /// What came of it.
    pub(crate) turns: Vec<Turn>,
}

/// What came of one turn.
pub(crate) struct Turn {
    /// Calls in a second.
    pub(crate) rate: f64,
    /// All calls, those of warming up included where they cost the processors something.
    pub(crate) calls: f64,
    /// How long each took, as far as that is known.
    pub(crate) times: Vec<Duration>,
    /// What a call cost our servers' processors.
    pub(crate) server: Option<f64>,
    /// What a call cost the database's processors.
    pub(crate) database: Option<f64>,
}

/// All rows, without turns yet.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for operation in Operation::ALL {
        for clients in CLIENTS {
            rows.extend(Way::ALL.map(|way| Row { operation, way, clients, turns: Vec::new() }));
        }
    }
    rows
}
