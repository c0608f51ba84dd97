//! The comparison of two JSON Schemas by what they mean, not by how they are written.
//!
//! ```text
//! schemas -> normalise -> changes (which rule, where) -> contain -> verdict -> rules -> schema changes
//!                                                           \-> sample -> validate -> witness
//! ```
//!
//! Inputs may widen: what the old schema takes, the new one must take. Outputs may narrow: what the new
//! schema takes, the old one must take. Both are the same question, asked of the two schemas in turn.
//!
//! ```
//! use colibri_drift::Severity;
//! use colibri_drift::schema::{Direction, compare};
//! use serde_json::json;
//!
//! let old = json!({"type": "object", "properties": {"text": {"type": "string", "maxLength": 20}}});
//! let new = json!({"type": "object", "properties": {"text": {"type": "string", "maxLength": 9}}});
//!
//! let changes = compare(&old, &new, Direction::Input);
//! assert_eq!((changes[0].rule, changes[0].severity), ("I7", Severity::Break));
//! assert_eq!(changes[0].witness, Some(json!({"text": "aaaaaaaaaa"})));
//! assert!(compare(&old, &new, Direction::Output).iter().all(|change| change.severity == Severity::Info));
//! ```

mod changes;
mod contain;
mod difference;
mod merge;
mod node;
mod normalise;
mod number;
pub mod regex;
mod sample;
mod store;
mod text;
mod validate;

use serde_json::Value;

pub(crate) use contain::Verdict;
pub(crate) use difference::{Branches, Difference};

use crate::Severity;

/// Which way values go; it decides what a schema may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From clients: the new schema must take what the old one takes.
    Input,
    /// To clients: the old schema must take what the new one takes.
    Output,
}

/// One difference between two schemas.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaChange {
    /// Id of the rule.
    pub rule: &'static str,
    /// What it asks for.
    pub severity: Severity,
    /// It bears on security.
    pub security: bool,
    /// Where in the schema, with references followed: `/properties/title`.
    pub pointer: String,
    /// What stood there; null if nothing did.
    pub old: Value,
    /// What stands there now; null if nothing does.
    pub new: Value,
    /// What changed, in a sentence without a full stop.
    pub message: String,
    /// A whole value that shows it: of inputs, one that the old schema takes and the new one refuses; of
    /// outputs, one that the new schema takes and the old one refuses.
    pub witness: Option<Value>,
}

/// All differences between two schemas in one direction, in the order of the walk. Schemas that mean the
/// same have none, however they are written.
#[must_use]
pub fn compare(old: &Value, new: &Value, direction: Direction) -> Vec<SchemaChange> {
    changes::changes(old, new, direction)
}
