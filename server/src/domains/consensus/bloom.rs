//! Which events a gossip round has seen already, in little memory (theta §10.3): it may say yes to one that it has
//! not, never no to one that it has. One filter a round, never stored. Pure; the one place with floats.

use super::canonical::sha256;

/// How many events a filter expects unless told otherwise.
pub const BLOOM_DEFAULT_N: u64 = 1_000;
/// How often it may say yes wrongly then.
pub const BLOOM_DEFAULT_P: f64 = 0.01;
/// The largest filter, in bits: 16 MiB.
const MAX_BITS: u64 = 1 << 27;

/// Why there is no such filter.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum BloomError {
    /// For no events.
    #[error("a Bloom filter expects at least 1 event; got {0}")]
    Events(u64),
    /// Not a share between 0 and 1.
    #[error("a Bloom filter's share of wrong answers lies between 0 and 1; got {0}")]
    Share(f64),
    /// More bits than a filter may have.
    #[error("a Bloom filter for {n} events and a share of {p} would have more than {MAX_BITS} bits")]
    TooLarge {
        /// The events.
        n: u64,
        /// The share.
        p: f64,
    },
}

/// Bits and hashes of a filter for `n` events with a share `p` of wrong answers: `m = ⌈−n·ln p / (ln 2)²⌉` and
/// `k = round(m/n · ln 2)`, at least one.
///
/// # Errors
/// See [`BloomError`].
pub fn size_filter(n: u64, p: f64) -> Result<(u64, u32), BloomError> {
    if n < 1 {
        return Err(BloomError::Events(n));
    }
    // Written so that a NaN fails as well.
    if !(p > 0.0 && p < 1.0) {
        return Err(BloomError::Share(p));
    }
    let (ln_2, events) = (std::f64::consts::LN_2, n as f64);
    let m = (-events * p.ln() / (ln_2 * ln_2)).ceil();
    if m > MAX_BITS as f64 {
        return Err(BloomError::TooLarge { n, p });
    }
    let k = (m / events * ln_2).round().max(1.0);
    Ok((m as u64, k as u32))
}

/// What is in a filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BloomStats {
    /// Its bits.
    pub m: u64,
    /// Hashes an event.
    pub k: u32,
    /// Bits that are set.
    pub set_bits: u64,
    /// Share of bits that are set.
    pub occupancy: f64,
}

/// A filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloomFilter {
    m: u64,
    k: u32,
    words: Vec<u64>,
}

impl BloomFilter {
    /// An empty filter for `n` events with a share `p` of wrong answers.
    ///
    /// # Errors
    /// See [`BloomError`].
    pub fn new(n: u64, p: f64) -> Result<Self, BloomError> {
        let (m, k) = size_filter(n, p)?;
        let words = usize::try_from(m.div_ceil(64)).map_err(|_| BloomError::TooLarge { n, p })?;
        Ok(Self { m, k, words: vec![0; words] })
    }

    /// Takes note of an event.
    pub fn insert(&mut self, event_id: &[u8]) {
        for position in self.positions(event_id) {
            let (word, bit) = place(position);
            if let Some(word) = self.words.get_mut(word) {
                *word |= bit;
            }
        }
    }

    /// Whether the event may have been taken note of; surely not, when this says no.
    pub fn might_contain(&self, event_id: &[u8]) -> bool {
        self.positions(event_id).all(|position| {
            let (word, bit) = place(position);
            self.words.get(word).is_some_and(|word| word & bit != 0)
        })
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.words.fill(0);
    }

    /// What is in it.
    pub fn stats(&self) -> BloomStats {
        let set_bits = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
        BloomStats { m: self.m, k: self.k, set_bits, occupancy: set_bits as f64 / self.m as f64 }
    }

    /// The bits of an event: `(h1 + i·h2) mod m`, from the two halves of half a SHA-256, the second made odd.
    pub fn positions(&self, event_id: &[u8]) -> impl Iterator<Item = u64> + use<> {
        let [h1, h2] = halves(&sha256(&[event_id]));
        let (m, step) = (u128::from(self.m), u128::from(h2 | 1));
        (0..self.k).map(move |i| {
            let position = (u128::from(h1) + u128::from(i) * step) % m;
            u64::try_from(position).unwrap_or_default()
        })
    }
}

/// The first two numbers of a digest, most significant byte first.
fn halves(digest: &[u8; 32]) -> [u64; 2] {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    [number(&digest[..8]), number(&digest[8..16])]
}

/// Where a bit is: its word, and it alone set in a word.
fn place(position: u64) -> (usize, u64) {
    (usize::try_from(position / 64).unwrap_or(usize::MAX), 1 << (position % 64))
}
