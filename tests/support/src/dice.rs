//! Numbers that look random and follow from a seed alone, so that a seed replays a run.

#![allow(clippy::expect_used)]

use std::cell::Cell;

/// SplitMix64 (Steele, Lea and Flood 2014): equal seeds give equal numbers, neighbouring seeds unrelated ones. Draws need no
/// `mut`, so that everything that chooses in a run can share one.
#[derive(Debug, Clone)]
pub struct Dice(Cell<u64>);

impl Dice {
    /// Returns the numbers of a seed; any seed will do.
    pub fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    /// Numbers that depend on an input and on nothing else (FNV-1a).
    pub fn of(bytes: &[u8]) -> Self {
        let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        Self::new(bytes.iter().fold(0xCBF2_9CE4_8422_2325, hash))
    }

    /// Returns separate dice for a label, so that one part's draws do not shift another's.
    #[must_use]
    pub fn stream(&self, label: u64) -> Self {
        let stream = Self::new(self.0.get() ^ label.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        stream.roll();
        stream
    }

    /// Any number.
    pub fn roll(&self) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x9E37_79B9_7F4A_7C15));
        let mut z = self.0.get();
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `limit`, which must be small against 2^64; 0 if `limit` is 0.
    pub fn below(&self, limit: u64) -> u64 {
        self.roll() % limit.max(1)
    }

    /// Returns a place in a list of that length; 0 if it is empty.
    pub fn place(&self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("it is below a usize")
    }

    /// One of several.
    pub fn pick<'a, T>(&self, from: &'a [T]) -> &'a T {
        &from[self.place(from.len())]
    }

    /// Returns `count` different numbers below `n`, sorted.
    pub fn choose(&self, count: usize, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        for place in 0..count {
            all.swap(place, place + self.place(n - place));
        }
        all.truncate(count);
        all.sort_unstable();
        all
    }

    /// Returns true once in so many times.
    pub fn one_in(&self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Returns true `percent` times of a hundred.
    pub fn chance(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Any byte.
    pub fn byte(&self) -> u8 {
        self.roll().to_le_bytes()[0]
    }

    /// As many bytes as a key or a hash has.
    pub fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_exact_mut(8) {
            chunk.copy_from_slice(&self.roll().to_be_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    /// Documented seeds repeat their runs only while this holds.
    #[test]
    fn seeds_give_the_numbers_of_splitmix64() {
        let dice = Dice::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| dice.roll()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
