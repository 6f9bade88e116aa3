//! The floor on random tasks: reading one row by its key, and writing one.

use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::bare::Bare;
use crate::database::{Database, Dice};

/// The bare database, and which row is next.
pub(crate) struct Floor {
    bare: Bare,
    ids: Vec<Uuid>,
    dice: Dice,
}

impl Floor {
    /// Beside a generated database.
    pub(crate) fn open(database: &Database) -> Self {
        Self { bare: Bare::open(database), ids: database.ids(), dice: Dice(3) }
    }

    /// The time of reading one row.
    pub(crate) fn select(&mut self) -> Duration {
        let id = self.dice.one_of(&self.ids);
        let start = Instant::now();
        let sql = "select version, title, body from task where task_id = ?1";
        let mut statement = self.bare.connection.prepare_cached(sql).expect("prepared");
        let length = statement
            .query_row([id.as_bytes().as_slice()], |row| {
                Ok(row.get_ref(1)?.as_str()?.len() + row.get_ref(2)?.as_str()?.len())
            })
            .expect("the task is there");
        assert!(length > 0);
        start.elapsed()
    }

    /// The time of writing one row with its history, on disk.
    pub(crate) fn write(&mut self) -> Duration {
        let id = self.dice.one_of(&self.ids);
        self.bare.write(&[id])
    }
}
