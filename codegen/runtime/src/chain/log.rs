//! Where the runtime's log lines go. The server decides on form and destination.

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A sink, a handler or the store failed.
    Error,
    /// Odd or ignored input.
    Warn,
    /// Boot and shutdown.
    Info,
    /// One line a call.
    Debug,
    /// Everything.
    Trace,
}

/// A log. It never fails and never waits: a line that cannot be written at once is dropped.
pub trait Log: Send + Sync {
    /// Whether a line of that level would be written.
    fn enabled(&self, level: Level) -> bool;
    /// Writes one line.
    fn write(&self, level: Level, message: &str);
    /// Keeps this thread's lines, because a transaction is open and other processes wait for its end.
    fn hold(&self) {}
    /// Writes the lines that were kept, because the transaction is over.
    fn release(&self) {}
}

/// Drops every line.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoLog;

impl Log for NoLog {
    fn enabled(&self, _: Level) -> bool {
        false
    }
    fn write(&self, _: Level, _: &str) {}
}
