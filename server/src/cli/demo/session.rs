//! The demonstration's client: MCP's handshake, then tool calls and the contents of their envelopes.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::Failure;
use super::super::client::{Client, Hello, Launch, Reply};
use super::unexpected;
use crate::catalogue::{CATALOGUE, ToolId};
use crate::settings::keys::{self, Entry};

/// A connected client.
pub struct Session {
    client: Client,
}

/// The result of a call.
pub enum Answer {
    /// The payload.
    Accepted(Value),
    /// The refusal that the tool declares.
    Refused {
        /// Its code.
        code: String,
        /// Its message.
        message: String,
    },
}

impl Session {
    /// Starts the server on the database with default settings and shakes hands; also returns
    /// the server's greeting.
    pub fn start(folder: &Path, database: &Path) -> Result<(Self, String), Failure> {
        let launch = Launch {
            after_start: false,
            // Otherwise the server would warn that the new folder has no skills, which is intended here.
            set: vec![(keys::DB_PATH.name, database.into()), (keys::LOG_LEVEL.name, "error".into())],
            unset: keys::all().map(Entry::name).map(str::to_owned).collect(),
            directory: Some(folder.to_owned()),
        };
        let mut client = Client::start(&launch)?;
        let greeting = result(client.request("initialize", Hello::of("colibri-demo"))?)?;
        let text = |pointer| greeting.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (server, version) = (text("/serverInfo/title"), text("/serverInfo/version"));
        let greeting_line = format!("{server} {version} speaks MCP {}", text("/protocolVersion"));
        client.notify("notifications/initialized", json!({}))?;
        let listed = result(client.request("tools/list", json!({}))?)?;
        let count = listed.get("tools").and_then(Value::as_array).map_or(0, Vec::len);
        if count != CATALOGUE.tools.len() {
            return Err(unexpected(format!("{count} tools instead of {}", CATALOGUE.tools.len())));
        }
        Ok((Self { client }, greeting_line))
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: ToolId, arguments: &Value) -> Result<Answer, Failure> {
        let params = json!({ "name": tool.name(), "arguments": arguments });
        let result = result(self.client.request("tools/call", params)?)?;
        let envelope = result.get("structuredContent").ok_or_else(|| unexpected(&result))?;
        let data = envelope.get("data").filter(|_| envelope.get("ok") == Some(&Value::Bool(true)));
        let data = data.ok_or_else(|| unexpected(envelope))?;
        if data.get("ok") != Some(&Value::Bool(false)) {
            return Ok(Answer::Accepted(data.clone()));
        }
        let text = |pointer| data.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Answer::Refused { code: text("/error/code"), message: text("/error/message") })
    }

    /// Calls a tool that must not refuse.
    pub fn accepted<T: DeserializeOwned>(&mut self, tool: ToolId, arguments: &Value) -> Result<T, Failure> {
        match self.call(tool, arguments)? {
            Answer::Accepted(data) => serde_json::from_value(data).map_err(unexpected),
            Answer::Refused { code, message } => Err(unexpected(format!("{code}: {message}"))),
        }
    }

    /// Ends the connection and waits for the server's clean stop.
    pub fn stop(self) -> Result<(), Failure> {
        let status = self.client.stop()?;
        if status.success() { Ok(()) } else { Err(unexpected(format!("it ended with {status}"))) }
    }
}

fn result(reply: Reply) -> Result<Value, Failure> {
    match reply {
        Reply::Result(result) => Ok(result),
        Reply::Error { code, message } => Err(unexpected(format!("{message} ({code})"))),
    }
}
