//! The Merkle tree of Certificate Transparency (RFC 9162 §2.1): ordered, with different hashes for leaves and
//! nodes, and with proofs that a leaf is in a tree and that one tree continues another. Pure.

use sha2::{Digest, Sha256};

use super::peaks::Peaks;

/// A SHA-256.
pub type Hash = [u8; 32];

/// Returns the hash of a leaf (RFC 9162 §2.1.1).
pub fn leaf_hash(input: &[u8]) -> Hash {
    Sha256::new().chain_update([0]).chain_update(input).finalize().into()
}

/// Returns the hash of an inner node (RFC 9162 §2.1.1).
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// Returns the root of a tree without leaves: SHA-256 of nothing.
pub fn empty_root() -> Hash {
    Sha256::digest([]).into()
}

/// A tree that only grows. It keeps only what the root needs: one hash for each bit of its size.
#[derive(Debug, Clone, Default)]
pub struct Accumulator(Peaks);

impl Accumulator {
    /// Appends a leaf, given by its hash.
    pub fn push(&mut self, leaf: Hash) {
        self.0.push(leaf, node_hash);
    }

    /// Returns how many leaves were pushed.
    pub fn size(&self) -> u64 {
        self.0.size()
    }

    /// Returns the root over the leaves so far.
    pub fn root(&self) -> Hash {
        self.0.root(node_hash).unwrap_or_else(empty_root)
    }
}

/// Returns the root over `leaves`, given by their hashes.
pub fn root(leaves: &[Hash]) -> Hash {
    let mut tree = Accumulator::default();
    leaves.iter().for_each(|leaf| tree.push(*leaf));
    tree.root()
}

/// Returns the hashes that lead from leaf `index` to the root, from the leaf upwards (RFC 9162 §2.1.3.1). Empty
/// for an index outside the tree.
pub fn inclusion_path(leaves: &[Hash], index: u64) -> Vec<Hash> {
    let Some(mut index) = usize::try_from(index).ok().filter(|index| *index < leaves.len()) else {
        return Vec::new();
    };
    let mut path = Vec::new();
    let mut part = leaves;
    while part.len() > 1 {
        let (left, right) = part.split_at(split(part.len()));
        if index < left.len() {
            path.push(root(right));
            part = left;
        } else {
            path.push(root(left));
            index -= left.len();
            part = right;
        }
    }
    path.reverse();
    path
}

/// Checks whether `path` leads from `leaf`, at `index` of `size` leaves, to `root` (RFC 9162 §2.1.3.2).
pub fn verify_inclusion(index: u64, size: u64, leaf: &Hash, path: &[Hash], root: &Hash) -> bool {
    if index >= size {
        return false;
    }
    let (mut node, mut last) = (index, size - 1);
    let mut hash = *leaf;
    for sibling in path {
        if last == 0 {
            return false;
        }
        if node % 2 == 1 || node == last {
            hash = node_hash(sibling, &hash);
            climb_lone(&mut node, &mut last);
        } else {
            hash = node_hash(&hash, sibling);
        }
        node /= 2;
        last /= 2;
    }
    last == 0 && hash == *root
}

/// Returns the hashes that show that the tree over the first `size` leaves is the beginning of the tree over all
/// (RFC 9162 §2.1.4.1). Empty if `size` is 0, the number of leaves, or more.
pub fn consistency_path(leaves: &[Hash], size: u64) -> Vec<Hash> {
    let Some(mut size) = usize::try_from(size).ok().filter(|size| (1..leaves.len()).contains(size)) else {
        return Vec::new();
    };
    let mut path = Vec::new();
    let mut part = leaves;
    // As long as the first tree ends where a subtree of it ends, the verifier knows that subtree's root.
    let mut known = true;
    while size < part.len() {
        let (left, right) = part.split_at(split(part.len()));
        if size <= left.len() {
            path.push(root(right));
            part = left;
        } else {
            path.push(root(left));
            size -= left.len();
            part = right;
            known = false;
        }
    }
    if !known {
        path.push(root(part));
    }
    path.reverse();
    path
}

/// Checks whether `path` shows that the tree of `size` leaves with root `first` is the beginning of the tree of
/// `next_size` leaves with root `second` (RFC 9162 §2.1.4.2). A tree begins every tree of its own size
/// that has its root, and the empty tree begins every tree.
pub fn verify_consistency(size: u64, next_size: u64, first: &Hash, second: &Hash, path: &[Hash]) -> bool {
    if size == next_size {
        let sound = size > 0 || *first == empty_root();
        return path.is_empty() && first == second && sound;
    }
    if size == 0 || size > next_size {
        return size == 0 && path.is_empty() && *first == empty_root();
    }
    let start = if size.is_power_of_two() { Some(first) } else { None };
    let mut steps = start.into_iter().chain(path);
    let Some(begin) = steps.next().filter(|_| !path.is_empty()) else { return false };
    let (mut node, mut last) = (size - 1, next_size - 1);
    let shift = node.trailing_ones();
    (node, last) = (node >> shift, last >> shift);
    let (mut old, mut new) = (*begin, *begin);
    for step in steps {
        if last == 0 {
            return false;
        }
        if node % 2 == 1 || node == last {
            old = node_hash(step, &old);
            new = node_hash(step, &new);
            climb_lone(&mut node, &mut last);
        } else {
            new = node_hash(&new, step);
        }
        node /= 2;
        last /= 2;
    }
    last == 0 && old == *first && new == *second
}

/// Moves a node that is the last of its level and has no sibling up until it has one.
fn climb_lone(node: &mut u64, last: &mut u64) {
    while *node != 0 && (*node).is_multiple_of(2) {
        *node /= 2;
        *last /= 2;
    }
}

/// Returns the largest power of two below `size`, which is at least 2.
fn split(size: usize) -> usize {
    size.next_power_of_two() / 2
}
