//! What a running process says of itself, and what others see of it.

use colibri::catalogue::CATALOGUE;
use colibri::migrations::MIGRATIONS;
use colibri_store::sqlite::open::migrate::latest;
use colibri_test_support::actions::{await_running, client_calls};
use colibri_test_support::sqlite_only;
use serde_json::json;

use super::{colibri, probe};

#[test]
fn health_tells_of_the_server_and_its_database() {
    sqlite_only!("it shows the path and the journal of a file");
    let mut server = colibri().start();
    server.ready_by("task_list", json!({}));
    let health = server.data("server_health", json!({}));
    let tables: i64 = server
        .sql()
        .sqlite()
        .query_row(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let newest = latest(MIGRATIONS);
    assert!(health["uptime_ms"].as_u64().is_some(), "{health}");
    let mut shown = health.clone();
    shown["uptime_ms"] = json!(0);
    let stages = ["tool-lock", "schema-validate", "audit-enter", "dispatch", "audit-exit"];
    let expected = json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_ms": 0,
        "db_tables": tables,
        "phase": "phase2",
        "mode": "FULL",
        "database": {
            "status": "open",
            "path": server.database().display().to_string(),
            "read_only": false,
            "journal_mode": "wal",
            "schema_version": newest,
            "latest_schema_version": newest,
            "error": null,
        },
        "middleware": {
            "ready": true,
            "stages": stages,
            "audit_sink": "sqlite",
            "last_sequence_no": 3,
            "exit_failures": 0,
            "queue_depth": 0,
        },
        "tool_count": CATALOGUE.tools.len(),
        "skill_count": 0,
        "admitted_tool_count": CATALOGUE.tools.len(),
        "capabilities": {
            "canWriteDatabase": true,
            "canAcceptMCPConnections": true,
            "canDispatchExternalIO": true,
            "canRunIntegrationTests": false,
        },
    });
    assert_eq!(shown, expected);
}

#[test]
fn a_running_call_is_visible_to_other_connections() {
    let mut server = probe().start();
    server.ready_by("probe_echo", json!({ "required": "x" }));
    let id = server.send_call("probe_sleep", json!({ "ms": 500 }));
    let open = await_running(&server, "probe_sleep");
    assert_eq!((open.sequence_no, &open.result_hash, open.exit_no), (3, &None, None), "{open:?}");
    assert_eq!(server.receive()["id"], json!(id));
    let rows = client_calls(&server.sql());
    assert_eq!(rows.len(), 2);
    let closed = &rows[1];
    assert_eq!((closed.sequence_no, closed.end()), (open.sequence_no, ("ok", None)));
    assert!(closed.result_hash.is_some() && closed.duration_ms.is_some_and(|ms| ms >= 500), "{closed:?}");
}
