//! A relay in front of the scripted server, and its client.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::crash::layer::shim::Layer;

pub const COLIBRI: &str = env!("CARGO_BIN_EXE_colibri-under-test");
const CARELESS: &str = env!("CARGO_BIN_EXE_careless-relay");
const ODD: &str = env!("CARGO_BIN_EXE_odd-server");

/// What stands between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relay {
    /// `colibri wrap`.
    Wrap,
    /// The careless relay with that mistake.
    Careless(&'static str),
}

/// How a relay and its server are started.
#[derive(Clone)]
pub struct Setup {
    pub relay: Relay,
    pub name: String,
    pub folder: Arc<TempDir>,
    pub durability: &'static str,
    pub pin: &'static str,
    /// Steps that the server plays first, JSON.
    pub start: Option<String>,
    /// The server looks for the row of each call.
    pub looks: bool,
    /// Between the relay and its files.
    pub layer: Option<Layer>,
}

impl Setup {
    pub fn new(relay: Relay, name: &str, folder: &Arc<TempDir>) -> Self {
        let (name, folder) = (name.to_owned(), folder.clone());
        Self { relay, name, folder, durability: "full", pin: "off", start: None, looks: false, layer: None }
    }

    /// The lines that the server has read.
    pub fn log(&self) -> PathBuf {
        self.beside("log")
    }

    /// Holds the server's process id.
    pub fn pid(&self) -> PathBuf {
        self.beside("pid")
    }

    /// A file of that kind, named after the relay.
    pub fn beside(&self, kind: &str) -> PathBuf {
        self.folder.path().join(format!("{}.{kind}", self.name))
    }

    /// Returns whether the server has read a line with that text.
    pub fn has_read(&self, text: &str) -> bool {
        std::fs::read_to_string(self.log()).unwrap_or_default().contains(text)
    }

    pub fn start(&self) -> Client {
        Client::start(self)
    }

    pub fn command(&self) -> Command {
        let program = if self.relay == Relay::Wrap { COLIBRI } else { CARELESS };
        let launch = Launch::new(program).in_folder(self.folder.clone());
        let launch = launch.env("COLIBRI_DURABILITY", self.durability);
        let launch = match self.relay {
            Relay::Wrap => launch.arg("wrap").arg("--pin").arg(self.pin),
            Relay::Careless(fault) => launch.arg("--fault").arg(fault),
        };
        let launch = launch.arg("--name").arg(&self.name).arg("--");
        let mut launch = match &self.layer {
            // The server's own files are none of the layer's business.
            Some(layer) => layer.under(launch).arg("env").arg("-u").arg("LD_PRELOAD"),
            None => launch,
        };
        launch = launch.arg(ODD).arg("--log").arg(self.log()).arg("--pid").arg(self.pid());
        if let Some(steps) = &self.start {
            launch = launch.arg("--start").arg(steps);
        }
        if self.looks {
            launch = launch.arg("--rows").arg(self.folder.path().join("colibri.db"));
        }
        launch.command()
    }
}

/// What a client hears next.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// A line, newline included.
    Line(Vec<u8>),
    /// More of a line that has not ended.
    Part,
    /// Nothing in that time.
    Nothing,
    /// The end of the stream.
    End,
}

/// The client of a relay. The processes behind it end with it.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    chunks: Receiver<Vec<u8>>,
    /// What came and was not taken as lines yet.
    pub rest: Vec<u8>,
    /// So much of it holds no newline.
    searched: usize,
    pid_file: PathBuf,
    stderr: PathBuf,
}

impl Client {
    fn start(setup: &Setup) -> Self {
        let stderr = setup.beside("stderr");
        let mut command = setup.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.stderr(std::fs::File::create(&stderr).unwrap()).spawn().expect("the relay starts");
        let mut stdout = child.stdout.take().expect("a pipe");
        let (sender, chunks) = channel();
        std::thread::spawn(move || {
            let mut chunk = vec![0; 64 * 1024];
            while let Ok(length @ 1..) = stdout.read(&mut chunk) {
                if sender.send(chunk[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            chunks,
            rest: Vec::new(),
            searched: 0,
            pid_file: setup.pid(),
            stderr,
        }
    }

    /// Shakes hands; `false` if the relay ended before.
    pub fn greet(&mut self) -> bool {
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "fault-tests", "version": "1" } });
        self.send(&json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params }));
        match self.hear(PATIENCE) {
            Heard::Line(line) => assert!(line.windows(7).any(|part| part == b"\"hello\""), "no greeting"),
            Heard::End => return false,
            other => panic!("{other:?} instead of a greeting; stderr: {}", self.stderr()),
        }
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    /// Writes a line; `false` if the relay no longer reads.
    pub fn send(&mut self, message: &Value) -> bool {
        self.write(format!("{message}\n").as_bytes())
    }

    pub fn write(&mut self, bytes: &[u8]) -> bool {
        self.stdin.as_mut().is_some_and(|stdin| stdin.write_all(bytes).and_then(|()| stdin.flush()).is_ok())
    }

    /// Returns the next line, or what else is to be heard within that time.
    pub fn hear(&mut self, limit: Duration) -> Heard {
        if let Some(line) = self.line() {
            return Heard::Line(line);
        }
        match self.chunks.recv_timeout(limit) {
            Ok(chunk) => {
                self.rest.extend_from_slice(&chunk);
                self.line().map_or(Heard::Part, Heard::Line)
            }
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::End,
        }
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        let Some(end) = self.rest[self.searched..].iter().position(|byte| *byte == b'\n') else {
            self.searched = self.rest.len();
            return None;
        };
        let rest = self.rest.split_off(self.searched + end + 1);
        self.searched = 0;
        Some(std::mem::replace(&mut self.rest, rest))
    }

    /// Returns the next line as JSON.
    pub fn message(&mut self) -> Value {
        loop {
            match self.hear(PATIENCE) {
                Heard::Line(line) => return serde_json::from_slice(&line).expect("JSON"),
                Heard::Part => {}
                other => panic!("{other:?} instead of a line; stderr: {}", self.stderr()),
            }
        }
    }

    /// Takes what comes until so many bytes of a line that has not ended are here.
    pub fn await_part(&mut self, bytes: usize) {
        while self.rest.len() < bytes {
            assert_eq!(self.hear(PATIENCE), Heard::Part, "stderr: {}", self.stderr());
        }
    }

    pub fn close(&mut self) {
        self.stdin = None;
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the relay.
    pub fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
    }

    /// Waits for the relay's end.
    pub fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "the relay does not end; stderr: {}", self.stderr());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn stderr(&self) -> String {
        std::fs::read_to_string(&self.stderr).unwrap_or_default()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A careless relay leaves its server behind.
        end_process(&self.pid_file);
    }
}

/// Kills the process of the test's own whose id a file holds, if it is there.
pub fn end_process(pid_file: &Path) {
    let Some(pid) = read_pid(pid_file) else { return };
    let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    // The number may be another program's by now.
    if command.contains("odd-server") || command.contains("sleep 60") {
        let _ = Command::new("kill").arg("-9").arg(pid.to_string()).stderr(Stdio::null()).status();
    }
}

/// The process id in a file.
pub fn read_pid(file: &Path) -> Option<u32> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Returns whether a process is there and not only a zombie.
pub fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.starts_with(" Z"))
}

/// Waits until a condition holds; returns whether it does within that time.
pub fn holds_within(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !condition() {
        if began.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}
