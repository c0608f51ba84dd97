//! One YAML file as read: its text, and the positions of its nodes.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::decode;
use super::index::Index;
use super::{Finding, Location};

/// The most bytes a catalogue file may have.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// The deepest nesting of mappings and sequences in a catalogue file.
pub const MAX_DEPTH: usize = 64;
/// The most nodes (keys not counted) in a catalogue file; a file of ten tools has some hundreds. Rules
/// that compare all entries of a list with each other stay quick below it.
pub(crate) const MAX_NODES: usize = 20_000;

/// A file of the catalogue.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Its path as findings show it.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    index: Index,
}

impl SourceFile {
    /// Reads and indexes a file. On success the value is there too; `None` when the text is not the plain
    /// YAML that a catalogue is written in. Then the findings say why.
    pub(super) fn read(path: &Path) -> Result<(Self, Option<Value>, Vec<Finding>), Finding> {
        let text = read_text(path)?;
        let mut file = Self { path: path.to_path_buf(), text, index: Index::default() };
        let (index, faults) = Index::build(&file.text);
        file.index = index;
        let mut findings: Vec<Finding> = faults
            .into_iter()
            .map(|fault| {
                let (line, column) = inside(&file.text, fault.line, fault.column);
                yaml_finding(&file.path, line, column, fault.message, fault.help)
            })
            .collect();
        let mut value = None;
        if findings.is_empty() {
            match decode::yaml(&file.text) {
                Ok(found) => value = Some(found),
                Err((line, column, message)) => {
                    let (line, column) = inside(&file.text, line, column);
                    findings.push(yaml_finding(&file.path, line, column, message, YAML_HELP.into()));
                }
            }
        }
        Ok((file, value, findings))
    }

    /// Returns the position of the node at `pointer`: a scalar's own, or the key of a mapping or sequence
    /// that is a mapping's member. A missing node has the position of its nearest existing
    /// ancestor.
    #[must_use]
    pub(crate) fn locate(&self, pointer: &str) -> Location {
        self.at(self.index.node(pointer))
    }

    /// Returns the position of the key of the node at `pointer`; of the node itself when it has no key.
    #[must_use]
    pub(crate) fn locate_key(&self, pointer: &str) -> Location {
        self.at(self.index.key(pointer))
    }

    /// Returns the pointer of the innermost node at a location in this file.
    #[cfg(feature = "cli")]
    pub(super) fn pointer(&self, at: &Location) -> Option<String> {
        self.index.pointer((at.line, at.column)).map(str::to_owned)
    }

    fn at(&self, (line, column): (usize, usize)) -> Location {
        Location { path: self.path.clone(), line, column }
    }
}

/// What to do about text that is not YAML at all.
const YAML_HELP: &str = "indent with spaces, put a space after each `:`, and quote text that holds `: `, ` #` or starts with a special character";

/// Returns a place inside the file: parsers put the end of a text without a last line end on the line behind it.
fn inside(text: &str, line: usize, column: usize) -> (usize, usize) {
    let end = end(text);
    if line <= end.0 { (line, column) } else { end }
}

/// Returns the place behind the last character; as in YAML, a carriage return also ends a line.
pub(super) fn end(text: &str) -> (usize, usize) {
    let text = text.replace("\r\n", "\n");
    let mut lines = text.split(['\n', '\r']);
    (lines.clone().count(), lines.next_back().map_or(0, |last| last.chars().count()) + 1)
}

fn yaml_finding(path: &Path, line: usize, column: usize, message: String, help: String) -> Finding {
    Finding { at: Location { path: path.to_path_buf(), line, column }, rule: "yaml", message, help }
}

fn read_text(path: &Path) -> Result<String, Finding> {
    let refuse = |line, column, message: String, help: &str| {
        Err(yaml_finding(path, line, column, message, help.to_owned()))
    };
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return refuse(1, 1, format!("cannot read the file: {error}"), "make the file readable");
    }
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let message = format!("the file has more than {MAX_FILE_BYTES} bytes");
        return refuse(1, 1, message, "split it; a file of a catalogue has some ten kilobytes");
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let (line, column) = end(&String::from_utf8_lossy(&error.as_bytes()[..good]));
            refuse(line, column, "the file is not UTF-8 from here on".into(), "save the file as UTF-8")
        }
    }
}
