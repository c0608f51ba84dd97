//! A server that plays a script: over pipes as this test's own program, and behind a loopback listener.

use std::io::{BufRead, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// The variable with the script. With it, the test below plays instead of testing.
pub const SCRIPT: &str = "MCP_DRIFT_TEST_SCRIPT";
/// Where a start of the server leaves the number of the process that it started itself.
pub const CHILD: &str = "MCP_DRIFT_TEST_CHILD";
/// The test that plays.
pub const PLAYER: &str = "play::the_scripted_server_ends_with_its_input";

/// What a server says. Members of a script:
///
/// `eras` (`handshake`, `stateless`), `tools`, `prompts`, `resources`, `templates`: what is listed; `page`: entries a page;
/// `instructions`; `odd`: what it does beside answering, as `has` reads it.
pub struct Play {
    script: Value,
    greeted: bool,
    roots: bool,
}

impl Play {
    pub fn new(script: Value) -> Self {
        Self { script, greeted: false, roots: false }
    }

    pub fn has(&self, odd: &str) -> bool {
        self.script["odd"].as_array().into_iter().flatten().any(|name| name == odd)
    }

    fn speaks(&self, era: &str) -> bool {
        self.script["eras"].as_array().into_iter().flatten().any(|name| name == era)
    }

    fn list(&self, name: &str) -> Vec<Value> {
        let mut entries = self.script[name].as_array().cloned().unwrap_or_default();
        for entry in &mut entries {
            if let Some(text) = entry["description"].as_str().map(str::to_owned) {
                let process = std::process::id().to_string();
                let token = std::env::var("PLAYED_API_TOKEN").unwrap_or_default();
                entry["description"] = text.replace("{process}", &process).replace("{token}", &token).into();
            }
        }
        entries
    }

    /// The messages that answer one.
    pub fn answers(&mut self, message: &Value) -> Vec<Value> {
        let id = &message["id"];
        let Some(method) = message["method"].as_str() else {
            self.roots |= *id == "own-roots" && message["result"]["roots"].is_array();
            return Vec::new();
        };
        if id.is_null() {
            return Vec::new();
        }
        let mut said: Vec<Value> = Vec::new();
        if self.has("chatty") {
            said.push(json!({"jsonrpc": "2.0", "id": "own-ping", "method": "ping"}));
            said.push(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hi"}}));
            said.push(
                json!({"jsonrpc": "2.0", "id": 999_999, "result": {"tools": "an answer to another request"}}),
            );
        }
        if self.has("roots") && method == "tools/list" && !self.roots {
            said.push(json!({"jsonrpc": "2.0", "id": "own-roots", "method": "roots/list"}));
        }
        let outcome = self.outcome(method, &message["params"]);
        let answer = match outcome {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, text)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})
            }
        };
        if self.has("batches") {
            vec![Value::Array([said, vec![answer]].concat())]
        } else {
            [said, vec![answer]].concat()
        }
    }

    fn outcome(&mut self, method: &str, params: &Value) -> Result<Value, (i64, String)> {
        let stateless = params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28";
        let unknown = Err((-32601, format!("Method not found: {method}")));
        let identity = json!({"name": "played", "version": "1.0.0", "title": null});
        let mut capabilities = Map::new();
        for (name, lists) in [
            ("tools", ["tools", ""]),
            ("prompts", ["prompts", ""]),
            ("resources", ["resources", "templates"]),
        ] {
            if lists.iter().any(|list| self.script[*list].is_array()) {
                capabilities.insert(name.to_owned(), json!({}));
            }
        }
        match method {
            "initialize" if self.speaks("handshake") => {
                self.greeted = true;
                Ok(
                    json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": identity,
                    "instructions": self.script["instructions"]}),
                )
            }
            "server/discover" if self.speaks("stateless") && stateless => Ok(json!({
                "supportedVersions": ["2026-07-28", "2025-11-25"], "capabilities": capabilities, "ttlMs": 1,
                "resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": identity, "trace": std::process::id()},
            })),
            "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
                let known = if stateless { self.speaks("stateless") } else { self.greeted };
                if !known {
                    return Err((-32600, "not initialized".to_owned()));
                }
                let (list, member) = match method {
                    "tools/list" => ("tools", "tools"),
                    "prompts/list" => ("prompts", "prompts"),
                    "resources/list" => ("resources", "resources"),
                    _ => ("templates", "resourceTemplates"),
                };
                if list == "templates" && !self.script["templates"].is_array() {
                    return unknown;
                }
                let entries = self.list(list);
                let from = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
                let until = self.script["page"].as_u64().map_or(entries.len(), |page| from + page as usize);
                let mut result =
                    json!({ member: entries[from..until.min(entries.len())], "nextCursor": null });
                if until < entries.len() {
                    result["nextCursor"] = until.to_string().into();
                } else if self.has("begins again") {
                    result["nextCursor"] = "0".into();
                }
                if stateless {
                    result["ttlMs"] = 60_000.into();
                    result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": identity});
                }
                Ok(result)
            }
            _ => unknown,
        }
    }
}

/// Plays over stdin and stdout, and ends with the input.
fn play(script: &str) -> ! {
    let mut play = Play::new(serde_json::from_str(script).unwrap());
    let stdout = std::io::stdout();
    let mut stderr = std::io::stderr().lock();
    stderr.write_all(b"played: started\n").unwrap();
    if play.has("dies") {
        stderr.write_all(b"played: no API key\n").unwrap();
        std::process::exit(3);
    }
    if let Some(file) = std::env::var_os(CHILD) {
        let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        std::fs::write(file, child.id().to_string()).unwrap();
        // The child is killed with the server's group; no other thread waits for it.
        thread::spawn(move || child.wait());
    }
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let method = message["method"].as_str().unwrap_or_default();
        if play.has(&format!("ends at {method}")) {
            std::process::exit(1);
        }
        if play.has(&format!("silent at {method}")) {
            continue;
        }
        if play.has(&format!("slow at {method}")) {
            thread::sleep(Duration::from_millis(5_500));
        }
        let mut out = stdout.lock();
        if play.has("garbage") {
            out.write_all(b"Server is up!\n\n\xef\xbb\xbf[1]\r\n").unwrap();
        }
        for answer in play.answers(&message) {
            writeln!(out, "{answer}").unwrap();
        }
        out.flush().unwrap();
    }
    if play.has("stays") {
        thread::sleep(Duration::from_secs(600));
    }
    std::process::exit(0)
}

#[test]
fn the_scripted_server_ends_with_its_input() {
    if let Ok(script) = std::env::var(SCRIPT) {
        play(&script);
    }
    let mut server = Command::new(std::env::current_exe().unwrap());
    server.args(["--exact", PLAYER]).env(SCRIPT, r#"{"eras": []}"#).stdin(Stdio::null());
    let output = server.output().unwrap();
    assert!(output.status.success() && output.stderr.starts_with(b"played: started"), "{output:?}");
}
