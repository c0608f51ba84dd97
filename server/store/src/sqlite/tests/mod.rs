//! Tests of the store as a whole, against real files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod faults;
mod migrations;
mod opening;
mod processes;
mod rows;
mod sharing;
mod tamper;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use colibri_runtime::chain::TURN_LIMIT;
use colibri_runtime::chain::audit::{EnterEvent, ExitEvent, RowOutcome};
use colibri_runtime::chain::client::{Client, Source};
use colibri_runtime::chain::store::{Access, Store, StoreFault};
use colibri_runtime::kernel::{SystemClock, SystemIds};
use rusqlite::Connection;
use serde_json::Value;

use crate::ServerStore;
use crate::cx::Cx;
use crate::log::rows::AuditFacts;
use crate::log::verify::{ActionsReport, verify_actions};
use crate::migrations::MIGRATIONS;
use crate::params;
use crate::sqlite::open::error::OpenError;
use crate::sqlite::open::process;
use crate::sqlite::open::{Opened, StoreOptions, WAIT, init_db};

/// The time at which every call of these tests happens.
const NOW: &str = "2026-05-01T10:00:00.000Z";

/// Who the calls of these tests come from.
static NOBODY: Client = Client::unnamed(Source::None);

const CALLER: &str = "INSERT INTO callers (boot_id, source, os_user, host, pid, first_seen, sequence_no) \
    VALUES (?1, 'none', 'alice', 'workshop', 1, '2026-05-01T10:00:00.000Z', 0)";

/// A temporary folder, and the database in it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        // Canonical, since the store names its side files so.
        self.folder.path().canonicalize().unwrap().join("colibri.db")
    }

    fn options(&self) -> StoreOptions {
        StoreOptions {
            path: self.path(),
            read_only: false,
            sync: true,
            boot_id: process::boot_id(None, &mut SystemIds::default()),
            process_aborted: "PROCESS_ABORTED",
            now: NOW.to_owned(),
            migrations: MIGRATIONS,
            tail_checks: &[],
            max_pages: None,
            wait: WAIT,
        }
    }

    fn store(&self) -> ServerStore<()> {
        open(&self.options()).unwrap()
    }

    /// Opens a connection as another program would, which does not know Colibri.
    fn foreign(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn context() -> Cx<()> {
    Cx::new(None, Arc::new(SystemClock::default()), Box::new(SystemIds::default()), ())
}

fn detached(boot_id: &str) -> ServerStore<()> {
    ServerStore::new(context(), AuditFacts { mode: "FULL", boot_id: boot_id.to_owned(), boot_start_ms: 90.5 })
}

fn open(options: &StoreOptions) -> Result<ServerStore<()>, OpenError> {
    Ok(attached(init_db(options)?, &options.boot_id))
}

fn attached(opened: Opened, boot_id: &str) -> ServerStore<()> {
    let mut store = detached(boot_id);
    let read_only = opened.read_only.is_some();
    store.attach(opened).unwrap();
    if !read_only {
        // Without a caller no call is taken; the operation that stores it is the server's.
        store.write_at_boot(|db| db.execute(CALLER, params![boot_id])).unwrap();
    }
    store
}

/// Returns the connection of a store, for what the trait does not offer.
fn conn(store: &mut ServerStore<()>) -> &Connection {
    store.cx().db.as_ref().unwrap().sqlite().unwrap()
}

fn number(conn: &Connection, sql: &str) -> i64 {
    conn.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn text(conn: &Connection, sql: &str) -> String {
    conn.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Returns what every call of these tests is entered with, except for its tool.
fn entered(tool: &str) -> EnterEvent<'_> {
    EnterEvent {
        tool,
        args: &Value::Null,
        timestamp: 100.2,
        correlation_id: "00000000-0000-4000-8000-00000000000c",
        request_id: Some("\"call-1\""),
        args_hash: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        trace_context: None,
        entered_at: NOW,
        client: &NOBODY,
    }
}

/// Writes an enter row inside the open transaction.
fn enter(store: &mut ServerStore<()>, tool: &str) -> Result<i64, StoreFault> {
    store.audit_enter(&entered(tool))
}

/// Closes a row of `any_tool` inside the open transaction.
fn exit(store: &mut ServerStore<()>, sequence_no: i64, outcome: RowOutcome) -> Result<(), StoreFault> {
    let failed = outcome != RowOutcome::Ok;
    let hash = "b".repeat(64);
    store.audit_exit(
        sequence_no,
        &entered("any_tool"),
        &ExitEvent {
            tool: "any_tool",
            correlation_id: "",
            duration_ms: 5,
            result: None,
            error: None,
            outcome,
            error_code: failed.then_some("ANY_CODE"),
            error_message: failed.then_some("any \"message\"\n"),
            result_hash: (outcome != RowOutcome::Aborted).then_some(&hash),
            exited_at: "2026-05-01T10:00:00.005Z",
        },
    )
}

/// Waits for its turn and opens a transaction.
fn begin(store: &mut ServerStore<()>) {
    store.wait_turn(TURN_LIMIT).unwrap();
    store.begin(Access::Write).unwrap();
}

/// A whole call, as the chain makes it: two transactions, the queue left after each, one sync.
fn call(store: &mut ServerStore<()>, tool: &str) -> i64 {
    begin(store);
    let sequence_no = enter(store, tool).unwrap();
    store.commit().unwrap();
    store.leave_queue();
    begin(store);
    store.savepoint().unwrap();
    exit(store, sequence_no, RowOutcome::Ok).unwrap();
    store.release().unwrap();
    store.commit().unwrap();
    store.leave_queue();
    store.sync().unwrap();
    sequence_no
}

/// Enters a call and leaves it running.
fn leave_running(store: &mut ServerStore<()>) -> i64 {
    begin(store);
    let sequence_no = enter(store, "any_tool").unwrap();
    store.commit().unwrap();
    store.leave_queue();
    sequence_no
}

/// Checks that the log has no finding, and its length.
fn assert_sound(report: &ActionsReport, closed: i64, running: i64) {
    assert_eq!((report.closed, report.running, &report.finding), (closed, running, &None));
}

fn verify(path: &Path) -> ActionsReport {
    verify_actions(&crate::db::Db::new(Connection::open(path).unwrap())).unwrap()
}
