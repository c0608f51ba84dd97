//! Stage 1's extension point: may this tool run now (chain#admission).

use serde_json::{Map, Value};

use crate::spec::ToolSpec;

/// Why a tool may not run.
#[derive(Debug, Clone, PartialEq)]
pub struct Denial {
    /// The code, one of the catalogue's chain codes.
    pub code: &'static str,
    /// The message.
    pub message: String,
    /// `error.details`, with the catalogue's remedy as its last member.
    pub details: Map<String, Value>,
}

/// A check of stage 1, after the lock and before validation.
pub trait Admission {
    /// Admits the tool or says why not.
    ///
    /// # Errors
    /// The denial.
    fn admit(&self, tool: &ToolSpec) -> Result<(), Denial>;

    /// Whether clients are shown the tool.
    fn lists(&self, tool: &ToolSpec) -> bool;
}
