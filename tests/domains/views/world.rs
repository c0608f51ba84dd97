//! A database that several callers share, and the commands that look at it.

use std::path::PathBuf;
use std::sync::Arc;

use colibri_test_support::client::{Launch, Server, envelope};
use colibri_test_support::shell::Run;
use colibri_test_support::sql::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::people::era::Era;

pub const BINARY: &str = env!("CARGO_BIN_EXE_colibri-under-test");

/// Who calls.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    pub actor: Option<&'a str>,
    pub client: Option<&'a str>,
    pub era: Era,
}

/// The folder with the database.
pub struct World {
    pub folder: Arc<TempDir>,
    key: Option<PathBuf>,
    /// The public key that signs, if one does.
    pub public_key: String,
}

impl World {
    pub fn new() -> Self {
        Self { folder: Arc::new(TempDir::new().unwrap()), key: None, public_key: String::new() }
    }

    /// Seals are signed.
    pub fn signing() -> Self {
        let mut world = Self::new();
        let key = world.folder.path().join("seal.key");
        let made = world.run(&["keys", "generate", key.to_str().unwrap(), "--json"]).ends(0).json();
        made["public_key"].as_str().unwrap().clone_into(&mut world.public_key);
        world.key = Some(key);
        world
    }

    /// Starts a server for a caller.
    pub fn serve(&self, caller: Caller<'_>) -> Client {
        let mut launch = Launch::new(BINARY).in_folder(self.folder.clone());
        if let Some(actor) = caller.actor {
            launch = launch.env("COLIBRI_ACTOR", actor);
        }
        if let Some(key) = &self.key {
            launch = launch.env("COLIBRI_PROOF_SIGNING_KEY_FILE", key);
        }
        let mut server = launch.start();
        let info = caller.client.map(|name| json!({ "name": name, "version": "1" }));
        if caller.era == Era::Handshake {
            let info = info.clone().unwrap_or_else(|| json!({ "name": "", "version": "" }));
            let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
            server.request("initialize", hello);
        }
        Client { server, info, era: caller.era }
    }

    /// Runs a command that has no key but those of its arguments.
    pub fn run(&self, arguments: &[&str]) -> Run {
        let launch = Launch::new(BINARY).in_folder(self.folder.clone()).env("TZ", "UTC");
        let launch = arguments.iter().fold(launch, |launch, argument| launch.arg(argument));
        Run::of(launch.command().output().unwrap())
    }

    pub fn text(&self, arguments: &[&str]) -> String {
        self.run(arguments).ends(0).out
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        let whole: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        self.run(&whole).ends(0).json()
    }

    /// The rows of `colibri log --json`.
    pub fn log(&self) -> Vec<Value> {
        let rows = self.run(&["log", "--json"]).ends(0).out;
        rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
    }

    /// Writes a page, and returns it with the command's end.
    pub fn page(&self, command: &[&str]) -> (Run, String) {
        let file = self.folder.path().join("page.html");
        let html = ["--html", file.to_str().unwrap()];
        let run = self.run(&[command, &html].concat());
        let page = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(file);
        (run, page)
    }

    pub fn sql(&self) -> Connection {
        colibri_test_support::engine::open(self.folder.path().join("colibri.db"))
    }
}

/// A client with the name that it gives itself.
pub struct Client {
    pub server: Server,
    info: Option<Value>,
    era: Era,
}

impl Client {
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if self.era == Era::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            if let Some(info) = &self.info {
                params["_meta"]["io.modelcontextprotocol/clientInfo"] = info.clone();
            }
        }
        envelope(&self.server.request("tools/call", params))
    }

    pub fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let envelope = self.call(tool, arguments);
        assert_eq!(envelope["ok"], true, "{tool}: {envelope}");
        assert_ne!(envelope["data"]["ok"], false, "{tool}: {envelope}");
        envelope["data"].clone()
    }

    /// Creates a task, and returns its id.
    pub fn create(&mut self, arguments: Value) -> String {
        self.data("task_create", arguments)["id"].as_str().unwrap().to_owned()
    }
}

/// The end of an id that the server made.
pub fn short(id: &str) -> &str {
    &id[id.len() - 8..]
}

/// How views show an agent and a caller of `colibri log --json`: known names bare, claimed ones in quotes.
pub fn shown(agent: Option<&str>, caller: &Value) -> String {
    let text = |name: &str| caller[name].as_str();
    let (actor, client) = (text("actor"), text("client_title").or(text("client_name")));
    let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let known = match (actor, client) {
        (Some(actor), _) => Some(actor.to_owned()),
        (None, None) if caller.is_object() => {
            Some(format!("{}@{}", text("os_user").unwrap(), text("host").unwrap()))
        }
        _ => None,
    };
    let agent = agent.filter(|agent| Some(*agent) != actor && Some(*agent) != client).map(quoted);
    let parts: Vec<String> = agent.into_iter().chain(known).chain(client.map(quoted)).collect();
    match parts.as_slice() {
        [] => "-".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} ({})", rest.join(", ")),
    }
}

/// A text as a page has it.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
