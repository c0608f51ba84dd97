//! The inclusion bundle (proof#bundle): a record, its place in both trees of its session, and the tree head,
//! in one file that is checked without a database. Pure.
//!
//! A file has exactly one form, canonical JSON (RFC 8785) and a line end. Any other form is refused,
//! so every changed byte is detected.

mod parts;
mod verdict;

use colibri_canonical::{CanonicalError, NumberRule, canonical_json};

use crate::mangled::Mangled;

pub use parts::{BundleRecord, InclusionBundle, LegacyInclusion, NotABundle, TreeInclusion};
pub use verdict::{BundleVerdict, verify_bundle};

/// Longer files are refused unread. The longest sound one is a record of 1 MiB, escaped, and two short proofs.
pub const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;

/// Why bytes are not a bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// Another file.
    #[error("this is not a proof: {0}")]
    NotABundle(#[from] NotABundle),
    /// Damaged JSON, or other members than a bundle's.
    #[error("the proof is not of the form `colibri-inclusion-bundle`, version 1: {0}")]
    Shape(#[from] serde_json::Error),
    /// A number that JSON's readers disagree about.
    #[error("the proof holds a number that has no exact form: {0}")]
    Number(#[from] CanonicalError),
    /// The right values, written by another program.
    #[error("{0}; use the file as it was written")]
    Mangled(Mangled),
    /// The right values, but not in canonical form.
    #[error("the proof is not in canonical form from byte {at} on; use the file as it was written")]
    NotCanonical {
        /// The first byte that differs, from 0.
        at: usize,
    },
}

impl InclusionBundle {
    /// Returns the bundle's file: canonical JSON and a line end.
    ///
    /// # Errors
    /// [`BundleError::Number`] for a count beyond ±(2^53-1).
    pub fn to_file(&self) -> Result<String, BundleError> {
        let mut text = canonical_json(&serde_json::to_value(self)?, NumberRule::Trail)?;
        text.push('\n');
        Ok(text)
    }
}

/// Reads a bundle's file. It does not check what the bundle proves; [`verify_bundle`] does.
///
/// # Errors
/// For any bytes but those that [`InclusionBundle::to_file`] writes for the same bundle.
pub fn parse_bundle(bytes: &[u8]) -> Result<InclusionBundle, BundleError> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(NotABundle::TooLarge.into());
    }
    let bundle: InclusionBundle =
        serde_json::from_slice(bytes).map_err(|error| match parts::not_a_bundle(bytes) {
            Some(reason) => BundleError::NotABundle(reason),
            None => Mangled::broken(bytes).map_or(BundleError::Shape(error), BundleError::Mangled),
        })?;
    let canonical = bundle.to_file()?;
    match first_difference(bytes, canonical.as_bytes()) {
        None => Ok(bundle),
        Some(at) => Err(Mangled::difference(bytes, canonical.as_bytes(), at)
            .map_or(BundleError::NotCanonical { at }, BundleError::Mangled)),
    }
}

fn first_difference(left: &[u8], right: &[u8]) -> Option<usize> {
    let common = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    (common < left.len().max(right.len())).then_some(common)
}
