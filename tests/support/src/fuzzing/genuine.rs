//! Proofs and exports that are right, with the key that has signed them: the session of `server/proof/tests/vectors`, written
//! by hand from the page on formats.

use std::sync::LazyLock;

use colibri_canonical::HexDigest;
use colibri_proof::bundle::{BundleRecord, InclusionBundle, LegacyInclusion, TreeInclusion};
use colibri_proof::head::SignedTreeHead;
use colibri_proof::keys::TrustedKeys;
use colibri_proof::tree::legacy::{build_merkle_tree, generate_proof};
use colibri_proof::tree::rfc9162::{Hash, inclusion_path};
use serde::Deserialize;
use serde_json::Value;

/// The export: a header, four records, tips and a tree head.
pub const EXPORT: &str = include_str!("../../../../server/proof/tests/vectors/session-export.jsonl");
/// The public key of the tree head.
pub const KEY: &str = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";

/// That key and no other.
pub static TRUSTED: LazyLock<TrustedKeys> = LazyLock::new(|| TrustedKeys::parse(KEY).expect("a key"));

/// The proof of each of its records.
pub static BUNDLES: LazyLock<Vec<InclusionBundle>> = LazyLock::new(bundles);

fn bundles() -> Vec<InclusionBundle> {
    let (mut records, mut head): (Vec<BundleRecord>, Option<SignedTreeHead>) = (Vec::new(), None);
    for line in EXPORT.lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        if let Some(record) = value.get("record") {
            records.push(BundleRecord::deserialize(record).expect("a record"));
        } else if let Some(sealed) = value.get("tree_head") {
            head = Some(SignedTreeHead::deserialize(sealed).expect("a head"));
        }
    }
    let tree_head = head.expect("the export is sealed");
    let hashes: Vec<HexDigest> =
        records.iter().map(|record| HexDigest::parse(&record.hash).expect("a hash")).collect();
    let leaves: Vec<Hash> =
        records.iter().map(|record| record.envelope().leaf_hash(&mut Vec::new())).collect();
    let legacy = build_merkle_tree(&hashes);
    let size = tree_head.head.tree_size;
    let prove = |(index, record): (usize, &BundleRecord)| InclusionBundle {
        record: record.clone(),
        legacy: LegacyInclusion {
            root: tree_head.head.legacy_root.clone(),
            record_count: size,
            proof: generate_proof(&legacy, &hashes[index]),
        },
        rfc9162: TreeInclusion {
            leaf_index: i64::try_from(index).expect("a few"),
            tree_size: size,
            audit_path: inclusion_path(&leaves, index as u64)
                .iter()
                .map(|step| HexDigest::from_raw(step).as_str().to_owned())
                .collect(),
            root_hash: tree_head.head.root_hash.clone(),
        },
        tree_head: tree_head.clone(),
    };
    records.iter().enumerate().map(prove).collect()
}
