//! A client that never reads: the server stops reading, keeps its memory, and loses nothing.

use std::fs::read_to_string;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::stdio::run::{call, exit_code, launch, spawn};

/// How long a full pipe must stay full before the server counts as not reading.
const STUCK: Duration = Duration::from_millis(1500);
/// More than the server can take without being read.
const REQUESTS: usize = 20_000;
/// What a server may hold beside its program: 8 MiB of replies, one batch and its buffers.
const MEMORY_LIMIT_KB: u64 = 16 * 1024;

/// The memory of a process without the files that it maps, kilobytes: how much of a debug build's program is mapped changes from run to run.
fn resident_kb(child: &Child) -> u64 {
    let status = read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Waits until a process has used no processor time for a while, so that all its work is done.
fn await_rest(child: &Child) {
    let used = || -> Vec<u64> {
        let stat = read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let fields = stat.rsplit(')').next().unwrap();
        fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse().unwrap()).collect()
    };
    let began = Instant::now();
    let mut before = used();
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let now = used();
        if now == before {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "the server never rests");
        before = now;
    }
}

/// Writes until the server takes no more for a while, and returns how many bytes it took.
fn write_until_stuck(stdin: &mut ChildStdin, bytes: &[u8]) -> usize {
    let flags = fcntl_getfl(&*stdin).unwrap();
    fcntl_setfl(&*stdin, flags | OFlags::NONBLOCK).unwrap();
    let (mut written, mut progress) = (0, Instant::now());
    while progress.elapsed() < STUCK {
        assert!(written < bytes.len(), "the server never stops reading");
        match stdin.write(&bytes[written..]) {
            Ok(length) => {
                written += length;
                progress = Instant::now();
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(5))
            }
            Err(error) => panic!("{error}"),
        }
    }
    fcntl_setfl(&*stdin, flags).unwrap();
    written
}

/// The part of a reply that the test reads; it skips the rest, up to a megabyte.
#[derive(Deserialize)]
struct Answer {
    id: usize,
    #[serde(rename = "result")]
    _result: IgnoredAny,
}

/// Sends requests with ids from 1 and does not read until the server is stuck; then reads everything. Every request must be answered,
/// in order. The answer to a first request shows that the start is over: before, only so many calls may wait.
fn never_reading(launch: &Launch, request: impl Fn(usize) -> String) {
    let mut child = spawn(launch, Stdio::piped(), Stdio::piped(), Stdio::null());
    let bytes = (1..REQUESTS).map(&request).collect::<String>().into_bytes();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(request(0).as_bytes()).unwrap();
    stdout.read_until(b'\n', &mut Vec::new()).unwrap();
    let taken = write_until_stuck(&mut stdin, &bytes);
    await_rest(&child);
    let memory = resident_kb(&child);
    assert!(memory < MEMORY_LIMIT_KB, "{memory} kB held for a client that does not read");
    let reading = std::thread::spawn(move || {
        let (mut ids, mut line) = (Vec::new(), Vec::new());
        while stdout.read_until(b'\n', &mut line).unwrap() > 0 {
            ids.push(serde_json::from_slice::<Answer>(&line).unwrap().id);
            line.clear();
        }
        ids
    });
    // Writes the rest of the request that the full pipe has cut.
    let end = taken + bytes[taken..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    stdin.write_all(&bytes[taken..end]).unwrap();
    drop(stdin);
    let ids = reading.join().unwrap();
    assert_eq!(exit_code(&mut child), 0);
    let sent = bytes[..end].iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(ids, (1..=sent).collect::<Vec<_>>());
}

/// A request is 100 bytes and its reply 64 kB: the server must not answer at once all that it reads
/// at once.
#[test]
fn calls_of_a_client_that_never_reads_wait_in_the_pipe() {
    let mut writer = launch().start();
    for _ in 0..4 {
        writer.data("task_create", json!({ "title": "long", "description": "x".repeat(8000) }));
    }
    let folder = writer.shared_folder();
    writer.finish();
    never_reading(&launch().in_folder(folder), |id| call(id, "task_list", json!({})));
}

#[test]
fn protocol_requests_of_a_client_that_never_reads_wait_in_the_pipe() {
    never_reading(&launch(), |id| {
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" }))
    });
}
