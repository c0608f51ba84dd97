//! A list of checks as people read it: a mark, a name, a finding.

use std::io::{self, Write};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It passed.
    Ok,
    /// It failed.
    Fail,
    /// It had nothing to check, or no key to check with.
    None,
}

impl From<bool> for Mark {
    fn from(sound: bool) -> Self {
        if sound { Self::Ok } else { Self::Fail }
    }
}

/// Writes one check's line.
///
/// # Errors
/// The writer's error.
pub fn line(out: &mut dyn Write, mark: impl Into<Mark>, name: &str, text: &str) -> io::Result<()> {
    let mark = match mark.into() {
        Mark::Ok => "ok",
        Mark::Fail => "FAIL",
        Mark::None => "-",
    };
    writeln!(out, "{mark:4}  {name:13}  {text}")
}
