//! The handle on the database that handlers get: statements and rows, no transactions. [`bounds`] limits steps, values and memory for
//! files under examination.

pub mod bounds;
mod row;
mod value;

use std::collections::BTreeSet;

use colibri_runtime::handler::Fault;
use rusqlite::{Connection, ErrorCode, params_from_iter};

use self::bounds::Bounds;
pub use self::row::{Cell, Column, Row, RowError};
pub use self::value::{Bind, Value};

/// A connection without the means to open, commit or roll back a transaction, which only the chain does.
#[derive(Debug)]
pub struct Db {
    pub(crate) conn: Connection,
    /// Set for a file under examination.
    bounds: Option<Bounds>,
}

impl Db {
    /// Wraps a connection that is already set up. Commands and tests use it; the server's own comes
    /// from [`crate::sqlite`].
    pub fn new(conn: Connection) -> Self {
        Self { conn, bounds: None }
    }

    /// Wraps a connection to a file under examination.
    pub(crate) fn examined(conn: Connection, bounds: Bounds) -> Self {
        Self { conn, bounds: Some(bounds) }
    }

    /// Sets which tables of a file under examination may be read. Before the first call none may be.
    pub fn may_read(&self, tables: &BTreeSet<String>) {
        if let Some(bounds) = &self.bounds {
            bounds.may_read(tables);
        }
    }

    /// Checks a row of a file under examination before it is read.
    fn look_at(&self, row: &rusqlite::Row<'_>) -> Result<(), Fault> {
        self.bounds.as_ref().map_or(Ok(()), |bounds| bounds.look_at(row)).map_err(storage)
    }

    /// Runs a statement that returns no rows; returns the number of rows it changed.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn execute(&self, sql: &str, params: &[Value<'_>]) -> Result<usize, Fault> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(params_from_iter(params)))
            .map_err(storage)
    }

    /// Returns the first row, if the result has one.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn query_opt<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Option<T>, Fault> {
        let mut statement = self.conn.prepare_cached(sql).map_err(storage)?;
        let mut rows = statement.query(params_from_iter(params)).map_err(storage)?;
        let Some(row) = rows.next().map_err(storage)? else { return Ok(None) };
        self.look_at(row)?;
        Ok(Some(read(&Row::of(row))?))
    }

    /// Returns the one row of a result that must have one.
    ///
    /// # Errors
    /// [`Fault::Storage`], also if the result is empty.
    pub fn query_one<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<T, Fault> {
        self.query_opt(sql, params, read)?.ok_or_else(|| storage(rusqlite::Error::QueryReturnedNoRows))
    }

    /// Returns all rows, in the statement's order.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn query_all<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Vec<T>, Fault> {
        let mut look_at = self.bounds.as_ref().map(Bounds::list);
        let mut list = Vec::new();
        self.show_each(sql, params, |row| {
            look_at.as_mut().map_or(Ok(()), |look_at| look_at(row.engine())).map_err(storage)?;
            list.push(read(row)?);
            Ok::<_, Fault>(true)
        })?;
        Ok(list)
    }

    /// Hands over the rows one by one, up to the last or until `take` returns `false`: for walks over
    /// tables that do not fit into memory.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn query_each(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut take: impl FnMut(&Row<'_>) -> Result<bool, RowError>,
    ) -> Result<(), Fault> {
        self.walk(sql, params, |row| Ok::<_, Fault>(take(row)?))
    }

    /// Shows the first row, if the result has one, to a `read` that keeps nothing of it.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub(crate) fn show_opt<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Option<T>, Fault> {
        let mut statement = self.conn.prepare_cached(sql).map_err(storage)?;
        let mut rows = statement.query(params_from_iter(params)).map_err(storage)?;
        let Some(row) = rows.next().map_err(storage)? else { return Ok(None) };
        Ok(Some(read(&Row::of(row))?))
    }

    /// Like [`Db::query_each`], for a `take` with failures of its own, which end the walk.
    ///
    /// # Errors
    /// SQLite's error, or what `take` returned.
    pub fn walk<E: From<Fault>>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut take: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        self.show_each(sql, params, |row| {
            self.look_at(row.engine())?;
            take(row)
        })
    }

    /// Like [`Db::walk`], for the longest tables. `take` reports what it has read by [`Db::hand_out`], so each value is read once.
    ///
    /// # Errors
    /// SQLite's error, or what `take` returned.
    pub fn show_each<E: From<Fault>>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut take: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut statement = self.conn.prepare_cached(sql).map_err(storage)?;
        let mut rows = statement.query(params_from_iter(params)).map_err(storage)?;
        while let Some(row) = rows.next().map_err(storage)? {
            if !take(&Row::of(row))? {
                break;
            }
        }
        Ok(())
    }

    /// Accounts for values of a file under examination: their columns, and how many bytes they have.
    ///
    /// # Errors
    /// [`Fault::Storage`] if the sum exceeds what a file of that size can hold.
    pub fn hand_out(&self, values: &[(&str, usize)]) -> Result<(), Fault> {
        let Some(bounds) = &self.bounds else { return Ok(()) };
        values.iter().try_for_each(|(column, bytes)| bounds.hand_out(column, *bytes)).map_err(storage)
    }
}

/// Turns an error of SQLite into the fault that a client may see: SQLite's text, without SQL and without paths.
pub(crate) fn storage(error: rusqlite::Error) -> Fault {
    Fault::Storage(reason(&error))
}

/// Returns SQLite's own text for an error, which names neither statements nor files. A value that exists already
/// is named by its column (trail#limits).
pub fn reason(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(failure, Some(text))
            if failure.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE =>
        {
            text.clone()
        }
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::TooBig => "a stored value is larger than any that Colibri writes".to_owned(),
            ErrorCode::OutOfMemory => "it needs more memory than any file that Colibri writes".to_owned(),
            ErrorCode::OperationInterrupted => {
                "it takes more steps than a file of this size can need".to_owned()
            }
            ErrorCode::AuthorizationForStatementDenied => {
                "a table is not what Colibri makes, so it is not read; `colibri verify` names it".to_owned()
            }
            _ => rusqlite::ffi::code_to_str(failure.extended_code).to_owned(),
        },
        rusqlite::Error::SqlInputError { .. } => "a table or column that must exist is missing".to_owned(),
        rusqlite::Error::QueryReturnedNoRows => "a row that must exist is missing".to_owned(),
        _ => "a stored value has an unexpected type".to_owned(),
    }
}
