//! The binary as a person runs it: in a working directory of its own, with nothing of the tester's configuration.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A working directory of its own, and nothing of the tester's configuration.
pub struct Shell {
    folder: TempDir,
}

impl Shell {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colibri"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("COLIBRI_") {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    pub fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).envs(variables.iter().copied()).output().unwrap())
    }
}

pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}
