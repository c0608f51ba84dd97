//! A folder with a database, and the commands in it.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use colibri_test_support::shell::Run;
use colibri_test_support::sql::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The folder.
pub struct World {
    folder: Arc<TempDir>,
    variables: Vec<(&'static str, &'static str)>,
}

impl World {
    /// Without a database.
    pub fn new() -> Self {
        Self { folder: Arc::new(TempDir::new().unwrap()), variables: Vec::new() }
    }

    /// The same with a variable of the server's.
    pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    /// What starts processes here.
    pub fn launch(&self) -> Launch {
        let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).in_folder(self.folder.clone());
        self.variables.iter().fold(launch, |launch, (name, value)| launch.env(name, value))
    }

    /// A server.
    pub fn server(&self) -> Server {
        self.launch().start()
    }

    /// `colibri` with these arguments.
    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.launch().command().args(arguments).stdin(Stdio::null()).output().unwrap())
    }

    /// `colibri reputation` with these arguments.
    pub fn reputation(&self, arguments: &[&str]) -> Run {
        let arguments: Vec<&str> = ["reputation"].iter().chain(arguments).copied().collect();
        self.run(&arguments)
    }

    /// Imports a text from stdin.
    pub fn import_text(&self, text: &str, more: &[&str]) -> Run {
        let mut command = self.launch().command();
        command.args(["reputation", "import", "-"]).args(more);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        Run::of(child.wait_with_output().unwrap())
    }

    /// Imports events, one a line, through a file.
    pub fn import(&self, events: &[Value]) -> Run {
        let path = self.path("events.jsonl");
        std::fs::write(&path, lines(events)).unwrap();
        self.reputation(&["import", path.to_str().unwrap()])
    }

    /// The present epoch.
    pub fn epoch(&self) -> i64 {
        self.reputation(&["epoch"]).ends(0).out.trim_end().parse().unwrap()
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The database's file.
    pub fn database(&self) -> PathBuf {
        self.path("colibri.db")
    }

    /// The database.
    pub fn sql(&self) -> Connection {
        engine::open(self.database())
    }

    /// How many rows a table has.
    pub fn count(&self, table: &str) -> i64 {
        self.sql().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }

    /// The rows of standings: node, domain, score, scar, ban, last activity.
    pub fn standings(&self) -> Vec<(String, String, i64, i64, Option<i64>, i64)> {
        let sql = "SELECT node_id, domain, score, scar_bps, ban_until_epoch, last_activity_epoch FROM reputations \
                   ORDER BY node_id, domain";
        let conn = self.sql();
        let mut statement = conn.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
        });
        rows.unwrap().map(Result::unwrap).collect()
    }
}

/// JSON Lines.
pub fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// A gain in `social`.
pub fn gain(event_id: &str, node_id: &str, acker_id: &str, delta: i64, epoch: i64) -> Value {
    json!({
        "event_id": event_id, "node_id": node_id, "domain": "social", "kind": "gain",
        "delta": delta, "acker_id": acker_id, "epoch": epoch, "reason": "helped",
    })
}

/// A penalty.
pub fn penalty(event_id: &str, node_id: &str, domain: &str, band: &str, epoch: i64) -> Value {
    json!({
        "event_id": event_id, "node_id": node_id, "domain": domain, "kind": "penalty",
        "band": band, "epoch": epoch, "reason": "found out",
    })
}

/// What `import` prints.
pub fn counts(applied: i64, duplicates: i64, ignored: i64) -> Value {
    json!({ "applied": applied, "duplicates": duplicates, "ignored": ignored })
}
