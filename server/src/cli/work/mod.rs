//! A long command at work: it shows how far it is, and after Ctrl-C it stops at the next row.
//!
//! 1. [`signals`] raises a flag. Every walk over rows looks at it (`colibri_store::stop`) and fails.
//! 2. [`Work::settle`] turns the failure into the exit code 130, before the command names a file or prints a verdict.
//! 3. What the command was making is a part of a file, or a transaction, which goes with it.

mod bar;
mod signals;

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use colibri_runtime::chain::scan::Interrupt;
use colibri_runtime::progress::Progress as Report;

use self::bar::Bar;
pub use self::signals::{INTERRUPTED, Pause, raised_by_signals_before};
use super::Failure;
use crate::verification::run::Progress;

/// The time between two lines.
const PAUSE: Duration = Duration::from_millis(300);

/// A long command.
pub struct Work<'a> {
    command: &'static str,
    interrupt: Interrupt,
    shows: Shows<'a>,
}

/// Where it shows how far it is.
enum Shows<'a> {
    Nowhere,
    Lines { err: &'a mut dyn Write, last: Instant },
    Bar(Bar),
}

impl<'a> Work<'a> {
    /// Begins. On a terminal there will be a bar, and elsewhere lines if the user asked for them.
    pub fn begin(command: &'static str, err: &'a mut dyn Write, lines: bool) -> Self {
        let shows = match Bar::on_terminal(command) {
            Some(bar) => Shows::Bar(bar),
            None if lines => Shows::Lines { err, last: Instant::now() },
            None => Shows::Nowhere,
        };
        Self { command, interrupt: signals::raised_by_signals(), shows }
    }

    /// Begins a command that writes a product to a file, or to stdout. On a terminal a bar would disturb the product.
    pub fn of_product(command: &'static str, file: Option<&Path>, err: &'a mut dyn Write) -> Self {
        if file.is_none() && io::stdout().is_terminal() {
            return Self { command, interrupt: signals::raised_by_signals(), shows: Shows::Nowhere };
        }
        Self::begin(command, err, false)
    }

    /// What Ctrl-C raises.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Shows how far the work is, and says whether to go on.
    pub fn at(&mut self, check: &'static str, done: u64, total: u64) -> ControlFlow<()> {
        match &mut self.shows {
            Shows::Nowhere => {}
            Shows::Bar(bar) => bar.at(check, done, total),
            Shows::Lines { err, last } => {
                if last.elapsed() >= PAUSE {
                    *last = Instant::now();
                    let of = if total == 0 { String::new() } else { format!(" of {total}") };
                    // An error is ignored: a reader that has closed stderr needs no progress.
                    let _ = writeln!(err, "{}: {check} {done}{of}", self.command);
                    let _ = err.flush();
                }
            }
        }
        if self.interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Shows how far a verification is.
    pub fn show(&mut self, &Progress { check, done, total }: &Progress) {
        // The verification looks at the flag itself.
        let _ = self.at(check, done, total);
    }

    /// Returns where a tool's code reports how far it is.
    pub fn report(&self, check: &'static str) -> Report {
        let Shows::Bar(bar) = &self.shows else { return Report::default() };
        let bar = bar.clone();
        Report::shown(Arc::new(move |done, total| bar.at(check, done, total)))
    }

    /// Ends a part of the work, whose result counts unless Ctrl-C came before.
    ///
    /// # Errors
    /// [`Failure::Interrupted`], or the part's own.
    pub fn settle<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        if self.interrupt.is_raised() { Err(Failure::Interrupted(Some(NOTHING))) } else { result }
    }

    /// Returns why a part of the work that cannot be taken back failed: because of Ctrl-C if that came before.
    pub fn failed(&self, failure: Failure) -> Failure {
        if self.interrupt.is_raised() { Failure::Interrupted(Some(NOTHING)) } else { failure }
    }

    /// Removes the bar, before the command prints.
    pub fn clear(&self) {
        if let Shows::Bar(bar) = &self.shows {
            bar.clear();
        }
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

/// What an interrupted command says of its product.
const NOTHING: &str = "interrupted; nothing was written";
