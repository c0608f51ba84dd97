//! A client over pipes that can send anything, and waits for answers with a deadline.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use colibri::catalogue::CATALOGUE;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::sql::Connection;
use crate::{engine, probe};

/// How long an answer may take before the test fails; far beyond what any answer needs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How a server is started.
pub struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<(String, OsString)>,
    folder: Arc<TempDir>,
    stdin: Option<Stdio>,
}

impl Launch {
    /// A program in a fresh folder, which is its working directory and holds its database.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            variables: Vec::new(),
            folder: Arc::new(TempDir::new().expect("a temporary folder")),
            stdin: None,
        }
    }

    /// In the folder of another server: they share its database.
    #[must_use]
    pub fn beside(mut self, other: &Server) -> Self {
        self.folder = other.folder.clone();
        self
    }

    /// In a folder that outlives the server.
    #[must_use]
    pub fn in_folder(mut self, folder: Arc<TempDir>) -> Self {
        self.folder = folder;
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// On the database of that path, wherever the folder is.
    #[must_use]
    pub fn database(self, path: &Path) -> Self {
        let (name, value) = engine::variable(path);
        self.env(name, value)
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Gives the server that standard input instead of a pipe.
    #[must_use]
    pub fn stdin(mut self, stdin: Stdio) -> Self {
        self.stdin = Some(stdin);
        self
    }

    /// The folder.
    pub fn folder(&self) -> Arc<TempDir> {
        self.folder.clone()
    }

    /// Returns the command, its streams not yet set. It inherits none of the server's variables.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(self.folder.path());
        for (name, _) in std::env::vars_os() {
            let shown = name.to_string_lossy();
            if shown.starts_with("COLIBRI_") || shown.starts_with("AMS_") || shown.starts_with("PROBE_") {
                command.env_remove(&name);
            }
        }
        // A test that names a database itself gets no other.
        if !self.variables.iter().any(|(name, _)| name == "COLIBRI_DB_PATH" || name == "COLIBRI_DATABASE_URL")
        {
            let (name, value) = engine::variable(&self.folder.path().join("colibri.db"));
            command.env(name, value);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts it.
    pub fn start(mut self) -> Server {
        let mut command = self.command();
        command.stdin(self.stdin.take().unwrap_or_else(Stdio::piped));
        Server::spawn(command, self.folder)
    }
}

/// A running server.
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Arc<Mutex<String>>,
    threads: Vec<JoinHandle<()>>,
    folder: Arc<TempDir>,
    next_id: u64,
}

/// How a server ended.
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// Everything it wrote to stderr.
    pub stderr: String,
    /// The lines of stdout that no caller had taken.
    pub rest: Vec<Value>,
}

impl Ended {
    /// The exit code; -1 when a signal ended it.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    /// Returns the warnings it logged, without the one about the directory of skills, which most tests do not have.
    pub fn warnings(&self) -> Vec<&str> {
        warnings(&self.stderr)
    }

    /// The message of the last log line.
    pub fn last_message(&self) -> &str {
        let line = self.stderr.lines().last().unwrap_or_default();
        line.splitn(3, ' ').nth(2).unwrap_or_default()
    }
}

impl Server {
    /// Starts a command whose standard input is set, as a server with that folder.
    pub fn spawn(mut command: Command, folder: Arc<TempDir>) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the server starts");
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let reading = std::thread::spawn(move || {
            for line in stdout.split(b'\n') {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(String::new()));
        let (log, mut stream) = (stderr.clone(), child.stderr.take().expect("stderr is a pipe"));
        let logging = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut chunk) {
                log.lock().expect("the log").push_str(&String::from_utf8_lossy(&chunk[..length]));
            }
        });
        Server {
            stdin: child.stdin.take(),
            child,
            lines,
            stderr,
            threads: vec![reading, logging],
            folder,
            next_id: 0,
        }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder, to be kept when the server is gone.
    pub fn shared_folder(&self) -> Arc<TempDir> {
        self.folder.clone()
    }

    /// Its database: the path of the file, on PostgreSQL a name for it.
    pub fn database(&self) -> PathBuf {
        self.folder().join("colibri.db")
    }

    /// A connection of the test's own.
    pub fn sql(&self) -> Connection {
        engine::open(self.database())
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the server reads");
    }

    /// Writes one line.
    pub fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Writes one message.
    pub fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Writes a request under an id of its own, and returns the id.
    pub fn send_request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Writes a tool call without waiting for it.
    pub fn send_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send_request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Returns the next line of stdout; every line must be a JSON-RPC 2.0 response.
    pub fn receive(&mut self) -> Value {
        match self.receive_within(PATIENCE) {
            Some(message) => message,
            None => panic!("no answer; stderr so far:\n{}", self.stderr()),
        }
    }

    /// Returns the next line of stdout, which must be a batch: an array of JSON-RPC 2.0 responses.
    pub fn receive_batch(&mut self) -> Vec<Value> {
        let line = self.lines.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|_| panic!("no answer; stderr so far:\n{}", self.stderr()));
        let members: Vec<Box<serde_json::value::RawValue>> = serde_json::from_slice(&line)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&line)));
        members.iter().map(|member| response(member.get().as_bytes())).collect()
    }

    /// Returns the next line, or `None` when none comes in that time or the stream has ended.
    pub fn receive_within(&mut self, limit: Duration) -> Option<Value> {
        match self.lines.recv_timeout(limit) {
            Ok(line) => Some(response(&line)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Returns the next line as it is, with its newline, or `None` when none comes in that time.
    pub fn raw_line(&mut self, limit: Duration) -> Option<Vec<u8>> {
        let mut line = self.lines.recv_timeout(limit).ok()?;
        line.push(b'\n');
        Some(line)
    }

    /// Returns the next line, a response or a notification of progress, or `None` when none comes in that time.
    pub fn message_within(&mut self, limit: Duration) -> Option<Value> {
        let line = self.lines.recv_timeout(limit).ok()?;
        let message: Value = serde_json::from_slice(&line).expect("JSON");
        let noted = message["method"] == json!("notifications/progress");
        Some(if noted { message } else { response(&line) })
    }

    /// Sends a request and takes its answer, which must be the next one.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], json!(id), "{answer}");
        answer
    }

    /// Calls a tool and returns the envelope. The text block must say the same.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let envelope = envelope(&answer);
        assert_declared(tool, &envelope);
        envelope
    }

    /// Calls a tool that succeeds, and returns its payload.
    pub fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let envelope = self.call(tool, arguments);
        assert_eq!(envelope["ok"], json!(true), "{envelope}");
        assert_ne!(envelope["data"]["ok"], json!(false), "{envelope}");
        envelope["data"].clone()
    }

    /// Records a thought about a task, in a session of its own: then the task may be DONE.
    pub fn think(&mut self, id: &Value) {
        let session = self.data("audit_session_start", json!({ "intent": "work" }))["session_id"].clone();
        let thought = json!({ "type": "reflection", "task_id": id, "agent_id": "a", "content": "done", "session_id": session });
        self.data("thought_record", thought);
    }

    /// Moves a task from INIT to that state, one step at a time.
    pub fn walk(&mut self, id: &Value, to: &str) {
        for status in steps(to) {
            self.data("task_update", json!({ "id": id, "status": status }));
        }
    }

    /// Waits until the gate is open, by a call that waits there. The tool must need the store.
    pub fn ready_by(&mut self, tool: &str, arguments: Value) {
        self.data(tool, arguments);
    }

    /// Ends its input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Returns what it has written to stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().expect("the log").clone()
    }

    /// Waits until stderr holds a text.
    pub fn await_stderr(&self, text: &str) {
        let began = Instant::now();
        while !self.stderr().contains(text) {
            assert!(began.elapsed() < PATIENCE, "stderr never held {text:?}:\n{}", self.stderr());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends a signal by number.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()).status();
        assert!(status.expect("kill runs").success());
    }

    /// Kills it at once.
    pub fn kill(mut self) -> Ended {
        self.child.kill().expect("the server can be killed");
        self.wait()
    }

    /// Ends its input and waits for the clean stop.
    pub fn finish(mut self) -> Ended {
        self.close_stdin();
        self.wait()
    }

    /// Waits for its end; its input stays open.
    pub fn wait(mut self) -> Ended {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the server can be waited for") {
                break status;
            }
            if began.elapsed() > PATIENCE {
                let _ = self.child.kill();
                panic!("the server does not end; stderr:\n{}", self.stderr());
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        for thread in self.threads.drain(..) {
            thread.join().expect("the reader ends");
        }
        let rest = self.lines.try_iter().map(|line| response(&line)).collect();
        let stderr = self.stderr();
        Ended { status, stderr, rest }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the steps of a task from INIT to that state.
pub fn steps(to: &str) -> impl Iterator<Item = &'static str> {
    const STEPS: [&str; 6] = ["GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE"];
    let end = STEPS.iter().position(|step| *step == to).expect("a state behind INIT");
    STEPS.into_iter().take(end + 1)
}

/// See [`Ended::warnings`].
pub fn warnings(stderr: &str) -> Vec<&str> {
    let warnings = stderr.lines().filter(|line| line.contains(" WARN "));
    warnings.filter(|line| !line.contains("[Startup] no skills")).collect()
}

/// Reads a line as a JSON-RPC 2.0 response; anything else on stdout fails the test.
pub fn response(line: &[u8]) -> Value {
    let message: Value = serde_json::from_slice(line)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(line)));
    assert_eq!(message["jsonrpc"], json!("2.0"), "{message}");
    assert!(message.get("result").is_some() != message.get("error").is_some(), "{message}");
    message
}

/// Asserts that every code in an answer is the tool's own or the chain's (chain#envelopes), in any test.
fn assert_declared(tool: &str, envelope: &Value) {
    let error = if envelope["ok"] == json!(false) { &envelope["error"] } else { &envelope["data"]["error"] };
    let Some(code) = error["code"].as_str() else { return };
    let real = CATALOGUE.tools.iter().find(|spec| spec.name == tool);
    let spec = real.or_else(|| probe::CATALOGUE.tools.iter().find(|spec| spec.name == tool));
    let own = spec.map_or(&[][..], |spec| spec.codes);
    let codes = CATALOGUE.codes;
    let chain = [codes.invalid_params, codes.handler_error, codes.audit_enter_failed, codes.not_admitted];
    let known = own.contains(&code) || chain.iter().any(|role| role.code == code);
    assert!(known, "{tool} answers {code}: {envelope}");
    // The probe's faults carry the message that a test gives them.
    if real.is_some() && code == codes.handler_error.code {
        let message = error["message"].as_str().unwrap_or_default();
        let prefix = message.split_once(": ").map_or("", |(prefix, _)| prefix);
        let coded = !prefix.is_empty() && prefix.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
        let prefixes = [codes.storage_failure, codes.store_commit_failed, codes.startup_failed];
        let known = own.contains(&prefix) || prefixes.iter().any(|role| role.code == prefix);
        assert!(!coded || known, "{tool}: {message}");
    }
}

/// The codes of what a reply says beside its result.
pub fn notices(answer: &Value) -> Vec<String> {
    let block = answer["result"]["content"][1]["text"].as_str().unwrap_or("{}");
    let notice: Value = serde_json::from_str(block).expect("JSON");
    let codes = notice["warnings"].as_array().into_iter().flatten();
    codes.map(|warning| warning["code"].as_str().expect("a code").to_owned()).collect()
}

/// The envelope of a tool result.
pub fn envelope(answer: &Value) -> Value {
    let result = answer.get("result").unwrap_or_else(|| panic!("no result: {answer}"));
    let envelope = result["structuredContent"].clone();
    let content = result["content"].as_array().expect("content is an array");
    // A reply may say something beside its result.
    let notice =
        content.get(1).map_or("{\"warnings\":[0]}", |block| block["text"].as_str().expect("a text block"));
    let notice: Value = serde_json::from_str(notice).expect("JSON");
    assert!(
        content.len() <= 2 && notice["warnings"].as_array().is_some_and(|all| !all.is_empty()),
        "{result}"
    );
    let text: Value = serde_json::from_str(content[0]["text"].as_str().expect("a text block")).expect("JSON");
    assert_eq!(text, envelope, "text block and structured content agree");
    assert_eq!(result.get("isError"), (envelope["ok"] == json!(false)).then_some(&json!(true)), "{result}");
    envelope
}
