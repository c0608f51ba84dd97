//! A host that never reads stderr, as a pipe or as a socket: nothing stops the server, and dropped lines are counted.

use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::stdio::run::{call, launch, spawn};

/// How many calls each run makes: more than the lines that a pipe holds. `COLIBRI_UNREAD_CALLS` takes another number.
fn calls() -> usize {
    std::env::var("COLIBRI_UNREAD_CALLS").map_or(900, |calls| calls.parse().unwrap())
}

/// Calls that are sent before their answers are read.
const WINDOW: usize = 16;
/// How long one SIGTERM may take.
const END: Duration = Duration::from_secs(3);

/// A server whose stderr is never read.
struct Unread {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<Vec<u8>>,
}

impl Unread {
    fn start(launch: &Launch, stderr: impl Into<Stdio>) -> Self {
        let mut child = spawn(launch, Stdio::piped(), Stdio::piped(), stderr.into());
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || stdout.split(b'\n').flatten().try_for_each(|line| sender.send(line)));
        Self { stdin: child.stdin.take().unwrap(), child, lines }
    }

    fn send(&mut self, line: &str) {
        self.stdin.write_all(line.as_bytes()).unwrap();
    }

    fn receive(&self, case: &str) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{case}: no answer"));
        serde_json::from_slice(&line).unwrap()
    }

    /// Makes the calls.
    fn work(&mut self, case: &str, request: impl Fn(usize) -> String) {
        let calls = calls();
        for from in (0..calls).step_by(WINDOW) {
            let window = from..calls.min(from + WINDOW);
            self.send(&window.clone().map(&request).collect::<String>());
            window.for_each(|_| drop(self.receive(case)));
        }
    }

    /// Asks it to end, once.
    fn terminate(mut self, case: &str) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        let began = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < END, "{case}: still there");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn ping(id: usize) -> String {
    call(id, "server_ping", json!({}))
}

#[test]
fn stderr_that_is_never_read_stops_no_mode_at_no_level() {
    let mut writer = launch().start();
    writer.data("task_create", json!({ "title": "there" }));
    let folder = writer.shared_folder();
    writer.finish();
    for mode in ["FULL", "READONLY", "TEST", "MINIMAL"] {
        for level in ["error", "warn", "info", "debug", "trace"] {
            let case = format!("{mode} at {level}");
            let launch = launch().in_folder(folder.clone()).env("COLIBRI_MODE", mode);
            let (_unread, stderr) = std::io::pipe().unwrap();
            let mut server = Unread::start(&launch.env("COLIBRI_LOG_LEVEL", level), stderr);
            server.work(&case, ping);
            server.terminate(&case);
        }
    }
}

/// Hosts that are written in JavaScript give sockets. Each of these messages is a warning.
#[test]
fn warnings_that_are_never_read_stop_nothing_on_a_pipe_or_a_socket() {
    let (_unread, pipe) = std::io::pipe().unwrap();
    let (_other, socket) = UnixStream::pair().unwrap();
    for stderr in [OwnedFd::from(pipe), OwnedFd::from(socket)] {
        // Its database goes with it.
        let launch = launch().env("COLIBRI_LOG_LEVEL", "warn");
        let mut server = Unread::start(&launch, stderr);
        let odd = json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": "server_ping" } });
        (0..calls() * 3).for_each(|_| server.send(&format!("{odd}\n")));
        server.work("after the warnings", ping);
        server.terminate("after the warnings");
    }
}

fn read_some(stderr: &mut PipeReader) -> String {
    let mut bytes = vec![0; 1 << 20];
    let length = stderr.read(&mut bytes).unwrap();
    String::from_utf8(bytes[..length].to_vec()).unwrap()
}

#[test]
fn dropped_lines_are_counted_and_told_when_stderr_is_read_again() {
    let (mut unread, stderr) = std::io::pipe().unwrap();
    let launch = launch().env("COLIBRI_MODE", "MINIMAL").env("COLIBRI_LOG_LEVEL", "info");
    let mut server = Unread::start(&launch, stderr);
    server.work("MINIMAL", ping);
    let before = read_some(&mut unread);
    server.send(&ping(0));
    server.receive("after reading");
    let after = read_some(&mut unread);
    let first = after.lines().next().unwrap();
    assert!(first.ends_with(" lines were dropped here: stderr took no more"), "{after}");
    // A short line may still fit where a longer one does not, so that the number may come in parts.
    let told = |text: &str| -> usize {
        let notes = text.lines().filter_map(|line| line.split_once(" WARN [log] "));
        notes.map(|(_, note)| note.split(' ').next().unwrap().parse::<usize>().unwrap()).sum()
    };
    let exits = |text: &str| text.lines().filter(|line| line.contains("[audit] seq=")).count();
    let all: usize = [&before, &after].map(|text| exits(text) + told(text)).iter().sum();
    assert_eq!(all, calls() + 1);
    server.terminate("MINIMAL");
}
