//! The database queries of `server_health` (chain#system-tools).

use colibri_runtime::handler::Fault;

use crate::domains::skills::count_skills;
use colibri_store::db::Db;

/// The database as the probe found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// User tables, without views and SQLite's own tables.
    pub tables: i64,
    /// `user_version`: the last migration applied.
    pub schema_version: i64,
    /// `wal`, or `memory` for a database without a file.
    pub journal_mode: String,
    /// Indexed skills; 0 while the table does not exist.
    pub skills: i64,
}

/// Probes the database. `skills_root` is the root whose skills are counted.
///
/// # Errors
/// [`Fault::Storage`]: the database does not answer.
pub fn probe(db: &Db, skills_root: &str) -> Result<Probe, Fault> {
    // `substr`, not `LIKE`, because the prefix's underscore is literal.
    let tables = db.query_one(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'",
        &[],
        |row| row.get(0),
    )?;
    let schema_version = db.query_one("PRAGMA user_version", &[], |row| row.get(0))?;
    let journal_mode = db.query_one("PRAGMA journal_mode", &[], |row| row.get(0))?;
    let skills = count_skills(db, skills_root)?;
    Ok(Probe { tables, schema_version, journal_mode, skills })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use rusqlite::Connection;

    use super::*;

    fn database(sql: &str) -> Db {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(sql).unwrap();
        Db::new(conn)
    }

    #[test]
    fn only_user_tables_are_counted() {
        // AUTOINCREMENT makes sqlite_sequence; `sqliteX` has the prefix only if `_` were a wildcard.
        let db = database(
            "CREATE TABLE a (n INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE sqliteX (n);
             CREATE VIEW v AS SELECT n FROM a; CREATE INDEX i ON sqliteX (n); PRAGMA user_version = 7;",
        );
        let expected = Probe { tables: 2, schema_version: 7, journal_mode: "memory".into(), skills: 0 };
        assert_eq!(probe(&db, ""), Ok(expected));
    }

    #[test]
    fn skills_are_counted_where_there_are_any() {
        let db = database(
            "CREATE TABLE skill_roots (root TEXT PRIMARY KEY); INSERT INTO skill_roots VALUES ('/x');
             CREATE TABLE skills (root TEXT, name TEXT);
             INSERT INTO skills VALUES ('/x', 'a'), ('/x', 'b'), ('/y', 'c'), ('', 'd');",
        );
        assert_eq!(probe(&db, "/x").unwrap().skills, 2);
        assert_eq!(
            probe(&db, "/not/indexed").unwrap().skills,
            1,
            "what has no root, until the own one is indexed"
        );
    }
}
