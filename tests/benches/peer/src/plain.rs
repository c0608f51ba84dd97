//! The schema that an author would write: no index beside the keys, no CHECK, no trigger, a log without a chain.

use rusqlite::{Connection, OptionalExtension, params};

use crate::input::{NewTask, NewThought, Task, Thought};
use crate::store::{Call, Error, Outcome, Schema, genesis, now, sha256};

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS audit (
  number      INTEGER PRIMARY KEY,
  tool        TEXT NOT NULL,
  args_hash   TEXT NOT NULL,
  entered_at  TEXT NOT NULL,
  exited_at   TEXT,
  outcome     TEXT NOT NULL DEFAULT 'running',
  result_hash TEXT
);
CREATE TABLE IF NOT EXISTS task (
  number     INTEGER PRIMARY KEY,
  title      TEXT NOT NULL,
  project_id TEXT,
  priority   TEXT,
  status     TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS thought (
  number     INTEGER PRIMARY KEY,
  type       TEXT NOT NULL,
  task_id    TEXT NOT NULL,
  agent_id   TEXT NOT NULL,
  session_id TEXT NOT NULL,
  content    TEXT NOT NULL,
  prev_hash  TEXT NOT NULL,
  hash       TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
);";
const ENTER: &str = "INSERT INTO audit (tool, args_hash, entered_at) VALUES (?1, ?2, ?3)";
const EXIT: &str = "UPDATE audit SET exited_at = ?2, outcome = ?3, result_hash = ?4 WHERE number = ?1";
const TASK: &str =
    "INSERT INTO task (title, project_id, priority, status, created_at) VALUES (?1, ?2, ?3, 'INIT', ?4)";
const LAST: &str = "SELECT hash FROM thought ORDER BY number DESC LIMIT 1";
const THOUGHT: &str = "INSERT INTO thought (type, task_id, agent_id, session_id, content, prev_hash, hash, created_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// The schema.
#[derive(Debug)]
pub struct Plain;

impl Schema for Plain {
    fn create(&mut self, conn: &Connection) -> Result<(), Error> {
        Ok(conn.execute_batch(TABLES)?)
    }

    fn enter(
        &mut self,
        conn: &Connection,
        tool: &'static str,
        args_hash: String,
        now: String,
    ) -> Result<Call, Error> {
        conn.prepare_cached(ENTER)?.execute(params![tool, args_hash, now])?;
        let number = conn.last_insert_rowid();
        Ok(Call { number, correlation_id: String::new(), tool, args_hash, entered_at: now, enter_ms: 0 })
    }

    fn task(&mut self, conn: &Connection, _: &Call, new: NewTask) -> Result<Task, Error> {
        let created_at = now();
        conn.prepare_cached(TASK)?.execute(params![new.title, new.project_id, new.priority, created_at])?;
        Ok(Task {
            id: format!("T-{}", conn.last_insert_rowid()),
            title: new.title,
            project_id: new.project_id,
            priority: new.priority,
            status: "INIT",
            created_at,
        })
    }

    fn thought(&mut self, conn: &Connection, _: &Call, new: NewThought) -> Result<Thought, Error> {
        let prev_hash: Option<String> =
            conn.prepare_cached(LAST)?.query_row([], |row| row.get(0)).optional()?;
        let prev_hash = prev_hash.unwrap_or_else(genesis);
        let (kind, timestamp) = (new.kind.as_str(), now());
        let parts = [&prev_hash, kind, &new.task_id, &new.agent_id, &new.session_id, &new.content];
        let hash = sha256(parts.join("\n").as_bytes());
        conn.prepare_cached(THOUGHT)?.execute(params![
            kind,
            new.task_id,
            new.agent_id,
            new.session_id,
            new.content,
            prev_hash,
            hash,
            timestamp
        ])?;
        Ok(Thought { id: format!("H-{}", conn.last_insert_rowid()), prev_hash, hash, timestamp })
    }

    fn exit(&mut self, conn: &Connection, call: &Call, result: Outcome, now: String) -> Result<(), Error> {
        let (outcome, hash) = match result {
            Outcome::Ok { result_hash, .. } => ("ok", Some(result_hash)),
            Outcome::Failed(_) => ("error", None),
        };
        conn.prepare_cached(EXIT)?.execute(params![call.number, now, outcome, hash])?;
        Ok(())
    }
}
