//! A disk that is full at call k of a batch: each call is stored whole or not at all, and says which.

use std::collections::BTreeSet;
use std::sync::Arc;

use colibri_test_support::actions::actions;
use colibri_test_support::client::{Launch, Server, envelope};
use colibri_test_support::log_chain::assert_log_is_sound;
use colibri_test_support::sql::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

/// One batch.
pub const CALLS: usize = 64;
/// Nearly a page each.
const BYTES: usize = 3000;

fn probe(folder: &Arc<TempDir>) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_probe")).in_folder(folder.clone())
}

fn folder() -> Arc<TempDir> {
    Arc::new(TempDir::new().unwrap())
}

/// How many pages the file has before the first write.
pub fn pages_at_start() -> u32 {
    let mut server = probe(&folder()).start();
    server.data("probe_echo", json!({ "required": "x" }));
    server.sql().sqlite().pragma_query_value(None, "page_count", |row| row.get(0)).unwrap()
}

fn key(number: usize) -> String {
    format!("k{number:02}")
}

/// Sends one batch; the envelopes, in the order of the calls.
fn write_batch(server: &mut Server) -> Vec<Value> {
    let lines: String = (0..CALLS)
        .map(|id| {
            let arguments = json!({ "key": key(id), "bytes": BYTES });
            let params = json!({ "name": "probe_write", "arguments": arguments });
            format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
        })
        .collect();
    server.send_bytes(lines.as_bytes());
    (0..CALLS)
        .map(|id| {
            let answer = server.receive();
            assert_eq!(answer["id"], json!(id), "replies keep the order of the calls");
            envelope(&answer)
        })
        .collect()
}

/// Every refusal says that nothing is stored, and why.
fn assert_says_so(envelope: &Value) {
    let (code, message) = (&envelope["error"]["code"], envelope["error"]["message"].as_str().unwrap());
    let known = [
        "STORAGE_FAILURE: ",
        "STORE_COMMIT_FAILED: ",
        "the call could not be entered in the audit log, so it was not run: ",
    ];
    assert!(known.iter().any(|prefix| message.starts_with(prefix)), "{envelope}");
    assert!(code == "HANDLER_ERROR" || code == "AUDIT_ENTER_FAILED", "{envelope}");
}

fn stored_keys(conn: &Connection) -> BTreeSet<String> {
    let mut statement = conn.prepare("SELECT key FROM probe").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The server answers as before; what finds no room for its own audit row says so.
fn assert_goes_on(server: &mut Server) {
    assert!(server.request("ping", json!({})).get("result").is_some());
    let status = server.call("probe_status", json!({}));
    if status["ok"] == json!(true) {
        return assert_eq!(status["data"]["ready"], true, "{status}");
    }
    assert_says_so(&status);
    assert!(status["error"]["message"].as_str().unwrap().ends_with("database or disk is full"), "{status}");
}

/// Fills the disk at some call of a batch; how many calls of it were stored.
pub fn fill_at(pages: u32) -> usize {
    let folder = folder();
    let mut server = probe(&folder).env("PROBE_MAX_PAGES", pages.to_string()).start();
    server.data("probe_echo", json!({ "required": "x" }));
    let envelopes = write_batch(&mut server);
    let said_ok: BTreeSet<String> =
        (0..CALLS).filter(|id| envelopes[*id]["ok"] == json!(true)).map(key).collect();
    envelopes.iter().filter(|envelope| envelope["ok"] == json!(false)).for_each(assert_says_so);

    let conn = server.sql();
    assert_eq!(stored_keys(&conn), said_ok, "{pages} pages");
    let writes: Vec<_> = actions(&conn).into_iter().filter(|row| row.tool == "probe_write").collect();
    let ok = writes.iter().filter(|row| row.outcome == "ok").count();
    assert_eq!(ok, said_ok.len(), "{pages} pages: rows that say ok");
    for row in writes.iter().filter(|row| row.outcome != "ok") {
        // An exit row that the disk had no room for stays open until the store takes it.
        assert!(row.outcome == "error" || row.outcome == "running", "{pages} pages: {row:?}");
    }
    assert_log_is_sound(&conn);

    assert_goes_on(&mut server);
    let ended = server.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);

    // With room again, the next process finds nothing half done.
    let mut next = probe(&folder).start();
    next.data("probe_write", json!({ "key": "room again", "bytes": BYTES }));
    let open = actions(&conn).into_iter().filter(|row| row.outcome == "running").count();
    assert_eq!(open, 0, "{pages} pages");
    assert_log_is_sound(&conn);
    said_ok.len()
}

#[test]
fn a_disk_that_is_full_in_the_middle_of_a_batch_keeps_whole_calls_only() {
    let start = pages_at_start();
    let stored: Vec<usize> = [1, 4, 9, 16, 24, 33, 45, 60, 80].map(|more| fill_at(start + more)).to_vec();
    let partial = stored.iter().filter(|count| (1..CALLS).contains(*count)).count();
    assert!(partial >= 3, "the limit met the middle of the batch too rarely: {stored:?}");
    assert!(stored.is_sorted(), "more room stores no fewer calls: {stored:?}");
}

#[test]
fn a_disk_with_room_keeps_every_call() {
    assert_eq!(fill_at(pages_at_start() + 500), CALLS);
}
