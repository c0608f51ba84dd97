//! A running server with the few things that no tool does yet, done in SQL.

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::sql::Connection;
use serde_json::{Value, json};

/// The states in canonical order (tasks#states).
pub const STATES: [&str; 8] = ["INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE", "CANCELLED"];

/// The real server in a fresh folder.
pub fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// A server and a connection of the test's own beside it.
pub struct World {
    pub server: Server,
    pub sql: Connection,
}

impl World {
    pub fn new() -> Self {
        Self::around(launch().start())
    }

    /// Around a server that was started by the test.
    pub fn around(mut server: Server) -> Self {
        server.data("task_list", json!({}));
        let sql = server.sql();
        sql.check_foreign_keys();
        Self { server, sql }
    }

    /// Creates a task; its object.
    pub fn create(&mut self, arguments: Value) -> Value {
        self.server.data("task_create", arguments)
    }

    /// Creates a task in a state; its id. DONE is reached as a client reaches it, from VERIFY.
    pub fn task_in(&mut self, status: &str) -> String {
        if status == "DONE" {
            let id = self.task_in("VERIFY");
            self.think(&id);
            self.go(&id, "DONE");
            return id;
        }
        id_of(&self.create(json!({ "title": status, "status": status })))
    }

    /// Reads a task.
    pub fn get(&mut self, id: &str) -> Value {
        self.server.data("task_get", json!({ "id": id }))
    }

    /// Changes a task; its object.
    pub fn patch(&mut self, id: &str, patch: Value) -> Value {
        self.server.data("task_update", json!({ "id": id, "patch": patch }))
    }

    /// Moves a task.
    pub fn go(&mut self, id: &str, status: &str) -> Value {
        self.patch(id, json!({ "status": status }))
    }

    /// The Pattern B error of a call that must be refused.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        refusal(&self.server.call(tool, arguments))
    }

    /// The Pattern B error of a move that must be refused.
    pub fn refused_move(&mut self, id: &str, status: &str) -> Value {
        self.refused("task_update", json!({ "id": id, "patch": { "status": status } }))
    }

    /// The issues of a call that must not fit the schema, and must not have changed anything.
    pub fn invalid(&mut self, tool: &str, arguments: Value) -> Vec<Value> {
        let before = self.stored();
        let envelope = self.server.call(tool, arguments.clone());
        assert_eq!(envelope["error"]["code"], "INVALID_PARAMS", "{tool} {arguments}: {envelope}");
        assert_eq!(self.stored(), before, "{tool} {arguments}");
        let issues = envelope["error"]["details"]["issues"].as_array().unwrap().clone();
        assert!(!issues.is_empty(), "{envelope}");
        for issue in &issues {
            assert!(
                issue["code"].is_string() && issue["path"].is_array() && issue["message"].is_string(),
                "{issue}"
            );
        }
        issues
    }

    /// The titles of a listing.
    pub fn titles(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let data = self.server.data(tool, arguments);
        data["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["title"].as_str().unwrap().to_owned())
            .collect()
    }

    /// A thought record of a task, in an open session of its own.
    pub fn think(&mut self, task_id: &str) {
        self.think_as(task_id, "reflection");
    }

    /// A thought record of a type; the session it cites.
    pub fn think_as(&mut self, task_id: &str, kind: &str) -> String {
        let session =
            self.server.data("audit_session_start", json!({ "intent": "test", "task_id": task_id }));
        let session = session["session_id"].as_str().unwrap().to_owned();
        let thought = json!({
            "type": kind, "task_id": task_id, "agent_id": "tester", "content": "done", "session_id": session,
        });
        self.server.data("thought_record", thought);
        session
    }

    /// Marks a task as deleted.
    pub fn delete(&self, id: &str) {
        let sql = "UPDATE tasks SET deleted_at = '2026-11-21T10:00:00.000Z' WHERE id = ?1";
        assert_eq!(self.sql.execute(sql, [id]).unwrap(), 1);
    }

    /// Sets when a task was created.
    pub fn created_at(&self, id: &str, at: &str) {
        assert_eq!(self.sql.execute("UPDATE tasks SET created_at = ?2 WHERE id = ?1", (id, at)).unwrap(), 1);
    }

    /// Everything stored but the audit log, table by table and value by value.
    pub fn stored(&self) -> Vec<String> {
        colibri_test_support::stored::stored(&self.sql)
    }

    /// How many tasks there are, deleted ones included.
    pub fn count(&self) -> i64 {
        self.sql.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap()
    }
}

/// The id of a task object.
pub fn id_of(task: &Value) -> String {
    task["id"].as_str().expect("an id").to_owned()
}

/// The Pattern B error in an envelope: inside a success, so that `isError` is not set (tasks#errors).
pub fn refusal(envelope: &Value) -> Value {
    assert_eq!(envelope["ok"], true, "{envelope}");
    assert_eq!(envelope["data"]["ok"], false, "{envelope}");
    let error = envelope["data"]["error"].clone();
    assert!(error["code"].is_string() && error["message"].is_string(), "{envelope}");
    error
}
