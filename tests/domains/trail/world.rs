//! A server, a session to think in, and a connection to look at what is stored, or to spoil it.

use colibri_proof::record::Preimage;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::sql::Connection;
use colibri_test_support::stored::stored;
use serde_json::{Value, json};

/// The session that [`World::think`] cites.
pub const SESSION: &str = "S";

/// 64 zeros.
pub fn zero_hash() -> String {
    "0".repeat(64)
}

/// The real server in a fresh folder.
pub fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// Arguments of a thought in [`SESSION`].
pub fn thought(task_id: &str, content: &str) -> Value {
    json!({ "type": "plan", "task_id": task_id, "agent_id": "a1", "content": content, "session_id": SESSION })
}

/// The same with one argument set, or taken away with `None`.
pub fn thought_but(field: &str, value: Option<Value>) -> Value {
    let mut arguments = thought("T", "x");
    let members = arguments.as_object_mut().unwrap();
    match value {
        Some(value) => drop(members.insert(field.to_owned(), value)),
        None => drop(members.remove(field)),
    }
    arguments
}

/// The text of a member that must be there.
pub fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_else(|| panic!("no text {member}: {value}")).to_owned()
}

pub struct World {
    pub server: Server,
    pub sql: Connection,
}

impl World {
    /// With [`SESSION`] open.
    pub fn new() -> Self {
        let mut world = Self::around(launch().start());
        world.start(SESSION);
        world
    }

    pub fn around(mut server: Server) -> Self {
        server.data("task_list", json!({}));
        let sql = server.sql();
        sql.check_foreign_keys();
        Self { server, sql }
    }

    pub fn start(&mut self, session_id: &str) {
        self.server.data("audit_session_start", json!({ "intent": "test", "session_id": session_id }));
    }

    /// Records a thought; its nine members.
    pub fn think(&mut self, task_id: &str, content: &str) -> Value {
        self.record(thought(task_id, content))
    }

    pub fn record(&mut self, arguments: Value) -> Value {
        self.server.data("thought_record", arguments)
    }

    pub fn list(&mut self, arguments: Value) -> Value {
        self.server.data("thought_record_list", arguments)
    }

    /// The contents that a listing shows.
    pub fn contents(&mut self, arguments: Value) -> Vec<String> {
        let page = self.list(arguments);
        let records = page["records"].as_array().unwrap();
        assert_eq!(page["count"], records.len());
        records.iter().map(|record| text(record, "content")).collect()
    }

    pub fn verify(&mut self, arguments: Value) -> Value {
        self.server.data("audit_verify_chain", arguments)
    }

    /// Makes a call that must fail in its handler and leave everything as it was, and returns the message.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let before = stored(&self.sql);
        let envelope = self.server.call(tool, arguments.clone());
        assert_eq!(envelope["ok"], false, "{tool} {arguments}: {envelope}");
        assert_eq!(envelope["error"]["code"], "HANDLER_ERROR", "{tool} {arguments}: {envelope}");
        assert_eq!(stored(&self.sql), before, "{tool} {arguments}");
        text(&envelope["error"], "message")
    }

    /// Returns the issues of a call that must not fit the schema, and must not have changed anything.
    pub fn invalid(&mut self, tool: &str, arguments: Value) -> Vec<Value> {
        let before = stored(&self.sql);
        let envelope = self.server.call(tool, arguments.clone());
        assert_eq!(envelope["error"]["code"], "INVALID_PARAMS", "{tool} {arguments}: {envelope}");
        assert_eq!(stored(&self.sql), before, "{tool} {arguments}");
        envelope["error"]["details"]["issues"].as_array().unwrap().clone()
    }

    pub fn count(&self) -> i64 {
        self.sql.query_row("SELECT count(*) FROM thought_records", [], |row| row.get(0)).unwrap()
    }

    /// Removes the guards of the tables (proof#tables), as anyone who may write the file can.
    pub fn disarm(&self) {
        self.sql.disarm();
    }

    /// Changes what is stored, behind the server's back.
    pub fn tamper(&self, sql: &str) {
        self.sql.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Gives a record the hash that its fields have now.
    pub fn rehash(&self, id: &str) {
        let hash = self
            .sql
            .query_row(
                "SELECT content, prev_hash, task_id, timestamp, type FROM thought_records WHERE id = ?1",
                [id],
                |row| {
                    let part = |column| row.get::<_, String>(column);
                    let (content, prev_hash, task_id) = (part(0)?, part(1)?, part(2)?);
                    let (timestamp, kind) = (part(3)?, part(4)?);
                    let preimage = Preimage {
                        content: &content,
                        id,
                        prev_hash: &prev_hash,
                        task_id: &task_id,
                        timestamp: &timestamp,
                        kind: &kind,
                    };
                    Ok(preimage.hash(&mut Vec::new()).as_str().to_owned())
                },
            )
            .unwrap();
        self.sql.execute("UPDATE thought_records SET hash = ?2 WHERE id = ?1", [id, &hash]).unwrap();
    }
}

/// The codes of a verification's issues.
pub fn codes(verdict: &Value) -> Vec<&str> {
    verdict["issues"].as_array().unwrap().iter().map(|issue| issue["code"].as_str().unwrap()).collect()
}

/// How many records are broken, and the first one; what goes with that is checked.
pub fn broken(verdict: &Value) -> (i64, Option<&str>) {
    let count = verdict["broken_count"].as_i64().unwrap();
    assert_eq!(verdict["valid"], count == 0, "{verdict}");
    assert_eq!(verdict.get("first_broken_at").is_some(), count > 0, "{verdict}");
    assert_eq!(verdict.get("issues").is_some(), count > 0, "{verdict}");
    (count, verdict["first_broken_at"].as_str())
}
