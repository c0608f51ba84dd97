//! What is stored, as a test reads it, or changes it behind the server's back: the same statements on either engine, by
//! clients that share no code with the server (`rusqlite`, `postgres`).
//!
//! The names are those of `rusqlite`, so that tests of either engine read alike; results are read at once. Statements
//! have the server's form: parameters are `?1`, `?2`, and in PostgreSQL a text may be stored as `bytea`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod dialect;
mod guards;
mod postgres;
mod value;

use std::path::Path;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use crate::client::PATIENCE;
use crate::postgres::{Cluster, Database, Role};

pub use self::guards::Refused;
pub use self::value::{FromSql, Params, ToSql, Value};

/// A connection of the test's own, with every right.
pub struct Connection {
    engine: Engine,
}

enum Engine {
    Sqlite(rusqlite::Connection),
    Postgres(postgres::Session),
}

/// Why a statement failed, in the engine's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    /// Whether the check of a column or a table has refused the row.
    pub fn is_of_a_check(&self) -> bool {
        self.0.contains("CHECK constraint failed") || self.0.contains("violates check constraint")
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// What a statement returned.
pub(crate) struct Table {
    columns: Rc<[String]>,
    rows: Vec<Vec<Value>>,
    changed: usize,
}

impl Connection {
    /// Opens a file beside the servers that use it.
    pub fn file(path: impl AsRef<Path>) -> Self {
        let conn = rusqlite::Connection::open(path).expect("the database opens");
        conn.busy_timeout(PATIENCE).expect("a busy timeout");
        Self::from(conn)
    }

    /// Connects to a database as its superuser.
    pub fn server(database: &Database) -> Self {
        Self::in_cluster(database.cluster(), database.name())
    }

    /// Connects to the database of that name as the superuser.
    pub fn in_cluster(cluster: &Cluster, database: &str) -> Self {
        Self {
            engine: Engine::Postgres(postgres::Session::new(|| cluster.client(Role::Superuser, database))),
        }
    }

    /// Connects to a server that a test reaches by its URL alone.
    pub fn at_url(url: &str) -> Self {
        let client =
            || ::postgres::Client::connect(url, ::postgres::NoTls).expect("the server takes the URL");
        Self { engine: Engine::Postgres(postgres::Session::new(client)) }
    }

    /// The connection to the file, for what only SQLite has.
    pub fn sqlite(&self) -> &rusqlite::Connection {
        match &self.engine {
            Engine::Sqlite(conn) => conn,
            Engine::Postgres(_) => unreachable!("the test is SQLite's alone"),
        }
    }

    /// The same, for the library.
    pub fn into_sqlite(self) -> rusqlite::Connection {
        match self.engine {
            Engine::Sqlite(conn) => conn,
            Engine::Postgres(_) => unreachable!("the test is SQLite's alone"),
        }
    }

    /// Runs a statement; returns how many rows it changed.
    pub fn execute(&self, sql: &str, params: impl Params) -> Result<usize, Error> {
        Ok(self.run(sql, &params.values())?.changed)
    }

    /// Runs statements without parameters.
    pub fn execute_batch(&self, sql: &str) -> Result<(), Error> {
        match &self.engine {
            Engine::Sqlite(conn) => Ok(conn.execute_batch(sql)?),
            Engine::Postgres(session) => session.batch(sql),
        }
    }

    /// Reads the first row of a result.
    pub fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let rows = self.prepare(sql)?.query(params)?;
        rows.first().map_or_else(|| Err(Error(format!("{sql}: no row"))), read)
    }

    /// A statement to be run.
    pub fn prepare<'a>(&'a self, sql: &str) -> Result<Statement<'a>, Error> {
        Ok(Statement { conn: self, sql: sql.to_owned() })
    }

    /// The bytes of every value of a table, row by row in the same order each time.
    pub fn bytes_of(&self, table: &str) -> Vec<u8> {
        let rows = self.prepare(&format!("SELECT * FROM \"{table}\"")).and_then(|mut all| all.query([]));
        let mut rows: Vec<Vec<u8>> = rows
            .expect("the table can be read")
            .iter()
            .map(|row| {
                let mut bytes = Vec::new();
                for value in row.values() {
                    match value {
                        Value::Null => {}
                        Value::Integer(number) => bytes.extend(number.to_string().into_bytes()),
                        Value::Real(number) => bytes.extend(number.to_string().into_bytes()),
                        Value::Text(text) => bytes.extend(text.as_bytes()),
                        Value::Blob(blob) => bytes.extend(blob),
                    }
                    bytes.push(b'\n');
                }
                bytes
            })
            .collect();
        rows.sort();
        rows.concat()
    }

    /// Ends the lease of a process that was killed. On SQLite others see at once that it is dead.
    pub fn end_lease(&self, boot_id: &str) {
        if let Engine::Postgres(_) = &self.engine {
            let sql = "UPDATE processes SET lease_until = now() - interval '1 second' WHERE boot_id = ?1";
            assert_eq!(self.execute(sql, [boot_id]), Ok(1), "{boot_id} has a lease");
        }
    }

    /// Begins a transaction that keeps servers from writing, as long as it is open.
    pub fn hold(&self) {
        let sql = match &self.engine {
            Engine::Sqlite(_) => "BEGIN IMMEDIATE",
            // `CLBR`; a server takes the first lock to give calls their numbers, and the second for everything else.
            Engine::Postgres(_) => {
                "BEGIN; SELECT pg_advisory_xact_lock(1129071186, 1), pg_advisory_xact_lock(1129071186, 2)"
            }
        };
        self.execute_batch(sql).expect("no server writes");
    }

    /// Begins a transaction in which every statement sees the same rows.
    pub fn begin_snapshot(&self) {
        let sql = match &self.engine {
            Engine::Sqlite(_) => "BEGIN",
            Engine::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        self.execute_batch(sql).expect("no transaction is open");
    }

    /// Has SQLite check foreign keys on this connection, as PostgreSQL always does.
    pub fn check_foreign_keys(&self) {
        if let Engine::Sqlite(conn) = &self.engine {
            conn.pragma_update(None, "foreign_keys", true).expect("a pragma");
        }
    }

    /// The names of the tables that hold what calls have stored: all but the log's, and those about the database itself.
    pub fn tables(&self) -> Vec<String> {
        let sql = match &self.engine {
            Engine::Sqlite(_) => {
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'actions%' ORDER BY name"
            }
            Engine::Postgres(_) => {
                "SELECT tablename FROM pg_tables WHERE schemaname = 'colibri' \
                 AND tablename NOT IN ('enters', 'exits', 'processes', 'schema_version') ORDER BY tablename"
            }
        };
        let mut statement = self.prepare(sql).expect("a statement");
        let names = statement.query_map([], |row| row.get(0)).expect("the schema can be read");
        names.collect::<Result<_, _>>().expect("names")
    }

    fn run(&self, sql: &str, params: &[Value]) -> Result<Table, Error> {
        match &self.engine {
            Engine::Sqlite(conn) => in_file(conn, sql, params),
            Engine::Postgres(session) => session.run(sql, params),
        }
    }
}

impl From<rusqlite::Connection> for Connection {
    fn from(conn: rusqlite::Connection) -> Self {
        Self { engine: Engine::Sqlite(conn) }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

fn in_file(conn: &rusqlite::Connection, sql: &str, params: &[Value]) -> Result<Table, Error> {
    let mut statement = conn.prepare(sql)?;
    let columns: Rc<[String]> = statement.column_names().map(str::to_owned).collect();
    let params = rusqlite::params_from_iter(params);
    let mut rows = Vec::new();
    let changed = if columns.is_empty() {
        statement.execute(params)?
    } else {
        let mut found = statement.query(params)?;
        while let Some(row) = found.next()? {
            rows.push((0..columns.len()).map(|column| row.get(column)).collect::<Result<_, _>>()?);
        }
        0
    };
    Ok(Table { columns, rows, changed })
}

/// A statement.
pub struct Statement<'a> {
    conn: &'a Connection,
    sql: String,
}

impl Statement<'_> {
    /// Reads every row.
    pub fn query(&mut self, params: impl Params) -> Result<Vec<Row>, Error> {
        let Table { columns, rows, .. } = self.conn.run(&self.sql, &params.values())?;
        Ok(rows.into_iter().map(|values| Row { columns: columns.clone(), values }).collect())
    }

    /// Reads every row by a function.
    pub fn query_map<T>(
        &mut self,
        params: impl Params,
        mut read: impl FnMut(&Row) -> Result<T, Error>,
    ) -> Result<std::vec::IntoIter<Result<T, Error>>, Error> {
        let rows = self.query(params)?;
        Ok(rows.iter().map(&mut read).collect::<Vec<_>>().into_iter())
    }
}

/// A row.
#[derive(Debug, Clone)]
pub struct Row {
    columns: Rc<[String]>,
    values: Vec<Value>,
}

impl Row {
    /// Reads a column, by its index or its name.
    pub fn get<I: Index, T: FromSql>(&self, column: I) -> Result<T, Error> {
        let at = column.of(&self.columns)?;
        let value = self.values.get(at).ok_or_else(|| Error(format!("no column {at}")))?;
        T::from_value(value).ok_or_else(|| Error(format!("column {at} holds {value:?}")))
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The columns as members of an object; bytes must be those of a text.
    pub fn object(&self) -> Map<String, Json> {
        let json = |value: &Value| match value {
            Value::Null => Json::Null,
            Value::Integer(number) => Json::from(*number),
            Value::Text(text) => Json::from(text.as_str()),
            Value::Blob(bytes) => Json::from(std::str::from_utf8(bytes).expect("UTF-8")),
            Value::Real(number) => panic!("a number with a fraction: {number}"),
        };
        self.columns.iter().zip(&self.values).map(|(name, value)| (name.clone(), json(value))).collect()
    }

    /// The values of the columns.
    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

/// What names a column.
pub trait Index {
    /// Its place.
    fn of(&self, columns: &[String]) -> Result<usize, Error>;
}

impl Index for usize {
    fn of(&self, _: &[String]) -> Result<usize, Error> {
        Ok(*self)
    }
}

impl Index for &str {
    fn of(&self, columns: &[String]) -> Result<usize, Error> {
        columns.iter().position(|name| name == self).ok_or_else(|| Error(format!("no column {self}")))
    }
}

#[cfg(test)]
mod tests;
