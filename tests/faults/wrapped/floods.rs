//! A client that does not read while its server floods it, and a server that does not read. `COLIBRI_FLOOD_MB` says how much is written.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use colibri_test_support::client::PATIENCE;
use serde_json::json;
use tempfile::TempDir;

use super::peer::{Relay, Setup, holds_within, lives, read_pid};

const MIB: usize = 1 << 20;
/// How long a side that is held up must show that it is.
const STILL: Duration = Duration::from_millis(500);
/// What a relay may keep: 1 MiB a side, what it has just read, and what its allocator keeps of both.
const KEPT: usize = 8 * MIB;

fn setup() -> Setup {
    Setup::new(Relay::Wrap, "odd", &Arc::new(TempDir::new().unwrap()))
}

/// A field of a process's memory, in bytes.
fn memory(child: &Child, field: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim_start_matches(':').split_whitespace().next().unwrap().parse::<usize>().unwrap() << 10
}

/// Starts the relay; its error output is the test's.
fn started(setup: &Setup) -> Child {
    setup.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the relay starts")
}

#[test]
fn wrap_27_a_client_that_does_not_read_holds_up_its_server_and_loses_nothing() {
    let asked = std::env::var("COLIBRI_FLOOD_MB").map_or(48, |text| text.parse::<usize>().unwrap());
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"info\",\"data\":\"{}\"}}}}\n",
        "flood ".repeat(200)
    );
    let (lines, early) = (asked * MIB / line.len(), 16 * MIB / line.len());
    let setup = setup();
    let past = setup.beside("past");
    let mut child = started(&setup);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::with_capacity(64 * 1024, child.stdout.take().unwrap());
    let call = |id: u64, name: &str, arguments: serde_json::Value| {
        let params = json!({ "name": name, "arguments": arguments });
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    };
    stdin.write_all(call(1, "echo", json!({})).as_bytes()).unwrap();
    let mut answer = String::new();
    stdout.read_line(&mut answer).unwrap();
    let before = memory(&child, "VmRSS");
    let steps = json!([{ "repeat": [line, early] }, { "touch": past }, { "repeat": [line, lines - early] },
        { "write": "{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[]},\"id\":2}\n" }]);
    stdin.write_all(call(2, "play", json!({ "steps": steps })).as_bytes()).unwrap();
    let full = || rustix::io::ioctl_fionread(stdout.get_ref()).unwrap() >= 32 * 1024;
    assert!(holds_within(PATIENCE, full), "nothing came");
    std::thread::sleep(STILL);
    assert!(!past.exists(), "the server writes on although its client does not read");
    let grown = memory(&child, "VmHWM").saturating_sub(before);
    assert!(grown <= KEPT, "memory grew by {grown} bytes before the client read");
    let mut found = vec![0; line.len()];
    for number in 0..lines {
        stdout.read_exact(&mut found).unwrap();
        assert!(found == line.as_bytes(), "line {number} has other bytes");
    }
    let mut answer = String::new();
    stdout.read_line(&mut answer).unwrap();
    assert!(answer.contains("\"id\":2"), "{answer}");
    let grown = memory(&child, "VmHWM").saturating_sub(before);
    assert!(grown <= KEPT, "memory grew by {grown} bytes");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn wrap_28_a_server_that_does_not_read_holds_up_its_client_and_ends_with_a_signal() {
    let mut setup = setup();
    setup.start = Some(json!([{ "stay": null }, { "await": setup.beside("never") }]).to_string());
    let mut child = started(&setup);
    let mut stdin = child.stdin.take().unwrap();
    let written = Arc::new(AtomicUsize::new(0));
    let counted = written.clone();
    let writer = std::thread::spawn(move || {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{{\"pad\":\"{}\"}}}}\n",
            "x".repeat(1000)
        );
        while stdin.write_all(line.as_bytes()).is_ok() {
            counted.fetch_add(line.len(), Ordering::Relaxed);
        }
    });
    let mut last = 0;
    let began = Instant::now();
    loop {
        std::thread::sleep(STILL);
        let now = written.load(Ordering::Relaxed);
        if now == last && now > MIB {
            break;
        }
        last = now;
        assert!(began.elapsed() < PATIENCE, "the client still writes, {now} bytes");
    }
    // 1 MiB waits for the server; the pipes and what was just read hold some more.
    assert!(last < 2 * MIB, "the client could write {last} bytes");
    let server = read_pid(&setup.pid()).expect("the server has started");
    let began = Instant::now();
    let signal = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status();
    assert!(signal.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(1), "a server that stays has to be killed");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(holds_within(Duration::from_millis(500), || !lives(server)), "the server lives on");
    writer.join().unwrap();
}
