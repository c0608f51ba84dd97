//! A running server, and a connection of the test's own to look behind it, or to tamper.

use std::fs;
use std::path::{Path, PathBuf};

use colibri_store::db::Db;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use colibri_test_support::sql::{Connection, ToSql};
use serde_json::{Value, json};

/// 64 zeros: what stands before the first link of a chain.
pub const ZERO: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The seed of proof#golden-vectors.
pub const SEED: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// The real server in a fresh folder.
pub fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// Writes a file that only its owner may read.
pub fn key_file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    set_mode(&path, 0o600);
    path
}

/// Sets a file's permissions where there are such.
pub fn set_mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    #[cfg(not(unix))]
    let _ = (path, mode);
}

pub struct World {
    pub server: Server,
    pub sql: Connection,
}

impl World {
    pub fn new() -> Self {
        Self::around(launch().start())
    }

    /// With a server that signs.
    pub fn signing() -> Self {
        let launch = launch();
        let path = key_file(launch.folder().path(), "key", SEED);
        Self::around(launch.env("COLIBRI_PROOF_SIGNING_KEY_FILE", path).start())
    }

    pub fn around(mut server: Server) -> Self {
        server.data("task_list", json!({}));
        let sql = server.sql();
        Self { server, sql }
    }

    /// Opens a session of that id.
    pub fn start(&mut self, session_id: &str) -> Value {
        self.server.data("audit_session_start", json!({ "intent": "test", "session_id": session_id }))
    }

    /// Records a thought.
    pub fn think(&mut self, session_id: &str, task_id: &str, content: &str) -> Value {
        self.server.data("thought_record", thought(session_id, task_id, content))
    }

    /// Seals a session.
    pub fn seal(&mut self, session_id: &str) -> Value {
        self.server.data("merkle_finalize", json!({ "session_id": session_id }))
    }

    /// Opens a session, records a thought for each content, and seals it.
    pub fn sealed(&mut self, session_id: &str, task_id: &str, contents: &[&str]) -> Value {
        self.start(session_id);
        for content in contents {
            self.think(session_id, task_id, content);
        }
        self.seal(session_id)
    }

    /// Verifies a session.
    pub fn verify(&mut self, session_id: &str) -> Value {
        self.server.data("audit_verify_chain", json!({ "session_id": session_id }))
    }

    /// The code of a Pattern B refusal, which must name the session and leave everything as it was.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let before = self.counts();
        let envelope = self.server.call(tool, arguments.clone());
        assert_eq!(envelope["ok"], true, "{envelope}");
        assert_eq!(envelope["data"]["ok"], false, "{envelope}");
        let error = &envelope["data"]["error"];
        assert_eq!(error["session_id"], arguments["session_id"], "{envelope}");
        assert_eq!(self.counts(), before, "{envelope}");
        text(error, "code")
    }

    /// The code and message of a Pattern A failure, which must leave everything as it was.
    pub fn failed(&mut self, tool: &str, arguments: Value) -> (String, String) {
        let before = self.counts();
        let envelope = self.server.call(tool, arguments);
        assert_eq!(envelope["ok"], false, "{envelope}");
        assert_eq!(self.counts(), before, "{envelope}");
        (text(&envelope["error"], "code"), text(&envelope["error"], "message"))
    }

    /// How many rows each table of trail and proof store has.
    pub fn counts(&self) -> Vec<i64> {
        let tables = [
            "audit_sessions",
            "thought_records",
            "trail_heads",
            "merkle_roots",
            "merkle_leaves",
            "tree_heads",
            "tree_head_tips",
        ];
        tables.iter().map(|table| self.number(&format!("SELECT count(*) FROM {table}"), &[])).collect()
    }

    pub fn number(&self, sql: &str, params: &[&dyn ToSql]) -> i64 {
        self.sql.query_row(sql, params, |row| row.get(0)).unwrap()
    }

    pub fn text(&self, sql: &str, params: &[&dyn ToSql]) -> String {
        self.sql.query_row(sql, params, |row| row.get(0)).unwrap()
    }

    /// What an attacker with write access to the file has: no triggers (proof#tables).
    pub fn disarm(&self) {
        self.sql.disarm();
    }

    /// Runs a statement behind the server's back; it must change something.
    pub fn tamper(&self, sql: &str, params: &[&dyn ToSql]) {
        assert!(self.sql.execute(sql, params).unwrap() > 0, "{sql} changes nothing");
    }

    /// The database as the library's functions take it.
    pub fn db(&self) -> Db {
        engine::db(&self.server.database())
    }
}

/// Arguments of a thought.
pub fn thought(session_id: &str, task_id: &str, content: &str) -> Value {
    json!({
        "type": "analysis", "task_id": task_id, "agent_id": "a1", "content": content, "session_id": session_id
    })
}

/// A member that must be a text.
pub fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_else(|| panic!("no text {member}: {value}")).to_owned()
}

/// The codes of a verification's findings, in their order.
pub fn codes(verification: &Value) -> Vec<String> {
    assert_eq!(verification["valid"], false, "{verification}");
    verification["issues"].as_array().unwrap().iter().map(|issue| text(issue, "code")).collect()
}

/// The one finding with that code.
pub fn issue(verification: &Value, code: &str) -> Value {
    let issues = verification["issues"].as_array().unwrap();
    let found: Vec<_> = issues.iter().filter(|issue| issue["code"] == code).collect();
    assert_eq!(found.len(), 1, "{code}: {verification}");
    found[0].clone()
}
