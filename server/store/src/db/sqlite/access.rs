//! The way from the handle to SQLite's connection, for what only SQLite does.

use rusqlite::Connection;

use super::bounds::Bounds;
use super::handle::{Handle, Kept};
use crate::db::{Db, Engine};

impl Db {
    /// Wraps a connection that is already set up. Commands and tests use it; the server's own comes
    /// from [`crate::sqlite`].
    pub fn new(conn: Connection) -> Self {
        Self { engine: Engine::Sqlite(Handle { conn, bounds: None, kept: None }), log_gap: None }
    }

    /// Wraps a connection to a file under examination.
    pub(crate) fn examined(conn: Connection, bounds: Bounds) -> Self {
        Self { engine: Engine::Sqlite(Handle { conn, bounds: Some(bounds), kept: None }), log_gap: None }
    }

    /// Keeps something for as long as the connection is open.
    pub(crate) fn keeping(mut self, kept: Option<Kept>) -> Self {
        if let Engine::Sqlite(handle) = &mut self.engine {
            handle.kept = kept;
        }
        self
    }

    /// Returns SQLite's connection, for what only SQLite does.
    ///
    /// # Errors
    /// The database is not SQLite's.
    pub(crate) fn sqlite(&self) -> rusqlite::Result<&Connection> {
        match &self.engine {
            Engine::Sqlite(handle) => Ok(&handle.conn),
            Engine::Postgres(_) => Err(not_sqlite()),
        }
    }

    /// Returns SQLite's connection, to be set up.
    ///
    /// # Errors
    /// As [`Db::sqlite`].
    pub(crate) fn sqlite_mut(&mut self) -> rusqlite::Result<&mut Connection> {
        match &mut self.engine {
            Engine::Sqlite(handle) => Ok(&mut handle.conn),
            Engine::Postgres(_) => Err(not_sqlite()),
        }
    }

    /// Returns SQLite's connection, to be closed.
    ///
    /// # Errors
    /// As [`Db::sqlite`].
    pub(crate) fn into_sqlite(self) -> rusqlite::Result<Connection> {
        match self.engine {
            Engine::Sqlite(handle) => Ok(handle.conn),
            Engine::Postgres(_) => Err(not_sqlite()),
        }
    }
}

fn not_sqlite() -> rusqlite::Error {
    rusqlite::Error::InvalidQuery
}
