//! Tests of the system tools on a hand-made context.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use colibri_runtime::handler::{CallStatus, Context, STAGES};
use colibri_runtime::kernel::{Clock, SystemIds};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::catalogue::{ServerHealthInput, ServerPingInput, SystemTools};
use crate::domains::system::facts::{DatabaseState, DatabaseStatus, Phase, SystemFacts};
use crate::settings::config::Config;
use crate::settings::mode::Mode;
use crate::tools::Domains;
use crate::tools::cx::{Cx, Parts};
use colibri_store::db::Db;

struct At(f64);

impl Clock for At {
    fn monotonic_ms(&self) -> f64 {
        self.0
    }
    fn wall_ms(&self) -> i64 {
        0
    }
}

/// Boot at 1.2, now 1284.7, as in chain#system-tools.
fn context(mode: Mode, phase: Phase, status: DatabaseStatus, database: Option<&str>) -> Cx {
    let mut config = Config::for_tests("data/colibri.db");
    config.mode = mode;
    let skipped = status == DatabaseStatus::Skipped;
    let facts = SystemFacts {
        version: "9.9.9-test".into(),
        boot_start_ms: 1.2,
        phase,
        database: DatabaseState {
            status,
            path: (!skipped).then(|| "data/colibri.db".into()),
            read_only: false,
            latest_schema_version: 5,
        },
        tool_count: 7,
        admitted_tool_count: 7,
    };
    let db = database.map(|sql| {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(sql).unwrap();
        Db::new(conn)
    });
    let parts = Parts::new(Arc::new(config), facts);
    Cx::new(db, Arc::new(At(1284.7)), Box::new(SystemIds::default()), parts)
}

fn health(cx: &mut Cx) -> Value {
    serde_json::to_value(Domains::default().server_health(cx, ServerHealthInput {}).unwrap()).unwrap()
}

#[test]
fn ping_shows_version_mode_and_uptime() {
    let mut cx = context(Mode::Readonly, Phase::Phase1, DatabaseStatus::Opening, None);
    let output = Domains::default().server_ping(&mut cx, ServerPingInput {}).unwrap();
    let expected = json!({ "version": "9.9.9-test", "mode": "READONLY", "uptime_ms": 1283 });
    assert_eq!(serde_json::to_value(output).unwrap(), expected);
}

#[test]
fn health_reports_context_and_database() {
    let sql = "CREATE TABLE a (n); CREATE TABLE b (n); PRAGMA user_version = 5;";
    let mut cx = context(Mode::Full, Phase::Phase2, DatabaseStatus::Open, Some(sql));
    cx.begin_call(CallStatus {
        sequence_no: Some(12),
        entered_ms: Some(0),
        ready: true,
        audit_sink: "sqlite",
        exit_failures: 1,
        queue_depth: 2,
    });
    let expected = json!({
        "status": "ok",
        "version": "9.9.9-test",
        "uptime_ms": 1283,
        "db_tables": 2,
        "phase": "phase2",
        "mode": "FULL",
        "database": {
            "status": "open",
            "path": "data/colibri.db",
            "read_only": false,
            "journal_mode": "memory",
            "schema_version": 5,
            "latest_schema_version": 5,
            "error": null,
        },
        "middleware": {
            "ready": true,
            "stages": STAGES,
            "audit_sink": "sqlite",
            "last_sequence_no": 12,
            "exit_failures": 1,
            "queue_depth": 2,
        },
        "tool_count": 7,
        "skill_count": 0,
        "admitted_tool_count": 7,
        "capabilities": {
            "canWriteDatabase": true,
            "canAcceptMCPConnections": true,
            "canDispatchExternalIO": true,
            "canRunIntegrationTests": false,
        },
    });
    assert_eq!(health(&mut cx), expected);
}

#[test]
fn a_database_that_does_not_answer_degrades_health_but_not_the_call() {
    let mut cx = context(Mode::Full, Phase::Phase2, DatabaseStatus::Open, None);
    let report = health(&mut cx);
    assert_eq!(report["status"], "degraded");
    assert_eq!(report["db_tables"], 0);
    assert_eq!(report["database"]["status"], "error");
    assert_eq!(report["database"]["error"], "database is not initialised");
}

#[test]
fn starting_up_is_degraded_and_having_no_database_is_not() {
    let starting = json!("the server is still starting; ask again");
    let cases = [
        (Mode::Full, DatabaseStatus::Opening, false, "opening", json!("data/colibri.db")),
        (Mode::Minimal, DatabaseStatus::Skipped, false, "skipped", Value::Null),
        (Mode::Minimal, DatabaseStatus::Skipped, true, "skipped", Value::Null),
    ];
    for (mode, status, ready, word, path) in cases {
        let mut cx = context(mode, Phase::Phase1, status, None);
        cx.begin_call(CallStatus { ready, ..cx.status() });
        let report = health(&mut cx);
        assert_eq!(report["status"], if ready { "ok" } else { "degraded" }, "{word}");
        assert_eq!(report["database"]["error"], if ready { Value::Null } else { starting.clone() }, "{word}");
        assert_eq!(report["database"]["status"], word);
        assert_eq!(report["database"]["path"], path);
        assert_eq!(report["database"]["journal_mode"], Value::Null);
    }
}

#[test]
fn an_embedders_own_sink_is_called_custom() {
    let mut cx = context(Mode::Full, Phase::Phase1, DatabaseStatus::Opening, None);
    for (kind, shown) in [("memory", "memory"), ("their-own", "custom")] {
        cx.begin_call(CallStatus { audit_sink: kind, ..cx.status() });
        assert_eq!(health(&mut cx)["middleware"]["audit_sink"], shown);
    }
}

/// The store closes such rows before it knows a catalogue.
#[test]
fn the_row_of_a_dead_process_has_the_catalogues_message() {
    assert_eq!(
        colibri_store::log::rows::ABORTED_MESSAGE,
        crate::catalogue::CATALOGUE.codes.process_aborted.message
    );
}
