//! A client that makes one call at a time, over the pipes of a process.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Answered;

/// The revision that the client asks for; any answer to it will do.
const REVISION: &str = "2025-11-25";

/// How long a server may take to end.
const PARTING: Duration = Duration::from_secs(2);

/// A server's process and its pipes.
pub(super) struct Client {
    process: Child,
    /// `None` once it is closed.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    timeout: Duration,
    requests: u64,
}

impl Client {
    /// Starts the command. What it writes to stderr is shown as it is.
    pub fn start(words: Vec<OsString>, timeout: Duration) -> Result<Self, String> {
        let mut words = words.into_iter();
        let program = words.next().unwrap_or_default();
        let spawned = Command::new(&program).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let failed = |reason: String| {
            format!(
                "`{}` cannot be started: {reason}; write the command behind `--`",
                program.to_string_lossy()
            )
        };
        let mut process = spawned.map_err(|error| failed(error.to_string()))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(failed("it has no pipes".to_owned()));
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(output).split(b'\n');
            while let Some(Ok(line)) = lines.next() {
                // The client may be gone before the server.
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        });
        Ok(Self { process, input: Some(input), lines, timeout, requests: 0 })
    }

    /// Opens the session.
    pub fn greet(&mut self) -> Result<(), String> {
        let client = json!({ "name": "colibri-codegen", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": REVISION, "capabilities": {}, "clientInfo": client });
        self.request("initialize", &params)?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        Ok(())
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answered, String> {
        let result = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let reply = match result.get("structuredContent") {
            Some(content) => content.clone(),
            None => {
                let text = result["content"][0]["text"].as_str();
                let text =
                    text.ok_or_else(|| format!("{tool} answered neither structure nor text: {result}"))?;
                serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
            }
        };
        Ok(Answered { reply, is_error: result["isError"] == true })
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let deadline = Instant::now() + self.timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).map_err(|error| match error {
                RecvTimeoutError::Timeout => {
                    format!("no answer to {method} within {} s", self.timeout.as_secs())
                }
                RecvTimeoutError::Disconnected => format!("the server ended before it answered {method}"),
            })?;
            let mut message: Value = match serde_json::from_str(&line) {
                Ok(message) => message,
                Err(_) if line.trim().is_empty() => continue,
                Err(_) => return Err(format!("a line of stdout is not JSON: {line}")),
            };
            // Notifications, and requests of the server's, do not answer this call.
            if message["id"] != id || message.get("method").is_some() {
                continue;
            }
            if let Some(error) = message.get("error") {
                return Err(format!("{method} failed: {error}"));
            }
            return Ok(message["result"].take());
        }
    }

    fn send(&mut self, message: &Value) {
        if let Some(input) = &mut self.input {
            // A server that does not read any more has ended, which the wait for its answer finds.
            let _ = writeln!(input, "{message}").and_then(|()| input.flush());
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The end of its input is what ends a server; a launcher then ends with the server that it started.
        drop(self.input.take());
        let deadline = Instant::now() + PARTING;
        while Instant::now() < deadline && matches!(self.process.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(2));
        }
        // Killing a process that has ended does nothing.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
