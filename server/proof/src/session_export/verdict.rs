//! What a check of an export finds.

use serde::Serialize;

use super::lines::{ExportHeader, FormFault};
use crate::chain::Issue;
use crate::head::SignedTreeHead;
use crate::keys::SignatureStatus;

/// The result of each check; `None` if it had nothing to check, or reading stopped before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Checks {
    /// Every line is in its one form and at its place.
    pub form: bool,
    /// The contents match their digests. `None`: the file has no content.
    pub content_hashes: Option<bool>,
    /// The records with a content match their hashes.
    pub record_hashes: Option<bool>,
    /// Each record names the session, and no record appears twice.
    pub session_records: Option<bool>,
    /// No record follows one that cannot be before it.
    pub links: Option<bool>,
    /// The records give the original's root.
    pub legacy_root: Option<bool>,
    /// The records give the second tree's root.
    pub root_hash: Option<bool>,
    /// The number of records is the one that was sealed.
    pub tree_size: Option<bool>,
    /// The session is the one that was sealed.
    pub session_hash: Option<bool>,
    /// The chain tips are those that were sealed, and fit the records.
    pub chain_tips: Option<bool>,
    /// The tree head matches its hash, and is consistent.
    pub head_hash: Option<bool>,
}

/// All findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportVerdict {
    /// The first line, if it was well-formed.
    pub header: Option<ExportHeader>,
    /// Where the file leaves the form of an export.
    pub fault: Option<FormFault>,
    /// Records read.
    pub record_count: i64,
    /// Records without a content: their hashes cannot be recomputed.
    pub cold_count: i64,
    /// Links from one record of the file to another.
    pub links_inside: i64,
    /// Links to records that are not in the file.
    pub links_outside: i64,
    /// The seal.
    pub head: Option<SignedTreeHead>,
    /// The status of the seal's signature.
    pub signature: Option<SignatureStatus>,
    /// Each check.
    pub checks: Checks,
    /// The first findings.
    pub issues: Vec<Issue>,
    /// How many findings the check made.
    pub issue_count: u64,
    /// No check failed; and if keys are trusted, one of them has signed.
    pub valid: bool,
}
