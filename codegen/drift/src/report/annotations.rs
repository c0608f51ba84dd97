//! The report as GitHub workflow commands: each finding appears at the tool's entry in the diff.

use std::fmt::Write;
use std::path::PathBuf;

use super::{tool, tools, witness, word};
use crate::finding::Finding;
use crate::verdict::Verdict;

/// Line and column in a file, both from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file, as the workflow names it.
    pub path: PathBuf,
    /// The line.
    pub line: usize,
    /// The column in characters.
    pub column: usize,
}

/// One line a finding that blocks, and one notice a finding that does not. `place` finds where a finding
/// belongs in the files, if anywhere.
#[must_use]
pub fn annotations(verdict: &Verdict, place: &dyn Fn(&Finding) -> Option<Location>) -> String {
    let mut out = String::new();
    let blocking = verdict.blocking.iter().map(|finding| (finding, "error", word(finding)));
    let failures = verdict.failures.iter().map(|finding| (finding, "error", "FAIL".to_owned()));
    let waived = verdict.waived.iter().map(|(finding, _)| (finding, "notice", "waived".to_owned()));
    let listed = verdict.listed.iter().map(|finding| (finding, "notice", word(finding)));
    for (finding, command, word) in blocking.chain(failures).chain(waived).chain(listed) {
        let at = place(finding).map(|at| {
            format!("file={},line={},col={},", property(&at.path.to_string_lossy()), at.line, at.column)
        });
        let title = property(&format!("{word} {} {}", finding.rule, tool(finding)));
        let mut message = format!("{} ({})", finding.message, finding.pointer);
        if let Some(tools) = tools(finding) {
            let _ = write!(message, "\nIn {}: {tools}", tool(finding));
        }
        if let Some((what, shown)) = witness(finding) {
            let _ = write!(message, "\n{what}: {shown}");
        }
        if command == "error" && !finding.help.is_empty() {
            let _ = write!(message, "\nTo go on: {}", finding.help);
        }
        let _ = writeln!(out, "::{command} {}title={title}::{}", at.unwrap_or_default(), data(&message));
    }
    out
}

/// The escapes of a command's text.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The escapes of a command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_cannot_be_smuggled_in() {
        assert_eq!(data("50%\n::error::x"), "50%25%0A::error::x");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
    }
}
