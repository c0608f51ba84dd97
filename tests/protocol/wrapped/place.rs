//! A server whose tools change: what it lists, what a client reads of it, and what is stored.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use colibri_canonical::HexDigest;
use colibri_test_support::client::{Ended, Launch, PATIENCE};
use colibri_test_support::engine;
use colibri_test_support::shell::Run;
use colibri_test_support::sql::Connection;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{COLIBRI, Era, Row, Setup, Wrapped};

/// How the ids of `wrap`'s own requests begin.
pub const OWN: &str = "colibri-wrap:";

/// A folder with a database, and the list of the server that is wrapped there.
pub struct Place {
    folder: Arc<TempDir>,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: Arc::new(TempDir::new().unwrap()) }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The server lists these tools from now on.
    pub fn lists(&self, tools: &[Value]) {
        self.gives(&json!([{ "tools": tools }]).to_string());
    }

    /// The server gives these pages from now on, written like this.
    pub fn gives(&self, pages: &str) {
        // The server reads either the old list or the new one, and nothing between them.
        std::fs::write(self.path("tools.new"), pages).unwrap();
        std::fs::rename(self.path("tools.new"), self.path("tools.json")).unwrap();
    }

    pub fn start(&self, setup: Setup) -> Wrapped {
        let tools = self.path("tools.json");
        let setup = setup.env("COLIBRI_LOG_LEVEL", "info").odd(&["--tools", tools.to_str().unwrap()]);
        setup.start_in(Launch::new(COLIBRI).in_folder(self.folder.clone()))
    }

    /// Starts a run in which the client has sent nothing yet.
    pub fn start_silent(&self, setup: Setup) -> Wrapped {
        let era = setup.era;
        // No client of the stateless era says anything at the start.
        let mut wrap = self.start(Setup { era: Era::Stateless, ..setup });
        wrap.era = era;
        wrap
    }

    /// Starts a run whose client asks for the instructions as its era does; the line of the answer is the second part.
    pub fn greeted(&self, setup: Setup) -> (Wrapped, String) {
        let mut wrap = self.start_silent(setup);
        let line = wrap.greet();
        wrap.initialized();
        (wrap, line)
    }

    /// Pins what the server lists, in a run of its own.
    pub fn pin(&self, era: Era) {
        let (mut wrap, _) = self.greeted(Setup::new(era));
        wrap.list("pin");
        assert_eq!(wrap.end().code(), 0);
        assert_eq!(self.events(), ["pinned"]);
    }

    /// Runs a command there.
    pub fn run(&self, words: &[&str]) -> Run {
        let launch = Launch::new(COLIBRI).in_folder(self.folder.clone());
        let launch = words.iter().fold(launch, |launch, word| launch.arg(word));
        Run::of(launch.command().output().unwrap())
    }

    pub fn sql(&self) -> Connection {
        engine::open(self.path("colibri.db"))
    }

    /// Event and hash of each row of `tool_pins`.
    pub fn pins(&self) -> Vec<(String, String)> {
        let sql = "SELECT event, list_hash FROM tool_pins WHERE name = 'odd' ORDER BY pin_no";
        let conn = self.sql();
        let mut rows = conn.prepare(sql).unwrap();
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    }

    pub fn events(&self) -> Vec<String> {
        self.pins().into_iter().map(|(event, _)| event).collect()
    }

    /// Waits until so many rows of `tool_pins` are stored: no call and no list waits for those of `wrap`'s own listings.
    pub fn await_events(&self, expected: &[&str]) {
        let began = Instant::now();
        while self.events() != expected {
            assert!(began.elapsed() < PATIENCE, "{:?} instead of {expected:?}", self.events());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The first digits of the newest list's hash, as outputs show it.
    pub fn newest(&self) -> String {
        self.pins().last().unwrap().1[..12].to_owned()
    }

    /// How many calls of an operation the log has.
    pub fn operations(&self, tool: &str) -> i64 {
        let sql = "SELECT count(*) FROM actions WHERE tool = ?1";
        self.sql().query_row(sql, [tool], |row| row.get(0)).unwrap()
    }
}

/// A tool's entry.
pub fn tool(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "title": "A tool",
        "description": description,
        "inputSchema": { "type": "object", "properties": { "word": { "type": "string", "description": "A word." } } },
        "annotations": { "readOnlyHint": true },
    })
}

/// The line with which the server answers a request for a page.
pub fn answer(id: &str, page: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"result\":{page},\"id\":\"{id}\"}}\n")
}

/// The tools of a list, as its line has them.
pub fn tools(line: &str) -> Vec<Value> {
    let line: Value = serde_json::from_str(line).unwrap();
    line["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {line}")).clone()
}

pub fn names(line: &str) -> Vec<String> {
    tools(line).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

impl Wrapped {
    /// Asks for the instructions as the era does; the line of the answer.
    pub fn greet(&mut self) -> String {
        let mut greeting = self.request(json!("hello"), "server/discover");
        if self.era == Era::Handshake {
            greeting["method"] = "initialize".into();
            greeting["params"] = json!({
                "protocolVersion": "2025-06-18",
                "capabilities": self.capabilities,
                "clientInfo": { "name": "wrap-tests", "version": "1" },
            });
        }
        self.send(&greeting);
        self.text()
    }

    /// Ends the handshake, if the era has one.
    pub fn initialized(&mut self) {
        if self.era == Era::Handshake {
            self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
    }

    /// The next line.
    pub fn text(&mut self) -> String {
        String::from_utf8(self.line()).unwrap()
    }

    /// Asks for the tools; the line of the answer, which must be the next one.
    pub fn list(&mut self, id: &str) -> String {
        let request = self.request(json!(id), "tools/list");
        self.send(&request);
        self.text()
    }

    /// Asks for a page of the tools; the line of the answer.
    pub fn page(&mut self, id: &str, cursor: &str) -> String {
        let mut request = self.request(json!(id), "tools/list");
        request["params"]["cursor"] = cursor.into();
        self.send(&request);
        self.text()
    }

    /// Has the server play a script without a call.
    pub fn have(&mut self, id: &str, steps: Value) {
        let mut request = self.request(json!(id), "odd/play");
        request["params"]["steps"] = steps;
        self.send(&request);
    }

    /// Calls a tool, which the server must read and answer.
    pub fn passes(&mut self, id: &str, tool: &str) {
        let call = self.call(json!(id), tool, json!({ "word": id }));
        self.send(&call);
        let answer = self.message();
        assert_eq!(answer["id"], id, "{answer}");
        assert_eq!(
            answer["result"]["content"][0]["text"],
            json!({ "word": id }).to_string(),
            "{tool}: {answer}"
        );
        assert!(self.reads(id), "{tool}");
        let row = self.last_row();
        assert_eq!((row.tool, row.outcome.as_deref()), (format!("odd/{tool}"), Some("ok")));
    }

    /// Calls a tool, which must be refused with this code; the text of the answer.
    pub fn refused(&mut self, id: &str, tool: &str, code: &str) -> String {
        let call = self.call(json!(id), tool, json!({ "word": id }));
        self.send(&call);
        self.refusal(id, tool, code)
    }

    /// Takes the next line for the refusal of a call; its text.
    pub fn refusal(&mut self, id: &str, tool: &str, code: &str) -> String {
        let line = self.text();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&answer["id"], &answer["result"]["isError"]),
            (&json!(id), &json!(true)),
            "{tool}: {answer}"
        );
        let kind = (self.era == Era::Stateless).then(|| json!("complete"));
        assert_eq!(answer["result"].get("resultType"), kind.as_ref(), "{answer}");
        // The server answers a ping when it has read all that was sent before.
        self.ping();
        assert!(!self.reads(id), "the server has read the call of {tool}");
        let row = self.last_row();
        assert_eq!((row.tool.as_str(), row.ending()), (&*format!("odd/{tool}"), format!("denied/{code}")));
        assert_eq!(row.request_id, format!("\"{id}\""));
        assert_eq!(row.result_hash.as_deref(), Some(HexDigest::of(result_of(&line).as_bytes()).as_str()));
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    pub fn ping(&mut self) {
        let ping = self.request(json!("ping"), "ping");
        self.send(&ping);
        let answer = self.message();
        assert_eq!((&answer["id"], &answer["result"]), (&json!("ping"), &json!({})), "{answer}");
    }

    fn last_row(&self) -> Row {
        self.rows().pop().unwrap()
    }

    /// Whether the server has read a call with that id.
    pub fn reads(&self, id: &str) -> bool {
        let id = format!("\"id\":\"{id}\"");
        self.read().lines().any(|line| line.contains("tools/call") && line.contains(&id))
    }

    /// The lines of `wrap`'s own requests for tools that the server has read.
    pub fn own_requests(&self) -> Vec<Value> {
        let read = self.read();
        let own = read.lines().filter(|line| line.contains(&format!("\"id\":\"{OWN}")));
        own.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Ends the run as a client does.
    pub fn end(self) -> Ended {
        self.server.finish()
    }
}

/// The bytes of the result in an answer.
fn result_of(line: &str) -> String {
    #[derive(serde::Deserialize)]
    struct Answer<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
    }
    serde_json::from_str::<Answer<'_>>(line).unwrap().result.get().to_owned()
}
