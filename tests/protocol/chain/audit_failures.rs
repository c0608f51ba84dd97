//! The exit record cannot be stored.

use colibri_test_support::sql::Refused;
use std::sync::Arc;

use colibri::catalogue;
use colibri::lifecycle::server::create_server;
use colibri::tools::Domains;
use colibri_runtime::chain::log::Level;
use colibri_test_support::actions::{action_of, client_calls};
use colibri_test_support::embed::{Lines, Recorder, Wire, block_on, converse, options};
use colibri_test_support::probe::{CATALOGUE, Dispatcher, Probe};
use serde_json::json;

use super::{embedded, failure, probe, ready};

#[test]
fn a_sink_that_fails_at_exit_does_not_change_the_reply() {
    let folder = tempfile::tempdir().unwrap();
    let (sink, lines) = (Recorder::default(), Arc::new(Lines::default()));
    sink.failing_exits.set(1);
    let (wire, streams) = Wire::pair();
    let mut options = options(streams, folder.path());
    options.audit = sink.choice();
    options.log = Some(lines.clone());
    let dispatch = catalogue::Dispatcher(Domains::default());
    let mut server = create_server(&catalogue::CATALOGUE, dispatch, options).unwrap();
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        assert_eq!(wire.call("server_ping", json!({})).await["ok"], true);
        // Waits for the start: before it is over, health is degraded for that reason.
        assert_eq!(wire.call("router_stats", json!({})).await["ok"], true);
        let health = wire.call("server_health", json!({})).await;
        assert_eq!(health["data"]["middleware"]["exit_failures"], 1, "{health}");
        assert_eq!(health["data"]["status"], "ok", "{health}");
        assert_eq!(health["data"]["middleware"]["audit_sink"], "custom", "{health}");
    }));
    let errors: Vec<_> = lines.taken().into_iter().filter(|(level, _)| *level == Level::Error).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn an_exit_row_that_is_refused_takes_the_effects_with_it() {
    let mut server = ready(probe());
    server.sql().refuse(Refused::Exits("probe_write"));
    let envelope = server.call("probe_write", json!({ "key": "k" }));
    assert_eq!(failure(&envelope), ("HANDLER_ERROR", "STORE_COMMIT_FAILED: constraint failed"));
    let conn = server.sql();
    assert_eq!(conn.query_row("SELECT count(*) FROM probe", [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    assert_eq!(action_of(&conn, "probe_write").end(), ("running", None));
    // It stays open as long as the store refuses, and other calls go on.
    assert_eq!(server.data("probe_status", json!({}))["exit_failures"], 1);
    assert_eq!(action_of(&conn, "probe_write").end(), ("running", None));
    conn.allow();
    server.data("probe_status", json!({}));
    assert_eq!(action_of(&conn, "probe_write").end(), ("error", Some("STORE_COMMIT_FAILED")));
}

#[test]
fn a_network_tools_pending_exit_is_closed_before_the_next_call_enters() {
    let mut server = ready(probe());
    server.sql().refuse(Refused::Exits("probe_network"));
    // What happened outside cannot be undone: the reply is the handler's.
    assert_eq!(server.data("probe_network", json!({ "ms": 1 }))["waited_ms"], 1);
    let conn = server.sql();
    assert_eq!(action_of(&conn, "probe_network").end(), ("running", None));

    for _ in 0..2 {
        let envelope = server.call("probe_write", json!({ "key": "k" }));
        let (code, message) = failure(&envelope);
        assert_eq!(code, "AUDIT_ENTER_FAILED", "{message}");
        assert_eq!(action_of(&conn, "probe_network").end(), ("running", None));
    }
    assert_eq!(conn.query_row("SELECT count(*) FROM probe", [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    assert_eq!(client_calls(&conn).len(), 2, "refused calls have no rows");

    conn.allow();
    // One record was pending all the while, not one for each refused call.
    assert_eq!(server.data("probe_status", json!({}))["exit_failures"], 1);
    let (pending, next) = (action_of(&conn, "probe_network"), action_of(&conn, "probe_status"));
    assert_eq!(pending.end(), ("ok", None));
    assert!(pending.exit_no < next.exit_no && pending.sequence_no < next.sequence_no, "{pending:?} {next:?}");
    server.data("probe_write", json!({ "key": "k" }));
}

#[test]
fn a_handlers_failure_is_not_masked_by_a_failing_exit() {
    let mut server = ready(probe());
    server.sql().refuse(Refused::Exits("probe_fail_a"));
    let envelope = server.call("probe_fail_a", json!({ "round": 7 }));
    assert_eq!(failure(&envelope), ("HANDLER_ERROR", "ROUND_NOT_FOUND: 7"));
    assert_eq!(action_of(&server.sql(), "probe_fail_a").end(), ("running", None));

    let sink = Recorder::default();
    sink.failing_exits.set(1);
    let (mut server, wire, _folder) = embedded(&CATALOGUE, Dispatcher(Probe), &sink);
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        let envelope = wire.call("probe_fail_a", json!({ "round": 7 })).await;
        assert_eq!(failure(&envelope), ("HANDLER_ERROR", "ROUND_NOT_FOUND: 7"));
    }));
}
