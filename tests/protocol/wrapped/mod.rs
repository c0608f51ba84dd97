//! `colibri wrap` in front of a server that plays what the test asks of it.
//!
//! [`bytes`] what passes and in which form, [`ids`] which answer belongs to which request, [`recorded`] what the row of a call holds,
//! [`noted`] what is noted beside it, [`numbers`] how numbers are hashed,
//! [`large`] what long replies take, [`guide`] what the guide says, [`check`] what a server would be pinned with, and [`ends`] how a
//! run ends. [`place`] is a server whose tools change: [`pins`] says what counts as a change and how it is accepted, [`withheld`] and
//! [`admitted`] which tools a client sees, [`listing`] when `wrap` lists the tools itself, [`replay`] what the recorded versions of
//! public servers give, [`readers`] which lines readers divide differently, [`unread`] what a client does not read, [`chatter`] what the
//! server says on stderr, and [`hostile`] what servers do that mean harm.
//! Cases of the wire run in both eras.

mod admitted;
mod bytes;
mod chatter;
mod check;
mod ends;
mod guide;
mod hostile;
mod ids;
mod large;
mod listing;
mod noted;
mod numbers;
mod pins;
mod place;
mod readers;
mod recorded;
mod replay;
mod unread;
mod withheld;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE, Server};
use serde_json::{Value, json};

/// The server under test, and the one that it wraps.
const COLIBRI: &str = env!("CARGO_BIN_EXE_colibri-under-test");
const ODD: &str = env!("CARGO_BIN_EXE_odd-server");

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    Handshake,
    Stateless,
}

const ERAS: [Era; 2] = [Era::Handshake, Era::Stateless];

/// How `wrap` is started.
struct Setup {
    era: Era,
    options: Vec<String>,
    odd: Vec<String>,
    variables: Vec<(String, String)>,
}

/// A row of a wrapped call.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    tool: String,
    request_id: String,
    outcome: Option<String>,
    code: Option<String>,
    message: Option<String>,
    args_hash: String,
    result_hash: Option<String>,
}

impl Row {
    /// The outcome, or `running`, with the code behind a slash.
    fn ending(&self) -> String {
        let outcome = self.outcome.as_deref().unwrap_or("running");
        self.code.as_ref().map_or_else(|| outcome.to_owned(), |code| format!("{outcome}/{code}"))
    }
}

impl Setup {
    fn new(era: Era) -> Self {
        Self { era, options: Vec::new(), odd: Vec::new(), variables: Vec::new() }
    }

    /// With options of `wrap`.
    fn with(mut self, options: &[&str]) -> Self {
        self.options.extend(options.iter().map(|option| (*option).to_owned()));
        self
    }

    /// With arguments of the server.
    fn odd(mut self, arguments: &[&str]) -> Self {
        self.odd.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn start(self) -> Wrapped {
        self.start_in(Launch::new(COLIBRI))
    }

    fn start_in(self, launch: Launch) -> Wrapped {
        let log = launch.folder().path().join("odd.log");
        let mut launch = launch.arg("wrap").arg("--name").arg("odd");
        for option in &self.options {
            launch = launch.arg(option);
        }
        launch = launch.arg("--").arg(ODD).arg("--log").arg(&log);
        for argument in &self.odd {
            launch = launch.arg(argument);
        }
        for (name, value) in &self.variables {
            launch = launch.env(name, value);
        }
        let mut wrapped = Wrapped { server: launch.start(), era: self.era, capabilities: json!({}), log };
        if self.era == Era::Handshake {
            let params = json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "wrap-tests", "version": "1" },
            });
            wrapped
                .send(&json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params }));
            let answer = wrapped.message();
            assert_eq!(answer["id"], "hello", "{answer}");
            wrapped.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        wrapped
    }
}

/// A run of `wrap`, as its client has it.
struct Wrapped {
    server: Server,
    era: Era,
    /// What the client says that it can do.
    capabilities: Value,
    log: PathBuf,
}

impl Wrapped {
    /// Starts with what most tests want.
    fn new(era: Era) -> Self {
        Setup::new(era).start()
    }

    fn send(&mut self, message: &Value) {
        self.server.send(message);
    }

    /// The call of a tool as a message.
    fn call(&self, id: Value, tool: &str, arguments: Value) -> Value {
        let mut call = json!({
            "jsonrpc": "2.0",
            "id": id,
            "method": "tools/call",
            "params": { "name": tool, "arguments": arguments },
        });
        if self.era == Era::Stateless {
            call["params"]["_meta"] = self.meta();
        }
        call
    }

    /// Any request.
    fn request(&self, id: Value, method: &str) -> Value {
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} });
        if self.era == Era::Stateless {
            request["params"]["_meta"] = self.meta();
        }
        request
    }

    /// What a stateless request says of itself.
    fn meta(&self) -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            "io.modelcontextprotocol/clientInfo": { "name": "wrap-tests", "version": "1" },
        })
    }

    /// Asks the server to play a script.
    fn play(&mut self, id: Value, steps: Value) {
        let call = self.call(id, "play", json!({ "steps": steps }));
        self.send(&call);
    }

    /// Calls `echo` and takes its answer, which must be the next line.
    fn echo(&mut self, id: Value) {
        let call = self.call(id.clone(), "echo", json!({ "n": 1 }));
        self.send(&call);
        let answer = self.message();
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer["result"]["content"].is_array(), "{answer}");
    }

    /// Calls `echo`, and hands over each message that comes before its answer.
    fn echo_after(&mut self, id: Value, mut before: impl FnMut(Value)) {
        let call = self.call(id.clone(), "echo", json!({}));
        self.send(&call);
        loop {
            let answer = self.message();
            if answer["id"] == id {
                return;
            }
            before(answer);
        }
    }

    /// The next line, newline included.
    fn line(&mut self) -> Vec<u8> {
        let line = self.server.raw_line(PATIENCE);
        line.unwrap_or_else(|| panic!("no line; stderr so far:\n{}", self.server.stderr()))
    }

    /// The next line as JSON.
    fn message(&mut self) -> Value {
        let line = self.line();
        serde_json::from_slice(&line)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&line)))
    }

    /// The rows of wrapped calls, oldest first.
    fn rows(&self) -> Vec<Row> {
        let sql = "SELECT tool, request_id, outcome, error_code, error_message, args_hash, result_hash FROM actions \
                   WHERE tool LIKE '%/%' ORDER BY sequence_no";
        self.server
            .sql()
            .prepare(sql)
            .unwrap()
            .query_map([], |row| {
                Ok(Row {
                    tool: row.get(0)?,
                    request_id: row.get(1)?,
                    outcome: row.get(2)?,
                    code: row.get(3)?,
                    message: row.get(4)?,
                    args_hash: row.get(5)?,
                    result_hash: row.get(6)?,
                })
            })
            .unwrap()
            .map(Result::unwrap)
            .collect()
    }

    /// How the rows have ended, oldest first.
    fn endings(&self) -> Vec<String> {
        self.rows().iter().map(Row::ending).collect()
    }

    /// Waits until the rows have ended so.
    fn await_endings(&self, expected: &[&str]) {
        let began = Instant::now();
        while self.endings() != expected {
            assert!(began.elapsed() < PATIENCE, "{:?} instead of {expected:?}", self.endings());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What the server has read so far.
    fn read(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Waits until the server has read a text.
    fn await_read(&self, text: &str) {
        let began = Instant::now();
        while !self.read().contains(text) {
            assert!(began.elapsed() < PATIENCE, "the server never read {text:?}:\n{}", self.read());
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// A result that answers the call which plays it.
fn result(text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":${{id}},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
}
