//! Two desks: one where the database is, and one that has only the files that were carried over.

use colibri_test_support::engine;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::shell::Run;
use colibri_test_support::sql::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_colibri-under-test");

/// The machine with the database, and a server on it.
pub struct World {
    pub folder: Arc<TempDir>,
    pub server: Server,
    key: Option<PathBuf>,
    /// The public key that signs, if one does.
    pub public_key: String,
}

impl World {
    /// Seals are unsigned.
    pub fn new() -> Self {
        Self::with_key(None, String::new(), Arc::new(TempDir::new().unwrap()))
    }

    /// Seals are signed by a key that `colibri keys generate` made.
    pub fn signing() -> Self {
        let folder = Arc::new(TempDir::new().unwrap());
        let made = run(folder.path(), &[], &["keys", "generate", "seal.key", "--json"]).ends(0).json();
        let public_key = made["public_key"].as_str().unwrap().to_owned();
        let key = folder.path().join("seal.key");
        Self::with_key(Some(key), public_key, folder)
    }

    fn with_key(key: Option<PathBuf>, public_key: String, folder: Arc<TempDir>) -> Self {
        let launch = Launch::new(BINARY).in_folder(folder.clone());
        let launch = match &key {
            Some(key) => launch.env("COLIBRI_PROOF_SIGNING_KEY_FILE", key),
            None => launch,
        };
        Self { folder, server: launch.start(), key, public_key }
    }

    /// Opens a session of that id.
    pub fn start(&mut self, session_id: &str) {
        self.server.data("audit_session_start", json!({ "intent": "an audit", "session_id": session_id }));
    }

    /// Records a thought, and returns its id.
    pub fn think(&mut self, session_id: &str, task_id: &str, content: &str) -> String {
        let thought = json!({ "type": "analysis", "task_id": task_id, "agent_id": "agent-7", "content": content,
            "session_id": session_id });
        self.server.data("thought_record", thought)["id"].as_str().unwrap().to_owned()
    }

    /// Seals a session, and returns its tree head as a person would publish it.
    pub fn seal(&mut self, session_id: &str) -> Value {
        self.server.data("merkle_finalize", json!({ "session_id": session_id }))["tree_head"].clone()
    }

    /// Seals a session `S` of three thoughts on two tasks, and returns their ids and the tree head.
    pub fn usual(&mut self) -> (Vec<String>, Value) {
        self.start("S");
        let thoughts = [("T", "first"), ("U", "<script>alert(\"é\")</script>\0\u{202e}"), ("T", "last")];
        let ids = thoughts.map(|(task, content)| self.think("S", task, content)).to_vec();
        (ids, self.seal("S"))
    }

    /// Opens a separate connection.
    pub fn sql(&self) -> Connection {
        self.server.sql()
    }

    /// Changes the database behind the server's back.
    pub fn tamper(&self, statement: &str) {
        let sql = self.sql();
        sql.disarm();
        sql.execute_batch(statement).unwrap();
    }

    /// Runs a command on this machine.
    pub fn run(&self, arguments: &[&str]) -> Run {
        let (name, value) = engine::variable(&self.server.database());
        let mut variables = vec![(name, PathBuf::from(value))];
        variables.extend(self.key.clone().map(|key| ("COLIBRI_PROOF_SIGNING_KEY_FILE", key)));
        run(self.folder.path(), &variables, arguments)
    }

    /// Returns what a command writes to stdout; the command must succeed.
    pub fn product(&self, arguments: &[&str]) -> String {
        self.run(arguments).ends(0).out
    }
}

fn run(folder: &Path, variables: &[(&str, PathBuf)], arguments: &[&str]) -> Run {
    let mut command = Command::new(BINARY);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    Run::of(command.env_clear().envs(variables.iter().map(|(name, value)| (name, value))).output().unwrap())
}

/// Another machine: an empty folder, an empty environment, no database.
pub struct Elsewhere {
    folder: TempDir,
}

impl Elsewhere {
    pub fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// Carries a file over.
    pub fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Runs a command here.
    pub fn run(&self, arguments: &[&str]) -> Run {
        run(self.folder.path(), &[], arguments)
    }

    /// The names of the files here.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// A hash of a tree head.
pub fn hash<'a>(head: &'a Value, name: &str) -> &'a str {
    head[name].as_str().unwrap()
}
