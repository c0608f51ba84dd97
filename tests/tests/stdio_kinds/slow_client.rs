//! A client that never reads: the server stops reading, keeps its memory, and loses nothing.

use std::fs::read_to_string;
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::{Value, json};

use crate::run::{all_answered, call, exit_code, launch, replies, spawn};

/// How long a full pipe must stay full before the server counts as not reading.
const STUCK: Duration = Duration::from_millis(1500);
/// What a debug build may hold: 8 MiB of replies, one batch, its buffers and the program itself.
const MEMORY_LIMIT_KB: u64 = 60 * 1024;

/// The memory of a process, kilobytes.
fn resident_kb(child: &Child) -> u64 {
    let status = read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Writes requests until the server takes no more for a while; how many whole ones were written, and the
/// rest of the one that was begun.
fn write_until_stuck(child: &mut Child, request: impl Fn(usize) -> String) -> (usize, Vec<u8>) {
    let stdin = child.stdin.as_mut().unwrap();
    let flags = fcntl_getfl(&*stdin).unwrap();
    fcntl_setfl(&*stdin, flags | OFlags::NONBLOCK).unwrap();
    let (mut id, mut progress) = (0, Instant::now());
    let rest = loop {
        let line = request(id).into_bytes();
        let mut written = 0;
        while written < line.len() && progress.elapsed() < STUCK {
            match stdin.write(&line[written..]) {
                Ok(length) => {
                    written += length;
                    progress = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(5)),
                Err(error) => panic!("{error}"),
            }
        }
        if written < line.len() {
            break if written == 0 { Vec::new() } else { line[written..].to_vec() };
        }
        id += 1;
        assert!(id < 100_000, "the server never stops reading");
    };
    fcntl_setfl(child.stdin.as_ref().unwrap(), flags).unwrap();
    (id, rest)
}

/// Never reads until the server is stuck, then reads everything: all is answered, in order.
fn never_reading(before: &str, request: impl Fn(usize) -> String) -> Vec<Value> {
    let launch = launch();
    let mut child = spawn(&launch, Stdio::piped(), Stdio::piped(), Stdio::null());
    child.stdin.as_mut().unwrap().write_all(before.as_bytes()).unwrap();
    let (mut sent, rest) = write_until_stuck(&mut child, request);
    let memory = resident_kb(&child);
    assert!(memory < MEMORY_LIMIT_KB, "{memory} kB held for a client that does not read {sent} replies");
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).unwrap();
        bytes
    });
    if !rest.is_empty() {
        stdin.write_all(&rest).unwrap();
        sent += 1;
    }
    drop(stdin);
    let replies = replies(&reading.join().unwrap());
    assert_eq!(exit_code(&mut child), 0);
    let (setup, answers) = replies.split_at(replies.len() - sent);
    assert_eq!(setup.len(), before.lines().count());
    answers.to_vec()
}

#[test]
fn calls_of_a_client_that_never_reads_wait_in_the_pipe() {
    let description = "x".repeat(8000);
    let before: String = (0..6)
        .map(|id| call(id, "task_create", json!({ "title": "long", "description": description })))
        .collect();
    let answers = never_reading(&before, |id| call(id, "task_list", json!({})));
    all_answered(&answers, answers.len());
}

#[test]
fn protocol_requests_of_a_client_that_never_reads_wait_in_the_pipe() {
    let answers =
        never_reading("", |id| format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" })));
    for (id, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], json!(id));
        assert!(answer["result"]["tools"].is_array());
    }
}
