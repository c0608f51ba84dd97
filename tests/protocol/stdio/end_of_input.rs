//! The end of the input: everything that was read is answered first.

use std::fs::File;

use crate::stdio::run::{all_answered, creates, launch};

#[test]
fn a_thousand_queued_calls_are_answered_at_the_end_of_input() {
    let mut server = launch().start();
    server.send_bytes(creates(1000).as_bytes());
    let sql_path = server.database();
    let _folder = server.shared_folder();
    let ended = server.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
    all_answered(&ended.rest, 1000);
    let sql = colibri_test_support::engine::open(&sql_path);
    let stored: i64 = sql.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap();
    assert_eq!(stored, 1000);
}

/// A file is at its end before the database is open: more calls than may wait there are refused by the
/// protocol (chain#waiting), so the thousand stay below that.
#[test]
fn a_thousand_calls_in_a_file_are_answered() {
    let launch = launch();
    let requests = launch.folder().path().join("requests");
    std::fs::write(&requests, creates(1000)).unwrap();
    let ended = launch.stdin(File::open(requests).unwrap().into()).start().wait();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
    all_answered(&ended.rest, 1000);
}

#[test]
fn the_last_line_needs_no_newline() {
    let mut server = launch().start();
    server.send_bytes(creates(2).trim_end().as_bytes());
    let ended = server.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
    all_answered(&ended.rest, 2);
}

#[test]
fn half_a_request_at_the_end_is_an_error_and_not_a_call() {
    let mut server = launch().start();
    let line = creates(1);
    server.send_bytes(&line.as_bytes()[..line.len() / 2]);
    let ended = server.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
    assert_eq!(ended.rest.len(), 1, "{:?}", ended.rest);
    assert_eq!(ended.rest[0]["error"]["code"], -32700, "{:?}", ended.rest);
}

#[test]
fn a_pipe_that_closes_without_a_byte_is_a_clean_end() {
    let mut server = launch().start();
    server.send_bytes(b"");
    let ended = server.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
    assert!(ended.rest.is_empty());
}
