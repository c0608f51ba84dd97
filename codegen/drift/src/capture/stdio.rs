//! A server over pipes: its process in a group of its own, one message a line, and its end.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::{Value, json};

use super::dialogue::{Answer, Connection, Trouble, answer_in, reply};
use super::signals;

/// The longest line that is read, in bytes.
const LINE_BYTES: u64 = 64 * 1024 * 1024;
/// How many messages wait to be read.
const WAITING: usize = 64;
/// How much of stderr is kept, from its end.
const STDERR_BYTES: usize = 8 * 1024;
/// How long a server may take to end after its input is closed, and then after a signal.
const END_WAIT: Duration = Duration::from_millis(500);
const TERM_WAIT: Duration = Duration::from_secs(1);
/// How often a wait looks at what has changed.
const TICK: Duration = Duration::from_millis(10);

/// What the server's output brings.
enum Piece {
    Message(Value),
    /// A line without a message.
    Other(String),
    /// A line that was meant as a message, or as a part of one, and what is wrong with it.
    Malformed(String),
    TooLong,
    Closed,
}

/// A running server.
pub struct Server {
    child: Child,
    group: Pid,
    /// Nothing once its input is closed.
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<Piece>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    /// What fills it until its other end is closed.
    keeper: JoinHandle<()>,
    /// Answers that came before they were waited for.
    early: Vec<(u64, Answer)>,
    /// It has answered something.
    greeted: bool,
    /// The first line without a message.
    other: Option<String>,
    reaped: bool,
}

impl Server {
    /// Starts the server with this process's environment.
    pub fn start(command: &[OsString]) -> Result<Self, Trouble> {
        let [program, arguments @ ..] = command else {
            return Err(Trouble::Start("no command was given".to_owned()));
        };
        let started = Command::new(program)
            .args(arguments)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child =
            started.map_err(|error| Trouble::Start(format!("{error}; is it installed, and in PATH?")))?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(group), (Some(stdin), Some(stdout), Some(stderr))) = (group, pipes) else {
            return Err(Trouble::Start("it has no pipes".to_owned()));
        };
        let (input, lines) = channel();
        let (pieces, output) = sync_channel(WAITING);
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let log = Arc::clone(&kept);
        // A pipe whose other end is not read blocks; then only its thread waits.
        thread::spawn(move || write_lines(stdin, &lines));
        thread::spawn(move || read_lines(stdout, &pieces));
        let keeper = thread::spawn(move || keep_end(stderr, &log));
        Ok(Self {
            child,
            group,
            input: Some(input),
            output,
            stderr: kept,
            keeper,
            early: Vec::new(),
            greeted: false,
            other: None,
            reaped: false,
        })
    }

    fn line(&self, message: &Value) {
        if let Some(input) = &self.input {
            // That the server has gone shows when it is read.
            let _ = input.send(format!("{message}\n").into_bytes());
        }
    }

    /// Takes what a message says: answers are kept, requests of the server are answered.
    fn take(&mut self, message: Value) {
        if let Value::Array(batch) = message {
            batch.into_iter().for_each(|message| self.take(message));
        } else if let Some(answer) = answer_in(&message) {
            self.greeted = true;
            self.early.push(answer);
        } else if let Some(reply) = reply(&message) {
            self.line(&reply);
        }
    }

    /// The exit status, once the process has ended. It stays a zombie, so that its group's number stays its own.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        self.reaped || !matches!(waitid(WaitId::Pid(self.group), options), Ok(None))
    }

    fn ends_within(&self, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        while !self.has_ended() {
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(TICK);
        }
        true
    }

    /// Ends the server as a client does, and kills what is left of its group. Returns the end of its stderr.
    pub fn end(mut self) -> String {
        self.stop();
        // What it wrote last may still be on its way; what it has left behind may write without end.
        let until = Instant::now() + END_WAIT;
        while !self.keeper.is_finished() && Instant::now() < until {
            thread::sleep(TICK);
        }
        let kept = self.stderr.lock().map(|kept| kept.iter().copied().collect()).unwrap_or_default();
        let kept: Vec<u8> = kept;
        let mut text = String::from_utf8_lossy(&kept).into_owned();
        if let Some(other) = self.other.take() {
            text.insert_str(0, &format!("(stdout, which is for messages alone: {other})\n"));
        }
        text
    }

    fn stop(&mut self) -> Option<ExitStatus> {
        if self.reaped {
            return None;
        }
        self.input = None;
        if !self.ends_within(END_WAIT) {
            // Launchers such as npx have children that outlive a signal to the launcher alone.
            let _ = kill_process_group(self.group, Signal::TERM);
            self.ends_within(TERM_WAIT);
        }
        // Before the leader is reaped: afterwards the number may become another group's.
        let _ = kill_process_group(self.group, Signal::KILL);
        self.reaped = true;
        self.child.wait().ok()
    }

    fn ended(&mut self, method: &'static str) -> Trouble {
        let by_itself = self.ends_within(END_WAIT);
        let how = match self.stop().filter(|_| by_itself) {
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, signal) => format!("signal {}", signal.unwrap_or_default()),
            },
            None => "its stdout is closed".to_owned(),
        };
        Trouble::Ended { method, how, greeted: self.greeted }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Connection for Server {
    fn send(&mut self, id: u64, method: &'static str, params: Value, _: Instant) -> Result<(), Trouble> {
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        Ok(())
    }

    fn answer(
        &mut self,
        ids: &[u64],
        method: &'static str,
        until: Instant,
    ) -> Result<(u64, Answer), Trouble> {
        loop {
            if signals::raised() {
                return Err(Trouble::Interrupted);
            }
            if let Some(at) = self.early.iter().position(|(id, _)| ids.contains(id)) {
                return Ok(self.early.swap_remove(at));
            }
            // A server that sends without end must not hold the capture.
            let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
            else {
                return Err(Trouble::Late(method));
            };
            match self.output.recv_timeout(left.min(10 * TICK)) {
                Ok(Piece::Message(message)) => self.take(message),
                Ok(Piece::Other(line)) => {
                    self.other.get_or_insert(line);
                }
                Ok(Piece::Malformed(what)) => {
                    return Err(Trouble::Unusable(format!(
                        "wrote a message that is not one line of JSON: {what}"
                    )));
                }
                Ok(Piece::TooLong) => {
                    let mebibytes = LINE_BYTES / (1024 * 1024);
                    return Err(Trouble::Unusable(format!("wrote a line of over {mebibytes} MiB")));
                }
                Ok(Piece::Closed) | Err(RecvTimeoutError::Disconnected) => return Err(self.ended(method)),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn notify(&mut self, method: &'static str, _: Instant) -> Result<(), Trouble> {
        self.line(&json!({ "jsonrpc": "2.0", "method": method }));
        Ok(())
    }

    fn agreed(&mut self, _: &str) {}
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: impl Read, pieces: &SyncSender<Piece>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let piece = match stdout.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => Piece::Closed,
            Ok(_) if line.len() as u64 >= LINE_BYTES && !line.ends_with(b"\n") => Piece::TooLong,
            Ok(_) => match piece_of(&line) {
                Some(piece) => piece,
                None => continue,
            },
        };
        let last = matches!(piece, Piece::Closed | Piece::TooLong);
        if pieces.send(piece).is_err() || last {
            return;
        }
    }
}

/// Reads a line; `None` if it is blank.
fn piece_of(line: &[u8]) -> Option<Piece> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    let shown = || String::from_utf8_lossy(line).chars().take(200).collect::<String>();
    match serde_json::from_slice(line) {
        _ if line.is_empty() => None,
        Ok(message @ (Value::Object(_) | Value::Array(_))) => Some(Piece::Message(message)),
        // Waiting for another answer would only end as a time-out.
        Err(error) if is_message(line) => Some(Piece::Malformed(format!("{error}: {}", shown()))),
        _ => Some(Piece::Other(shown())),
    }
}

/// Returns whether a line is meant as a message, or as a line of one that is printed over several. Servers also log messages that they
/// read, behind words of their own.
fn is_message(line: &[u8]) -> bool {
    const MARK: &[u8] = b"\"jsonrpc\"";
    line.starts_with(MARK) || line.starts_with(b"{") && line.windows(MARK.len()).any(|part| part == MARK)
}

fn keep_end(mut stderr: impl Read, kept: &Mutex<VecDeque<u8>>) {
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = stderr.read(&mut chunk) {
        let Ok(mut kept) = kept.lock() else { return };
        kept.extend(chunk.get(..length).unwrap_or_default());
        let over = kept.len().saturating_sub(STDERR_BYTES);
        kept.drain(..over);
    }
}
