//! The shape of both trees: perfect subtrees from the left, a remainder moved up. The
//! largest power of two below `n` splits `n` leaves (RFC 9162 §2.1.1). Pairing
//! neighbours and promoting a lone node gives the same shape (proof#first-tree). Pure.

use super::rfc9162::Hash;

/// The roots of the perfect subtrees of a growing tree, largest first: one for each bit set in its size.
#[derive(Debug, Clone, Default)]
pub(super) struct Peaks {
    size: u64,
    roots: Vec<Hash>,
}

impl Peaks {
    /// Returns how many leaves were pushed.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf; two subtrees of one size become one, as in a binary counter.
    pub(super) fn push(&mut self, leaf: Hash, node: impl Fn(&Hash, &Hash) -> Hash) {
        let mut root = leaf;
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.roots.pop() {
                root = node(&left, &root);
            }
        }
        self.roots.push(root);
        self.size += 1;
    }

    /// Returns the root over all leaves; `None` for an empty tree.
    pub(super) fn root(&self, node: impl Fn(&Hash, &Hash) -> Hash) -> Option<Hash> {
        let (last, larger) = self.roots.split_last()?;
        Some(larger.iter().rev().fold(*last, |root, left| node(left, &root)))
    }
}
