//! A folder with a database, and the commands on it.

use std::path::PathBuf;

use colibri_test_support::engine;
use colibri_test_support::shell::{Run, Shell};
use colibri_test_support::sql::Connection;
use serde_json::Value;

/// See the page above.
pub struct Place {
    pub shell: Shell,
}

impl Place {
    pub fn new() -> Self {
        let shell = Shell::new(env!("CARGO_BIN_EXE_colibri-under-test"));
        std::fs::create_dir_all(shell.path().join("data")).unwrap();
        Self { shell }
    }

    pub fn database(&self) -> PathBuf {
        self.shell.path().join("data/colibri.db")
    }

    pub fn sql(&self) -> Connection {
        engine::open(self.database())
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        self.shell.run(arguments)
    }

    /// What `colibri call` answers, the data alone.
    pub fn call(&self, tool: &str, input: &Value) -> Value {
        self.run(&["call", tool, &input.to_string()]).ends(0).json()["data"].clone()
    }

    /// What `colibri verify` finds: check, code and subject of each finding.
    pub fn findings(&self) -> Vec<String> {
        let run = self.run(&["verify", "--json"]);
        let report = run.json();
        let found = report["findings"].as_array().unwrap().iter();
        let word = |found: &Value, member: &str| found[member].as_str().unwrap().to_owned();
        let found: Vec<String> = found
            .map(|one| format!("{} {} {}", word(one, "check"), word(one, "code"), word(one, "subject")))
            .collect();
        assert_eq!(run.code, Some(i32::from(!found.is_empty())), "{found:?}");
        found
    }
}
