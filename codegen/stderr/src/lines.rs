//! Standard error for commands, which write text in parts.

use std::io::{self, Write};

use rustix::fs::fstat;

use crate::stderr;

/// Writes one line of a command, newline added. If stderr takes nothing now, only the exit code can tell.
pub fn say(program: &str, text: &str) {
    let mut lines = Lines::of(program);
    // What cannot be written is dropped.
    let _ = writeln!(lines, "{text}");
}

/// A writer that never fails: it gathers whole lines, and drops those that cannot be written at once.
#[derive(Debug)]
pub struct Lines {
    program: String,
    begun: Vec<u8>,
    /// Results and complaints go to one reader (`2>&1`). Results wait for it anyway, so complaints do, too.
    waits: bool,
}

impl Lines {
    /// Makes the writer of a program, which is named where dropped lines are told.
    pub fn of(program: &str) -> Self {
        Self { program: program.to_owned(), begun: Vec::new(), waits: shares_output() }
    }

    fn put(&self, line: &[u8]) {
        if self.waits {
            // A closed stderr changes nothing for a command.
            let _ = io::stderr().write_all(line);
            return;
        }
        let told = |dropped| format!("{}: {}\n", self.program, told(dropped));
        stderr().line(&String::from_utf8_lossy(line), told);
    }
}

/// Returns the sentence that tells of dropped lines.
pub fn told(dropped: u64) -> String {
    let lines = if dropped == 1 { "line was" } else { "lines were" };
    format!("{dropped} {lines} dropped here: stderr took no more")
}

fn shares_output() -> bool {
    match (fstat(io::stdout()), fstat(io::stderr())) {
        (Ok(out), Ok(err)) => (out.st_dev, out.st_ino) == (err.st_dev, err.st_ino),
        _ => false,
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        if let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.begun.split_off(end + 1);
            let lines = std::mem::replace(&mut self.begun, rest);
            lines.split_inclusive(|byte| *byte == b'\n').for_each(|line| self.put(line));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.begun.is_empty() {
            let line = std::mem::take(&mut self.begun);
            self.put(&line);
        }
        Ok(())
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}
