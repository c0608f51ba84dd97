//! What a subcommand hands to the program.

use crate::capture::NotCaptured;

/// What is to be printed, and how the program ends.
#[derive(Debug)]
pub struct Answer {
    /// For stdout.
    pub text: String,
    /// For stderr, one message each.
    pub notes: Vec<String>,
    /// Whether nothing blocks.
    pub passes: bool,
}

impl Answer {
    /// An answer without notes.
    pub(super) fn new(text: String, passes: bool) -> Self {
        Self { text, notes: Vec::new(), passes }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// The command line or the input cannot be used.
    Unusable(String),
    /// Ctrl-C.
    Interrupted(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Unusable(message)
    }
}

impl From<NotCaptured> for Failure {
    fn from(why: NotCaptured) -> Self {
        match why {
            NotCaptured::Interrupted => Self::Interrupted(why.to_string()),
            _ => Self::Unusable(why.to_string()),
        }
    }
}
