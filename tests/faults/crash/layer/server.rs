//! A server that is driven through a script, until its end or its death.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE};
use tempfile::{NamedTempFile, TempDir};

use super::load::{PROGRAM, Script};
use super::replies::{self, Fate};
use super::shim::Layer;

/// Ends a server from outside.
#[derive(Debug, Clone, Copy)]
pub struct Kill {
    /// After so many replies
    pub replies: usize,
    /// and so long.
    pub delay: Duration,
}

/// How a script ended.
#[derive(Debug)]
pub struct Served {
    /// By the calls' places.
    pub fates: Vec<Fate>,
    pub process: u32,
    pub status: ExitStatus,
    pub stderr: String,
}

impl Served {
    /// How many calls were acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.fates.iter().filter(|fate| **fate == Fate::Done).count()
    }
}

/// A launch in that folder.
pub fn launch(folder: &Arc<TempDir>, layer: Option<&Layer>) -> Launch {
    let launch = Launch::new(PROGRAM).in_folder(folder.clone());
    match layer {
        Some(layer) => layer.under(launch),
        None => launch,
    }
}

/// Runs a server through the script. It ends with its input, by itself, by the layer or by the kill.
pub fn drive(launch: &Launch, script: &Script, kill: Option<Kill>) -> Served {
    let log = NamedTempFile::new().expect("a file for the log");
    let mut command = launch.command();
    let stderr: File = log.reopen().expect("the log opens");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .expect("the server starts");
    let lines = reader(&mut child);
    let stdin = child.stdin.take().expect("stdin is a pipe");
    let mut talk = Talk { child, lines, fates: vec![Fate::Open; script.calls.len()], answered: 0, kill };
    talk.speak(stdin, script);
    while talk.listen() {}
    let status = talk.ended();
    let stderr = std::fs::read_to_string(log.path()).unwrap_or_default();
    Served { fates: talk.fates, process: talk.child.id(), status, stderr }
}

fn reader(child: &mut Child) -> Receiver<Vec<u8>> {
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut line = Vec::new();
        while stdout.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            if sender.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    lines
}

/// A conversation under way.
struct Talk {
    child: Child,
    lines: Receiver<Vec<u8>>,
    fates: Vec<Fate>,
    answered: usize,
    kill: Option<Kill>,
}

impl Talk {
    /// Sends the script in bursts; its end is the input's.
    fn speak(&mut self, mut stdin: ChildStdin, script: &Script) {
        let mut sent = 0;
        for burst in script.bursts.iter().cycle() {
            let last = script.calls.len().min(sent + burst);
            let lines: String = (sent..last).map(|id| script.calls[id].line(id)).collect();
            sent = last;
            // The pipe breaks when the server dies.
            if stdin.write_all(lines.as_bytes()).is_err() || sent == script.calls.len() {
                break;
            }
            while self.answered + script.window < sent {
                if !self.listen() {
                    return;
                }
            }
        }
        // A kill may be due later than the answers that were waited for.
        while self.kill.is_some() && self.answered < sent && self.listen() {}
    }

    /// Takes the next reply; `false` when there will be none.
    fn listen(&mut self) -> bool {
        if let Some(kill) = self.kill
            && self.answered >= kill.replies
        {
            std::thread::sleep(kill.delay);
            self.child.kill().expect("the server can be killed");
            self.kill = None;
        }
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return false,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                let _ = self.child.kill();
                panic!("a server does not answer");
            }
        };
        // A line that is cut off in the middle does not count as an answer.
        if let Some(line) = line.strip_suffix(b"\n") {
            let (id, fate) = replies::read(line);
            assert_eq!(self.fates[id], Fate::Open, "call {id} is answered twice");
            self.fates[id] = fate;
            self.answered += 1;
        }
        true
    }

    fn ended(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("the server can be waited for") {
                return status;
            }
            if began.elapsed() > PATIENCE {
                let _ = self.child.kill();
                panic!("a server does not end");
            }
            std::thread::sleep(Duration::from_micros(300));
        }
    }
}
