//! Numbers that look random and follow from a seed.

use std::cell::Cell;

/// SplitMix64. Shared by everything that chooses, so that one seed fixes a whole run.
pub struct Dice(Cell<u64>);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    pub fn next(&self) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let mut z = self.0.get();
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// True once in so many times.
    pub fn one_in(&self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// A place in a list of that length.
    pub fn place(&self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// One of several.
    pub fn pick<T: Copy>(&self, from: &[T]) -> T {
        from[self.place(from.len())]
    }
}
