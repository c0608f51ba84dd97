//! A command that serves a catalogue, and the examples run against it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::client::Client;
use crate::catalogue::{Catalogue, Example, Runs, Tool};

/// What stands for an empty folder in a command.
const FOLDER: &str = "{folder}";

/// A command that speaks MCP over stdin and stdout. It is started anew for each example.
///
/// A server's own tests need no more than this:
///
/// ```no_run
/// use colibri_codegen::catalogue::Catalogue;
/// use colibri_codegen::examples::Kit;
///
/// # fn test() -> Result<(), String> {
/// let catalogue = Catalogue::load("catalogue".as_ref()).map_err(|found| found[0].message.clone())?;
/// // In a test, env!("CARGO_BIN_EXE_…") is the server.
/// Kit::new(["target/debug/files", "{folder}"]).check(&catalogue)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Kit {
    words: Vec<OsString>,
    timeout: Duration,
}

/// How an example came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The reply is the documented one.
    Equal,
    /// What differs.
    Different(String),
    /// The tool is an operation, which no client can call.
    Skipped,
}

impl Kit {
    /// A command and its arguments, in which `{folder}` stands for a folder that is empty for each example.
    pub fn new(words: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self { words: words.into_iter().map(Into::into).collect(), timeout: Duration::from_secs(30) }
    }

    /// How long the start and each reply may take, in place of 30 seconds.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Runs all examples.
    ///
    /// # Errors
    /// The examples whose replies differ, with the differences; or why the command cannot be started.
    pub fn check(&self, catalogue: &Catalogue) -> Result<(), String> {
        let mut different = Vec::new();
        for tool in catalogue.tools().map(|entry| entry.tool) {
            for example in &tool.examples {
                if let Outcome::Different(how) = self.run(catalogue, tool, example)? {
                    different.push(format!("{}: {}\n       {how}", tool.name, example.title));
                }
            }
        }
        if different.is_empty() { Ok(()) } else { Err(different.join("\n")) }
    }

    /// Runs one example against a server of its own.
    ///
    /// # Errors
    /// The command cannot be started.
    pub fn run(&self, catalogue: &Catalogue, tool: &Tool, example: &Example) -> Result<Outcome, String> {
        if tool.runs == Runs::Operator {
            return Ok(Outcome::Skipped);
        }
        let folder =
            EmptyFolder::new().map_err(|error| format!("cannot make a folder for a server: {error}"))?;
        let words = self.words.iter().map(|word| folder.in_place_of_its_name(word));
        let mut client = Client::start(words.collect(), self.timeout)?;
        let outcome = client.greet().and_then(|()| {
            super::run(catalogue, tool, example, &mut |name, arguments| client.call(name, &arguments))
        });
        Ok(outcome.map_or_else(Outcome::Different, |()| Outcome::Equal))
    }
}

/// A folder that goes away with its content.
struct EmptyFolder(PathBuf);

impl EmptyFolder {
    fn new() -> io::Result<Self> {
        let mut number = 0_u32;
        loop {
            let path = std::env::temp_dir().join(format!("colibri-example-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < u32::MAX => {
                    number += 1
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn in_place_of_its_name(&self, word: &OsStr) -> OsString {
        match (word.to_str(), self.0.to_str()) {
            (Some(text), Some(path)) if text.contains(FOLDER) => text.replace(FOLDER, path).into(),
            _ => word.to_owned(),
        }
    }
}

impl Drop for EmptyFolder {
    fn drop(&mut self) {
        // What cannot be removed stays among the temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
