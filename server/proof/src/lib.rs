//! Checks what a Colibri server leaves for auditors, without the server: no database, no network, no trust in the machine that
//! wrote the files.
//!
//! A **proof file** shows that one record belongs to a sealed session. An **export** is a whole session. Both end at a **tree
//! head**, the summary that the server signs when it seals a session. Take the signer's public key, or the published hash of the
//! head, from somewhere else than the file.
//!
//! ```
//! use colibri_proof::{ExportCheck, TrustedKeys, parse_bundle, verify_bundle};
//!
//! let keys = TrustedKeys::parse("03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8")?;
//!
//! // Check a proof file. The last argument says that a signature by one of the keys is required.
//! let proof = parse_bundle(include_bytes!("../examples/proof.json"))?;
//! assert!(verify_bundle(&proof, &keys, true).valid);
//!
//! // Verify an export, line by line.
//! let export = include_str!("../examples/export.jsonl");
//! let mut check = ExportCheck::new(&keys);
//! for line in export.split_inclusive('\n') {
//!     check.line(line.as_bytes())?;
//! }
//! assert!(check.finish()?.valid);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The parts can be used alone. Any Merkle tree of RFC 9162 is verified by [`rfc9162`]:
//!
//! ```
//! use colibri_proof::rfc9162::{inclusion_path, leaf_hash, root, verify_inclusion};
//!
//! let leaves: Vec<_> = ["a", "b", "c"].map(|record| leaf_hash(record.as_bytes())).into();
//! let path = inclusion_path(&leaves, 1);
//! assert!(verify_inclusion(1, 3, &leaf_hash(b"b"), &path, &root(&leaves)));
//! assert!(!verify_inclusion(1, 3, &leaf_hash(b"x"), &path, &root(&leaves)));
//! ```
//!
//! With the feature `cli` there is also `command` and the program `colibri-proof`, which do the same for files that are named on
//! the command line.

pub mod bounded_file;
pub mod bundle;
pub mod chain;
pub mod checkpoint;
#[cfg(feature = "cli")]
pub mod command;
pub mod envelope;
pub mod given;
pub mod head;
pub mod keys;
pub mod log_row;
mod mangled;
pub mod record;
pub mod secret;
pub mod session_export;
pub mod tree;
mod verdict;

pub use bundle::{BundleVerdict, InclusionBundle, parse_bundle, verify_bundle};
pub use checkpoint::Checkpoint;
pub use head::SignedTreeHead;
pub use keys::{SigningKey, TrustedKeys};
pub use mangled::Mangled;
pub use session_export::ExportCheck;
pub use tree::rfc9162;
pub use verdict::Verdict;

#[cfg(test)]
mod tests {
    use colibri_canonical::{HexDigest, NumberRule, canonical_json};

    /// Without serde_json's feature `float_roundtrip`, which `colibri-canonical` asks for, a reader may be off by the last bit, and
    /// without `unbounded_depth` a deep value could not be read back. This crate alone must hash what the server hashed.
    #[test]
    fn numbers_are_read_as_the_server_reads_them() {
        let text = "[31.245270191439438,121.48791951161945,2.638344616030823e-256]";
        let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        let canonical = canonical_json(&value, NumberRule::Wire).unwrap_or_default();
        assert_eq!(canonical, text);
        assert_eq!(HexDigest::of(canonical.as_bytes()).as_str().len(), 64);
    }
}
