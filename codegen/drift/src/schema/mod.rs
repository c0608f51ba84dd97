//! The meaning of JSON Schemas: whether one accepts every value that another accepts, and if not, which value shows it.
//!
//! ```text
//! schemas -> normalise -> contain -> verdict
//!                            \-> sample -> validate -> witness
//! ```
//!
//! The walk through two schemas, which asks these questions, lies with the rules (`rules/changes`).
//!
//! Inputs may widen: what the old schema takes, the new one must take. Outputs may narrow: what the new
//! schema takes, the old one must take. Both are the same question, asked of the two schemas in turn.

pub(crate) mod contain;
pub(crate) mod difference;
mod merge;
pub(crate) mod node;
mod normalise;
pub(crate) mod number;
pub mod regex;
mod sample;
pub(crate) mod store;
pub(crate) mod text;
mod told;
mod validate;

use serde_json::Value;

pub(crate) use contain::Verdict;
pub(crate) use difference::{Branches, Difference};

use crate::{Nature, Severity};

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
    /// It affects security.
    pub security: bool,
    /// What a profile may judge apart.
    pub nature: Nature,
    /// Where in the schema, with references followed: `/properties/title`.
    pub pointer: String,
    /// Where else the same definition changes in the same way.
    pub places: Vec<String>,
    /// The old value there; null if there was none.
    pub old: Value,
    /// The present value there; null if there is none.
    pub new: Value,
    /// What changed, in a sentence without a full stop.
    pub message: String,
    /// A whole value that shows it: of inputs, one that the old schema takes and the new one refuses; of
    /// outputs, one that the new schema takes and the old one refuses.
    pub witness: Option<Value>,
}
