//! Values and rows, between the SQL of the nouns and the driver. Must never hold a driver's type.

use crate::error::{Refusal, Result};

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
    &[u8] => |value| Self::Bytes(value.to_vec()),
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One row of an answer; columns are read by position. A text can be borrowed, or taken once and for all.
#[derive(Debug)]
pub struct Row(pub(super) Vec<Cell>);

impl Row {
    /// About how much memory it takes.
    pub(super) fn bytes_held(&self) -> usize {
        let held = |cell: &Cell| match cell {
            Cell::Text(text) => text.len(),
            Cell::Bytes(bytes) => bytes.len(),
            Cell::Null | Cell::Integer(_) => 0,
        };
        self.0.iter().map(|cell| size_of::<Cell>() + held(cell)).sum()
    }

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
    pub fn str(&self, column: usize) -> Result<&str> {
        match self.0.get(column) {
            Some(Cell::Text(value)) => Ok(value),
            other => Err(unexpected(column, other)),
        }
    }

    /// Text, taken out of the row.
    pub fn text(&mut self, column: usize) -> Result<String> {
        match self.0.get_mut(column) {
            Some(Cell::Text(value)) => Ok(std::mem::take(value)),
            other => Err(unexpected(column, other.as_deref())),
        }
    }

    /// Text or NULL, taken out of the row.
    pub fn maybe_text(&mut self, column: usize) -> Result<Option<String>> {
        match self.0.get(column) {
            Some(Cell::Null) => Ok(None),
            _ => self.text(column).map(Some),
        }
    }

    /// True where there is no value.
    pub fn is_null(&self, column: usize) -> bool {
        matches!(self.0.get(column), Some(Cell::Null))
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
