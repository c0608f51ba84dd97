//! The binary as a person runs it: in a working directory of its own, with nothing of the tester's configuration.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::engine;

/// A working directory of its own, and nothing of the tester's configuration.
pub struct Shell {
    program: PathBuf,
    folder: TempDir,
}

impl Shell {
    /// For that program.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), folder: tempfile::tempdir().unwrap() }
    }

    /// The working directory.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The command, with nothing to read.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("COLIBRI_") {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        // On SQLite the commands take the file of this name in their folder.
        if engine::is_postgres() {
            let (name, value) = engine::variable(&self.path().join("data/colibri.db"));
            command.env(name, value);
        }
        command
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    /// Runs it to its end with these variables.
    pub fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
        let mut command = self.command(arguments);
        if variables.iter().any(|(name, _)| *name == "COLIBRI_DB_PATH") {
            command.env_remove("COLIBRI_DATABASE_URL");
        }
        Run::of(command.envs(variables.iter().copied()).output().unwrap())
    }
}

/// How a command ended.
pub struct Run {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub out: String,
    /// What it wrote to stderr.
    pub err: String,
}

impl Run {
    /// Of a command that has ended.
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Demands this exit code.
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self
    }

    /// Demands this text on stdout.
    pub fn says(self, text: &str) -> Self {
        assert!(self.out.contains(text), "{text:?} is missing:\n{}{}", self.out, self.err);
        self
    }

    /// The JSON that it printed.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}
