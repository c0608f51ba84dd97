//! The original's Merkle tree, byte for byte (proof#first-tree): leaves are the records' own hashes,
//! sorted; pairs are sorted before they are hashed; a lone node moves up unchanged. Pure.
//!
//! Its root commits to a set of hashes and to nothing else (proof#first-tree lists what that leaves open).
//! Inner nodes look like leaves, so never take a bare hash for a record, see
//! [`verify_record_inclusion`].

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::peaks::Peaks;
use super::rfc9162::Hash;
use crate::record::{ThoughtRecord, compute_hash};
use colibri_canonical::HexDigest;

/// The root of a tree without leaves: SHA-256 of nothing.
pub const EMPTY_TREE_ROOT: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The most steps of a proof; a longer one is refused, since no tree is that high.
pub const MAX_PROOF_STEPS: usize = 64;

/// Where a sibling is in its level. Advisory: pairs are sorted, so verification ignores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Before the node.
    Left,
    /// After the node.
    Right,
}

/// One step of a membership proof, from the leaf upwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofStep {
    /// Where the sibling is.
    pub position: Side,
    /// The sibling: 64 lowercase hex characters, if the proof is sound.
    pub data: String,
}

/// A tree with all its levels, leaves first.
#[derive(Debug, Clone)]
pub struct MerkleTree {
    levels: Vec<Vec<Hash>>,
}

impl MerkleTree {
    /// Returns the root.
    pub fn root(&self) -> HexDigest {
        let top = self.levels.last().and_then(|level| level.first());
        top.map_or_else(|| HexDigest::of(b""), HexDigest::from_raw)
    }

    /// Returns the levels, sorted leaves first, the root last; empty for an empty tree.
    pub fn levels(&self) -> &[Vec<Hash>] {
        &self.levels
    }
}

/// Builds the tree over the records' hashes, which may come in any order. Equal hashes are kept.
pub fn build_merkle_tree(record_hashes: &[HexDigest]) -> MerkleTree {
    let mut level: Vec<Hash> = record_hashes.iter().map(HexDigest::raw).collect();
    level.sort_unstable();
    let mut levels = Vec::new();
    while level.len() > 1 {
        let above = level.chunks(2).map(|pair| match pair {
            [left, right] => parent(left, right),
            lone => lone[0],
        });
        let above = above.collect();
        levels.push(std::mem::replace(&mut level, above));
    }
    if !level.is_empty() {
        levels.push(level);
    }
    MerkleTree { levels }
}

/// Returns the siblings on a leaf's way to the root. Empty for a leaf that is not in the tree, and for the
/// only leaf of a tree.
pub fn generate_proof(tree: &MerkleTree, leaf_hash: &HexDigest) -> Vec<ProofStep> {
    let leaf = leaf_hash.raw();
    let Some(leaves) = tree.levels.first() else { return Vec::new() };
    let mut index = leaves.partition_point(|other| *other < leaf);
    if leaves.get(index) != Some(&leaf) {
        return Vec::new();
    }
    let mut proof = Vec::new();
    for level in &tree.levels {
        let position = if index % 2 == 1 { Side::Left } else { Side::Right };
        // A lone node at the end of a level has no sibling and moves up.
        if let Some(sibling) = level.get(index ^ 1) {
            proof.push(ProofStep { position, data: HexDigest::from_raw(sibling).as_str().to_owned() });
        }
        index /= 2;
    }
    proof
}

/// Checks whether `proof` leads from the leaf to the root. A malformed proof fails.
pub fn verify_proof(root: &str, proof: &[ProofStep], leaf_hash: &str) -> bool {
    let (Some(root), Some(leaf)) = (HexDigest::parse(root), HexDigest::parse(leaf_hash)) else {
        return false;
    };
    if proof.len() > MAX_PROOF_STEPS {
        return false;
    }
    let folded = proof.iter().try_fold(leaf.raw(), |hash, step| {
        let sibling = HexDigest::parse(&step.data)?;
        Some(parent(&hash, &sibling.raw()))
    });
    folded == Some(root.raw())
}

/// Checks whether `record` is a member of the tree with this root. The leaf is recomputed from the record, so
/// that an inner node cannot pass for one (proof#first-tree).
pub fn verify_record_inclusion(record: &ThoughtRecord, proof: &[ProofStep], root: &str) -> bool {
    let computed = compute_hash(record);
    computed == record.hash && verify_proof(root, proof, computed.as_str())
}

/// The tree's root over leaves that come in ascending order, without keeping them.
#[derive(Debug, Clone, Default)]
pub struct LegacyAccumulator(Peaks);

impl LegacyAccumulator {
    /// Appends the next leaf; the root is the tree's only if no leaf is smaller than the one before.
    pub fn push(&mut self, leaf: &HexDigest) {
        self.0.push(leaf.raw(), parent);
    }

    /// Returns how many leaves were pushed.
    pub fn size(&self) -> u64 {
        self.0.size()
    }

    /// Returns the root over the leaves so far.
    pub fn root(&self) -> HexDigest {
        self.0.root(parent).map_or_else(|| HexDigest::of(b""), |root| HexDigest::from_raw(&root))
    }
}

fn parent(left: &Hash, right: &Hash) -> Hash {
    let (low, high) = if left <= right { (left, right) } else { (right, left) };
    Sha256::new().chain_update(low).chain_update(high).finalize().into()
}
