//! Calls of four megabytes that wait, for the start, a scan, a network call or the turn to write: the server holds few of them, and
//! leaves the rest in the pipe.

use std::fs::{File, read_to_string};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use colibri_test_support::client::Launch;
use colibri_test_support::sqlite_only;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::json;

use crate::stdio::run::{call, launch, spawn};

/// How many calls a client tries to send. `COLIBRI_WAITING_CALLS` takes another number.
fn calls() -> usize {
    std::env::var("COLIBRI_WAITING_CALLS").map_or(48, |calls| calls.parse().unwrap())
}

/// The length of their lines, just below the longest that a server takes.
const LINE_BYTES: usize = 4 * 1024 * 1024 - 64;
/// What the server may take for them beyond what it has when it is idle.
const MOST_KIB: u64 = 64 * 1024;
/// How long a full pipe must stay full before the server counts as not reading.
const STUCK: Duration = Duration::from_millis(1500);

fn probe() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_probe"))
}

fn peak_kib(child: &Child) -> u64 {
    let status = read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn long_call(id: usize, tool: &str) -> Vec<u8> {
    let empty = call(id, tool, json!({ "title": "" })).len();
    call(id, tool, json!({ "title": "x".repeat(LINE_BYTES - empty) })).into_bytes()
}

/// Sends the calls until the server takes nothing for a while, or they are sent; returns how many it has taken whole.
fn send_until_stuck(stdin: &mut ChildStdin, tool: &str) -> usize {
    let flags = fcntl_getfl(&*stdin).unwrap();
    fcntl_setfl(&*stdin, flags | OFlags::NONBLOCK).unwrap();
    let mut progress = Instant::now();
    for id in 0..calls() {
        let line = long_call(100 + id, tool);
        let mut sent = 0;
        while sent < line.len() {
            match stdin.write(&line[sent..]) {
                Ok(length) => (sent, progress) = (sent + length, Instant::now()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if progress.elapsed() > STUCK {
                        return id;
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    calls()
}

/// Sends a first call that is not answered, or none, and then the long ones.
fn bounded(case: &str, launch: &Launch, first: Option<(&str, serde_json::Value)>, tool: &str) {
    let mut child = spawn(launch, Stdio::piped(), Stdio::piped(), Stdio::null());
    let first = first.map_or_else(String::new, |(tool, arguments)| call(1, tool, arguments));
    let ping = json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping" });
    child.stdin.as_mut().unwrap().write_all(format!("{first}{ping}\n").as_bytes()).unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_until(b'\n', &mut Vec::new()).unwrap();
    stays_small(case, child, stdout, tool);
}

fn stays_small(case: &str, mut child: Child, stdout: impl BufRead + Send + 'static, tool: &str) {
    let mut stdin = child.stdin.take().unwrap();
    // The client reads, so that the server does not stop for its answers.
    let reading = std::thread::spawn(move || stdout.split(b'\n').count());
    std::thread::sleep(Duration::from_millis(300));
    let idle = peak_kib(&child);
    let taken = send_until_stuck(&mut stdin, tool);
    let more = peak_kib(&child) - idle;
    child.kill().unwrap();
    child.wait().unwrap();
    reading.join().unwrap();
    assert!(more <= MOST_KIB, "{case}: {more} KiB more than idle for {taken} calls");
}

#[test]
fn calls_that_wait_for_a_network_call_take_little_memory() {
    bounded("network", &probe(), Some(("probe_network", json!({ "ms": 600_000 }))), "probe_network");
}

#[test]
fn calls_that_wait_for_a_scan_take_little_memory() {
    bounded("scan", &probe(), Some(("probe_scan", json!({ "ms": 600_000 }))), "probe_echo");
}

fn hold_queue(folder: &Path) -> File {
    let queue = File::open(folder.join("colibri.db.queue")).unwrap();
    queue.lock().unwrap();
    queue
}

#[test]
fn calls_that_wait_for_the_start_or_the_turn_to_write_take_little_memory() {
    sqlite_only!("the lock is one of a file");
    let mut server = launch().start();
    server.data("task_create", json!({ "title": "there" }));
    let folder = server.shared_folder();
    server.finish();
    let launch = || launch().in_folder(folder.clone()).env("COLIBRI_STARTUP_TIMEOUT_MS", "200000");
    let queue = hold_queue(folder.path());
    bounded("start", &launch(), None, "task_create");
    drop(queue);
    let held = std::thread::spawn({
        let folder = folder.clone();
        move || {
            std::thread::sleep(Duration::from_millis(200));
            let queue = hold_queue(folder.path());
            std::thread::sleep(Duration::from_secs(8));
            drop(queue);
        }
    });
    bounded("turn", &launch(), Some(("task_list", json!({}))), "task_create");
    held.join().unwrap();
}

/// A server that reads nothing: without pins its pipe is full, and with them the calls wait for its list of tools.
#[test]
fn calls_that_wait_for_a_wrapped_server_take_little_memory() {
    for pin in ["off", "refuse"] {
        let options =
            ["wrap", "--name", "odd", "--pin", pin, "--", env!("CARGO_BIN_EXE_odd-server"), "--start"];
        let launch = options.iter().fold(launch(), |launch, option| launch.arg(option));
        let launch = launch.arg(json!([{ "sleep": 600_000 }]).to_string());
        let mut child = spawn(&launch, Stdio::piped(), Stdio::piped(), Stdio::null());
        let stdout = BufReader::new(child.stdout.take().unwrap());
        stays_small(&format!("wrap --pin {pin}"), child, stdout, "get");
    }
}
