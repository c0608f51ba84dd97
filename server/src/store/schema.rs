//! What a database's schema is, and what the compiled-in migrations make of an empty one.

use std::collections::BTreeMap;
use std::path::Path;

use colibri_runtime::handler::Fault;
use rusqlite::Connection;

use super::connection;
use super::db::{Db, storage};
use super::header::APPLICATION_ID;
use super::migrate::{self, MIGRATIONS, Migration};

/// Tables that SQLite keeps for its planner, when somebody has run ANALYZE. They decide nothing.
const STATISTICS: [&str; 2] = ["table sqlite_stat1", "table sqlite_stat4"];

/// Everything that a file says of its own shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Whose file it is.
    pub application_id: i64,
    /// The last migration that ran.
    pub user_version: i64,
    /// `table tasks`, `trigger actions_keep` and so on, with the text that made it; automatic indexes have
    /// none.
    pub objects: BTreeMap<String, Option<String>>,
}

/// The schema of a database.
///
/// # Errors
/// The engine's.
pub fn read(db: &Db) -> Result<Schema, Fault> {
    let number = |sql: &str| db.query_one(sql, [], |row| row.get(0));
    let objects = db.query_all("SELECT type, name, tbl_name, sql FROM sqlite_schema", [], |row| {
        let (kind, name, table): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let shown =
            if name == table { format!("{kind} {name}") } else { format!("{kind} {name} of {table}") };
        Ok((shown, row.get(3)?))
    })?;
    Ok(Schema {
        application_id: number("PRAGMA application_id")?,
        user_version: number("PRAGMA user_version")?,
        objects: objects.into_iter().filter(|(shown, _)| !STATISTICS.contains(&shown.as_str())).collect(),
    })
}

/// What the migrations give. Built by running them in memory, so that it cannot differ from them.
///
/// # Errors
/// The engine's.
pub fn expected() -> Result<Schema, Fault> {
    built(MIGRATIONS)
}

fn built(migrations: &[Migration]) -> Result<Schema, Fault> {
    let conn = Connection::open_in_memory().map_err(storage)?;
    connection::settle(&conn).map_err(storage)?;
    migrate::migrate(&conn, migrations, Path::new(super::open::MEMORY))
        .map_err(|error| Fault::Other(error.to_string()))?;
    conn.pragma_update(None, "application_id", APPLICATION_ID).map_err(storage)?;
    read(&Db::new(conn))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_expected_schema_holds_every_kind_of_object() {
        let schema = expected().unwrap();
        assert_eq!(schema.user_version, migrate::latest(MIGRATIONS));
        for object in ["table tasks", "view action_events", "trigger actions_keep of actions"] {
            assert!(schema.objects.contains_key(object), "{object}: {:?}", schema.objects.keys());
        }
    }

    #[test]
    fn statistics_of_the_planner_are_no_part_of_it() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t (n); INSERT INTO t VALUES (1); ANALYZE").unwrap();
        let schema = read(&Db::new(conn)).unwrap();
        assert_eq!(schema.objects.keys().collect::<Vec<_>>(), ["table t"]);
    }
}
