//! The export of a session: a text file that is checked alone, without a database (`docs/reference/formats.md`).
//! Pure: the caller reads the file and passes its lines.
//!
//! ```text
//! lines    the four kinds of lines and the one form each has
//! check    line by line: each record by itself, both trees, then the seal
//! links    what the chains of the tasks are inside the file, and what they point at outside
//! verdict  what was found
//! ```
//!
//! Memory: 32 bytes a record, for the original's tree sorts its leaves; 40 for each link that leads out of the
//! file; one entry a task. Contents are not kept.

mod check;
mod lines;
mod links;
mod verdict;

pub use check::ExportCheck;
#[cfg(feature = "cli")]
pub(crate) use lines::FORMAT;
pub use lines::{
    ExportHeader, ExportRecord, ExportState, FormFault, FormProblem, LineKind, NotAnExport, head_line,
    tips_line,
};
pub use verdict::{Checks, ExportVerdict};

/// The longest line, its line end not counted: a content of 1 MiB takes six at most.
pub const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;
