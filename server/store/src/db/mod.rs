//! The handle on the database that handlers get: statements and rows, no transactions. It is the same for every engine;
//! the drivers lie beneath it.

mod facts;
mod log_gap;
#[expect(unused_imports, reason = "the driver names its whole face, of which tests use a part")]
pub(crate) mod postgres;
mod row;
#[cfg(debug_assertions)]
mod seen;
pub mod sqlite;
mod value;

use std::collections::BTreeSet;

use colibri_runtime::handler::Fault;

pub use self::facts::Facts;
pub use self::log_gap::LogGap;
use self::postgres::Handle as Postgres;
pub use self::row::{Cell, Column, Row, RowError};
use self::sqlite::handle::Handle as Sqlite;
pub use self::value::{Bind, Value};

/// A connection without the means to open, commit or roll back a transaction, which only the chain does.
#[derive(Debug)]
pub struct Db {
    pub(crate) engine: Engine,
    pub(crate) log_gap: Option<LogGap>,
}

/// What executes statements.
#[derive(Debug)]
pub(crate) enum Engine {
    /// A file, or memory.
    Sqlite(Sqlite),
    /// A server, which several machines share.
    Postgres(Box<Postgres>),
}

impl Db {
    /// Returns why calls may be missing from a file that is only read. A shared database has no such log.
    pub fn log_gap(&self) -> Option<LogGap> {
        self.log_gap
    }

    /// Sets which tables of a file under examination may be read. Before the first call none may be.
    pub fn may_read(&self, tables: &BTreeSet<String>) {
        match &self.engine {
            Engine::Sqlite(handle) => handle.may_read(tables),
            Engine::Postgres(_) => {}
        }
    }

    /// Returns whether [`Db::execute`] may postpone a statement. What the table would refuse must then be looked at first, because
    /// the refusal comes too late for the handler.
    pub fn postpones(&self) -> bool {
        match &self.engine {
            Engine::Sqlite(_) => false,
            Engine::Postgres(_) => true,
        }
    }

    /// Returns whether each question is a round trip to a server. Then a walk that asks for every row had better ask for many at a
    /// time ([`crate::ahead`]).
    pub fn asks_over_a_wire(&self) -> bool {
        match &self.engine {
            Engine::Sqlite(_) => false,
            Engine::Postgres(_) => true,
        }
    }

    /// Sets how many KiB of a file's pages SQLite keeps in memory at most. PostgreSQL keeps its pages itself.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn keep_pages(&self, kib: u32) -> Result<(), Fault> {
        match &self.engine {
            Engine::Sqlite(handle) => handle.changed(&format!("PRAGMA cache_size = -{kib}"), &[]).map(drop),
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// Runs a statement that returns no rows. An engine may postpone it to the next statement that needs an answer, or to the
    /// commit; then its failure is theirs.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn execute(&self, sql: &str, params: &[Value<'_>]) -> Result<(), Fault> {
        match &self.engine {
            Engine::Sqlite(handle) => handle.changed(sql, params).map(drop),
            Engine::Postgres(handle) => handle.execute(sql, params),
        }
    }

    /// Runs a statement that returns no rows; returns the number of rows it changed. [`Db::execute`] may be
    /// cheaper.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn changed(&self, sql: &str, params: &[Value<'_>]) -> Result<usize, Fault> {
        match &self.engine {
            Engine::Sqlite(handle) => handle.changed(sql, params),
            Engine::Postgres(handle) => handle.changed(sql, params),
        }
    }

    /// Runs a part of a read, so that its failure does not end the others: PostgreSQL would refuse the rest of the transaction.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn apart<T, E>(&self, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        match &self.engine {
            Engine::Sqlite(_) => read(),
            Engine::Postgres(handle) => handle.apart(read),
        }
    }

    /// Returns whether a failure says nothing about the data: the connection is lost, the server had to end a statement, or the
    /// machine lacks memory or space.
    pub fn is_cut_off(&self) -> bool {
        match &self.engine {
            Engine::Sqlite(_) => sqlite::handle::machine_is_lacking(),
            Engine::Postgres(handle) => handle.is_cut_off(),
        }
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
        match &self.engine {
            Engine::Sqlite(handle) => handle.query_opt(sql, params, read),
            Engine::Postgres(handle) => handle.query_opt(sql, params, read),
        }
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
        let missing = || Fault::Storage("a row that must exist is missing".to_owned());
        self.query_opt(sql, params, read)?.ok_or_else(missing)
    }

    /// Returns all rows, in the statement's order.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn query_all<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnMut(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Vec<T>, Fault> {
        match &self.engine {
            Engine::Sqlite(handle) => handle.query_all(sql, params, read),
            Engine::Postgres(handle) => handle.query_all(sql, params, read),
        }
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
        match &self.engine {
            Engine::Sqlite(handle) => handle.show_opt(sql, params, read),
            Engine::Postgres(handle) => handle.query_opt(sql, params, read),
        }
    }

    /// Like [`Db::query_each`], for a `take` with failures of its own, which end the walk.
    ///
    /// # Errors
    /// The engine's error, or what `take` returned.
    pub fn walk<E: From<Fault>>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        take: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        match &self.engine {
            Engine::Sqlite(handle) => handle.walk(sql, params, take),
            Engine::Postgres(handle) => handle.walk(sql, params, take),
        }
    }

    /// Like [`Db::walk`], for the longest tables. `take` reports what it has read by [`Db::hand_out`], so each value is read once.
    ///
    /// # Errors
    /// The engine's error, or what `take` returned.
    pub fn show_each<E: From<Fault>>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        take: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        match &self.engine {
            Engine::Sqlite(handle) => handle.show_each(sql, params, take),
            Engine::Postgres(handle) => handle.walk(sql, params, take),
        }
    }

    /// Accounts for values of a file under examination: their columns, and how many bytes they have.
    ///
    /// # Errors
    /// [`Fault::Storage`] if the sum exceeds what a file of that size can hold.
    pub fn hand_out(&self, values: &[(&str, usize)]) -> Result<(), Fault> {
        match &self.engine {
            Engine::Sqlite(handle) => handle.hand_out(values),
            Engine::Postgres(_) => Ok(()),
        }
    }
}
