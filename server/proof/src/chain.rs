//! Verification of a task's chain (trail#verify-chain): a walk over its records in insertion order that never
//! stops early and keeps nothing but the last record. Pure.

mod issue;
mod report;
mod walk;

pub use issue::{Issue, IssueCode};
pub use report::{ChainReport, ChainsReport, TaskReport};
pub use walk::{ChainWalk, Content, StoredRecord, TrailHead};
