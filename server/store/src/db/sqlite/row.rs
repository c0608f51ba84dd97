//! How SQLite takes and shows a value.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::db::value::{Cell, RowError, Value};

/// A row as SQLite shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SqliteRow<'a>(pub &'a rusqlite::Row<'a>);

impl<'a> SqliteRow<'a> {
    /// Returns a column's value; `None` if there is no such column.
    pub fn cell(self, at: usize) -> Option<Cell<'a>> {
        Some(match self.0.get_ref(at).ok()? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(number) => Cell::Integer(number),
            ValueRef::Real(number) => Cell::Real(number),
            ValueRef::Text(bytes) => Cell::Text(bytes),
            ValueRef::Blob(bytes) => Cell::Blob(bytes),
        })
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Real(number) => ValueRef::Real(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The engine's own error for it, whose words are the same.
impl From<RowError> for rusqlite::Error {
    fn from(_: RowError) -> Self {
        Self::InvalidQuery
    }
}
