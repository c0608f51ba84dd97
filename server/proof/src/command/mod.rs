//! The commands that check a file: what `colibri check-proof` and `colibri verify-export` do, and the binary `colibri-proof`.
//! They read the named file and the keys, and nothing else.

mod arguments;
mod check_proof;
mod evidence;
pub mod output;
mod verdict;
mod verify_export;
mod worth;

use std::io;

use crate::verdict::Verdict;

pub use arguments::{CheckFile, Evidence};
pub use check_proof::run as check_proof;
pub use evidence::{Keys, MISTAKEN, input};
pub use verify_export::run as verify_export;

/// Why a command did not end with exit code 0.
#[derive(Debug)]
pub enum Failure {
    /// The check found something, and the command has printed it: exit 1.
    Finding,
    /// No check failed, but what the reader gave does not confirm the content: exit 3.
    Unconfirmed,
    /// The command was used the wrong way: exit 2.
    Usage(String),
    /// The output cannot be written.
    Output(io::Error),
}

/// Returns how a command ends with this verdict, once it has printed it.
///
/// # Errors
/// For every verdict but [`Verdict::Holds`].
pub fn conclude(verdict: Verdict) -> Result<(), Failure> {
    match verdict {
        Verdict::Holds => Ok(()),
        Verdict::Unconfirmed => Err(Failure::Unconfirmed),
        Verdict::Fails => Err(Failure::Finding),
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
