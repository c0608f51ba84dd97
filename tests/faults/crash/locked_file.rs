//! Another program holds the database: calls wait, and say so when it takes too long (store#turn).

use std::time::Duration;

use colibri_test_support::client::{Launch, Server, envelope};
use colibri_test_support::log_chain::{assert_log_is_sound, assert_tasks_match_log};
use colibri_test_support::sql::Connection;
use serde_json::json;

fn start() -> Server {
    let mut server = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).start();
    server.data("task_list", json!({}));
    server
}

/// Takes the write lock, as another program would.
fn lock(conn: &Connection, how: &str) {
    conn.execute_batch(how).unwrap();
}

#[test]
fn calls_wait_while_another_program_holds_the_file() {
    for how in ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"] {
        let mut server = start();
        let conn = server.sql();
        lock(&conn, how);
        for title in ["a", "b", "c"] {
            server.send_call("task_create", json!({ "title": title }));
        }
        let early = server.receive_within(Duration::from_millis(700));
        assert!(early.is_none(), "{how}: answered although nothing can be stored: {early:?}");
        conn.execute_batch("COMMIT").unwrap();
        for title in ["a", "b", "c"] {
            let envelope = envelope(&server.receive());
            assert_eq!(envelope["data"]["title"], title, "{how}: {envelope}");
        }
        assert_eq!(assert_tasks_match_log(&conn), 3);
    }
}

#[test]
fn a_file_that_stays_locked_is_an_error_and_nothing_is_stored() {
    let mut server = start();
    let conn = server.sql();
    lock(&conn, "BEGIN EXCLUSIVE");
    let refused = server.call("task_create", json!({ "title": "too late" }));
    assert_eq!(refused["error"]["code"], "AUDIT_ENTER_FAILED", "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("the call could not be entered in the audit log, so it was not run: ")
            && message.contains("lock"),
        "{message}"
    );
    conn.execute_batch("COMMIT").unwrap();

    let task = server.data("task_create", json!({ "title": "in time" }));
    let listed = server.data("task_list", json!({}));
    assert_eq!(listed["tasks"], json!([task]), "only the second one is stored");
    assert_eq!(assert_tasks_match_log(&conn), 1);
    assert_log_is_sound(&conn);
    assert_eq!(server.finish().code(), 0);
}
