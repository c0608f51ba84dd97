//! Signals.

use std::time::{Duration, Instant};

use colibri_test_support::actions::{action_of, await_running};
use colibri_test_support::client::Server;
use colibri_test_support::engine;
use serde_json::json;

use super::{colibri, probe};

#[test]
fn a_signal_ends_an_idle_server_cleanly() {
    for signal in ["TERM", "INT", "HUP"] {
        let mut server = colibri().start();
        server.data("task_create", json!({ "title": "A" }));
        server.signal(signal);
        let ended = server.wait();
        assert_eq!((ended.code(), ended.last_message()), (0, "[Shutdown] Clean"), "{signal}");
    }
}

/// A server whose handler keeps the loop busy.
fn stuck(cleanup_ms: &str) -> Server {
    let mut server = probe().env("PROBE_CLEANUP_MS", cleanup_ms).start();
    server.ready_by("probe_echo", json!({ "required": "x" }));
    server.send_call("probe_sleep", json!({ "ms": 60_000 }));
    await_running(&server, "probe_sleep");
    server
}

#[test]
fn a_stuck_handler_is_left_behind_after_the_cleanup_timeout() {
    let server = stuck("5000");
    let (folder, began) = (server.shared_folder(), Instant::now());
    server.signal("TERM");
    let ended = server.wait();
    assert!(began.elapsed() >= Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!((ended.code(), ended.last_message()), (1, "[Shutdown] Forced after 5000ms timeout"));
    // Its row is for the next boot to close.
    let conn = engine::open(folder.path().join("colibri.db"));
    conn.end_lease(&action_of(&conn, "probe_sleep").boot_id);
    let mut next = probe().in_folder(folder.clone()).start();
    next.data("probe_echo", json!({ "required": "x" }));
    assert_eq!(action_of(&conn, "probe_sleep").end(), ("aborted", Some("PROCESS_ABORTED")));
}

#[test]
fn a_running_call_is_answered_before_a_clean_stop() {
    let mut server = probe().start();
    server.ready_by("probe_echo", json!({ "required": "x" }));
    let running = server.send_call("probe_sleep", json!({ "ms": 500 }));
    await_running(&server, "probe_sleep");
    let waiting = server.send_call("probe_network", json!({ "ms": 1 }));
    server.signal("TERM");
    assert_eq!(server.receive()["id"], json!(running));
    let ended = server.wait();
    assert_eq!((ended.code(), ended.last_message()), (0, "[Shutdown] Clean"), "{}", ended.stderr);
    // Read before the signal was seen, it is refused; otherwise it was never read.
    for answer in ended.rest {
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(waiting), &json!(-32000)), "{answer}");
        assert_eq!(answer["error"]["message"], "Server is shutting down");
    }
}

#[test]
fn calls_at_the_gate_are_refused() {
    let mut server = probe().env("PROBE_OPEN_DELAY_MS", "600000").start();
    let waiting = [
        server.send_call("probe_echo", json!({ "required": "x" })),
        server.send_call("probe_network", json!({ "ms": 1 })),
    ];
    assert_eq!(server.data("probe_status", json!({}))["queue_depth"], 2);
    server.signal("TERM");
    for id in waiting {
        let answer = server.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32000)), "{answer}");
        assert_eq!(answer["error"]["message"], "Server is shutting down");
    }
    let ended = server.wait();
    assert_eq!((ended.code(), ended.last_message()), (0, "[Shutdown] Clean"), "{}", ended.stderr);
}

#[test]
fn a_signal_after_the_end_of_input_does_not_wait_for_what_is_left() {
    let mut server = probe().env("PROBE_CLEANUP_MS", "300").start();
    server.ready_by("probe_echo", json!({ "required": "x" }));
    server.send_call("probe_network", json!({ "ms": 600_000 }));
    await_running(&server, "probe_network");
    server.send_call("probe_network", json!({ "ms": 600_000 }));
    server.close_stdin();
    server.signal("TERM");
    let ended = server.wait();
    assert_eq!((ended.code(), ended.last_message()), (1, "[Shutdown] Forced after 300ms timeout"));
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let server = stuck("600000");
    let began = Instant::now();
    // Two signals in one moment may be delivered as one: they are sent until the second has arrived.
    let ended = std::thread::scope(|scope| {
        let pid = server.pid().to_string();
        let waiting = scope.spawn(|| server.wait());
        while !waiting.is_finished() {
            let _ = std::process::Command::new("kill")
                .args(["-TERM", &pid])
                .stderr(std::process::Stdio::null())
                .status();
            std::thread::sleep(Duration::from_millis(100));
        }
        waiting.join().unwrap()
    });
    assert_eq!(ended.code(), 1, "{}", ended.stderr);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(!ended.stderr.contains("[Shutdown] Forced"), "{}", ended.stderr);
}

#[test]
fn stuck_calls_beside_the_loop_do_not_keep_the_database_from_closing() {
    for tool in ["probe_network", "probe_scan"] {
        let mut server = probe().env("PROBE_CLEANUP_MS", "300").start();
        server.ready_by("probe_echo", json!({ "required": "x" }));
        server.send_call(tool, json!({ "ms": 600_000 }));
        await_running(&server, tool);
        let folder = server.shared_folder();
        server.signal("TERM");
        let ended = server.wait();
        assert_eq!(
            (ended.code(), ended.last_message()),
            (1, "[Shutdown] Forced after 300ms timeout"),
            "{tool}"
        );
        // They own nothing (chain#shutdown): the process has signed off, and leaves their rows to the next start.
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let locks: Vec<_> = names.filter(|name| name.to_string_lossy().ends_with(".lock")).collect();
        assert!(locks.is_empty(), "{tool}: {locks:?}");
        let mut next = probe().in_folder(folder).start();
        next.data("probe_echo", json!({ "required": "x" }));
        assert_eq!(action_of(&next.sql(), tool).end(), ("aborted", Some("PROCESS_ABORTED")), "{tool}");
    }
}
