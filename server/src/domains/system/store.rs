//! The database queries of `server_health` (chain#system-tools).

use colibri_runtime::handler::Fault;

use crate::domains::skills::count_skills;
use colibri_store::db::{Db, Facts};

/// The database as the probe found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// What it says of itself.
    pub facts: Facts,
    /// Indexed skills; 0 while the table does not exist.
    pub skills: i64,
}

/// Probes the database. `skills_root` is the root whose skills are counted.
///
/// # Errors
/// [`Fault::Storage`]: the database does not answer.
pub fn probe(db: &Db, skills_root: &str) -> Result<Probe, Fault> {
    Ok(Probe { facts: db.facts()?, skills: count_skills(db, skills_root)? })
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
        let facts = Facts { tables: 2, schema_version: 7, journal_mode: Some("memory".into()) };
        assert_eq!(probe(&db, ""), Ok(Probe { facts, skills: 0 }));
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
