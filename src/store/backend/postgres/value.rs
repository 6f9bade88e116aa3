//! Cells as this database's values, by the type that a column or place has. Must never change a value to make it fit.

use std::error::Error;
use std::fmt;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::store::cell::Cell;

type Boxed = Box<dyn Error + Sync + Send>;

/// A value and a type that do not fit: an error of a statement, never of the database.
#[derive(Debug)]
pub(in crate::store::backend) struct Unfit(Type);

impl fmt::Display for Unfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a value does not fit the type {}", self.0)
    }
}

impl Error for Unfit {}

fn unfit<T>(of: &Type) -> Result<T, Boxed> {
    Err(Box::new(Unfit(of.clone())))
}

impl Cell {
    /// True if it can be sent as a value of that type.
    pub(super) fn fits(&self, of: &Type) -> bool {
        match (self, of) {
            (Self::Null, _) | (Self::Integer(_), &Type::INT8) | (Self::Bytes(_), &Type::BYTEA) => true,
            (Self::Integer(value), &Type::INT4) => i32::try_from(*value).is_ok(),
            (Self::Text(_), _) => <String as ToSql>::accepts(of),
            (Self::Bytes(value), &Type::UUID) => value.len() == 16,
            _ => false,
        }
    }
}

impl ToSql for Cell {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Boxed> {
        match (self, of) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Integer(value), &Type::INT8) => value.to_sql(of, out),
            (Self::Integer(value), &Type::INT4) => i32::try_from(*value)?.to_sql(of, out),
            (Self::Text(value), &Type::TEXT) => value.to_sql(of, out),
            (Self::Text(value), _) if <String as ToSql>::accepts(of) => value.to_sql(of, out),
            (Self::Bytes(value), &Type::BYTEA) => value.to_sql(of, out),
            (Self::Bytes(value), &Type::UUID) if value.len() == 16 => {
                out.extend_from_slice(value);
                Ok(IsNull::No)
            }
            _ => unfit(of),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'r> FromSql<'r> for Cell {
    fn from_sql(of: &Type, raw: &'r [u8]) -> Result<Self, Boxed> {
        Ok(match *of {
            Type::INT8 => Self::Integer(i64::from_sql(of, raw)?),
            Type::INT4 => Self::Integer(i32::from_sql(of, raw)?.into()),
            Type::BYTEA | Type::UUID => Self::Bytes(raw.to_vec()),
            // What a function answers that answers nothing.
            Type::VOID => Self::Null,
            _ if <String as FromSql>::accepts(of) => Self::Text(String::from_sql(of, raw)?),
            _ => return unfit(of),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Boxed> {
        Ok(Self::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
