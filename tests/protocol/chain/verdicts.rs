//! Calls that do not reach a handler, and handlers that fail.

use colibri_runtime::chain::audit::RowOutcome;
use colibri_test_support::actions::{action_of, actions, client_calls};
use colibri_test_support::client::envelope;
use colibri_test_support::embed::{Recorder, Seen, Spy, Wire, block_on, converse};
use colibri_test_support::probe::{CATALOGUE, Dispatcher, Probe};
use colibri_test_support::sql::Refused;
use serde_json::json;

use super::{embedded, failure, probe, ready, send_batch};

#[test]
fn invalid_arguments_are_audited_once_and_never_dispatched() {
    let sink = Recorder::default();
    let (spy, ran) = Spy::new(Dispatcher(Probe));
    let (mut server, wire, _folder) = embedded(&CATALOGUE, spy, &sink);
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        let envelope = wire.call("probe_echo", json!({})).await;
        assert_eq!(failure(&envelope).0, "INVALID_PARAMS");
    }));
    assert_eq!(ran.get(), 0);
    match sink.seen().as_slice() {
        [
            Seen::Enter(tool, arguments, entered),
            Seen::Exit { correlation_id, result: None, error: Some((code, _)), outcome, .. },
        ] => {
            assert_eq!((tool.as_str(), arguments), ("probe_echo", &json!({})));
            assert_eq!(entered, correlation_id);
            assert_eq!((code.as_str(), *outcome), ("INVALID_PARAMS", RowOutcome::Invalid));
        }
        other => panic!("one enter and one exit, not {other:?}"),
    }

    let mut server = probe().start();
    server.call("probe_echo", json!({}));
    let row = action_of(&server.sql(), "probe_echo");
    assert_eq!(row.end(), ("invalid", Some("INVALID_PARAMS")));
}

#[test]
fn a_panicking_handler_is_answered_and_the_server_goes_on() {
    let mut server = probe().start();
    let envelope = server.call("probe_fault", json!({ "text": "the inner reason", "panic": true }));
    assert_eq!(failure(&envelope), ("HANDLER_ERROR", "handler panicked"));
    let envelope = server.call("probe_network", json!({ "ms": 1, "then": "panic" }));
    assert_eq!(failure(&envelope), ("HANDLER_ERROR", "handler panicked"));
    server.data("probe_status", json!({}));
    assert_eq!(action_of(&server.sql(), "probe_fault").end(), ("error", Some("HANDLER_ERROR")));
    let ended = server.finish();
    assert!(ended.stderr.contains("the inner reason"), "the panic's text is logged: {}", ended.stderr);
    assert_eq!((ended.code(), ended.rest.len()), (0, 0));
}

#[test]
fn failed_calls_leave_their_exit_row_and_nothing_else() {
    let mut server = ready(probe());
    let ends = ["ok", "error", "ok", "fault", "panic", "ok"];
    let calls: Vec<_> = ends
        .iter()
        .enumerate()
        .map(|(i, then)| ("probe_write", json!({ "key": format!("{i}"), "then": then })))
        .collect();
    send_batch(&mut server, &calls);
    let replies: Vec<_> = ends.iter().map(|_| envelope(&server.receive())).collect();
    assert_eq!(replies[1]["data"]["error"]["code"], "ERR_ASKED_FOR", "{}", replies[1]);
    assert_eq!(failure(&replies[3]), ("HANDLER_ERROR", "3"));
    assert_eq!(failure(&replies[4]), ("HANDLER_ERROR", "handler panicked"));
    // Later calls of the batch see what earlier ones left: one row, then two, then three.
    for (place, rows) in [(0, 1), (2, 2), (5, 3)] {
        assert_eq!(replies[place]["data"]["rows"], rows, "{place}");
    }
    let conn = server.sql();
    let mut keys = conn.prepare("SELECT key FROM probe ORDER BY key").unwrap();
    let keys: Vec<String> = keys.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(keys, ["0", "2", "5"]);
    let outcomes: Vec<String> =
        actions(&conn).into_iter().filter(|row| row.tool == "probe_write").map(|row| row.outcome).collect();
    assert_eq!(outcomes, ["ok", "domain_error", "ok", "error", "error", "ok"]);
}

#[test]
fn an_unknown_tool_is_a_protocol_error_with_a_row() {
    let mut server = super::colibri().start();
    let answer = server.request("tools/call", json!({ "name": "task_delete" }));
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["message"], "Unknown tool: task_delete");
    let error = json!({ "code": "UNKNOWN_TOOL", "message": "Unknown tool: task_delete", "remedy": "Call tools/list for the names." });
    assert_eq!(answer["error"]["data"], json!({ "ok": false, "error": error }));
    let row = action_of(&server.sql(), "task_delete");
    assert_eq!(row.end(), ("denied", Some("UNKNOWN_TOOL")));
    let hash = "efa6d3e71c49f49740043cbe03720354a921be97df1ae61eabfb644c780c7e6e";
    assert_eq!(row.result_hash.as_deref(), Some(hash));

    // The row keeps 128 characters (not bytes) of it, the reply as much as any message.
    let (long, kept) = ("ö".repeat(10_000), "ö".repeat(128));
    let answer = server.request("tools/call", json!({ "name": long }));
    assert_eq!(answer["error"]["message"], format!("Unknown tool: {long}"));
    let stored = actions(&server.sql()).pop().unwrap();
    assert_eq!(stored.tool, kept);
}

#[test]
fn a_call_that_cannot_be_entered_is_not_run_and_exits_once() {
    let sink = Recorder::default();
    sink.failing_enters.set(1);
    let (spy, ran) = Spy::new(Dispatcher(Probe));
    let (mut server, wire, _folder) = embedded(&CATALOGUE, spy, &sink);
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        let envelope = wire.call("probe_echo", json!({ "required": "x" })).await;
        assert_eq!(
            failure(&envelope),
            (
                "AUDIT_ENTER_FAILED",
                "the call could not be entered in the audit log, so it was not run: refused by test"
            )
        );
        assert_eq!(ran.get(), 0);
        assert_eq!(wire.call("probe_echo", json!({ "required": "x" })).await["ok"], true);
    }));
    let exits = sink.seen().iter().filter(|seen| matches!(seen, Seen::Exit { .. })).count();
    assert_eq!((ran.get(), sink.seen().len(), exits), (1, 4, 2));

    // The store's own sink: the enter row is refused by a trigger.
    let mut server = ready(probe());
    server.sql().refuse(Refused::Enters("probe_write"));
    let envelope = server.call("probe_write", json!({ "key": "k" }));
    assert_eq!(
        failure(&envelope),
        (
            "AUDIT_ENTER_FAILED",
            "the call could not be entered in the audit log, so it was not run: constraint failed"
        )
    );
    let conn = server.sql();
    assert_eq!(conn.query_row("SELECT count(*) FROM probe", [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    assert!(client_calls(&conn).iter().all(|row| row.tool == "probe_echo"));
}
