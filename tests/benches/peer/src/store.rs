//! What both schemas have in common: the two commits of an audited call, and how a file is opened.

use std::time::SystemTime;

use rusqlite::Connection;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::input::{NewTask, NewThought, Task, Thought};

/// Why a call failed.
#[derive(Debug)]
pub enum Error {
    /// The arguments.
    Invalid(&'static str),
    /// SQLite.
    Sql(rusqlite::Error),
    /// JSON.
    Json(serde_json::Error),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Invalid(why) => write!(f, "invalid arguments: {why}"),
            Self::Sql(error) => write!(f, "storage: {error}"),
            Self::Json(error) => write!(f, "JSON: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

/// A schema, and the SQL that fills it.
pub trait Schema {
    /// Makes the tables unless they are there.
    fn create(&mut self, conn: &Connection) -> Result<(), Error>;

    /// Notes that a call begins; what [`Schema::exit`] needs to find it again. Committed before the call does anything.
    fn enter(
        &mut self,
        conn: &Connection,
        tool: &'static str,
        args_hash: String,
        now: String,
    ) -> Result<Call, Error>;

    /// Stores a task, inside a transaction.
    fn task(&mut self, conn: &Connection, call: &Call, new: NewTask) -> Result<Task, Error>;

    /// Stores a thought and moves its chain on, inside a transaction.
    fn thought(&mut self, conn: &Connection, call: &Call, new: NewThought) -> Result<Thought, Error>;

    /// Notes that a call has ended, inside the transaction of its effects.
    fn exit(&mut self, conn: &Connection, call: &Call, result: Outcome, now: String) -> Result<(), Error>;
}

/// A call that has begun.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Call {
    pub number: i64,
    pub correlation_id: String,
    pub tool: &'static str,
    pub args_hash: String,
    pub entered_at: String,
    pub enter_ms: i64,
}

/// How a call ended.
#[derive(Debug)]
pub enum Outcome {
    /// With that result, about the row of that id.
    Ok {
        /// SHA-256 of the result.
        result_hash: String,
        /// The row that was written.
        subject: Option<String>,
    },
    /// With an error.
    Failed(String),
}

/// A file with one of the schemas.
pub struct Store {
    conn: Connection,
    schema: Box<dyn Schema + Send>,
}

impl Store {
    /// Opens a file; `synchronous` is SQLite's pragma.
    pub fn open(path: &str, synchronous: &str, mut schema: Box<dyn Schema + Send>) -> Result<Self, Error> {
        let conn = Connection::open(path)?;
        conn.pragma_update(None, "journal_mode", "WAL")?;
        conn.pragma_update(None, "synchronous", synchronous)?;
        conn.set_prepared_statement_cache_capacity(32);
        schema.create(&conn)?;
        Ok(Self { conn, schema })
    }

    /// A call that does nothing but being noted.
    pub fn ping(&mut self) -> Result<(), Error> {
        let hash = sha256_json(&serde_json::Map::new())?;
        self.noted("server_ping", hash, |_, _, _| Ok(((), None)))
    }

    /// See [`Schema::task`].
    pub fn task_create(&mut self, new: NewTask) -> Result<Task, Error> {
        if let Some(problem) = new.problem() {
            return Err(Error::Invalid(problem));
        }
        let hash = sha256_json(&new)?;
        self.noted("task_create", hash, |schema, conn, call| {
            let task = schema.task(conn, call, new)?;
            let id = task.id.clone();
            Ok((task, Some(id)))
        })
    }

    /// See [`Schema::thought`].
    pub fn thought_record(&mut self, new: NewThought) -> Result<Thought, Error> {
        if let Some(problem) = new.problem() {
            return Err(Error::Invalid(problem));
        }
        let hash = sha256_json(&new)?;
        self.noted("thought_record", hash, |schema, conn, call| {
            let thought = schema.thought(conn, call, new)?;
            let id = thought.id.clone();
            Ok((thought, Some(id)))
        })
    }

    /// One commit for the row that says the call began, one for what it did and the row's end.
    fn noted<T: Serialize>(
        &mut self,
        tool: &'static str,
        args_hash: String,
        work: impl FnOnce(&mut dyn Schema, &Connection, &Call) -> Result<(T, Option<String>), Error>,
    ) -> Result<T, Error> {
        let Self { conn, schema } = self;
        let run = |sql: &str| conn.prepare_cached(sql)?.execute([]).map(drop);
        let call = schema.enter(conn, tool, args_hash, now())?;
        run("BEGIN IMMEDIATE")?;
        let done = work(schema.as_mut(), conn, &call).and_then(|(value, subject)| {
            let result_hash = sha256_json(&value)?;
            Ok((value, Outcome::Ok { result_hash, subject }))
        });
        let (value, outcome) = match done {
            Ok((value, outcome)) => (Ok(value), outcome),
            Err(error) => {
                run("ROLLBACK")?;
                run("BEGIN IMMEDIATE")?;
                let message = error.to_string();
                (Err(error), Outcome::Failed(message))
            }
        };
        schema.exit(conn, &call, outcome, now())?;
        run("COMMIT")?;
        value
    }
}

/// The present time, as the tables have it.
pub fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// SHA-256 of a value's JSON.
pub fn sha256_json(value: &impl Serialize) -> Result<String, Error> {
    Ok(sha256(&serde_json::to_vec(value)?))
}

/// SHA-256 in hex.
pub fn sha256(bytes: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(bytes);
    digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|nibble| char::from(HEX[usize::from(nibble)]))
        .collect()
}

/// What stands before the first link of a chain.
pub fn genesis() -> String {
    "0".repeat(64)
}
