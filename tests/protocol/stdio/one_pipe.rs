//! Standard output and standard error on one pipe, as `2>&1` makes it: every line is either a log line or a
//! whole reply.

use std::io::{PipeReader, Read, Write};
use std::time::Duration;

use serde_json::{Value, json};

use crate::stdio::run::{all_answered, call, creates, exit_code, launch, replies, spawn};

/// `<UTC time> <LEVEL> <message>` (chain#log-lines).
fn is_log_line(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let mut words = text.splitn(3, ' ');
    let (time, level) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    time.len() == 24 && time.ends_with('Z') && ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"].contains(&level)
}

/// The replies among the log lines; how many log lines there are.
fn parted(bytes: &[u8]) -> (Vec<Value>, usize) {
    let (logs, rest): (Vec<&[u8]>, Vec<&[u8]>) =
        bytes.split_inclusive(|byte| *byte == b'\n').partition(|line| is_log_line(line));
    (replies(&rest.concat()), logs.len())
}

/// Reads little at a time, so that the pipe is full whenever the server wants to write.
fn read_slowly(mut from: PipeReader) -> Vec<u8> {
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 16 * 1024]);
    loop {
        let length = from.read(&mut chunk).unwrap();
        if length == 0 {
            return bytes;
        }
        bytes.extend_from_slice(&chunk[..length]);
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn over_one_pipe(level: &str, input: &str) -> (Vec<Value>, usize) {
    let launch = launch().env("COLIBRI_LOG_LEVEL", level);
    let (server_in, mut client_out) = std::io::pipe().unwrap();
    let (client_in, server_out) = std::io::pipe().unwrap();
    let server_err = server_out.try_clone().unwrap();
    let mut child = spawn(&launch, server_in.into(), server_out.into(), server_err.into());
    let reading = std::thread::spawn(move || read_slowly(client_in));
    client_out.write_all(input.as_bytes()).unwrap();
    drop(client_out);
    let bytes = reading.join().unwrap();
    assert_eq!(exit_code(&mut child), 0);
    parted(&bytes)
}

#[test]
fn replies_and_log_lines_on_one_pipe_stay_whole() {
    let (replies, logs) = over_one_pipe("debug", &creates(300));
    all_answered(&replies, 300);
    assert!(logs > 0);
}

/// Replies that are larger than the pipe leave in parts; no log line may get between them.
#[test]
fn long_replies_on_one_pipe_are_not_cut_by_log_lines() {
    let long = "x".repeat(8000);
    let mut input: String =
        (0..30).map(|id| call(id, "task_create", json!({ "title": "long", "description": long }))).collect();
    for id in 30..60 {
        input.push_str(&call(id, "task_list", json!({})));
    }
    let (replies, logs) = over_one_pipe("debug", &input);
    all_answered(&replies, 60);
    assert!(logs > 0);
}
