//! The tree of RFC 9162, reduced to fit a picture. The lowest levels of a large tree are folded into blocks of equal
//! size, a power of two, whose hashes are nodes of the real tree. Pure.

use colibri_canonical::HexDigest;
use colibri_proof::tree::rfc9162::{Accumulator, Hash, node_hash};

/// The most leaves, or blocks of leaves, that a picture shows.
pub const MOST_UNITS: u64 = 64;

/// A tree whose lowest level is a leaf or a block of leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldedTree {
    /// Leaves of the whole tree.
    pub size: u64,
    /// Leaves in each unit of the lowest level; the last one may hold fewer.
    pub block: u64,
    /// The hashes, level by level; the first level holds the units, the last the root. A node without a sibling moves
    /// up to the next level unchanged.
    pub levels: Vec<Vec<Hash>>,
}

impl FoldedTree {
    /// Returns the number of leaves or blocks in the lowest level.
    pub fn units(&self) -> usize {
        self.levels.first().map_or(0, Vec::len)
    }

    /// Returns the root in hex; `None` for a tree without leaves.
    pub fn root_hex(&self) -> Option<String> {
        let root = self.levels.last()?.first()?;
        Some(HexDigest::from_raw(root).as_str().to_owned())
    }

    /// Returns the first and the last leaf of a unit.
    pub fn leaves_of(&self, unit: usize) -> (u64, u64) {
        let first = unit as u64 * self.block;
        (first, (first + self.block).min(self.size).saturating_sub(1))
    }
}

/// A folding of leaves as they arrive, in constant memory.
pub struct Folding {
    size: u64,
    block: u64,
    open: Accumulator,
    units: Vec<Hash>,
}

impl Folding {
    /// Starts a folding for a tree of this many leaves.
    pub fn new(expected: u64) -> Self {
        let mut block = 1;
        while expected.div_ceil(block) > MOST_UNITS {
            block *= 2;
        }
        Self { size: 0, block, open: Accumulator::default(), units: Vec::new() }
    }

    /// Adds the next leaf's hash. Leaves beyond the expected number make the picture larger, not wrong.
    pub fn push(&mut self, leaf: Hash) {
        self.open.push(leaf);
        self.size += 1;
        if self.size.is_multiple_of(self.block) {
            self.close();
        }
    }

    /// Returns the tree over the leaves that were pushed.
    pub fn finish(mut self) -> FoldedTree {
        if !self.size.is_multiple_of(self.block) {
            self.close();
        }
        let mut levels = vec![self.units];
        // An aligned block of a power of two is a node of the tree (RFC 9162 §2.1.1). The tree above the blocks is
        // built as above leaves: pairs from the left, a lone last node unchanged.
        while let Some(level) = levels.last().filter(|level| level.len() > 1) {
            let next = level.chunks(2).map(|pair| match pair {
                [left, right] => node_hash(left, right),
                lone => lone[0],
            });
            let next = next.collect();
            levels.push(next);
        }
        FoldedTree { size: self.size, block: self.block, levels }
    }

    fn close(&mut self) {
        self.units.push(std::mem::take(&mut self.open).root());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_or_not_the_root_is_the_trees() {
        for size in [1_u64, 2, 3, 7, 63, 64, 65, 100, 127, 128, 129, 1000, 5000] {
            let mut folding = Folding::new(size);
            let mut whole = Accumulator::default();
            for number in 0..size {
                let leaf = colibri_proof::tree::rfc9162::leaf_hash(&number.to_be_bytes());
                folding.push(leaf);
                whole.push(leaf);
            }
            let tree = folding.finish();
            assert_eq!(tree.levels.last(), Some(&vec![whole.root()]), "{size}");
            assert!(tree.levels[0].len() as u64 <= MOST_UNITS, "{size}");
            assert!(tree.block.is_power_of_two() && (size <= MOST_UNITS) == (tree.block == 1), "{size}");
            assert_eq!(tree.leaves_of(tree.levels[0].len() - 1).1, size - 1);
        }
    }
}
