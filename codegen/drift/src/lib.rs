//! Compares what an MCP server offers its clients at two points in time, and says which clients break.
//!
//! A state of a server is read from its answer to `tools/list` or from a catalogue's lock. The meaning of schemas is compared,
//! not their text, and a break is shown by a value that worked before.
//!
//! ```
//! use colibri_drift::{Severity, compare, from_tools_list};
//!
//! let list = |limit: u32| format!(
//!     r#"{{"tools": [{{"name": "note_add", "inputSchema": {{
//!         "type": "object", "properties": {{"text": {{"type": "string", "maxLength": {limit}}}}}
//!     }}}}]}}"#
//! );
//! let found = compare(&from_tools_list(&list(200))?, &from_tools_list(&list(100))?);
//! assert_eq!((found[0].rule, found[0].severity), ("I7", Severity::Break));
//! assert_eq!(found[0].tool.as_deref(), Some("note_add"));
//! # Ok::<(), colibri_drift::Unreadable>(())
//! ```
//!
//! ```text
//! lock or tools/list -> snapshot \
//!                                 +-> rules -> findings -> waivers and version -> verdict -> report
//! lock or tools/list -> snapshot /
//! ```
//!
//! The library reads no file and asks no server; `command`, `capture` and `git`, behind the feature `cli`, do.

#[cfg(feature = "cli")]
mod capture;
#[cfg(feature = "cli")]
pub mod command;
pub mod config;
mod finding;
#[cfg(feature = "cli")]
pub mod git;
pub mod hosts;
pub mod report;
mod rules;
pub mod schema;
pub mod snapshot;
mod verdict;
mod version;
mod waiver;

pub use config::Config;
pub use finding::{Direction, Finding, Nature, Rule, Severity};
pub use rules::changes::{compare as compare_schemas, work as work_of_schemas};
pub use rules::{RULES, rule};
pub use snapshot::{Snapshot, Unreadable, from_lock, from_tools_list};
pub use verdict::{Verdict, judge, judge_by};
pub use waiver::Waiver;
#[cfg(feature = "cli")]
pub use waiver::waivers;

use rules::pairing::Comparison;

/// Everything that changed between two snapshots and that a rule knows, the worst first.
#[must_use]
pub fn compare(old: &Snapshot, new: &Snapshot) -> Vec<Finding> {
    let change = Comparison::new(old, new);
    let mut found = Vec::new();
    rules::check(&change, &mut found);
    rules::schemas::check(&change, &mut found);
    rules::texts::check(&change, &mut found);
    // Stable: within a severity by tool in listing order, and within a tool as the rules run.
    let names = old.tools.iter().chain(&new.tools).map(|tool| tool.name.as_str());
    let mut places = std::collections::HashMap::new();
    for (place, name) in names.enumerate() {
        places.entry(name).or_insert(place);
    }
    let position = |finding: &Finding| finding.tool.as_deref().and_then(|name| places.get(name).copied());
    found.sort_by_cached_key(|finding| (std::cmp::Reverse(finding.severity), position(finding)));
    found
}
