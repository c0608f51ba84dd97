//! A list of checks as people read it: a mark, a name, what was found.

use std::io::{self, Write};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// As it should.
    Ok,
    /// Not so.
    Fail,
    /// There was nothing to check, or nobody to ask.
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
/// The writer's.
pub fn line(out: &mut dyn Write, mark: impl Into<Mark>, name: &str, text: &str) -> io::Result<()> {
    let mark = match mark.into() {
        Mark::Ok => "ok",
        Mark::Fail => "FAIL",
        Mark::None => "-",
    };
    writeln!(out, "{mark:4}  {name:13}  {text}")
}
