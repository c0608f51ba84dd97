//! YAML files into a typed model whose every node knows file, line and column.
//!
//! [`Catalogue::load`] reads a folder; what it finds wrong comes back as [`Finding`]s, all of them,
//! in the order of the files.

mod decode;
mod drift;
mod example;
pub mod findings;
mod foreign;
mod hints;
mod index;
mod layout;
mod load;
pub mod model;
mod next_call;
mod portable;
#[cfg(feature = "cli")]
pub mod schema;
mod shared;
mod source;
pub(crate) mod suggest;
mod told;
mod varying;

use std::fmt;
use std::path::PathBuf;

pub use drift::{Drift, DriftProfile, FailOn, RuleSetting, Waiver};
pub use example::{Example, Setup};
pub use foreign::ForeignErrors;
pub use hints::Hints;
pub use load::{Catalogue, DomainEntry, ToolEntry};
pub use model::*;
pub use next_call::{NextCall, Source};
pub(crate) use portable::{ANNOTATIONS, OF_TYPE};
pub use source::{MAX_DEPTH, MAX_FILE_BYTES, SourceFile};
pub use told::{Announcement, NoticeEntry, Teaches};
pub use varying::Varying;

/// A place in the catalogue: which file, and which node in it (JSON pointer, RFC 6901).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Index into [`Catalogue::files`].
    pub file: usize,
    /// Pointer to the node.
    pub pointer: String,
}

impl Place {
    /// The place of a member or item below this one.
    #[must_use]
    pub fn child(&self, key: impl fmt::Display) -> Self {
        let key = key.to_string().replace('~', "~0").replace('/', "~1");
        Self { file: self.file, pointer: format!("{}/{key}", self.pointer) }
    }
}

/// Line and column in a file, both from 1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The file, relative to the folder given to [`Catalogue::load`]'s caller.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// Something wrong with a catalogue: where, what, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Where.
    pub at: Location,
    /// Id of the rule that found it (`lint` rules: the file's name; the loader: `yaml`, `model`).
    pub rule: &'static str,
    /// What is wrong, one sentence.
    pub message: String,
    /// What to write instead.
    pub help: String,
}
