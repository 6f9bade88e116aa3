//! The one file that knows a database driver: open, begin, run, commit, and the driver's errors made ours.
//! Must never hold SQL about a noun, and never let a driver's type or text out.
//!
//! The interface is async so that a second backend can wait on a network. On `SQLite` no future ever waits:
//! readers poll it inline, the writer thread polls a batch of them inside one transaction.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rusqlite::{Connection, OpenFlags, types::ValueRef};
use tokio::sync::oneshot;

use crate::error::{Code, Refusal, Result};

/// The oldest `SQLite` that does not corrupt a WAL reset with several connections (fixed in 3.51.3).
const SQLITE_MINIMUM: i32 = 3_051_003;
/// How many waiting writes one transaction takes at most.
const GROUP_LIMIT: usize = 256;
/// How many idle read connections are kept.
const READERS_KEPT: usize = 4;

/// One value of a row or a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// SQL NULL.
    Null,
    /// A whole number; booleans are 0 and 1, times are microseconds since 1970.
    Integer(i64),
    /// Text.
    Text(String),
    /// Bytes; ids are 16 of them.
    Bytes(Vec<u8>),
}

macro_rules! cell_from {
    ($($type:ty => |$value:ident| $cell:expr),* $(,)?) => {
        $(impl From<$type> for Cell { fn from($value: $type) -> Self { $cell } })*
    };
}

cell_from! {
    i64 => |value| Self::Integer(value),
    bool => |value| Self::Integer(i64::from(value)),
    &str => |value| Self::Text(value.to_owned()),
    String => |value| Self::Text(value),
    &String => |value| Self::Text(value.clone()),
    uuid::Uuid => |value| Self::Bytes(value.as_bytes().to_vec()),
    [u8; 32] => |value| Self::Bytes(value.to_vec()),
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One row of an answer; columns are read by position.
#[derive(Debug)]
pub struct Row(Vec<Cell>);

impl Row {
    /// A whole number; NULL is an error of the schema.
    pub fn integer(&self, column: usize) -> Result<i64> {
        match self.0.get(column) {
            Some(Cell::Integer(value)) => Ok(*value),
            other => Err(unexpected(column, other)),
        }
    }

    /// A whole number or NULL.
    pub fn maybe_integer(&self, column: usize) -> Result<Option<i64>> {
        match self.0.get(column) {
            Some(Cell::Null) => Ok(None),
            _ => self.integer(column).map(Some),
        }
    }

    /// Text.
    pub fn text(&self, column: usize) -> Result<String> {
        match self.0.get(column) {
            Some(Cell::Text(value)) => Ok(value.clone()),
            other => Err(unexpected(column, other)),
        }
    }

    /// Text or NULL.
    pub fn maybe_text(&self, column: usize) -> Result<Option<String>> {
        match self.0.get(column) {
            Some(Cell::Null) => Ok(None),
            _ => self.text(column).map(Some),
        }
    }

    /// Bytes.
    pub fn bytes(&self, column: usize) -> Result<&[u8]> {
        match self.0.get(column) {
            Some(Cell::Bytes(value)) => Ok(value),
            other => Err(unexpected(column, other)),
        }
    }

    /// A UUID.
    pub fn uuid(&self, column: usize) -> Result<uuid::Uuid> {
        let bytes = self.bytes(column)?;
        uuid::Uuid::from_slice(bytes).map_err(|error| Refusal::internal(&error))
    }

    /// A UUID or NULL.
    pub fn maybe_uuid(&self, column: usize) -> Result<Option<uuid::Uuid>> {
        match self.0.get(column) {
            Some(Cell::Null) => Ok(None),
            _ => self.uuid(column).map(Some),
        }
    }
}

fn unexpected(column: usize, cell: Option<&Cell>) -> Refusal {
    let kind = match cell {
        None => "nothing",
        Some(Cell::Null) => "NULL",
        Some(Cell::Integer(_)) => "an integer",
        Some(Cell::Text(_)) => "text",
        Some(Cell::Bytes(_)) => "bytes",
    };
    Refusal::internal(&format!("column {column} holds {kind}, another type was expected"))
}

/// One open transaction. Statements use `?1`, `?2`, … and portable SQL; `search.rs` alone may differ by database.
pub struct Transaction {
    connection: Connection,
}

impl Transaction {
    /// All rows of a query.
    pub async fn rows(&mut self, sql: &str, values: &[Cell]) -> Result<Vec<Row>> {
        self.query(sql, values).map_err(|error| translate(&error))
    }

    /// The first row of a query, if there is one.
    pub async fn row(&mut self, sql: &str, values: &[Cell]) -> Result<Option<Row>> {
        let rows = self.query(sql, values).map_err(|error| translate(&error))?;
        Ok(rows.into_iter().next())
    }

    /// Runs a statement that returns no rows; answers how many rows it changed.
    pub async fn execute(&mut self, sql: &str, values: &[Cell]) -> Result<usize> {
        let run = || -> rusqlite::Result<usize> {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.execute(rusqlite::params_from_iter(values.iter().map(Bound)))
        };
        run().map_err(|error| translate(&error))
    }

    fn query(&mut self, sql: &str, values: &[Cell]) -> rusqlite::Result<Vec<Row>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let width = statement.column_count();
        let mut rows = statement.query(rusqlite::params_from_iter(values.iter().map(Bound)))?;
        let mut answer = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = (0..width).map(|column| cell(row.get_ref(column)?));
            answer.push(Row(cells.collect::<rusqlite::Result<_>>()?));
        }
        Ok(answer)
    }
}

struct Bound<'c>(&'c Cell);

impl rusqlite::ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(match self.0 {
            Cell::Null => rusqlite::types::Null.into(),
            Cell::Integer(value) => (*value).into(),
            Cell::Text(value) => value.as_str().into(),
            Cell::Bytes(value) => value.as_slice().into(),
        })
    }
}

fn cell(value: ValueRef<'_>) -> rusqlite::Result<Cell> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(value) => Cell::Integer(value),
        ValueRef::Text(value) => Cell::Text(
            std::str::from_utf8(value)
                .map_err(rusqlite::Error::Utf8Error)?
                .to_owned(),
        ),
        ValueRef::Blob(value) => Cell::Bytes(value.to_vec()),
        ValueRef::Real(_) => return Err(rusqlite::Error::InvalidQuery),
    })
}
