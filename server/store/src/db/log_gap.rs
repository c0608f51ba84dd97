//! Why the newest calls may be missing from what is read.

use std::fmt;

/// Why calls may be missing from a file that keeps a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogGap {
    /// The file has no log.
    NoLog,
    /// The log has no bytes.
    EmptyLog,
}

impl LogGap {
    /// Says what is known of the file.
    pub fn what(self) -> &'static str {
        match self {
            Self::NoLog => {
                "no log (-wal file) lies next to it: it is complete only if no server had the database open when it was copied"
            }
            Self::EmptyLog => {
                "the log (-wal file) next to it is empty: it is complete only if no server had the database open when it was copied, or \
                 the server's log was empty, too"
            }
        }
    }

    /// Says how a complete copy is made.
    pub fn advice(self) -> &'static str {
        match self {
            Self::NoLog => "Copy the -wal file together with it",
            Self::EmptyLog => "Copy the -wal file of the original again, unless it is empty",
        }
    }
}

impl fmt::Display for LogGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.what(), self.advice())
    }
}
