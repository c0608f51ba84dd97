//! The drift gate: what changed between two states of a server's tools, and whom it breaks.
//!
//! ```text
//! lock or tools/list -> snapshot \
//!                                 +-> rules -> findings -> waivers and version -> verdict -> report
//! lock or tools/list -> snapshot /
//! ```
//!
//! Each rule is one file in [`rules`]; the meaning of schemas is compared, not their text. Nothing here
//! reads a file: what does is [`git`] and the command.
//!
//! ```
//! use colibri_codegen::drift::{Severity, compare, snapshot};
//!
//! let list = |limit: u32| format!(
//!     r#"{{"tools": [{{"name": "note_add", "inputSchema": {{
//!         "type": "object", "properties": {{"text": {{"type": "string", "maxLength": {limit}}}}}
//!     }}}}]}}"#
//! );
//! let old = snapshot::from_tools_list(&list(200))?;
//! let new = snapshot::from_tools_list(&list(100))?;
//! let found = compare(&old, &new);
//! assert_eq!((found[0].rule, found[0].severity), ("I7", Severity::Break));
//! assert_eq!(found[0].tool.as_deref(), Some("note_add"));
//! # Ok::<(), snapshot::Unreadable>(())
//! ```

mod errors;
pub mod finding;
pub mod git;
pub mod pairing;
pub mod report;
pub mod rules;
pub mod schema;
mod schemas;
pub mod snapshot;
pub mod verdict;

pub use finding::{Direction, Finding, Rule, Severity};
pub use verdict::{Verdict, judge};

use pairing::Comparison;
use snapshot::Snapshot;

/// Everything that changed between two snapshots and that a rule knows, the worst first.
#[must_use]
pub fn compare(old: &Snapshot, new: &Snapshot) -> Vec<Finding> {
    let change = Comparison::new(old, new);
    let mut found = Vec::new();
    for check in rules::CHECKS {
        check(&change, &mut found);
    }
    schemas::check(&change, &mut found);
    // Stable: within a severity by tool in listing order, and within a tool as the rules run.
    let position = |finding: &Finding| {
        let tool = finding.tool.as_deref();
        tool.and_then(|name| old.tools.iter().chain(&new.tools).position(|tool| tool.name == name))
    };
    found.sort_by_cached_key(|finding| (std::cmp::Reverse(finding.severity), position(finding)));
    found
}
