//! How a command writes: a terminal shows its text whole, and a verdict is printed in full.

use std::io::{self, Write};

use colibri_visible::{json, printable_lines};
use serde::Serialize;

/// The output of a command whose exit code is a verdict: `colibri verify | head -1` must not end with 0 because its reader
/// has closed the pipe before the verdict was printed.
pub struct ToTheEnd<'a>(pub &'a mut dyn Write);

impl Write for ToTheEnd<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// A stream for people: a character that a terminal would obey, or that a reader could not see, is written as an escape. Line
/// feeds pass, so foreign text that must stay in its line goes through [`printable`](colibri_visible::printable) first.
pub struct Visible<'a>(pub &'a mut dyn Write);

impl Write for Visible<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(printable_lines(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Prints a document as JSON, with escapes for characters that could not be seen.
///
/// # Errors
/// The stream's error.
pub fn print_json(out: &mut dyn Write, document: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(document)?;
    writeln!(out, "{}", json(&text))
}

/// Like [`print_json`], on one line.
///
/// # Errors
/// The stream's error.
pub fn print_json_line(out: &mut dyn Write, document: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(document)?;
    writeln!(out, "{}", json(&text))
}
