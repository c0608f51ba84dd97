//! Another process holds the write queue or SQLite's own lock, and does not let go: here it is the test itself.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use colibri_test_support::client::{Launch, PATIENCE, Server, envelope};
use colibri_test_support::engine;
use serde_json::{Value, json};

const SERVER: &str = env!("CARGO_BIN_EXE_colibri-under-test");

/// A server whose database is ready.
fn start() -> Server {
    let mut server = Launch::new(SERVER).start();
    server.data("task_list", json!({}));
    server
}

/// The head of the queue, until the file is dropped.
fn hold_queue(server: &Server) -> File {
    let queue = File::open(server.folder().join("colibri.db.queue")).unwrap();
    queue.lock().unwrap();
    queue
}

fn message(answer: &Value) -> String {
    let envelope = envelope(answer);
    assert_eq!(envelope["error"]["code"], "AUDIT_ENTER_FAILED", "{envelope}");
    envelope["error"]["message"].as_str().unwrap().to_owned()
}

fn holder() -> String {
    format!("by process {} on host ", std::process::id())
}

fn assert_verifies(database: &Path) {
    let verified = Command::new(SERVER).args(["verify", "--db"]).arg(database).stdin(Stdio::null()).output();
    let verified = verified.unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn finding_a5_a_call_fails_and_names_the_process_that_holds_the_queue() {
    let mut server = start();
    let queue = hold_queue(&server);
    let created = server.send_call("task_create", json!({ "title": "never" }));
    let pinged = server.send_request("ping", json!({}));
    assert_eq!(server.receive()["id"], pinged, "protocol methods are answered meanwhile");
    let early = server.send_call("server_ping", json!({}));
    let unknown = server.send_call("no_such_tool", json!({}));
    for id in [early, unknown] {
        assert_eq!(server.receive()["id"], id, "a call that needs no store is answered meanwhile");
    }
    let answer = server.receive();
    assert_eq!(answer["id"], created);
    let text = message(&answer);
    let expected = format!(
        "the call could not be entered in the audit log, so it was not run: the write queue has been held for 5 s {}",
        holder()
    );
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.ends_with(": resume or stop that process, then call again"), "{text}");
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));

    drop(queue);
    let task = server.data("task_create", json!({ "title": "kept" }));
    assert_eq!(
        server.data("task_list", json!({}))["tasks"],
        json!([task]),
        "nothing of the failed call is stored"
    );
    let rows: Vec<String> = server
        .sql()
        .prepare("SELECT tool FROM actions ORDER BY sequence_no")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let expected = ["caller_begin", "task_list", "server_ping", "no_such_tool", "task_create", "task_list"];
    assert_eq!(rows, expected, "the row of what was answered meanwhile is written when it can be");
    let (database, folder) = (server.database(), server.shared_folder());
    let ended = server.finish();
    assert_eq!(ended.code(), 0);
    let lines: Vec<&str> = ended.warnings();
    assert_eq!(lines.len(), 2, "one line when it takes long, one when it is over: {lines:?}");
    assert!(lines[0].contains(&holder()) && lines[1].contains("the turn to write came after"), "{lines:?}");
    assert_verifies(&database);
    drop(folder);
}

#[test]
fn finding_a5_calls_that_come_later_have_their_own_time() {
    let mut server = start();
    let queue = hold_queue(&server);
    let first = server.send_call("task_create", json!({ "title": "first" }));
    std::thread::sleep(std::time::Duration::from_secs(3));
    let second = server.send_call("task_create", json!({ "title": "second" }));
    let answer = server.receive();
    assert_eq!(answer["id"], first);
    message(&answer);
    drop(queue);
    let answer = server.receive();
    assert_eq!((&answer["id"], &envelope(&answer)["ok"]), (&json!(second), &json!(true)), "{answer}");
}

#[test]
fn finding_a5_a_cancelled_call_that_waits_vanishes() {
    let mut server = start();
    let queue = hold_queue(&server);
    let created = server.send_call("task_create", json!({ "title": "cancelled" }));
    server.request("ping", json!({}));
    server.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": created },
    }));
    server.request("ping", json!({}));
    drop(queue);
    assert_eq!(server.data("task_list", json!({}))["tasks"], json!([]));
}

#[test]
fn finding_a5_protocol_methods_are_answered_while_another_program_holds_the_file() {
    let mut server = start();
    let conn = engine::open(server.database());
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    let created = server.send_call("task_create", json!({ "title": "never" }));
    let pinged = server.send_request("ping", json!({}));
    assert_eq!(server.receive()["id"], pinged);
    let answer = server.receive();
    assert_eq!(answer["id"], created);
    let text = message(&answer);
    assert!(
        text.starts_with(
            "the call could not be entered in the audit log, so it was not run: database is locked: "
        ),
        "{text}"
    );
    assert!(text.contains(&format!("process {} on host ", std::process::id())), "{text}");
    assert!(text.contains("has held its write lock for 5 s"), "{text}");
    conn.execute_batch("COMMIT").unwrap();
    server.data("task_create", json!({ "title": "kept" }));
}

#[test]
fn wrap_24_a_refusal_says_how_long_the_database_was_locked() {
    let launch = Launch::new(SERVER).arg("wrap").arg("--name").arg("x").arg("--pin").arg("off").arg("--");
    let mut wrap = launch.arg("cat").start();
    // What cat sends back shows that the database is open.
    wrap.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert!(wrap.raw_line(PATIENCE).is_some());
    let conn = engine::open(wrap.database());
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    wrap.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "echo" } }));
    let answer = wrap.receive();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let seconds =
        text.split_once("has held its write lock for ").and_then(|(_, rest)| rest.split_once(" s: "));
    let seconds: u64 = seconds.unwrap_or_else(|| panic!("{text}")).0.parse().unwrap();
    assert!(seconds >= 5, "{text}");
    conn.execute_batch("COMMIT").unwrap();
}

#[test]
fn finding_a5_a_stop_and_a_start_end_although_the_queue_is_held() {
    let mut server = start();
    let folder = server.shared_folder();
    let queue = hold_queue(&server);
    server.data("server_ping", json!({}));
    let ended = server.finish();
    assert_eq!(ended.code(), 1, "a stop that is not whole says so");
    assert!(ended.stderr.contains("1 answered calls have no row"), "{}", ended.stderr);
    let late = Launch::new(SERVER).in_folder(folder).env("COLIBRI_STARTUP_TIMEOUT_MS", "8000");
    let ended = late.start().wait();
    assert_eq!(ended.code(), 1);
    assert!(ended.stderr.contains(&holder()), "{}", ended.stderr);
    drop(queue);
}
