//! Numbers that look random and are the same in every run.

use std::time::Duration;

/// xorshift64.
pub struct Dice(u64);

impl Dice {
    /// The seed must not be 0.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// For a run of that number: neighbouring numbers have nothing in common (splitmix64).
    pub fn of_run(seed: u64) -> Self {
        let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((mixed ^ (mixed >> 31)).max(1))
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.place(from.len())]
    }

    /// A place in a list of that length.
    pub fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("it is below a usize")
    }

    /// A time below so many microseconds.
    pub fn microseconds(&mut self, limit: u64) -> Duration {
        Duration::from_micros(self.below(limit))
    }
}
