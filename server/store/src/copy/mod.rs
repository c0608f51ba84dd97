//! A copy of a whole database into an empty one, row by row: between the engines, in either direction. Rows are read from one moment,
//! in the order of their keys, and memory does not grow with them.
//!
//! 1. [`Step`] says what is read for which table.
//! 2. [`shared`] fills a database of PostgreSQL, inside one transaction; [`file`] fills a new file of SQLite.
//!
//! Neither is there before the caller has verified it and says so.

pub mod file;
pub mod shared;

use std::ops::ControlFlow;

use colibri_runtime::handler::Fault;

use crate::db::{Db, Row, Value};
use crate::postgres::setup::SetupError;
use crate::sqlite::look::backup::BackupError;
use crate::sqlite::look::tables::{Kind, Table};

/// Rows between two reports.
const ROWS_BETWEEN: u64 = 1_024;
/// The two tables of PostgreSQL that are one in SQLite, and what is read for the second.
const LOG: &str = "actions";
const ENDED: &str = "WHERE exit_no IS NOT NULL";
/// What PostgreSQL computes.
const HEAD: &str = "actions_head";

/// Why no copy was made. Nothing of it stays.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The caller asked it to stop.
    #[error("interrupted; nothing was copied")]
    Interrupted,
    /// The database to fill has records.
    #[error(
        "the database to fill has rows in {0}, and a copy needs an empty one; name another, or make one beside it"
    )]
    NotEmpty(String),
    /// Servers use the database to fill.
    #[error("{0} servers use the database to fill; stop them first")]
    InUse(i64),
    /// The schema of the database to fill is not what the migrations make.
    #[error(
        "the schema of the database to fill is not what this release makes: {0}; run `colibri postgres migrate`"
    )]
    Schema(String),
    /// The login role cannot fill it.
    #[error("{0}")]
    Setup(#[from] SetupError),
    /// The file cannot be made.
    #[error("{0}")]
    File(#[from] BackupError),
    /// A row could not be read.
    #[error("a row cannot be read: {0}; `colibri verify` lists all damage")]
    Read(Fault),
    /// A row was refused.
    #[error("a row of {table} was refused: {reason}")]
    Write {
        /// Its table.
        table: String,
        /// The engine's reason.
        reason: String,
    },
    /// The copy does not have as many rows, or another end of the log.
    #[error("the copy differs from what was read: {0}")]
    Differs(String),
}

impl From<Fault> for CopyError {
    fn from(fault: Fault) -> Self {
        Self::Read(fault)
    }
}

/// How far a copy is, in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsCopied {
    /// Rows copied.
    pub done: u64,
    /// Rows in all.
    pub total: u64,
}

/// What is read for one table of the database to fill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The table to fill.
    pub table: String,
    /// Its columns.
    pub columns: Vec<(String, Kind)>,
    from: String,
    only: &'static str,
    key: String,
}

impl Step {
    /// One for each table of SQLite.
    fn of(table: &Table) -> Self {
        Self {
            table: table.name.clone(),
            columns: table.columns.clone(),
            from: table.name.clone(),
            only: "",
            key: table.key.join(", "),
        }
    }

    fn names(&self) -> String {
        self.columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the statement that reads its rows, which both engines take.
    fn reading(&self) -> String {
        format!("SELECT {} FROM {} {} ORDER BY {}", self.names(), self.from, self.only, self.key)
    }

    fn counting(&self) -> String {
        format!("SELECT count(*) FROM {} {}", self.from, self.only)
    }
}

/// Reads the rows of all steps, and counts them.
pub struct Source<'a> {
    db: &'a Db,
    rows: RowsCopied,
    progress: &'a mut dyn FnMut(RowsCopied) -> ControlFlow<()>,
}

impl<'a> Source<'a> {
    /// Reads from `db`, which sees one moment. `progress` says whether to go on.
    pub fn new(db: &'a Db, progress: &'a mut dyn FnMut(RowsCopied) -> ControlFlow<()>) -> Self {
        Self { db, rows: RowsCopied { done: 0, total: 0 }, progress }
    }

    /// Counts what is to be read.
    fn count(&mut self, steps: &[Step]) -> Result<(), CopyError> {
        for step in steps {
            let rows: i64 = self.db.query_one(&step.counting(), &[], |row| row.get(0))?;
            self.rows.total += u64::try_from(rows).unwrap_or(0);
        }
        Ok(())
    }

    /// Hands over the rows of a step; returns how many there were.
    fn each(
        &mut self,
        step: &Step,
        mut take: impl FnMut(&Row<'_>) -> Result<(), CopyError>,
    ) -> Result<u64, CopyError> {
        let before = self.rows.done;
        self.db.walk(&step.reading(), &[], |row| {
            take(row)?;
            self.rows.done += 1;
            let goes_on =
                !self.rows.done.is_multiple_of(ROWS_BETWEEN) || (self.progress)(self.rows).is_continue();
            if goes_on { Ok(true) } else { Err(CopyError::Interrupted) }
        })?;
        Ok(self.rows.done - before)
    }
}

/// Checks that the log of the copy ends as the one that was read. PostgreSQL computes its end from the rows; SQLite stores it.
fn same_end(from: &Db, to: &Db) -> Result<(), CopyError> {
    let end = |db: &Db| {
        db.query_opt("SELECT last_sequence_no, last_exit_no, last_row_hash FROM actions_head", &[], |row| {
            Ok((row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<String>(2)?))
        })
    };
    if end(from)? == end(to)? {
        return Ok(());
    }
    Err(CopyError::Differs(
        "the log does not end where it says it does; `colibri verify` says more".to_owned(),
    ))
}

/// Returns a value as a column of that kind holds it. Bytes come as a text if they form one.
fn as_stored(value: Value<'_>, kind: Kind) -> Value<'_> {
    match (value, kind) {
        (Value::Text(text), Kind::Blob) => Value::Blob(text.as_bytes()),
        (value, _) => value,
    }
}
