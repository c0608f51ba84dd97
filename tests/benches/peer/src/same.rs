//! Colibri's own tables, indexes and triggers, made by its migrations, and filled by an author who writes each call as
//! it comes: the enter row in a commit of its own, then what the call did with its exit row, the log's chain and its
//! head. All of Colibri's SQL that the peer repeats is in this file.

use std::time::Instant;

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use uuid::Uuid;

use crate::input::{NewTask, NewThought, Task, Thought};
use crate::store::{Call, Error, Outcome, Schema, genesis, now, sha256_json};

/// The texts of all migrations, in order.
const MIGRATIONS: &[&str] = include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

const ENTER: &str = "INSERT INTO actions (correlation_id, boot_id, request_id, tool, mode, args_hash, trace_context, \
     entered_at, enter_ms) VALUES (?1, ?2, NULL, ?3, 'FULL', ?4, NULL, ?5, ?6)";
const EXIT: &str = "UPDATE actions SET outcome = ?2, error_code = ?3, error_message = ?4, result_hash = ?5, \
     duration_ms = ?6, exited_at = ?7, exit_no = ?8, prev_hash = ?9, row_hash = ?10, subject = ?11 \
     WHERE sequence_no = ?1";
const HEAD: &str = "SELECT last_exit_no, last_row_hash FROM actions_head";
const MOVE_HEAD: &str =
    "UPDATE actions_head SET last_sequence_no = ?1, last_exit_no = ?2, last_row_hash = ?3";
const TASK: &str = "INSERT INTO tasks (id, project_id, title, description, status, priority, assignee, created_at, \
     updated_at, sequence_no) VALUES (?1, ?2, ?3, NULL, 'INIT', ?4, NULL, ?5, ?5, ?6)";
const SESSION: &str = "INSERT OR IGNORE INTO audit_sessions (session_id, intent, task_id, started_at, sequence_no) \
     VALUES ('bench', 'measure', NULL, ?1, NULL)";
const TIP: &str = "SELECT tip_hash FROM trail_heads WHERE task_id = ?1";
const THOUGHT: &str = "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, \
     created_at, session_id, sequence_no) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?6, ?9, ?10)";
const MOVE_TIP: &str = "INSERT INTO trail_heads (task_id, chain_length, tip_id, tip_hash) VALUES (?1, 1, ?2, ?3) \
     ON CONFLICT (task_id) DO UPDATE \
     SET chain_length = chain_length + 1, tip_id = excluded.tip_id, tip_hash = excluded.tip_hash";

/// The schema, and what is the same in every row of one process.
#[derive(Debug)]
pub struct Same {
    boot_id: String,
    booted: Instant,
}

impl Same {
    /// For a process that has just begun.
    pub fn new() -> Self {
        Self { boot_id: Uuid::new_v4().to_string(), booted: Instant::now() }
    }

    fn ms(&self) -> i64 {
        i64::try_from(self.booted.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

/// A closed row of the log: its columns in the order of their names, which is that of canonical JSON.
#[derive(Serialize)]
struct ClosedRow<'a> {
    args_hash: &'a str,
    boot_id: &'a str,
    correlation_id: &'a str,
    duration_ms: i64,
    enter_ms: i64,
    entered_at: &'a str,
    error_code: Option<&'a str>,
    error_message: Option<&'a str>,
    exit_no: i64,
    exited_at: &'a str,
    mode: &'a str,
    outcome: &'a str,
    prev_hash: &'a str,
    request_id: Option<&'a str>,
    result_hash: Option<&'a str>,
    sequence_no: i64,
    subject: Option<&'a str>,
    tool: &'a str,
    trace_context: Option<&'a str>,
}

/// What a thought's hash covers, in the order of the names.
#[derive(Serialize)]
struct Preimage<'a> {
    content: &'a str,
    id: &'a str,
    prev_hash: &'a str,
    task_id: &'a str,
    timestamp: &'a str,
    r#type: &'a str,
}

impl Schema for Same {
    fn create(&mut self, conn: &Connection) -> Result<(), Error> {
        let version: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        conn.execute_batch("BEGIN IMMEDIATE")?;
        for (number, sql) in (1_u32..).zip(MIGRATIONS) {
            if number > version {
                conn.execute_batch(sql)?;
                conn.pragma_update(None, "user_version", number)?;
            }
        }
        conn.execute(SESSION, [now()])?;
        Ok(conn.execute_batch("COMMIT")?)
    }

    fn enter(
        &mut self,
        conn: &Connection,
        tool: &'static str,
        args_hash: String,
        now: String,
    ) -> Result<Call, Error> {
        let (correlation_id, enter_ms) = (Uuid::new_v4().to_string(), self.ms());
        let values = params![correlation_id, self.boot_id, tool, args_hash, now, enter_ms];
        conn.prepare_cached(ENTER)?.execute(values)?;
        Ok(Call {
            number: conn.last_insert_rowid(),
            correlation_id,
            tool,
            args_hash,
            entered_at: now,
            enter_ms,
        })
    }

    fn task(&mut self, conn: &Connection, call: &Call, new: NewTask) -> Result<Task, Error> {
        let (id, created_at) = (Uuid::now_v7().to_string(), now());
        let values = params![id, new.project_id, new.title, new.priority, created_at, call.number];
        conn.prepare_cached(TASK)?.execute(values)?;
        let NewTask { title, project_id, priority } = new;
        Ok(Task { id, title, project_id, priority, status: "INIT", created_at })
    }

    fn thought(&mut self, conn: &Connection, call: &Call, new: NewThought) -> Result<Thought, Error> {
        let (id, timestamp) = (Uuid::now_v7().to_string(), now());
        let tip: Option<String> =
            conn.prepare_cached(TIP)?.query_row([&new.task_id], |row| row.get(0)).optional()?;
        let prev_hash = tip.unwrap_or_else(genesis);
        let hash = sha256_json(&Preimage {
            content: &new.content,
            id: &id,
            prev_hash: &prev_hash,
            task_id: &new.task_id,
            timestamp: &timestamp,
            r#type: new.kind.as_str(),
        })?;
        conn.prepare_cached(THOUGHT)?.execute(params![
            id,
            new.kind.as_str(),
            new.task_id,
            new.agent_id,
            new.content,
            timestamp,
            prev_hash,
            hash,
            new.session_id,
            call.number
        ])?;
        conn.prepare_cached(MOVE_TIP)?.execute(params![new.task_id, id, hash])?;
        Ok(Thought { id, prev_hash, hash, timestamp })
    }

    fn exit(&mut self, conn: &Connection, call: &Call, result: Outcome, now: String) -> Result<(), Error> {
        let (last, prev_hash): (i64, String) =
            conn.prepare_cached(HEAD)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (outcome, code, message, result_hash, subject) = match result {
            Outcome::Ok { result_hash, subject } => ("ok", None, None, result_hash, subject),
            Outcome::Failed(message) => {
                let hash = sha256_json(&message)?;
                ("error", Some("HANDLER_ERROR"), Some(message), hash, None)
            }
        };
        let row = ClosedRow {
            args_hash: &call.args_hash,
            boot_id: &self.boot_id,
            correlation_id: &call.correlation_id,
            duration_ms: self.ms() - call.enter_ms,
            enter_ms: call.enter_ms,
            entered_at: &call.entered_at,
            error_code: code,
            error_message: message.as_deref(),
            exit_no: last + 1,
            exited_at: &now,
            mode: "FULL",
            outcome,
            prev_hash: &prev_hash,
            request_id: None,
            result_hash: Some(&result_hash),
            sequence_no: call.number,
            subject: subject.as_deref(),
            tool: call.tool,
            trace_context: None,
        };
        let row_hash = sha256_json(&row)?;
        conn.prepare_cached(EXIT)?.execute(params![
            row.sequence_no,
            row.outcome,
            row.error_code,
            row.error_message,
            row.result_hash,
            row.duration_ms,
            row.exited_at,
            row.exit_no,
            row.prev_hash,
            row_hash,
            row.subject
        ])?;
        conn.prepare_cached(MOVE_HEAD)?.execute(params![call.number, row.exit_no, row_hash])?;
        Ok(())
    }
}
