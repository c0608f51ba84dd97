//! Order, liveness, back-pressure and cancellation.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use colibri_test_support::actions::{action_of, actions, await_running, client_calls};
use colibri_test_support::client::{Server, envelope};
use colibri_test_support::embed::{Recorder, Seen, Wire, block_on, converse};
use colibri_test_support::probe::{CATALOGUE, Dispatcher, Probe};
use serde_json::{Value, json};

use super::{embedded, probe, ready, send_batch};
use crate::stdio::run::{call, exit_code, spawn};

fn cancel(server: &mut Server, id: u64) {
    server.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
    );
}

#[test]
fn a_handler_starts_after_the_exit_of_the_one_before() {
    let sink = Recorder::default();
    let (mut server, wire, _folder) = embedded(&CATALOGUE, Dispatcher(Probe), &sink);
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        for (tool, arguments) in [
            ("probe_sleep", json!({ "ms": 200 })),
            ("probe_echo", json!({ "required": "x" })),
            ("probe_status", json!({})),
            ("probe_status", json!({})),
        ] {
            wire.send_call(tool, arguments).await;
        }
        for _ in 0..4 {
            wire.receive().await;
        }
    }));
    let seen = sink.seen();
    assert_eq!(seen.len(), 8);
    for pair in seen.chunks(2) {
        match pair {
            [Seen::Enter(_, _, entered), Seen::Exit { correlation_id, .. }] => {
                assert_eq!(entered, correlation_id)
            }
            other => panic!("an enter and its exit, not {other:?}"),
        }
    }
}

#[test]
fn a_batch_enters_before_it_exits_and_in_one_order() {
    let mut server = ready(probe());
    let calls = [("probe_sleep", json!({ "ms": 2_000 })), ("probe_echo", json!({ "required": "x" }))];
    send_batch(&mut server, &calls);
    await_running(&server, "probe_sleep");
    let open: Vec<_> =
        client_calls(&server.sql()).into_iter().skip(1).map(|row| (row.tool, row.outcome)).collect();
    let expected = [("probe_sleep", "running"), ("probe_echo", "running")];
    assert_eq!(open, expected.map(|(tool, outcome)| (tool.to_owned(), outcome.to_owned())));
    assert_eq!((server.receive()["id"].clone(), server.receive()["id"].clone()), (json!(0), json!(1)));
    let exits: Vec<_> = actions(&server.sql()).into_iter().map(|row| row.exit_no).collect();
    assert_eq!(exits, [Some(1), Some(2), Some(3), Some(4)]);
}

#[test]
fn the_server_answers_while_a_network_call_waits() {
    let mut server = ready(probe());
    server.send_call("probe_network", json!({ "ms": 600_000 }));
    await_running(&server, "probe_network");
    let tool = json!({ "name": "probe_status", "arguments": {} });
    for (method, params) in [("ping", json!({})), ("tools/list", json!({})), ("tools/call", tool)] {
        // The best of several: what is measured is the server, not the machine's other work.
        let best = (0..10)
            .map(|_| {
                let began = Instant::now();
                server.request(method, params.clone());
                began.elapsed()
            })
            .min();
        assert!(best.is_some_and(|best| best < Duration::from_millis(50)), "{method}: {best:?}");
    }
}

/// Takes answers until all have come; the ids that were told the server is busy, the others' ids.
fn split_busy(server: &mut Server, count: usize) -> (Vec<Value>, Vec<Value>) {
    let (mut busy, mut served) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let answer = server.receive();
        if answer.get("error").is_some() {
            assert_eq!(answer["error"]["code"], -32000, "{answer}");
            assert_eq!(answer["error"]["message"], "Server busy", "{answer}");
            busy.push(answer["id"].clone());
        } else {
            served.push(answer["id"].clone());
        }
    }
    (busy, served)
}

#[test]
fn no_more_than_1024_calls_wait_for_a_network_tool() {
    let mut server = ready(probe());
    server.send_call("probe_network", json!({ "ms": 600_000 }));
    await_running(&server, "probe_network");
    let ids: Vec<u64> =
        (0..1026).map(|_| server.send_call("probe_network", json!({ "ms": 600_000 }))).collect();
    let (busy, _) = split_busy(&mut server, 2);
    assert_eq!(busy, [json!(ids[1024]), json!(ids[1025])]);
    assert_eq!(server.data("probe_status", json!({}))["queue_depth"], 1024);
}

#[test]
fn no_more_than_1024_calls_wait_at_the_gate() {
    let mut server = probe().env("PROBE_OPEN_DELAY_MS", "4000").start();
    let ids: Vec<u64> =
        (0..1026).map(|_| server.send_call("probe_echo", json!({ "required": "x" }))).collect();
    let (busy, served) = split_busy(&mut server, 1026);
    assert_eq!(busy, [json!(ids[1024]), json!(ids[1025])]);
    assert_eq!(served, ids[..1024].iter().map(|id| json!(id)).collect::<Vec<_>>());
    assert_eq!(client_calls(&server.sql()).len(), 1024);
}

/// More is waiting to be written than the server keeps, so it does nothing else until that has left: and then it never leaves.
#[test]
fn a_client_that_goes_before_the_gate_opens_leaves_no_server_behind() {
    let launch = probe().env("PROBE_OPEN_DELAY_MS", "3000");
    let mut child = spawn(&launch, Stdio::piped(), Stdio::piped(), Stdio::null());
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = call(0, "probe_status", json!({}));
    lines.extend((1..120_000).map(|id| call(id, "probe_echo", json!({ "required": "x" }))));
    let writing = std::thread::spawn(move || {
        // The server stops reading before the end, and is gone at the end.
        let _cut_off = stdin.write_all(lines.as_bytes());
    });
    std::thread::sleep(Duration::from_millis(1500));
    drop(child.stdout.take());
    let code = exit_code(&mut child);
    writing.join().unwrap();
    assert_eq!(code, 1, "replies are lost");
}

#[test]
fn a_cancelled_waiting_call_leaves_no_trace() {
    let mut server = ready(probe());
    server.send_call("probe_network", json!({ "ms": 600_000 }));
    await_running(&server, "probe_network");
    let waiting = server.send_call("probe_network", json!({ "ms": 1 }));
    assert_eq!(server.data("probe_status", json!({}))["queue_depth"], 1);
    cancel(&mut server, waiting);
    assert_eq!(server.data("probe_status", json!({}))["queue_depth"], 0);
    // Read together with its call, a cancellation comes before the enter row.
    let call = json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/call",
        "params": { "name": "probe_write", "arguments": { "key": "k" } } });
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 900 } });
    server.send_bytes(format!("{call}\n{cancelled}\n").as_bytes());
    server.data("probe_echo", json!({ "required": "x" }));
    let conn = server.sql();
    action_of(&conn, "probe_network");
    assert!(actions(&conn).iter().all(|row| row.tool != "probe_write"));
}

#[test]
fn a_cancelled_call_at_the_gate_is_not_run() {
    let mut server = probe().env("PROBE_OPEN_DELAY_MS", "2000").start();
    let cancelled = server.send_call("probe_write", json!({ "key": "k" }));
    cancel(&mut server, cancelled);
    server.data("probe_echo", json!({ "required": "x" }));
    assert!(client_calls(&server.sql()).iter().all(|row| row.tool == "probe_echo"));
}

#[test]
fn a_network_call_in_flight_is_aborted() {
    let mut server = ready(probe());
    let flying = server.send_call("probe_network", json!({ "ms": 600_000 }));
    await_running(&server, "probe_network");
    cancel(&mut server, flying);
    // No answer to the cancelled one: the next answer is the next call's, and the tool's lock is free.
    assert_eq!(server.data("probe_network", json!({ "ms": 1 }))["waited_ms"], 1);
    let rows = client_calls(&server.sql());
    let aborted = &rows[1];
    assert_eq!(aborted.end(), ("aborted", Some("CANCELLED")), "{aborted:?}");
    assert_eq!((&aborted.result_hash, aborted.duration_ms), (&None, None));
}

#[test]
fn any_other_running_call_is_answered_all_the_same() {
    let mut server = ready(probe());
    let running = server.send_call("probe_sleep", json!({ "ms": 300 }));
    await_running(&server, "probe_sleep");
    cancel(&mut server, running);
    let answer = server.receive();
    assert_eq!((&answer["id"], &envelope(&answer)["ok"]), (&json!(running), &json!(true)));
    let running = server.send_call("probe_scan", json!({ "ms": 300 }));
    cancel(&mut server, running);
    // Read together with its call the scan is dropped; running, it is answered. Either way the server goes on.
    server.send_call("probe_status", json!({}));
    let mut answer = server.receive();
    if answer["id"] == json!(running) {
        answer = server.receive();
    }
    assert_eq!(envelope(&answer)["data"]["ready"], true);
}
