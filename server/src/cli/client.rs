//! A small MCP client over a child server's pipes, which `call` and `demo` use. It is only as strict as
//! they need; the protocol's own tests use the official clients.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};

use serde::Serialize;
use serde_json::Value;

/// How the server is started.
#[derive(Default)]
pub struct Launch {
    /// Variables to set for it.
    pub set: Vec<(&'static str, OsString)>,
    /// Variables it must not inherit.
    pub unset: Vec<String>,
    /// Its working directory; `None` means ours.
    pub directory: Option<PathBuf>,
    /// It answers no call before its start is over.
    pub after_start: bool,
}

/// Why a request has no reply.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server could not be started.
    #[error("cannot start the server: {0}")]
    Start(#[source] io::Error),
    /// The pipe to the server failed.
    #[error("lost the connection to the server: {0}")]
    Pipe(#[source] io::Error),
    /// The server ended first.
    #[error("the server ended without a reply ({0}); its log above says why")]
    Ended(ExitStatus),
    /// The server's answer is not a valid reply.
    #[error("the server's reply cannot be read: {0}")]
    Strange(String),
}

/// A server's answer to one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// `result`.
    Result(Value),
    /// `error`.
    Error {
        /// `error.code`.
        code: i64,
        /// `error.message`.
        message: String,
    },
}

/// A request as it goes over the wire.
#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    params: P,
}

/// The parameters of `initialize`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello<'a> {
    protocol_version: &'static str,
    capabilities: Value,
    client_info: ClientInfo<'a>,
}

#[derive(Serialize)]
struct ClientInfo<'a> {
    name: &'a str,
    version: &'static str,
}

impl<'a> Hello<'a> {
    /// Offers the newest revision that begins with `initialize`.
    pub fn of(name: &'a str) -> Self {
        let client_info = ClientInfo { name, version: crate::VERSION };
        Self { protocol_version: "2025-11-25", capabilities: serde_json::json!({}), client_info }
    }
}

/// A child process that serves. Dropping it ends the process.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last_id: u64,
}

impl Client {
    /// Starts this program as a server. Its log goes where ours goes.
    ///
    /// # Errors
    /// [`ClientError::Start`].
    pub fn start(launch: &Launch) -> Result<Self, ClientError> {
        let program = std::env::current_exe().map_err(ClientError::Start)?;
        let mut command = std::process::Command::new(program);
        command
            .arg("serve")
            .args(launch.after_start.then_some("--after-start"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        for name in &launch.unset {
            command.env_remove(name);
        }
        command.envs(launch.set.iter().map(|(name, value)| (*name, value)));
        if let Some(directory) = &launch.directory {
            command.current_dir(directory);
        }
        let mut child = command.spawn().map_err(ClientError::Start)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stdout = stdout.ok_or_else(|| ClientError::Start(io::Error::other("no pipe to read from")))?;
        Ok(Self { child, stdin, stdout: BufReader::new(stdout), last_id: 0 })
    }

    /// Says who calls, for the server's log. The answer is not waited for.
    ///
    /// # Errors
    /// The pipe's error.
    pub fn introduce(&mut self, name: &str) -> Result<(), ClientError> {
        self.send("initialize", Hello::of(name)).map(drop)?;
        self.notify("notifications/initialized", serde_json::json!({}))
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// Any error that prevents the answer.
    pub fn request(&mut self, method: &str, params: impl Serialize) -> Result<Reply, ClientError> {
        let id = self.send(method, params)?;
        self.answer_to(id)
    }

    /// Sends one request, ends the input, and waits for the answer.
    ///
    /// # Errors
    /// Any error that prevents the answer.
    pub fn last_request(&mut self, method: &str, params: impl Serialize) -> Result<Reply, ClientError> {
        let id = self.send(method, params)?;
        self.stdin = None;
        self.answer_to(id)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// The pipe's error.
    pub fn notify(&mut self, method: &str, params: impl Serialize) -> Result<(), ClientError> {
        self.write(&Request { jsonrpc: "2.0", id: None, method, params })
    }

    /// Ends the server's input and waits until it has stopped.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn stop(mut self) -> Result<ExitStatus, ClientError> {
        self.stdin = None;
        self.child.wait().map_err(ClientError::Pipe)
    }

    fn send(&mut self, method: &str, params: impl Serialize) -> Result<u64, ClientError> {
        self.last_id += 1;
        self.write(&Request { jsonrpc: "2.0", id: Some(self.last_id), method, params })?;
        Ok(self.last_id)
    }

    fn write(&mut self, message: &impl Serialize) -> Result<(), ClientError> {
        let mut line = serde_json::to_vec(message)
            .map_err(|error| ClientError::Pipe(io::Error::other(error.to_string())))?;
        line.push(b'\n');
        let Some(stdin) = &mut self.stdin else {
            return Err(ClientError::Pipe(io::Error::other("its input has been closed")));
        };
        match stdin.write_all(&line).and_then(|()| stdin.flush()) {
            Ok(()) => Ok(()),
            // The server has ended; its exit status says more than the pipe's error.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(self.ended()),
            Err(error) => Err(ClientError::Pipe(error)),
        }
    }

    fn answer_to(&mut self, id: u64) -> Result<Reply, ClientError> {
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).map_err(ClientError::Pipe)? == 0 {
                return Err(self.ended());
            }
            let mut message: Value =
                serde_json::from_str(&line).map_err(|error| ClientError::Strange(error.to_string()))?;
            let of = message.get("id").cloned().unwrap_or_default();
            // A frame that the server could not read is answered without an id.
            if of.as_u64() != Some(id) && !of.is_null() {
                continue;
            }
            if let Some(result) = message.get_mut("result") {
                return Ok(Reply::Result(result.take()));
            }
            let error = message.get("error").cloned().unwrap_or_default();
            let Some(code) = error.get("code").and_then(Value::as_i64) else {
                return Err(ClientError::Strange("neither result nor error".to_owned()));
            };
            let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
            return Ok(Reply::Error { code, message });
        }
    }

    fn ended(&mut self) -> ClientError {
        self.stdin = None;
        match self.child.wait() {
            Ok(status) => ClientError::Ended(status),
            Err(error) => ClientError::Pipe(error),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // End of input ends the server. If it still runs, as after a failure, it is killed.
        self.stdin = None;
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
