//! The least that storing a call can cost: its rows in one transaction, and one sync of a log that need not grow. No
//! protocol, no validation, no hashing. The file is one that Colibri made, so tables, indexes, triggers and page size are
//! its own. What a call writes is stated in the statements below, and held against a row that Colibri wrote.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use rusqlite::types::{Type, Value};
use rusqlite::{Connection, OpenFlags, params};

use crate::target::Setting;

const ENTER: &str = "INSERT OR FAIL INTO actions (correlation_id, boot_id, request_id, tool, mode, args_hash, \
     trace_context, entered_at, enter_ms) VALUES (?1, ?2, ?3, 'task_create', 'FULL', ?4, NULL, ?5, ?6)";
const TASK: &str = "INSERT INTO tasks (id, project_id, title, description, status, priority, assignee, created_at, \
     updated_at, sequence_no) VALUES (?1, 'bench', ?2, NULL, 'INIT', 'high', NULL, ?3, ?3, ?4)";
const EXIT: &str = "UPDATE OR FAIL actions SET outcome = 'ok', result_hash = ?2, duration_ms = 0, exited_at = ?3, exit_no = ?4, \
     prev_hash = ?5, row_hash = ?6, subject = ?7 WHERE sequence_no = ?1";
const HEAD: &str = "UPDATE OR FAIL actions_head SET last_sequence_no = ?1, last_exit_no = ?2, last_row_hash = ?3 \
     WHERE id = 1";

/// Commits that make the log as long as it will be.
const GROWTH: usize = 1000;
/// After so many commits the log is begun anew, outside of what is measured.
const PER_LAP: usize = GROWTH / 2;

/// A connection that stores calls without a server.
pub struct Bare {
    conn: Connection,
    log: Option<File>,
    boot_id: String,
    sequence_no: i64,
    exit_no: i64,
    since_restart: usize,
}

/// What one commit took, in microseconds.
pub struct Lap {
    /// From `BEGIN` to `COMMIT`.
    pub commit_us: f64,
    /// The sync.
    pub sync_us: f64,
}

impl Bare {
    /// On a file that Colibri has made, with one task in it, and has closed.
    pub fn open(database: &Path, setting: Setting) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(database, flags).expect("the file that Colibri made");
        conn.set_prepared_statement_cache_capacity(32);
        // Set as in the server; the log is checkpointed outside the measurement.
        for (pragma, value) in [
            ("foreign_keys", "ON"),
            ("recursive_triggers", "ON"),
            ("synchronous", "NORMAL"),
            ("wal_autocheckpoint", "0"),
        ] {
            conn.pragma_update(None, pragma, value).expect("a pragma");
        }
        let head = "SELECT last_sequence_no, last_exit_no FROM actions_head";
        let (sequence_no, exit_no) =
            conn.query_row(head, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("a head");
        let boot_id = "SELECT boot_id FROM actions LIMIT 1";
        let boot_id = conn.query_row(boot_id, [], |row| row.get(0)).expect("a call");
        let mut bare = Self { conn, log: None, boot_id, sequence_no, exit_no, since_restart: 0 };
        bare.commit();
        if setting == Setting::Disk {
            let mut log = database.as_os_str().to_owned();
            log.push("-wal");
            bare.log = Some(File::options().read(true).write(true).open(log).expect("the log"));
        }
        for _ in 0..GROWTH {
            bare.store();
        }
        bare.restart();
        bare.assert_same_rows();
        bare
    }

    /// Stores one call.
    pub fn store(&mut self) -> Lap {
        let began = Instant::now();
        self.commit();
        let commit_us = began.elapsed().as_secs_f64() * 1e6;
        let began = Instant::now();
        if let Some(log) = &self.log {
            log.sync_data().expect("a sync");
        }
        Lap { commit_us, sync_us: began.elapsed().as_secs_f64() * 1e6 }
    }

    /// Begins the log anew if the next calls could make it longer than it is.
    pub fn rest(&mut self, next: usize) {
        if self.since_restart + next > PER_LAP {
            self.restart();
        }
    }

    fn restart(&mut self) {
        let busy: i64 = self
            .conn
            .query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get(0))
            .expect("a checkpoint");
        assert_eq!(busy, 0, "somebody else reads the file");
        self.since_restart = 0;
    }

    fn commit(&mut self) {
        self.sequence_no += 1;
        self.exit_no += 1;
        self.since_restart += 1;
        let (number, now) = (self.sequence_no, instant(self.sequence_no));
        let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            self.conn
                .prepare_cached(sql)
                .and_then(|mut statement| statement.execute(values))
                .expect("a statement");
        };
        let (id, correlation_id) = (uuid(number, 7), uuid(number.wrapping_mul(0x9E37_79B9), 4));
        let [args, result, previous, hash] = [1, 2, 3, 4].map(|salt| digest(number, salt));
        run("BEGIN IMMEDIATE", &[]);
        run(ENTER, params![correlation_id, self.boot_id, number.to_string(), args, now, number]);
        run(TASK, params![id, format!("Task {number}"), now, number]);
        run(EXIT, params![number, result, now, self.exit_no, previous, hash, id]);
        run(HEAD, params![number, self.exit_no, hash]);
        run("COMMIT", &[]);
    }

    /// Holds the last call's rows against those of Colibri's: each column of the same type, texts about as long. A
    /// column that is new, or no longer written, is found here.
    fn assert_same_rows(&self) {
        for (table, own) in [
            ("tasks", "sequence_no = (SELECT min(sequence_no) FROM tasks)"),
            ("actions", "sequence_no = (SELECT min(sequence_no) FROM tasks)"),
        ] {
            let last = format!("sequence_no = {}", self.sequence_no);
            let rows = [own, last.as_str()].map(|which| self.row(table, which));
            for ((column, theirs), (_, ours)) in rows[0].iter().zip(&rows[1]) {
                let same =
                    theirs.data_type() == ours.data_type() && length(theirs).abs_diff(length(ours)) <= 8;
                assert!(same, "{table}.{column}: Colibri writes {theirs:?}, the bare commit {ours:?}");
            }
        }
    }

    fn row(&self, table: &str, which: &str) -> Vec<(String, Value)> {
        let mut statement =
            self.conn.prepare(&format!("SELECT * FROM {table} WHERE {which}")).expect("a table");
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let read = |row: &rusqlite::Row<'_>| {
            names.iter().enumerate().map(|(at, name)| Ok((name.clone(), row.get(at)?))).collect()
        };
        statement.query_row([], read).expect("a row")
    }
}

fn length(value: &Value) -> usize {
    match (value.data_type(), value) {
        (Type::Text, Value::Text(text)) => text.len(),
        _ => 0,
    }
}

/// 64 hex characters that look like a digest.
fn digest(number: i64, salt: i64) -> String {
    let word =
        number.wrapping_mul(0x1234_5678_9ABC_DEF1).rotate_left(17) ^ salt.wrapping_mul(0x0FED_CBA9_8765_4321);
    format!("{word:016x}").repeat(4)
}

/// A UUID: of version 7 they rise with the number, as a server's do.
fn uuid(number: i64, version: u8) -> String {
    let number = number.cast_unsigned();
    let scattered = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let first = if version == 7 { 0x0199_0000_0000 + number } else { scattered >> 16 };
    let first = format!("{first:012x}");
    let tail = format!("{:012x}", scattered & 0xFFFF_FFFF_FFFF);
    format!(
        "{}-{}-{version}{:03x}-8{:03x}-{tail}",
        &first[..8],
        &first[8..],
        scattered >> 52,
        scattered & 0xFFF
    )
}

/// A time stamp: milliseconds after a fixed instant.
fn instant(ms: i64) -> String {
    let (seconds, ms) = (ms / 1000, ms % 1000);
    let (day, hour, minute, second) =
        (1 + seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("2027-01-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}
