//! Both engines with Colibri's schema, and statements that are tried on both.

use colibri::migrations::MIGRATIONS;
use colibri_test_support::postgres::{Database, Role};
use postgres::Client;
use rusqlite::Connection;

/// An empty database of each engine. Statements run in PostgreSQL as the owner, or as [`Engines::as_app`] says.
pub struct Engines {
    pub sqlite: Connection,
    pub postgres: Client,
    // Dropped last: it ends the connection.
    _database: Database,
}

/// A value of a row, written in each engine's way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Null,
    Integer(i64),
    Text(String),
    /// That many bytes of `0xAB`.
    Blob(usize),
}

/// A statement for each engine.
#[derive(Debug, Clone)]
pub struct Both {
    pub sqlite: String,
    pub postgres: String,
}

/// Tries a statement and undoes it.
const TRY: &str = "CREATE FUNCTION pg_temp.try(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RAISE EXCEPTION 'undone' USING ERRCODE = 'UNDO1';
EXCEPTION WHEN SQLSTATE 'UNDO1' THEN RETURN true; WHEN others THEN RETURN false;
END $$";

impl Engines {
    /// `None` without PostgreSQL.
    pub fn new() -> Option<Self> {
        let database = Database::new()?;
        let mut postgres = database.client(Role::Superuser);
        postgres.batch_execute(TRY).unwrap();
        postgres.batch_execute("SET search_path = colibri; SET ROLE colibri_owner").unwrap();
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch("PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON").unwrap();
        for migration in MIGRATIONS {
            sqlite.execute_batch(migration.sql).unwrap();
        }
        // It only guards against servers from before 014, which know no PostgreSQL.
        sqlite.execute_batch("DROP TRIGGER actions_need_caller").unwrap();
        Some(Self { sqlite, postgres, _database: database })
    }

    /// From now on PostgreSQL's statements run with the rights of a server.
    pub fn as_app(&mut self) {
        // `TRY` belongs to the superuser's session, and everybody may call it.
        self.postgres.batch_execute("RESET ROLE; SET ROLE colibri_app").unwrap();
    }

    /// Runs a statement that both take.
    pub fn run(&mut self, sql: &str) {
        self.run_both(&Both::same(sql));
    }

    /// Runs a statement in the words of each.
    pub fn run_both(&mut self, both: &Both) {
        self.sqlite.execute_batch(&both.sqlite).unwrap_or_else(|error| panic!("{}: {error}", both.sqlite));
        self.postgres
            .batch_execute(&both.postgres)
            .unwrap_or_else(|error| panic!("{}: {error:?}", both.postgres));
    }

    /// Returns for each statement whether SQLite takes it and whether PostgreSQL does. Nothing stays changed.
    pub fn judge(&mut self, statements: &[Both]) -> Vec<(bool, bool)> {
        let texts: Vec<&str> = statements.iter().map(|both| both.postgres.as_str()).collect();
        let sql = "SELECT pg_temp.try(statement) FROM unnest($1::text[]) WITH ORDINALITY AS s (statement, n) ORDER BY n";
        let rows = self.postgres.query(sql, &[&texts]).unwrap();
        let taken = rows.iter().map(|row| row.get(0));
        statements.iter().map(|both| self.sqlite_takes(&both.sqlite)).zip(taken).collect()
    }

    fn sqlite_takes(&self, sql: &str) -> bool {
        self.sqlite.execute_batch("SAVEPOINT one").unwrap();
        let taken = self.sqlite.execute_batch(sql).is_ok();
        self.sqlite.execute_batch("ROLLBACK TO one; RELEASE one").unwrap();
        taken
    }
}

impl Both {
    /// One text for both.
    pub fn same(sql: &str) -> Self {
        Self { sqlite: sql.to_owned(), postgres: sql.to_owned() }
    }

    /// An INSERT of a row.
    pub fn insert(table: &str, row: &[(&str, Cell)]) -> Self {
        let columns = row.iter().map(|(column, _)| *column).collect::<Vec<_>>().join(", ");
        let values = |write: fn(&Cell) -> String| {
            let values: Vec<String> = row.iter().map(|(_, cell)| write(cell)).collect();
            format!("INSERT INTO {table} ({columns}) VALUES ({})", values.join(", "))
        };
        Self { sqlite: values(Cell::sqlite), postgres: values(Cell::postgres) }
    }
}

impl Cell {
    fn sqlite(&self) -> String {
        match self {
            Self::Blob(length) => format!("x'{}'", "AB".repeat(*length)),
            other => other.literal(),
        }
    }

    fn postgres(&self) -> String {
        match self {
            Self::Blob(length) => format!("'\\x{}'", "AB".repeat(*length)),
            other => other.literal(),
        }
    }

    fn literal(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Self::Null | Self::Blob(_) => "NULL".to_owned(),
        }
    }
}
