//! The SQL of a load in bulk. It inserts rows as the server leaves them, not as the server writes them (first open, then
//! closed; first the record, then its head). So it removes the triggers for the time and restores them in their own words.
//! All other constraints of the tables, on values and on their uniqueness, hold all the time.

use std::cell::Cell;
use std::fs::File;
use std::path::{Path, PathBuf};

use colibri_canonical::HexDigest;
use rusqlite::{Connection, params};

use super::history::{Call, Chain, Effect, Extent, History, LogEnd, MODE};

/// Calls to a transaction. A page that changes often is written once for all of them.
const TRANSACTION: usize = 250_000;

/// No journal, because the file of an interrupted load is thrown away; no sync before the end, and room for the pages
/// that random inserts touch again and again.
const FAST: &str = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; \
    PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -2000000;";

const ACTION: &str = "INSERT INTO actions (sequence_no, correlation_id, boot_id, request_id, tool, mode, args_hash, \
    entered_at, enter_ms, outcome, result_hash, duration_ms, exited_at, exit_no, prev_hash, row_hash, subject) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'ok', ?10, 0, ?8, ?11, ?12, ?13, ?14)";

const TASK: &str = "INSERT INTO tasks (id, project_id, title, status, priority, created_at, updated_at, sequence_no) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)";

const THOUGHT: &str = "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, \
    created_at, session_id, sequence_no) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?6, ?9, ?10)";

const HEAD: &str = "INSERT INTO trail_heads (task_id, chain_length, tip_id, tip_hash) VALUES (?1, ?2, ?3, ?4) \
    ON CONFLICT (task_id) DO UPDATE \
    SET chain_length = excluded.chain_length, tip_id = excluded.tip_id, tip_hash = excluded.tip_hash";

const LOG_END: &str = "UPDATE actions_head SET last_sequence_no = ?1, last_exit_no = ?2, last_row_hash = ?3";

const TRIGGERS: &str = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' \
    AND tbl_name IN ('actions', 'actions_head', 'tasks', 'thought_records', 'trail_heads') ORDER BY rowid";

/// A database that is being filled. No other process may use it.
pub struct Loading {
    conn: Connection,
    path: PathBuf,
    /// What makes each trigger.
    triggers: Vec<String>,
    /// Calls of the transaction that is open.
    stored: Cell<usize>,
}

impl Loading {
    /// Prepares a database for the load, and marks it: a load that was interrupted cannot be continued.
    pub fn begin(path: &Path) -> Self {
        let mark = mark(path);
        assert!(!mark.exists(), "the load of {} was interrupted: remove it", path.display());
        File::create(&mark).expect("a mark beside the database");
        let conn = Connection::open(path).expect("the database opens");
        conn.execute_batch(FAST).expect("nobody else has it open");
        let journal: String =
            conn.query_row("PRAGMA journal_mode", [], |row| row.get(0)).expect("journal_mode");
        assert_eq!(journal, "off");
        let triggers: Vec<(String, String)> = conn
            .prepare(TRIGGERS)
            .expect("the schema")
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("the schema")
            .map(|row| row.expect("a trigger"))
            .collect();
        for (name, _) in &triggers {
            conn.execute_batch(&format!("DROP TRIGGER \"{name}\"")).expect("a trigger goes");
        }
        conn.execute_batch("BEGIN").expect("no transaction is open");
        let triggers = triggers.into_iter().map(|(_, sql)| sql).collect();
        Self { conn, path: path.to_owned(), triggers, stored: Cell::new(0) }
    }

    /// What is stored so far. Each open call must have been closed.
    pub fn history(&self) -> History {
        let count = |sql: &str| self.conn.query_row(sql, [], |row| row.get(0)).expect("a count");
        let digest = |text: String| HexDigest::parse(&text).expect("a hash");
        let log = self
            .conn
            .query_row("SELECT last_sequence_no, last_exit_no, last_row_hash FROM actions_head", [], |row| {
                Ok(LogEnd { sequence_no: row.get(0)?, exit_no: row.get(1)?, row_hash: digest(row.get(2)?) })
            })
            .expect("the head");
        let chains = self
            .conn
            .prepare("SELECT task_id, chain_length, tip_id, tip_hash FROM trail_heads ORDER BY task_id")
            .expect("the heads")
            .query_map([], |row| {
                Ok(Chain {
                    task_id: row.get(0)?,
                    length: row.get(1)?,
                    tip_id: row.get(2)?,
                    tip_hash: digest(row.get(3)?),
                })
            })
            .expect("the heads")
            .map(|chain| chain.expect("a head"))
            .collect();
        let (tasks, thoughts) =
            (count("SELECT count(*) FROM tasks"), count("SELECT count(*) FROM thought_records"));
        History { extent: Extent { tasks, thoughts }, log, chains }
    }

    /// Stores calls and their effects.
    pub fn store(&self, calls: &[Call]) {
        for call in calls {
            self.action(call);
            match &call.effect {
                Effect::Task(task) => self.conn.prepare_cached(TASK).expect("the table").execute(params![
                    task.id,
                    task.project_id,
                    task.title,
                    task.status.to_string(),
                    task.priority,
                    task.created_at,
                    call.sequence_no,
                ]),
                Effect::Thought(record) => {
                    self.conn.prepare_cached(THOUGHT).expect("the table").execute(params![
                        record.id,
                        record.kind.as_str(),
                        record.task_id,
                        record.agent_id,
                        record.content,
                        record.timestamp,
                        record.prev_hash.as_str(),
                        record.hash.as_str(),
                        record.session_id,
                        call.sequence_no,
                    ])
                }
            }
            .expect("an effect");
        }
        self.stored.set(self.stored.get() + calls.len());
        if self.stored.get() >= TRANSACTION {
            self.conn.execute_batch("COMMIT; BEGIN").expect("a transaction");
            self.stored.set(0);
        }
    }

    fn action(&self, call: &Call) {
        self.conn
            .prepare_cached(ACTION)
            .expect("the table")
            .execute(params![
                call.sequence_no,
                call.correlation_id,
                call.boot_id,
                call.request_id,
                call.tool,
                MODE,
                call.args_hash,
                call.at,
                call.enter_ms,
                call.result_hash.as_str(),
                call.exit_no,
                call.prev_hash.as_str(),
                call.row_hash.as_str(),
                call.effect.id(),
            ])
            .expect("a row of the log");
    }

    /// Stores the ends of log and chains, puts everything back as it was and waits until the disk has it.
    pub fn finish(self, history: &History) {
        let Self { conn, path, triggers, .. } = self;
        for Chain { task_id, length, tip_id, tip_hash } in &history.chains {
            conn.prepare_cached(HEAD)
                .expect("the heads")
                .execute(params![task_id, length, tip_id, tip_hash.as_str()])
                .expect("a head");
        }
        let LogEnd { sequence_no, exit_no, row_hash } = history.log;
        let changed = conn.execute(LOG_END, params![sequence_no, exit_no, row_hash.as_str()]);
        assert_eq!(changed.expect("the head"), 1);
        for sql in triggers {
            conn.execute_batch(&sql).expect("a trigger comes back");
        }
        conn.execute_batch("COMMIT; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL")
            .expect("a commit");
        // The mode lasts; everything else was the connection's.
        conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)).expect("a log");
        conn.close().expect("the connection closes");
        File::open(&path).and_then(|file| file.sync_all()).expect("a sync");
        std::fs::remove_file(mark(&path)).expect("the mark goes");
    }
}

/// The file that says that a load is under way.
fn mark(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".loading");
    name.into()
}
