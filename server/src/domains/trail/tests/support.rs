//! A migrated database in memory, and a trail in it.

use std::path::Path;

use crate::domains::proof::Session;
use crate::domains::proof::service::{Sealing, finalize_session, start_audit_session};
use crate::domains::trail::service::{NewThought, Stamp, create_thought_record};
use crate::migrations::MIGRATIONS;
use colibri_proof::record::{ThoughtRecord, ThoughtType};
use colibri_runtime::progress::Progress;
use colibri_store::db::{Db, Value};
use colibri_store::sqlite::open::migrate::migrate;
use rusqlite::Connection;

pub const NOW: &str = "2026-05-01T10:00:00.000Z";

/// A database in memory with every migration applied and the pragmas of store#settings.
pub fn database() -> Db {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON").unwrap();
    migrate(&connection, MIGRATIONS, Path::new(":memory:")).unwrap();
    Db::new(connection)
}

/// The id of the record of that number.
pub fn id(number: usize) -> String {
    format!("00000000-0000-7000-8000-{number:012}")
}

/// The content of the record of that number.
pub fn content(number: usize) -> String {
    format!("step {number}: what was thought")
}

pub fn new_thought(task_id: &str, content: String, session_id: Option<&str>) -> NewThought {
    NewThought {
        kind: ThoughtType::Analysis,
        task_id: task_id.to_owned(),
        agent_id: "a1".to_owned(),
        content,
        session_id: session_id.map(str::to_owned),
    }
}

/// Appends record `number` to a task.
pub fn think(db: &Db, task_id: &str, number: usize, session_id: Option<&str>) -> ThoughtRecord {
    let stamp = Stamp { id: id(number), now: NOW.to_owned(), sequence_no: None };
    create_thought_record(db, stamp, new_thought(task_id, content(number), session_id)).unwrap()
}

/// Appends the records 1 to `count` to task `T`.
pub fn chain(db: &Db, count: usize, session_id: Option<&str>) {
    for number in 1..=count {
        think(db, "T", number, session_id);
    }
}

pub fn start(db: &Db, session_id: &str) {
    let session = Session {
        session_id: session_id.to_owned(),
        intent: "test".to_owned(),
        task_id: None,
        started_at: NOW.to_owned(),
    };
    start_audit_session(db, &session, None).unwrap();
}

pub fn seal(db: &Db, session_id: &str) {
    let progress = Progress::default();
    let sealing = Sealing { now: NOW, sequence_no: None, key: None, feed: None, progress: &progress };
    finalize_session(db, session_id, &sealing).unwrap();
}

/// All rows of the trail, value by value.
pub fn dump(db: &Db) -> Vec<Vec<String>> {
    let rows = |sql: &str| {
        db.query_all(sql, &[], |row| {
            Ok((0..)
                .map_while(|column| row.get::<Value>(column).ok())
                .map(|value| format!("{value:?}"))
                .collect())
        })
        .unwrap()
    };
    let mut all: Vec<Vec<String>> = rows("SELECT * FROM thought_records ORDER BY seq");
    all.extend(rows("SELECT * FROM trail_heads ORDER BY task_id"));
    all
}

/// Takes the guards away.
pub fn disarm(db: &Db) {
    for trigger in ["trg_thought_frozen", "trg_thought_zone_forward"] {
        db.execute(&format!("DROP TRIGGER {trigger}"), &[]).unwrap();
    }
    db.execute("PRAGMA ignore_check_constraints = ON", &[]).unwrap();
}
