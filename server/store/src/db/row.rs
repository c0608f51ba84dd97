//! What comes out of a statement.

use super::postgres::{PgCell, PgRow};
use super::sqlite::row::SqliteRow;
use super::value::Value;
pub use super::value::{Cell, RowError};

/// A row of a result. Its texts are borrowed until the statement moves on.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a>(Source<'a>);

/// The engine's own row.
#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    Sqlite(SqliteRow<'a>),
    Postgres(PgRow<'a>),
}

impl<'a> From<SqliteRow<'a>> for Row<'a> {
    fn from(row: SqliteRow<'a>) -> Self {
        Self(Source::Sqlite(row))
    }
}

impl<'a> From<PgRow<'a>> for Row<'a> {
    fn from(row: PgRow<'a>) -> Self {
        Self(Source::Postgres(row))
    }
}

impl<'a> Row<'a> {
    /// Returns the value of a column, counted from 0.
    ///
    /// # Errors
    /// [`RowError`] if it has another type, is too large for it, or there is no such column.
    pub fn get<T: Column<'a>>(&self, at: usize) -> Result<T, RowError> {
        let cell = match self.0 {
            Source::Sqlite(row) => row.cell(at),
            Source::Postgres(row) => row.cell(at).ok().map(|cell| match cell {
                PgCell::Null => Cell::Null,
                PgCell::Integer(number) => Cell::Integer(number),
                PgCell::Real(number) => Cell::Real(number),
                PgCell::Text(bytes) => Cell::Text(bytes),
                PgCell::Bytes(bytes) => Cell::Bytes(bytes),
            }),
        };
        T::read(cell.ok_or(RowError)?).ok_or(RowError)
    }
}

/// A type that a column can have.
pub trait Column<'a>: Sized {
    /// Reads a stored value; `None` if it has another type.
    fn read(cell: Cell<'a>) -> Option<Self>;
}

impl<'a> Column<'a> for Value<'a> {
    fn read(cell: Cell<'a>) -> Option<Self> {
        Some(match cell {
            Cell::Null => Self::Null,
            Cell::Integer(number) => Self::Integer(number),
            Cell::Real(number) => Self::Real(number),
            Cell::Text(bytes) | Cell::Bytes(bytes) => {
                std::str::from_utf8(bytes).map_or(Self::Blob(bytes), Self::Text)
            }
            Cell::Blob(bytes) => Self::Blob(bytes),
        })
    }
}

impl<'a, T: Column<'a>> Column<'a> for Option<T> {
    fn read(cell: Cell<'a>) -> Option<Self> {
        match cell {
            Cell::Null => Some(None),
            _ => T::read(cell).map(Some),
        }
    }
}

impl Column<'_> for i64 {
    fn read(cell: Cell<'_>) -> Option<Self> {
        if let Cell::Integer(number) = cell { Some(number) } else { None }
    }
}

impl Column<'_> for u8 {
    fn read(cell: Cell<'_>) -> Option<Self> {
        Self::try_from(i64::read(cell)?).ok()
    }
}

impl Column<'_> for u32 {
    fn read(cell: Cell<'_>) -> Option<Self> {
        Self::try_from(i64::read(cell)?).ok()
    }
}

impl Column<'_> for bool {
    fn read(cell: Cell<'_>) -> Option<Self> {
        i64::read(cell).map(|number| number != 0)
    }
}

impl Column<'_> for f64 {
    fn read(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Integer(number) => Some(number as Self),
            Cell::Real(number) => Some(number),
            _ => None,
        }
    }
}

impl<'a> Column<'a> for &'a str {
    fn read(cell: Cell<'a>) -> Option<Self> {
        if let Cell::Text(bytes) | Cell::Bytes(bytes) = cell { std::str::from_utf8(bytes).ok() } else { None }
    }
}

impl Column<'_> for String {
    fn read(cell: Cell<'_>) -> Option<Self> {
        <&str>::read(cell).map(str::to_owned)
    }
}

impl<'a> Column<'a> for &'a [u8] {
    fn read(cell: Cell<'a>) -> Option<Self> {
        if let Cell::Blob(bytes) | Cell::Bytes(bytes) = cell { Some(bytes) } else { None }
    }
}

impl Column<'_> for Vec<u8> {
    fn read(cell: Cell<'_>) -> Option<Self> {
        <&[u8]>::read(cell).map(<[u8]>::to_vec)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use colibri_runtime::handler::Fault;

    use super::*;
    use crate::db::Db;
    use crate::db::sqlite::handle::reason;

    fn memory() -> Db {
        Db::new(rusqlite::Connection::open_in_memory().unwrap())
    }

    #[test]
    fn a_value_of_another_type_has_the_engines_words() {
        let said = memory().query_one("SELECT 'x'", &[], |row| row.get::<i64>(0)).unwrap_err();
        assert_eq!(said, Fault::Storage(reason(&rusqlite::Error::InvalidQuery)));
        assert_eq!(said, RowError.into());
    }

    #[test]
    fn a_text_that_is_not_utf_8_is_no_text_and_no_blob_but_can_be_read_as_a_value() {
        memory()
            .query_one("SELECT CAST(x'ff' AS TEXT)", &[], |row| {
                assert_eq!(row.get::<&str>(0), Err(RowError));
                assert_eq!(row.get::<&[u8]>(0), Err(RowError));
                assert_eq!(row.get(0), Ok(Value::Blob(b"\xff")));
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn numbers_fit_their_type_or_are_refused() {
        memory()
            .query_one("SELECT 255, 256, -1, 2, 1.5, NULL", &[], |row| {
                assert_eq!(
                    (row.get::<u8>(0), row.get::<u8>(1), row.get::<u32>(2)),
                    (Ok(255), Err(RowError), Err(RowError))
                );
                assert_eq!(
                    (row.get::<bool>(3), row.get::<f64>(3), row.get::<i64>(4)),
                    (Ok(true), Ok(2.0), Err(RowError))
                );
                assert_eq!(
                    (row.get::<Option<i64>>(5), row.get::<i64>(5), row.get::<i64>(6)),
                    (Ok(None), Err(RowError), Err(RowError))
                );
                Ok(())
            })
            .unwrap();
    }
}
