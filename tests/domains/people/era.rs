//! A client of each era: one that sends `initialize`, and one whose every request carries `_meta`.

use colibri_test_support::client::{Launch, Server, envelope};
use serde_json::{Value, json};

/// How a client speaks to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With `initialize`.
    Handshake,
    /// Without it; each request says what `initialize` would have said.
    Stateless,
}

/// Both eras, for tests that hold in each.
pub const ERAS: [Era; 2] = [Era::Handshake, Era::Stateless];

/// The real server in a fresh folder.
pub fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// A client and its server.
pub struct Client {
    pub server: Server,
    era: Era,
}

impl Client {
    /// Starts a server in a fresh folder.
    pub fn new(era: Era) -> Self {
        Self::of(launch(), era)
    }

    /// Starts that server.
    pub fn of(launch: Launch, era: Era) -> Self {
        match era {
            Era::Handshake => Self::speaking(launch, "2025-06-18"),
            Era::Stateless => Self { server: launch.start(), era },
        }
    }

    /// Starts that server, and greets it in that revision.
    pub fn speaking(launch: Launch, revision: &str) -> Self {
        let mut server = launch.start();
        let client = json!({ "name": "people", "version": "1" });
        let hello = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
        let answer = server.request("initialize", hello);
        assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        Self { server, era: Era::Handshake }
    }

    /// Calls a tool and returns the envelope.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        envelope(&self.answer(tool, arguments))
    }

    /// Calls a tool and returns the whole answer.
    pub fn answer(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Sends a call whose progress the client wants to hear of under that token, and returns the request's id.
    pub fn send_with_token(&mut self, tool: &str, arguments: Value, token: Value) -> u64 {
        let mut params = self.params(json!({ "name": tool, "arguments": arguments }));
        params["_meta"]["progressToken"] = token;
        self.server.send_request("tools/call", params)
    }

    /// Sends a request of the era and returns the whole answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let params = self.params(params);
        self.server.request(method, params)
    }

    fn params(&self, mut params: Value) -> Value {
        if self.era == Era::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "people", "version": "1" },
            });
        }
        params
    }

    /// Returns what the server tells a model about itself.
    pub fn instructions(&mut self) -> String {
        let method = if self.era == Era::Stateless { "server/discover" } else { "initialize" };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "people", "version": "1" } });
        let answer = self.request(method, hello);
        answer["result"]["instructions"].as_str().unwrap().to_owned()
    }

    /// Calls a tool that succeeds, and returns its payload.
    pub fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let envelope = self.call(tool, arguments);
        assert_eq!(envelope["ok"], true, "{tool}: {envelope}");
        assert_ne!(envelope["data"]["ok"], false, "{tool}: {envelope}");
        envelope["data"].clone()
    }

    /// Returns the code of a refusal, in either pattern: the tool's own code of a Pattern A message, where it has one.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let envelope = self.call(tool, arguments);
        let error = match &envelope["ok"] {
            Value::Bool(true) => &envelope["data"]["error"],
            _ => &envelope["error"],
        };
        let (code, message) = (error["code"].as_str().unwrap(), error["message"].as_str().unwrap());
        let own = (code == "HANDLER_ERROR").then(|| message.split_once(':').map_or(message, |(own, _)| own));
        own.unwrap_or(code).to_owned()
    }
}
