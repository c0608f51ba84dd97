//! How far a long command is, on stderr: one line that is written over, a few times a second at most.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::verification::run::Progress;

/// The time between two lines.
const PAUSE: Duration = Duration::from_millis(300);

/// The line.
pub struct Lines<'a> {
    command: &'static str,
    err: &'a mut dyn Write,
    wanted: bool,
    terminal: bool,
    last: Instant,
    shown: bool,
}

impl<'a> Lines<'a> {
    /// Makes the line; it is shown on a terminal, or if the user asked for it.
    pub fn new(command: &'static str, err: &'a mut dyn Write, asked: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        Self { command, err, wanted: asked || terminal, terminal, last: Instant::now(), shown: false }
    }

    /// Shows the progress, unless it was shown just now.
    pub fn show(&mut self, progress: &Progress) {
        if !self.wanted || self.last.elapsed() < PAUSE {
            return;
        }
        self.last = Instant::now();
        self.shown = true;
        let done = match progress.total {
            0 => format!("{}", progress.done),
            total => format!("{} of {total}", progress.done),
        };
        let (before, after) = if self.terminal { ("\r\u{1b}[2K", "") } else { ("", "\n") };
        // An error is ignored: a reader that has closed stderr needs no progress.
        let _ = write!(self.err, "{before}{}: {} {done}{after}", self.command, progress.check);
        let _ = self.err.flush();
    }

    /// Removes the line.
    pub fn clear(&mut self) {
        if self.shown && self.terminal {
            let _ = write!(self.err, "\r\u{1b}[2K");
            let _ = self.err.flush();
        }
    }
}
