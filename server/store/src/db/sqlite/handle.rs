//! Statements on a connection of SQLite. A connection to a file under examination has [`Bounds`].

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use colibri_runtime::chain::store::StoreFault;
use colibri_runtime::handler::Fault;
use rusqlite::{CachedStatement, Connection, ErrorCode, params_from_iter};

use super::bounds::{self, Bounds};
use super::row::SqliteRow;
use crate::db::row::{Row, RowError};
#[cfg(debug_assertions)]
use crate::db::seen::note;
use crate::db::value::Value;

/// Something that is tidied up when it is dropped, such as the files that a connection reads.
pub(crate) type Kept = Arc<dyn std::fmt::Debug + Send + Sync>;

/// A connection, and what it may do with its file.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) conn: Connection,
    /// Set for a file under examination.
    pub(crate) bounds: Option<Bounds>,
    /// What must last as long as the connection.
    pub(crate) kept: Option<Kept>,
}

impl Handle {
    pub(crate) fn may_read(&self, tables: &BTreeSet<String>) {
        if let Some(bounds) = &self.bounds {
            bounds.may_read(tables);
        }
    }

    /// Prepares a statement, or takes it from the cache.
    fn prepare(&self, sql: &str, _params: &[Value<'_>]) -> rusqlite::Result<CachedStatement<'_>> {
        #[cfg(debug_assertions)]
        note(sql, _params);
        self.conn.prepare_cached(sql)
    }

    pub(crate) fn changed(&self, sql: &str, params: &[Value<'_>]) -> Result<usize, Fault> {
        self.prepare(sql, params)
            .and_then(|mut statement| statement.execute(params_from_iter(params)))
            .map_err(storage)
    }

    pub(crate) fn query_opt<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Option<T>, Fault> {
        let mut statement = self.prepare(sql, params).map_err(storage)?;
        let mut rows = statement.query(params_from_iter(params)).map_err(storage)?;
        let Some(row) = rows.next().map_err(storage)? else { return Ok(None) };
        self.look_at(row)?;
        Ok(Some(read(&Row::from(SqliteRow(row)))?))
    }

    pub(crate) fn show_opt<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Option<T>, Fault> {
        let mut statement = self.prepare(sql, params).map_err(storage)?;
        let mut rows = statement.query(params_from_iter(params)).map_err(storage)?;
        let Some(row) = rows.next().map_err(storage)? else { return Ok(None) };
        Ok(Some(read(&Row::from(SqliteRow(row)))?))
    }

    pub(crate) fn query_all<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Vec<T>, Fault> {
        let mut look_at = self.bounds.as_ref().map(Bounds::list);
        let mut list = Vec::new();
        self.each(sql, params, |row| {
            look_at.as_mut().map_or(Ok(()), |look_at| look_at(row)).map_err(storage)?;
            list.push(read(&Row::from(SqliteRow(row)))?);
            Ok::<_, Fault>(true)
        })?;
        Ok(list)
    }

    pub(crate) fn walk<E: From<Fault>>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut take: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        self.each(sql, params, |row| {
            self.look_at(row)?;
            take(&Row::from(SqliteRow(row)))
        })
    }

    pub(crate) fn show_each<E: From<Fault>>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut take: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        self.each(sql, params, |row| take(&Row::from(SqliteRow(row))))
    }

    fn each<E: From<Fault>>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut take: impl FnMut(&rusqlite::Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut statement = self.prepare(sql, params).map_err(storage)?;
        let mut rows = statement.query(params_from_iter(params)).map_err(storage)?;
        while let Some(row) = rows.next().map_err(storage)? {
            if !take(row)? {
                break;
            }
        }
        Ok(())
    }

    /// Checks a row of a file under examination before it is read.
    fn look_at(&self, row: &rusqlite::Row<'_>) -> Result<(), Fault> {
        self.bounds.as_ref().map_or(Ok(()), |bounds| bounds.look_at(row)).map_err(storage)
    }

    pub(crate) fn hand_out(&self, values: &[(&str, usize)]) -> Result<(), Fault> {
        let Some(bounds) = &self.bounds else { return Ok(()) };
        values.iter().try_for_each(|(column, bytes)| bounds.hand_out(column, *bytes)).map_err(storage)
    }
}

/// Turns an error of SQLite into the fault that a client may see: SQLite's text, without SQL and without paths.
pub(crate) fn storage(error: rusqlite::Error) -> Fault {
    Fault::Storage(reason(&error))
}

/// Turns an error of SQLite into one that the chain may show.
pub(crate) fn fault(error: rusqlite::Error) -> StoreFault {
    StoreFault(reason(&error))
}

/// Whether the machine has lacked something in the life of this process.
static LACKING: AtomicBool = AtomicBool::new(false);

/// Returns whether the machine has lacked memory or space. What fails then says nothing about the file.
pub(crate) fn machine_is_lacking() -> bool {
    LACKING.load(Ordering::Relaxed)
}

fn is_machines(error: &rusqlite::Error) -> bool {
    let rusqlite::Error::SqliteFailure(failure, _) = error else { return false };
    match failure.code {
        ErrorCode::OutOfMemory => !bounds::is_of_file(failure),
        // Of a file that is only read: a temporary one has no room.
        ErrorCode::DiskFull => true,
        _ => failure.extended_code == rusqlite::ffi::SQLITE_IOERR_NOMEM,
    }
}

/// Returns SQLite's own text for an error, which names neither statements nor files. A value that exists already
/// is named by its column (trail#limits).
pub fn reason(error: &rusqlite::Error) -> String {
    if is_machines(error) {
        LACKING.store(true, Ordering::Relaxed);
    }
    match error {
        rusqlite::Error::SqliteFailure(failure, Some(text))
            if failure.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE =>
        {
            text.clone()
        }
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::TooBig => "a stored value is larger than any that Colibri writes".to_owned(),
            ErrorCode::OutOfMemory if bounds::is_of_file(failure) => {
                "it needs more memory than any file that Colibri writes".to_owned()
            }
            ErrorCode::OutOfMemory => "this machine has too little memory left for it".to_owned(),
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
