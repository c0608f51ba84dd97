//! The handle on the database that handlers get: statements and rows, no transactions. [`bounds`] limits steps, values and memory for
//! files under examination.

pub mod bounds;

use std::collections::BTreeSet;

use colibri_runtime::handler::Fault;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row};

use self::bounds::Bounds;

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
    fn look_at(&self, row: &Row<'_>) -> rusqlite::Result<()> {
        self.bounds.as_ref().map_or(Ok(()), |bounds| bounds.look_at(row))
    }

    /// Wraps `read` so that each row is checked first.
    fn looking<T>(
        &self,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> impl FnOnce(&Row<'_>) -> rusqlite::Result<T> {
        |row| self.look_at(row).and_then(|()| read(row))
    }

    /// Runs a statement that returns no rows; returns the number of rows it changed.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn execute(&self, sql: &str, params: impl Params) -> Result<usize, Fault> {
        self.conn.prepare_cached(sql).and_then(|mut statement| statement.execute(params)).map_err(storage)
    }

    /// Returns the first row, if the result has one.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn query_opt<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Fault> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, self.looking(read)).optional())
            .map_err(storage)
    }

    /// Returns the one row of a result that must have one.
    ///
    /// # Errors
    /// [`Fault::Storage`], also if the result is empty.
    pub fn query_one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Fault> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, self.looking(read)))
            .map_err(storage)
    }

    /// Returns all rows, in the statement's order.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn query_all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Fault> {
        let rows = self.conn.prepare_cached(sql).and_then(|mut statement| match &self.bounds {
            Some(bounds) => statement.query_map(params, bounds.list(read))?.collect(),
            None => statement.query_map(params, read)?.collect(),
        });
        rows.map_err(storage)
    }

    /// Hands over the rows one by one, up to the last or until `take` returns `false`: for walks over
    /// tables that do not fit into memory.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn query_each(
        &self,
        sql: &str,
        params: impl Params,
        mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
    ) -> Result<(), Fault> {
        let walk = || {
            let mut statement = self.conn.prepare_cached(sql)?;
            let mut rows = statement.query(params)?;
            while let Some(row) = rows.next()? {
                self.look_at(row)?;
                if !take(row)? {
                    break;
                }
            }
            Ok(())
        };
        walk().map_err(storage)
    }

    /// Shows the first row, if the result has one, to a `read` that keeps nothing of it.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub(crate) fn show_opt<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Fault> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, read).optional())
            .map_err(storage)
    }

    /// Like [`Db::query_each`], for a `take` with failures of its own, which end the walk.
    ///
    /// # Errors
    /// SQLite's error, or what `take` returned.
    pub fn walk<E: From<Fault>>(
        &self,
        sql: &str,
        params: impl Params,
        mut take: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        self.show_each(sql, params, |row| {
            self.look_at(row).map_err(storage)?;
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
        params: impl Params,
        mut take: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut statement = self.conn.prepare_cached(sql).map_err(storage)?;
        let mut rows = statement.query(params).map_err(storage)?;
        while let Some(row) = rows.next().map_err(storage)? {
            if !take(row)? {
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
pub fn storage(error: rusqlite::Error) -> Fault {
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
