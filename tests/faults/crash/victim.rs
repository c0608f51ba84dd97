//! A server that is killed under load. What it said last may be cut in the middle of a line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use colibri_test_support::client::{Launch, PATIENCE, envelope, response};
use serde_json::{Value, json};

pub struct Victim {
    child: Child,
    lines: Receiver<Vec<u8>>,
    threads: Vec<JoinHandle<()>>,
}

impl Victim {
    /// Starts it with that many calls on their way, all at once.
    pub fn under_load(launch: &Launch, calls: usize) -> Self {
        let mut command = launch.command();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        let reading = std::thread::spawn(move || {
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                let _ = sender.send(std::mem::take(&mut line));
            }
        });
        let writing = std::thread::spawn(move || {
            for id in 0..calls {
                let call = json!({ "name": "task_create", "arguments": { "title": format!("task {id}") } });
                let line = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call });
                // The pipe breaks when the server is killed.
                if stdin.write_all(format!("{line}\n").as_bytes()).is_err() {
                    return;
                }
            }
        });
        Self { child, lines, threads: vec![reading, writing] }
    }

    /// The id of the task that the next reply acknowledges.
    pub fn acknowledged(&self) -> String {
        id_of(&self.lines.recv_timeout(PATIENCE).expect("a reply")).expect("a whole line")
    }

    /// Kills it; the ids of the tasks it has acknowledged since.
    pub fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
        self.lines.try_iter().filter_map(|line| id_of(&line)).collect()
    }
}

/// Returns the task in a line; `None` when the line is cut off, which does not count as an acknowledgement.
fn id_of(line: &[u8]) -> Option<String> {
    let line = line.strip_suffix(b"\n")?;
    let envelope: Value = envelope(&response(line));
    assert_eq!(envelope["ok"], true, "{envelope}");
    Some(envelope["data"]["id"].as_str().expect("a task").to_owned())
}
