//! Starts that fail.

use std::io;
use std::time::Instant;

use colibri::lifecycle::server::StartError;
use colibri::lifecycle::transport::{Opening, Transport};
use colibri_test_support::client::{PATIENCE, envelope};
use colibri_test_support::embed::{Wire, block_on, environment, options};
use serde_json::json;

use super::{embedded, probe};

/// A transport whose other side never comes.
struct Never;

impl Transport for Never {
    fn open(&mut self) -> Opening<'_> {
        Box::pin(std::future::pending())
    }
    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_transport_that_never_connects_runs_into_the_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let (_, unused) = Wire::pair();
    let mut options = options(unused, folder.path());
    options.transport = Box::new(Never);
    options.environment = environment(folder.path()).with("COLIBRI_STARTUP_TIMEOUT_MS", "50");
    let mut server = embedded(options);
    let began = Instant::now();
    let error = block_on(server.start()).unwrap_err();
    assert_eq!((&error, error.to_string().as_str()), (&StartError::Timeout, "startup timeout exceeded"));
    assert!(began.elapsed() < PATIENCE && !server.is_connected());
}

#[test]
fn a_process_whose_start_takes_too_long_exits_75() {
    let mut server =
        probe().env("COLIBRI_STARTUP_TIMEOUT_MS", "50").env("PROBE_OPEN_DELAY_MS", "600000").start();
    server.send_call("probe_echo", json!({ "required": "x" }));
    let ended = server.wait();
    assert_eq!(ended.code(), 75, "{}", ended.stderr);
    assert_eq!(ended.last_message(), "[colibri] fatal: startup timeout exceeded");
}

#[test]
fn log_lines_come_in_the_order_in_which_things_happen() {
    let mut server = probe().start();
    server.call("probe_echo", json!({ "required": "x" }));
    let ended = server.finish();
    let mut from = 0;
    for text in
        ["[colibri] starting", "Phase 1 ready", "Phase 2 ready", "[colibri] ready", "[Shutdown] Clean"]
    {
        let found = ended.stderr[from..].find(text);
        from += found.unwrap_or_else(|| panic!("{text} is missing or too early:\n{}", ended.stderr));
    }

    let ended = probe().env("PROBE_OPEN_FAILS", "no such luck").start().wait();
    assert_eq!(ended.code(), 1);
    let failed = ended.stderr.find("[colibri] fatal: no such luck").unwrap();
    assert!(!ended.stderr.contains("[colibri] ready"), "{}", ended.stderr);
    assert!(ended.stderr[failed..].ends_with("[Shutdown] Ended after a failure\n"), "{}", ended.stderr);
}

#[test]
fn a_failing_second_phase_is_told_to_every_waiting_call() {
    let launch = probe().env("PROBE_OPEN_DELAY_MS", "2000").env("PROBE_OPEN_FAILS", "no such luck");
    let mut server = launch.start();
    let ids = [
        server.send_call("probe_echo", json!({ "required": "x" })),
        server.send_call("probe_network", json!({ "ms": 1 })),
    ];
    for id in ids {
        let answer = server.receive();
        assert_eq!(answer["id"], json!(id));
        let details = json!({ "remedy": "Tell the operator; the log says why." });
        let error =
            json!({ "code": "HANDLER_ERROR", "message": "STARTUP_FAILED: no such luck", "details": details });
        assert_eq!(envelope(&answer), json!({ "ok": false, "error": error }));
    }
    let ended = server.wait();
    assert_eq!((ended.code(), ended.rest.len()), (1, 0), "{}", ended.stderr);
    assert!(ended.stderr.contains("[colibri] fatal: no such luck"), "{}", ended.stderr);
}

#[test]
fn a_panic_outside_a_handler_ends_the_process() {
    let mut server = probe().env("PROBE_OPEN_DELAY_MS", "500").env("PROBE_OPEN_PANICS", "1").start();
    server.data("probe_status", json!({}));
    let ended = server.wait();
    assert_eq!((ended.code(), ended.rest.len()), (1, 0), "{}", ended.stderr);
    let last = ended.last_message();
    assert!(last.starts_with("[colibri] uncaughtException: ") && last.contains("as asked"), "{last}");
}

#[test]
fn a_detached_task_that_fails_ends_the_process() {
    let mut server = probe().env("PROBE_OPEN_DELAY_MS", "200").env("PROBE_DETACHED_FAILS", "gone").start();
    server.data("probe_status", json!({}));
    let ended = server.wait();
    assert_eq!((ended.code(), ended.rest.len()), (1, 0), "{}", ended.stderr);
    assert!(ended.stderr.contains("[colibri] unhandledRejection: gone"), "{}", ended.stderr);
}
