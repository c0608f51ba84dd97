//! What a bundle proves (proof#bundle).

use super::parts::{BundleRecord, InclusionBundle, TreeInclusion};
use crate::keys::{SignatureStatus, TrustedKeys, check_signature};
use crate::tree::legacy;
use crate::tree::rfc9162::{self, Hash};
use colibri_canonical::HexDigest;

/// Each check of a bundle, in the order of the design page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleVerdict {
    /// The content matches its digest and the record its hash. `None` if retention has dropped the content.
    pub record_hash: Option<bool>,
    /// The legacy tree holds the record's hash.
    pub legacy_proof: bool,
    /// The RFC 9162 tree holds the record, at the stated place.
    pub rfc9162_proof: bool,
    /// The head names the record's session, both roots and the number of leaves.
    pub tree_head_match: bool,
    /// The head's fields match its hash.
    pub head_hash: bool,
    /// The status of the head's signature.
    pub signature: SignatureStatus,
    /// The sum: no check failed, and the signature is a trusted key's if that was required.
    pub valid: bool,
}

/// Checks a bundle, using only the bundle itself and the trusted keys. The `position` of the legacy
/// proof's steps is advisory and not checked.
pub fn verify_bundle(
    bundle: &InclusionBundle,
    trusted: &TrustedKeys,
    require_signature: bool,
) -> BundleVerdict {
    let InclusionBundle { record, legacy, rfc9162, tree_head } = bundle;
    let head = &tree_head.head;
    let mut verdict = BundleVerdict {
        record_hash: record.content.as_deref().map(|content| record_hash_holds(record, content)),
        legacy_proof: legacy::verify_proof(&legacy.root, &legacy.proof, &record.hash),
        rfc9162_proof: inclusion_holds(record, rfc9162),
        tree_head_match: legacy.root == head.legacy_root
            && rfc9162.root_hash == head.root_hash
            && legacy.record_count == head.tree_size
            && rfc9162.tree_size == head.tree_size
            && record.session_id == head.session_id,
        head_hash: head.hash().as_str() == tree_head.head_hash,
        signature: check_signature(tree_head, trusted),
        valid: false,
    };
    let signature = match verdict.signature {
        SignatureStatus::Valid => true,
        SignatureStatus::Invalid => false,
        SignatureStatus::Unsigned | SignatureStatus::UnknownKey => !require_signature,
    };
    verdict.valid = verdict.record_hash != Some(false)
        && verdict.legacy_proof
        && verdict.rfc9162_proof
        && verdict.tree_head_match
        && verdict.head_hash
        && signature;
    verdict
}

fn record_hash_holds(record: &BundleRecord, content: &str) -> bool {
    HexDigest::of(content.as_bytes()).as_str() == record.content_hash
        && record.preimage(content).hash(&mut Vec::new()).as_str() == record.hash
}

fn inclusion_holds(record: &BundleRecord, tree: &TreeInclusion) -> bool {
    let path: Option<Vec<Hash>> = tree.audit_path.iter().map(|step| hash(step)).collect();
    let (Some(path), Some(root)) = (path, hash(&tree.root_hash)) else { return false };
    let (Ok(index), Ok(size)) = (u64::try_from(tree.leaf_index), u64::try_from(tree.tree_size)) else {
        return false;
    };
    let leaf = record.envelope().leaf_hash(&mut Vec::new());
    rfc9162::verify_inclusion(index, size, &leaf, &path, &root)
}

fn hash(text: &str) -> Option<Hash> {
    HexDigest::parse(text).map(|digest| digest.raw())
}
