//! What a database says of itself. Each engine keeps it in another place.

use colibri_runtime::handler::Fault;

use super::{Db, Engine};
use crate::params;

/// A database as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Tables of Colibri's, without views and the engine's own.
    pub tables: i64,
    /// The last migration applied.
    pub schema_version: i64,
    /// SQLite's journal mode; `memory` for a database without a file.
    pub journal_mode: Option<String>,
}

impl Db {
    /// Asks the database what it is.
    ///
    /// # Errors
    /// [`Fault::Storage`]: the database does not answer.
    pub fn facts(&self) -> Result<Facts, Fault> {
        let sql = match &self.engine {
            // `substr`, not `LIKE`, because the prefix's underscore is literal.
            Engine::Sqlite(_) => {
                "SELECT (SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'), \
                 (SELECT user_version FROM pragma_user_version), (SELECT journal_mode FROM pragma_journal_mode)"
            }
            Engine::Postgres(_) => {
                "SELECT (SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'colibri'), \
                 (SELECT coalesce(max(version), 0) FROM schema_version), NULL"
            }
        };
        self.query_one(sql, &[], |row| {
            Ok(Facts { tables: row.get(0)?, schema_version: row.get(1)?, journal_mode: row.get(2)? })
        })
    }

    /// Returns whether there is a table of that name. A database of an older schema may be read without being changed.
    ///
    /// # Errors
    /// [`Fault::Storage`]: the database does not answer.
    pub fn has_table(&self, name: &str) -> Result<bool, Fault> {
        let sql = match &self.engine {
            Engine::Sqlite(_) => {
                "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)"
            }
            // Some of SQLite's tables are views here.
            Engine::Postgres(_) => {
                "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relnamespace = 'colibri'::regnamespace \
                 AND relkind IN ('r', 'v') AND relname = CAST(?1 AS text))"
            }
        };
        self.query_one(sql, params![name], |row| row.get(0))
    }
}
