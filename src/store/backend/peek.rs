//! A look at what is at an address before anything is opened there. Must never change it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{Store, is_damage, translate};
use crate::error::{Refusal, Result};
use crate::store::migration;

impl Store {
    /// True if there is a database of this program's schema at the path, false if there is nothing. Anything else is
    /// refused: opening it would change it.
    pub fn is_at(path: &Path) -> Result<bool> {
        let Ok(metadata) = path.metadata() else { return Ok(false) };
        if metadata.is_file() && metadata.len() == 0 {
            return Ok(false);
        }
        let look = || -> rusqlite::Result<(i64, bool)> {
            let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            let number = connection.query_row("pragma user_version", [], |row| row.get(0))?;
            let sql = "select count(*) from sqlite_schema where name in ('migration', 'instance')";
            Ok((number, connection.query_row(sql, [], |row| Ok(row.get::<_, i64>(0)? == 2))?))
        };
        match look() {
            Ok((number, true)) if number == migration::CURRENT => Ok(true),
            Ok((number, true)) => Err(Refusal::not_allowed(
                format!("{} has schema {number}, this program moves schema {}", path.display(), migration::CURRENT),
                "Open it once with the newer of the two programs: heyaira verify --database FILE. Nothing was changed.",
            )),
            Ok((_, false)) => Err(foreign(path)),
            Err(error) if is_damage(&error) => Err(foreign(path)),
            Err(error) => Err(translate(&error)),
        }
    }
}

fn foreign(path: &Path) -> Refusal {
    Refusal::not_allowed(
        format!("{} is no database of heyaira", path.display()),
        "Name a file that does not exist yet, or the right one. Nothing was changed.",
    )
}
